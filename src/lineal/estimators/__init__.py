"""The scikit-learn door: its estimators by name and parameter, with a verdict on every fit."""

from __future__ import annotations

from lineal.estimators.counts import PoissonRegressor
from lineal.estimators.lasso import ElasticNet, Lasso
from lineal.estimators.linear import LinearRegression, Ridge
from lineal.estimators.logistic import LogisticRegression

__all__ = ["ElasticNet", "Lasso", "LinearRegression", "LogisticRegression", "PoissonRegressor", "Ridge"]
