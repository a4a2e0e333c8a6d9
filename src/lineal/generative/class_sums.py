"""What one pass learns of every class: its rows, their weight, and the sums of its columns, without rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra.doubled import two_product
from lineal.designs.design import Design
from lineal.designs.sparse import Sparse
from lineal.errors import InputError
from lineal.generative.exact_sums import LEVEL_BITS, ExactSums
from lineal.ground.arrays import Array
from lineal.ground.records import Added, dataclass
from lineal.sources.source import Block, Source

Codes = npt.NDArray[np.intp]

MAX_MAGNITUDE: Final = 1e90
"""Larger numbers are refused, and columns in which all are below its inverse: a weight times a square is still a double."""
CHUNK_CELLS: Final = 2**16
"""Cells of a plain design that are split into levels at a time: half a megabyte stays in cache."""
DOUBLE_BITS: Final = 53
"""Bits of a double."""
MAX_LEVEL_CELLS: Final = 2**25
"""Totals of all levels that are held at a time: a quarter of a gigabyte."""
ONE_HOT_MAX_CLASSES: Final = 32
"""Up to so many classes a product with their indicators is quicker than sorting the rows by class (measured)."""


@dataclass(frozen=True)
class ClassSums(Added):
    """Of K classes and p columns: ``rows`` (K,) of positive weight, and exact sums of s, s x and (if asked for) s x^2."""

    rows: npt.NDArray[np.int64]
    weight: ExactSums
    sums: ExactSums
    squares: ExactSums | None = None


@dataclass(frozen=True)
class SumClasses:
    """The task that makes ClassSums: a block's targets are the numbers of the classes.

    >>> from lineal.designs import as_design
    >>> block = Block(as_design([[1.0, 2.0], [0.0, 3.0], [4.0, 0.0]], intercept=False), np.array([[0.0], [1.0], [0.0]]))
    >>> SumClasses(2)(block).sums.values()
    array([[5., 2.],
           [0., 3.]])
    """

    classes: int
    squares: bool = False

    def __call__(self, block: Block) -> ClassSums:
        """Add up one block."""
        codes, weight, design = block.y[:, 0].astype(np.intp), block.weight, block.design
        _check_weight(weight)
        if weight is not None:
            codes = np.where(weight > 0.0, codes, self.classes)  # such rows have a class of their own, which is dropped
        rows = np.bincount(codes, minlength=self.classes + 1)[: self.classes].astype(np.int64)
        whole = _weights(weight, codes, self.classes) if weight is not None else _counted(rows, self.classes)
        sums: list[ExactSums] = []
        squares: list[ExactSums] = []
        for part in design.designs:
            known = None
            if isinstance(part, Sparse) and weight is None and not self.squares:
                known = _native(part, codes, self.classes)
            if known is not None:
                sums.append(known)
                continue
            _check_size(part, weight)
            plain = self.squares or part.plain
            once, twice = self._plain(part, codes, weight) if plain else (self._stored(part, codes, weight), None)
            sums.append(once)
            if twice is not None:
                squares.append(twice)
        return ClassSums(rows, whole, beside(sums), beside(squares) if self.squares else None)

    def _plain(self, design: Design, codes: Codes, weight: Array | None) -> tuple[ExactSums, ExactSums | None]:
        """Add up a design of which every cell is stored, some rows at a time."""
        n, p = design.shape
        once = twice = ExactSums.zeros((self.classes, p))
        height = max(64, CHUNK_CELLS // max(1, p))
        for first in range(0, n, height):
            chunk = slice(first, min(first + height, n))
            cells, own = design.dense_rows(chunk).astype(np.float64, copy=False), codes[chunk]
            add = _adder(own, self.classes)
            heavy = None if weight is None else weight[chunk, None]
            once += ExactSums.of(_weighted([cells], heavy), add, len(own), once.shape)
            if self.squares:
                twice += ExactSums.of(_weighted(two_product(cells, cells), heavy), add, len(own), once.shape)
        return once, twice if self.squares else None

    def _stored(self, design: Design, codes: Codes, weight: Array | None) -> ExactSums:
        """Add up a design of which few cells are stored."""
        cells, columns, starts = _entries(design)
        p = design.shape[1]
        lengths = np.diff(starts)
        heavy = None if weight is None else np.repeat(weight, lengths)
        places = np.repeat(codes * p, lengths) + columns

        def add(part: Array) -> Array:
            sums = np.bincount(places, weights=part, minlength=(self.classes + 1) * p)
            return np.asarray(sums[: self.classes * p], np.float64).reshape(self.classes, p)

        return ExactSums.of(_weighted([cells], heavy), add, len(codes), (self.classes, p))


def _check_size(design: Design, weight: Array | None) -> None:
    """Refuse numbers whose squares, or products with weights, doubles cannot hold."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = design.moments(weight)[3]
    if not np.isfinite(largest).all():
        raise InputError("a column holds NaN or infinity; remove or replace such cells.")
    strange = (largest > MAX_MAGNITUDE) | ((largest > 0.0) & (largest < 1.0 / MAX_MAGNITUDE))
    if strange.any():
        size = float(largest[strange][0])
        raise InputError(f"a column has numbers up to {size:.2g}, whose squares doubles cannot hold; change its unit.")


