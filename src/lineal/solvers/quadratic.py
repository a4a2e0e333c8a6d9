"""The quadratic a Newton step minimises, with a penalty that is not smooth: coordinate descent, and exact solves on faces."""

from __future__ import annotations

import numpy as np

from lineal import _core
from lineal.algebra import lapack
from lineal.ground.arrays import Array, Index
from lineal.penalties.costs import CoordinateCosts
from lineal.penalties.penalty import Penalty


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
    z, slope = np.array(coef.T, order="C"), np.array(gradient.T, order="C")
    costs = penalty.costs(coef.shape[1])
    if costs is not None:
        costs = costs.output_major(coef.shape[1])
    before = penalty.value(coef)
    matrix = np.ascontiguousarray(gram)
    work = float(matrix.shape[1]) * coef.size
    most, tol = 10, 0.0
    for _ in range(200):
        limit = max(1, min(most, int(2e8 / max(work, 1.0))))  # multiplications of one call: Ctrl-C waits for it
        last = _sweep(matrix, penalty.linear, costs, z, slope, coupled, tol, limit)
        if coupled and costs is not None:
            _level(costs, z)
        fall = before - penalty.value(z.T) - 0.5 * float(np.sum((gradient.T + slope) * (z - coef.T)))
        tol = max(share * fall, floor)
        if last <= tol:
            break
        if costs is None:
            _jump_rows(matrix, penalty.linear, z, slope, coupled)
        else:
            jump(matrix, costs, z, slope, coupled)
        most = min(2 * most, 200)
    return np.ascontiguousarray(z.T), fall


def _sweep(
    gram: Array,
    linear: Array,
    costs: CoordinateCosts | None,
    z: Array,
    slope: Array,
    coupled: bool,
    tol: float,
    most: int,
) -> float:
    """Sweep over all coefficients, or over columns where outputs are penalized together; return what the last sweep gained."""
    if costs is None:
        return _core.sweep_group(gram, coupled, z, slope, linear, tol, most)[1]
    if coupled:
        flat = (costs.linear.ravel(), costs.square.ravel(), costs.least.ravel(), costs.most.ravel())
        return _core.sweep_gram(gram[0], z.reshape(-1), slope.reshape(-1), *flat, tol, most)[1]
    total = 0.0
    for a in range(len(z)):
        part = gram[a % len(gram)]
        rows = (costs.linear[a], costs.square[a], costs.least[a], costs.most[a])
        total += _core.sweep_gram(part, z[a], slope[a], *rows, tol / len(z), most)[1]
    return total


def jump(gram: Array, costs: CoordinateCosts, z: Array, slope: Array, coupled: bool) -> None:
    """Go to the minimiser of the face that the coefficients are on, or as far as signs and bounds allow, in place."""
    plain = gram
    if coupled:
        gram = _filled(gram, costs)
    shape = (1, -1) if coupled else z.shape
    flat, steep = z.reshape(shape), slope.reshape(shape)
    free = ~costs.resting(z).reshape(shape)
    parts = [a.reshape(shape) for a in (costs.linear, costs.square, costs.least, costs.most)]
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
                (linear[on] > 0.0) & (np.sign(at) * np.sign(step) < 0.0),
                np.where(step < 0.0, np.maximum(edge, 0.0), np.minimum(edge, 0.0)),
                edge,
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = np.where(step == 0.0, np.inf, (edge - at) / step)
            first = int(np.argmin(reach))
            length = min(1.0, float(reach[first]))
            moved = at + length * step
            if length < 1.0:
                moved[first] = edge[first]
                free[a, on[first]] = False
            steep[a] += plain[a % len(plain)][:, on] @ (moved - at)
            flat[a, on] = moved
            if length == 1.0:
                break


def _level(costs: CoordinateCosts, z: Array) -> None:
    """Shift the coefficients of a column that l1 alone penalizes by what all outputs share, where that costs least, in place.

    A loss that sees differences only does not notice: sum_k |z_k + c| is least where a middle one is zero.
    """
    on = np.flatnonzero((costs.linear[0] > 0.0) & (costs.square[0] == 0.0))
    part = z[:, on]
    shift = -np.sort(part, axis=0)[(len(z) - 1) // 2]
    most, least = np.min(costs.most[:, on] - part, axis=0), np.max(costs.least[:, on] - part, axis=0)
    z[:, on] = np.clip(part + np.clip(shift, least, most), costs.least[:, on], costs.most[:, on])


def _filled(gram: Array, costs: CoordinateCosts) -> Array:
    """Return the gram with some curvature along what all outputs of an unpenalized column share, of which the loss sees nothing.

    Slopes have none of it either, so that solutions stay what they are.
    """
    k, p = costs.linear.shape
    free = (costs.linear[0] == 0.0) & (costs.square[0] == 0.0)
    free &= np.isinf(costs.least[0]) & np.isinf(costs.most[0])
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
        if not len(on) or k * len(on) > 1500:  # sweeps are cheaper than factoring larger faces
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
        if length < 0.1:  # a column is leaving the face: sweeps are the better guide
            return


def _face(gram: Array, on: Index, shape: tuple[int, int], coupled: bool) -> Array:
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


def sweepable(penalty: Penalty) -> bool:
    """Whether the sweeps know the penalty."""
    return penalty.grouped or penalty.costs(2) is not None
