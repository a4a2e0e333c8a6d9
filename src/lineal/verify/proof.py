"""The part that proves. Read it in one sitting; it trusts nothing but the data and the coefficients.

    F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + sum_jk (lam_j / 2) b_jk^2,      eta = X b + offset,   lam_j = strength charge_j

For ANY theta (one vector per row) that is orthogonal to every uncharged column, sum_i q_i x_ij theta_i = 0 with q = s/S, weak
duality gives F(c) >= D(theta) for all c, and

    F(b) - D(theta) = sum_i q_i [loss(eta_i) + loss*(theta_i) - theta_i.eta_i]                 every term >= 0 (Fenchel-Young)
                    + sum over charged j of (lam_j / 2) (b_j + g_j / lam_j)^2,    g = X'(q theta)          every term >= 0

We take theta_i = slope_i - W_i u_i with W the curvature and u = X t, t about a Newton step (nobody trusts it), corrected in the
uncharged columns U so that theta is orthogonal to them. Then the bracket is known in closed form, without cancellation:

    squared   |u|^2 / 2
    logistic  p h(-(1 - p) u) + (1 - p) h(p u)                                 h(v) = (1 + v) log(1 + v) - v
    softmax   sum_k p_k h(-(u_k - sum_l p_l u_l))

If 1 + v >= 1/2 everywhere, theta lies inside the domain of loss*: with independent columns X_U, this proves that a finite
minimiser exists. In floats X_U'(q theta) is not exactly zero but a tiny g_U; the exactly orthogonal theta' differs from theta by
W X_U t' with t'Ht' = g_U' H^-1 g_U, H = X_U' Q W X_U, and because h(v) <= v^2 the bracket changes by at most
4 |u| |u'| + 2 |u'|^2 in the norm |u|^2 = sum_i q_i u_i'W_i u_i. Rounding of theta itself is bounded row by row and added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import EPS, Array, signs, sums, times, total
from lineal.verify.formulas import Index, Point, Problem

DEPENDENT = 64 * EPS
"""A weighted sum of columns is zero if in every row it is at most this part of the sum of the sizes of its terms."""


class NotProvenError(Exception):
    """Nothing can be proven at this point, and why."""


@dataclass(frozen=True)
class Basis:
    """Independent columns U of X seen through ``z = X_U T``, T triangular and nonsingular, so that H is near the identity.

    ``h = Z' Q W Z`` is the second derivative of the mean loss in t (output-major); for softmax the direction that adds the
    same number to all classes, which no loss can see, is given curvature one.
    """

    columns: Index
    change: Array
    z: Array
    h: Array
    least: float

    def solve(self, g: Array) -> Array:
        """Return t with H t = g."""
        return np.asarray(np.linalg.solve(self.h, g.T.ravel()).reshape(g.T.shape).T)


def hessian(point: Point, z: Array) -> Array:
    """Return Z' Q W Z, output-major, with curvature for the direction that softmax cannot see."""
    p, k, m = point.problem, point.problem.outputs, z.shape[1]
    unseen = np.sum(point.weight, axis=1) / k if p.loss == "softmax" else 0.0
    h = np.empty((m * k, m * k))
    for b in range(k):
        unit = np.zeros((len(z), k))
        unit[:, b] = 1.0
        image = point.curved(unit)
        for a in range(b + 1):
            tile = z.T @ ((p.q * (image[:, a] + unseen))[:, None] * z)
            h[a * m : (a + 1) * m, b * m : (b + 1) * m] = tile
            h[b * m : (b + 1) * m, a * m : (a + 1) * m] = tile.T
    return h


def basis(point: Point, columns: Index) -> Basis:
    """Return the columns in a basis in which H is well conditioned; this is also the proof that they are independent."""
    p = point.problem
    weight = np.sum(point.weight, axis=1)
    x = p.x[:, columns]
    scale = np.max(np.abs(x), axis=0, initial=0.0)
    if not np.all(scale > 0.0):
        raise NotProvenError("a column is zero in every row")
    if len(x) < len(columns):
        raise NotProvenError(f"{len(columns)} columns of {len(x)} rows are dependent")
    factor = np.linalg.qr((p.q * weight)[:, None] ** 0.5 * (x / scale), mode="r")
    pivots = np.abs(np.diag(factor))
    if not np.all(np.isfinite(factor)) or not np.all(pivots > 1e-18 * np.max(pivots, initial=0.0)):
        raise NotProvenError("the columns are dependent, or the fit has left no curvature")
    change = np.triu(np.linalg.solve(factor, np.eye(len(columns)))) / scale[:, None]
    z = times(x, change)
    size = np.abs(x) @ np.abs(change)
    if np.any(np.all(np.abs(z) <= DEPENDENT * size, axis=0)):
        raise NotProvenError("the columns are dependent: a weighted sum of them is zero in every row")
    h = hessian(point, z)
    values = np.linalg.eigvalsh(h) if len(h) else np.ones(1)
    if not values[0] > 1e-11 * values[-1]:
        raise NotProvenError("the columns are dependent, or the fit has left no curvature in some direction")
    return Basis(columns, change, z, h, float(values[0]))


