"""The quadratic a Newton step minimises, with a penalty that is not smooth: coordinate descent, and exact solves on faces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra import lapack
from lineal.penalties import L1, Group, Ridge, Separable
from lineal.penalties.penalty import Array, Penalty

Mask = npt.NDArray[np.bool_]

MOST_WORK = 2e8
"""So many multiplications are done natively before Python looks whether somebody wants to stop."""

MOST_ROWS = 1500
"""Larger faces of a group penalty are left to the sweeps."""


SHORT_JUMP = 0.1
"""A Newton step on a face that is cut shorter meets a column that leaves the face: sweeps are the better guide."""


class Charges:
    """A separable penalty as the sweeps take it: four numbers per coefficient, output-major."""

    def __init__(self, penalty: Penalty, outputs: int) -> None:
        none = np.zeros(len(penalty.charged))
        parts = (
            (penalty.linear, penalty.curvature(), penalty.least, penalty.most)
            if isinstance(penalty, Separable)
            else (none, penalty.curvature(), none - np.inf, none + np.inf)
        )
        self.linear, self.square, self.lower, self.upper = (
            part[None] if outputs == 1 else np.tile(part, (outputs, 1)) for part in parts
        )

    def resting(self, coef: Array) -> Mask:
        """Return which coefficients are at a kink or a bound, where no derivative says what to do."""
        kink = (coef == 0.0) & (self.linear > 0.0)
        return np.asarray(kink | (coef <= self.lower) | (coef >= self.upper))


def minimise(
    gram: Array,
    penalty: Penalty,
    coef: Array,
    gradient: Array,
    *,
    coupled: bool,
    share: float = 1e-3,
    floor: float = 0.0,
) -> tuple[Array, float]:
    """Minimise ``gradient.d + d'Ad/2 + penalty(coef + d)`` over d; return ``coef + d`` and how far that falls.

    ``gram`` is A as passes lay it out, without the penalty; the last sweep gains less than ``share`` of the whole fall,
    or than ``floor``, where rounding hides it.
    """
    if isinstance(penalty, Group) and coef.shape[1] == 1:
        penalty = L1(penalty.strength, penalty.charges)
    z, slope = np.array(coef.T, order="C"), np.array(gradient.T, order="C")
    charges = None if isinstance(penalty, Group) else Charges(penalty, coef.shape[1])
    before = penalty.value(coef)
    matrix = np.ascontiguousarray(gram)
    work = float(matrix.shape[1]) * coef.size
    most, tol = 10, 0.0
    for _ in range(200):
        limit = max(1, min(most, int(MOST_WORK / max(work, 1.0))))
        last = _sweep(matrix, penalty, charges, z, slope, coupled, tol, limit)
        if coupled and charges is not None:
            _level(charges, z)
        fall = before - penalty.value(z.T) - 0.5 * float(np.sum((gradient.T + slope) * (z - coef.T)))
        tol = max(share * fall, floor)
        if last <= tol:
            break
        if isinstance(penalty, Group):
            _jump_rows(matrix, penalty.linear, z, slope, coupled)
        elif charges is not None:
            jump(matrix, charges, z, slope, coupled)
        most = min(2 * most, 200)
    return np.ascontiguousarray(z.T), fall


def _sweep(
    gram: Array, penalty: Penalty, charges: Charges | None, z: Array, slope: Array, coupled: bool, tol: float, most: int
) -> float:
    """Sweep over all coefficients; return what the last sweep gained."""
    if isinstance(penalty, Group) or charges is None:
        assert isinstance(penalty, Group)
        return _core.sweep_group(gram, coupled, z, slope, penalty.linear, tol, most)[1]
    if coupled:
        flat = (charges.linear.ravel(), charges.square.ravel(), charges.lower.ravel(), charges.upper.ravel())
        return _core.sweep_gram(gram[0], z.reshape(-1), slope.reshape(-1), *flat, tol, most)[1]
    total = 0.0
    for a in range(len(z)):
        part = gram[a % len(gram)]
        rows = (charges.linear[a], charges.square[a], charges.lower[a], charges.upper[a])
        total += _core.sweep_gram(part, z[a], slope[a], *rows, tol / len(z), most)[1]
    return total


def jump(gram: Array, charges: Charges, z: Array, slope: Array, coupled: bool) -> None:
    """Go to the minimiser of the face that the coefficients are on, or as far as signs and bounds allow, in place."""
    plain = gram
    if coupled:
        gram = _filled(gram, charges)
    shape = (1, -1) if coupled else z.shape
    flat, steep = z.reshape(shape), slope.reshape(shape)
    free = ~charges.resting(z).reshape(shape)
    parts = [a.reshape(shape) for a in (charges.linear, charges.square, charges.lower, charges.upper)]
    for a in range(len(flat)):
        matrix = gram[a % len(gram)]
        linear, square, lower, upper = (part[a] for part in parts)
        for _ in range(20):
            on = np.flatnonzero(free[a])
            if not len(on):
                break
            face = matrix[np.ix_(on, on)]
            face[np.diag_indices(len(on))] += square[on]
            at = flat[a, on]
            right = -(steep[a, on] + square[on] * at + linear[on] * np.sign(at))
            _, step, failed = lapack.dposv(face, right)
            if failed or not np.all(np.isfinite(step)):
                break
            # The first sign or bound on the way ends the step; that coefficient then rests.
            edge = np.where(step < 0.0, lower[on], upper[on])
            edge = np.where(
                (linear[on] > 0.0) & (at * step < 0.0),
                np.where(step < 0.0, np.maximum(edge, 0.0), np.minimum(edge, 0.0)),
                edge,
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                room = np.where(step == 0.0, np.inf, (edge - at) / step)
            first = int(np.argmin(room))
            length = min(1.0, float(room[first]))
            moved = at + length * step
            if length < 1.0:
                moved[first] = edge[first]
                free[a, on[first]] = False
            steep[a] += plain[a % len(plain)][:, on] @ (moved - at)
            flat[a, on] = moved
            if length == 1.0:
                break


def _level(charges: Charges, z: Array) -> None:
    """Shift the coefficients of a column that l1 alone charges by what all outputs share, where that costs least, in place.

    A loss that sees differences only does not notice: sum_k |z_k + c| is least where a middle one is zero.
    """
    on = np.flatnonzero((charges.linear[0] > 0.0) & (charges.square[0] == 0.0))
    part = z[:, on]
    shift = -np.sort(part, axis=0)[(len(z) - 1) // 2]
    most, least = np.min(charges.upper[:, on] - part, axis=0), np.max(charges.lower[:, on] - part, axis=0)
    z[:, on] = np.clip(part + np.clip(shift, least, most), charges.lower[:, on], charges.upper[:, on])


def _filled(gram: Array, charges: Charges) -> Array:
    """Return the gram with some curvature along what all outputs of an uncharged column share, of which the loss sees nothing.

    Slopes have none of it either, so that solutions stay what they are.
    """
    k, p = charges.linear.shape
    free = (charges.linear[0] == 0.0) & (charges.square[0] == 0.0)
    free &= np.isinf(charges.lower[0]) & np.isinf(charges.upper[0])
    full = gram[0].copy().reshape(k, p, k, p)
    for j in np.flatnonzero(free):
        size = float(np.einsum("aa->", full[:, j, :, j])) / k
        full[:, j, :, j] += (size if size > 0.0 else 1.0) / k
    return np.asarray(full.reshape(1, k * p, k * p))


def _jump_rows(gram: Array, rate: Array, z: Array, slope: Array, coupled: bool) -> None:
    """Take Newton steps on the columns of a group penalty that are not zero, where it is smooth, in place."""
    k, p = z.shape
    for _ in range(10):
        norm = np.sqrt(np.sum(z**2, axis=0))
        on = np.flatnonzero((norm > 0.0) | (rate == 0.0))
        if not len(on) or k * len(on) > MOST_ROWS:
            return
        flat = (np.arange(k)[:, None] * p + on).ravel()
        whole = _face(gram, on, z.shape, coupled)
        unit = z[:, on] / np.where(norm[on] > 0.0, norm[on], 1.0)
        bent = whole + _bend(rate[on] / np.where(norm[on] > 0.0, norm[on], 1.0), unit)
        bent[np.diag_indices(len(bent))] *= 1.0 + 1e-14
        steep = slope.ravel()[flat] + (rate[on] * unit).ravel()
        _, step, failed = lapack.dposv(bent, -steep)
        fall = 0.0 if failed else -float(steep @ step)
        if not fall > 0.0:
            return
        image, length = whole @ step, 1.0
        for _ in range(30):
            move = length * step.reshape(k, -1)
            longer = float(rate[on] @ (np.sqrt(np.sum((z[:, on] + move) ** 2, axis=0)) - norm[on]))
            change = length * float(slope.ravel()[flat] @ step) + 0.5 * length**2 * float(step @ image) + longer
            if change <= -1e-4 * length * fall:
                break
            length *= 0.5
        else:
            return
        z[:, on] += move
        for a in range(k):
            if coupled:
                slope += (gram[0][:, a * p + on] @ move[a]).reshape(k, p)
            else:
                slope[a] += gram[a % len(gram)][:, on] @ move[a]
        if length < SHORT_JUMP:
            return


def _face(gram: Array, on: npt.NDArray[np.intp], shape: tuple[int, int], coupled: bool) -> Array:
    """Return the gram of all outputs of the columns ``on``, output-major."""
    k, p = shape
    if coupled:
        flat = (np.arange(k)[:, None] * p + on).ravel()
        return np.asarray(gram[0][np.ix_(flat, flat)])
    whole = np.zeros((k, len(on), k, len(on)))
    for a in range(k):
        whole[a, :, a, :] = gram[a % len(gram)][np.ix_(on, on)]
    return whole.reshape(k * len(on), k * len(on))


def _bend(pull: Array, unit: Array) -> Array:
    """Return the second derivative of sum_j rate_j |z_j|: pull_j (I - u_j u_j') for every column, output-major."""
    k, m = unit.shape
    bend, place = np.zeros((k, m, k, m)), np.arange(m)
    for a in range(k):
        for b in range(k):
            bend[a, place, b, place] = pull * (float(a == b) - unit[a] * unit[b])
    return bend.reshape(k * m, k * m)


def separable(penalty: Penalty) -> bool:
    """Whether the sweeps know the penalty."""
    return isinstance(penalty, Separable | Ridge | Group)
