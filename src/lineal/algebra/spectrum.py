"""Eigenvalues of a symmetric matrix, which LAPACK finds in one go: begun only where a deadline leaves time for them."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal import _core
from lineal.algebra import lapack
from lineal.algebra.doubled import Doubled
from lineal.algebra.normal import DEPENDENT_SHARE
from lineal.ground.arrays import Array, Mask
from lineal.ground.deadline import LATE, Deadline, LateError
from lineal.ground.records import dataclass

CORNER_COLUMNS: Final = 256
"""Columns of the corner that tells how fast this machine is now; matrices of up to twice as many are not asked about."""
ZERO_SHARE: Final = 1e-13
"""Eigenvalues below this share of the largest are rounding errors of zero."""
RELATIVE_ERROR: Final = 2.0**-48
"""Relative error of an eigenvalue that LAPACK finds to full precision, and of a largest one in any case."""


def eigen(matrix: Array, deadline: Deadline | None = None) -> tuple[Array, Array]:
    """Return eigenvalues, the least first, and eigenvectors: ``matrix = V diag(w) V'``.

    LateError where they would take longer than there is time, grace included, judged by the corner of the matrix.

    >>> eigen(np.array([[2.0, 1.0], [1.0, 2.0]]))[0]
    array([1., 3.])
    """
    columns = len(matrix)
    if deadline is not None and columns > 2 * CORNER_COLUMNS:
        began = deadline.clock()
        np.linalg.eigh(matrix[:CORNER_COLUMNS, :CORNER_COLUMNS])
        # less than with the cube of the columns, since large matrices are worked on in larger pieces
        if (deadline.clock() - began) * (columns / CORNER_COLUMNS) ** 2.7 > deadline.last.left:
            raise LateError(LATE)
    values, vectors = np.linalg.eigh(matrix)
    return values, vectors


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of a gram, the products of its eigenvectors with a right side, and how well both are known.

    >>> Spectrum(np.array([0.0, 2.0]), np.array([0.0, 1.0]), 1e-15, 1e-15, 1e-15, 0.0).values
    array([0., 2.])
    """

    values: Array
    products: Array
    fine: float
    """The gram as a quadratic form is known to ``fine v' gram v`` and, besides, to what ``loose`` and ``vague`` say."""
    loose: float
    """A relative bound on its error, ``|v'(gram - true) v| <= loose v' gram v``."""
    vague: float
    """Another one, ``|v'(gram - true) v| <= vague v'v``, better for what is small."""
    missed: float
    """A bound on the sum of the eigenvalues that were taken for zero."""


def decomposed(gram: Doubled, right: Doubled, entry_error: float, deadline: Deadline | None = None) -> Spectrum:
    """Return the eigenvalues of a gram and the products of its eigenvectors with a right side; zero where columns depend.

    Of columns in units far apart, ``gram = D A D`` with a diagonal of ones in A, small eigenvalues drown in the rounding of
    large ones. ``A = C C'`` has no such spread, and Jacobi's method finds every singular value of ``D C`` to full relative
    precision: its squares are the eigenvalues. ``right = D C t``, so that the products are the singular values times V't.

    Entries of A are known to ``entry_error``, but rounded to doubles here: see `resolved` where that is not enough.
    """
    plain, side = gram.round(), right.round()
    size = np.sqrt(np.maximum(np.diagonal(plain), 0.0))
    present = size > 0.0
    if not present.any() or size.max() <= 100.0 * size[present].min():
        values, vectors = eigen(plain, deadline)
        top = max(float(values.max(initial=0.0)), 0.0)
        real = values > ZERO_SHARE * top
        known = np.where(real, values, 0.0), np.where(real, vectors.T @ side, 0.0)
        return Spectrum(*known, *_known(values, real, entry_error))
    size = np.where(present, size, 1.0)
    values, vectors = eigen(plain / size[:, None] / size, deadline)
    real = values > ZERO_SHARE * float(values.max())
    half = vectors[:, real] * np.sqrt(values[real])
    fine, loose, vague, missed = _known(values, real, entry_error)
    weights = vectors[:, real].T @ (side / size) / np.sqrt(values[real])
    most = float(size.max()) ** 2
    return Spectrum(*_graded(size[:, None] * half, weights), fine, loose, vague * most, missed * most)


