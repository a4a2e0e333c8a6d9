"""Sums and vectors over all rows for methods that keep numbers for every row here: they need memory per row."""

from __future__ import annotations

import numpy as np

from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.sources.source import Block, Source


@dataclass(frozen=True)
class Times:
    """The scores ``X coef`` of a block, without its offsets."""

    coef: Array

    def __call__(self, block: Block) -> Array:
        """Return one row for each row."""
        return block.design.times(self.coef)


@dataclass(frozen=True)
class TransposeTimes:
    """The task that sums ``X' values``, ``values`` one row for each row of the source."""

    values: Array

    def __call__(self, block: Block) -> Array:
        """Sum over one block."""
        return block.design.transpose_times(np.ascontiguousarray(self.values[block.rows]))


@dataclass(frozen=True)
class Gram:
    """The task that sums ``X' diag(weights) X``, ``weights`` one number for each row of the source, of any sign."""

    weights: Array

    def __call__(self, block: Block) -> Array:
        """Sum over one block."""
        return block.design.gram(np.ascontiguousarray(self.weights[block.rows]))


@dataclass(frozen=True)
class Weights:
    """The weights of a block, 1 where none were given."""

    def __call__(self, block: Block) -> Array:
        """Return one number for each row."""
        return block.weights


@dataclass(frozen=True)
class Count:
    """The task that counts rows, those of weight zero too."""

    def __call__(self, block: Block) -> int:
        """Return how many a block has."""
        return block.n_rows


@dataclass(frozen=True)
class PlainRows:
    """The rows of a block, zeros included, and the numbers of their classes."""

    def __call__(self, block: Block) -> tuple[Array, Index]:
        """Return one row, and one number, for each row."""
        return block.design.dense(), block.y[:, 0].astype(np.intp)

    @staticmethod
    def of(source: Source) -> tuple[Array, Index]:
        """Return those of all rows."""
        rows, classes = zip(*source.collect(PlainRows()), strict=True)
        return np.vstack(rows), np.concatenate(classes)


@dataclass(frozen=True)
class Targets:
    """Targets, weights and offsets of a block, zeros in rows of weight zero; without offsets these are zeros."""

    outputs: int

    def __call__(self, block: Block) -> tuple[Array, Array, Array]:
        """Return three arrays with one row for each row."""
        present = (block.weights > 0.0)[:, None]
        offset = np.zeros((block.n_rows, self.outputs)) if block.offset is None else block.offset
        return np.where(present, block.y, 0.0), block.weights, np.where(present, offset, 0.0)


@dataclass(frozen=True)
class Scored:
    """Targets, scores and weights of a block; rows of weight zero are absent, whatever they hold, and hold zeros."""

    coef: Array

    def __call__(self, block: Block) -> tuple[Array, Array, Array]:
        """Return three arrays with one row for each row."""
        y, eta = block.y, block.scores(self.coef)
        if block.weight is not None:
            present = (block.weight > 0.0)[:, None]
            y, eta = np.where(present, y, 0.0), np.where(present, eta, 0.0)
        return y, eta, block.weights


@dataclass(frozen=True)
class Cells:
    """Some rows of X as plain numbers, by their sorted places among all rows of the source."""

    numbers: Index

    def __call__(self, block: Block) -> Array:
        """Return those rows that are in the block."""
        some = self.numbers[np.searchsorted(self.numbers, block.start) :] - block.start
        rows = [block.design.slice(int(at), int(at) + 1).dense() for at in some[some < block.n_rows]]
        return np.vstack(rows) if rows else np.zeros((0, block.design.shape[1]))


def joined(parts: tuple[Array, ...]) -> Array:
    """Return the parts of all blocks as one array; that of a single block as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def times(source: Source, coef: Array) -> Array:
    """Return ``X coef`` of all rows."""
    return joined(source.collect(Times(coef)))


def transpose_times(source: Source, values: Array) -> Array:
    """Return ``X' values``."""
    return source.sum(TransposeTimes(values))


def gram(source: Source, weights: Array) -> Array:
    """Return ``X' diag(weights) X``."""
    return source.sum(Gram(weights))


def weights(source: Source) -> Array:
    """Return the weights of all rows."""
    return joined(source.collect(Weights()))
