"""numpy and LAPACK by hand: what a person who knows the mathematics writes in ten lines."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from benchmarks import commands, kernel_machines
from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class ByHand(Peer):
    """Centred normal equations with Cholesky, lstsq, Newton, L-BFGS of scipy, plain or on whitened columns."""

    name = "by hand"
    distribution = "numpy"
    tasks: ClassVar[tuple[str, ...]] = (*Peer.tasks, "kridge", "import")

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return methods by problem."""
        if problem.task == "csv":
            return "nobody writes this by hand"
        if problem.task in ("predict", "kridge", "import"):
            return [[{}]]
        if problem.penalty == "l1" or problem.loss in ("hinge", "absolute"):
            return "nobody writes this by hand"
        if problem.loss == "huber-scale":
            return "L-BFGS on coefficients and scale is what scikit-learn does"
        if problem.row == "ols-bad":
            return [[{"method": "lstsq", "rcond": rcond}] for rcond in (None, 0.0)]
        if problem.loss == "squared":
            return [[{"method": "cholesky"}]]
        if problem.loss == "huber":
            return [tolerances("tol", method="lbfgs"), tolerances("tol", method="whitened")]
        if problem.loss == "logistic" and not problem.sparse:
            return [tolerances("tol", method="newton")]
        return [tolerances("tol", method="lbfgs")]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return coefficients and intercept."""
        if problem.task == "import":
            return commands.run("-c", "import numpy")
        if problem.task == "kridge":
            return kernel_machines.by_hand(data)
        method = setting.get("method", "newton")
        if method == "lstsq":
            A = np.empty((data.X.shape[0], data.X.shape[1] + 1))
            A[:, 0], A[:, 1:] = 1.0, data.X
            b = np.linalg.lstsq(A, data.y, rcond=setting["rcond"])[0]
            return b[1:, None], b[:1]
        if method == "cholesky":
            return _cholesky(data)
        if method == "newton":
            return _newton(data, setting.get("tol", 1e-8))
        if method == "whitened":
            return _whitened(problem, data, setting["tol"])
        return _lbfgs(problem, data, setting["tol"])

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return what fit returned."""
        return fitted

    def predictor(self, problem: Problem, fitted: Any) -> Any:
        """Return 1 / (1 + exp(-(x b + b0)))."""
        coef, intercept = fitted[0][:, 0].copy(), float(fitted[1][0])
        return lambda X: 1.0 / (1.0 + np.exp(-(X @ coef + intercept)))


def _cholesky(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Solve (X'X - n m m' + n strength I) b = X'y - n m mean(y)."""
    from scipy.linalg.lapack import dposv

    X, y, n = data.X, data.y, data.y.size
    mean, centre = X.mean(axis=0), y.mean()
    gram = X.T @ X
    gram -= n * np.outer(mean, mean)
    gram.flat[:: gram.shape[0] + 1] += n * data.strength
    _, b, _ = dposv(gram, X.T @ y - n * centre * mean)
    return b[:, None], np.array([centre - mean @ b])


def _newton(data: Data, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method with a ones column, until half the squared decrement is below tol."""
    n, p = data.X.shape
    A = np.empty((n, p + 1))
    A[:, 0], A[:, 1:] = 1.0, data.X
    ridge = np.full(p + 1, data.strength)
    ridge[0] = 0.0
    b = np.zeros(p + 1)
    for _ in range(50):
        mean = 1.0 / (1.0 + np.exp(-(A @ b)))
        gradient = A.T @ (mean - data.y) / n + ridge * b
        hessian = (A * (mean * (1.0 - mean))[:, None]).T @ A / n + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        b -= step
        if 0.5 * (gradient @ step) <= tol:
            break
    return b[1:, None], b[:1]


def _loss(problem: Problem, y: np.ndarray, eta: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the mean loss and the slope of every row, for one output."""
    from scipy.special import expit

    if problem.loss == "huber":
        near = np.clip(eta - y, -problem.threshold, problem.threshold)
        return np.mean(near * (eta - y - 0.5 * near)), near[:, None]
    if problem.loss == "squared-hinge":
        short = np.maximum(1.0 - (2.0 * y - 1.0) * eta, 0.0)
        return np.mean(short * short), (-2.0 * (2.0 * y - 1.0) * short)[:, None]
    return np.mean(np.logaddexp(0.0, eta) - y * eta), (expit(eta) - y)[:, None]


def _lbfgs(problem: Problem, data: Data, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """scipy's L-BFGS on the mean loss, gradient tolerance tol."""
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    X, y, n, p = data.X, data.y, data.X.shape[0], data.X.shape[1]
    k = int(y.max()) + 1 if problem.loss == "softmax" else 1
    one = float(problem.ones)
    rows = np.arange(n)

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        b = flat.reshape(p + 1, k)
        eta = X @ b[1:].astype(X.dtype) + b[0]
        if k == 1:
            loss, slope = _loss(problem, y, eta[:, 0])
        else:
            log_p = log_softmax(eta, axis=1)
            loss = -np.mean(log_p[rows, y])
            slope = np.exp(log_p)
            slope[rows, y] -= 1.0
        slope /= n
        gradient = np.vstack([one * slope.sum(axis=0), X.T @ slope.astype(X.dtype) + data.strength * b[1:]])
        return loss + 0.5 * data.strength * np.sum(b[1:] ** 2), gradient.ravel()

    options = {"maxiter": 20_000, "maxfun": 50_000, "gtol": tol, "ftol": 0.0}
    b = minimize(value, np.zeros((p + 1) * k), jac=True, method="L-BFGS-B", options=options).x.reshape(p + 1, k)
    return b[1:], b[0]


def _whitened(problem: Problem, data: Data, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """L-BFGS from the least squares solution, in coordinates in which the columns are uncorrelated."""
    from scipy.optimize import minimize

    X, y, n = data.X, data.y, data.y.size
    mean = X.mean(axis=0)
    factor = np.linalg.cholesky(X.T @ X / n - np.outer(mean, mean))
    start = np.append(y.mean(), np.linalg.solve(factor, y @ X / n - y.mean() * mean))

    def slopes(point: np.ndarray) -> tuple[np.ndarray, float]:
        b = np.linalg.solve(factor.T, point[1:])
        return b, point[0] - mean @ b

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        b, intercept = slopes(point)
        loss, slope = _loss(problem, y, X @ b + intercept)
        total = slope.sum()
        gradient = np.linalg.solve(factor, slope[:, 0] @ X - total * mean)
        return loss, np.append(total, gradient) / n

    options = {"maxiter": 20_000, "gtol": tol, "ftol": 0.0}
    b, intercept = slopes(minimize(value, start, jac=True, method="L-BFGS-B", options=options).x)
    return b[:, None], np.array([intercept])
