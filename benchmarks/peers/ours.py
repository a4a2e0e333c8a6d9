"""lineal, through its public doors with defaults: only the objective's strength and ``tol`` are given."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Data
from benchmarks.epochs import EPOCHS
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem


class Ours(Peer):
    """The estimators, ``lineal.fit`` for a file, paths; the verdict is part of the time."""

    name = "lineal"
    distribution = "lineal"
    module = "lineal"
    tasks: ClassVar[tuple[str, ...]] = (*Peer.tasks, "separable", "words", "text", "epochs", "tiny")

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one setting: tol is the row's target."""
        return [
            [
                {}
                if problem.task in ("predict", "import", "separable", "words", "epochs", "tiny")
                else {"tol": problem.target}
            ]
        ]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit, and read the verdict, which a short fit puts into words when somebody asks for it: it is part of the time."""
        fitted = self._fitted(problem, data, setting)
        getattr(fitted, "verdict_", None)
        return fitted

    def _fitted(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit through the door that the row asks for."""
        import lineal

        if problem.task == "csv":
            return lineal.fit(data.path, "label", model="logistic", penalty=f"ridge:{data.strength!r}", **setting)
        if problem.task == "separable":
            return lineal.separability(data.X, data.y)
        if problem.task == "words":
            return lineal.TextFeatures(weighting="counts", hash_bits=20).fit_transform(data.texts)
        if problem.task == "text":
            X = lineal.TextFeatures(weighting="counts").fit_transform(data.texts)
            return lineal.LogisticRegression(C=1.0 / (data.y.size * data.strength), **setting).fit(X, data.y)
        if problem.task == "epochs":
            model = lineal.Perceptron(max_iter=EPOCHS, shuffle=False, fit_intercept=False, oracle=False)
            return model.fit(data.X, data.y)
        if problem.points:
            return _path(data, setting)
        if problem.loss not in ("squared", "logistic", "softmax") or problem.penalty == "l1":
            return _other(problem, data, setting)
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
        if problem.points:
            return fitted.coef[:, :, 0].T, np.zeros(1)
        if problem.loss == "huber-scale":
            return fitted.coef_, np.array([fitted.intercept_, fitted.scale_])
        return np.atleast_2d(fitted.coef_).T, np.atleast_1d(fitted.intercept_)

    def separable(self, fitted: Any) -> bool | None:
        """Return the answer, which carries its proof."""
        return fitted.separable

    def predictor(self, problem: Problem, fitted: Any) -> Any:
        """Return predict_proba of the estimator; for one row the model's scorer, which validates nothing."""
        if problem.row == "predict-one":
            score = fitted.model_.scorer()
            return lambda row: score(row)[:, 0]
        return super().predictor(problem, fitted)


def _other(problem: Problem, data: Data, setting: Setting) -> Any:
    """Fit a row with kinks or corners."""
    import lineal

    if problem.loss == "huber":
        return lineal.HuberRegressor(epsilon=problem.threshold, alpha=0.0, scale=1.0, **setting).fit(data.X, data.y)
    if problem.loss == "huber-scale":
        return lineal.HuberRegressor(epsilon=problem.threshold, alpha=0.0, **setting).fit(data.X, data.y)
    if problem.loss == "absolute":
        return lineal.QuantileRegressor(alpha=0.0, **setting).fit(data.X, data.y)
    C = 1.0 / (data.y.size * data.strength)
    if problem.loss == "logistic":
        return lineal.LogisticRegression(C=C, l1_ratio=1.0, **setting).fit(data.X, data.y)
    return lineal.LinearSVC(C=C, loss=problem.loss.replace("-", "_"), **setting).fit(data.X, data.y)


def _path(data: Data, setting: Setting) -> Any:
    """Fit a lasso path without an intercept; every point has its verdict."""
    import lineal

    return lineal.path(data.X, data.y, strengths=data.facts["strengths"], fit_intercept=False, **setting)
