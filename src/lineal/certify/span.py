"""The certificate of a kernel machine: how far a function in the span of kernels is from the best one, at most.

For any theta in the domain of loss*, with ``sum_i s_i theta_i = 0`` where there is an intercept, and ``u_i = s_i theta_i / S``,

    F(a, b) - F* <= (1/S) sum_i s_i [loss + loss* - theta_i eta_i] + (strength/2) r'K r,   r = a + u / strength,

for a positive semi-definite K. Theta comes from the coefficients, ``theta_i = -strength S a_i / s_i``, so that r is zero but
for rounding; coefficients that lead out of the domain are put into it, and r pays for that. What the scores may be off, the
error of the entries of K included, is at the ends of an interval of which a mismatch, convex in the score, has its maximum at
one; what is missing from the sum of zero is put on one row, whose mismatch is taken at the corners of what that may be.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lineal.certify.domain import put
from lineal.certify.proof import Proof
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.losses.sparsemax import hot
from lineal.problem.problem import EPS
from lineal.problem.span import SpanProblem

Array = npt.NDArray[np.float64]

DUST_SHARE = 1e-6
"""A gain above this share of the null fit is one to be proven, however much rounding may move scores."""

MAX_MOVES = 12
"""Moves of a dual point towards a sum of zero, at most."""

NO_ROOM = "no row has room for a dual point whose sum over the rows is zero"


@dataclass(frozen=True)
class Scores:
    """``K a`` with bounds on its errors, made once for everything that asks."""

    value: Array
    error: Array


def prove(problem: SpanProblem, coef: Array, intercept: Array, scores: Scores | None = None) -> Proof:
    """Return the gap of coefficients, ``(rows, outputs)``, and of an intercept for each output, zeros without one."""
    scores = Scores(*problem.gram.product(coef)) if scores is None else scores
    objective = problem.objective(coef, intercept, scores.value)
    baseline = baseline_value(problem)
    if not (np.isfinite(scores.value).all() and math.isfinite(objective)):
        return Proof(objective, baseline, None, "the coefficients or their scores are not finite")
    if not problem.strength > 0.0:
        return _free_of_charge(problem, objective, baseline, scores, intercept)
    theta = _natural(problem, coef)
    if problem.intercept:
        theta = _leveled(problem, theta)
    eta = scores.value + intercept
    error = scores.error + EPS * (np.abs(scores.value) + np.abs(intercept))
    slack = _slack(problem, eta, error, theta)
    distance = _norm(problem, coef, theta, scores)
    extra, more = _closing(problem, eta, error, theta) if problem.intercept else (0.0, np.zeros(theta.shape[1]))
    if not math.isfinite(extra):
        return Proof(objective, baseline, None, NO_ROOM)
    gap = slack + extra + 0.5 * problem.strength * float(np.sum((distance + more) ** 2))
    gap *= 1.0 + 1e-12  # the rounding of sums of terms that are not negative
    unit = 8.0 * float(problem.weight @ np.max(error, axis=1)) / problem.weight_sum + 64.0 * EPS * abs(baseline)
    if not math.isfinite(gap):
        return Proof(objective, baseline, None, "the mismatch of the dual point is not finite")
    dust = min(unit, DUST_SHARE * abs(baseline))
    return Proof(objective, baseline, gap, unit=unit, dust=dust, theta=theta)


def _free_of_charge(problem: SpanProblem, objective: float, baseline: float, scores: Scores, intercept: Array) -> Proof:
    """Return what is known where norms cost nothing: no loss is below zero, so F itself bounds the gap."""
    eta, error = scores.value + intercept, scores.error + EPS * (np.abs(scores.value) + np.abs(intercept))
    sides = [problem.loss.value(problem.y, eta + side * error) for side in (-1.0, 0.0, 1.0)]
    gap = float(problem.weight @ np.sum(sides, axis=0)) / problem.weight_sum
    unit = 64.0 * EPS * abs(baseline)
    return Proof(objective, baseline, gap, unit=unit, dust=unit)


def baseline_value(problem: SpanProblem) -> float:
    """Return F of the zero function: with the best intercept, where there is one."""
    loss, y, weight = problem.loss, problem.y, problem.weight
    if not problem.intercept:
        return float(weight @ loss.value(y, np.zeros((len(y), loss.outputs)))) / problem.weight_sum
    at = best_constant(loss, y, weight, np.zeros((len(y), loss.outputs)))
    return float(weight @ loss.value(y, np.broadcast_to(at, (len(y), loss.outputs)))) / problem.weight_sum


def best_constant(loss: Loss, y: Array, weight: Array, scores: Array) -> Array:
    """Return the constant that is best added to some scores of a loss with corners; to no scores, of any other loss.

    >>> from lineal.losses import Hinge
    >>> best_constant(Hinge(), np.array([[1.0], [0.0]]), np.ones(2), np.array([[2.0], [-1.0]]))
    array([-0.5])
    """
    kinks = loss.kinks(y)
    if not kinks:
        return np.asarray(loss.constant(loss.statistic(y, weight) / weight.sum()))
    places = np.concatenate([kink.at[:, 0] - scores[:, 0] for kink in kinks])
    jumps = np.concatenate([weight * (kink.high - kink.low)[:, 0] for kink in kinks])
    lowest = sum(float(weight @ kink.low[:, 0]) for kink in kinks)
    order = np.argsort(places, kind="stable")
    slopes = lowest + np.cumsum(jumps[order])
    flat = 64.0 * EPS * float(jumps.sum())
    first = int(np.argmax(slopes >= -flat))
    last = first
    if abs(slopes[first]) <= flat:  # no slope as far as the next place: the middle
        last = min(int(np.argmax(slopes > flat)), len(order) - 1) if slopes[-1] > flat else first
    return np.array([0.5 * (places[order[first]] + places[order[last]])])


def _natural(problem: SpanProblem, coef: Array) -> Array:
    """Return the dual point that belongs to the coefficients, in the domain; zero in rows without weight."""
    weight = problem.weight[:, None]
    present = weight > 0.0
    with np.errstate(over="ignore"):
        theta = -(problem.strength * problem.weight_sum) * coef / np.where(present, weight, 1.0)
    theta = np.where(present & np.isfinite(theta), theta, 0.0)
    if not problem.loss.smooth:  # a coefficient at its bound is meant to be there
        for end in _box(problem.loss, problem.y):
            theta = np.where(np.abs(theta - end) <= 16.0 * EPS, end, theta)
    return np.where(present, _put(problem.loss, problem.y, theta), 0.0)


def _put(loss: Loss, y: Array, theta: Array) -> Array:
    if loss.logit:
        return np.clip(theta, -y, 1.0 - y)
    return put(loss, y, theta)


def _box(loss: Loss, y: Array) -> tuple[Array, Array]:
    """Return the ends of the interval of every row's dual point; infinite where there are none."""
    if loss.logit:
        return -y, 1.0 - y
    box = loss.box(y)
    return (np.full_like(y, -np.inf), np.full_like(y, np.inf)) if box is None else box


