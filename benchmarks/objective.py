"""The one objective every result is measured by, and its optimum computed apart from all competitors.

    F(b) = (1/n) sum_i loss(y_i, x_i b + b_0) + (strength/2) sum_j charge_j b_j^2

squared loss r^2/2; logistic log(1 + e^eta) - y eta; softmax logsumexp(eta) - eta_y. Plain numpy in float64
(long double where the columns are nearly dependent); nothing of lineal is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

BLOCK = 20_000


@dataclass(frozen=True)
class Objective:
    """F for given data: ``X`` (rows x columns, dense or CSR), ``y``, loss, strength, charges (None: ones)."""

    loss: str
    X: Any
    y: np.ndarray
    strength: float
    charges: np.ndarray | None = None

    @property
    def outputs(self) -> int:
        """Number of columns of eta."""
        return int(self.y.max()) + 1 if self.loss == "softmax" else 1

    def value(self, coef: np.ndarray, intercept: np.ndarray) -> float:
        """Return F at raw coefficients, shapes ``(columns, outputs)`` and ``(outputs,)``."""
        coef = np.asarray(coef, dtype=np.float64).reshape(self.X.shape[1], -1)
        total = np.longdouble(0.0)
        for start in range(0, self.X.shape[0], BLOCK):
            rows = self.X[start : start + BLOCK]
            rows = rows.astype(np.float64) if rows.dtype != np.float64 else rows
            total += _losses(self.loss, self.y[start : start + BLOCK], rows @ coef + intercept).sum(dtype=np.longdouble)
        charges = 1.0 if self.charges is None else self.charges[:, None]
        return float(total / self.X.shape[0] + 0.5 * self.strength * np.sum(charges * coef**2))

    def null(self) -> float:
        """Return F of the best intercept alone."""
        if self.loss == "squared":
            return 0.5 * float(np.var(self.y, dtype=np.longdouble))
        share = np.bincount(self.y.astype(np.intp)) / self.y.size
        share = share[share > 0]
        return float(-(share * np.log(share)).sum())


def _losses(loss: str, y: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Return the loss of every row."""
    if loss == "squared":
        return 0.5 * (y - eta[:, 0]) ** 2
    if loss == "logistic":
        return np.logaddexp(0.0, eta[:, 0]) - y * eta[:, 0]
    top = eta.max(axis=1, keepdims=True)
    return np.log(np.exp(eta - top).sum(axis=1)) + top[:, 0] - eta[np.arange(y.size), y]


def optimum(objective: Objective, target: float, scale: str) -> float:
    """Return F*, by a method no competitor uses on that problem, to a small fraction of the target."""
    if objective.loss != "squared":
        return _newton(objective, 1e-3 * target)
    if scale == "optimum":
        return _projected(objective)
    return _normal_equations(objective)


def _projected(objective: Objective) -> float:
    """Return F* of unpenalised least squares: y projected off the columns by Gram-Schmidt in long double, twice."""
    basis: list[np.ndarray] = [np.full(objective.y.size, 1.0 / np.sqrt(np.longdouble(objective.y.size)))]
    for j in range(objective.X.shape[1]):
        column = objective.X[:, j].astype(np.longdouble)
        column /= np.sqrt(column @ column)
        for _ in range(2):
            for known in basis:
                column -= (known @ column) * known
        basis.append(column / np.sqrt(column @ column))
    rest = objective.y.astype(np.longdouble)
    for _ in range(2):
        for known in basis:
            rest -= (known @ rest) * known
    return float(0.5 * (rest @ rest) / rest.size)


def _normal_equations(objective: Objective) -> float:
    """Return F* of well-conditioned least squares: centred Gram, solve, refined twice by the true gradient."""
    X, y, n = objective.X, objective.y, objective.X.shape[0]
    mean, centre = X.mean(axis=0), y.mean()
    gram = objective.strength * np.eye(X.shape[1])
    for start in range(0, n, BLOCK):
        rows = X[start : start + BLOCK] - mean
        gram += rows.T @ rows / n
    coef = np.zeros(X.shape[1])
    for _ in range(3):
        gradient = objective.strength * coef
        for start in range(0, n, BLOCK):
            rows = X[start : start + BLOCK] - mean
            gradient -= rows.T @ (y[start : start + BLOCK] - centre - rows @ coef) / n
        coef -= np.linalg.solve(gram, gradient)
    return objective.value(coef[:, None], np.array([centre - mean @ coef]))


