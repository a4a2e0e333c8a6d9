"""How far a function in the span of kernels is from the best one, at most.

F(f, b) = (1/S) sum_i s_i loss(y_i, f(x_i) + b) + (strength / 2) |f|^2,  f = sum_i a_i k(x_i, .),  |f|^2 = a'K a.

For numbers theta in the domain of loss*, with ``sum_i s_i theta_i = 0`` where there is an intercept, put
``g = -sum_i s_i theta_i k(x_i, .) / (strength S)``. Then ``D = -(1/S) sum s loss*(theta) - (strength / 2) |g|^2`` is below F
everywhere, and since ``(1/S) sum_i s_i theta_i (f(x_i) + b)`` is the inner product of f and ``-strength g``,

    F(f, b) - D = (1/S) sum_i s_i [loss + loss* - theta_i eta_i] + (strength / 2) |f - g|^2.

No term is below zero. The brackets are computed without cancellation; they are convex in a score, so that what they are at most
while scores are known up to an error is found at ends, or from slope and curvature. ``|f - g|`` is at most
``sum_i |r_i| sqrt(k(x_i, x_i))`` with ``r_i = a_i + s_i theta_i / (strength S)``, or comes from a product with K. A sum of theta
that is not zero is put on the row with the most room, where it costs what a convex function costs at its ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from lineal.verify.arithmetic import EPS, Array, Index, total
from lineal.verify.losses.corners import Corner
from lineal.verify.losses.loss import Loss
from lineal.verify.losses.smooth import Probable, Softmax, Squared, excess
from lineal.verify.maps.kernels import Kernel

CELLS: Final = 2**21
"""Entries of K that are made at once."""
TERMS: Final = 512
"""Terms that are added in one sum."""
ROUNDS: Final = 12
"""Moves towards a sum of zero."""


@dataclass(frozen=True)
class Span:
    """Rows or texts, their targets and weights, and functions in the span of their kernels, plus one if ``lifted``."""

    kernel: Kernel
    z: Any
    y: Array
    weight: Array
    loss: type[Loss]
    parameter: float
    strength: float
    intercept: bool
    lifted: bool = False

    @cached_property
    def mass(self) -> float:
        """S, the sum of the weights."""
        return total(self.weight)

    @cached_property
    def roots(self) -> Array:
        """The length of every row's kernel, ``sqrt(k(x, x))``, or more."""
        value, error = self.kernel.own(self.z)
        return np.asarray(np.sqrt(np.maximum(value, 0.0) + self.lifted + error) * (1.0 + 4 * EPS))

    def scores(self, rows: Index, coef: Array) -> tuple[Array, Array, float]:
        """Return the sums of kernels at some rows times coefficients, how far each may be off, and any entry at most."""
        largest = 0.0
        n, chosen, size = len(self.z), self.z[rows], np.abs(coef)
        value, error = np.zeros((n, coef.shape[1])), np.zeros((n, coef.shape[1]))
        terms = min(len(rows), TERMS) + -(-len(rows) // TERMS) + 3
        step = max(1, CELLS // TERMS)
        for start in range(0, n, step):
            some = slice(start, start + step)
            for first in range(0, len(rows), TERMS):
                part = slice(first, first + TERMS)
                entries, off = self.kernel.between(self.z[some], chosen[part])
                if self.lifted:
                    entries = entries + 1.0
                    off = off + EPS * np.abs(entries)
                largest = max(largest, float(np.max(off)))
                value[some] += entries @ coef[part]
                error[some] += (off + 0.5 * EPS * terms * np.abs(entries)) @ size[part]
        return value, error * (1.0 + 1e-9), largest

    def losses(self, eta: Array) -> Loss:
        """Return the losses of all rows at some scores."""
        return self.loss(self.y, eta, self.parameter)

    def mean(self, rows: Array) -> float:
        """Return the mean of a number of every row."""
        return total(self.weight * rows) / self.mass


@dataclass(frozen=True)
class Bound:
    """F and how far it may be off; a gap, what of it is for rounding alone; and ``unit``, what doubles cannot see."""

    objective: float
    allowance: float
    gap: float
    rounding: float
    weakest: float
    unit: float


def bound(span: Span, rows: Index, coef: Array, constant: Array) -> Bound:
    """Return F of coefficients of some rows and a constant for each output, and the least of the gaps that can be proven."""
    value, off, largest = span.scores(rows, coef)
    eta = value + constant
    off = off + EPS * np.abs(eta)
    losses, n = span.losses(eta), len(eta)
    norm = coef * value[rows]
    mean, charged = span.mean(losses.value), 0.5 * span.strength * total(norm)
    steep = np.sum(losses.steep * off, axis=1) + 0.5 * np.sum(off**2, axis=1)
    wide = 0.5 * span.strength * float(np.sum(np.abs(coef) * off[rows]) + (n + 8) * EPS * np.sum(np.abs(norm)))
    allowance = 2.0 * (span.mean(steep) + wide) + (n + 64) * EPS * mean
    # a fit may know no more of an entry than what the worst of them is off
    unit = 8.0 * max(span.mean(np.max(off, axis=1)), largest * float(np.max(np.sum(np.abs(coef), axis=0))))
    if not span.strength > 0.0:  # no loss is below zero
        return Bound(mean, allowance, mean, allowance, 4.0 * mean, unit)
    bounds = [_gap(span, rows, coef, eta, off, theta) for theta in _duals(span, rows, coef, losses)]
    proven = [pair for pair in bounds if math.isfinite(pair[0])]
    gap, plain = min(proven, default=(math.inf, math.inf))
    weakest = max((each for each, _ in proven), default=gap)
    return Bound(mean + charged, allowance, gap, gap - plain if proven else 0.0, weakest, unit)


def _duals(span: Span, rows: Index, coef: Array, losses: Loss) -> list[Array]:
    """Return what the coefficients say, ``-strength S a_i / s_i``, and the slopes of the loss where those are dual points."""
    whole = np.zeros_like(losses.eta)
    whole[rows] = coef
    natural = -(span.strength * span.mass) * whole / span.weight[:, None]
    if isinstance(losses, Corner):
        for end in losses.box:  # a coefficient at its bound is meant to be there
            natural = np.where(np.abs(natural - end) <= 16 * EPS, end, natural)
        return [_level(span, losses, natural)]
    return [_level(span, losses, natural), _level(span, losses, losses.slope)]


def _put(losses: Loss, theta: Array) -> Array:
    """Return theta in the domain of loss*; of several classes the sum over them is zero but for rounding."""
    if isinstance(losses, Corner):
        return np.clip(theta, *losses.box)
    if isinstance(losses, Softmax):
        q = np.maximum(theta + losses.y, 0.0)
        q = q / np.maximum(q.sum(axis=1, keepdims=True), 1e-300)
        others = np.where(losses.y > 0.5, 0.0, q)
        most = others.sum(axis=1, keepdims=True)  # exactly no more than one, rounding included
        others = np.where(most > 1.0 - 1e-14, others * (1.0 - 1e-14), others)
        return np.where(losses.y > 0.5, -others.sum(axis=1, keepdims=True), others)
    return theta if isinstance(losses, Squared) else np.clip(theta, -losses.y, 1.0 - losses.y)


def _level(span: Span, losses: Loss, theta: Array) -> Array:
    """Return theta in its domain, its sum over the rows near zero where there is an intercept."""
    theta, weight = _put(losses, theta), span.weight
    for _ in range(ROUNDS * span.intercept):
        over = weight @ theta
        if np.all(np.abs(over) <= 8 * EPS * (weight @ np.abs(theta))):
            break
        if isinstance(losses, Squared):
            theta = theta - over / span.mass
        elif isinstance(losses, Softmax):
            q = theta + losses.y
            pull = np.diag(weight @ q) - (q * weight[:, None]).T @ q
            step = np.linalg.lstsq(pull, over, rcond=None)[0]
            way = step - (q @ step)[:, None]
            theta = _put(losses, theta - q * way / max(1.0, 2.0 * float(np.max(np.abs(way)))))
        else:
            below, above = _room(losses, theta)
            room = below * above / np.maximum(below + above, 1e-300)
            if abs(float(over[0])) > 0.5 * float((weight @ room)[0]):
                up, down = weight @ np.maximum(theta, 0.0), weight @ np.maximum(-theta, 0.0)
                less = np.minimum(up, down)
                share = np.where(theta > 0.0, less / np.maximum(up, 1e-300), less / np.maximum(down, 1e-300))
                theta = share * theta
            else:
                theta = _put(losses, theta - over / (weight @ room) * room)
    return theta


def _room(losses: Loss, theta: Array) -> tuple[Array, Array]:
    """Return how far a number may fall and rise without leaving its interval; a loss has at most one score here."""
    low, high = losses.box if isinstance(losses, Corner) else (-losses.y, 1.0 - losses.y)
    return theta - low, high - theta


def _gap(span: Span, rows: Index, coef: Array, eta: Array, off: Array, theta: Array) -> tuple[float, float]:
    """Return an upper bound of ``F - D``, and the same without what is for rounding."""
    losses, charge = span.losses(eta), span.strength * span.mass
    plain, most = _mismatch(losses, theta, off)
    closing, away, row = _closing(span, losses, theta, off)
    dual = span.weight[:, None] * theta / charge
    rest = dual.copy()
    rest[rows] += coef
    error = 4 * EPS * np.abs(dual)
    error[rows] += 4 * EPS * np.abs(coef)
    if isinstance(losses, Softmax):  # what is off in the sum over the classes is in the own class
        error += (dual.shape[1] + 2) * EPS * np.sum(np.abs(dual), axis=1, keepdims=True)
    root = span.roots
    apart = np.minimum(root @ np.abs(rest), _apart(span, rest, np.abs(dual), root))
    widest = apart + root @ error + away * root[row]
    half = 0.5 * span.strength
    gap = span.mean(most) + closing + half * float(np.sum(widest**2))
    return float(gap * (1.0 + 1e-12)), span.mean(plain) + half * float(np.sum(apart**2))


def _apart(span: Span, rest: Array, size: Array, root: Array) -> Array:
    """Return the norms of functions from a product with K, where the sum of sizes may be much more than that."""
    if np.all(root @ np.abs(rest) <= 1e-12 * (root @ size)):
        return np.full(rest.shape[1], np.inf)
    used = np.flatnonzero(np.any(rest != 0.0, axis=1))
    value, off, _ = span.scores(used, rest[used])
    sizes = np.abs(rest) * (off + (len(used) + 4) * EPS * np.abs(value))
    return np.asarray(np.sqrt(np.maximum(np.sum(rest * value + sizes, axis=0), 0.0)))


def _mismatch(losses: Loss, theta: Array, off: Array) -> tuple[Array, Array]:
    """Return ``loss + loss* - theta eta`` of every row, and what it is at most, scores being off by up to ``off``."""
    if isinstance(losses, Corner):
        off = off + 4 * EPS * (np.abs(losses.eta) + np.abs(losses.at) + losses.epsilon)
        ends = [_cornered(replace(losses, eta=losses.eta + side * off), theta) for side in (-1.0, 1.0)]
        return _cornered(losses, theta), np.maximum(*ends) * (1.0 + 8 * EPS)
    apart = theta - losses.slope
    lost = 4 * EPS * (np.abs(theta) + np.abs(losses.slope))
    more = np.sum((np.abs(apart) + lost) * off, axis=1) + 0.5 * np.sum(off**2, axis=1)
    if isinstance(losses, Squared):
        lost = 2 * EPS * (np.abs(theta) + np.abs(losses.eta) + np.abs(losses.y))
        more = more + np.sum(lost * (np.abs(apart) + lost), axis=1)
        plain = 0.5 * np.sum(apart**2, axis=1)
        return plain, (plain + more) * (1.0 + 8 * EPS)
    assert isinstance(losses, Probable)
    p = losses.mean
    if not isinstance(losses, Softmax):
        p, apart, lost = (np.hstack(both) for both in ((p, losses.rest), (apart, -apart), (lost, lost)))
    else:
        lost = lost + (p.shape[1] + 2) * EPS * np.sum(np.abs(theta), axis=1, keepdims=True)
    # p itself has some roundings, one of them in the exponent
    more = more + 16 * EPS * np.sum(np.abs(apart), axis=1) * (1.0 + np.max(np.abs(losses.eta), axis=1))
    logs = _logs(losses)
    around = [_excess(p, logs, apart + side * lost) for side in (-1.0, 0.0, 1.0)]
    return np.sum(around[1], axis=1), np.sum(np.max(around, axis=0), axis=1) * (1.0 + 64 * EPS) + more


def _logs(losses: Probable) -> Array:
    """Return the logarithm of every probability; of two classes that of the second first."""
    eta = losses.eta if isinstance(losses, Softmax) else np.hstack([losses.eta, np.zeros_like(losses.eta)])
    below = eta - eta.max(axis=1, keepdims=True)
    return np.asarray(below - np.log(np.sum(np.exp(below), axis=1, keepdims=True)))


def _excess(p: Array, logs: Array, apart: Array) -> Array:
    """Return ``q log(q / p) + p - q`` for ``q = p + apart``: p h(apart / p), or as it stands where q is much more than p."""
    with np.errstate(all="ignore"):
        far = ~(apart <= 1e6 * p)
        v = np.where(far, 0.0, np.where(p > 0.0, apart / p, 0.0))
        near = np.where(v <= -1.0, p, p * excess(np.maximum(v, -1.0 + EPS)))  # q is not below zero
        q = np.where(far, p + apart, 1.0)
        return np.where(far, q * (np.log(q) - logs) + p - q, near)


def _cornered(losses: Corner, theta: Array) -> Array:
    """Return the mismatch of a loss of two straight sides: a sum of terms that are not below zero."""
    rows = np.zeros_like(theta)
    for sign, d, cap in losses.sides:
        u = np.maximum(sign * theta, 0.0)
        rows += np.maximum(d, 0.0) * np.maximum(cap - u, 0.0) + np.maximum(-d, 0.0) * u
    return np.asarray(rows[:, 0])


def _closing(span: Span, losses: Loss, theta: Array, off: Array) -> tuple[float, Array, int]:
    """Return what a sum that is not zero costs on one row, how far a coefficient moves for it, and which row that is."""
    nothing = np.zeros(theta.shape[1])
    if not span.intercept:
        return 0.0, nothing, 0
    terms = span.weight[:, None] * theta
    exact = bool(np.all((theta == np.rint(theta)) & (np.abs(theta) <= 1.0)))  # products that are not rounded
    over = np.array([abs(total(column)) for column in terms.T])
    over = over + (0.0 if exact else 4 * EPS * float(np.sum(np.abs(terms))))
    if not np.any(over):
        return 0.0, nothing, 0
    if isinstance(losses, Softmax):
        free = np.min(theta + losses.y, axis=1)
    elif isinstance(losses, Squared):
        free = np.full(len(theta), np.inf)
    else:
        free = np.minimum(*_room(losses, theta))[:, 0]
    row = int(np.argmax(np.minimum(free, 1.0) * span.weight))
    share = over / span.weight[row] * (1.0 + 8 * EPS)
    if not 2.0 * float(share.max()) < free[row]:
        return math.inf, nothing, row
    one = np.array([row])
    single = losses.__class__(losses.y[one], losses.eta[one], losses.parameter)
    rise = _rise(single, theta[row], share, float(np.max(off[row])))
    return float(span.weight[row] * rise / span.mass), span.weight[row] * share / (span.strength * span.mass), row


def _rise(row: Loss, theta: Array, share: Array, off: float) -> float:
    """Return how much the mismatch of a row rises at most when theta moves by up to ``share``."""
    if isinstance(row, Probable):  # a convex function rises by no more than its slope at the end, log(q / p)
        q, logs = theta + row.y[0], _logs(row)[0]
        steep = np.abs(np.log(q) - logs[: len(q)]) + 2.0 * share / q
        if not isinstance(row, Softmax):
            other = (1.0 - row.y[0]) - theta  # 1 - q, which rounds to zero where theta is next to nothing
            steep = steep + np.abs(np.log(other) - logs[1:]) + 2.0 * share / other
        return float(share @ (steep + 2.0 * off))
    if isinstance(row, Corner):
        size = np.abs(row.eta[0]) + np.abs(row.at[0]) + row.epsilon
        steep = np.max([np.abs(d[0]) for _, d, _ in row.sides], axis=0)
        return float(share @ (steep + off + 8 * EPS * size))
    return float(share @ (np.abs(theta - row.slope[0]) + off + share + 8 * EPS * (np.abs(theta) + np.abs(row.eta[0]))))
