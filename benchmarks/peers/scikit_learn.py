"""scikit-learn: every row but one; where several of its solvers fit, the fastest one counts (liblinear among them)."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from benchmarks import commands, kernel_machines, lookups
from benchmarks.data import MACHINES, Data
from benchmarks.epochs import EPOCHS
from benchmarks.makers.tables import NUMBERS
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import COMMANDS, Problem

OTHER_ROWS: dict[str, list[Line] | str] = {
    "lasso": [tolerances("tol")],
    "lasso-sparse": [tolerances("tol")],
    "l1-logit": [tolerances("tol", solver="liblinear", intercept_scaling=scale) for scale in (10.0, 100.0)]
    + [tolerances("tol", solver="saga")],
    "hinge": [tolerances("tol", dual=True, intercept_scaling=scale) for scale in (1.0, 3.0, 10.0)],
    "sq-hinge": [
        tolerances("tol", dual=dual, intercept_scaling=scale) for dual in (True, False) for scale in (10.0, 100.0)
    ],
    "huber": "has Huber's loss with a fitted scale only",
    "huber-scale": [tolerances("tol")],
    "median": [[{"solver": "highs"}]],
}
"""Settings of the rows with kinks and corners; liblinear penalizes the intercept, a large scaling makes that cheap."""


BY_TASK: dict[str, list[Line]] = {
    "svc": [tolerances("tol")],
    **{task: [[{}]] for task in ("epochs", "counting", "kridge", "gp", *COMMANDS)},
}
"""Settings of the tasks that have the same for every row."""


class ScikitLearn(Peer):
    """LinearRegression, Ridge(alpha = n strength), LogisticRegression(C = 1 / (n strength)) and their like."""

    name = "scikit-learn"
    distribution = "scikit-learn"
    package = "sklearn.linear_model"
    tasks: ClassVar[tuple[str, ...]] = (
        *Peer.tasks,
        "words",
        "text",
        "epochs",
        "neighbors",
        "counting",
        *MACHINES,
        *COMMANDS,
    )

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return solvers by loss, the likely fastest first; least squares has no tolerance that matters."""
        if problem.row == "perceptron-classes":
            return "updates one class against the rest, which is another algorithm"
        if problem.task == "verify":
            return "has no verdict that could be checked"
        if problem.task == "neighbors":
            return [[{"algorithm": "brute"}]] if problem.row == "knn" else [[{"algorithm": "kd_tree"}]]
        if problem.task in BY_TASK:
            return BY_TASK[problem.task]
        if problem.row in OTHER_ROWS:
            return _with_corners(problem)
        if problem.task == "words":
            return [[{"vectorizer": "HashingVectorizer"}], [{"vectorizer": "CountVectorizer"}]]
        if problem.task == "text":
            return [tolerances("tol", solver=solver) for solver in ("lbfgs", "newton-cg", "liblinear-dual")]
        if problem.task == "predict" or problem.loss == "squared":
            return [[{}]]
        if problem.sparse:
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
        models = import_module(self.package)
        rows = data.y.size
        if problem.task == "epochs":
            return models.Perceptron(max_iter=EPOCHS, tol=None, shuffle=False, fit_intercept=False)
        if problem.row in OTHER_ROWS:
            return _other(models, problem, data, setting)
        if problem.loss == "squared":
            return models.Ridge(alpha=rows * data.strength) if data.strength else models.LinearRegression()
        solver, extra = setting.get("solver", "lbfgs"), {}
        if solver == "liblinear-dual":
            # liblinear penalizes the intercept; a large scaling makes that small
            solver, extra = "liblinear", {"dual": True, "intercept_scaling": 10.0, "random_state": 0}
        C, tol = 1.0 / (rows * data.strength), setting.get("tol", 1e-4)
        fixed = {"fit_intercept": problem.ones, "max_iter": 20_000, **extra}
        return models.LogisticRegression(C=C, solver=solver, tol=tol, **fixed)

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit; a table is read by pandas, coded by OneHotEncoder and scaled."""
        if problem.task == "first-fit":
            return commands.first_fit(self.package, data)
        if problem.task in COMMANDS:
            program = "import sklearn" if problem.task == "import" else commands.SCIKIT_LEARN
            return commands.run("-c", program, data.path)
        with warnings.catch_warnings():
            # that a tolerance was not reached is for the common objective to say, not for a warning
            warnings.simplefilter("ignore")
            if problem.task == "neighbors":
                return self.neighbors(data, setting)
            if problem.task == "counting":
                return (
                    import_module(self.package.partition(".")[0] + ".naive_bayes").MultinomialNB().fit(data.X, data.y)
                )
            if problem.task == "csv":
                return self._fit_table(problem, data, setting)
            if problem.task in MACHINES:
                return _machine(self.package.partition(".")[0], problem, data, setting)
            if problem.task == "words":
                return _words(data, setting["vectorizer"])
            if problem.task == "text":
                return self.estimator(problem, data, setting).fit(_words(data, "CountVectorizer"), data.y)
            if problem.points:
                return self.path(data, setting)
            return self.estimator(problem, data, setting).fit(data.X, data.y)

    def neighbors(self, data: Data, setting: Setting) -> Any:
        """Return distances and row numbers of the nearest rows."""
        rows, queries = lookups.parts(data)
        models = import_module(self.package.partition(".")[0] + ".neighbors")
        return (
            models.NearestNeighbors(n_neighbors=lookups.NEIGHBORS, n_jobs=-1, **setting).fit(rows).kneighbors(queries)
        )

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return scikit-learn's coefficients in our shape; a table's in units of its columns."""
        if problem.task == "counting":
            return fitted.feature_log_prob_, None
        if problem.task == "neighbors":
            return fitted[0][: lookups.CHECKED], None
        if problem.task == "csv":
            scale = fitted.named_steps["scale"].scale_
            names = [name.split("__")[1] for name in fitted.named_steps["code"].get_feature_names_out()]
            model = fitted.named_steps["fit"]
            coef = dict(zip((_level(name) for name in names), model.coef_[0] / scale, strict=True))
            return coef, model.intercept_
        if problem.points:
            return fitted, np.zeros(1)
        if problem.loss == "huber-scale":
            return fitted.coef_, np.array([fitted.intercept_, fitted.scale_])
        return np.atleast_2d(fitted.coef_).T, np.atleast_1d(fitted.intercept_)

    def path(self, data: Data, setting: Setting) -> np.ndarray:
        """Return the coefficients at every strength, one column each."""
        from sklearn.linear_model import lasso_path

        return lasso_path(data.X, data.y, alphas=data.facts["strengths"], max_iter=100_000, **setting)[1]

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


