"""python-glmnet: the Fortran code of Friedman, Hastie and Tibshirani for lasso paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class Glmnet(Peer):
    """ElasticNet, LogitNet(lambda_path = strengths); glmnet divides the target by its spread, the wrapper undoes it."""

    name = "python-glmnet"
    distribution = "python-glmnet"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return one line of thresholds."""
        if problem.penalty == "l1":
            return [tolerances("tol")]
        return "is for l1 penalties"

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit all strengths without cross-validation."""
        from glmnet import ElasticNet, LogitNet

        kind = ElasticNet if problem.points else LogitNet
        strengths = np.array(data.facts.get("strengths", [data.strength]))
        model = kind(
            alpha=1.0,
            lambda_path=strengths,
            standardize=False,
            fit_intercept=problem.ones,
            n_splits=0,
            max_iter=1_000_000,
            **setting,
        )
        return model.fit(data.X, data.y)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return coefficients, one column for each strength."""
        if problem.points:
            return fitted.coef_path_, np.zeros(1)
        return np.asarray(fitted.coef_path_).reshape(-1, 1), np.ravel(fitted.intercept_path_)
