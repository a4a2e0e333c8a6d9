"""Logistic loss: log(1 + e^eta) - y eta."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss, Targets


def softplus(eta: Array) -> Array:
    """Return log(1 + e^eta) without overflow.

    >>> softplus(np.array([0.0, 1000.0])).round(4)
    array([6.931e-01, 1.000e+03])
    """
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))


def sigmoid(eta: Array) -> Array:
    """Return 1 / (1 + e^-eta) without overflow, accurate at both ends.

    >>> sigmoid(np.array([-1000.0, 0.0]))
    array([0. , 0.5])
    """
    small = np.exp(-np.abs(eta))
    return np.where(eta >= 0, 1.0, small) / (1.0 + small)


def excess(u: Array) -> Array:
    """Return (1 + u) log(1 + u) - u >= 0, inf below u = -1: the building block of relative entropy.

    With p' = p (1 + u) and sum p u = 0, KL(p' | p) = sum p excess(u): no cancellation for p' near p.

    >>> excess(np.array([0.0, -1.0, -2.0]))
    array([ 0.,  1., inf])
    """
    inside = np.maximum(u, -1.0)
    safe = np.where(inside > -1.0, inside, 0.0)
    return np.where(u < -1.0, np.inf, np.where(inside > -1.0, (1.0 + safe) * np.log1p(safe) - safe, 1.0))


@dataclass(frozen=True)
class Logistic(Loss):
    """``loss = log(1 + e^eta) - y eta`` for y in [0, 1]; ``mean = 1 / (1 + e^-eta)``.

    >>> Logistic().value(np.array([[1.0]]), np.array([[0.0]])).round(6)
    array([0.693147])
    """

    name: ClassVar[str] = "logistic"
    targets: ClassVar[Targets] = "two classes"
    models: ClassVar[tuple[str, ...]] = ("logistic",)
    native: ClassVar[int | None] = 1
    row_kernel: ClassVar[str | None] = "logistic"
    logit: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 0.25
    strictly_convex: ClassVar[bool] = True
    max_shift: ClassVar[float] = 0.5
    unbounded: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = ("firth", "ridge")
    even: ClassVar[bool] = True
    dual_margin: ClassVar[float] = 0.01
    likelihood: ClassVar[bool] = True
    ratio: ClassVar[str] = "odds ratio"
    figure: ClassVar[str] = "log_loss"

    def check(self, y: Array) -> None:
        """Refuse targets outside [0, 1]."""
        if y.size and not (y.min() >= 0.0 and y.max() <= 1.0):
            raise InputError("logistic loss needs targets between 0 and 1.")

    def value(self, y: Array, eta: Array) -> Array:
        """Return log(1 + e^eta) - y eta, as y log(1 + e^-eta) + (1 - y) log(1 + e^eta)."""
        rest = np.log1p(np.exp(-np.abs(eta)))  # softplus(eta) = max(eta, 0) + rest, softplus(-eta) likewise
        return np.asarray((y * (np.maximum(-eta, 0.0) + rest) + (1.0 - y) * (np.maximum(eta, 0.0) + rest))[:, 0])

    def slope(self, y: Array, eta: Array) -> Array:
        """Return sigmoid(eta) - y, accurate where it is tiny."""
        return (1.0 - y) * sigmoid(eta) - y * sigmoid(-eta)

    def curvature(self, y: Array, eta: Array) -> Array:
        """Return sigmoid(eta) sigmoid(-eta)."""
        return sigmoid(eta) * sigmoid(-eta)

    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return p log p + (1 - p) log(1 - p) with p = y + theta."""
        p, q = (y + theta)[:, 0], (1.0 - y - theta)[:, 0]
        inside = (p >= 0.0) & (q >= 0.0)
        p, q = np.where(inside, p, 0.5), np.where(inside, q, 0.5)
        entropy = p * np.log(np.where(p > 0.0, p, 1.0)) + q * np.log(np.where(q > 0.0, q, 1.0))
        return np.where(inside, entropy, np.inf)

    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return KL(y + theta | mean(eta)) = p excess(delta / p) + q excess(-delta / q)."""
        delta = theta - self.slope(y, eta)
        p, q = sigmoid(eta), sigmoid(-eta)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = p * excess(delta / p) + q * excess(-delta / q)
        certain = (p == 0.0) | (q == 0.0)
        terms = np.where(certain, np.where(delta == 0.0, 0.0, np.inf), terms)
        return np.asarray(terms[:, 0])

    def mean(self, eta: Array) -> Array:
        """Return the probability of the second class."""
        return sigmoid(eta)

    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weighted sum of y."""
        return np.array([weight @ y[:, 0]])

    def constant(self, mean: Array) -> Array:
        """Return the best constant score, log(mean / (1 - mean)); infinite if only one class has weight."""
        share = float(mean[0])
        if 0.0 < share < 1.0:
            return np.array([math.log(share) - math.log1p(-share)])
        with np.errstate(divide="ignore"):
            return np.log(mean) - np.log1p(-mean)

    def level(self, mean: Array, constant: Array) -> tuple[float, Array]:
        """Return the mean loss, which is linear in y, and ``mean (1 - p) + (1 - mean) p``: |p - y| where y is 0 or 1.

        >>> value, slope = Logistic().level(np.array([0.5]), np.array([0.0]))
        >>> round(value, 6), slope.tolist()
        (0.693147, [0.5])
        """
        value = mean * softplus(-constant) + (1.0 - mean) * softplus(constant)
        return float(value[0]), mean * sigmoid(-constant) + (1.0 - mean) * sigmoid(constant)

    def chances(self, y: Array, eta: Array, dispersion: float, trials: Array) -> tuple[Array, Array, Array] | None:
        """Return those of a number of successes; None where targets are no shares of whole trials."""
        from scipy import special  # slow to load: only for likelihoods

        k = np.rint(y[:, 0] * trials)
        p, q = sigmoid(eta)[:, 0], sigmoid(-eta)[:, 0]
        if np.any(trials != np.floor(trials)) or np.any(np.abs(k - y[:, 0] * trials) > 1e-9 * np.maximum(k, 1.0)):
            return None
        # successes beyond k: a beta integral, as precise in either tail
        below = np.where(k > 0.0, special.betainc(np.maximum(trials - k + 1.0, 1.0), np.maximum(k, 1.0), q), 0.0)
        above = np.where(k < trials, special.betainc(k + 1.0, np.maximum(trials - k, 1.0), p), 0.0)
        ways = special.gammaln(trials + 1.0) - special.gammaln(k + 1.0) - special.gammaln(trials - k + 1.0)
        return below, np.exp(ways + special.xlogy(k, p) + special.xlogy(trials - k, q)), above

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return "logistic regression"

    def formula(self) -> str:
        """Return the loss of a row in text."""
        return "log-loss"
