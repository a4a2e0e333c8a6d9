"""The Mercer test: whether a Gram matrix may be one of inner products, as far as its rounded entries tell."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra.integers import whole
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

Answer = Literal["positive semi-definite", "not positive semi-definite", "undecided"]

EIGEN_MAX_POINTS: Final = 3000
"""Points up to which all eigenvectors are asked for; of more, the least is sought by itself."""
SHOWN_MAX_POINTS: Final = 1000
"""Points up to which the least eigenvalue is shown."""
RESOLUTION: Final = 2.0**-48
"""What cannot be told apart in any case, as a share of the largest entry of a row."""
SCALES: Final = (2**7, 2**20, 2**40)
"""The largest entry of a vector of whole numbers, tried in turn: a short witness is easier to check."""
LEFT_OUT: Final = 1e-3
"""Entries of a vector below this share of its largest are left out at first, so that a witness has few points."""


@dataclass(frozen=True)
class MercerTest:
    """Whether the Gram matrix K of some points is positive semi-definite, up to the rounding of its entries.

    ``v' K v >= 0`` for all v is what Mercer's theorem asks of a kernel. A matrix of doubles may miss it by the rounding
    of its entries alone, which is no finding: ``bound`` is what rounding may take off ``v' K v / |v|^2``. Where the
    answer is no, ``vector`` holds whole numbers for the points in ``rows``, ``value = v' K v`` in exact arithmetic, and
    ``rounding < -value`` what the rounding of entries could explain. ``least`` is the least eigenvalue, where it was
    asked for, as it was found.

    >>> from lineal.kernels import Precomputed
    >>> test = Precomputed().check([[1.0, 2.0], [2.0, 1.0]])
    >>> test.answer, test.rows, test.vector, test.value
    ('not positive semi-definite', (0, 1), (-1, 1), -2.0)
    """

    answer: Answer
    sentence: str
    points: int
    bound: float
    by_construction: bool = False
    least: float | None = None
    rows: tuple[int, ...] = ()
    vector: tuple[int, ...] = ()
    value: float | None = None
    rounding: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the test as plain data."""
        return {
            "answer": self.answer,
            "sentence": self.sentence,
            "points": self.points,
            "bound": self.bound,
            "by_construction": self.by_construction,
            "least_eigenvalue": self.least,
            "rows": list(self.rows),
            "vector": list(self.vector),
            "value": self.value,
            "rounding": self.rounding,
        }


def constructed(label: str, error: Array) -> MercerTest:
    """Return the answer for a kernel that is Mercer's by construction."""
    bound = float(error @ error)
    sentence = (
        f"The {label} is a Mercer kernel by construction: every Gram matrix is positive semi-definite. Rounding of the "
        f"entries moves v'Kv by at most {bound:.2g} |v|^2 for these {len(error)} points."
    )
    return MercerTest("positive semi-definite", sentence, len(error), bound, by_construction=True)


def judged(label: str, K: Array, error: Array) -> MercerTest:
    """Return the answer for a matrix whose entries are known to ``e_i e_j``."""
    n = len(K)
    largest = np.abs(K).max(axis=1, initial=0.0)
    unit = np.maximum(np.maximum(error, np.sqrt(RESOLUTION * largest)), 2.0**-500)
    bound = n * float(unit.max(initial=0.0)) ** 2
    scaled = K / unit[:, None] / unit
    least = float(np.linalg.eigvalsh(K)[0]) if 0 < n <= SHOWN_MAX_POINTS else None
    proven = None
    for v in _candidates(K, unit):
        witness = _confirmed(K, error, v)
        if witness is not None:
            break
    else:
        proven = _proven(scaled)
        witness = None if proven or n == 0 else _confirmed(K, error, _least(scaled) / unit)
    if witness is not None:
        rows, vector, exact, rounding = witness
        points = "1 point" if len(rows) == 1 else f"{len(rows)} points"
        sentence = (
            f"The {label} is no Mercer kernel: v'Kv = {float(exact):.6g} for whole numbers v at {points}, in exact "
            f"arithmetic, and rounding of the entries explains at most {float(rounding):.2g}."
        )
        return MercerTest(
            "not positive semi-definite", sentence, n, bound, False, least, rows, vector, float(exact), float(rounding)
        )
    if proven:
        sentence = (
            f"The Gram matrix of these {n} points is positive semi-definite up to rounding: v'Kv >= -{bound:.2g} |v|^2, "
            f"which rounding of the entries may be. That the {label} is Mercer's, for all points, does not follow."
        )
        return MercerTest("positive semi-definite", sentence, n, bound, least=least)
    sentence = (
        f"Whether the {label} is Mercer's is undecided: its least eigenvalue for these {n} points is too near to what "
        f"rounding of the entries may do, {bound:.2g}, to be told from zero."
    )
    return MercerTest("undecided", sentence, n, bound, least=least)