def _leveled(problem: SpanProblem, theta: Array) -> Array:
    """Return the dual point moved until it sums to zero over the rows, but for rounding, as far as that works."""
    weight, y, loss = problem.weight, problem.y, problem.loss
    single = not loss.coupled
    low, high = _box(loss, y) if single else (theta, theta)
    for _ in range(MAX_MOVES):
        total = weight @ theta
        if np.all(np.abs(total) <= 8.0 * EPS * (weight @ np.abs(theta))):
            return theta
        if single:
            room = _room(theta, low, high)
            all_room = weight @ room
            if np.any(np.abs(total) > 0.5 * all_room):
                theta = _balanced(weight, theta)
                continue
            step = total / (weight.sum() if loss.quadratic else np.where(all_room > 0.0, all_room, 1.0))
            theta = np.where(weight[:, None] > 0.0, np.clip(theta - step * room, low, high), 0.0)
        else:
            theta = _moved(problem, theta, total)
    return theta


def _balanced(weight: Array, theta: Array) -> Array:
    """Return the dual point with its positive, or its negative, entries made shorter until they sum to zero over the rows."""
    above, below = (weight @ np.maximum(side * theta, 0.0) for side in (1.0, -1.0))
    less = np.minimum(above, below)
    shares = [less / np.where(side > 0.0, side, 1.0) for side in (above, below)]
    return np.where(theta > 0.0, shares[0] * theta, shares[1] * theta)


def _moved(problem: SpanProblem, theta: Array, total: Array) -> Array:
    """Return the dual point of several classes after one Newton step of ``sum s theta = 0``, half of it at most."""
    q = np.maximum(theta + hot(problem.y, problem.loss.outputs), 0.0) * (problem.weight > 0.0)[:, None]
    metric = np.diag(problem.weight @ q) - (q * problem.weight[:, None]).T @ q
    step = np.linalg.lstsq(metric, total, rcond=None)[0]
    away = q * (step - (q @ step)[:, None])
    largest = float(np.max(np.abs(step - (q @ step)[:, None]), initial=0.0))
    moved = theta - away / max(1.0, 2.0 * largest)
    return np.where((problem.weight > 0.0)[:, None], put(problem.loss, problem.y, moved), 0.0)


def _room(theta: Array, low: Array, high: Array) -> Array:
    """Return how far a dual point is from the ends of its interval, as a product that vanishes at both."""
    below, above = theta - low, high - theta
    with np.errstate(invalid="ignore"):
        both = below * (above / (high - low))
    return np.where(np.isfinite(both), both, np.minimum(np.minimum(below, above), 1.0))


