"""Linear discriminant analysis with scikit-learn's interface."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lineal.errors import InputError
from lineal.estimators.bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from lineal.estimators.discriminant import Discriminant, Groups
from lineal.estimators.intake import blame, features
from lineal.estimators.parameters import count, flag, number
from lineal.generative.class_sums import class_sums
from lineal.generative.discriminant import Linear, Whitening, between
from lineal.generative.moments import moments
from lineal.generative.posterior import Joint
from lineal.generative.scatter import covariances, scatter
from lineal.ground.arrays import Array
from lineal.model.model import Model


@dataclass(eq=False, repr=False)
class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Discriminant):
    """Classes with normal densities that share a covariance C: ``log p(k) + (x - c)' C^-1 d_k - 1/2 d_k' C^-1 d_k``.

    ``d_k`` are the means of the classes less the center c. Directions in which no class varies are left out (C^-1 is then the
    inverse within the span of the others), and the verdict says how many. scikit-learn's LinearDiscriminantAnalysis with
    its parameters and attributes; docs/generative.md says what differs.

    Parameters
    ----------
    solver : "svd", "lsqr" or "eigen": which covariance is meant, as in scikit-learn; "svd" pools all rows, the others weigh
        the covariances of the classes by their priors, and take ``shrinkage``. All are solved in the same way.
    shrinkage : None, "auto" (Ledoit and Wolf) or a share from 0 to 1.
    priors : the probabilities of the classes; None counts them.
    n_components : how many directions ``transform`` returns.
    store_covariance : whether ``solver="svd"`` has ``covariance_``.
    tol : the standard deviation, in columns of standard deviation 1, up to which a direction counts as not varying ("svd").
    covariance_estimator : an estimator with ``covariance_``, for "lsqr" and "eigen".

    >>> import numpy as np
    >>> X, y = np.array([[-1.0, 0.0], [-2.0, -1.0], [1.0, 0.0], [2.0, 1.0]]) + 1e9, np.array([0, 0, 1, 1])
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> model.verdict_.kind, model.predict(X).tolist()
    ('exact', [0, 0, 1, 1])
    """

    solver: str = "svd"
    shrinkage: Any = None
    priors: Any = None
    n_components: int | None = None
    store_covariance: bool = False
    tol: float = 1e-4
    covariance_estimator: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn means and covariance from rows X of classes y; weights count a row so often."""
        self._check_shrinkage(("svd", "lsqr", "eigen"))
        stored, tol = flag("store_covariance", self.store_covariance), number("tol", self.tol)
        X, self.classes_, codes, weight = self._rows(X, y, sample_weight)
        classes = len(self.classes_)
        present = X.shape[0] if weight is None else int(np.count_nonzero(weight))
        if present < 2 or present == classes:
            raise InputError(
                f"there are {present} samples of {classes} classes; The number of samples must be more than the number of "
                "classes, and at least 2: with one row a class there is no variance."
            )
        self._max_components = self._components(classes, X.shape[1])
        groups = self._grouped(X, codes, weight)
        self.priors_ = self._priors(groups.weight)
        covariance = self._covariance(X, groups, stored=stored)
        self.means_ = groups.mean + groups.low
        whitening = Whitening.of(covariance, tol**2 if self.solver == "svd" else None)
        center = np.asarray(self.priors_ @ self.means_)
        offsets = (groups.mean - center) + groups.low
        self._note_directions(X, groups, offsets, whitening, tol)
        self._linear = Linear.of(offsets, center, whitening.matrix, self.priors_)
        self._note_scores(whitening.matrix)
        self._sums = groups.sums
        lost = X.shape[1] - whitening.rank
        more = (
            f"; {lost} direction{'s' if lost > 1 else ''} without variance within the classes left out" if lost else ""
        )
        self.verdict_ = self._counted(groups.sums, more, rank=whitening.rank)
        self._n_features_out = self._max_components
        return self

    def _components(self, classes: int, columns: int) -> int:
        most, asked = min(classes - 1, columns), count("n_components", self.n_components)
        if asked is not None and not 1 <= asked <= most:
            raise InputError(
                f"n_components is {asked}; n_components cannot be larger than min(n_features, n_classes - 1), here {most}, nor "
                "below 1."
            )
        return most if asked is None else asked

    def _priors(self, weight: Array) -> Array:
        prior = self._prior_of(weight)
        total = float(np.sum(prior))
        if abs(total - 1.0) <= 1e-5:
            return prior
        warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=3)
        return prior / total

    def _covariance(self, X: Any, groups: Groups, *, stored: bool) -> Array:
        """Return the covariance within the classes that the solver stands for."""
        total = float(np.sum(groups.weight))
        pooled = np.asarray(np.sum(groups.scatter.matrix, axis=0) / total)
        if self.solver == "svd" and not stored:
            return pooled
        if self.covariance_estimator is None:
            each = covariances(groups.scatter, groups.weight, self.shrinkage)
        else:
            each = np.array([self._estimated(X, groups.codes, k) for k in range(len(groups.weight))])
        self.covariance_ = np.asarray(np.tensordot(self.priors_, each, axes=1))
        return pooled if self.solver == "svd" else self.covariance_

    def _note_directions(self, X: Any, groups: Groups, offsets: Array, whitening: Whitening, tol: float) -> None:
        """Note the directions in which the classes differ most, and how much of their differences each explains."""
        classes, inside = len(offsets), whitening.matrix
        if self.solver == "svd":
            factor = np.sqrt(np.sum(groups.weight) * self.priors_ / max(classes - 1, 1))
            self.scalings_, sizes = between(offsets, inside, factor, tol)
            self.xbar_ = np.asarray(self.priors_ @ self.means_)
        else:
            beyond = self._total(X, groups) - self.covariance_
            values, axes = np.linalg.eigh(inside.T @ beyond @ inside)
            order = np.argsort(values)[::-1]
            sizes, self.scalings_ = values[order], inside @ axes[:, order]
        whole = float(np.sum(sizes))
        self.explained_variance_ratio_ = (sizes / whole if whole > 0.0 else sizes)[: self._max_components]

    def _total(self, X: Any, groups: Groups) -> Array:
        """Return the covariance of all rows about their mean."""
        if self.covariance_estimator is not None:
            return self._estimated(X, groups.codes, None)
        block = groups.source.block
        whole = type(groups.source)(block.design, np.zeros(block.n_rows), block.weight)
        sums = class_sums(whole, 1, squares=True)
        about = moments(sums)
        spread = scatter(whole, about.mean, about.low, about.variance)
        return np.asarray(covariances(spread, about.weight, self.shrinkage)[0])

    def _note_scores(self, inside: Array) -> None:
        """Note coefficients and intercepts for columns as they are; "lsqr" and "eigen" state them about zero."""
        linear = self._linear
        coef = linear.coef
        self._shared: tuple[Array, float] | None = None
        if self.solver != "svd" and len(self.classes_) != 2:
            along = inside @ (inside.T @ linear.center)
            self._shared = along, 0.5 * float(linear.center @ along)
            coef = coef + along[:, None]
        intercept = linear.intercept - linear.center @ linear.coef
        if self._shared is not None:
            intercept = intercept - self._shared[1]
        if len(self.classes_) == 2:
            coef, intercept = coef[:, 1:] - coef[:, :1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = np.ascontiguousarray(coef.T), intercept
        self._noted = self.coef_.copy(), self.intercept_.copy()

    def _stated(self) -> dict[str, object]:
        own = {"cut": float(self.tol) ** 2, "pooled": "rows"} if self.solver == "svd" else {}
        return {"method": "lda", **super()._stated(), **own}

    def _joint(self, X: Any) -> Joint:
        x = np.asarray(X, dtype=np.float64)
        same = np.array_equal(self.coef_, self._noted[0]) and np.array_equal(self.intercept_, self._noted[1])
        if same:
            return Joint(self._linear.scores(x))
        eta = x @ self.coef_.T + self.intercept_  # edited since the fit
        return Joint(np.hstack([np.zeros_like(eta), eta]) if len(self.classes_) == 2 else eta)

    def decision_function(self, X: Any) -> Array:
        """Return the score of the second of two classes, or of every class: ``X coef_' + intercept_``."""
        joint = self._checked_joint(X).score
        if len(self.classes_) == 2:
            return np.asarray(joint[:, 1] - joint[:, 0])
        if self._shared is None:
            return joint
        along, level = self._shared
        return np.asarray(joint + ((np.asarray(X, dtype=np.float64) - self._linear.center) @ along + level)[:, None])

    def transform(self, X: Any) -> Array:
        """Return the rows along the directions in which the classes differ most."""
        if "classes_" not in self.__dict__:
            check_is_fitted(self)
        X = features(self, self._stored(X))
        blame(X)
        rows = np.asarray(X, dtype=np.float64)
        moved = rows - self.xbar_ if self.solver == "svd" else rows
        return np.asarray((moved @ self.scalings_)[:, : self._max_components])

    @property
    def model_(self) -> Model:  # type: ignore[override]
        """The same classifier as a lineal Model, to save, to show and to predict with."""
        self._check_known()
        linear = self._linear
        pair = len(self.classes_) == 2
        coef = (linear.coef[:, 1:] - linear.coef[:, :1]) if pair else linear.coef
        about = (linear.intercept[1:] - linear.intercept[:1]) if pair else linear.intercept
        model = self._linear_model(coef.T, about, self._names(), self._sums)
        return replace(model, arrays={"center": np.concatenate([[0.0], linear.center])})
