"""Losses that bend everywhere: squared, logistic, softmax, Poisson. Dual points are ``theta = slope - W u``.

Such a point is known by u, and what it costs in closed form, without cancellation:

    squared   |u|^2 / 2
    logistic  p h(-(1 - p) u) + (1 - p) h(p u)                                 h(v) = (1 + v) log(1 + v) - v
    softmax   sum_k p_k h(-(u_k - sum_l p_l u_l))
    Poisson   m h(-u)                                                         p, m the predicted means
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from lineal.verify.arithmetic import EPS, Array, Mask
from lineal.verify.losses.dual import Dual
from lineal.verify.losses.loss import Loss, Targets


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


class Smooth(Loss):
    """A loss whose rows bend everywhere."""

    likelihood = True

    @property
    def exact(self) -> Mask | bool:
        """Of which rows theta as computed is taken for a dual point, with errors those of u; else u is, and theta has them."""
        return False

    @property
    @abstractmethod
    def mean(self) -> Array:
        """The predicted mean: eta, a probability, class probabilities, or a rate."""

    @property
    @abstractmethod
    def whole(self) -> Array:
        """The u with W u = slope: theta = slope - W u is then zero."""

    @abstractmethod
    def entries(self, u: Array, kappa: float, error: Array) -> tuple[Array, Array, Array | float]:
        """Return p, v and how far v may be off, for the mismatch ``sum p h(v)`` of slope - W u moved by up to kappa."""

    @property
    def steep(self) -> Array:
        """How much the loss may change per unit of a score."""
        return np.abs(self.slope)

    def curved(self, u: Array) -> Array:
        """Return W u row by row."""
        return np.asarray(self.weight * u)

    @cached_property
    def theta_error(self) -> Array:
        """A bound on the rounding error of each slope as computed here."""
        size = 1.0 + np.abs(self.eta).max(axis=1, keepdims=True)
        return np.asarray(8 * EPS * (np.abs(self.slope) + self.weight * size))

    def mismatch(self, u: Array, kappa: float, error: Array) -> Array:
        """Return the largest mismatch of each row over theta - V z, |z| <= kappa; infinite where that leaves the domain."""
        weight, v, off = self.entries(u, kappa, error)
        inside = np.all(v - off > -1.0, axis=1)
        largest = np.maximum(excess(np.maximum(v - off, -1.0)), excess(v + off))
        return np.where(inside, np.sum(weight * largest, axis=1), np.inf)

    def duals(self, steps: list[Array], given: Array | None = None) -> list[Dual]:
        """Return the dual points of some steps in the scores; slopes are enough, so a given one is not needed."""
        del given
        return [Bent(self, u) for u in steps]


class Squared(Smooth):
    """``|eta - y|^2 / 2``, one target per output."""

    name = "squared"
    many_targets = True
    quadratic = True
    residual = True

    @property
    def exact(self) -> Mask | bool:
        """All."""
        return True

    @property
    def mean(self) -> Array:
        """The scores."""
        return self.eta

    @cached_property
    def value(self) -> Array:
        """The loss of each row."""
        return np.asarray(0.5 * np.sum((self.eta - self.y) ** 2, axis=1))

    @cached_property
    def slope(self) -> Array:
        """Eta - y."""
        return self.eta - self.y

    @cached_property
    def weight(self) -> Array:
        """One."""
        return np.ones_like(self.eta)

    @cached_property
    def theta_error(self) -> Array:
        """A bound on the rounding error of each slope as computed here."""
        return np.asarray(2 * EPS * (np.abs(self.eta) + np.abs(self.y)))

    @property
    def whole(self) -> Array:
        """The slope."""
        return self.slope

    def entries(self, u: Array, kappa: float, error: Array) -> tuple[Array, Array, Array | float]:
        """Return nothing of use: the mismatch has no h."""
        raise NotImplementedError

    def mismatch(self, u: Array, kappa: float, error: Array) -> Array:
        """Return |u|^2 / 2 at its largest."""
        return np.asarray(0.5 * np.sum((np.abs(u) + kappa + error) ** 2, axis=1))


class Poisson(Smooth):
    """``e^eta - y eta``, y >= 0."""

    name = "poisson"
    least_target = 0.0
    unbounded = True
    exponential = True

    @cached_property
    def exact(self) -> Mask | bool:
        """Those whose rate is not far below the last digits of the count: theta may not be below -y."""
        return self.mean > 1e-9 * self.y

    @classmethod
    def escape(cls, columns: int, strict: int, rows: int) -> str:
        """Return which rows have a rate that falls to zero."""
        return f"single{'s' if columns == 1 else ''} out {strict} of {rows} rows, all with count zero"

    @cached_property
    def mean(self) -> Array:
        """The rate e^eta."""
        return np.exp(self.eta)

    @cached_property
    def value(self) -> Array:
        """The loss of each row."""
        return np.asarray((self.mean - self.y * self.eta)[:, 0])

    @cached_property
    def slope(self) -> Array:
        """e^eta - y."""
        return self.mean - self.y

    @cached_property
    def steep(self) -> Array:
        """How much the loss may change per unit of a score, and its terms per relative rounding."""
        return np.abs(self.slope) + np.abs(self.y) * 4 * EPS

    @property
    def weight(self) -> Array:
        """The rate."""
        return self.mean

    @property
    def bend(self) -> Array:
        """The curvature, which has no bound."""
        return self.weight

    @property
    def terms(self) -> Array:
        """The product that e^eta is less."""
        return np.asarray(np.abs(self.eta * self.y)[:, 0])

    @cached_property
    def whole(self) -> Array:
        """1 - y / m."""
        return 1.0 - self.y / self.mean

    def entries(self, u: Array, kappa: float, error: Array) -> tuple[Array, Array, Array | float]:
        """Return those of m h(-u)."""
        return self.mean, -u, kappa + np.where(self.exact, error / self.mean, 0.0)


class Probable(Smooth):
    """A negative log-likelihood of classes: ``mean`` are probabilities p, ``rest`` is 1 - p."""

    unbounded = True
    cooled = True
    entropy = True

    @property
    @abstractmethod
    def rest(self) -> Array:
        """1 - p, without cancellation."""

    @cached_property
    def slope(self) -> Array:
        """P less 1 for the class of the row, accurate where it is tiny."""
        return np.where(self.y > 0.5, -self.rest, self.mean)

    @cached_property
    def weight(self) -> Array:
        """P (1 - p), the diagonal of the curvature."""
        return self.mean * self.rest


class Logistic(Probable):
    """``log(1 + e^eta) - y eta``, y 0 or 1."""

    name = "logistic"
    targets: ClassVar[Targets] = "two classes"
    logit = True
    remedies: ClassVar[tuple[str, ...]] = ("firth", "ridge")

    @cached_property
    def mean(self) -> Array:
        """The probability of class 1."""
        small = np.exp(-np.abs(self.eta))
        return np.asarray(np.where(self.eta >= 0, 1.0, small) / (1.0 + small))

    @cached_property
    def rest(self) -> Array:
        """1 - mean, without cancellation."""
        small = np.exp(-np.abs(self.eta))
        return np.asarray(np.where(self.eta >= 0, small, 1.0) / (1.0 + small))

    @cached_property
    def value(self) -> Array:
        """The loss of each row."""
        margin = ((2.0 * self.y - 1.0) * self.eta)[:, 0]
        return np.asarray(np.log1p(np.exp(-np.abs(margin))) + np.maximum(-margin, 0.0))

    @cached_property
    def whole(self) -> Array:
        """-1 / p for class 1, 1 / (1 - p) for class 0."""
        own = -1.0 / np.where(self.y > 0.5, self.mean, 1.0)
        return np.where(self.y > 0.5, own, 1.0 / self.rest)

    def entries(self, u: Array, kappa: float, error: Array) -> tuple[Array, Array, Array | float]:
        """Return those of p h(-(1 - p) u) + (1 - p) h(p u)."""
        weight = np.hstack([self.mean, self.rest])
        return weight, np.hstack([-self.rest * u, self.mean * u]), kappa * weight[:, ::-1]


class Softmax(Probable):
    """``log sum_k e^eta_k - eta_y``."""

    name = "softmax"
    targets: ClassVar[Targets] = "classes"
    coupled = True

    @cached_property
    def mean(self) -> Array:
        """The probability of each class."""
        powers = np.exp(self.eta - self.eta.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    @cached_property
    def rest(self) -> Array:
        """1 - mean of each output, without cancellation."""
        others = self.mean @ (1.0 - np.eye(self.eta.shape[1]))
        return np.asarray(others)

    @cached_property
    def value(self) -> Array:
        """The loss of each row."""
        top = self.eta.max(axis=1, keepdims=True)
        own = np.sum(self.y * (self.eta - top), axis=1)
        powers = np.exp(self.eta - top)
        powers[np.arange(len(powers)), self.eta.argmax(axis=1)] = 0.0  # the largest is exactly 1: log(1 + the others)
        return np.asarray(np.log1p(powers.sum(axis=1)) - own)

    def curved(self, u: Array) -> Array:
        """Return W u row by row."""
        return np.asarray(self.mean * (u - np.sum(self.mean * u, axis=1, keepdims=True)))

    @cached_property
    def whole(self) -> Array:
        """-1 / p for the class of the row, else 0."""
        own = -1.0 / np.where(self.y > 0.5, self.mean, 1.0)
        return np.where(self.y > 0.5, own, 0.0)

    def entries(self, u: Array, kappa: float, error: Array) -> tuple[Array, Array, Array | float]:
        """Return those of sum_k p_k h(-(u_k - sum_l p_l u_l)); z_k - sum_l p_l z_l is a sum over l != k of p_l (z_k - z_l)."""
        return self.mean, -(u - np.sum(self.mean * u, axis=1, keepdims=True)), 2.0 * kappa * self.rest


@dataclass(frozen=True)
class Bent:
    """The dual point ``theta = slope - W u``; it may be moved by ``V z = W z``."""

    rows: Smooth
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
    def theta_error(self) -> Array:
        """A bound on the rounding errors of theta; none where theta as it stands is taken for the dual point."""
        return np.where(self.rows.exact, 0.0, self._error)

    @cached_property
    def _error(self) -> Array:
        return np.asarray(self.rows.theta_error + 4 * EPS * (np.abs(self.theta) + np.abs(self.rows.curved(self.u))))

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
        return self.rows.mismatch(self.u, kappa, self._error)
