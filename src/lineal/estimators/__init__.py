"""The scikit-learn door: its estimators by name and parameter, with a verdict on every fit."""

from __future__ import annotations

try:
    import sklearn  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "the estimators need scikit-learn, which the extra sklearn brings; run: pip install 'lineal[sklearn]'",
        name=error.name,
    ) from None

from lineal.estimators.bayes import BayesianRidge
from lineal.estimators.counts import PoissonRegressor
from lineal.estimators.huber import HuberRegressor
from lineal.estimators.lasso import ElasticNet, Lasso
from lineal.estimators.lasso_cv import ElasticNetCV, LassoCV
from lineal.estimators.linear import LinearRegression, Ridge
from lineal.estimators.logistic import LogisticRegression
from lineal.estimators.logistic_cv import LogisticRegressionCV
from lineal.estimators.perceptron import Perceptron
from lineal.estimators.quantile import QuantileRegressor
from lineal.estimators.ridge_cv import RidgeCV
from lineal.estimators.sparsemax import SparsemaxClassifier
from lineal.estimators.stochastic import SGDClassifier, SGDRegressor
from lineal.estimators.svm import LinearSVC, LinearSVR

__all__ = [
    "BayesianRidge",
    "ElasticNet",
    "ElasticNetCV",
    "HuberRegressor",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "Perceptron",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "SGDClassifier",
    "SGDRegressor",
    "SparsemaxClassifier",
]
