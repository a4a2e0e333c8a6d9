"""lineal, through its public doors with defaults: only the objective's strength and ``tol`` are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem


class Ours(Peer):
    """LinearRegression, Ridge, LogisticRegression, ``lineal.fit`` for a file; the verdict is part of the time."""

    name = "lineal"
    distribution = "lineal"
    module = "lineal"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one setting: tol is the row's target."""
        return [[{} if problem.task in ("predict", "import") else {"tol": problem.target}]]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit; every fit ends with a verdict."""
        import lineal

        if problem.task == "csv":
            return lineal.fit(data.path, "label", model="logistic", penalty=f"ridge:{data.strength!r}", **setting)
        if problem.loss == "squared":
            if data.strength:
                return lineal.Ridge(alpha=data.y.size * data.strength, **setting).fit(data.X, data.y)
            return lineal.LinearRegression(**setting).fit(data.X, data.y)
        return lineal.LogisticRegression(C=1.0 / (data.y.size * data.strength), **setting).fit(data.X, data.y)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return our coefficients; a table's by name."""
        if problem.task == "csv":
            named = dict(zip(fitted.columns, fitted.coef[:, 0], strict=True))
            return named, named["(intercept)"]
        return np.atleast_2d(fitted.coef_).T, np.atleast_1d(fitted.intercept_)

    def predictor(self, problem: Problem, fitted: Any) -> Any:
        """Return predict_proba of the estimator; for one row the model's scorer, which validates nothing."""
        if problem.name == "predict-one":
            score = fitted.model_.scorer()
            return lambda row: score(row)[:, 0]
        return super().predictor(problem, fitted)
