"""Exact solutions of a few linear equations in integers, found digit by digit (Dixon 1982).

``B x = c`` is solved modulo a prime q; the same inverse then gives x modulo q^2, q^3, ... by two products of a matrix with a
vector each, and fractions are rebuilt from their digits by Euclid's algorithm (Wang 1981). What comes out is checked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra.integers import Whole, reduced
from lineal.ground.deadline import Deadline

Small = npt.NDArray[np.int64]

PRIME = 67108859
"""Below 2^26, so that sums of a thousand products fit 63 bits."""
LIMB_BITS = 24
"""Bits of the parts that large integers are cut into; their products with digits fit 63 bits, too."""
MAX_EQUATIONS = 1000
ELIMINATION_MAX_EQUATIONS = 16
"""Up to this many equations elimination is faster than digits."""
FIRST_DIGITS = 24
"""Digits after which the fractions are rebuilt for the first time."""


def dependency(rows: Whole, deadline: Deadline) -> Whole | None:
    """Return integers a, without a common divisor, with sum a_i rows_i = 0, if there is one such a and no other.

    None where there are others, or none, or the prime is an unlucky one. LateError after the deadline.

    >>> dependency(np.array([[2, 0], [0, 3], [-1, -1]], dtype=object), Deadline.after(60.0)).tolist()
    [3, 2, 6]
    """
    modular = (rows % PRIME).astype(np.int64)
    kept, columns = pivots(modular)
    if len(rows) > MAX_EQUATIONS or len(kept) != len(rows) - 1 or not kept:
        return None
    last = (set(range(len(rows))) - set(kept)).pop()
    solution = solved(rows[np.ix_(kept, columns)].T, -rows[last, columns][:, None], deadline)
    if solution is None:
        return None
    weights = np.zeros(len(rows), dtype=object)
    weights[kept], weights[last] = solution[0][:, 0], solution[1]
    return None if np.any(weights @ rows) else reduced(weights)


def orthogonal(rows: Whole, deadline: Deadline) -> Whole | None:
    """Return a basis of the vectors orthogonal to all rows, as columns of integers; None if the prime is an unlucky one.

    No more rows are independent modulo a prime than are in truth; so vectors for all other columns, if they are orthogonal to
    every row, are a basis. LateError after the deadline.

    >>> orthogonal(np.array([[2, 0, 1], [4, 0, 2]], dtype=object), Deadline.after(60.0)).T.tolist()
    [[0, 2, 0], [-1, 0, 2]]
    """
    kept, columns = pivots((rows % PRIME).astype(np.int64))
    others = np.setdiff1d(np.arange(rows.shape[1]), columns).tolist()
    basis = np.zeros((rows.shape[1], len(others)), dtype=object)
    if len(kept) > MAX_EQUATIONS:
        return None
    solution: tuple[Whole, int] | None = basis[columns], 1
    if kept and len(others):
        solution = solved(rows[np.ix_(kept, columns)], -rows[np.ix_(kept, others)], deadline)
    if solution is None:
        return None
    basis[columns], basis[others, np.arange(len(others))] = solution
    return None if np.any(rows @ basis) else basis


def pivots(work: Small) -> tuple[list[int], list[int]]:
    """Return rows and columns of a square part that is regular modulo the prime, as large as there is one."""
    work, order, columns = work.copy(), np.arange(len(work)), list[int]()
    for column in range(work.shape[1]):
        _core.heed()
        at = len(columns)
        nonzero = at + np.flatnonzero(work[at:, column])
        if not len(nonzero):
            continue
        work[[at, nonzero[0]]], order[[at, nonzero[0]]] = work[[nonzero[0], at]], order[[nonzero[0], at]]
        line = work[at] * pow(int(work[at, column]), -1, PRIME) % PRIME
        work[at + 1 :] = (work[at + 1 :] - work[at + 1 :, [column]] * line) % PRIME
        columns.append(column)
    return order[: len(columns)].tolist(), columns


def solved(matrix: Whole, right: Whole, deadline: Deadline) -> tuple[Whole, int] | None:
    """Return X in integers and their denominator with matrix X = right (tried on one sum of the rows), or None."""
    n = len(matrix)
    if n <= ELIMINATION_MAX_EQUATIONS:
        return _eliminated(matrix, right)
    inverse = _inverse((matrix % PRIME).astype(np.int64))
    lengths = [max(int(value).bit_length() for value in row) for row in np.hstack([matrix, right])]
    enough = int(2 * sum(lengths) + 2 * n * math.log2(n + 1)) // 26 + 8
    parts = (max(lengths, default=0) + n.bit_length()) // LIMB_BITS + 1
    limbs, left = _limbs(matrix, parts).reshape(-1, n), _limbs(right, parts)
    draw = np.random.default_rng(0).integers(1, 2**10, size=n)
    line, goal = draw @ matrix, draw @ right
    digits, look = list[Small](), FIRST_DIGITS
    while len(digits) < enough:
        rest = np.zeros(right.shape, dtype=np.int64)
        for limb in left[::-1]:
            rest = ((rest << LIMB_BITS) + limb) % PRIME
        digits.append(inverse @ rest % PRIME)
        left = _quotient(left - (limbs @ digits[-1]).reshape(left.shape))
        if len(digits) in (look, enough):
            fractions = _fractions(np.array(digits))
            if fractions is not None and not np.any(line @ fractions[0] - goal * fractions[1]):
                return fractions
            look += max(FIRST_DIGITS, look // 4)
        deadline.look()
    return None


def _eliminated(matrix: Whole, right: Whole) -> tuple[Whole, int]:
    """Return X in integers and their denominator with matrix X = right, by elimination without fractions (Bareiss 1968)."""
    n, before = len(matrix), 1
    work = np.hstack([matrix, right])
    for at in range(n):
        _core.heed()
        pivot = at + int(np.flatnonzero(work[at:, at])[0])
        work[[at, pivot]] = work[[pivot, at]]
        line = work[at].copy()
        work = (work * line[at] - work[:, [at]] * line) // before
        work[at], before = line, line[at]
    return work[:, n:], before


def _limbs(values: Whole, parts: int) -> Small:
    """Return integers as sums of ``parts`` limbs times powers of 2^LIMB_BITS, lowest first; only the highest has a sign."""
    low = [(values >> LIMB_BITS * k) & (2**LIMB_BITS - 1) for k in range(parts - 1)]
    return np.array([*low, values >> LIMB_BITS * (parts - 1)]).astype(np.int64)


def _quotient(limbs: Small) -> Small:
    """Return multiples of the prime, as limbs of any size below 2^62, divided by it."""
    for k in range(len(limbs) - 1):
        limbs[k + 1] += limbs[k] >> LIMB_BITS
        limbs[k] &= 2**LIMB_BITS - 1
    for k in range(len(limbs) - 1, -1, -1):
        times = limbs[k] // PRIME
        if k:
            limbs[k - 1] += (limbs[k] - times * PRIME) << LIMB_BITS
        limbs[k] = times
    return limbs


def _joined(digits: Small) -> Any:
    """Return the numbers with such digits, the lowest first."""
    base, numbers = PRIME, digits.astype(object)
    while len(numbers) > 1:
        if len(numbers) % 2:
            numbers = np.concatenate([numbers, np.zeros_like(numbers[:1])])
        numbers = numbers[0::2] + numbers[1::2] * base
        base *= base
    return numbers[0]


def _inverse(matrix: Small) -> Small:
    """Return the inverse modulo the prime (Gauss and Jordan)."""
    n = len(matrix)
    work = np.hstack([matrix, np.eye(n, dtype=np.int64)])
    for at in range(n):
        _core.heed()
        pivot = at + int(np.flatnonzero(work[at:, at])[0])
        work[[at, pivot]] = work[[pivot, at]]
        line = work[at] * pow(int(work[at, at]), -1, PRIME) % PRIME
        work = (work - work[:, [at]] * line) % PRIME
        work[at] = line
    return work[:, n:]


def _fractions(digits: Small) -> tuple[Whole, int] | None:
    """Return integers and their denominator that have such digits; None while there are too few to tell.

    The denominator is that of 16 combinations of all numbers, since one may lack a factor of it by chance;
    with it, half of the digits make the integers.
    """
    flat = digits.reshape(len(digits), -1)
    modulus = PRIME ** len(digits)
    common, most = 1, math.isqrt(modulus)
    for draw in np.random.default_rng(len(digits)).integers(1, 2**10, size=(16, flat.shape[1])):
        scaled = _joined(flat @ draw) * common % modulus
        if min(scaled, modulus - scaled) > most:
            common *= _denominator(scaled, modulus, most)
            if common > most >> 40:  # a fraction is believed where 40 bits more than it needs agree; then it is checked
                return None
    half = len(digits) // 2 + 1
    modulus = PRIME**half
    numbers = _joined(digits[:half]) * common % modulus
    return np.asarray(np.where(numbers > modulus // 2, numbers - modulus, numbers)), common


def _denominator(value: int, modulus: int, most: int) -> int:
    """Return the denominator of the fraction that is ``value``, by Euclid's algorithm stopped half-way."""
    high, low, before, after = modulus, value, 0, 1
    while low > most:
        times = high // low
        high, low, before, after = low, high - times * low, after, before - times * after
    return abs(after)
