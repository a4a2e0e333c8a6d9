"""The rows of a source in one place, as the cloud that a direction has to separate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.design import Design
from lineal.designs import Categorical, Dense, Ones, Sparse, Stack
from lineal.separation.cloud import Cloud
from lineal.source import Source

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
    return Cloud(_stacked(parts), np.concatenate(own), outputs, np.concatenate(numbers).astype(np.int64))


def matrix(design: Design) -> Any:
    """Return a design as a float64 array, or as CSR where that is much smaller."""
    n, p = design.shape
    if isinstance(design, Stack):
        pieces = [matrix(part) for part in design.designs]
        if all(isinstance(piece, np.ndarray) for piece in pieces):
            return np.hstack(pieces)
        from scipy import sparse

        return sparse.csr_array(sparse.hstack(pieces, format="csr"))
    if isinstance(design, Sparse) and len(design.indices) < 0.2 * n * p:
        from scipy import sparse

        first, last = int(design.indptr[0]), int(design.indptr[-1])
        held = (design.data[first:last].astype(np.float64), design.indices[first:last], design.indptr - first)
        return sparse.csr_array(held, shape=(n, p))
    if isinstance(design, Categorical) and p > 8:
        from scipy import sparse

        rows = np.flatnonzero(design.codes >= 0)
        return sparse.csr_array((np.ones(len(rows)), (rows, design.codes[rows])), shape=(n, p))
    if n * p > MOST_CELLS:
        raise MemoryError(f"a table with {n * p:.2g} cells is too large to ask whether the classes overlap")
    if isinstance(design, Ones):
        return np.ones((n, 1))
    return np.asarray(design.array, dtype=np.float64) if isinstance(design, Dense) else design.dense()


def _stacked(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.vstack(parts)
    from scipy import sparse

    return sparse.csr_array(sparse.vstack(parts, format="csr"))
