"""The separator of maximum margin, with its dual as proof, and the perceptron's bound that follows from it.

    gamma = max over |w| = 1 of min_i z_i'w = min over a >= 0, sum a = 1 of |sum a_i z_i|

Any w bounds gamma from below and any such a from above, so both together are a proof. If the length of w leaves the
intercept out (the usual hard margin), sum a_i z_i must vanish in the intercept. The perceptron's theorem counts it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.separation.cloud import Cloud
from lineal.separation.integers import floats
from lineal.separation.record import cloud_of
from lineal.separation.search import decide

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

CLOSE = 1e-9
"""The relative distance between the two bounds at which the search ends."""

ROUNDS = 200


@dataclass(frozen=True)
class Margin:
    """The largest margin lies between ``gamma`` (reached by ``coef``) and ``upper`` (proved by ``weights`` on ``rows``).

    ``radius`` R is the largest length of a row, with the 1 of the intercept if ``augmented``; ``coef`` is (p, outputs) and
    has length 1, or its part without the intercept does. ``against`` are the classes the rows are compared with, if several.
    """

    gamma: float
    upper: float
    radius: float
    coef: Array
    rows: tuple[int, ...]
    against: tuple[int, ...] | None
    weights: tuple[float, ...]
    augmented: bool
    total: int

    @property
    def bound(self) -> float:
        """R^2 / gamma^2 = (R B)^2 with B = 1 / gamma; for several classes 2 R^2 / gamma^2."""
        return (1 if self.against is None else 2) * (self.radius / self.gamma) ** 2

    @property
    def share(self) -> float:
        """R^2 / (gamma^2 N), the bound per row."""
        return self.bound / self.total

    def to_dict(self) -> dict[str, object]:
        """Return JSON data."""
        return {
            "gamma": self.gamma,
            "gamma_upper": self.upper,
            "R": self.radius,
            "B": 1.0 / self.gamma,
            "bound": self.bound,
            "bound_per_row": self.share,
            "coef": self.coef.tolist(),
            "rows": list(self.rows),
            "against": None if self.against is None else list(self.against),
            "weights": list(self.weights),
            "augmented": self.augmented,
        }


def maximum_margin(
    X: Any, y: Any, *, intercept: bool = True, augmented: bool = False, time_limit: float = 60.0
) -> Margin:
    """Return the separator of largest margin (hard margin) of separable rows, with a dual proof of how large it is.

    ``augmented`` counts the intercept in the length of w and the 1 in the length of x, as the perceptron's theorem does.

    >>> found = maximum_margin([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0]], [0, 0, 1])
    >>> round(found.gamma, 9), round(found.upper, 9), found.coef[:, 0].round(6).tolist()
    (2.0, 2.0, [-2.0, 1.0, 0.0])
    """
    cloud, _, labels = cloud_of(X, y, intercept=intercept)
    if len(labels) < 2:
        raise InputError("y has one class only, so there is no margin between classes.")
    try:
        decision = decide(cloud, time.monotonic() + time_limit)
    except TimeoutError:
        raise InputError(
            f"whether the rows are separable was not decided in {time_limit:g} s; give more time."
        ) from None
    if decision.kind != "complete" or decision.direction is None:
        raise InputError("the rows are not separable, so there is no margin; ask lineal.separability for the proof.")
    return widest(cloud, cloud.matrix(floats(decision.direction)), held=not intercept or augmented)


def widest(cloud: Cloud, start: Array, *, held: bool) -> Margin:
    """Return the largest margin of separable rows from a separator (p, outputs); ``held``: w counts its first column too."""
    radius = _radius(cloud, 0 if held else 1)
    ids = _least(cloud, start, None, 4 * cloud.width + 20)
    best = _scaled(cloud, start, held)
    gamma, upper = _reached(cloud, best), np.inf
    proof: tuple[Index, Array] = (ids[:1], np.ones(1))
    for _ in range(ROUNDS):
        for coef, weights in _programs(cloud, ids, radius, held):
            here = _reached(cloud, coef)
            if here > gamma:
                gamma, best = here, coef
            length = _length(cloud, ids, weights, radius, held)
            if length < upper:
                upper, proof = length, (ids, weights)
        if upper - gamma <= CLOSE * upper:
            break
        fresh = np.union1d(ids, _least(cloud, coef, best, 2 * cloud.width + 20))
        if len(fresh) == len(ids):
            break
        ids = fresh
    used, weights = proof[0][proof[1] > 0.0], proof[1][proof[1] > 0.0]
    several = cloud.outputs > 1
    return Margin(
        gamma=float(gamma),
        upper=float(upper),
        radius=radius,
        coef=best,
        rows=tuple(cloud.numbers[used // cloud.outputs if several else used].tolist()),
        against=tuple((used % cloud.outputs).tolist()) if several else None,
        weights=tuple(weights.tolist()),
        augmented=held,
        total=len(cloud.own),
    )


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
    margin = cloud.apart(coef)
    size = float(np.max(np.abs(coef).T @ cloud.largest))
    return float(np.min(margin)) - 4 * (len(coef) + 4) * np.finfo(np.float64).eps * size


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
    found = []
    if left[-1] > 0.0:
        found.append(-left[:-1] / left[-1] * scale)
    support = u > 0.0
    polished, multipliers = _polish(z[support], p, held)
    found.append(polished)
    pairs = [(_scaled(cloud, w.reshape(cloud.outputs, p).T, held), u) for w in found if np.any(w)]
    again = np.zeros(len(z))
    again[support] = multipliers
    pairs = [(coef, _balanced(cloud, ids, weights, held)) for coef, weights in pairs]
    if pairs and np.all(multipliers >= 0.0):
        pairs.append((pairs[-1][0], _balanced(cloud, ids, again, held)))
    return pairs


def _polish(z: Array, p: int, held: bool) -> tuple[Array, Array]:
    """Return w of least length with z'w = 1 on some rows, and its multipliers."""
    columns = z.shape[1]
    charge = np.ones(columns)
    if not held:
        charge[::p] = 0.0
    size = len(z)
    system = np.block([[np.diag(charge), -z.T], [z, np.zeros((size, size))]])
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
