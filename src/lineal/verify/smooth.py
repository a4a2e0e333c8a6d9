"""Losses that bend everywhere: squared, logistic, softmax, Poisson. Dual points are ``theta = slope - W u``.

Such a point is known by u, and what it costs in closed form, without cancellation:

    squared   |u|^2 / 2
    logistic  p h(-(1 - p) u) + (1 - p) h(p u)                                 h(v) = (1 + v) log(1 + v) - v
    softmax   sum_k p_k h(-(u_k - sum_l p_l u_l))
    Poisson   m h(-u)                                                         p, m the predicted means
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lineal.verify.arithmetic import EPS, Array
from lineal.verify.dual import Dual

NAMES = ("squared", "logistic", "softmax", "poisson")


def excess(v: Array) -> Array:
    """Return h(v) = (1 + v) log(1 + v) - v >= 0, by its series where the formula would cancel.

    >>> excess(np.array([0.0, 1e-9, 1.0])).round(25)
    array([0.00000000e+00, 5.00000000e-19, 3.86294361e-01])
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        direct = (1.0 + v) * np.log1p(v) - v
    small = np.where(np.abs(v) < 0.02, v, 0.0)
    series = np.zeros_like(small)
    for m in range(10, 1, -1):  # sum of (-v)^m / (m (m - 1)), Horner's way
        series = 1.0 / (m * (m - 1)) - small * series
    return np.where(np.abs(v) < 0.02, small * small * series, direct)


