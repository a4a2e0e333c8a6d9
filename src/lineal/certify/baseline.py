"""The null fit: what can be reached without the columns whose worth is in question."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.designs import Ones, as_design
from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.penalties import NoPenalty
from lineal.problem.problem import SHORT, Evaluation, Problem
from lineal.solvers.interior_point import InteriorPoint
from lineal.solvers.newton import bending, search
from lineal.sources.memory import Blocks
from lineal.sources.source import Block

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

SAMPLE = 10_000
"""Of more rows than a few times this, a sample says first where the best constant is."""

ENOUGH = 1e-15
"""A step that lowers F by no more than this share of it ends the search: a yardstick needs no more digits."""

ROUGH = 1e-3
"""The same where another search follows."""

MOST = 200
"""So many Newton steps at most."""

FAR = 50.0
"""Offsets beyond this may leave rows of probabilities no curvature at the null fit."""

WIDEST = 300
"""Up to so many coefficients a start is looked for with the whole second derivative."""

NEARLY = 0.999
"""A share of one class above this is known better by that of the other."""

LARGEST = 700.0
"""e^700 and e^-700 are doubles."""

COOLING = 8.0
"""By this factor a temperature falls; the optimum at one is a good start for the next."""


@dataclass(frozen=True)
class Null:
    """The best fit of the uncharged columns alone; of the intercept alone where nothing is charged; else zero.

    ``slope`` is the mean of its rows' slopes without their signs, or a bound on it, per output, where it is known;
    ``height`` the largest score without its sign, summed over outputs, offsets not counted, where it is not a constant.
    """

    coef: Array
    value: float
    slope: Array | None = None
    height: float = 0.0


def null(problem: Problem) -> Null:
    """Return the null fit of a problem, the yardstick of its relative gap and the start of its solvers."""
    if problem.null is None:
        if not (math.isfinite(problem.loss.curvature_bound) or problem.intercept or problem.moments.offset <= LARGEST):
            raise InputError(
                f"the offset reaches {problem.moments.offset:.3g} in size, and {problem.loss.name} loss takes its exponential, "
                f"which doubles hold up to {LARGEST:g}; take a constant off the offset, or give the model an intercept."
            )
        # Far from the optimum sums may overflow; the last one is looked at.
        with np.errstate(over="ignore", invalid="ignore"):
            found = _fit(problem)
        if not math.isfinite(found.value):
            raise InputError(
                f"the {problem.loss.name} loss of the null fit is beyond what doubles hold, with offsets up to "
                f"{problem.moments.offset:.3g} in size; change the unit of target and offset."
            )
        problem.null = found
    return problem.null


def begin(problem: Problem) -> Array:
    """Return where solvers begin: at the null fit, or nearer to the optimum where offsets leave no curvature there."""
    loss, size = problem.loss, problem.shape[0] * problem.shape[1]
    held = problem.penalty.charged.any() or not problem.penalty.smooth
    if held or not (loss.unbounded and loss.smooth) or problem.moments.offset <= FAR or not 0 < size <= WIDEST:
        return null(problem).coef
    with np.errstate(over="ignore", invalid="ignore"):
        return _cooled(problem, null(problem).coef, np.arange(problem.shape[0]))


def _fit(problem: Problem) -> Null:
    columns, rest = _free(problem)
    if _of_intercept(problem, columns, rest):
        if (products := problem.products) is not None:
            rest[0] = products.mean
            value = 0.5 * float(np.sum(products.scatter)) / products.weight_sum
            return Null(rest, value, np.sqrt(products.scatter / products.weight_sum))
        if _small(problem):
            rest[0] = _constant_of(problem)[0]
            return Null(rest, problem.evaluate(rest, hessian=problem.shape[0]).value)
    alone = _alone(problem, rest)
    if not problem.intercept or 0 not in columns:
        value = alone.evaluate(np.zeros((1, problem.shape[1]))).value + problem.penalty.value(rest)
    else:
        constant = _intercept_alone(alone)
        rest[0] = constant.coef[0]
        value = constant.value + problem.penalty.value(rest)
        if len(columns) == 1:
            return Null(rest, value, constant.slope)
    if len(columns):
        rest = _cooled(problem, rest, columns) if problem.loss.smooth else _cornered(problem, rest, columns)
        value = problem.evaluate(rest).value
    return Null(rest, value, height=_height(problem, rest) if len(columns) else 0.0)


def _height(problem: Problem, coef: Array) -> float:
    """Return the largest score of rows that have a weight, without its sign, summed over outputs."""
    most = np.zeros(problem.shape[1])
    for block in problem.source.blocks():
        scores = np.abs(block.design.times(coef))
        present = slice(None) if block.weight is None else block.weight > 0.0
        most = np.maximum(most, scores[present].max(axis=0, initial=0.0))
    return float(np.sum(most))


def _cornered(problem: Problem, coef: Array, columns: Index) -> Array:
    """Return the minimiser over some columns where the loss has corners: those columns are a problem of their own."""
    others = coef.copy()
    others[columns] = 0.0
    moved, ones = bool(others.any()), problem.intercept and columns[0] == 0
    selected = np.zeros((problem.shape[0], len(columns) - ones))
    selected[columns[int(ones) :], np.arange(len(columns) - ones)] = 1.0

    def some(block: Block) -> Block:
        offset = block.offset
        if moved:
            offset = block.design.times(others) + (0.0 if offset is None else offset)
        return replace(block, design=as_design(block.design.times(selected), intercept=ones), offset=offset)

    names = tuple(problem.source.columns[k] for k in columns)
    source = Blocks([some(block) for block in problem.source.blocks()], names)
    part = Problem.of(source, problem.loss, NoPenalty(len(columns)))
    found = coef.copy()
    found[columns] = _followed(part, coef[columns])
    return found


def spread(problem: Problem) -> tuple[Array, Array, Array]:
    """Return the least, the mean and the largest offset of rows that have a weight, per output."""
    low, high = np.full(problem.shape[1], np.inf), np.full(problem.shape[1], -np.inf)
    total, weights = np.zeros(problem.shape[1]), 0.0
    for block in problem.source.blocks():
        _, weight, offset = _present(block)
        weights += float(np.sum(weight))
        offset = np.zeros((len(weight), problem.shape[1])) if offset is None else offset
        low, high = (
            np.minimum(low, offset.min(axis=0, initial=np.inf)),
            np.maximum(high, offset.max(axis=0, initial=-np.inf)),
        )
        total += np.einsum("i,ik->k", weight, offset)
    return low, np.clip(total / weights, low, high), high


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
    plain = loss.smooth and loss.has_mean_statistic and not loss.coupled and moments.offset == 0.0
    return plain and moments.rows * problem.shape[0] ** 2 <= SHORT


def _constant_of(problem: Problem) -> tuple[Array, tuple[float, Array] | None]:
    """Return the best constant score of rows without offsets, per output; its mean loss and |slope| where shares give them."""
    loss, mean, sign = problem.loss, problem.moments.statistic / problem.moments.weight_sum, 1.0
    if loss.even and mean[0] > NEARLY:  # one minus it has few digits: sum what is left, and turn the classes round
        mean, sign = _others(problem), -1.0
    best = loss.constant(mean)
    if loss.unbounded:  # a class without weight has its best constant at infinity; a large one is as good a yardstick
        best = np.where(np.isfinite(best), best, np.minimum(np.maximum(best, -40.0), 40.0))
    known = loss.level(mean, best) if problem.moments.offset == 0.0 else None
    return sign * best, known


def _others(problem: Problem) -> Array:
    """Return the mean of 1 - y, summed by itself."""
    parts = (_present(block) for block in problem.source.blocks())
    total = sum(float(np.sum(weight * (1.0 - y[:, 0]))) for y, weight, _ in parts)
    return np.array([total / problem.moments.weight_sum])


def _alone(problem: Problem, rest: Array) -> Problem:
    """Return the problem with no column but one of ones; scores of coefficients at ``rest`` are part of the offset."""
    moved = bool(rest.any())

    def ones(block: Block) -> Block:
        offset = block.offset
        if moved:
            offset = block.design.times(rest) + (0.0 if offset is None else offset)
        return replace(block, design=Ones(block.n_rows), offset=offset)

    far = float(np.max(problem.moments.largest @ np.abs(rest))) if moved else 0.0
    one = replace(problem.moments, mean=np.ones(1), scatter=np.zeros(1), largest=np.ones(1))
    one = replace(one, offset=one.offset + far) if moved else one
    return Problem(problem.source.map(ones), problem.loss, NoPenalty(1), one)


def _intercept_alone(alone: Problem) -> Null:
    """Return the best constant: a pass over targets, weights and offsets that leaves the other columns alone."""
    moments, loss = alone.moments, alone.loss
    (best, known), level = _constant_of(alone), moments.offset == 0.0
    coef = best[None, :]
    if known is not None:
        return Null(coef, *known)
    if alone.shape[1] == 1 and not (level and loss.has_mean_statistic):
        coef = np.array([[_constant(alone, float(coef[0, 0]))]])
    elif not level:
        coef = coef - spread(alone)[1]
        coef = _cooled(alone, coef, np.arange(1)) if loss.smooth else _followed(alone, coef)
    if alone.shape[1] == 1 and not loss.smooth:
        return Null(coef, *_means(alone, coef))
    here = alone.evaluate(coef)
    return Null(coef, here.value, here.slope)


def _present(block: Block) -> tuple[Array, Array, Array | None]:
    """Return targets, weights and offsets of the rows that have a weight."""
    if block.weight is None:
        return block.y, np.broadcast_to(1.0, block.n_rows), block.offset
    if np.all(present := block.weight > 0.0):
        return block.y, block.weight, block.offset
    offset = None if block.offset is None else block.offset[present]
    return block.y[present], block.weight[present], offset


def _means(alone: Problem, constant: Array) -> tuple[float, Array]:
    """Return the mean loss of a constant score and its mean |slope|, where the loss has one score and corners."""
    value = slope = 0.0
    for block in alone.source.blocks():
        y, weight, offset = _present(block)
        eta = np.broadcast_to(constant, y.shape) if offset is None else constant + offset
        rows, slopes = alone.loss.value(y, eta), np.abs(alone.loss.slope(y, eta))[:, 0]
        value += float(np.sum(weight * rows))
        slope += float(np.sum(weight * slopes))
    return value / alone.moments.weight_sum, np.array([slope / alone.moments.weight_sum])


def _constant(alone: Problem, start: float) -> float:
    """Return the best constant score of a loss of one score: where the summed slope, which rises, changes sign."""
    loss, places, jumps, slope = alone.loss, [], [], 0.0
    sides: list[tuple[float, float, float]] = []
    for block in alone.source.blocks():
        y, weight, offset = _present(block)
        for at, low, high in loss.kinks(y):
            places.append((at if offset is None else at - offset)[:, 0])
            jumps.append(weight * (high - low)[:, 0])
            slope += float(weight @ low[:, 0])
        if not places and len(y):
            # No row is better with a score beyond its own best, nor are all with one beyond ``start`` where that is known.
            best = np.full_like(y, start) if loss.has_mean_statistic else y
            aim = best if offset is None else best - offset
            some = aim[:: 1 + len(aim) // SAMPLE, 0]
            sides.append((float(np.min(aim)), float(np.median(some)), float(np.max(aim))))
    if places:
        return _crossing(np.concatenate(places), np.concatenate(jumps), slope)
    left, middle, right = min(s[0] for s in sides), float(np.median([s[1] for s in sides])), max(s[2] for s in sides)
    # Targets far out pull a mean, not a median: it is the better start where it is the lower one.
    rate = max(alone.moments.rows // SAMPLE, 1)
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
    """Return where the slope of the intercept alone is zero, by Newton steps that stay between its bounds.

    A Newton step that leaves them, or does not bring the slope well down, is followed by halving what is between them: far
    from the optimum a Poisson slope falls by e in a step, and a logistic one has no curvature to go by.
    """
    last = np.inf
    for _ in range(400):
        here = alone.evaluate(np.array([[middle]]), hessian=1, sample=sample)
        slope, bend = float(here.gradient[0, 0]), 0.0 if here.hessian is None else float(here.hessian[0, 0, 0])
        left, right = (left, middle) if slope > 0.0 else (middle, right)
        blur = alone.blur(np.array([[middle]])) * bend
        if math.isfinite(slope) and abs(slope) <= float(alone.grain(here.slope)[0, 0] + blur[0]):
            break  # but for rounding
        move = slope / bend if bend > 0.0 else np.nan
        if alone.loss.likelihood and slope * move <= 2.0 * ENOUGH * abs(here.value):
            break  # a step takes what it promises there, where no row has a corner in its slope
        step = middle - move
        good = left < step < right and abs(slope) <= 0.25 * last
        following = step if good else 0.5 * left + 0.5 * right
        last = abs(slope) if good else np.inf
        if not left < following < right or following == middle:
            break
        middle = following
    return middle


def _followed(alone: Problem, coef: Array) -> Array:
    """Return the best coefficients where the loss has corners, by interior points."""
    best = coef
    least = np.inf
    for step in InteriorPoint().steps(alone, coef):
        if step.objective < least:
            best, least = step.coef, step.objective
        if step.estimate <= 1e-12 * abs(step.objective):
            break
    return best


def _cooled(problem: Problem, coef: Array, columns: Index) -> Array:
    """Return the minimiser over some columns from far away.

    With offsets of hundreds a loss of probabilities has no curvature where it matters. T loss(eta / T) is the loss with all
    scores in units of a temperature T, as smooth as wanted; its minimiser is followed as T falls to one.
    """
    loss = problem.loss
    if loss.coupled or loss.unbounded:
        heat = problem.moments.offset / COOLING
        while heat > 1.0:
            coef = heat * _newton(_heated(problem, heat), coef / heat, columns, ROUGH)
            heat /= COOLING
    return _newton(problem, coef, columns)


def _heated(problem: Problem, heat: float) -> Problem:
    """Return the problem without a penalty, its offsets divided by a temperature."""

    def cooler(block: Block) -> Block:
        return block if block.offset is None else replace(block, offset=block.offset / heat)

    moments = replace(problem.moments, offset=problem.moments.offset / heat)
    return Problem(problem.source.map(cooler), problem.loss, NoPenalty(problem.shape[0]), moments)


def _newton(problem: Problem, coef: Array, columns: Index, enough: float = ENOUGH) -> Array:
    """Return the minimiser over some columns, by damped Newton steps."""
    width = int(columns[-1]) + 1
    here = problem.evaluate(coef, hessian=width)
    for _ in range(MOST):
        factor = problem.factor(here, columns)
        shift = bending(problem, coef, factor, columns).solve(here.gradient)
        if float(np.sum(shift * here.gradient)) <= enough * abs(here.value):
            break
        found = search(problem, coef, here, shift, hessian=width)
        if found is None:
            break
        # where too few rows bend, steps are as short as if all did
        coef, here = _further(problem, coef, found, width) if factor.singular else found
    return coef


def _further(problem: Problem, coef: Array, found: tuple[Array, Evaluation], width: int) -> tuple[Array, Evaluation]:
    """Return the lowest of a step, twice that step, four times it, and so on, up to the first that is no lower."""
    step = found[0] - coef
    while True:
        there = problem.evaluate(coef + (step := 2.0 * step), hessian=width)
        if not there.value < found[1].value:
            return found
        found = coef + step, there
