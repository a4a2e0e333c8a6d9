"""Which columns are combinations of others, spelled in their names."""

from __future__ import annotations

import numpy as np

from lineal.algebra import lapack
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Basis:
    """A maximal independent set among some columns, and for each other column the combination that is zero.

    ``null_space`` has one column per dependency d: ``X d = 0`` in every row, to rounding.

    >>> basis = Basis(np.array([0, 1]), np.array([2]), np.array([[0.0], [-1.0], [1.0]]), ("(intercept)", "a", "b"))
    >>> basis.spelled()
    'b = a'
    >>> basis.dependencies()
    [{'a': -1.0, 'b': 1.0}]
    >>> basis.minimum_norm(np.array([[5.0], [2.0], [0.0]]), intercept=True).ravel()
    array([5., 1., 1.])
    """

    independent: Index
    dependent: Index
    null_space: Array
    names: tuple[str, ...]

    @staticmethod
    def plain(gram: Array, columns: Index, names: tuple[str, ...]) -> Basis | None:
        """Return the basis that a pivoted Cholesky factor of the gram suggests, weights rounded to simple fractions.

        It is a suggestion: dependencies between indicator columns come out exactly, others have to be found with more
        digits. None where the factor sees no dependency.
        """
        part = gram[np.ix_(columns, columns)]
        diagonal = np.diagonal(part)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        upper, pivot, rank, _ = lapack.dpstrf(part * scale[:, None] * scale, tol=1e-10)
        order, rank = pivot - 1, int(rank)
        if rank == len(columns):
            return None
        kept, left = order[:rank], order[rank:]
        weights = (
            lapack.solve_triangular(np.triu(upper)[:rank, :rank], upper[:rank, rank:])
            if rank
            else np.zeros((0, len(left)))
        )
        weights = weights * scale[kept, None] / scale[left]
        simple = np.round(64.0 * weights) / 64.0
        null_space = np.zeros((len(names), len(left)))
        null_space[columns[kept]] = -np.where(
            np.abs(weights - simple) <= 1e-6 * np.maximum(1.0, np.abs(weights)), simple, weights
        )
        null_space[columns[left], np.arange(len(left))] = 1.0
        return Basis(np.sort(columns[kept]), np.sort(columns[left]), null_space, names)

    def dependencies(self) -> list[dict[str, float]]:
        """Return each dependency as weights by column name; the weighted sum of the columns is zero."""
        return [
            {self.names[j]: float(direction[j]) for j in np.flatnonzero(direction)} for direction in self.null_space.T
        ]

    def spelled(self) -> str:
        """Return the first dependencies as equations between column names."""
        lines = []
        for dependency in self.dependencies()[:3]:
            *others, (name, own) = dependency.items()
            shares = [(other, -weight / own) for other, weight in others]
            terms = [other if share == 1.0 else f"{share:.4g} * {other}" for other, share in shares]
            if len(terms) > 6:
                terms[5:] = [f"{len(terms) - 5} more terms"]
            lines.append(f"{name} = {' + '.join(terms) if terms else 0}")
        more = len(self.dependent) - len(lines)
        return "; ".join(lines) + (f"; and {more} more" if more else "")

    def minimum_norm(self, coef: Array, *, intercept: bool) -> Array:
        """Return the point of the flat ``coef + null space`` of least norm, the intercept not counted."""
        first = 1 if intercept else 0
        step, *_ = np.linalg.lstsq(self.null_space[first:], coef[first:], rcond=None)
        return np.asarray(coef - self.null_space @ step)
