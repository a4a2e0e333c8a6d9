"""Which columns are combinations of others, spelled in their names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Basis:
    """A maximal independent set among some columns, and for each other column the combination that is zero.

    ``null_space`` has one column per dependency d: ``X d = 0`` in every row, to rounding.

    >>> basis = Basis(np.array([0, 1]), np.array([2]), np.array([[0.0], [-1.0], [1.0]]), ("(intercept)", "a", "b"))
    >>> basis.dependencies()
    [{'a': -1.0, 'b': 1.0}]
    >>> basis.minimum_norm(np.array([[5.0], [2.0], [0.0]]), intercept=True).ravel()
    array([5., 1., 1.])
    """

    independent: Index
    dependent: Index
    null_space: Array
    names: tuple[str, ...]

    def dependencies(self) -> list[dict[str, float]]:
        """Return each dependency as weights by column name; the weighted sum of the columns is zero."""
        return [
            {self.names[j]: float(direction[j]) for j in np.flatnonzero(direction)} for direction in self.null_space.T
        ]

    def spelled(self) -> str:
        """Return the first dependencies as equations between column names."""
        lines = []
        for dependency in self.dependencies()[:3]:
            *others, (name, _) = dependency.items()
            terms = [f"{-weight:.4g} * {other}" if weight != -1.0 else other for other, weight in others]
            lines.append(f"{name} = {' + '.join(terms) if terms else 0}")
        more = len(self.dependent) - len(lines)
        return "; ".join(lines) + (f"; and {more} more" if more else "")

    def minimum_norm(self, coef: Array, *, intercept: bool) -> Array:
        """Return the point of the flat ``coef + null space`` of least norm, the intercept not counted."""
        first = 1 if intercept else 0
        step, *_ = np.linalg.lstsq(self.null_space[first:], coef[first:], rcond=None)
        return np.asarray(coef - self.null_space @ step)
