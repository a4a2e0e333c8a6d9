"""Losses whose dual points are probabilities: theta = q - e_y with q on the simplex. Crammer and Singer's, and sparsemax.

    crammer-singer   max_k c_k - c_y, c_k = eta_k + [k != y];     mismatch  sum_k q_k (max_l c_l - c_k)
    sparsemax        max_p (p.eta - |p|^2 / 2) + 1/2 - eta_y;     mismatch  |q - p|^2 / 2 + sum_{p_k = 0} q_k (tau - eta_k)

with p the point of the simplex nearest to eta, p_k = max(eta_k - tau, 0).
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


class Simplex(Loss):
    """A loss whose dual points are q - e_y, q on the simplex."""

    targets: ClassVar[Targets] = "classes"
    coupled = True
    flat = True

    @cached_property
    def value(self) -> Array:
        """The loss of each row: the mismatch of q = e_y, whose theta is zero."""
        return self.mismatch(self.y, 0.0)

    @property
    def steep(self) -> Array:
        """How much the loss may change per unit of a score."""
        return np.ones_like(self.eta)

    @property
    def score_error(self) -> Array:
        """A bound on what rounding has done to the scores of each row, and to what is made of them."""
        return np.asarray(8 * EPS * (1.0 + np.max(np.abs(self.eta), axis=1)))

    @abstractmethod
    def mismatch(self, q: Array, off: float) -> Array:
        """Return the largest mismatch for any q' within off q of q."""

    @abstractmethod
    def jump(self, q: Array, score_error: Array) -> Array | float:
        """Return how much a mismatch may change per unit by which scores are off, up to ``score_error``."""

    def duals(self, steps: list[Array], given: Array | None = None) -> list[Dual]:
        """Return the given dual point, or those of some steps in the scores, put on the simplex."""
        points = [self.slope - self.curved(u) for u in steps] if given is None else [given]
        return [self.dual(point) for point in points]

    def dual(self, theta: Array) -> Mixed:
        """Return a dual point, put on the simplex."""
        q = np.clip(theta + self.y, 0.0, 1.0)
        size = q.sum(axis=1, keepdims=True)
        return Mixed(self, np.where(size > 0.0, q / np.where(size > 0.0, size, 1.0), self.y))


class CrammerSinger(Simplex):
    """``max_k c_k - c_y``, ``c_k = eta_k + [k != y]``."""

    name = "crammer-singer"
    cornered = True

    @classmethod
    def constant(cls, shares: Array) -> Array:
        """Return one for a class with more than half of the weight."""
        return (shares > 0.5).astype(np.float64)

    @cached_property
    def cost(self) -> Array:
        """c_k = eta_k + [k != y]."""
        return self.eta + (1.0 - self.y)

    @cached_property
    def slope(self) -> Array:
        """A slope of the loss."""
        top = self.cost.max(axis=1, keepdims=True)
        own = np.sum(self.y * self.cost, axis=1, keepdims=True)
        worst = np.eye(self.eta.shape[1])[np.argmax(self.cost, axis=1)]
        return np.where(top > own, worst, self.y) - self.y

    @property
    def weight(self) -> Array:
        """Zero: all the bending is in the corners."""
        return np.zeros_like(self.eta)

    def curved(self, u: Array) -> Array:
        """Return zero."""
        return np.zeros_like(u)

    def mismatch(self, q: Array, off: float) -> Array:
        """Return the largest mismatch for any q' within off q of q."""
        below = self.cost.max(axis=1, keepdims=True) - self.cost
        return np.asarray(np.sum(q * (1.0 + off) * below, axis=1))

    @property
    def score_error(self) -> Array:
        """A bound on what rounding has done to a cost: of a score, and of adding 1, which is exact to one of zero."""
        size = np.max(np.abs(self.eta), axis=1)
        return np.asarray(4 * EPS * size + np.minimum(4 * EPS, size))

    def jump(self, q: Array, score_error: Array) -> float:
        """Return the farthest that two points of a simplex are apart."""
        return 2.0

    def pieces(self, x: Array) -> tuple[Array, Array]:
        """Return 1 + score less that of the own class, and 0 for the own class itself."""
        outputs = self.y.shape[1]
        apart = np.eye(outputs)[None, :, :] - self.y[:, None, :]
        at = self.eta - np.sum(self.eta * self.y, axis=1, keepdims=True) + (1.0 - self.y)
        return at, (apart[:, :, :, None] * x[:, None, None, :]).reshape(len(x), outputs, -1)