def _check_weight(weight: Array | None) -> None:
    """Refuse weights whose products with numbers doubles cannot hold."""
    heaviest = 0.0 if weight is None else float(np.max(weight, initial=0.0))
    if heaviest > MAX_MAGNITUDE or 0.0 < heaviest < 1.0 / MAX_MAGNITUDE:
        raise InputError(f"the weights reach {heaviest:.2g}; divide them by their mean.")


def _native(part: Sparse, codes: Codes, classes: int) -> ExactSums | None:
    """Add up sparse rows: whole numbers in one look, which also learns their sizes; others split into levels in a second.

    None where cells are so different in size that levels for all of them would take much memory.
    """
    own, shape = np.ascontiguousarray(codes, np.int64), (classes, part.shape[1])
    totals, largest, smallest, whole, finite = _core.class_totals(part.part, own, classes)
    strange = not finite or largest > MAX_MAGNITUDE or smallest < 1.0 / MAX_MAGNITUDE
    if strange:
        _check_size(part, None)
    if whole and largest < 2.0**LEVEL_BITS:
        return ExactSums({0: totals} if largest else {}, shape, len(codes)).carried()
    top = (math.frexp(largest)[1] - 1) // LEVEL_BITS
    height = top + 1 - (math.frexp(smallest)[1] - DOUBLE_BITS) // LEVEL_BITS  # no cell has a bit below
    if strange or height * totals.size > MAX_LEVEL_CELLS:
        return None
    parts = _core.class_parts(part.part, own, classes, top, height)
    levels = {top - place: np.ascontiguousarray(parts[:, :, place]) for place in range(height)}
    return ExactSums({level: total for level, total in levels.items() if total.any()}, shape, len(codes)).carried()


def class_sums(source: Source, classes: int, *, squares: bool = False) -> ClassSums:
    """Return the sums of every class in one pass."""
    return source.sum(SumClasses(classes, squares))


def beside(parts: Sequence[ExactSums]) -> ExactSums:
    """Return sums of columns side by side."""
    if len(parts) == 1:
        return parts[0]
    totals: dict[int, Array] = {}
    for level in {level for part in parts for level in part.totals}:
        totals[level] = np.hstack([part.totals.get(level, np.zeros(part.shape)) for part in parts])
    columns = sum(part.shape[1] for part in parts)
    return ExactSums(totals, (parts[0].shape[0], columns), max(part.terms for part in parts))


def _adder(codes: Codes, classes: int) -> Callable[[Array], Array]:
    """Return the sum of rows by class; the class after the last is dropped."""
    if classes <= ONE_HOT_MAX_CLASSES:
        indicators = (codes == np.arange(classes)[:, None]).astype(np.float64)
        return lambda part: indicators @ part
    order = np.argsort(codes, kind="stable")
    present, starts = np.unique(codes[order], return_index=True)

    def add(part: Array) -> Array:
        total = np.zeros((classes + 1, part.shape[1]))
        total[present] = np.add.reduceat(part[order], starts, axis=0)
        return total[:classes]

    return add


def _weighted(parts: Sequence[Array], weight: Array | None) -> Sequence[Array]:
    """Return numbers whose sum is that of the parts times the weight, to the last bit."""
    if weight is None:
        return parts
    return [piece for part in parts for piece in two_product(*np.broadcast_arrays(weight, part))]


def _weights(weight: Array, codes: Codes, classes: int) -> ExactSums:
    def add(part: Array) -> Array:
        return np.asarray(np.bincount(codes, weights=part, minlength=classes + 1)[:classes], np.float64)

    return ExactSums.of([weight], add, len(codes), (classes,))


def _counted(rows: npt.NDArray[np.int64], classes: int) -> ExactSums:
    """Return numbers of rows as sums of weights of 1."""
    return ExactSums({0: rows.astype(np.float64)}, (classes,), int(rows.sum()))


def _entries(design: Design) -> tuple[Array, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the stored cells of a design in doubles, their columns, and where every row begins."""
    held = design.arrays()
    if len(held) == 3:
        cells, columns, starts = held
        return cells.astype(np.float64, copy=False), columns, starts
    (codes,) = held  # of a category: one cell a row, or none
    present = codes >= 0
    return np.ones(int(present.sum())), codes[present], np.concatenate([[0], np.cumsum(present)])