def _least(K: Array) -> Array:
    """Return an eigenvector of the least eigenvalue."""
    if len(K) <= EIGEN_MAX_POINTS:
        return np.asarray(np.linalg.eigh(K)[1][:, 0])
    from scipy.sparse.linalg import eigsh

    return np.asarray(eigsh(K, k=1, which="SA", tol=1e-6)[1][:, 0])


def _candidates(K: Array, unit: Array) -> Iterator[Array]:
    """Yield vectors of one point and of two for which v'Kv may be negative."""
    n = len(K)
    if not n:
        return
    diagonal = np.diagonal(K) / unit**2
    yield _placed(n, {int(np.argmin(diagonal)): 1.0})
    worst, pair = 0.0, (0, 0)
    for i in range(n):  # x^2 K_ii + 2 x y K_ij + y^2 K_jj at |x| = 1 / unit_i, |y| = 1 / unit_j
        _core.heed()
        mix = diagonal[i] + diagonal - 2.0 * np.abs(K[i] / unit[i] / unit)
        mix[i] = np.inf
        if mix.min() < worst:
            worst, pair = float(mix.min()), (i, int(np.argmin(mix)))
    if worst < 0.0:
        i, j = pair
        yield _placed(n, {i: -np.sign(K[i, j]) / unit[i], j: 1.0 / unit[j]})


def _placed(n: int, entries: dict[int, float]) -> Array:
    v = np.zeros(n)
    for i, value in entries.items():
        v[i] = value
    return v


def _confirmed(K: Array, error: Array, v: Array) -> tuple[tuple[int, ...], tuple[int, ...], Fraction, Fraction] | None:
    """Return points, whole numbers, v'Kv and what rounding explains of it, if it is below minus that; all exact."""
    size = np.abs(v).max(initial=0.0)
    if not size or not np.isfinite(size):
        return None
    for scale in SCALES:
        numbers = np.rint(v / size * scale)
        numbers[np.abs(v) < LEFT_OUT * size * (scale == SCALES[0])] = 0.0
        rows = np.flatnonzero(numbers)
        integers = numbers[rows].astype(np.int64)
        integers //= np.gcd.reduce(integers)
        if not _promising(K[np.ix_(rows, rows)], error[rows], integers.astype(np.float64)):
            continue
        exact = _form(K[np.ix_(rows, rows)], integers.astype(object))
        rounding = (
            sum((abs(int(m)) * Fraction(float(error[i])) for m, i in zip(integers, rows, strict=True)), Fraction()) ** 2
        )
        if exact < -rounding:
            return tuple(map(int, rows)), tuple(map(int, integers)), exact, rounding
    return None


def _promising(K: Array, error: Array, v: Array) -> bool:
    """Whether v'Kv is negative enough in doubles to be worth exact arithmetic."""
    return bool(v @ K @ v < -0.5 * float(np.abs(v) @ error) ** 2)


def _form(K: Array, v: npt.NDArray[Any]) -> Fraction:
    """Return v'Kv of doubles and whole numbers, exactly."""
    total = Fraction()
    for i, row in enumerate(K):
        _core.heed()
        integers = whole(row)
        j = int(np.argmax(np.abs(row)))
        unit = Fraction(float(row[j])) / int(integers[j]) if row[j] else Fraction()
        total += int(v[i]) * int(np.dot(integers, v)) * unit
    return total


def _proven(K: Array) -> bool:
    """Whether v'Kv >= -n |v|^2 for all v is proven, by a factor of K + (n / 2) I whose product misses it by less than n / 2.

    The factor F is split into halves, the first of few digits, whose products are summed without any rounding.
    """
    n = len(K)
    if not n:
        return True
    K = K.copy()
    K.flat[:: n + 1] += 0.5 * n  # off by u of a diagonal entry, which is counted below
    try:
        F = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return False
    # high is a multiple of one unit, at most 2^bits of it, and n products of two such numbers stay below 2^53 units
    bits = (53 - int(np.ceil(np.log2(n + 1)))) // 2
    unit = 2.0 ** (np.ceil(np.log2(np.abs(F).max())) - bits + 1)
    high = np.rint(F / unit) * unit
    low = F - high
    rest = K - high @ high.T
    rounded = 2.0**-52 * np.abs(rest)
    cross = high @ low.T
    rest -= cross
    rest -= cross.T
    rest -= low @ low.T
    # three differences, each rounded by u of what is there; the products with low by n u |high| |low| and less
    rounded += 2.0**-51 * np.abs(rest) + 2.0**-51 * np.abs(cross) + 2.0**-51 * np.abs(cross.T)
    tall, short = np.sqrt((high * high).sum(axis=1)), np.sqrt((low * low).sum(axis=1))
    rounded += 2.0**-52 * (n + 4) * (np.outer(tall, short) + np.outer(short, tall) + np.outer(short, short))
    rounded.flat[:: n + 1] += 2.0**-52 * np.diagonal(K)
    missed = np.sqrt(((np.abs(rest) + rounded) ** 2).sum()) * (1.0 + 1e-9)
    return bool(missed <= 0.5 * n)
