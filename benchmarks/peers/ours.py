"""lineal, through its public doors with defaults: only the objective's strength and ``tol`` are given.

Beside it stand an older revision of it, and the command whose result ``lineal verify`` checks.
"""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks import commands, kernel_machines, lookups
from benchmarks.alike import TASKS
from benchmarks.data import MACHINES, Data
from benchmarks.epochs import EPOCHS
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import COMMANDS, Problem


class Ours(Peer):
    """The estimators, ``lineal.fit`` for a file, paths; the verdict is part of the time."""

    name = "lineal"
    distribution = "lineal"
    tasks: ClassVar[tuple[str, ...]] = (
        *Peer.tasks,
        "separable",
        "words",
        "text",
        "epochs",
        "neighbors",
        "counting",
        "tiny",
        *TASKS,
        *MACHINES,
        *COMMANDS,
    )

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one setting: tol is the row's target."""
        return [
            [
                {}
                if problem.task
                in ("predict", "separable", "words", "epochs", "neighbors", "counting", "tiny", *TASKS, *COMMANDS)
                else {"tol": problem.target}
            ]
        ]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit, and read the verdict, which a short fit puts into words when it is asked for: it is part of the time."""
        if problem.task in COMMANDS:
            return _command(problem, data)
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
        if problem.task in MACHINES:
            return _machine(problem, data, setting)
        if problem.task in TASKS:
            from lineal import kernels

            return kernels.read(TASKS[problem.task]).gram(data.texts)
        if problem.task in ("counting", "neighbors"):
            return _looked_up(problem, data)
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
        C = 1.0 / (data.y.size * data.strength)
        return lineal.LogisticRegression(C=C, fit_intercept=problem.ones, **setting).fit(data.X, data.y)

    def prepare(self, problem: Problem, data: Data) -> None:
        """Write the model that is to be verified."""
        if problem.task == "verify":
            commands.fit(data)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return our coefficients; a table's by name."""
        if problem.task == "counting":
            return fitted.feature_log_prob_, None
        if problem.task == "neighbors":
            return fitted[0][: lookups.CHECKED], None
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


class Before(Ours):
    """Another installation of lineal, in the directory that LINEAL_BEFORE names: what a change has gained or lost."""

    name = "before"
    rival = False

    def environment(self) -> dict[str, str]:
        """Return the path on which the other installation comes first."""
        return {"PYTHONPATH": os.environ["LINEAL_BEFORE"]}

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit, if it is the other installation that is found."""
        import lineal

        if not str(lineal.__file__).startswith(os.environ["LINEAL_BEFORE"]):
            raise RuntimeError(f"{lineal.__file__} comes before the installation that LINEAL_BEFORE names.")
        return super().fit(problem, data, setting)

    def version(self) -> str | None:
        """Return the version of the other installation, where one is named."""
        path = os.environ.get("LINEAL_BEFORE", "")
        if not (Path(path) / "lineal").is_dir():
            return None
        known = metadata.distributions(name=self.distribution, path=[path])
        return next((entry.version for entry in known), Path(path).name)

    def absent(self) -> str | None:
        """Return why it cannot run here, or None."""
        return None if self.version() else "LINEAL_BEFORE names no installation (scripts/bench --before REVISION)"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one setting; tiny tables are fitted through private names, which an older revision has elsewhere."""
        return "is measured through public names" if problem.task == "tiny" else super().lines(problem)


class LinealFit(Peer):
    """``lineal fit``, beside which ``lineal verify`` stands."""

    name = "lineal fit"
    distribution = "lineal"
    tasks: ClassVar[tuple[str, ...]] = ("verify",)

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one way."""
        return [[{}]]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return how the command ended."""
        return commands.fit(data)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return nothing: only the end of the command counts."""
        raise NotImplementedError


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
    svm = lineal.LinearSVC(C=C, loss=problem.loss.replace("-", "_"), fit_intercept=problem.ones, **setting)
    return svm.fit(data.X, data.y)


def _command(problem: Problem, data: Data) -> int:
    """Run the command of a row in a process of its own; return how it ended."""
    if problem.task == "import":
        return commands.run("-c", "import lineal")
    if problem.task == "first-fit":
        return commands.first_fit("lineal", data)
    return commands.verify(data) if problem.task == "verify" else commands.fit(data)


def _looked_up(problem: Problem, data: Data) -> Any:
    """Count words, or look up neighbors."""
    import lineal

    if problem.task == "counting":
        return lineal.MultinomialNB().fit(data.X, data.y)
    rows, queries = lookups.parts(data)
    return lineal.NearestNeighbors(n_neighbors=lookups.NEIGHBORS).fit(rows).kneighbors(queries)


def _machine(problem: Problem, data: Data, setting: Setting) -> kernel_machines.Solution:
    """Return the solution of a kernel machine."""
    import lineal
    from lineal.kernels import Gaussian

    gamma = kernel_machines.gamma(data)
    if problem.task == "svc":
        model: Any = lineal.SVC(C=kernel_machines.C, gamma=gamma, **setting)
    elif problem.task == "kridge":
        model = lineal.KernelRidge(kernel_machines.ALPHAS["kridge"], kernel="rbf", gamma=gamma, **setting)
    else:
        model = lineal.GaussianProcessRegressor(Gaussian(gamma), alpha=kernel_machines.ALPHAS["gp"], **setting)
    return kernel_machines.solution(problem.task, model.fit(data.X, data.y), data.y.size)


def _path(data: Data, setting: Setting) -> Any:
    """Fit a lasso path without an intercept; every point has its verdict."""
    import lineal

    return lineal.path(data.X, data.y, strengths=data.facts["strengths"], fit_intercept=False, **setting)