class Sparsemax(Simplex):
    """``max_p (p.eta - |p|^2 / 2) + 1/2 - eta_y``."""

    name = "sparsemax"
    cooled = True

    @classmethod
    def constant(cls, shares: Array) -> Array:
        """Return the shares of the classes."""
        return shares

    @cached_property
    def tau(self) -> Array:
        """The threshold of the projection: sum_k max(eta_k - tau, 0) = 1."""
        top = self.eta.max(axis=1, keepdims=True)
        falling = np.sort(self.eta - top, axis=1)[:, ::-1]
        size = np.arange(1, self.eta.shape[1] + 1)
        means = (np.cumsum(falling, axis=1) - 1.0) / size
        held = np.sum(falling > means, axis=1, keepdims=True)
        return np.asarray(np.take_along_axis(means, held - 1, axis=1) + top)

    @cached_property
    def p(self) -> Array:
        """The nearest point of the simplex."""
        return np.maximum(self.eta - self.tau, 0.0)

    @cached_property
    def slope(self) -> Array:
        """P - e_y."""
        return self.p - self.y

    @cached_property
    def weight(self) -> Array:
        """The diagonal of the curvature."""
        held = (self.p > 0.0).astype(np.float64)
        return np.asarray(held * (1.0 - held / held.sum(axis=1, keepdims=True)))

    def curved(self, u: Array) -> Array:
        """Return W u: on the classes with p > 0, u less its mean there."""
        held = (self.p > 0.0).astype(np.float64)
        mean = np.sum(held * u, axis=1, keepdims=True) / held.sum(axis=1, keepdims=True)
        return np.asarray(held * (u - mean))

    def mismatch(self, q: Array, off: float) -> Array:
        """Return the largest mismatch for any q' within off q of q."""
        away = np.where(self.p == 0.0, np.maximum(self.tau - self.eta, 0.0), 0.0)
        return np.asarray(np.sum(0.5 * (np.abs(q - self.p) + off * q) ** 2 + q * (1.0 + off) * away, axis=1))

    def jump(self, q: Array, score_error: Array) -> Array:
        """Return how far q is from p."""
        return np.asarray(np.sum(np.abs(q - self.p), axis=1) + score_error)


@dataclass(frozen=True)
class Mixed:
    """The dual point q - e_y, exactly on the simplex once q is divided by its sum; moved by V z, V = diag(q) - q q'."""

    rows: Simplex
    q: Array
    reach = 0.45
    steady = False
    coupled = True

    @cached_property
    def theta(self) -> Array:
        """The dual point, the entry of y made from the others."""
        others = self.q * (1.0 - self.rows.y)
        return np.asarray(others - self.rows.y * others.sum(axis=1, keepdims=True))

    @property
    def theta_error(self) -> Array:
        """The rounding of theta, and of products with it."""
        return np.asarray((8 + 4 * self.q.shape[1]) * EPS * np.abs(self.theta))

    @cached_property
    def weight(self) -> Array:
        """The diagonal of V."""
        return np.asarray(self.q * np.maximum(1.0 - self.q, 0.0))

    @property
    def sway(self) -> Array:
        """The largest |V z| for |z| <= 1."""
        return np.asarray(2.0 * self.weight)

    def bend(self, z: Array) -> Array:
        """Return V z."""
        return np.asarray(self.q * (z - np.sum(self.q * z, axis=1, keepdims=True)))

    def moved(self, z: Array) -> Dual:
        """Return theta - V z."""
        q = np.maximum(self.q - self.bend(z), 0.0)
        return replace(self, q=q / q.sum(axis=1, keepdims=True))

    def shrunk(self, a: float) -> Dual:
        """Return a theta: the simplex holds e_y."""
        return replace(self, q=a * self.q + (1.0 - a) * self.rows.y)

    def eased(self) -> list[Dual]:
        """Return what else to try in its place: a little nearer to the middle, and theta = 0."""
        mixed = [self.q + share * (1.0 / self.q.shape[1] - self.q) for share in (1e-11, 1e-8)]
        return [replace(self, q=q) for q in (*mixed, self.rows.y)]

    def cost(self, kappa: float) -> Array:
        """Return the largest mismatch of each row over theta - V z, |z| <= kappa, rounding of the scores included."""
        if not kappa <= 0.5:
            return np.full(len(self.q), np.inf)
        score_error = self.rows.score_error
        return np.asarray(
            self.rows.mismatch(self.q, 2.0 * kappa + 64 * EPS) + self.rows.jump(self.q, score_error) * score_error
        )