@dataclass(frozen=True)
class Gap:
    """``F(b) - F* <= gap``, proven; ``margin`` is the least 1 + v."""

    gap: float
    margin: float


def prove_gap(point: Point, columns: Index, *, plain: bool = False) -> Gap:
    """Bound F(b) - F* from above by a dual point orthogonal to ``columns`` (all uncharged ones, or a basis of them).

    ``plain`` starts from the slopes themselves, without a Newton step in the charged columns: a weaker bound.
    """
    p = point.problem
    q = p.q[:, None]
    found = basis(point, columns)
    start = np.zeros_like(point.eta) if plain or not np.any(p.lam > 0.0) else times(p.x, newton_step(point))
    t = np.zeros((len(columns), p.outputs))
    theta = point.slope - point.curved(start)
    for _ in range(3):  # the second and third time only rounding is left
        t = t + found.solve(sums(found.z, q * theta))
        u = start + times(found.z, t)
        theta = point.slope - point.curved(u)
    mismatch, margin = point.mismatch(u)
    if margin < 0.5:
        raise NotProvenError("the coefficients are too far from an optimum, or there is none")
    noise = q * (point.noise + 4 * EPS * (np.abs(theta) + np.abs(point.curved(u))))
    left = np.abs(sums(found.z, q * theta)) + np.abs(found.z).T @ noise
    norm = total(q * u * point.curved(u)) ** 0.5
    far = float(np.sum(left**2) / found.least) ** 0.5
    gap = mismatch + 4 * norm * far + 2 * far**2
    charged = np.flatnonzero(p.lam > 0.0)
    if len(charged):
        x, lam = p.x[:, charged], p.lam[charged, None]
        g = sums(x, q * theta)
        blur = np.abs(x).T @ noise + 4 * EPS * np.abs(g) + far * ((x**2).T @ (q * point.weight)) ** 0.5
        gap += total((np.abs(lam * point.coef[charged] + g) + blur) ** 2 / (2.0 * lam))
    return Gap(gap * (1.0 + 1e-9), margin)


def bound(point: Point, columns: Index, moves: int = 30) -> Gap:
    """Bound F(b) - F*; from far away, as F(b) - F(c) plus the gap at a better point c, found by damped Newton steps.

    Any c would do: F(b) - F* = F(b) - F(c) + F(c) - F*.
    """
    here = point
    for move in range(moves + 1):
        try:
            found = prove_gap(here, columns)
        except NotProvenError:
            if move == moves:
                raise
        else:
            fall = max(point.objective - here.objective, 0.0) + point.allowance if move else 0.0
            return Gap(fall + found.gap, found.margin)
        zero = point.problem.at(np.zeros_like(point.coef))
        here = zero if zero.objective < here.objective else here
        step, length = newton_step(here), 1.0
        while length > 1e-9 and not here.problem.at(here.coef - length * step).objective < here.objective:
            length *= 0.5
        if not length > 1e-9:
            raise NotProvenError("no better point was found from which to prove a bound")
        here = here.problem.at(here.coef - length * step)
    raise AssertionError("unreachable")


def newton_step(point: Point) -> Array:
    """Return roughly the t with (X'QWX + diag(lam)) t = gradient of F; nothing depends on how roughly."""
    p = point.problem
    q, lam = p.q[:, None], p.lam[:, None]
    gradient = sums(p.x, q * point.slope) + lam * point.coef
    diagonal = (p.x**2).T @ (q * point.weight) + lam
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    if gradient.size <= 2000:
        flat = scale.T.ravel()
        h = (hessian(point, p.x) + np.diag(np.tile(p.lam, p.outputs))) * flat[:, None] * flat
        t = np.linalg.lstsq(h, gradient.T.ravel() * flat, rcond=1e-15)[0] * flat
        return np.asarray(t.reshape(gradient.T.shape).T)
    t, left = np.zeros_like(gradient), gradient
    direction = scale**2 * left
    size = first = float(np.sum(left * direction))
    for _ in range(1000):  # conjugate gradients
        if not size > 1e-24 * first:
            break
        image = p.x.T @ (q * point.curved(p.x @ direction)) + lam * direction
        length = size / float(np.sum(direction * image))
        t, left = t + length * direction, left - length * image
        size, before = float(np.sum(left * scale**2 * left)), size
        direction = scale**2 * left + size / before * direction
    return t


