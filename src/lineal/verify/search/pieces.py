"""The least sum of largest pieces, ``min over b of sum_i q_i max_m (a_im + z_im b)``: what columns reach of a loss with corners.

It is a linear program, ``min q.s`` with ``u_im = s_i - a_im - z_im b >= 0``, and its dual has weights ``v_im >= 0`` on the pieces
of every row that sum to q_i, with ``sum v z = 0``. Interior points: ``u v = mu`` for every piece, and mu falls to zero
(Mehrotra's steps). What is returned is the sum at some b, so that it is never below the least one.
"""

from __future__ import annotations

import math

import numpy as np

from lineal.verify.arithmetic import Array, total


def least(a: Array, z: Array, q: Array) -> float:
    """Return the least ``sum_i q_i max_m (a_im + z_im b)``; a is (rows, pieces), z (rows, pieces, coefficients).

    >>> y = np.array([[0.0], [1.0], [5.0]])  # |y - b| is the larger of y - b and b - y: the median is best
    >>> least(np.hstack([y, -y]), np.tile([[[-1.0], [1.0]]], (3, 1, 1)), np.ones(3))
    5.0
    """
    size = np.max(np.abs(z), axis=(0, 1), initial=0.0)
    z = z / np.where(size > 0.0, size, 1.0)
    b = np.zeros(z.shape[2])
    s = np.max(a, axis=1) + 1.0 + np.ptp(a)
    u, v = s[:, None] - a, np.repeat(q[:, None] / a.shape[1], a.shape[1], axis=1)
    best = math.inf
    for _ in range(200):  # forty are usual
        value = total(q * np.max(a + z @ b, axis=1))
        best = min(best, value)
        if not np.sum(u * v) > 1e-15 * abs(best):  # doubles show no more of the sum
            break
        moves = _moves(a, z, q, b, s, u, v)
        if moves is None:
            break
        (db, ds, du, dv), (up, down) = moves
        b, s, u, v = b + up * db, s + up * ds, u + up * du, v + down * dv
    return best


def _moves(
    a: Array, z: Array, q: Array, b: Array, s: Array, u: Array, v: Array
) -> tuple[tuple[Array, Array, Array, Array], tuple[float, float]] | None:
    """Return the steps of b, s, u and v, how far to go along b, s, u, and how far along v; None at the end."""
    with np.errstate(over="ignore", divide="ignore"):
        bend = v / u
    if not (np.max(bend) < 1e150 and np.min(np.max(bend, axis=1)) > 0.0):
        return None
    mean = np.sum(bend[:, :, None] * z, axis=1) / np.sum(bend, axis=1)[:, None]
    apart = (z - mean[:, None, :]) * np.sqrt(bend)[:, :, None]
    apart = apart.reshape(-1, z.shape[2])
    scale = np.sqrt(np.sum(apart**2, axis=0))
    scale = np.where(scale > 0.0, scale, 1.0)
    curve = (apart / scale).T @ (apart / scale)
    off = s[:, None] - a - z @ b - u
    short, slope = q - v.sum(axis=1), np.einsum("im,imd->d", v, z)

    def step(wanted: Array) -> tuple[Array, Array, Array, Array]:
        own = wanted / u - bend * off
        left = own.sum(axis=1) - short
        right = -slope - np.einsum("im,imd->d", own, z) + left @ mean
        db = np.linalg.lstsq(curve, right / scale, rcond=1e-15)[0] / scale
        ds = left / np.sum(bend, axis=1) + mean @ db
        du = ds[:, None] - z @ db + off
        return db, ds, du, (wanted - v * du) / u

    try:
        _, _, du, dv = step(-u * v)
        up, down = _room(u, du), _room(v, dv)
        level, after = float(np.mean(u * v)), float(np.mean((u + up * du) * (v + down * dv)))
        steps = step(-u * v - du * dv + (after / level) ** 3 * level)
    except np.linalg.LinAlgError:
        return None
    lengths = 0.995 * _room(u, steps[2]), 0.995 * _room(v, steps[3])
    good = all(bool(np.all(np.isfinite(part))) for part in steps) and max(lengths) > 1e-12
    return (steps, lengths) if good else None


def _room(value: Array, change: Array) -> float:
    """Return the longest step, at most 1, after which no value is below zero."""
    falling = change < -value  # a step of 1 goes too far
    return float(np.min(-value[falling] / change[falling], initial=1.0))
