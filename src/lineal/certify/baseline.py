"""The baseline: what can be reached without the columns whose worth is in question."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lineal.certify import baseline_tasks as tasks
from lineal.certify.baseline_descent import MIN_RELATIVE_FALL, cooled, narrowed
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.penalties import NoPenalty
from lineal.problem.frame import CENTER_FIRST_SDS, centered, projected
from lineal.problem.part import ColumnsOnly, part_of
from lineal.problem.problem import SHORT_PASS_MAX_WORK, Problem
from lineal.solvers.interior_point import InteriorPoint
from lineal.sources.memory import Blocks

MAX_EXPONENT = 700.0
"""e^700 and e^-700 are doubles."""

MAX_WIDTH = 500
"""Columns up to which the second derivative of all is made, though only that of a few is looked at."""

WILD_WEIGHTS = 1e6
"""Weights further apart than that lead interior points astray."""

TINY_LOSS = 1e-270
"""Of a smaller loss, shares such as a gap have too few digits, or none: doubles end at 2e-308."""


@dataclass(frozen=True)
class Baseline:
    """The best fit of the unpenalized columns alone; of the intercept alone where nothing is penalized; else zero.

    ``slope`` is the mean of its rows' slopes without their signs, or a bound on it, per output, where it is known;
    ``height`` the largest score without its sign, summed over outputs, offsets not counted, where it is not a constant.
    """

    coef: Array
    value: float
    slope: Array | None = None
    height: float = 0.0


def baseline_fit(problem: Problem) -> Baseline:
    """Return the baseline of a problem, the yardstick of its relative gap and the start of its solvers."""
    if problem.baseline is None:
        if not (
            math.isfinite(problem.loss.curvature_bound) or problem.intercept or problem.moments.offset <= MAX_EXPONENT
        ):
            raise InputError(
                f"the offset reaches {problem.moments.offset:.3g} in size, and {problem.loss.name} loss takes its exponential, "
                f"which doubles hold up to {MAX_EXPONENT:g}; take a constant off the offset, or give the model an intercept."
            )
        # Far from the optimum sums may overflow; the last one is looked at.
        with np.errstate(over="ignore", invalid="ignore"):
            baseline = _fit(problem)
        if not math.isfinite(baseline.value):
            raise InputError(
                f"the {problem.loss.name} loss of the null fit is beyond what doubles hold, with offsets up to "
                f"{problem.moments.offset:.3g} in size; change the unit of target and offset."
            )
        _refuse_tiny(problem, baseline)
        problem.baseline = baseline
    return problem.baseline


def _refuse_tiny(problem: Problem, baseline: Baseline) -> None:
    """Refuse targets whose residuals are there, but whose squares, and all that could be said of gaps, underflow."""
    squares = problem.loss.smooth and not problem.loss.unbounded
    if squares and baseline.value < TINY_LOSS and np.any(problem.evaluate(baseline.coef).slope > 0.0):
        raise InputError(
            f"the {problem.loss.name} loss of the null fit is {baseline.value:.2g}: the target holds numbers so small that "
            "doubles cannot hold their squares; change its unit."
        )


def begin(problem: Problem) -> Array:
    """Return where solvers begin: at the baseline, or nearer to the optimum where next to no row has curvature there."""
    loss, size = problem.loss, problem.shape[0] * problem.shape[1]
    if problem.moments.rows * problem.shape[0] ** 2 <= SHORT_PASS_MAX_WORK and (
        wider := loss.wider(baseline_fit(problem).value)
    ):
        return narrowed(problem, baseline_fit(problem).coef, wider)
    # offsets beyond 50 may leave rows of probabilities no curvature at the baseline; of up to 300 coefficients a start is
    # looked for with the whole second derivative
    held = problem.penalty.penalized.any() or not problem.penalty.smooth
    if held or not (loss.unbounded and loss.smooth) or problem.moments.offset <= 50.0 or not 0 < size <= 300:
        return baseline_fit(problem).coef
    with np.errstate(over="ignore", invalid="ignore"):
        start = cooled(problem, baseline_fit(problem).coef, np.arange(problem.shape[0]))
        lower = problem.evaluate(start).value <= baseline_fit(problem).value
    return start if lower else baseline_fit(problem).coef


def _fit(problem: Problem) -> Baseline:
    columns, rest = _free(problem)
    if _of_intercept(problem, columns, rest):
        if (products := problem.products) is not None:
            rest[0] = products.mean
            value = 0.5 * float(np.sum(products.scatter)) / products.weight_sum
            return Baseline(rest, value, np.sqrt(products.scatter / products.weight_sum))
        if _small(problem):
            rest[0] = _constant_of(problem)[0]
            return Baseline(rest, problem.evaluate(rest, hessian=problem.shape[0]).value)
    alone = _alone(problem, rest)
    if not problem.intercept or 0 not in columns:
        value = alone.evaluate(np.zeros((1, problem.shape[1]))).value + problem.penalty.value(rest)
    else:
        constant = _intercept_alone(alone)
        rest[0] = constant.coef[0]
        value = constant.value + problem.penalty.value(rest)
        if len(columns) == 1:
            return Baseline(rest, value, constant.slope)
    if len(columns):
        rest, value = _of_columns(problem, rest, columns)
    return Baseline(rest, value, height=_height(problem, rest) if len(columns) else 0.0)


def _of_columns(problem: Problem, coef: Array, columns: Index) -> tuple[Array, float]:
    """Return the minimizer over some columns, and F there; of columns far from zero that of what is left without their means.

    Rounded to coefficients of the columns as they are it may be a poor start, and no yardstick.
    """
    frame = centered(problem, CENTER_FIRST_SDS, exact=True)
    inner, at = (problem, coef) if frame is None else (frame.problem, frame.inward(coef))
    optimum = _smooth(inner, at, columns) if problem.loss.smooth else _cornered(inner, at, columns)
    return (optimum if frame is None else frame.outward(optimum)), inner.evaluate(optimum).value


def _height(problem: Problem, coef: Array) -> float:
    """Return the largest score of rows that have a weight, without its sign, summed over outputs."""
    return float(np.sum(problem.source.sum(tasks.Height(coef)).values))


def _smooth(problem: Problem, coef: Array, columns: Index) -> Array:
    """Return the minimizer over some columns; a few among many are a problem of their own, since derivatives are dense."""
    width = int(columns[-1]) + 1
    if width <= max(2 * len(columns), MAX_WIDTH):
        return cooled(problem, coef, columns)
    best = coef.copy()
    best[columns] = cooled(part_of(problem, columns, coef), coef[columns], np.arange(len(columns)))
    return best


def _cornered(problem: Problem, coef: Array, columns: Index) -> Array:
    """Return the minimizer over some columns where the loss has corners: those columns are a problem of their own.

    Of columns that are nearly dependent the path ends far from it: they are taken less the combinations that they nearly are.
    """
    others = coef.copy()
    others[columns] = 0.0
    change = ColumnsOnly(columns, problem.intercept and columns[0] == 0, others if others.any() else None)
    names = tuple(problem.source.columns[k] for k in columns)
    source = Blocks(problem.source.collect(change), names)
    part = Problem.of(source, problem.loss, NoPenalty(len(columns)))
    best = coef.copy()
    if (frame := projected(part)) is None:
        best[columns] = _of_weights(part, coef[columns])
    else:
        best[columns] = frame.outward(_of_weights(frame.problem, frame.inward(coef[columns])))
    return best


def _of_weights(part: Problem, coef: Array) -> Array:
    """Return the best coefficients where the loss has corners; of weights far apart also from those of weights less so.

    The roots of weights lead near the optimum; with weights of 1e-12 beside 1e12 from the start a path ends anywhere.
    """
    direct, blocks = _followed(part, coef), part.source.held()
    weights = np.concatenate([block.weights for block in blocks])
    if np.max(weights) <= WILD_WEIGHTS * np.min(weights, where=weights > 0.0, initial=np.inf):
        return direct
    milder = [replace(block, weight=np.sqrt(block.weights)) for block in blocks]
    start = _followed(Problem.of(Blocks(milder, part.source.columns), part.loss, part.penalty), coef)
    other = _followed(part, start)
    return min(direct, other, key=lambda found: part.evaluate(found).value)


def spread(problem: Problem) -> tuple[Array, Array, Array]:
    """Return the least, the mean and the largest offset of rows that have a weight, per output."""
    offsets = problem.source.sum(tasks.Spread(problem.shape[1]))
    return offsets.low, np.clip(offsets.total / offsets.weight, offsets.low, offsets.high), offsets.high


def adopt(problem: Problem, constant: Baseline) -> None:
    """Take the best constant, known from another problem on the same rows, as the baseline where it is that."""
    columns, rest = _free(problem)
    if problem.baseline is None and _of_intercept(problem, columns, rest):
        rest[0] = constant.coef[0]
        problem.baseline = Baseline(rest, constant.value, constant.slope)


def _free(problem: Problem) -> tuple[Index, Array]:
    """Return the columns of the baseline, and where the coefficients of all others rest."""
    columns = problem.unpenalized
    if len(columns) == problem.shape[0]:
        columns = np.arange(1 if problem.intercept else 0)
    # Penalized coefficients rest at zero, or as near to it as their bounds allow.
    rest = np.zeros(problem.shape)
    return columns, rest if problem.penalty.smooth else problem.penalty.prox(rest, np.zeros(problem.shape[0]))


def _of_intercept(problem: Problem, columns: Index, rest: Array) -> bool:
    return problem.intercept and columns.tolist() == [0] and (problem.penalty.smooth or not rest.any())


def _small(problem: Problem) -> bool:
    """Whether the pass that a solver begins with is so cheap that it serves for the best constant too."""
    moments, loss = problem.moments, problem.loss
    plain = loss.smooth and loss.has_mean_statistic and not loss.coupled and moments.offset == 0.0
    return plain and moments.rows * problem.shape[0] ** 2 <= SHORT_PASS_MAX_WORK


def _constant_of(problem: Problem) -> tuple[Array, tuple[float, Array] | None]:
    """Return the best constant score of rows without offsets, per output; its mean loss and |slope| where shares give them."""
    loss, mean, sign = problem.loss, problem.moments.statistic / problem.moments.weight_sum, 1.0
    if loss.even and mean[0] > 0.999:  # one minus it has few digits: sum what is left, and turn the classes round
        mean, sign = _others(problem), -1.0
    best = loss.constant(mean)
    if loss.unbounded:  # a class without weight has its best constant at infinity; a large one is as good a yardstick
        best = np.where(np.isfinite(best), best, np.minimum(np.maximum(best, -40.0), 40.0))
    known = loss.level(mean, best) if problem.moments.offset == 0.0 else None
    return sign * best, known


def _others(problem: Problem) -> Array:
    """Return the mean of 1 - y, summed by itself."""
    return np.array([problem.source.sum(tasks.Others()) / problem.moments.weight_sum])


def _alone(problem: Problem, rest: Array) -> Problem:
    """Return the problem with no column but one of ones; scores of coefficients at ``rest`` are part of the offset."""
    moved = bool(rest.any())
    far = float(np.max(problem.moments.largest @ np.abs(rest))) if moved else 0.0
    one = replace(problem.moments, mean=np.ones(1), scatter=np.zeros(1), largest=np.ones(1))
    one = replace(one, offset=one.offset + far) if moved else one
    return Problem(problem.source.map(tasks.InterceptOnly(rest if moved else None)), problem.loss, NoPenalty(1), one)


def _intercept_alone(alone: Problem) -> Baseline:
    """Return the best constant: a pass over targets, weights and offsets that leaves the other columns alone."""
    moments, loss = alone.moments, alone.loss
    (best, level_loss), level = _constant_of(alone), moments.offset == 0.0
    coef = best[None, :]
    if level_loss is not None:
        return Baseline(coef, *level_loss)
    if alone.shape[1] == 1 and not (level and loss.has_mean_statistic):
        coef = np.array([[_constant(alone, float(coef[0, 0]))]])
    elif not level:
        coef = coef - spread(alone)[1]
        coef = cooled(alone, coef, np.arange(1)) if loss.smooth else _followed(alone, coef)
    if alone.shape[1] == 1 and not loss.smooth:
        return Baseline(coef, *_means(alone, coef))
    here = alone.evaluate(coef)
    return Baseline(coef, here.value, here.slope)


def _means(alone: Problem, constant: Array) -> tuple[float, Array]:
    """Return the mean loss of a constant score and its mean |slope|, where the loss has one score and corners."""
    value, slope = alone.source.sum(tasks.ConstantLoss(alone.loss, constant)) / alone.moments.weight_sum
    return float(value), np.array([slope])


def _constant(alone: Problem, start: float) -> float:
    """Return the best constant score of a loss of one score: where the summed slope, which rises, changes sign."""
    rows = alone.source.sum(tasks.ConstantPlaces(alone.loss, start))
    if rows.corners:
        return _crossing(np.concatenate(rows.corners), np.concatenate(rows.jumps), rows.slope)
    lows, middles, highs = zip(*rows.sides, strict=True)
    left, middle, right = min(lows), float(np.median(middles)), max(highs)
    # Targets far out pull a mean, not a median: it is the better start where it is the lower one.
    rate = max(alone.moments.rows // tasks.SAMPLE_ROWS, 1)
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
        score_error = alone.score_error(np.array([[middle]])) * bend
        if math.isfinite(slope) and abs(slope) <= float(alone.gradient_error(here.slope)[0, 0] + score_error[0]):
            break  # but for rounding
        move = slope / bend if bend > 0.0 else np.nan
        if alone.loss.likelihood and slope * move <= 2.0 * MIN_RELATIVE_FALL * abs(here.value):
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
