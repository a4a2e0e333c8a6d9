"""Naive Bayes of normal densities, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.estimators.generative import Stream, given_prior, refuse_edited
from lineal.estimators.labels import Codes
from lineal.estimators.parameters import number
from lineal.generative.class_densities import ClassDensities
from lineal.generative.class_sums import ClassSums, class_sums
from lineal.generative.gaussian import Gaussians
from lineal.generative.moments import moments
from lineal.generative.posterior import Joint
from lineal.ground.arrays import Array
from lineal.model.model import Model


@dataclass(eq=False, kw_only=True, repr=False)
class GaussianNB(Stream):
    """Naive Bayes of normal densities: ``log p(k) + sum_j log N(x_j; theta_kj, var_kj)``.

    Every mean and variance is the double next to the exact one, however far columns are from zero and in whatever parts the
    rows came. scikit-learn's GaussianNB with its parameters and attributes.

    Parameters
    ----------
    priors : the probabilities of the classes; None counts them.
    var_smoothing : the share of the largest variance of a column that is added to all variances.

    >>> import numpy as np
    >>> X, y = np.array([[-1.0], [-3.0], [2.0], [4.0]]) + 1e9, np.array([0, 0, 1, 1])
    >>> model = GaussianNB().fit(X, y)
    >>> (model.theta_ - 1e9).ravel().tolist(), model.var_.round(3).ravel().tolist()
    ([-2.0, 3.0], [1.0, 1.0])
    >>> model.predict_proba([[1e9]]).round(4).tolist()
    [[0.9241, 0.0759]]
    """

    priors: Any = None
    var_smoothing: float = 1e-9

    def _check_parameters(self) -> None:
        number("var_smoothing", self.var_smoothing)

    def _count(self, X: Any, codes: Codes, weight: Array | None) -> ClassSums:
        return class_sums(self._source(X, codes, weight), len(self.classes_), squares=True)

    def _conclude(self) -> None:
        classes = moments(self._sums)
        self.class_count_, self.theta_, self._rest = classes.weight, classes.mean.copy(), (classes.mean, classes.low)
        self.epsilon_ = float(self.var_smoothing * np.max(classes.spread, initial=0.0))
        self.var_ = classes.variance + self.epsilon_
        self._variance = self.var_.copy()
        prior = given_prior("priors", self.priors, len(self.classes_)) if self.priors is not None else None
        self.class_prior_ = self.class_count_ / np.sum(self.class_count_) if prior is None else prior
        flat = (self.var_ == 0.0) & (classes.spread > 0.0) & (self.class_count_ > 0.0)[:, None]
        if flat.any():
            k, j = np.argwhere(flat)[0]
            raise InputError(
                f"column {self._names()[j]!r} has variance zero in class {self.classes_.tolist()[k]!r}, where its density "
                "would be infinite; give var_smoothing above 0, such as 1e-9."
            )
        self.verdict_ = self._counted(self._sums)

    def _stated(self) -> dict[str, object]:
        prior = {} if self.priors is None else {"prior": self.class_prior_.tolist()}
        return {"method": "gaussian", "variance": float(self.var_smoothing), **prior}

    def _joint(self, X: Any) -> Joint:
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        low = (
            self._rest[1] if np.array_equal(self.theta_, self._rest[0]) else None
        )  # edited means have no further digits
        density = Gaussians(self.theta_, self.var_, low).log_density(np.asarray(X, dtype=np.float64))
        return Joint(prior + density)

    @property
    def model_(self) -> Model:  # type: ignore[override]
        """The same classifier as a lineal Model, to save, to show and to predict with."""
        names, (mean, low) = self._names(), self._rest
        refuse_edited(not np.array_equal(self.theta_, mean), "theta_")
        refuse_edited(not np.array_equal(self.var_, self._variance), "var_")
        labels = tuple(map(str, self.classes_.tolist()))
        densities = ClassDensities(
            names, labels, tuple(range(len(names))), (-1,) * len(names), self.theta_, low, self.var_
        )
        return self._density_model(densities, self.class_prior_, self._sums)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
