"""The null fit: what can be reached without the columns whose worth is in question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.designs import Ones
from lineal.penalties import NoPenalty
from lineal.problem import SHORT, Problem
from lineal.records import dataclass
from lineal.solvers.newton import search
from lineal.source import Block

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

SAMPLE = 10_000
"""Of more rows than a few times this, a sample says first where the best constant is."""


@dataclass(frozen=True)
class Null:
    """The best fit of the uncharged columns alone; of the intercept alone where nothing is charged; else zero.

    ``slope`` is the mean of its rows' slopes without their signs, or a bound on it, per output, where it is known.
    """

    coef: Array
    value: float
    slope: Array | None = None


def null(problem: Problem) -> Null:
    """Return the null fit of a problem, the yardstick of its relative gap and the start of its solvers."""
    if problem.null is None:
        columns, rest = _free(problem)
        slope = None
        if _of_intercept(problem, columns, rest):
            coef = rest
            if (products := problem.products) is not None:
                coef[0] = products.mean
                value = 0.5 * float(np.sum(products.scatter)) / products.weight_sum
                slope = np.sqrt(products.scatter / products.weight_sum)
            elif _small(problem):
                coef[0] = _constant_of(problem)
                value = problem.evaluate(coef, hessian=problem.shape[0]).value
            else:
                constant = _intercept_alone(problem)
                coef[0], value, slope = constant.coef[0], constant.value, constant.slope
        elif not problem.loss.smooth:
            # No second derivative: zero, or the intercept alone, is yardstick enough.
            coef = np.zeros(problem.shape)
            coef[: int(problem.intercept)] = _intercept_alone(problem).coef if problem.intercept else 0.0
            value = problem.evaluate(coef).value
        elif not len(columns) and not rest.any() and not _small(problem):
            coef, value = rest, _alone(problem).evaluate(rest[:1]).value
        else:
            coef = _newton(problem, rest, columns)
            value = problem.evaluate(coef).value
        problem.null = Null(coef, value, slope)
    return problem.null


def adopt(problem: Problem, constant: Null) -> None:
    """Take the best constant, known from another problem on the same rows, as the null fit where it is that."""
    columns, rest = _free(problem)
    if problem.null is None and _of_intercept(problem, columns, rest):
        rest[0] = constant.coef[0]
        problem.null = Null(rest, constant.value, constant.slope)


def _free(problem: Problem) -> tuple[Index, Array]:
    """Return the columns of the null fit, and where the coefficients of all others rest."""
    columns = problem.uncharged
    if len(columns) == problem.shape[0]:
        columns = np.arange(1 if problem.intercept else 0)
    # Charged coefficients rest at zero, or as near to it as their bounds allow.
    rest = np.zeros(problem.shape)
    return columns, rest if problem.penalty.smooth else problem.penalty.prox(rest, np.zeros(problem.shape[0]))


def _of_intercept(problem: Problem, columns: Index, rest: Array) -> bool:
    return problem.intercept and columns.tolist() == [0] and (problem.penalty.smooth or not rest.any())


def _small(problem: Problem) -> bool:
    """Whether the pass that a solver begins with is so cheap that it serves for the best constant too."""
    moments, loss = problem.moments, problem.loss
    plain = loss.smooth and loss.pooled and not loss.coupled and moments.offset == 0.0
    return plain and moments.rows * problem.shape[0] ** 2 <= SHORT


def _constant_of(problem: Problem) -> Array:
    """Return the best constant score of rows without offsets, per output."""
    best = problem.loss.constant(problem.moments.statistic / problem.moments.weight_sum)
    # A class without weight has its best constant at infinity; a large one is as good a yardstick.
    return np.minimum(np.maximum(best, -40.0), 40.0) if problem.loss.endless else best


def _alone(problem: Problem) -> Problem:
    """Return the problem with no column but one of ones."""

    def ones(block: Block) -> Block:
        return replace(block, design=Ones(block.n_rows))

    one = replace(problem.moments, mean=np.ones(1), scatter=np.zeros(1), largest=np.ones(1))
    return Problem(problem.source.map(ones), problem.loss, NoPenalty(1), one)


def _intercept_alone(problem: Problem) -> Null:
    """Return the best constant: a pass over targets, weights and offsets that leaves the other columns alone."""
    moments, alone = problem.moments, _alone(problem)
    coef = _constant_of(problem)[None, :]
    level = problem.loss.level(moments.statistic / moments.weight_sum, coef[0]) if moments.offset == 0.0 else None
    if level is not None:
        return Null(coef, *level)
    if problem.shape[1] == 1 and (not problem.loss.pooled or (not problem.loss.smooth and moments.offset > 0.0)):
        coef = np.array([[_constant(problem, alone, float(coef[0, 0]))]])
    elif moments.offset > 0.0 and problem.loss.smooth:
        coef = _newton(alone, coef, np.arange(1))
    if problem.shape[1] == 1 and not problem.loss.smooth:
        return Null(coef, *_means(problem, coef))
    here = alone.evaluate(coef)
    return Null(coef, here.value, here.slope)


def _means(problem: Problem, constant: Array) -> tuple[float, Array]:
    """Return the mean loss of a constant score and its mean |slope|, where the loss has one score and corners."""
    value = slope = 0.0
    for block in problem.source.blocks():
        y, offset, weight = block.y, block.offset, block.weight
        if weight is not None:
            present = weight > 0.0
            y, weight, offset = y[present], weight[present], None if offset is None else offset[present]
        eta = np.broadcast_to(constant, y.shape) if offset is None else constant + offset
        rows, slopes = problem.loss.value(y, eta), np.abs(problem.loss.slope(y, eta))[:, 0]
        value += float(np.sum(rows if weight is None else weight * rows))
        slope += float(np.sum(slopes if weight is None else weight * slopes))
    return value / problem.moments.weight_sum, np.array([slope / problem.moments.weight_sum])


def _constant(problem: Problem, alone: Problem, start: float) -> float:
    """Return the best constant score of a loss of one score: where the summed slope changes sign."""
    loss, places, jumps, slope = problem.loss, [], [], 0.0
    sides: list[tuple[float, float, float]] = []
    for block in problem.source.blocks():
        y, weight = block.y, np.broadcast_to(1.0, block.n_rows) if block.weight is None else block.weight
        offset = block.offset
        if block.weight is not None and not np.all(present := weight > 0.0):
            y, weight, offset = y[present], weight[present], None if offset is None else offset[present]
        for at, low, high in loss.kinks(y):
            places.append((at if offset is None else at - offset)[:, 0])
            jumps.append(weight * (high - low)[:, 0])
            slope += float(weight @ low[:, 0])
        if not places and len(y):
            aim = y if offset is None else y - offset
            some = aim[:: 1 + len(aim) // SAMPLE, 0]
            sides.append((float(np.min(aim)), float(np.median(some)), float(np.max(aim))))
    if places:
        return _crossing(np.concatenate(places), np.concatenate(jumps), slope)
    left, middle, right = min(s[0] for s in sides), float(np.median([s[1] for s in sides])), max(s[2] for s in sides)
    # Targets far out pull a mean, not a median: it is the better start where it is the lower one.
    rate = max(problem.moments.rows // SAMPLE, 1)
    points = [np.array([[float(np.clip(point, left, right))]]) for point in (start, middle)]
    values = [alone.evaluate(point, sample=rate).value for point in points]
    middle = float(points[int(values[1] < values[0])][0, 0])
    if rate >= 4:
        middle = _root(alone, left, middle, right, rate)
    return _root(alone, left, middle, right, 1)


def _crossing(at: Array, jump: Array, slope: float) -> float:
    """Return the corner at which a slope that jumps at every corner changes sign."""
    if jump.min() == jump.max():
        at = np.sort(at)
    else:
        order = np.argsort(at, kind="stable")
        at, jump = at[order], jump[order]
    return float(at[min(int(np.searchsorted(np.cumsum(jump), -slope)), len(at) - 1)])


def _root(alone: Problem, left: float, middle: float, right: float, sample: int) -> float:
    """Return where the slope of the intercept alone is zero, by Newton steps that stay between its bounds."""
    for _ in range(100):
        here = alone.evaluate(np.array([[middle]]), hessian=1, sample=sample)
        slope, bend = float(here.gradient[0, 0]), 0.0 if here.hessian is None else float(here.hessian[0, 0, 0])
        left, right = (left, middle) if slope > 0.0 else (middle, right)
        step = middle - slope / bend if bend > 0.0 else np.inf
        following = step if left <= step <= right else 0.5 * (left + right)
        if abs(following - middle) <= 1e-12 * (abs(middle) + abs(right - left)) or following == middle:
            break
        if slope * slope <= 2e-13 * bend * abs(here.value):
            break  # a yardstick need not be known to more digits than that
        middle = following
    return middle


def _newton(problem: Problem, coef: Array, columns: Index) -> Array:
    """Return the minimiser over some columns, by damped Newton steps."""
    if not len(columns):
        return coef
    width = int(columns[-1]) + 1
    here = problem.evaluate(coef, hessian=width)
    for _ in range(50):
        shift = problem.factor(here, columns).solve(here.gradient)
        if float(np.sum(shift * here.gradient)) <= 1e-12 * abs(here.value):
            break
        found = search(problem, coef, here, shift, hessian=width)
        if found is None:
            break
        coef, here = found
    return coef
