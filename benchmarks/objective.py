"""The one objective every result is measured by, and its optimum computed apart from all competitors.

    F(b) = (1/n) sum_i loss(y_i, x_i b + b_0) + (strength/2) sum_j factor_j b_j^2        or  strength |b|_1

squared loss r^2/2; logistic log(1 + e^eta) - y eta; softmax logsumexp(eta) - eta_y; hinge (1 - z)_+, squared-hinge its
square, z = eta for class 1 and -eta for class 0; huber r^2/2 up to the threshold T and T |r| - T^2/2 beyond; huber-scale
sigma/2 + sigma huber(r/sigma), sigma the second entry of the intercept; absolute |r|/2. Plain numpy in float64 (long
double where the columns are nearly dependent); nothing of lineal is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import reference

BLOCK = 20_000


@dataclass(frozen=True)
class Objective:
    """F for given data: ``X`` (rows x columns, dense or CSR), ``y``, loss, strength, penalty factors (None: ones)."""

    loss: str
    X: Any
    y: np.ndarray
    strength: float
    penalty_factors: np.ndarray | None = None
    penalty: str = "ridge"
    threshold: float = 0.0
    ones: bool = True

    @property
    def outputs(self) -> int:
        """Number of columns of eta."""
        return int(self.y.max()) + 1 if self.loss == "softmax" else 1

    def value(self, coef: np.ndarray, intercept: np.ndarray) -> float:
        """Return F at raw coefficients, shapes ``(columns, outputs)`` and ``(outputs,)``."""
        coef, intercept = np.asarray(coef, dtype=np.float64).reshape(self.X.shape[1], -1), np.ravel(intercept)
        scale = float(intercept[1]) if self.loss == "huber-scale" else 1.0
        if not scale > 0.0:
            return float("inf")
        total = np.longdouble(0.5 * scale * self.y.size if self.loss == "huber-scale" else 0.0)
        for start in range(0, self.X.shape[0], BLOCK):
            rows = self.X[start : start + BLOCK]
            rows = rows.astype(np.float64) if rows.dtype != np.float64 else rows
            eta = rows @ coef + intercept[: coef.shape[1]]
            total += self.losses(self.y[start : start + BLOCK], eta, scale).sum(dtype=np.longdouble)
        return float(total / self.X.shape[0]) + self._penalty_value(coef)

    def losses(self, y: np.ndarray, eta: np.ndarray, scale: float = 1.0) -> np.ndarray:
        """Return the loss of every row; no corner is rounded."""
        if self.loss == "softmax":
            top = eta.max(axis=1, keepdims=True)
            return np.log(np.exp(eta - top).sum(axis=1)) + top[:, 0] - eta[np.arange(y.size), y]
        loss = self.loss.removesuffix("-scale")
        width = self.threshold if loss == "huber" else 0.0
        return scale * reference.parts(loss, width, y / scale, eta[:, 0] / scale)[0]

    def _penalty_value(self, coef: np.ndarray) -> float:
        """Return what the penalty costs."""
        if self.penalty == "l1":
            return self.strength * float(np.abs(coef).sum())
        penalty_factors = 1.0 if self.penalty_factors is None else self.penalty_factors[:, None]
        return 0.5 * self.strength * float(np.sum(penalty_factors * coef**2))

    def baseline(self) -> float:
        """Return F of the best intercept alone."""
        if not self.ones:
            return self.value(np.zeros((self.X.shape[1], self.outputs)), np.zeros(self.outputs))
        if self.loss in ("huber", "huber-scale", "absolute"):
            return _known(replace(self, X=np.empty((self.y.size, 0))), 1e-12 * float(np.std(self.y)))
        if self.loss == "squared":
            return 0.5 * float(np.var(self.y, dtype=np.longdouble))
        share = np.bincount(self.y.astype(np.intp)) / self.y.size
        if self.loss.endswith("hinge"):
            return float(2.0 * share.min() if self.loss == "hinge" else 4.0 * share[0] * share[1])
        share = share[share > 0]
        return float(-(share * np.log(share)).sum())


def optimum(objective: Objective, target: float, scale: str) -> float:
    """Return F*, by a method no competitor uses on that problem, to a small fraction of the target."""
    if objective.penalty == "l1":
        # down to the strength in a few steps: each start is then near its optimum
        top = largest(objective)
        return path(objective, list(np.geomspace(top, objective.strength, 12)[1:]))[-1]
    if objective.loss not in ("squared", "logistic", "softmax"):
        baseline = objective.baseline()
        rough = _known(objective, 1e-2 * baseline)
        return _known(objective, (1e-2 if objective.loss == "hinge" else 1e-3) * target * (baseline - rough))
    if objective.loss != "squared":
        return _newton(objective, 1e-3 * target)
    if scale == "optimum":
        return _projected(objective)
    return _normal_equations(objective)


def _known(objective: Objective, accuracy: float) -> float:
    """Return F* of a loss that ``reference`` knows, within ``accuracy``."""
    o = objective
    if o.loss in ("hinge", "absolute"):
        return reference.rounded(o.loss, o.X, o.y, o.strength, accuracy, ones=o.ones)
    if o.loss == "huber-scale":
        return reference.scaled(o.X, o.y, o.strength, o.threshold, accuracy)
    curve = reference.Smooth(o.loss, o.X, o.y, o.strength, o.threshold, o.ones)
    return reference.newton(curve, curve.start(), accuracy)[1]


def largest(objective: Objective) -> float:
    """Return the least strength of l1 at which all coefficients are zero."""
    o = objective
    middle = o.y.mean() if o.ones else 0.0
    return float(np.abs(o.X.T @ (o.y - middle)).max()) / o.y.size


def path(objective: Objective, strengths: list[float]) -> list[float]:
    """Return F* at every strength of l1, from the largest to the smallest."""
    o, found = objective, []
    b = np.zeros(o.X.shape[1] + int(o.ones))
    for strength in strengths:
        b = reference.sparse(o.loss, o.X, o.y, strength, ones=o.ones, start=b)
        coef, intercept = (b[:-1], b[-1:]) if o.ones else (b, np.zeros(1))
        found.append(replace(o, strength=strength).value(coef, intercept))
    return found


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
    mean, centre = X.mean(axis=0, dtype=np.float64), y.mean()
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
        penalty_factors = np.ones(X.shape[1]) if objective.penalty_factors is None else objective.penalty_factors
        self.last = float(objective.ones)
        # without an intercept, its coefficient stays at zero under a curvature of one
        self.ridge = np.append(objective.strength * penalty_factors, 1.0 - self.last)[:, None]
        self.squares = self.X.multiply(self.X).tocsr() if hasattr(self.X, "multiply") else None

    def _down(self, rows: np.ndarray, X: Any = None) -> np.ndarray:
        """Return [X 1]' rows / n."""
        X = self.X if X is None else X
        return np.vstack([X.T @ rows, self.last * rows.sum(axis=0)]) / self.n

    def at(self, b: np.ndarray) -> tuple[float, np.ndarray]:
        """Return F(b) and its gradient, and keep the probabilities for the products."""
        eta = self.X @ b[:-1] + b[-1]
        y = self.objective.y
        value = float(self.objective.losses(y, eta).mean(dtype=np.longdouble) + 0.5 * np.sum(self.ridge * b * b))
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
        return np.vstack([total, self.last * w.sum(axis=0)]) / self.n + self.ridge


def _newton(objective: Objective, accuracy: float) -> float:
    """Return F* by Newton's method with conjugate gradients: until half the squared decrement is below accuracy."""
    curve = _Curve(objective)
    b = np.zeros((curve.X.shape[1] + 1, curve.k))
    value, gradient = curve.at(b)
    baseline = objective.baseline()
    for _ in range(100):
        step, decrement = _conjugate_gradients(curve, gradient)
        if 0.5 * decrement <= accuracy * max(baseline - value, 1e-300):
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
