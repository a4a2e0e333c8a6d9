"""A maximum margin: some v of length 1 has z.v >= gamma for every z, and no v has more than |sum a z| / sum a.

The second, for any weights a > 0 on any rows: min z.v <= sum a (z.v) / sum a <= |sum a z| / sum a. Lengths count the intercept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import EPS, Array, times
from lineal.verify.claims.ground import number
from lineal.verify.evidence.separability import sum_of
from lineal.verify.proof.halfspaces import Spaces
from lineal.verify.report import Report


def check_margin(report: Report, space: Spaces, widest: object) -> float:
    """Check gamma from below by weights of length 1 and from above by a sum of rows; return the bound R^2/gamma^2."""
    names = ("gamma", "gamma_upper", "R", "B", "bound")
    stated: Mapping[str, Any] = widest if isinstance(widest, dict) else {}
    figures = {name: float(stated[name]) for name in names if number(stated.get(name))}
    complete = len(figures) == len(names) and min(figures.values()) > 0.0
    report.check("the maximum margin has its figures", complete, ", ".join(figures))
    gamma, upper, radius = figures["gamma"], figures["gamma_upper"], longest(space)
    v = weights_of(report, stated.get("coef"), (space.columns, space.outputs))
    reached, length = least(space, v), float(np.linalg.norm(v))
    slack = 1e-9 * gamma + 8 * (len(v) + 8) * EPS * radius * length
    report.check(
        "weights of length 1 reach the maximum margin",
        abs(length - 1.0) <= 1e-9 and reached >= gamma - slack,
        f"{reached!r} by length {length!r}, stated {gamma!r}",
    )
    shortest = _length(space, stated)
    report.check(
        "no weights have a larger margin than the sum of these rows allows",
        shortest <= upper * (1.0 + 1e-9) and gamma <= upper * (1.0 + 1e-9),
        f"{shortest!r}, stated {upper!r}",
    )
    bound = (1.0 if space.outputs == 1 else 2.0) * (radius / gamma) ** 2
    follow = abs(figures["R"] - radius) <= 1e-9 * radius and abs(figures["B"] * gamma - 1.0) <= 1e-9
    report.check(
        "the bound on the mistakes follows from radius and margin",
        follow and abs(figures["bound"] - bound) <= 1e-8 * bound,
        f"{bound!r}, stated {figures['bound']!r}",
    )
    return bound


def longest(space: Spaces) -> float:
    """Return R, the length of the longest row."""
    return math.sqrt(max(math.fsum((row * row).tolist()) for block in space.blocks() for row in block.x))


def weights_of(report: Report, stated: object, shape: tuple[int, ...]) -> Array:
    """Return a list of numbers per column as an array."""
    rows = stated if isinstance(stated, list) else []
    fits = len(rows) == shape[0] and all(isinstance(row, list) and len(row) == shape[1] for row in rows)
    fits = fits and all(number(value) and math.isfinite(value) for row in rows for value in row)
    report.check("the separator has a number for every coefficient", fits, f"{shape[0]} x {shape[1]}")
    return np.array(rows, dtype=np.float64).reshape(shape)


def least(space: Spaces, w: Array) -> float:
    """Return the least z.w, with twice the digits."""
    lowest = math.inf
    for block, (rows, own, other) in ((each, pair) for each in space.blocks() for pair in each.pairs):
        pair = w[:, [0]] if w.shape[1] == 1 else np.vstack([w[:, [own]], -w[:, [other]]])
        x = block.x[rows] if w.shape[1] == 1 else np.hstack([block.x[rows], block.x[rows]])
        values = times(x, pair)[:, 0] * (1.0 if w.shape[1] > 1 or own == 1 else -1.0)
        lowest = min(lowest, float(np.min(values, initial=math.inf)))
    return lowest


def _length(space: Spaces, widest: Mapping[str, Any]) -> float:
    """Return |sum a z| / sum a, with the entries of every class; infinite where the rows and weights are no such sum."""
    try:
        stated = sum_of(widest)
    except ModelFileError:
        return math.inf
    few, places = space.picked(stated.rows)
    if min(stated.weights, default=0) <= 0 or not all(row in places for row in stated.rows):
        return math.inf
    rows = [places[row] for row in stated.rows]
    against = [1 - int(few.own[row]) for row in rows] if stated.against is None else stated.against
    if not all(0 <= other < space.classes and other != few.own[row] for row, other in zip(rows, against, strict=True)):
        return math.inf
    entries, unit = few.sum(rows, stated.weights, against)
    square = sum(int(value) ** 2 for value in (entries[1] if space.outputs == 1 else entries).ravel())
    return math.sqrt(Fraction(square) * (unit / sum(stated.weights)) ** 2)
