"""The scikit-learn door: its estimators by name and parameter, with a verdict on every fit."""

from __future__ import annotations

from lineal.estimators.bayes import BayesianRidge
from lineal.estimators.counts import PoissonRegressor
from lineal.estimators.huber import HuberRegressor
from lineal.estimators.lasso import ElasticNet, Lasso
from lineal.estimators.linear import LinearRegression, Ridge
from lineal.estimators.logistic import LogisticRegression
from lineal.estimators.quantile import QuantileRegressor
from lineal.estimators.sparsemax import SparsemaxClassifier
from lineal.estimators.stochastic import SGDClassifier, SGDRegressor
from lineal.estimators.svm import LinearSVC, LinearSVR

__all__ = [
    "BayesianRidge",
    "ElasticNet",
    "HuberRegressor",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "SGDClassifier",
    "SGDRegressor",
    "SparsemaxClassifier",
]
