"""Kernel machines with the Gaussian kernel exp(-|x - z|^2 / columns): what is fitted, and how good a result is, in numpy.

``svc``: C = 1; the duality gap of coefficients and intercept, as a share of what the best intercept alone leaves to gain.
``kridge`` (alpha = 1) and ``gp`` (noise 0.1, hyperparameters given): how far (K + alpha 1) a is from y, as a share of y.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data

C = 1.0
ALPHAS = {"kridge": 1.0, "gp": 0.1}
BLOCK = 2_000

Solution = tuple[np.ndarray, float]


def gamma(data: Data) -> float:
    """Return the parameter of the kernel."""
    return 1.0 / float(data.X.shape[1])


def solution(task: str, fitted: Any, rows: int) -> Solution:
    """Return the coefficients of all rows and the intercept of an estimator with scikit-learn's attributes."""
    if task == "svc":
        coef = np.zeros(rows)
        coef[fitted.support_] = np.ravel(fitted.dual_coef_)
        return coef, float(fitted.intercept_[0])
    return np.ravel(fitted.dual_coef_ if task == "kridge" else fitted.alpha_), 0.0


def strayed(task: str, data: Data, found: Solution) -> float:
    """Return how far a solution is from the optimum, at most (``svc``), or from the equations it solves."""
    coef, intercept = found
    scores = _product(np.asarray(data.X, dtype=np.float64), gamma(data), coef)
    if task != "svc":
        return float(np.linalg.norm(scores + ALPHAS[task] * coef - data.y) / np.linalg.norm(data.y))
    sides = np.where(data.y > 0, 1.0, -1.0)
    share = sides * coef
    if share.min() < -1e-9 or share.max() > C * (1 + 1e-9) or abs(coef.sum()) > 1e-6 * np.abs(coef).sum():
        return 1.0
    norm = float(coef @ scores)
    primal = 0.5 * norm + C * float(np.maximum(1.0 - sides * (scores + intercept), 0.0).sum())
    dual = float(share.sum()) - 0.5 * norm
    nothing = 2.0 * C * float(min((sides > 0).sum(), (sides < 0).sum()))
    return (primal - dual) / (nothing - dual)


def by_hand(data: Data) -> Solution:
    """Solve (K + 1) a = y as one does with LAPACK."""
    from scipy.linalg.lapack import dposv

    X = np.asarray(data.X, dtype=np.float64)
    K = np.exp(-gamma(data) * _distances(X, X))
    K[np.diag_indices(len(K))] += ALPHAS["kridge"]
    _, coef, info = dposv(K, data.y, lower=1, overwrite_a=1)
    if info != 0:
        raise ArithmeticError("K + 1 has no factor")
    return coef, 0.0


def _distances(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    square = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2.0 * (X @ Z.T)
    return np.maximum(square, 0.0)


def _product(X: np.ndarray, scale: float, coef: np.ndarray) -> np.ndarray:
    starts = range(0, len(X), BLOCK)
    return np.concatenate([np.exp(-scale * _distances(X[i : i + BLOCK], X)) @ coef for i in starts])