class _Curve:
    """Value, gradient and Hessian products of a logistic or softmax objective; the intercept is the last row of b."""

    def __init__(self, objective: Objective) -> None:
        X = objective.X
        self.X = X.astype(np.float64) if X.dtype != np.float64 else X
        self.objective, self.n, self.k = objective, X.shape[0], objective.outputs
        charges = np.ones(X.shape[1]) if objective.charges is None else objective.charges
        self.ridge = objective.strength * np.append(charges, 0.0)[:, None]
        self.squares = self.X.multiply(self.X).tocsr() if hasattr(self.X, "multiply") else None

    def _down(self, rows: np.ndarray, X: Any = None) -> np.ndarray:
        """Return [X 1]' rows / n."""
        X = self.X if X is None else X
        return np.vstack([X.T @ rows, rows.sum(axis=0)]) / self.n

    def at(self, b: np.ndarray) -> tuple[float, np.ndarray]:
        """Return F(b) and its gradient, and keep the probabilities for the products."""
        eta = self.X @ b[:-1] + b[-1]
        y = self.objective.y
        value = float(_losses(self.objective.loss, y, eta).mean(dtype=np.longdouble) + 0.5 * np.sum(self.ridge * b * b))
        if self.k == 1:
            self.p = 1.0 / (1.0 + np.exp(-np.clip(eta, -700, 700)))
            slope = self.p - y[:, None]
        else:
            self.p = np.exp(eta - eta.max(axis=1, keepdims=True))
            self.p /= self.p.sum(axis=1, keepdims=True)
            slope = self.p.copy()
            slope[np.arange(self.n), y] -= 1.0
        return value, self._down(slope) + self.ridge * b

    def times(self, v: np.ndarray) -> np.ndarray:
        """Return the Hessian at the last point times v."""
        u = self.X @ v[:-1] + v[-1]
        mean = self.p * u if self.k == 1 else (self.p * u).sum(axis=1, keepdims=True)
        return self._down(self.p * (u - mean)) + self.ridge * v

    def diagonal(self) -> np.ndarray:
        """Return the diagonal of the Hessian at the last point."""
        w = self.p * (1.0 - self.p)
        if self.squares is not None:
            return self._down(w, self.squares) + self.ridge
        total = np.zeros((self.X.shape[1], self.k))
        for start in range(0, self.n, BLOCK):
            total += (self.X[start : start + BLOCK] ** 2).T @ w[start : start + BLOCK]
        return np.vstack([total, w.sum(axis=0)]) / self.n + self.ridge


def _newton(objective: Objective, accuracy: float) -> float:
    """Return F* by Newton's method with conjugate gradients: until half the squared decrement is below accuracy."""
    curve = _Curve(objective)
    b = np.zeros((curve.X.shape[1] + 1, curve.k))
    value, gradient = curve.at(b)
    null = objective.null()
    for _ in range(100):
        step, decrement = _conjugate_gradients(curve, gradient)
        if 0.5 * decrement <= accuracy * max(null - value, 1e-300):
            return value - 0.5 * decrement
        length = 1.0
        while True:
            trial, slope = curve.at(b - length * step)
            if trial <= value - 1e-4 * length * decrement or length < 1e-8:
                break
            length *= 0.5
        b, value, gradient = b - length * step, trial, slope
    raise RuntimeError(f"the reference for a {objective.loss} problem did not converge; its decrement is {decrement}.")


def _conjugate_gradients(curve: _Curve, gradient: np.ndarray) -> tuple[np.ndarray, float]:
    """Return H^-1 g and g'H^-1 g, to three digits, preconditioned by the diagonal."""
    scale = curve.diagonal()
    step = np.zeros_like(gradient)
    rest = gradient.copy()
    z = rest / scale
    direction, rho = z.copy(), float(np.sum(rest * z))
    first = rho
    for _ in range(500):
        if rho <= 1e-6 * first or rho == 0.0:
            break
        image = curve.times(direction)
        length = rho / float(np.sum(direction * image))
        step += length * direction
        rest -= length * image
        z = rest / scale
        rho, before = float(np.sum(rest * z)), rho
        direction = z + (rho / before) * direction
    return step, float(np.sum(gradient * step))
