"""skglm: working sets with Anderson extrapolation, compiled by numba in every process."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class Skglm(Peer):
    """Lasso, SparseLogisticRegression(alpha = strength): lineal's objective word for word."""

    name = "skglm"
    distribution = "skglm"
    slow = "numba compiles it for many seconds in every process; name it with --peers to run it in other sizes"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return one line of tolerances on the conditions of optimality."""
        if problem.penalty == "l1":
            return [tolerances("tol")]
        if problem.loss in ("hinge", "huber", "absolute"):
            return "fits no intercept with this loss" if problem.loss == "hinge" else "is for penalties that make zeros"
        return "is for penalties that make zeros"

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit; a path begins every fit at the one before."""
        from skglm import Lasso, SparseLogisticRegression

        if not problem.points:
            return SparseLogisticRegression(alpha=data.strength, **setting).fit(data.X, data.y)
        model = Lasso(fit_intercept=False, warm_start=True, **setting)
        found = np.empty((data.X.shape[1], len(data.facts["strengths"])))
        for k, strength in enumerate(data.facts["strengths"]):
            model.alpha = strength
            found[:, k] = model.fit(data.X, data.y).coef_
        return found

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return coefficients, one column for each strength."""
        if problem.points:
            return fitted, np.zeros(1)
        return np.ravel(fitted.coef_)[:, None], np.ravel(fitted.intercept_)
