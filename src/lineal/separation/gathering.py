"""The rows of a source in one place, as the cloud that a direction has to separate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.designs import Categorical, Dense, Ones, Sparse, Stack
from lineal.designs.design import Design
from lineal.separation.cloud import Cloud
from lineal.sources.source import Source

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

MOST_CELLS = 100_000_000
"""Larger dense tables are not gathered."""


def classes(y: Array) -> tuple[Mask, Mask]:
    """Return which rows are of the second class, and that none is of both: the sides of plain labels 0 and 1."""
    return y > 0.5, np.zeros(len(y), dtype=bool)


def gather(
    source: Source,
    sides: Callable[[Array], tuple[Mask, Mask]] = classes,
    outputs: int = 1,
    columns: Index | None = None,
) -> Cloud:
    """Return the rows of positive weight; MemoryError in a sentence if they are too many.

    ``sides`` says of the targets of one output which are of the upper class, and which of both (such a row counts on
    either side). With several outputs, targets are the numbers of classes.
    """
    parts, own, numbers = [], [], []
    for block in source.blocks():
        present = np.ones(block.n_rows, dtype=bool) if block.weight is None else block.weight > 0.0
        x = matrix(block.design)
        x = x if columns is None or len(columns) == x.shape[1] else x[:, columns]
        x = x if present.all() else x[present]
        y, number = block.y[present, 0], block.start + np.flatnonzero(present)
        parts.append(x)
        numbers.append(number)
        if outputs > 1:
            own.append(y.astype(np.intp))
            continue
        up, both = sides(y)
        own.append(up.astype(np.intp))
        if both.any():
            parts.append(x[both])
            numbers.append(number[both])
            own.append(1 - up[both].astype(np.intp))
    return Cloud(stacked(parts), np.concatenate(own), outputs, np.concatenate(numbers).astype(np.int64))


def check_cells(cells: int) -> None:
    """Raise MemoryError, in a sentence, where so many cells would have to be written out."""
    if cells > MOST_CELLS:
        raise MemoryError(f"a table with {cells} cells is too large to ask whether the classes overlap")


def matrix(design: Design, rows: Index | None = None) -> Any:
    """Return a design, or some rows of it, as a float64 array, or as CSR where that is much smaller."""
    n, p = design.shape if rows is None else (len(rows), design.shape[1])
    if isinstance(design, Stack):
        pieces = [matrix(part, rows) for part in design.designs]
        if all(isinstance(piece, np.ndarray) for piece in pieces):
            return np.hstack(pieces)
        from scipy import sparse

        return sparse.csr_array(sparse.hstack(pieces, format="csr"))
    if isinstance(design, Sparse) and len(design.indices) < 0.2 * design.shape[0] * p:
        from scipy import sparse

        first, last = int(design.indptr[0]), int(design.indptr[-1])
        data = design.data[first:last].astype(np.float64, copy=False)
        held = sparse.csr_array((data, design.indices[first:last], design.indptr - first), shape=design.shape)
        return held if rows is None else held[rows]
    if isinstance(design, Categorical) and p > 8:
        from scipy import sparse

        codes = design.codes if rows is None else design.codes[rows]
        known = np.flatnonzero(codes >= 0)
        return sparse.csr_array((np.ones(len(known)), (known, codes[known])), shape=(n, p))
    check_cells((n if isinstance(design, Dense | Ones) else design.shape[0]) * p)  # of dense rows only those asked for
    if isinstance(design, Ones):
        return np.ones((n, 1))
    values = design.array if isinstance(design, Dense) else design.dense()
    return np.asarray(values if rows is None else values[rows], dtype=np.float64)


def stacked(parts: list[Any]) -> Any:
    """Return tables one below the other, as CSR if one of them is."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.vstack(parts)
    from scipy import sparse

    return sparse.csr_array(sparse.vstack(parts, format="csr"))