def _with_corners(problem: Problem) -> list[Line] | str:
    """Return the settings of a row of ``OTHER_ROWS``; without an intercept, one scaling of it is as good as another."""
    lines = OTHER_ROWS[problem.row]
    if isinstance(lines, str) or problem.points or problem.ones:
        return lines
    least = min(line[0].get("intercept_scaling", 0.0) for line in lines)
    return [line for line in lines if line[0].get("intercept_scaling", 0.0) == least]


def _machine(package: str, problem: Problem, data: Data, setting: Setting) -> kernel_machines.Solution:
    """Return the solution of a kernel machine."""
    from importlib import import_module

    gamma = kernel_machines.gamma(data)
    if problem.task == "svc":
        model = import_module(f"{package}.svm").SVC(C=kernel_machines.C, gamma=gamma, **setting)
    elif problem.task == "kridge":
        ridge = import_module(f"{package}.kernel_ridge").KernelRidge
        model = ridge(alpha=kernel_machines.ALPHAS["kridge"], kernel="rbf", gamma=gamma)
    else:
        processes = import_module(f"{package}.gaussian_process")
        kernel = processes.kernels.RBF(length_scale=(0.5 / gamma) ** 0.5)
        model = processes.GaussianProcessRegressor(kernel, alpha=kernel_machines.ALPHAS["gp"], optimizer=None)
    return kernel_machines.solution(problem.task, model.fit(data.X, data.y), data.y.size)


def _words(data: Data, vectorizer: str) -> Any:
    """Return the counts of words, hashed or by a vocabulary; words of one letter count, as in every adapter."""
    from sklearn.feature_extraction import text

    pattern = r"(?u)\b\w+\b"
    if vectorizer == "HashingVectorizer":
        hashing = text.HashingVectorizer(norm=None, alternate_sign=False, token_pattern=pattern)
        return hashing.transform(data.texts)
    return text.CountVectorizer(token_pattern=pattern, dtype=np.float64).fit_transform(data.texts)


def _other(models: Any, problem: Problem, data: Data, setting: Setting) -> Any:
    """Return the estimator of a row with kinks or corners."""
    from sklearn.svm import LinearSVC

    if problem.loss == "huber-scale":
        return models.HuberRegressor(epsilon=problem.threshold, alpha=0.0, max_iter=20_000, **setting)
    if problem.loss == "absolute":
        return models.QuantileRegressor(quantile=0.5, alpha=0.0, **setting)
    C = 1.0 / (data.y.size * data.strength)
    if problem.loss == "logistic":
        return models.LogisticRegression(C=C, l1_ratio=1.0, max_iter=20_000, random_state=0, **setting)
    fixed = {"loss": problem.loss.replace("-", "_"), "fit_intercept": problem.ones, "random_state": 0}
    return LinearSVC(C=C, max_iter=100_000, **fixed, **setting)


def _level(name: str) -> str:
    """Turn OneHotEncoder's ``c0_L0001`` into ``c0=L0001``."""
    return name.replace("_", "=", 1)