def resolved(gram: Doubled, right: Doubled, square: Doubled, entry_error: float) -> tuple[Spectrum, float]:
    """Return the same from a factor ``A = C C'`` made in double-double, for columns very near to each other.

    What C lacks of A's digits is then ``entry_error / least eigenvalue of A``, with entry_error about 1e-28 instead of
    1e-16. Also returned is what the columns that were not taken for dependent leave of ``square``, that of the right
    side's own vector.
    """
    size = np.sqrt(np.maximum(np.diagonal(gram.high), 0.0))
    unit = np.exp2(-np.round(np.log2(np.where(size > 0.0, size, 1.0))))
    both, count = unit[:, None] * unit, len(size)
    scaled = Doubled.of(np.zeros((count + 1, count + 1)))
    for name in ("high", "low"):
        whole, side = getattr(scaled, name), getattr(right, name) * unit
        whole[:count, :count], whole[count, count] = getattr(gram, name) * both, getattr(square, name)
        whole[:count, count] = whole[count, :count] = side
    threshold = max(DEPENDENT_SHARE, 1e3 * entry_error)
    high, low, order, rank = _core.factor_dd(scaled.high, scaled.low, threshold, 1)
    factor = high + low
    residual = float(factor[count, count])
    half, order = factor[:count, :rank], np.asarray(order[:count], dtype=np.intp)
    single, products = _graded(half / unit[order, None], factor[count, :rank])
    missed = threshold * float(np.sum(size[order[rank:]] ** 2))
    if rank == 0:
        return Spectrum(single, products, RELATIVE_ERROR, 0.0, 0.0, missed), residual
    backwards = lapack.dtrtri(half[:rank], lower=1)[0]
    loose = 4.0 * count * entry_error * float(np.sum(np.tril(backwards) ** 2))
    return Spectrum(
        single, products, RELATIVE_ERROR, loose, 4.0 * entry_error * float(np.sum(size**2)), missed
    ), residual


def _known(values: Array, real: Mask, entry_error: float) -> tuple[float, float, float, float]:
    """Return how loose eigenvalues of a matrix of doubles are, and what those taken for zero may add up to."""
    top, kept = float(values.max(initial=0.0)), values[real]
    vague = (RELATIVE_ERROR + len(values) * entry_error) * top
    loose = RELATIVE_ERROR + vague / float(kept.min()) if len(kept) else RELATIVE_ERROR
    return loose, loose, vague, ZERO_SHARE * top * int(np.sum(~real))


def _graded(half: Array, weights: Array) -> tuple[Array, Array]:
    """Return the squared singular values of a matrix whose rows and columns may be of any lengths, and S V'weights."""
    absent = np.zeros(len(half) - half.shape[1])
    if not half.shape[1]:
        return absent, absent
    # joba=2: also for rows of any lengths; jobu=3: no left vectors; jobv=0: the right ones; jobr=0: no value is too small
    single, _, turned, scale, _, _ = lapack.dgejsv(half, joba=2, jobu=3, jobv=0, jobr=0)
    single = single * (scale[0] / scale[1])
    return np.concatenate([absent, single**2]), np.concatenate([absent, single * (turned.T @ weights)])


def root(matrix: Array) -> Array:
    """Return R with ``R R' = matrix``, for a covariance of any scale, also where rounding left it a little indefinite.

    >>> root(np.array([[4.0, 0.0], [0.0, 1e-20]])) ** 2
    array([[0.e+00, 4.e+00],
           [1.e-20, 0.e+00]])
    """
    size = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    unit = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(matrix / unit[:, None] / unit)
    return np.ascontiguousarray(unit[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))
