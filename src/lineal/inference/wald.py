"""Wald's test: how far estimates are from what a hypothesis says, in units of their covariance."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.inference.hypothesis import HypothesisTest
from lineal.model.model import Model

DEPENDENT_SHARE: Final = 1e-11
"""Eigenvalues of a correlation matrix below this share of the largest belong to restrictions that repeat others."""


@dataclass(frozen=True)
class Estimates:
    """Coefficients, output-major, with their covariance and the degrees of freedom of an estimated noise (None: known)."""

    values: Array
    covariance: Array
    left: float | None

    @staticmethod
    def of(model: Model) -> Estimates:
        """Return those of a fit on its own columns, refusing a fit that has no standard errors."""
        model.refuse_summary()
        if model.loss.estimates_noise and model.coef.shape[1] > 1:
            raise InputError("models of several targets have no one test for all of them; fit the targets one by one.")
        return Estimates(model.coef.T.reshape(-1), model.covariance(), model.likelihood().freedom)

    def distance(self, matrix: Array, values: Array | float = 0.0) -> tuple[float, int]:
        """Return ``(L b - r)' (L V L')^+ (L b - r)`` and the rank of ``L V L'``.

        >>> two = Estimates(np.array([2.0, 1.0]), np.eye(2), None)
        >>> two.distance(np.array([[1.0, -1.0]]))
        (0.5, 1)
        """
        apart = matrix @ self.values - values
        spread = matrix @ self.covariance @ matrix.T
        size = np.sqrt(np.maximum(np.diagonal(spread), 0.0))
        live = size > 0.0
        if not live.any():
            return 0.0, 0
        unit = spread[np.ix_(live, live)] / np.outer(size[live], size[live])
        shares, turn = np.linalg.eigh(unit)
        kept = shares > DEPENDENT_SHARE * shares.max()
        along = turn[:, kept].T @ (apart[live] / size[live])
        return float((along**2 / shares[kept]).sum()), int(kept.sum())

    def test(self, name: str, null: str, statistic: float, freedom: int) -> HypothesisTest:
        """Return the test of a distance: F where the noise is estimated, otherwise chi-squared."""
        if self.left is None:
            return HypothesisTest.chi_squared(name, null, statistic, freedom)
        ratio = statistic / freedom if freedom else math.nan
        return HypothesisTest.f(name, null, ratio, freedom, self.left)

    def picked(self, columns: list[int], per_output: int) -> Array:
        """Return the matrix that picks some columns in every output."""
        outputs = len(self.values) // per_output
        places = [k * per_output + j for k in range(outputs) for j in columns]
        return np.eye(len(self.values))[places]
