"""scikit-learn: every row; logistic rows with each solver that fits them, the fastest one counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.data import NUMBERS, Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class ScikitLearn(Peer):
    """LinearRegression, Ridge(alpha = n strength), LogisticRegression(C = 1 / (n strength))."""

    name = "scikit-learn"
    distribution = "scikit-learn"
    module = "sklearn"
    package = "sklearn.linear_model"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return solvers by loss, the likely fastest first; least squares has no tolerance that matters."""
        if problem.task in ("predict", "import") or problem.loss == "squared":
            return [[{}]]
        if problem.name == "logit-sparse":
            solvers = ("newton-cg", "lbfgs", "liblinear-dual")
        elif problem.loss == "softmax":
            solvers = ("newton-cg", "lbfgs")
        else:
            solvers = ("newton-cholesky", "newton-cg", "lbfgs")
        lines = [tolerances("tol", solver=solver) for solver in solvers]
        if problem.task == "csv":
            return [tolerances("tol", solver="lbfgs"), tolerances("tol", solver="newton-cholesky")]
        return lines

    def estimator(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return the estimator whose objective is 2n F (ridge), F / strength (logistic)."""
        from importlib import import_module

        models = import_module(self.package)
        rows = data.y.size
        if problem.loss == "squared":
            return models.Ridge(alpha=rows * data.strength) if data.strength else models.LinearRegression()
        solver, extra = setting.get("solver", "lbfgs"), {}
        if solver == "liblinear-dual":
            # liblinear charges the intercept; a large scaling makes that charge small
            solver, extra = "liblinear", {"dual": True, "intercept_scaling": 10.0, "random_state": 0}
        return models.LogisticRegression(
            C=1.0 / (rows * data.strength), solver=solver, tol=setting.get("tol", 1e-4), max_iter=20_000, **extra
        )

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit; a table is read by pandas, coded by OneHotEncoder and scaled."""
        with warnings.catch_warnings():
            # that a tolerance was not reached is for the common objective to say, not for a warning
            warnings.simplefilter("ignore")
            if problem.task == "csv":
                return self._fit_table(problem, data, setting)
            return self.estimator(problem, data, setting).fit(data.X, data.y)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return scikit-learn's coefficients in our shape; a table's in units of its columns."""
        if problem.task == "csv":
            scale = fitted.named_steps["scale"].scale_
            names = [name.split("__")[1] for name in fitted.named_steps["code"].get_feature_names_out()]
            model = fitted.named_steps["fit"]
            coef = dict(zip((_level(name) for name in names), model.coef_[0] / scale, strict=True))
            return coef, model.intercept_
        return np.atleast_2d(fitted.coef_).T, np.atleast_1d(fitted.intercept_)

    def _fit_table(self, problem: Problem, data: Data, setting: Setting) -> Any:
        import pandas as pd
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        frame = pd.read_csv(data.path)
        y = (frame.pop("label") == "yes").to_numpy(dtype=np.float64)
        code = OneHotEncoder(drop="first", dtype=np.float64)
        columns = [name for name in frame.columns if name not in NUMBERS]
        code_all = ColumnTransformer([("n", "passthrough", list(NUMBERS)), ("c", code, columns)], sparse_threshold=1.0)
        # centring would make the dummies dense; the intercept takes the means up, so the objective is the same
        steps = [
            ("code", code_all),
            ("scale", StandardScaler(with_mean=False)),
            ("fit", self.estimator(problem, data, setting)),
        ]
        return Pipeline(steps).fit(frame, y)


def _level(name: str) -> str:
    """Turn OneHotEncoder's ``c0_L0001`` into ``c0=L0001``."""
    return name.replace("_", "=", 1)