def _slack(problem: SpanProblem, eta: Array, error: Array, theta: Array) -> float:
    """Return an upper bound of the mean mismatch, the errors of the scores included."""
    loss, y, weight = problem.loss, problem.y, problem.weight
    if loss.outputs == 1 or not loss.coupled:
        margin = float(not loss.quadratic)  # the 1 of 1 - y eta; a square has no size of its own
        wide = error + 4.0 * EPS * (np.abs(eta) + np.abs(y) + np.abs(theta) + margin) * (
            not loss.likelihood or loss.quadratic
        )
        sides = [loss.mismatch(y, eta + side * wide, theta) for side in (-1.0, 1.0)]
        rows = np.maximum(*sides) if loss.outputs == 1 else _squares(y, eta, theta, wide)
    else:
        away = np.abs(loss.slope(y, eta) - theta)
        rows = loss.mismatch(y, eta, theta) + np.sum(away * error, axis=1)
        rows = rows + 0.5 * loss.curvature_bound * np.sum(error**2, axis=1)
    tiny = 8.0 * EPS * float(weight @ np.max(np.abs(theta), axis=1)) if loss.likelihood and not loss.quadratic else 0.0
    return (math.fsum((weight * rows)[weight > 0.0]) + tiny) / problem.weight_sum


def _squares(y: Array, eta: Array, theta: Array, wide: Array) -> Array:
    """Return the mismatch of squares with several targets, each at the worse end."""
    return np.asarray(0.5 * np.sum((np.abs(eta - y - theta) + wide) ** 2, axis=1))


def _norm(problem: SpanProblem, coef: Array, theta: Array, scores: Scores) -> Array:
    """Return upper bounds of ``sqrt(r'K r)``, one for each output, with ``r = a + u / strength``."""
    charge = problem.strength * problem.weight_sum
    dual = problem.weight[:, None] * theta / charge
    rest = coef + dual
    error = 4.0 * EPS * (np.abs(coef) + np.abs(dual))
    roots = problem.gram.roots
    plain = roots @ (np.abs(rest) + error)
    rounding = roots @ error
    if np.all(plain**2 * problem.strength <= 1e-12 * abs(float(np.sum(coef * scores.value))) * problem.strength):
        return np.asarray(plain)
    value, off = problem.gram.product(rest)
    size = np.sum(rest * value, axis=0) + np.sum(np.abs(rest) * off, axis=0)
    size = size + (len(rest) + 2) * EPS * np.sum(np.abs(rest * value), axis=0)
    return np.asarray(np.minimum(plain, np.sqrt(np.maximum(size, 0.0)) * (1.0 + 4.0 * EPS) + rounding))


def _closing(problem: SpanProblem, eta: Array, error: Array, theta: Array) -> tuple[float, Array]:
    """Return what it costs to put the rest of the sum on one row: in its mismatch, and in the norm of r."""
    weight, loss = problem.weight, problem.loss
    whole = np.all((theta == np.rint(theta)), axis=1) & (np.abs(theta).max(axis=1) <= 1.0)
    terms = weight[:, None] * theta
    total = np.array([abs(math.fsum(terms[:, k])) for k in range(terms.shape[1])])
    total = total + EPS * np.sum(np.abs(terms[~whole]), axis=0)
    if not np.any(total):
        return 0.0, total
    room = _free(loss, problem.y, theta) * weight
    row = int(np.argmax(room))
    if not weight[row] > 0.0:
        return math.inf, total
    share = 1.0000001 * total / weight[row]
    y, at, point = problem.y[row : row + 1], eta[row : row + 1], theta[row : row + 1]
    before = loss.mismatch(y, at, point)[0]
    ways = _ways(loss, share)
    with np.errstate(invalid="ignore"):
        after = max(float(loss.mismatch(y, at, point + way)[0]) for way in ways)
    away = float(np.max(np.abs(ways).sum(axis=1)))
    pays = max(after - before, 0.0) + away * float(error[row].max()) + 4.0 * EPS * (abs(after) + abs(before))
    root = float(problem.gram.roots[row])
    most = np.full_like(total, np.max(np.abs(ways))) if loss.coupled else share
    more = weight[row] * most / (problem.strength * problem.weight_sum) * root
    cost = weight[row] * pays / problem.weight_sum if math.isfinite(pays) else math.inf
    return cost, more


def _ways(loss: Loss, share: Array) -> Array:
    """Return the corners of what may have to be added to the dual point of one row."""
    k = len(share)
    if not loss.coupled:
        return (
            np.array(np.meshgrid(*[(-one, one) for one in share])).reshape(k, -1).T
            if k <= 10
            else np.vstack([share, -share])
        )
    size = 0.5 * k * float(share.max())
    return np.array([size * (np.eye(k)[i] - np.eye(k)[j]) for i in range(k) for j in range(k) if i != j])


def _free(loss: Loss, y: Array, theta: Array) -> Array:
    """Return how far the dual point of every row can be moved, both ways."""
    if loss.coupled:
        return np.asarray(np.min(theta + hot(y, loss.outputs), axis=1))
    low, high = _box(loss, y)
    return np.asarray(np.minimum(np.min(np.minimum(theta - low, high - theta), axis=1), 1.0))
