"""Losses with corners or with parts that do not bend: a residual pays on two sides, above and below.

    loss = side(d+) + side(d-),   d+ = eta - at - epsilon,   d- = at - eta - epsilon,   side(d) = 0 for d <= 0, and for d > 0
    cap d (a straight line), or d^2 / 2 up to d = cap and a straight line beyond ("squared")

    absolute caps 1, 1; quantile 1 - q, q; epsilon-insensitive 1, 1; hinge at 1 with caps 0, 1 or at -1 with caps 1, 0;
    squared: huber T, T; squared epsilon-insensitive; squared hinge, without caps.

A dual point theta = u+ - u- lies in the box [-cap-, cap+]. Its mismatch is, for each side, a sum of terms >= 0:

    straight   max(d, 0) (cap - u) + max(-d, 0) u
    squared    (m - u)^2 / 2 + (max(d, 0) - m) (cap - u) + max(-d, 0) u,      m = min(max(d, 0), cap)
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from lineal.verify.arithmetic import EPS, Array
from lineal.verify.losses.dual import Dual
from lineal.verify.losses.loss import Loss, Targets


class Corner(Loss):
    """A loss of two sides, which begin with a square if ``squared``; residuals up to ``epsilon`` cost nothing."""

    flat = True
    squared: ClassVar[bool] = False

    @property
    def epsilon(self) -> float:
        """Residuals up to this cost nothing: the parameter, if it is called so."""
        return self.parameter if self.field == "epsilon" else 0.0

    @cached_property
    def at(self) -> Array:
        """Where the residual is zero: at y, or at the margin, 1 for class 1 and -1 for class 0."""
        return self.y if self.residual else 2.0 * self.y - 1.0

    @property
    @abstractmethod
    def caps(self) -> tuple[Array, Array]:
        """The largest slope above and below."""

    @cached_property
    def sides(self) -> list[tuple[float, Array, Array]]:
        """Sign, distance d and cap of the side above and of the side below."""
        up, down = self.caps
        return [(1.0, self.eta - self.at - self.epsilon, up), (-1.0, self.at - self.eta - self.epsilon, down)]

    @cached_property
    def value(self) -> Array:
        """The loss of each row."""
        value = np.zeros_like(self.eta)
        for _, d, cap in self.sides:
            far = np.maximum(d, 0.0)
            m = np.minimum(far, cap)
            value = value + (m * (far - 0.5 * m) if self.squared else cap * far)
        return np.asarray(value[:, 0])

    @cached_property
    def slope(self) -> Array:
        """A slope of the loss."""
        slope = np.zeros_like(self.eta)
        for sign, d, cap in self.sides:
            slope = slope + sign * (
                np.minimum(np.maximum(d, 0.0), cap) if self.squared else np.where(d > 0.0, cap, 0.0)
            )
        return slope

    @cached_property
    def steep(self) -> Array:
        """How much the loss may change per unit of a score."""
        return np.abs(self.slope) if self.squared else self.caps[0] + self.caps[1]

    @cached_property
    def weight(self) -> Array:
        """The curvature."""
        bent = [(d > 0.0) & (d < cap) for _, d, cap in self.sides]
        return np.asarray((bent[0] | bent[1]) & self.squared, dtype=np.float64)

    def curved(self, u: Array) -> Array:
        """Return W u."""
        return np.asarray(self.weight * u)

    def pieces(self, x: Array) -> tuple[Array, Array]:
        """Return nothing, the side above and the side below."""
        (_, above, up), (_, below, down) = self.sides
        return np.hstack([np.zeros_like(above), up * above, down * below]), np.stack(
            [0.0 * x, up * x, -down * x], axis=1
        )

    @property
    def box(self) -> tuple[Array, Array]:
        """The least and largest theta."""
        return -self.caps[1], self.caps[0]

    def duals(self, steps: list[Array], given: Array | None = None) -> list[Dual]:
        """Return the given dual point, or those of some steps in the scores, put into the box."""
        points = [self.slope - self.curved(u) for u in steps] if given is None else [given]
        return [self.dual(point) for point in points]

    def dual(self, theta: Array) -> Boxed:
        """Return a dual point, put into the box."""
        return Boxed(self, np.clip(theta, *self.box))


class Absolute(Corner):
    """``|eta - y|``."""

    name = "absolute"
    cornered = True
    residual = True

    @cached_property
    def caps(self) -> tuple[Array, Array]:
        """One on both sides."""
        return np.ones_like(self.y), np.ones_like(self.y)


class Quantile(Corner):
    """``(1 - q) (eta - y)`` above the target, ``q (y - eta)`` below; the parameter is q."""

    name = "quantile"
    field: ClassVar[str | None] = "q"
    cornered = True
    residual = True

    @classmethod
    def allows(cls, parameter: float) -> bool:
        """Return whether q is between 0 and 1."""
        return 0.0 < parameter < 1.0

    @cached_property
    def caps(self) -> tuple[Array, Array]:
        """1 - q and q."""
        one = np.ones_like(self.y)
        return (1.0 - self.parameter) * one, self.parameter * one


class Huber(Corner):
    """A square up to a residual of T, which is the parameter."""

    name = "huber"
    field: ClassVar[str | None] = "threshold"
    squared = True
    residual = True

    @classmethod
    def allows(cls, parameter: float) -> bool:
        """Return whether T is above 0."""
        return parameter > 0.0

    @cached_property
    def caps(self) -> tuple[Array, Array]:
        """T on both sides."""
        one = np.ones_like(self.y)
        return self.parameter * one, self.parameter * one


class EpsilonInsensitive(Absolute):
    """``max(|eta - y| - epsilon, 0)``; the parameter is epsilon."""

    name = "epsilon-insensitive"
    field: ClassVar[str | None] = "epsilon"


class SquaredEpsilonInsensitive(Corner):
    """``max(|eta - y| - epsilon, 0)^2 / 2``; the parameter is epsilon."""

    name = "squared-epsilon-insensitive"
    field: ClassVar[str | None] = "epsilon"
    squared = True
    residual = True

    @cached_property
    def caps(self) -> tuple[Array, Array]:
        """None."""
        one = np.ones_like(self.y)
        return one * np.inf, one * np.inf


class Hinge(Corner):
    """``max(1 - z, 0)``, z the score on the side of the class."""

    name = "hinge"
    targets: ClassVar[Targets] = "two classes"
    cornered = True

    @cached_property
    def caps(self) -> tuple[Array, Array]:
        """One on the side of the other class."""
        return 1.0 - self.y, self.y


class SquaredHinge(Corner):
    """``max(1 - z, 0)^2 / 2``, z the score on the side of the class."""

    name = "squared-hinge"
    targets: ClassVar[Targets] = "two classes"
    squared = True

    @cached_property
    def caps(self) -> tuple[Array, Array]:
        """None on the side of the other class, zero on its own."""
        return np.where(self.y > 0.5, 0.0, np.inf), np.where(self.y > 0.5, np.inf, 0.0)


@dataclass(frozen=True)
class Boxed:
    """A dual point in the box, exactly as it stands; it may be moved by ``V z``, V its room to the ends of its side.

    Where epsilon is above zero a theta of zero stays so, unless ``wide``: leaving it costs at once.
    """

    rows: Corner
    theta: Array
    wide: bool = False
    reach = 0.9
    steady = False
    coupled = False

    @property
    def theta_error(self) -> Array:
        """The rounding of products with theta."""
        return 4 * EPS * np.abs(self.theta)

    @cached_property
    def weight(self) -> Array:
        """V: theta -+ V z stays in the box for |z| <= 1."""
        low, high = self.rows.box
        if self.rows.epsilon > 0.0 and not self.wide:
            low, high = np.where(self.theta > 0.0, 0.0, low), np.where(self.theta < 0.0, 0.0, high)
            low, high = np.where(self.theta == 0.0, 0.0, low), np.where(self.theta == 0.0, 0.0, high)
        below, above = self.theta - low, high - self.theta
        ends = np.isfinite(high - low) & (high > low)
        both = np.where(ends, below, 0.0) * (np.where(ends, above, 0.0) / np.where(ends, high - low, 1.0))
        return np.where(ends, both, np.minimum(np.minimum(below, above), 1.0))

    @property
    def sway(self) -> Array:
        """The largest |V z| for |z| <= 1."""
        return self.weight

    def bend(self, z: Array) -> Array:
        """Return V z."""
        return np.asarray(self.weight * z)

    def moved(self, z: Array) -> Dual:
        """Return theta - V z."""
        return replace(self, theta=np.clip(self.theta - self.bend(z), *self.rows.box))

    def shrunk(self, a: float) -> Dual:
        """Return a theta: the box holds zero."""
        return replace(self, theta=a * self.theta)

    def eased(self) -> list[Dual]:
        """Return what else to try in its place: at an end of the box where it nearly is, nearer to the middle, and zero."""
        # within 1e-7 of the largest theta from an end it may be meant to be there
        size, snapped = 1e-7 * float(np.max(np.abs(self.theta), initial=0.0)), self.theta
        for end in self.rows.box:
            snapped = np.where(np.abs(snapped - end) <= size, end, snapped)
        low, high = (np.maximum(self.rows.box[0], self.theta - 1.0), np.minimum(self.rows.box[1], self.theta + 1.0))
        mixed = [self.theta + share * (0.5 * (low + high) - self.theta) for share in (0.0, 1e-11, 1e-8)]
        return [
            Boxed(self.rows, np.clip(theta, *self.rows.box), wide=True) for theta in (snapped, *mixed, 0.0 * self.theta)
        ]

    def cost(self, kappa: float) -> Array:
        """Return the largest mismatch of each row over theta - V z, |z| <= kappa, rounding of the scores included."""
        if not kappa <= 1.0:
            return np.full(len(self.theta), np.inf)
        ends = [
            self._mismatch(np.clip(self.theta + side * kappa * self.weight, *self.rows.box)) for side in (-1.0, 1.0)
        ]
        score_error = 4 * EPS * (np.abs(self.rows.eta) + np.abs(self.rows.at) + self.rows.epsilon)
        # a slope jumps only where a corner is within the error
        near = np.any([np.abs(d) <= 2.0 * score_error for _, d, _ in self.rows.sides], axis=0)
        bent = score_error if self.rows.squared else np.where(near, self.rows.steep, 0.0)
        jump = np.abs(self.rows.slope - self.theta) + bent
        return np.asarray((np.maximum(*ends) + jump * score_error)[:, 0])

    def _mismatch(self, theta: Array) -> Array:
        mismatch = np.zeros_like(theta)
        for sign, d, cap in self.rows.sides:
            u, far = np.maximum(sign * theta, 0.0), np.maximum(d, 0.0)
            if self.rows.squared:
                m = np.minimum(far, cap)
                beyond = np.where(far > m, far - m, 0.0) * np.where(np.isfinite(cap), cap - u, 0.0)
                mismatch += 0.5 * (m - u) ** 2 + beyond
            else:
                mismatch += far * (cap - u)
            mismatch += np.maximum(-d, 0.0) * u
        return mismatch
