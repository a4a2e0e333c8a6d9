"""The losses row by row: value, slope, curvature and Fenchel-Young mismatch, accurate also where they are tiny."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import EPS, Array, times, total

Index = npt.NDArray[np.intp]


def excess(v: Array) -> Array:
    """Return h(v) = (1 + v) log(1 + v) - v >= 0, by its series where the formula would cancel.

    >>> excess(np.array([0.0, 1e-9, 1.0])).round(25)
    array([0.00000000e+00, 5.00000000e-19, 3.86294361e-01])
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        direct = (1.0 + v) * np.log1p(v) - v
    series = sum((-1.0) ** m * v**m / (m * (m - 1)) for m in range(10, 1, -1))
    return np.where(np.abs(v) < 0.02, series, direct)


@dataclass(frozen=True)
class Problem:
    """The training rows of positive weight: design, target, q = weight / weight sum, offset; and the penalty lam.

    ``numbers`` are their places among all training rows, counted from 0.
    """

    loss: str
    x: Array
    y: Array
    q: Array
    offset: Array
    lam: Array
    intercept: bool
    numbers: Index

    @property
    def outputs(self) -> int:
        """Number of scores per row."""
        return int(self.y.shape[1])

    @cached_property
    def uncharged(self) -> Index:
        """Columns that the penalty does not see."""
        return np.flatnonzero(self.lam == 0.0)

    def at(self, coef: Array) -> Point:
        """Return everything about one point."""
        return Point(self, coef)


@dataclass(frozen=True)
class Point:
    """Coefficients, and what follows from them row by row."""

    problem: Problem
    coef: Array

    @cached_property
    def eta(self) -> Array:
        """Return X b + offset with twice the digits."""
        return times(self.problem.x, self.coef, self.problem.offset)

    @cached_property
    def mean(self) -> Array:
        """Return the predicted mean: eta, a probability, or class probabilities."""
        if self.problem.loss == "squared":
            return self.eta
        if self.problem.loss == "logistic":
            small = np.exp(-np.abs(self.eta))
            return np.asarray(np.where(self.eta >= 0, 1.0, small) / (1.0 + small))
        powers = np.exp(self.eta - self.eta.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    @cached_property
    def rest(self) -> Array:
        """Return 1 - mean of each output, without cancellation (logistic and softmax)."""
        if self.problem.loss == "logistic":
            small = np.exp(-np.abs(self.eta))
            return np.asarray(np.where(self.eta >= 0, small, 1.0) / (1.0 + small))
        others = self.mean @ (1.0 - np.eye(self.problem.outputs))
        return np.asarray(others)

    @cached_property
    def value(self) -> Array:
        """Return the loss of each row."""
        y, eta = self.problem.y, self.eta
        if self.problem.loss == "squared":
            return np.asarray(0.5 * np.sum((eta - y) ** 2, axis=1))
        if self.problem.loss == "logistic":
            margin = ((2.0 * y - 1.0) * eta)[:, 0]
            return np.asarray(np.log1p(np.exp(-np.abs(margin))) + np.maximum(-margin, 0.0))
        top = eta.max(axis=1, keepdims=True)
        own = np.sum(y * (eta - top), axis=1)
        powers = np.exp(eta - top)
        powers[np.arange(len(eta)), eta.argmax(axis=1)] = 0.0  # the largest is exactly 1: log(1 + the others)
        return np.asarray(np.log1p(powers.sum(axis=1)) - own)

    @cached_property
    def slope(self) -> Array:
        """Return d loss / d eta, accurate where it is tiny."""
        if self.problem.loss == "squared":
            return self.eta - self.problem.y
        return np.where(self.problem.y > 0.5, -self.rest, self.mean)

    @cached_property
    def objective(self) -> float:
        """Return F(b)."""
        penalty = 0.5 * self.problem.lam[:, None] * self.coef**2
        return total(np.concatenate([self.problem.q * self.value, penalty.ravel()]))

    @cached_property
    def allowance(self) -> float:
        """Return how far a plain float64 evaluation of F(b) may be from the true value: scores rounded, exp and log 8 EPS."""
        p = self.problem
        blur = (p.x.shape[1] + 4) * EPS * (np.abs(p.x) @ np.abs(self.coef) + np.abs(p.offset))
        moved = np.sum(np.abs(self.slope) * blur + 0.5 * blur**2, axis=1)
        return 32 * EPS * abs(self.objective) + total(p.q * moved)

    @cached_property
    def noise(self) -> Array:
        """Return a bound on the rounding error of each slope as computed here."""
        p = self.problem
        if p.loss == "squared":
            return np.asarray(2 * EPS * (np.abs(self.eta) + np.abs(p.y)))
        size = 1.0 + np.abs(self.eta).max(axis=1, keepdims=True)
        return np.asarray(8 * EPS * (np.abs(self.slope) + self.weight * size))

    @cached_property
    def weight(self) -> Array:
        """Return the diagonal of the curvature W of each row."""
        return np.ones_like(self.eta) if self.problem.loss == "squared" else self.mean * self.rest

    def curved(self, u: Array) -> Array:
        """Return W u row by row."""
        if self.problem.loss == "squared":
            return u
        if self.problem.loss == "logistic":
            return self.weight * u
        return np.asarray(self.mean * (u - np.sum(self.mean * u, axis=1, keepdims=True)))

    def mismatch(self, u: Array) -> tuple[float, float]:
        """Return sum_i q_i [loss + loss* - theta.eta] for theta = slope - W u, and the least 1 + v."""
        if self.problem.loss == "squared":
            return total(self.problem.q * 0.5 * np.sum(u**2, axis=1)), 1.0
        if self.problem.loss == "logistic":
            weight, v = np.hstack([self.mean, self.rest]), np.hstack([-self.rest * u, self.mean * u])
        else:
            weight, v = self.mean, -(u - np.sum(self.mean * u, axis=1, keepdims=True))
        if not np.all(v > -1.0):
            return float("inf"), float(np.min(1.0 + v))
        return total(self.problem.q * np.sum(weight * excess(v), axis=1)), float(np.min(1.0 + v))