def null_objective(problem: Problem) -> float:
    """Return F of the best fit of the uncharged columns alone (of the intercept alone where nothing is charged)."""
    columns = problem.uncharged
    if len(columns) == len(problem.lam):
        columns = columns[:1] if problem.intercept else columns[:0]
    small = replace(problem, x=problem.x[:, columns], lam=np.zeros(len(columns)))
    point = small.at(np.zeros((len(columns), problem.outputs)))
    shares = problem.q @ problem.y
    if problem.loss != "squared" and len(columns) == 1 and problem.intercept and not np.any(problem.offset):
        shares = np.hstack([shares, 1.0 - shares]) if problem.loss == "logistic" else shares
        return -total(shares * np.log(np.where(shares > 0.0, shares, 1.0)))
    for _ in range(100 if len(columns) else 0):
        found = basis(point, np.arange(len(columns)))
        gradient = sums(found.z, problem.q[:, None] * point.slope)
        step = found.change @ found.solve(gradient)
        drop = float(np.sum(gradient * found.solve(gradient)))
        length = 1.0
        while length > 1e-9 and small.at(point.coef - length * step).objective > point.objective + 1e-15 * abs(
            point.objective
        ):
            length *= 0.5
        point = small.at(point.coef - length * step)
        if drop <= 1e-20 * max(1e-300, point.objective):
            break
    return point.objective


def dependence(x: Array, weights: Array) -> float:
    """Return the largest |sum_j x_ij d_j| / sum_j |x_ij d_j| over the rows: 0 if d is an exact dependency of the columns."""
    size = np.abs(x) @ np.abs(weights)
    value = np.abs(times(x, weights[:, None])[:, 0])
    return float(np.max(np.where(size > 0.0, value / np.where(size > 0.0, size, 1.0), 0.0), initial=0.0))


def spanning(problem: Problem) -> Index:
    """Return uncharged columns of which all others are combinations: found by pivoting, each checked row by row."""
    columns = problem.uncharged
    x = problem.x[:, columns]
    scale = np.max(np.abs(x), axis=0, initial=0.0)
    x = x / np.exp2(np.round(np.log2(np.where(scale > 0.0, scale, 1.0))))  # exact, and changes no dependency
    left, kept = x.copy(), np.zeros(len(columns), dtype=bool)
    for _ in range(min(x.shape)):
        size = np.linalg.norm(left, axis=0)
        pivot = int(np.argmax(size))
        if not size[pivot] > 1e-12 * np.linalg.norm(x[:, pivot]):
            break
        kept[pivot] = True
        unit = left[:, pivot] / size[pivot]
        left -= np.outer(unit, unit @ left)
        left -= np.outer(unit, unit @ left)
        left[:, kept] = 0.0
    base = x[:, kept]
    inverse = np.linalg.pinv(base)
    for j in np.flatnonzero(~kept):
        weights = -inverse @ x[:, j]
        weights -= inverse @ times(base, weights[:, None], x[:, j, None])[:, 0]
        if dependence(np.column_stack([base, x[:, j]]), np.append(weights, 1.0)) > DEPENDENT:
            raise NotProvenError("the columns are nearly but not quite dependent")
    return columns[kept]


def independent(null_space: Array, scale: Array, candidates: Index) -> Index:
    """Return candidates that stay when one column per dependency is set aside (elimination, largest entry first)."""
    work = (null_space * scale[:, None]).T.copy()
    gone: list[int] = []
    for row in range(len(work)):
        pivot = int(np.argmax(np.abs(work[row])))
        if not abs(work[row, pivot]) > 1e-9 * np.max(scale * np.max(np.abs(null_space), axis=1), initial=0.0):
            raise NotProvenError("the dependencies depend on each other")
        gone.append(pivot)
        below = work[row + 1 :]
        below -= np.outer(below[:, pivot] / work[row, pivot], work[row])
        below[:, pivot] = 0.0
    return np.setdiff1d(candidates, gone)


def strict_rows(problem: Problem, direction: Array) -> npt.NDArray[np.bool_]:
    """Return which rows lose strictly along ``direction``; NotProvenError if the loss of any row grows. Exact.

    logistic: (2 y - 1) x_i'd >= 0; softmax: x_i'(d_y - d_k) >= 0 for every class k.
    """
    strict = np.zeros(len(problem.y), dtype=bool)
    for own in range(2 if problem.loss == "logistic" else problem.outputs):
        for other in [0] if problem.loss == "logistic" else [k for k in range(problem.outputs) if k != own]:
            if problem.loss == "logistic":
                rows = np.flatnonzero(problem.y[:, 0] == own)
                found = (2 * own - 1) * signs(problem.x[rows], direction[:, 0])
            else:
                rows = np.flatnonzero(problem.y[:, own] == 1.0)
                found = _difference_signs(problem.x[rows], direction[:, own], direction[:, other])
            if np.any(found < 0):
                raise NotProvenError(f"the loss of {int(np.sum(found < 0))} rows grows along the direction")
            strict[rows] |= found > 0
    return strict


def _difference_signs(x: Array, a: Array, b: Array) -> npt.NDArray[np.int64]:
    """Return the exact signs of X (a - b); a - b itself may not be a double, so both stay as they are."""
    return signs(np.hstack([x, x]), np.concatenate([a, -b]))
