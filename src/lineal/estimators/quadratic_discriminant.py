"""Quadratic discriminant analysis with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from lineal.errors import InputError
from lineal.estimators.discriminant import Discriminant, Groups
from lineal.estimators.parameters import flag, number
from lineal.generative.class_densities import ClassDensities
from lineal.generative.discriminant import Quadratic, Whitening
from lineal.generative.posterior import Joint
from lineal.generative.scatter import covariances
from lineal.ground.arrays import Array
from lineal.model.model import Model


@dataclass(eq=False, kw_only=True, repr=False)
class QuadraticDiscriminantAnalysis(Discriminant):
    """Classes with normal densities: ``log p(k) - 1/2 log |C_k| - 1/2 (x - m_k)' C_k^-1 (x - m_k)``.

    A covariance without an inverse is refused unless ``reg_param`` or ``shrinkage`` gives it one. Whether it has one is
    asked in columns of variance 1, so that units do not matter. scikit-learn's QuadraticDiscriminantAnalysis with its
    parameters and attributes; docs/generative.md says what differs.

    Parameters
    ----------
    solver : "svd", or "eigen", which takes ``shrinkage``; both are solved in the same way.
    shrinkage : None, "auto" (Ledoit and Wolf) or a share from 0 to 1.
    priors : the probabilities of the classes; None counts them.
    reg_param : r of ``(1 - r) C_k + r I`` ("svd").
    store_covariance : whether to keep ``covariance_``.
    tol : the standard deviation, in columns of standard deviation 1, up to which a direction counts as not varying.
    covariance_estimator : an estimator with ``covariance_``, for "eigen".

    >>> import numpy as np
    >>> X = np.array([[-1.0, 0.0], [-2.0, -1.0], [-3.0, 1.0], [1.0, 0.0], [2.0, 1.0], [2.0, 3.0]])
    >>> QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[-0.5, 0.0]]).tolist()
    [0]
    """

    solver: str = "svd"
    shrinkage: Any = None
    priors: Any = None
    reg_param: float = 0.0
    store_covariance: bool = False
    tol: float = 1.0e-4
    covariance_estimator: Any = None

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a mean and a covariance for every class from rows X of classes y."""
        self._check_shrinkage(("svd", "eigen"))
        stored, tol = flag("store_covariance", self.store_covariance), number("tol", self.tol)
        share = number("reg_param", self.reg_param, most=1.0)
        X, self.classes_, codes, _ = self._rows(X, y, None)
        if len(self.classes_) < 2:
            raise InputError(
                f"The number of classes has to be greater than one. Got {len(self.classes_)} class: "
                f"{self.classes_.tolist()}."
            )
        groups = self._grouped(X, codes, None)
        single = np.flatnonzero(groups.sums.rows < 2)
        if len(single):
            label = self.classes_.tolist()[int(single[0])]
            raise InputError(
                f"y has only 1 sample in class {label}, covariance is ill defined; leave the class out, or use GaussianNB or "
                "LinearDiscriminantAnalysis, which share what they learn of variances."
            )
        self.priors_ = self._prior_of(groups.weight)
        matrices = self._matrices(X, groups, share)
        self.means_ = groups.mean + groups.low
        self._quadratic = Quadratic(
            groups.mean, groups.low, tuple(self._whitened(k, matrices[k], tol) for k in range(len(matrices)))
        )
        if stored:
            self.covariance_ = list(matrices)
        pairs = [np.linalg.eigh(matrix) for matrix in matrices]
        self.scalings_ = [np.ascontiguousarray(values[::-1]) for values, _ in pairs]
        self.rotations_ = [np.ascontiguousarray(axes[:, ::-1]) for _, axes in pairs]
        self._sums = groups.sums
        self.verdict_ = self._counted(groups.sums)
        return self

    def _matrices(self, X: Any, groups: Groups, share: float) -> Array:
        """Return the covariance of every class, as it is to be inverted."""
        if self.covariance_estimator is not None:
            return np.array([self._estimated(X, groups.codes, k) for k in range(len(groups.weight))])
        each = covariances(groups.scatter, groups.weight, self.shrinkage)
        return (1.0 - share) * each + share * np.eye(each.shape[1]) if self.solver == "svd" else each

    def _whitened(self, k: int, matrix: Array, tol: float) -> Whitening:
        whitening = Whitening.of(matrix, tol**2)
        if not whitening.full:
            remedy = "reg_param, such as 0.01" if self.solver == "svd" else "shrinkage='auto'"
            raise InputError(
                f"The covariance matrix of class {self.classes_.tolist()[k]} is not full rank: of {len(matrix)} directions "
                f"{whitening.rank} vary. Give {remedy}, drop columns, or use LinearDiscriminantAnalysis."
            )
        return whitening

    def _stated(self) -> dict[str, object]:
        share = float(self.reg_param) if self.solver == "svd" else 0.0
        return {"method": "qda", **super()._stated(), **({"reg_param": share} if share else {})}

    def _joint(self, X: Any) -> Joint:
        with np.errstate(divide="ignore"):
            prior = np.log(self.priors_)
        return Joint(self._quadratic.log_density(np.asarray(X, dtype=np.float64)) + prior)

    def decision_function(self, X: Any) -> Array:
        """Return ``log p(k, x)`` of every class, up to what all share; of two classes the second's less the first's."""
        joint = self._checked_joint(X).score
        return np.asarray(joint[:, 1] - joint[:, 0]) if len(self.classes_) == 2 else joint

    @property
    def model_(self) -> Model:  # type: ignore[override]
        """The same classifier as a lineal Model, to save, to show and to predict with."""
        self._check_known()
        names, own = self._names(), self._quadratic
        matrices = np.array([one.matrix for one in own.whitening])
        sizes = np.array([one.log_determinant for one in own.whitening])
        densities = ClassDensities(
            names, tuple(map(str, self.classes_.tolist())), tuple(range(len(names))), (-1,) * len(names), own.mean, own.low,
            whitening=matrices, log_determinant=sizes,
        )  # fmt: skip
        return self._density_model(densities, self.priors_, self._sums)
