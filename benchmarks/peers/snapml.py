"""snapml: multi-threaded dual coordinate ascent for logistic and hinge rows."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class Snapml(Peer):
    """LogisticRegression, SupportVectorMachine(regularizer = n strength).

    The intercept is a penalized column, made cheap by its scaling.
    """

    name = "snapml"
    distribution = "snapml"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the dual method with several scalings of the intercept; the primal one reports no intercept at all."""
        if problem.task == "predict":
            return [[{"tol": 1e-3, "intercept_scaling": 1.0}]]
        if problem.task == "csv":
            return "reads no tables; its own one-hot rows would be scikit-learn's"
        if problem.loss in ("huber", "huber-scale", "absolute"):
            return "has squared, logistic and hinge losses only"
        if problem.penalty == "l1":
            return "its l1 fits are primal and report no intercept" if problem.ones else "has no paths"
        if problem.loss == "squared":
            return "dual coordinate ascent does not reach 1e-10"
        if problem.loss == "softmax":
            return "fits several classes one against the rest, another objective"
        scales = (1.0, 3.0, 10.0, 30.0) if problem.ones else (1.0,)
        return [tolerances("tol", intercept_scaling=scale) for scale in scales]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit with all cores."""
        from snapml import LogisticRegression, SupportVectorMachine

        threads, kind = len(os.sched_getaffinity(0)), LogisticRegression
        if problem.loss.endswith("hinge"):
            kind, setting = SupportVectorMachine, {**setting, "loss": problem.loss.replace("-", "_")}
        model = kind(
            regularizer=data.y.size * data.strength,
            fit_intercept=problem.ones,
            n_jobs=threads,
            max_iter=1000,
            random_state=0,
            **setting,
        )
        return model.fit(data.X, data.y)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return snapml's coefficients in our shape; ``intercept_`` is the weight of the scaled column of ones."""
        intercept = np.ravel(fitted.intercept_) * fitted.intercept_scaling if problem.ones else np.zeros(1)
        return np.ravel(fitted.coef_)[:, None], intercept
