"""What linear and quadratic discriminant analysis share: priors, moments of the classes, covariances as asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lineal.errors import InputError, UnsupportedError
from lineal.estimators.generative import Generative, given_prior
from lineal.estimators.labels import Codes
from lineal.estimators.parameters import number
from lineal.generative.class_sums import ClassSums, class_sums
from lineal.generative.moments import moments
from lineal.generative.scatter import Scatter, scatter
from lineal.ground.arrays import Array
from lineal.sources.memory import Memory


class Groups(NamedTuple):
    """The rows of classes, and what passes learned of them: means as high + low, variances, scatter about the means."""

    source: Memory
    codes: Codes
    sums: ClassSums
    weight: Array
    mean: Array
    low: Array
    scatter: Scatter


class Discriminant(Generative):
    """A classifier by normal densities with covariances."""

    means_: Array
    priors_: Array
    solver: str
    shrinkage: Any
    priors: Any
    covariance_estimator: Any

    def _check_shrinkage(self, solvers: tuple[str, ...]) -> None:
        if self.solver not in solvers:
            raise InputError(f"solver is {self.solver!r}; accepted are {', '.join(map(repr, solvers))}.")
        if not (self.shrinkage is None or self.shrinkage == "auto"):
            number("shrinkage", self.shrinkage, most=1.0)
        if self.shrinkage is not None and self.solver == "svd":
            raise UnsupportedError("shrinkage not supported with 'svd' solver; use solver='eigen'.")
        if self.covariance_estimator is not None and self.solver == "svd":
            raise UnsupportedError("covariance estimator is not supported with svd solver; use solver='eigen'.")
        if self.covariance_estimator is not None and self.shrinkage is not None and self.shrinkage != 0:
            raise InputError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )

    def _grouped(self, X: Any, codes: Codes, weight: Array | None) -> Groups:
        """Look at the rows twice: for means and variances, then for the scatter about them."""
        source = self._source(X, codes, weight)
        sums = class_sums(source, len(self.classes_), squares=True)
        classes = moments(sums)
        spread = scatter(source, classes.mean, classes.low, classes.variance)
        return Groups(source, codes, sums, classes.weight, classes.mean, classes.low, spread)

    def _prior_of(self, weight: Array) -> Array:
        if self.priors is None:
            return np.asarray(weight / np.sum(weight))
        return given_prior("priors", self.priors, len(weight), scaled=True)

    def _stated(self) -> dict[str, object]:
        shrinkage = -1.0 if self.shrinkage == "auto" else float(self.shrinkage or 0.0)
        return {"shrinkage": shrinkage, **({} if self.priors is None else {"prior": self.priors_.tolist()})}

    def _check_known(self) -> None:
        """Refuse a Model whose covariance nobody could compute again."""
        if self.covariance_estimator is not None:
            raise InputError(
                f"the covariance is that of {type(self.covariance_estimator).__name__}, which a model file cannot state so that "
                "it is checked; fit with shrinkage in place of covariance_estimator."
            )

    def _estimated(self, X: Any, codes: Codes, k: int | None) -> Array:
        """Return the covariance that the given estimator finds for one class, or for all rows."""
        rows = X if k is None else X[codes == k]
        self.covariance_estimator.fit(rows)
        if not hasattr(self.covariance_estimator, "covariance_"):
            raise InputError(
                f"{type(self.covariance_estimator).__name__} does not have a covariance_ attribute after fit."
            )
        return np.atleast_2d(np.asarray(self.covariance_estimator.covariance_, dtype=np.float64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