@dataclass(frozen=True)
class SmoothRows:
    """The loss of every row at its scores."""

    name: str
    y: Array
    eta: Array

    @property
    def coupled(self) -> bool:
        """Whether the curvature of a row mixes its outputs, and does not see what all of them share."""
        return self.name == "softmax"

    @cached_property
    def mean(self) -> Array:
        """The predicted mean: eta, a probability, class probabilities, or a rate."""
        if self.name == "squared":
            return self.eta
        if self.name == "poisson":
            return np.exp(self.eta)
        if self.name == "logistic":
            small = np.exp(-np.abs(self.eta))
            return np.asarray(np.where(self.eta >= 0, 1.0, small) / (1.0 + small))
        powers = np.exp(self.eta - self.eta.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    @cached_property
    def rest(self) -> Array:
        """1 - mean of each output, without cancellation (logistic and softmax)."""
        if self.name == "logistic":
            small = np.exp(-np.abs(self.eta))
            return np.asarray(np.where(self.eta >= 0, small, 1.0) / (1.0 + small))
        others = self.mean @ (1.0 - np.eye(self.eta.shape[1]))
        return np.asarray(others)

    @cached_property
    def value(self) -> Array:
        """The loss of each row."""
        y, eta = self.y, self.eta
        if self.name == "squared":
            return np.asarray(0.5 * np.sum((eta - y) ** 2, axis=1))
        if self.name == "poisson":
            return np.asarray((self.mean - y * eta)[:, 0])
        if self.name == "logistic":
            margin = ((2.0 * y - 1.0) * eta)[:, 0]
            return np.asarray(np.log1p(np.exp(-np.abs(margin))) + np.maximum(-margin, 0.0))
        top = eta.max(axis=1, keepdims=True)
        own = np.sum(y * (eta - top), axis=1)
        powers = np.exp(eta - top)
        powers[np.arange(len(eta)), eta.argmax(axis=1)] = 0.0  # the largest is exactly 1: log(1 + the others)
        return np.asarray(np.log1p(powers.sum(axis=1)) - own)

    @cached_property
    def slope(self) -> Array:
        """The derivative of the loss by eta, accurate where it is tiny."""
        if self.name in ("squared", "poisson"):
            return self.mean - self.y
        return np.where(self.y > 0.5, -self.rest, self.mean)

    @cached_property
    def steep(self) -> Array:
        """How much the loss may change per unit of a score, and its terms per relative rounding."""
        return np.abs(self.slope) + (np.abs(self.y) * 4 * EPS if self.name == "poisson" else 0.0)

    @cached_property
    def weight(self) -> Array:
        """The diagonal of the curvature W of each row."""
        if self.name == "squared":
            return np.ones_like(self.eta)
        return self.mean if self.name == "poisson" else self.mean * self.rest

    def curved(self, u: Array) -> Array:
        """Return W u row by row."""
        if self.name == "softmax":
            return np.asarray(self.mean * (u - np.sum(self.mean * u, axis=1, keepdims=True)))
        return np.asarray(self.weight * u)

    @cached_property
    def noise(self) -> Array:
        """A bound on the rounding error of each slope as computed here."""
        if self.name == "squared":
            return np.asarray(2 * EPS * (np.abs(self.eta) + np.abs(self.y)))
        size = 1.0 + np.abs(self.eta).max(axis=1, keepdims=True)
        return np.asarray(8 * EPS * (np.abs(self.slope) + self.weight * size))

    @cached_property
    def whole(self) -> Array:
        """The u with W u = slope: theta = slope - W u is then zero."""
        if self.name == "squared":
            return self.slope
        if self.name == "poisson":
            return 1.0 - self.y / self.mean
        own = -1.0 / np.where(self.y > 0.5, self.mean, 1.0)
        return np.where(self.y > 0.5, own, 1.0 / self.rest if self.name == "logistic" else 0.0)

    def duals(self, steps: list[Array], given: Array | None = None) -> list[Dual]:
        """Return the dual points of some steps in the scores; slopes are enough, so a given one is not needed."""
        del given
        return [Bent(self, u) for u in steps]


@dataclass(frozen=True)
class Bent:
    """The dual point ``theta = slope - W u``; it may be moved by ``V z = W z``."""

    rows: SmoothRows
    u: Array
    reach = np.inf
    steady = True

    @property
    def coupled(self) -> bool:
        """Whether V mixes outputs."""
        return self.rows.coupled

    @cached_property
    def theta(self) -> Array:
        """The dual point, one row for each row."""
        return self.rows.slope - self.rows.curved(self.u)

    @cached_property
    def noise(self) -> Array:
        """A bound on the rounding errors of theta; none where theta as it stands is taken for the dual point."""
        return np.zeros_like(self.theta) if self.exact else self._error

    @property
    def exact(self) -> bool:
        """Whether theta as computed is the dual point: then rounding errors are errors of u, and count squared."""
        return self.rows.name in ("squared", "poisson")

    @cached_property
    def _error(self) -> Array:
        return np.asarray(self.rows.noise + 4 * EPS * (np.abs(self.theta) + np.abs(self.rows.curved(self.u))))

    @property
    def weight(self) -> Array:
        """The diagonal of V."""
        return self.rows.weight

    @property
    def sway(self) -> Array:
        """The largest |V z| for |z| <= 1."""
        return self.weight * (2.0 if self.coupled else 1.0)

    def bend(self, z: Array) -> Array:
        """Return V z."""
        return self.rows.curved(z)

    def moved(self, z: Array) -> Dual:
        """Return theta - V z."""
        return replace(self, u=self.u + z)

    def shrunk(self, a: float) -> Dual:
        """Return a theta."""
        return replace(self, u=a * self.u + (1.0 - a) * self.rows.whole)

    def eased(self) -> list[Dual]:
        """Return what else to try in its place: nothing."""
        return []

    def cost(self, kappa: float) -> Array:
        """Return the largest mismatch of each row over theta - V z, |z| <= kappa; infinite where that leaves the domain."""
        mean, u = self.rows.mean, self.u
        if self.rows.name == "squared":
            return np.asarray(0.5 * np.sum((np.abs(u) + kappa + self._error) ** 2, axis=1))
        if self.rows.name == "poisson":
            weight, v, off = mean, -u, kappa + self._error / mean
        elif self.rows.name == "logistic":
            weight = np.hstack([mean, self.rows.rest])
            v, off = np.hstack([-self.rows.rest * u, mean * u]), kappa * weight[:, ::-1]
        else:
            weight, v = mean, -(u - np.sum(mean * u, axis=1, keepdims=True))
            off = np.full_like(u, 2.0 * kappa)
        inside = np.all(v - off > -1.0, axis=1)
        largest = np.maximum(excess(np.maximum(v - off, -1.0)), excess(v + off))
        return np.where(inside, np.sum(weight * largest, axis=1), np.inf)
