"""Reference optima of the rows with kinks and corners, computed apart from all competitors: numpy and scipy only.

Smooth losses: Newton's method. l1: Newton's method on the coefficients that are not zero, which loses one where a step
would change its sign and gains those that break the conditions of optimality. Losses with corners: the loss
``max_a (a m - w a^2 / 2)``, m the margin or residual, lies at most ``w/2`` below; its a is a dual point, whose bound is the
rounded minimum plus the mean of ``w a^2 / 2``, and w shrinks until that bound is near enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

DIRECT = 400
"""Up to this many columns the whole second derivative is made."""

FEW = 1000
"""Up to this many rows with curvature, a system of their number is made."""


def parts(loss: str, width: float, y: np.ndarray, eta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return value, slope and curvature of every row; ``width`` is Huber's threshold, or how far corners are rounded."""
    sign = 2.0 * y - 1.0
    if loss == "squared":
        return 0.5 * (eta - y) ** 2, eta - y, np.ones_like(eta)
    if loss == "logistic":
        p = 1.0 / (1.0 + np.exp(-np.clip(eta, -700.0, 700.0)))
        return np.logaddexp(0.0, eta) - y * eta, p - y, p * (1.0 - p)
    if loss == "squared-hinge":
        short = np.maximum(1.0 - sign * eta, 0.0)
        return short**2, -2.0 * sign * short, 2.0 * (short > 0.0)
    if loss == "huber":
        near = np.clip(eta - y, -width, width)
        return near * (eta - y - 0.5 * near), near, (np.abs(eta - y) < width).astype(float)
    if loss == "hinge":
        short = 1.0 - sign * eta
        a = np.clip(short / width, 0.0, 1.0) if width else (short > 0.0).astype(float)
        return a * short - 0.5 * width * a**2, -sign * a, ((short > 0.0) & (short < width)) / (width or 1.0)
    if loss == "absolute":
        a = np.clip((eta - y) / width, -0.5, 0.5) if width else 0.5 * np.sign(eta - y)
        return a * (eta - y) - 0.5 * width * a**2, a, (np.abs(eta - y) < 0.5 * width) / (width or 1.0)
    raise ValueError(f"no reference for the loss {loss!r}.")


