"""The one dependency of a few rows of integers, found digit by digit (Dixon 1982).

``B x = c`` is solved modulo a prime q; the same inverse then gives x modulo q^2, q^3, ... by one product of a matrix with a
vector each, and fractions are rebuilt from their digits by Euclid's algorithm (Wang 1981). What comes out is checked.
"""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt

from lineal.separation.integers import Whole, reduced

Small = npt.NDArray[np.int64]

PRIME = 67108859
"""Below 2^26, so that sums of a thousand products fit 63 bits."""
MOST = 1000
FIRST = 24
"""After so many digits the fractions are rebuilt for the first time."""


def dependency(rows: Whole, deadline: float) -> Whole | None:
    """Return integers a, without a common divisor, with sum a_i rows_i = 0, if there is one such a and no other.

    None where there are others, or none, or the prime is an unlucky one. TimeoutError after the deadline.

    >>> dependency(np.array([[2, 0], [0, 3], [-1, -1]], dtype=object), math.inf).tolist()
    [3, 2, 6]
    """
    modular = (rows % PRIME).astype(np.int64)
    kept, columns = pivots(modular)
    if len(rows) > MOST or len(kept) != len(rows) - 1 or not kept:
        return None
    last = (set(range(len(rows))) - set(kept)).pop()
    matrix = rows[np.ix_(kept, columns)].T
    inverse = _inverse(modular[np.ix_(kept, columns)].T.copy())
    size = sum(int(v).bit_length() for v in np.max(np.abs(rows), axis=1)) + len(rows) * math.log2(len(rows) + 1)
    enough = int(2 * size + 64) // 26 + 1
    left, x, power, look = -rows[last, columns], np.zeros(len(kept), dtype=object), 1, FIRST
    for digits in range(1, enough + 1):
        digit = (inverse @ (left % PRIME).astype(np.int64)) % PRIME
        x = x + digit.astype(object) * power
        left = (left - matrix @ digit.astype(object)) // PRIME
        power *= PRIME
        if digits in (look, enough):
            found = _fractions(x, power)
            weights = np.zeros(len(rows), dtype=object)
            if found is not None:
                weights[kept], weights[last] = found
                if not np.any(weights @ rows):
                    return reduced(weights)
            look = digits + max(FIRST, digits // 2)
        if time.monotonic() > deadline:
            raise TimeoutError
    return None


def pivots(work: Small) -> tuple[list[int], list[int]]:
    """Return rows and columns of a square part that is regular modulo the prime, as large as there is one."""
    work, order, columns = work.copy(), np.arange(len(work)), list[int]()
    for column in range(work.shape[1]):
        at = len(columns)
        found = at + np.flatnonzero(work[at:, column])
        if not len(found):
            continue
        work[[at, found[0]]], order[[at, found[0]]] = work[[found[0], at]], order[[found[0], at]]
        line = work[at] * pow(int(work[at, column]), -1, PRIME) % PRIME
        work[at + 1 :] = (work[at + 1 :] - work[at + 1 :, [column]] * line) % PRIME
        columns.append(column)
    return order[: len(columns)].tolist(), columns


def _inverse(matrix: Small) -> Small:
    """Return the inverse modulo the prime (Gauss and Jordan)."""
    n = len(matrix)
    work = np.hstack([matrix, np.eye(n, dtype=np.int64)])
    for at in range(n):
        found = at + int(np.flatnonzero(work[at:, at])[0])
        work[[at, found]] = work[[found, at]]
        line = work[at] * pow(int(work[at, at]), -1, PRIME) % PRIME
        work = (work - work[:, [at]] * line) % PRIME
        work[at] = line
    return work[:, n:]


def _fractions(x: Whole, modulus: int) -> tuple[Whole, int] | None:
    """Return integers and their denominator, small ones that are x modulo ``modulus``; None if there are none."""
    common, most = 1, math.isqrt(modulus // 2)
    for value in x.tolist():
        scaled = value * common % modulus
        if min(scaled, modulus - scaled) > most:
            common *= _denominator(scaled, modulus, most)
            if common > most:  # more digits are needed
                return None
    found = (x * common) % modulus
    return np.asarray(np.where(found > modulus // 2, found - modulus, found)), common


def _denominator(value: int, modulus: int, most: int) -> int:
    """Return the denominator of the fraction that is ``value``, by Euclid's algorithm stopped half-way."""
    high, low, before, after = modulus, value, 0, 1
    while low > most:
        times = high // low
        high, low, before, after = low, high - times * low, after, before - times * after
    return abs(after)
