"""Whether a sparse matrix is one: asked before compiled code, scipy's or ours, follows its indices through memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError

Index = npt.NDArray[np.integer[Any]]

REMEDY = (
    "Make the matrix anew from its rows, columns and values: scipy.sparse.coo_array((values, (rows, columns)), shape)."
)


def is_sparse(data: object) -> bool:
    """Whether data is a sparse matrix, of scipy's or of another library.

    >>> is_sparse(np.eye(2))
    False
    """
    return hasattr(data, "tocsr")


def sound(matrix: Any, name: str = "X") -> Any:
    """Return a sparse matrix as it is, or refuse one whose indices lead out of it.

    Vectorised, one reading of the indices: ``0 = indptr[0] <= indptr[1] <= ...``, as many entries as ``indptr`` says,
    ``0 <= indices < columns``. Columns in any order, and one that comes twice in a row, are no fault.

    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array(np.eye(3))
    >>> matrix.indices[1] = 7
    >>> sound(matrix)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    lineal.errors.InputError: X is a damaged csr matrix: indices has 7, and there are 3 columns. ...
    """
    scipy_sparse = sys.modules.get("scipy.sparse")
    if scipy_sparse is None or not scipy_sparse.issparse(matrix):
        raise InputError(f"{name} is a {type(matrix).__name__}; give a scipy sparse matrix or an array.")
    if matrix.ndim != 2:
        raise InputError(f"{name} is a sparse array of shape {matrix.shape}; give two dimensions, rows and columns.")
    try:
        for fault in _faults(matrix):
            raise InputError(f"{name} is a damaged {matrix.format} matrix: {fault}. {REMEDY}")
    except (AttributeError, TypeError) as error:  # a part that is no array at all
        raise InputError(f"{name} is a damaged {matrix.format} matrix: {error}. {REMEDY}") from None
    return matrix


def _faults(matrix: Any) -> Iterator[str]:
    """Yield what is wrong with a matrix, in words; the first is one that may be followed by nonsense."""
    look = {"bsr": _blocks, "coo": _coordinates, "dia": _diagonals, "lil": _lists, "dok": _keys}.get(
        matrix.format, _lines
    )
    return look(matrix)


def _lines(matrix: Any) -> Iterator[str]:
    """Yield the faults of compressed rows or columns."""
    lines, width = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    yield from _compressed(matrix, lines, width, "columns" if matrix.format == "csr" else "rows")
    if matrix.data.ndim != 1:
        yield f"data has shape {matrix.data.shape} instead of one dimension"


def _blocks(matrix: Any) -> Iterator[str]:
    (rows, columns), data = matrix.shape, matrix.data
    if data.ndim != 3 or 0 in data.shape[1:]:
        yield f"data has shape {data.shape} instead of blocks with rows and columns"
    height, width = data.shape[1:]
    if rows % height or columns % width:
        yield f"blocks of {height} by {width} do not fill {rows} rows and {columns} columns"
    yield from _compressed(matrix, rows // height, columns // width, "columns of blocks")


def _coordinates(matrix: Any) -> Iterator[str]:
    for name, indices, limit, of in zip(("row", "col"), matrix.coords, matrix.shape, ("rows", "columns"), strict=True):
        yield from _inside(name, indices, limit, of)
        if len(indices) != len(matrix.data):
            yield f"{name} has {len(indices)} entries, data has {len(matrix.data)}"


def _diagonals(matrix: Any) -> Iterator[str]:
    offsets = matrix.offsets
    if matrix.data.ndim != 2 or offsets.shape != matrix.data.shape[:1]:
        yield f"{offsets.size} offsets do not fit data of shape {matrix.data.shape}"
    # a diagonal outside of the matrix is no fault, one beyond scipy's 32 bits is
    yield from _inside("offsets", np.abs(offsets), 2**30, "diagonals at most")
    if len(np.unique(offsets)) < len(offsets):
        yield "a diagonal is given twice"


def _lists(matrix: Any) -> Iterator[str]:
    rows, columns = matrix.shape
    if [len(row) for row in matrix.rows] != [len(row) for row in matrix.data] or len(matrix.rows) != rows:
        yield "rows and data have different lengths"
    yield from _inside("rows", np.array(list(chain.from_iterable(matrix.rows)) or [0]), columns or 1, "columns")


def _keys(matrix: Any) -> Iterator[str]:
    places = np.array(list(matrix.keys()) or [(0, 0)])
    for k, of in enumerate(("rows", "columns")):
        yield from _inside("keys", places[:, k], matrix.shape[k] or 1, of)


def _compressed(matrix: Any, lines: int, width: int, of: str) -> Iterator[str]:
    """Yield what is wrong with compressed rows or columns; ``width`` is how many ``of`` there are to point at."""
    starts, indices, stored = matrix.indptr, matrix.indices, len(matrix.data)
    for name, part in (("indptr", starts), ("indices", indices)):
        if part.ndim != 1 or part.dtype.kind not in "iu":
            yield f"{name} has shape {part.shape} and type {part.dtype} instead of whole numbers in one dimension"
    if len(starts) != lines + 1:
        yield f"indptr has {len(starts)} entries, and {lines + 1} are needed"
    if starts[0] != 0:
        yield f"indptr begins with {starts[0]} instead of 0"
    falls = starts[1:] < starts[:-1]
    if falls.any():
        yield f"indptr decreases at its entry {int(np.argmax(falls)) + 1}"
    last = int(starts[-1])
    if last > min(len(indices), stored):
        yield f"indptr ends at {last}, but there are {len(indices)} indices and {stored} entries of data"
    yield from _inside("indices", indices[:last], width, of)


def _inside(name: str, indices: Index, limit: int, of: str) -> Iterator[str]:
    """Yield which index is below 0, or not below the limit."""
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        yield f"{name} has shape {indices.shape} and type {indices.dtype} instead of whole numbers in one dimension"
    if not len(indices):
        return
    # A negative number without its sign is larger than any limit: one reading tells both.
    unsigned = indices.view(indices.dtype.str.replace("i", "u"))
    if int(unsigned.max()) >= limit:
        strange = indices[unsigned >= limit][0]
        yield f"{name} has {strange}, and there are {limit} {of}"
