"""Which columns depend on others: suspected in floating point, and stated only where it holds exactly.

Doubles are exact numbers. A dual point whose gradient is zero on independent columns has a zero gradient on a combination of
them only if the combination holds in every digit: a column that differs from it by one rounding error may gain what any
other may, with a coefficient as large as it takes. So there are two questions. ``suspected`` asks which columns are
combinations up to the rounding of their terms; solvers leave such columns out. ``among`` answers only what is true of the
numbers as they are.
"""

from __future__ import annotations

import math

import numpy as np

from lineal.algebra.basis import Basis
from lineal.algebra.digits import PRIME, orthogonal, pivots
from lineal.algebra.doubled import two_product
from lineal.algebra.integers import floats, whole
from lineal.designs.design import columns_of
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import Deadline
from lineal.ground.records import dataclass
from lineal.problem.part import part_of
from lineal.problem.passes import Dependence, Largest
from lineal.problem.problem import EPS, GRAM_MAX_COLUMNS, Problem
from lineal.sources.source import Block

ROUNDING = 16 * EPS
"""A combination of columns below this, relative to its terms, in every row, is zero but for rounding."""

PART_MAX_COLUMNS = 500
"""Columns that are looked at by themselves, as plain numbers, where all columns together are too many for a gram."""

ELIMINATION_MAX_RANK = 60
"""Up to this rank the weights of a dependency are found in whole numbers: 0.2 s for 60 columns of doubles."""

ELIMINATION_MAX_PRODUCTS = 2_000_000
"""Rows x columns x dependencies up to which those whole numbers are checked: about a second."""


def basis(problem: Problem) -> Basis | None:
    """Return which unpenalized columns are exactly combinations of others; None where that cannot be told."""
    return among(problem, problem.unpenalized)


def among(problem: Problem, columns: Index) -> Basis | None:
    """Return which of some columns are combinations of others of them, exactly and in every row of positive weight.

    None where that cannot be told: some seem to be, but differ from the combination by rounding errors.
    """
    key = columns.tobytes()
    if key not in problem.bases:
        suspects = suspected(problem, columns)
        problem.bases[key] = None if suspects is None else exactly(problem, suspects)
    return problem.bases[key]


def exactly(problem: Problem, suspects: Basis) -> Basis | None:
    """Return the basis if its dependencies hold in every digit, with weights that do where doubles can hold them.

    Three things show it: the weighted sums are exactly zero in every row; there are no more rows than independent
    columns; or, of few columns, whole weights from elimination make every row exactly zero.
    """
    if not len(suspects.dependent) or len(suspects.independent) >= problem.moments.rows:
        return suspects
    if problem.source.sum(Vanish(suspects.null_space)).value == 0.0:
        return suspects
    rank, dependencies = len(suspects.independent), len(suspects.dependent)
    columns = np.union1d(suspects.independent, suspects.dependent)
    if rank > ELIMINATION_MAX_RANK or problem.moments.rows * len(columns) * dependencies > ELIMINATION_MAX_PRODUCTS:
        return None
    rows = np.concatenate(problem.source.collect(Picked(columns)))
    integers = np.array([whole(row) for row in np.unique(rows, axis=0)])
    weights = orthogonal(integers, Deadline.after(math.inf))
    if weights is None or weights.shape[1] != dependencies:
        return None
    _, pivotal = pivots((integers % PRIME).astype(np.int64))
    dependent = np.delete(columns, pivotal)
    null_space = np.zeros_like(suspects.null_space)
    null_space[columns] = np.column_stack([floats(one) for one in weights.T])
    null_space /= null_space[dependent, np.arange(dependencies)]
    return Basis(columns[pivotal], dependent, null_space, suspects.names)


