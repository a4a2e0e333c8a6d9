"""The separator of maximum margin, with its dual as proof, and the perceptron's bound that follows from it.

    gamma = max over |w| = 1 of min_i z_i'w = min over a >= 0, sum a = 1 of |sum a_i z_i|

Any w bounds gamma from below and any such a from above, so both together are a proof. If the length of w leaves the
intercept out (the usual hard margin), sum a_i z_i must vanish in the intercept. The perceptron's theorem counts it.
Both are searched in floating point; where columns in different units leave them apart, in integers (`min_norm_point`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lineal.algebra.integers import Whole, digits, floats, mantissas, shifted, whole
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import Deadline, LateError
from lineal.perceptron.margin import Margin
from lineal.perceptron.min_norm_point import Key, nearest
from lineal.problem.moments import MAX_MAGNITUDE
from lineal.separation.cloud import Cloud
from lineal.separation.record import cloud_of
from lineal.separation.search import Decision, decide

BOUNDS_REL_TOL = 1e-9
"""The relative distance between the two bounds at which the search ends."""

MAX_ROUNDS = 200

EXACT_PROOF_MAX_ROWS = 80
"""Proofs by at most this many rows are searched in integers where floats do not bring the bounds together."""

EXACT_PROOF_SECONDS = 20.0
"""Time for that search."""


def maximum_margin(
    X: Any, y: Any, *, intercept: bool = True, augmented: bool = False, time_limit: float = 60.0
) -> Margin:
    """Return the separator of largest margin (hard margin) of separable rows, with a dual proof of how large it is.

    ``gamma = max over |w| = 1 of min_i y_i (w'x_i + b)``. ``augmented`` counts the intercept in the length of w and the 1 in
    the length of x, as the perceptron's theorem does. Rows that are not separable are refused, with the rows that prove it.

    >>> margin = maximum_margin([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0]], [0, 0, 1])
    >>> round(margin.gamma, 9), round(margin.upper, 9), margin.coef[:, 0].round(6).tolist()
    (2.0, 2.0, [-2.0, 1.0, 0.0])
    """
    cloud, names, labels = cloud_of(X, y, intercept=intercept)
    if len(labels) < 2:
        raise InputError("y has one class only, so there is no margin between classes.")
    check_units(cloud, names)
    try:
        decision = decide(cloud, Deadline.given(time_limit))
    except LateError:
        raise InputError(
            f"whether the rows are separable was not decided in {time_limit:g} s; give more time."
        ) from None
    if decision.kind != "complete" or decision.direction is None:
        raise InputError(_refused(cloud, decision))
    return stated(widest(cloud, cloud.matrix(floats(decision.direction)), held=not intercept or augmented))


def stated(margin: Margin) -> Margin:
    """Return a margin that may be stated as the maximum; refuse one that rounding has made of none."""
    if not margin.gamma > 0.0:
        raise InputError(
            "the columns are so far from zero that no separator of length one, rounded to doubles, separates the rows: there "
            "is no margin to state. Subtract a constant from the columns (such as the first time stamp), or ask without bound."
        )
    return margin


def check_units(cloud: Cloud, columns: Sequence[str]) -> None:
    """Refuse columns whose squares, of which lengths are made, are no doubles."""
    for j in np.flatnonzero((cloud.largest > MAX_MAGNITUDE) | (cloud.largest < 1.0 / MAX_MAGNITUDE)).tolist():
        raise InputError(
            f"column {columns[j]!r} has numbers up to {cloud.largest[j]:.2g}, whose squares doubles cannot hold; change its "
            "unit."
        )


def _refused(cloud: Cloud, decision: Decision) -> str:
    """Return why there is no margin: the rows whose weighted sum is zero."""
    several = cloud.outputs > 1
    rows = cloud.numbers[decision.ids // cloud.outputs if several else decision.ids].tolist()
    sizes = [int(w) if w < 2**53 else f"(a number of {len(digits(int(w)))} digits)" for w in decision.weights[:4]]
    shown = ", ".join(f"{size} x row {row}" for size, row in zip(sizes, rows, strict=False))
    more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
    return (
        f"the rows are not separable, so there is no margin: {shown}{more}, each times its class's sign, sum to zero. "
        "lineal.separability returns the whole proof; a soft margin exists always (lineal.LinearSVC)."
    )


def widest(cloud: Cloud, start: Array, *, held: bool) -> Margin:
    """Return the largest margin of separable rows from a separator (p, outputs); ``held``: w counts its first column too."""
    radius = _radius(cloud, 0 if held else 1)
    ids = _least(cloud, start, None, 4 * cloud.width + 20)
    best = _scaled(cloud, start, held)
    gamma, upper = _reached(cloud, best), np.inf
    proof: tuple[Index, Array] = (ids[:1], np.ones(1))
    for _ in range(MAX_ROUNDS):
        for coef, weights in _programs(cloud, ids, radius, held):
            here = _reached(cloud, coef)
            if here > gamma:
                gamma, best = here, coef
            length = _length(cloud, ids, weights, radius, held)
            if length < upper:
                upper, proof = length, (ids, weights)
        if upper - gamma <= BOUNDS_REL_TOL * upper:
            break
        fresh = np.union1d(ids, _least(cloud, coef, best, 2 * cloud.width + 20))
        if len(fresh) == len(ids):
            break
        ids = fresh
    used = proof[0][proof[1] > 0.0]
    counts = whole(proof[1][proof[1] > 0.0])
    if upper - gamma > BOUNDS_REL_TOL * upper and (held or cloud.outputs == 1) and len(used) <= EXACT_PROOF_MAX_ROWS:
        exact = _exactly(cloud, used, proof[1][proof[1] > 0.0], held)
        if exact is not None:
            coef, used, counts = exact
            if _reached(cloud, coef) > gamma:
                gamma, best = _reached(cloud, coef), coef
    upper = _exact_length(cloud, used, counts, radius, held)
    if upper - gamma > BOUNDS_REL_TOL * upper:
        gamma = max(gamma, _exactly_reached(cloud, best))
    several = cloud.outputs > 1
    return Margin(
        gamma=float(gamma),
        upper=upper,
        radius=radius,
        coef=best,
        rows=tuple(cloud.numbers[used // cloud.outputs if several else used].tolist()),
        against=tuple((used % cloud.outputs).tolist()) if several else None,
        weights=tuple(int(count) for count in counts),
        augmented=held,
        total=len(cloud.own),
    )


def _exactly(cloud: Cloud, ids: Index, weights: Array, held: bool) -> tuple[Array, Index, Whole] | None:
    """Return a separator and the rows and integer weights that prove it widest, found in integers.

    ``held``: the nearest point of all z. Otherwise of all differences x_i - x_j between the two classes: 2 gamma long.
    """
    base, p = int(np.min(cloud.exponents, initial=0)), cloud.x.shape[1]
    few = 4

    def rows(keys: Index) -> Whole:
        return shifted(*mantissas(cloud.whole_z(keys)), base)

    def vector(key: Key) -> Whole:
        return np.asarray(rows(np.array([key]))[0] if held else rows(np.array(key)).sum(axis=0)[1:])

    def matrix(x: Whole) -> Array:
        return floats(x if held else np.append([0], x)).reshape(cloud.outputs, p).T

    def seek(x: Whole) -> Iterable[Key]:
        margin = cloud.apart(matrix(x))
        if held:
            return [int(i) for i in cloud.ids[np.argsort(margin, kind="stable")[: few * few]]]
        sides = (np.flatnonzero(cloud.own == 1), np.flatnonzero(cloud.own != 1))
        up, down = (side[np.argsort(margin[side], kind="stable")[:few]] for side in sides)
        return [(int(i), int(j)) for i in up for j in down]

    start: list[Key] = [int(i) for i in ids] if held else _pairs(cloud, ids, weights)
    point = nearest(start, vector, seek, Deadline.after(EXACT_PROOF_SECONDS))
    if point is None:
        return None
    keys, shares = point
    totals: dict[int, int] = {}
    for key, share in zip(keys, shares, strict=True):
        for i in key if isinstance(key, tuple) else (key,):
            totals[int(i)] = totals.get(int(i), 0) + int(share)
    x = np.asarray(sum(share * vector(key) for key, share in zip(keys, shares, strict=True)))
    used = np.array(sorted(totals), dtype=np.intp)
    counts = np.array([totals[int(i)] for i in used], dtype=object)
    return _scaled(cloud, matrix(x), held), used, counts


def _pairs(cloud: Cloud, ids: Index, weights: Array) -> list[Key]:
    """Return pairs of rows of the two classes, such that the weights are a sum of weights of pairs (north-west corner)."""
    up = [[int(i), w] for i, w in zip(ids, weights, strict=True) if cloud.own[i] == 1]
    down = [[int(i), w] for i, w in zip(ids, weights, strict=True) if cloud.own[i] != 1]
    if not up or not down:
        return [(int(np.flatnonzero(cloud.own == 1)[0]), int(np.flatnonzero(cloud.own != 1)[0]))]
    pairs: list[Key] = []
    while up and down:
        pairs.append((up[0][0], down[0][0]))
        taken = min(up[0][1], down[0][1])
        for side in (up, down):
            side[0][1] -= taken
        (up if up[0][1] <= down[0][1] else down).pop(0)
    return pairs


def _exact_length(cloud: Cloud, ids: Index, counts: Whole, radius: float, held: bool) -> float:
    """Return |sum a z| / sum a of integer weights, rounded upwards."""
    m, e = mantissas(cloud.whole_z(ids))
    base = int(np.min(cloud.exponents, initial=0))
    parts = (counts @ shifted(m, e, base)).reshape(cloud.outputs, -1)
    total = int(np.sum(counts))
    rest = 0.0
    if not held:  # what is left in the intercepts, as in _length
        rest = 2.0 * radius * float(Fraction(sum(abs(int(v)) for v in parts[:, 0]), total) * Fraction(2) ** base)
        parts = parts[:, 1:]
    # sqrt(A) / total with A an integer: enough bits are added that rounding the root up costs less than 2^-60
    square = sum(int(value) ** 2 for value in parts.ravel())
    root = Fraction(math.isqrt(square << 128) + 1, total << 64) * Fraction(2) ** base
    return float(np.nextafter(np.nextafter(float(root) + rest, np.inf), np.inf))


def _radius(cloud: Cloud, first: int) -> float:
    part = cloud.x[:, first:]
    squares = part.multiply(part).sum(axis=1) if hasattr(part, "multiply") else np.einsum("ij,ij->i", part, part)
    return float(np.sqrt(np.max(np.asarray(squares), initial=0.0)))


def _least(cloud: Cloud, coef: Array, other: Array | None, most: int) -> Index:
    """Return the rows of smallest margin under one or two separators."""
    chosen = []
    for candidate in (coef, other):
        if candidate is not None:
            margin = cloud.apart(candidate)
            most = min(most, len(margin))
            chosen.append(cloud.ids[np.argpartition(margin, most - 1)[:most]])
    return np.unique(np.concatenate(chosen))


def _scaled(cloud: Cloud, coef: Array, held: bool) -> Array:
    """Return coefficients of length 1; where the intercept is free, at its best place between two classes."""
    if held:
        return np.asarray(coef / np.linalg.norm(coef))
    coef = coef / np.linalg.norm(coef[1:])
    if cloud.outputs == 1:
        score = np.asarray(cloud.x @ np.concatenate([[[0.0]], coef[1:]]))[:, 0]
        coef[0] = -0.5 * (np.min(score[cloud.own == 1]) + np.max(score[cloud.own != 1]))
    return np.asarray(coef)


def _reached(cloud: Cloud, coef: Array) -> float:
    """Return the least margin, less what rounding may have added."""
    return float(np.min(cloud.apart(coef))) - _rounding(cloud, coef)


def _rounding(cloud: Cloud, coef: Array) -> float:
    """Return a bound on the rounding error of a margin."""
    size = float(np.max(np.abs(coef).T @ cloud.largest))
    return 4 * (len(coef) + 4) * np.finfo(np.float64).eps * size


def _exactly_reached(cloud: Cloud, coef: Array) -> float:
    """Return the least margin, made of integers and rounded downwards, where few rows can have it; otherwise -inf."""
    margin = cloud.apart(coef)
    ids = cloud.ids[margin <= np.min(margin) + 2.0 * _rounding(cloud, coef)]
    if len(ids) > EXACT_PROOF_MAX_ROWS:
        return -np.inf
    m, e = mantissas(np.vstack([cloud.whole_z(ids), coef.T.ravel()]))
    base = int(np.min(e))
    z = shifted(m, e, base)
    least = Fraction(int(min(z[:-1] @ z[-1]))) * Fraction(2) ** (2 * base)
    return float(least) * (1.0 - 8.0 * np.finfo(np.float64).eps)  # the length of coef is 1 up to that


def _length(cloud: Cloud, ids: Index, weights: Array, radius: float, held: bool) -> float:
    """Return |sum a z|, an upper bound of the margin, with a bound of its rounding error added."""
    if not len(weights):
        return np.inf
    z = cloud.whole_z(ids)
    total = weights @ z
    error = 4 * (len(ids) + 4) * np.finfo(np.float64).eps * float(np.linalg.norm(np.abs(weights) @ np.abs(z)))
    if not held:
        # What is left in the intercepts counts too: those of the best w differ by at most |w_k - w_l| R.
        parts = total.reshape(cloud.outputs, -1)
        total, error = parts[:, 1:].ravel(), error + 2.0 * float(np.abs(parts[:, 0]).sum()) * radius
    return float(np.linalg.norm(total)) + error


def _programs(cloud: Cloud, ids: Index, radius: float, held: bool) -> list[tuple[Array, Array]]:
    """Return candidates (coef, weights) for some rows: by least distance programming, then polished on its support.

    min |w| with z'w >= 1 is the non-negative least squares problem min |(Z, 1)'u - (0, 1)| (Lawson and Hanson).
    """
    from scipy import optimize

    z = cloud.whole_z(ids)
    p = cloud.x.shape[1]
    scale = np.full(z.shape[1], 1.0 / radius)
    if not held:
        scale[::p] = 1e4  # an intercept so cheap that its length hardly counts
    table = np.vstack([(z * scale).T, np.ones(len(z))])
    goal = np.append(np.zeros(z.shape[1]), 1.0)
    try:
        u, _ = optimize.nnls(table, goal, maxiter=50 * len(z))
    except RuntimeError:
        return []
    left = goal - table @ u
    candidates = []
    if left[-1] > 0.0:
        candidates.append(-left[:-1] / left[-1] * scale)
    support = u > 0.0
    polished, multipliers = _polish(z[support], p, held)
    candidates.append(polished)
    pairs = [(_scaled(cloud, w.reshape(cloud.outputs, p).T, held), u) for w in candidates if np.any(w)]
    again = np.zeros(len(z))
    again[support] = multipliers
    pairs = [(coef, _balanced(cloud, ids, weights, held)) for coef, weights in pairs]
    if pairs and np.all(multipliers >= 0.0):
        pairs.append((pairs[-1][0], _balanced(cloud, ids, again, held)))
    return pairs


def _polish(z: Array, p: int, held: bool) -> tuple[Array, Array]:
    """Return w of least length with z'w = 1 on some rows, and its multipliers."""
    columns = z.shape[1]
    penalty_factor = np.ones(columns)
    if not held:
        penalty_factor[::p] = 0.0
    size = len(z)
    system = np.block([[np.diag(penalty_factor), -z.T], [z, np.zeros((size, size))]])
    solved = np.linalg.lstsq(system, np.append(np.zeros(columns), np.ones(size)), rcond=None)[0]
    return solved[:columns], solved[columns:]


def _balanced(cloud: Cloud, ids: Index, weights: Array, held: bool) -> Array:
    """Return multipliers with sum 1; where the intercept is free, also such that it gets none (two classes)."""
    total = float(weights.sum())
    if not total > 0.0:
        return weights[:0]
    if held or cloud.outputs > 1:
        return np.asarray(weights / total)
    up = cloud.own[ids] == 1
    above, below = float(weights[up].sum()), float(weights[~up].sum())
    if not (above > 0.0 and below > 0.0):
        return weights[:0]
    return np.asarray(np.where(up, 0.5 * weights / above, 0.5 * weights / below))
