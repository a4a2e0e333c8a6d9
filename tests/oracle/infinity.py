"""Does F fall for ever? Decided in whole numbers by the simplex method, without a tolerance.

Along a direction d the loss of a row never grows where all its gains are >= 0, and F falls for ever where one is > 0:
``(2 y - 1) x.d`` for two classes, ``x.(d_own - d_k)`` for every other class k, ``-x.d`` for a count of 0; a count above 0
allows no movement. d is 0 where a penalty penalty factors, and leads into no bound. Other losses have a minimum in any case.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import gcd

from flint import arb

from .problem import Problem

ENDLESS = ("logistic", "softmax", "poisson")
"""The losses that can fall for ever."""

Rows = list[list[int]]


def largest(rows: Rows, limits: list[int], goal: list[int]) -> bool:
    """Whether ``goal.v > 0`` for some ``v >= 0`` with ``rows v <= limits``, limits >= 0: Bland's rule, whole numbers."""
    m, n = len(rows), len(goal)
    table = [
        [*row, *(int(i == j) for j in range(m)), limit] for i, (row, limit) in enumerate(zip(rows, limits, strict=True))
    ]
    table.append([*(-g for g in goal), *([0] * m), 0])
    basis, previous = list(range(n, n + m)), 1
    while True:
        enter = next((j for j in range(n + m) if table[m][j] < 0), None)
        if table[m][-1] > 0 or enter is None:
            return bool(table[m][-1] > 0)
        ratios = [(Fraction(table[i][-1], table[i][enter]), basis[i], i) for i in range(m) if table[i][enter] > 0]
        if not ratios:
            return True
        _, _, leave = min(ratios)
        pivot = table[leave][enter]
        for i in range(m + 1):
            if i != leave:
                factor = table[i][enter]
                table[i] = [(v * pivot - factor * w) // previous for v, w in zip(table[i], table[leave], strict=True)]
        basis[leave], previous = enter, pivot


def ratio(value: arb) -> tuple[int, int]:
    """Return an exact number as numerator and denominator."""
    mantissa, exponent = value.mid().man_exp()
    m, e = int(mantissa), int(exponent)
    return (m << e, 1) if e >= 0 else (m, 1 << -e)


def whole(problem: Problem) -> Rows:
    """Return the rows in whole numbers, every column scaled by a power of two."""
    columns = []
    for j in range(problem.columns):
        values = [Fraction(*ratio(problem.x[i, j])) for i in range(problem.x.nrows())]
        common = max(v.denominator for v in values)
        columns.append([int(v * common) for v in values])
    return [list(row) for row in zip(*columns, strict=True)]


def short(rows: Rows, intercept: bool) -> Rows:
    """Return rows in as small numbers as the same directions allow: columns less their first number, without common factors."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    for j in range(int(intercept), len(columns)):
        origin = columns[j][0] if intercept else 0
        common = gcd(*(v - origin for v in columns[j])) or 1
        columns[j] = [(v - origin) // common for v in columns[j]]
    return [list(row) for row in zip(*columns, strict=True)]


def gains(rows: Rows, own: list[int], outputs: int) -> Rows:
    """Return ``z`` of every row: +-x for two classes, ``(e_own - e_k) (x) x`` for each other class k of several."""
    found = []
    for row, y in zip(rows, own, strict=True):
        if outputs == 1:
            found.append([v if y == 1 else -v for v in row])
            continue
        for k in range(outputs):
            if k != y:
                z = [0] * (outputs * len(row))
                for j, v in enumerate(row):
                    z[y * len(row) + j], z[k * len(row) + j] = v, -v
                found.append(z)
    return found


def _signed(row: list[int], up: list[bool], down: list[bool]) -> list[int]:
    """Return a row over the parts of d that may be positive and negative."""
    return [v for v, may in zip(row, up, strict=True) if may] + [-v for v, may in zip(row, down, strict=True) if may]


def falls_for_ever(problem: Problem) -> bool:
    """Whether F has no minimum."""
    if problem.loss.name not in ENDLESS:
        return False
    penalty, k, p = problem.penalty, problem.loss.outputs, problem.columns
    penalized = [bool(penalty.lasso[j] > 0 or penalty.ridge[j] > 0 or penalty.group[j] > 0) for j in range(p)]
    up = [not penalized[j] and penalty.upper[j] == math.inf for j in range(p)] * k
    down = [not penalized[j] and penalty.lower[j] == -math.inf for j in range(p)] * k
    bound = any(up[j] != down[j] or not up[j] for j in range(1, p))
    rows = short(whole(problem), problem.intercept and not bound)
    still: Rows = []
    if problem.loss.name == "poisson":
        still = [row for row, y in zip(rows, problem.y, strict=True) if y[0] > 0]
        z = [[-v for v in row] for row, y in zip(rows, problem.y, strict=True) if not y[0] > 0]
    else:
        z = gains(rows, list(problem.y), k)
    if not z:
        return False
    total = [sum(column) for column in zip(*z, strict=True)]
    limits = [*([-v for v in row] for row in z), *still, *([-v for v in row] for row in still), total]
    return largest([_signed(row, up, down) for row in limits], [0] * (len(limits) - 1) + [1], _signed(total, up, down))


def separation(rows: Rows, own: list[int], outputs: int) -> str:
    """Return complete, quasi or overlap: what ``lineal.separability`` has to answer."""
    z = gains(rows, own, outputs)
    free = [True] * len(z[0])
    total = [sum(column) for column in zip(*z, strict=True)]
    limits = [_signed([-v for v in row], free, free) for row in z]
    strict = [[*row, 1] for row in limits] + [[0] * len(limits[0]) + [1]]
    if largest(strict, [0] * len(limits) + [1], [0] * len(limits[0]) + [1]):
        return "complete"
    goal = _signed(total, free, free)
    return "quasi" if largest([*limits, goal], [0] * len(limits) + [1], goal) else "overlap"
