"""What scikit-learn has and lineal does not: each name, and what to use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lineal.errors import LinealError

_LARS = "lineal.Lasso(alpha) finds any point of that path exactly, lineal.LassoCV chooses one, lineal.path walks it"
_SUBSETS = "lineal.Lasso or lineal.LassoCV choose columns with a proof; no greedy choice has one"
_ROBUST = "lineal.HuberRegressor or lineal.QuantileRegressor(alpha=0) resist outliers, with a proof"
_ONE_CLASS = "it has no target; lineal's models have one. Take scikit-learn's"
_RADIUS = "lineal.KNeighborsClassifier and lineal.KNeighborsRegressor take a number of neighbors"
_GAMMA = "lineal.PoissonRegressor has the same mean e^eta and a proof; lineal.LinearRegression on log y another noise"
_TASKS = "lineal.MultiTaskLasso has the norm over targets, lineal.ElasticNet the square; each of them is proven"
_PASSIVE = "lineal.Perceptron is its limit, with a verdict on separability; lineal.SGDClassifier learns streams"
_PATH = "lineal.path walks it, every point with a verdict; lineal.LassoCV and lineal.ElasticNetCV choose a point"
_NU = "with C in place of nu, lineal.SVC and lineal.SVR have the same solutions"

ABSENT: Final[Mapping[str, str]] = {
    "ARDRegression": "lineal.BayesianRidge has one variance for all coefficients; lineal.LassoCV leaves columns out",
    "GammaRegressor": _GAMMA,
    "GaussianProcessClassifier": "lineal.KernelLogisticRegression is its mode, proven; lineal.SVC another margin",
    "Lars": _LARS,
    "LarsCV": _LARS,
    "LassoLars": _LARS,
    "LassoLarsCV": _LARS,
    "LassoLarsIC": _LARS,
    "MultiTaskElasticNet": _TASKS,
    "MultiTaskElasticNetCV": _TASKS,
    "NuSVC": _NU,
    "NuSVR": _NU,
    "OneClassSVM": _ONE_CLASS,
    "OrthogonalMatchingPursuit": _SUBSETS,
    "OrthogonalMatchingPursuitCV": _SUBSETS,
    "PassiveAggressiveClassifier": _PASSIVE,
    "PassiveAggressiveRegressor": _PASSIVE,
    "RANSACRegressor": _ROBUST,
    "RadiusNeighborsClassifier": _RADIUS,
    "RadiusNeighborsRegressor": _RADIUS,
    "SGDOneClassSVM": _ONE_CLASS,
    "TheilSenRegressor": _ROBUST,
    "TweedieRegressor": _GAMMA,
    "enet_path": _PATH,
    "lars_path": _LARS,
    "lars_path_gram": _LARS,
    "lasso_path": _PATH,
    "orthogonal_mp": _SUBSETS,
    "orthogonal_mp_gram": _SUBSETS,
    "ridge_regression": "lineal.Ridge(alpha).fit(X, y).coef_ is what it returns",
}


class AbsentError(LinealError, ImportError):
    """A name of scikit-learn's that lineal does not have. An ImportError, so that ``from lineal import Lars`` says it, too.

    >>> str(AbsentError("RANSACRegressor"))[:61]
    'lineal has no RANSACRegressor, which scikit-learn has: lineal'
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"lineal has no {name}, which scikit-learn has: {ABSENT[name]}.")