@dataclass
class Smooth:
    """A smooth objective of ``b``: the columns, and last the intercept where there is one (``ones``)."""

    loss: str
    X: Any
    y: np.ndarray
    strength: float
    width: float = 1.0
    ones: bool = True

    def __post_init__(self) -> None:
        self.n, self.p = self.X.shape
        self.ridge = np.append(np.full(self.p, self.strength), np.zeros(int(self.ones)))

    def start(self) -> np.ndarray:
        """Return zeros."""
        return np.zeros(self.ridge.size)

    def eta(self, b: np.ndarray) -> np.ndarray:
        """Return the scores."""
        return self.X @ b[: self.p] + (b[-1] if self.ones else 0.0)

    def down(self, rows: np.ndarray) -> np.ndarray:
        """Return [X 1]' rows / n."""
        top = self.X.T @ rows
        return np.append(top, rows.sum()) / self.n if self.ones else top / self.n

    def at(self, b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return value, gradient and the curvature of the rows."""
        value, slope, curvature = parts(self.loss, self.width, self.y, self.eta(b))
        total = float(value.mean(dtype=np.longdouble) + 0.5 * np.sum(self.ridge * b * b))
        return total, self.down(slope) + self.ridge * b, curvature

    def step(self, gradient: np.ndarray, curvature: np.ndarray, damping: float) -> np.ndarray:
        """Return H^-1 g, the Hessian a little damped."""
        bent = np.flatnonzero(curvature)
        if hasattr(self.X, "tocsr") and self.strength > 0.0 and self.ones and 0 < bent.size <= FEW:
            return self._by_rows(gradient, curvature[bent], bent)
        if hasattr(self.X, "tocsr") or self.p > DIRECT:
            return self._iterated(gradient, curvature, damping)
        A = np.column_stack([self.X, np.ones(self.n)]) if self.ones else self.X
        H = (A * curvature[:, None]).T @ A / self.n + np.diag(self.ridge)
        H.flat[:: H.shape[0] + 1] += damping * (np.trace(H) / H.shape[0] + np.mean(A * A))
        return np.linalg.solve(H, gradient)

    def _by_rows(self, gradient: np.ndarray, curvature: np.ndarray, bent: np.ndarray) -> np.ndarray:
        """Return H^-1 g by a system of as many equations as rows have curvature (Woodbury), the intercept apart."""
        rows = self.X[bent]
        inner = (rows @ rows.T).toarray()
        inner.flat[:: bent.size + 1] += self.n * self.strength / curvature
        cross = rows.T @ curvature / self.n
        both = np.column_stack([gradient[: self.p], cross])
        both = (both - rows.T @ np.linalg.solve(inner, rows @ both)) / self.strength
        rest = max(curvature.sum() / self.n - float(cross @ both[:, 1]), 1e-300)
        last = (gradient[-1] - float(cross @ both[:, 0])) / rest
        return np.append(both[:, 0] - last * both[:, 1], last)

    def _iterated(self, gradient: np.ndarray, curvature: np.ndarray, damping: float) -> np.ndarray:
        """Return H^-1 g by conjugate gradients, preconditioned by the diagonal."""
        squares = self.X.multiply(self.X) if hasattr(self.X, "multiply") else self.X**2
        diagonal = np.append(squares.T @ curvature, np.full(int(self.ones), curvature.sum())) / self.n + self.ridge
        extra = self.ridge + damping * diagonal + 1e-300
        diagonal = diagonal + damping * diagonal + 1e-300
        step, rest = np.zeros_like(gradient), gradient.copy()
        direction = rest / diagonal
        rho = first = float(rest @ direction)
        for _ in range(1000):
            if rho <= 1e-8 * first or rho == 0.0:
                break
            image = self.down(curvature * self.eta(direction)) + extra * direction
            length = rho / float(direction @ image)
            step += length * direction
            rest -= length * image
            z = rest / diagonal
            rho, before = float(rest @ z), rho
            direction = z + (rho / before) * direction
        return step


def newton(curve: Smooth, b: np.ndarray, accuracy: float) -> tuple[np.ndarray, float]:
    """Return the minimiser and the value, until half the squared decrement is below ``accuracy``."""
    value, gradient, curvature = curve.at(b)
    damping = 1e-12
    for _ in range(500):
        step = curve.step(gradient, curvature, damping)
        decrement = float(gradient @ step)
        if 0.5 * decrement <= accuracy and damping <= 1e-8:
            return b, value
        length = 1.0
        while True:
            trial, slope, bend = curve.at(b - length * step)
            if trial <= value - 1e-4 * length * decrement or length < 1e-4:
                break
            length *= 0.5
        if trial >= value:
            if damping > 1e3 or 0.5 * decrement <= 1e-12 * abs(value):
                return b, value
            damping *= 100.0
            continue
        b, value, gradient, curvature = b - length * step, trial, slope, bend
        damping = max(1e-12, damping * (0.01 if length == 1.0 else 1.0))
    raise RuntimeError(f"the reference for {curve.loss} loss did not converge; its decrement is {decrement}.")


def rounded(loss: str, X: Any, y: np.ndarray, strength: float, accuracy: float, *, ones: bool = True) -> float:
    """Return F* of a loss with corners (``hinge``, ``absolute``), within ``accuracy``."""
    b = np.zeros(X.shape[1] + int(ones))
    width = 2.0 if loss == "hinge" else float(np.std(y))
    best = np.inf
    for _ in range(60):
        curve = Smooth(loss, X, y, strength, width, ones)
        b, low = newton(curve, b, 0.1 * accuracy)
        low += 0.5 * width * float(np.mean(parts(loss, width, y, curve.eta(b))[1] ** 2))
        sharp, _, _ = parts(loss, 0.0, y, curve.eta(b))
        best = min(best, float(sharp.mean(dtype=np.longdouble) + 0.5 * np.sum(curve.ridge * b * b)))
        if best - low <= accuracy:
            return best
        width /= 4.0
    raise RuntimeError(f"the reference for {loss} loss is known to {best - low} only.")


def scaled(X: Any, y: np.ndarray, strength: float, epsilon: float, accuracy: float) -> float:
    """Return the least value over coefficients and scale of Huber's loss with a scale: the mean of t^2 is 1 there."""
    from scipy.optimize import brentq

    b = np.zeros(X.shape[1] + 1)
    found = {"value": np.inf}

    def excess(log_scale: float) -> float:
        nonlocal b
        scale = float(np.exp(log_scale))
        curve = Smooth("huber", X, y, strength * scale, epsilon * scale)
        b, value = newton(curve, b, 1e-2 * accuracy * scale)
        found["value"] = min(found["value"], value / scale + 0.5 * scale)
        slope = parts("huber", epsilon * scale, y, curve.eta(b))[1]
        return float(np.mean((slope / scale) ** 2)) - 1.0

    # the excess falls as the scale grows; the scale of the residuals is at most a little above that of y
    high = float(np.log(np.std(y))) + 1.0
    low = high - 0.5
    while excess(low) < 0.0:
        low -= 0.5
    brentq(excess, low, min(high, low + 0.5), xtol=1e-7)
    return found["value"]


def sparse(loss: str, X: Any, y: np.ndarray, strength: float, *, ones: bool, start: np.ndarray) -> np.ndarray:
    """Return the minimiser of the mean loss plus ``strength |b|_1``."""
    curve = Smooth(loss, X, y, 0.0, ones=ones)
    b = start.copy()
    columns = X.tocsc() if hasattr(X, "tocsc") else X
    before = np.inf
    for tries in range(500):
        value, gradient, _ = curve.at(b)
        gradient, used = gradient[: curve.p], b[: curve.p] != 0.0
        value += strength * float(np.abs(b[: curve.p]).sum())
        broken = np.flatnonzero(~used & (np.abs(gradient) > strength * (1.0 + 1e-9)))
        if broken.size == 0 and tries > 0:
            return b
        # alone, the worst column is sure to help; many at once may push each other out again
        most = max(20, int(used.sum())) if value < before else 1
        before = value
        worst = broken[np.argsort(-np.abs(gradient[broken]))][:most]
        active = np.concatenate([np.flatnonzero(used), worst])
        signs = np.concatenate([np.sign(b[used.nonzero()[0]]), -np.sign(gradient[worst])])
        b = _on_signs(curve, columns, b, active, signs, strength)
    raise RuntimeError(f"the reference for {loss} loss with l1 did not converge.")


def _on_signs(
    curve: Smooth, columns: Any, b: np.ndarray, active: np.ndarray, signs: np.ndarray, strength: float
) -> np.ndarray:
    """Return the minimiser over the active columns with these signs; those that would change theirs are left out."""
    A = columns[:, active]
    A = np.asarray(A.todense()) if hasattr(A, "todense") else A
    A = np.column_stack([A, np.ones(curve.n)]) if curve.ones else A
    signs = np.append(signs, 0.0) if curve.ones else signs
    values = np.append(b[active], b[-1]) if curve.ones else b[active].copy()
    gram = A.T @ A / curve.n if curve.loss == "squared" else None
    kept = np.arange(A.shape[1])
    for _ in range(10 * A.shape[1] + 100):
        if kept.size == 0:
            break
        inside, fixed = A[:, kept], signs[kept]
        _, slope, curvature = parts(curve.loss, 1.0, curve.y, inside @ values[kept])
        gradient = inside.T @ slope / curve.n + strength * fixed
        H = gram[np.ix_(kept, kept)] if gram is not None else (inside * curvature[:, None]).T @ inside / curve.n
        step = -np.linalg.solve(H + 1e-13 * np.trace(H) / len(kept) * np.eye(len(kept)), gradient)
        back = (fixed != 0.0) & (fixed * step < 0.0)
        reach = np.where(back, -values[kept] / np.where(back, step, 1.0), np.inf)
        length = longest = min(1.0, float(reach.min()))
        if gram is None:
            length = _shorter(curve, inside, values[kept], step, strength * fixed, longest, float(gradient @ step))
        values[kept] += length * step
        if length == longest < 1.0:
            gone = reach <= length
            values[kept[gone]] = 0.0
            kept = kept[~gone]
        elif gram is not None or -0.5 * float(gradient @ step) <= 1e-15:
            break
    out = np.zeros_like(b)
    size = len(active)
    out[active] = values[:size]
    if curve.ones:
        out[-1] = values[size]
    return out


def _shorter(
    curve: Smooth,
    inside: Any,
    b: np.ndarray,
    step: np.ndarray,
    signed_strength: np.ndarray,
    length: float,
    slope: float,
) -> float:
    """Return the step's length, halved until the objective falls."""

    def value(at: np.ndarray) -> float:
        return float(parts(curve.loss, 1.0, curve.y, inside @ at)[0].mean() + signed_strength @ at)

    here = value(b)
    while length > 1e-6 and value(b + length * step) > here + 1e-4 * length * slope + 1e-15:
        length *= 0.5
    return length