def suspected(problem: Problem, columns: Index) -> Basis | None:
    """Return which of some columns are combinations of others of them, up to the rounding of their terms in every row.

    None where that cannot be told.
    """
    if problem.shape[0] > GRAM_MAX_COLUMNS:
        return _suspected_of_few(problem, columns) if len(columns) <= PART_MAX_COLUMNS else None
    # Curvature is positive at zero scores, so its gram has the rank of the columns.
    hessian = problem.evaluate(np.zeros(problem.shape), hessian=problem.shape[0]).hessian
    assert hessian is not None
    plain = Basis.plain(hessian[0][: problem.shape[0], : problem.shape[0]], columns, problem.source.columns)
    if plain is not None and _nearly(problem, plain.null_space, np.zeros_like(plain.null_space)):
        return plain
    normal = problem.normal if np.array_equal(columns, problem.unpenalized) else problem.normal_of(columns)
    if normal is None:
        return None
    high, low = normal.combinations()
    if not _nearly(problem, high, low):
        return None
    return Basis(np.setdiff1d(columns, normal.dependent), normal.dependent, high, problem.source.columns)


def _suspected_of_few(problem: Problem, columns: Index) -> Basis | None:
    """Return the same of a few columns among too many for a gram, from those columns alone."""
    local = suspected(part_of(problem, columns), np.arange(len(columns)))
    if local is None:
        return None
    null_space = np.zeros((problem.shape[0], local.null_space.shape[1]))
    null_space[columns] = local.null_space
    return Basis(columns[local.independent], columns[local.dependent], null_space, problem.source.columns)


def rounded(problem: Problem) -> Basis | None:
    """Return the dependencies of unpenalized columns that hold up to rounding and not exactly; None if there are none."""
    if basis(problem) is not None:
        return None
    suspects = suspected(problem, problem.unpenalized)
    return suspects if suspects is not None and len(suspects.dependent) else None


def undecided(problem: Problem) -> str:
    """Return why no proof can say which unpenalized columns depend on others."""
    if (dependencies := rounded(problem)) is None:
        return "it could not be told which columns depend on others"
    equations = dependencies.spelled()
    return f"up to rounding, {equations} in every row, and what the difference gains is not known; drop a column or add a penalty"


def _nearly(problem: Problem, high: Array, low: Array) -> bool:
    """Whether these combinations of columns are zero in every row, to the rounding of their terms."""
    return problem.source.sum(Dependence(high, low, ROUNDING)).value <= ROUNDING


@dataclass(frozen=True)
class Vanish:
    """The task that asks whether ``X d`` is exactly zero in every row of positive weight: 0, or 1 where it is not."""

    directions: Array

    def __call__(self, block: Block) -> Largest:
        """Look at one block, some rows at a time."""
        used = np.flatnonzero(self.directions.any(axis=1))
        height = max(1, 1_000_000 // max(1, len(used)))
        for start in range(0, block.n_rows, height):
            stop = min(start + height, block.n_rows)
            cells = columns_of(block.design.slice(start, stop), used)
            if block.weight is not None:
                cells = cells[block.weight[start:stop] > 0.0]
            if not all(_zero(cells, direction) for direction in self.directions[used].T):
                return Largest(1.0)
        return Largest(0.0)


def _zero(cells: Array, direction: Array) -> bool:
    """Whether ``cells @ direction`` is zero in every row: no product and no sum is rounded.

    >>> _zero(np.array([[0.5, 0.25, 0.75]]), np.array([1.0, 1.0, -1.0]))
    True
    >>> _zero(np.array([[0.1, 0.2, 0.3]]), np.array([1.0, 1.0, -1.0]))
    False
    """
    used = np.flatnonzero(direction)
    products, lost = two_product(cells[:, used], direction[used])
    size = np.abs(products)
    # below 1e-250 the error of a product may be no double, and the product counts as rounded
    if np.any((size < 1e-250) & (cells[:, used] != 0.0)) or not np.all(np.isfinite(lost)):
        return False
    if np.any(np.abs(products.sum(axis=1)) > 2 * len(used) * EPS * size.sum(axis=1)):
        return False
    if not lost.any() and np.array_equal(products, np.rint(products)) and size.sum(axis=1).max(initial=0.0) < 2.0**53:
        return not products.sum(axis=1).any()
    return all(math.fsum(row) == 0.0 for row in np.hstack([products, lost]).tolist())


@dataclass(frozen=True)
class Picked:
    """Some columns of a block's rows of positive weight, as plain numbers."""

    columns: Index

    def __call__(self, block: Block) -> Array:
        """Return them."""
        cells = columns_of(block.design, self.columns)
        return cells if block.weight is None else cells[block.weight > 0.0]
