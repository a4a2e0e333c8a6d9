"""The rows of a source in one place, as the cloud that a direction has to separate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lineal.designs.design import Design
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.separation.cloud import Cloud
from lineal.sources.source import Block, Source

MAX_CELLS = 100_000_000
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
    parts, own, numbers = zip(*source.collect(Gathered(sides, outputs, columns)), strict=True)
    return Cloud(stacked(list(parts)), np.concatenate(own), outputs, np.concatenate(numbers).astype(np.int64))


@dataclass(frozen=True)
class Gathered:
    """Cells, classes and places of a block's rows of positive weight; a row of both classes comes twice."""

    sides: Callable[[Array], tuple[Mask, Mask]]
    outputs: int
    columns: Index | None

    def __call__(self, block: Block) -> tuple[Any, Index, Index]:
        """Return those of one block."""
        present = block.weights > 0.0
        x = matrix(block.design)
        x = x if self.columns is None or len(self.columns) == x.shape[1] else x[:, self.columns]
        x = x if present.all() else x[present]
        y, number = block.y[present, 0], block.start + np.flatnonzero(present)
        if self.outputs > 1:
            return x, y.astype(np.intp), number
        up, both = self.sides(y)
        if not both.any():
            return x, up.astype(np.intp), number
        own = np.concatenate([up, ~up[both]]).astype(np.intp)
        return stacked([x, x[both]]), own, np.concatenate([number, number[both]])


def check_cells(cells: int) -> None:
    """Raise MemoryError, in a sentence, where this many cells do not fit into memory."""
    if cells > MAX_CELLS:
        raise MemoryError(f"a table with {cells} cells is too large to ask whether the classes overlap")


def matrix(design: Design, rows: Index | None = None) -> Any:
    """Return a design, or some rows of it, as a float64 array, or as CSR where that is much smaller."""
    wanted = slice(None) if rows is None else rows
    pieces: list[Any] = []
    for part in design.designs:
        if not part.compact:
            check_cells((design.shape[0] if rows is None else len(rows)) * part.shape[1])
        pieces.append(part.sparse_rows(wanted) if part.compact else part.dense_rows(wanted))
    if len(pieces) == 1:
        return pieces[0]
    if all(isinstance(piece, np.ndarray) for piece in pieces):
        return np.hstack(pieces)
    from scipy import sparse

    return sparse.csr_array(sparse.hstack(pieces, format="csr"))


def stacked(parts: list[Any]) -> Any:
    """Return tables one below the other, as CSR if one of them is."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.vstack(parts)
    from scipy import sparse

    return sparse.csr_array(sparse.vstack(parts, format="csr"))
