"""The likelihood of a Gaussian process on a table: its variances and its kernel's gamma, the mean of y not known.

``y_i = m + f(x_i) + e_i``, f with covariance ``prior k(x, z)`` and e_i of variance ``noise / s_i``. Every m is as likely as any
other, and is integrated out: that is the restricted likelihood. Without an intercept m is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np

from lineal.algebra import lapack
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels import Gaussian, Kernel, Laplacian, Points
from lineal.machines.gaussian_process import climb

NAMES: Final = ("gamma", "noise", "prior")
"""What may be found: of the kernel, and the variances of noise and function."""

NOISES: Final = (0.01, 0.1, 0.5)
"""Shares of the variance of y that the search begins with as noise."""

RANGES: Final = {"gamma": (1e-4, 1e4), "noise": (1e-7, 10.0), "prior": (1e-4, 1e3)}
"""Between which multiples of gamma's start, and of the variance of y, the search goes."""


class Covariance(NamedTuple):
    """``C = prior K + noise / s``: its lower factor, and the inverse P of what is left of it where m is not known."""

    lower: Array
    projection: Array
    sizes: Array
    total: float


def covariance(matrix: Array, share: Array, intercept: bool, prior: float, noise: float) -> Covariance | None:
    """Return ``P = C^-1 - C^-1 1 (1'C^-1 1)^-1 1'C^-1``, or ``C^-1`` without an intercept; None where C has no factor.

    ``sizes`` are ``C^-1 1`` and ``total`` is their sum.

    >>> covariance(np.eye(2), np.ones(2), True, 1.0, 1.0).projection
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    c = prior * matrix
    c[np.diag_indices(len(c))] += noise * share
    lower, info = lapack.dpotrf(c, lower=1, clean=1)
    if info != 0:
        return None
    inverse, _ = lapack.dpotri(lower, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    sizes = inverse.sum(axis=1)
    total = float(sizes.sum())
    if intercept:
        inverse -= np.outer(sizes, sizes) / total
    return Covariance(lower, inverse, sizes, total)


@dataclass(frozen=True)
class Likelihood:
    """The log likelihood of some rows, and its slopes in the logarithms of what is ``free``; ``fixed`` is the rest."""

    kernel: Kernel
    points: Points
    y: Array
    share: Array
    intercept: bool
    free: tuple[str, ...]
    fixed: Mapping[str, float]

    @cached_property
    def _matrix(self) -> Array:
        """The matrix of a kernel that stays as it is."""
        return self.kernel.gram(self.points)

    def some(self, index: Any) -> Likelihood:
        """Return the likelihood of some of the rows."""
        return replace(self, points=self.points.take(index), y=self.y[index], share=self.share[index])

    def kernel_at(self, known: Mapping[str, float]) -> Kernel:
        """Return the kernel with the gamma that was found."""
        return with_gamma(self.kernel, known["gamma"]) if "gamma" in self.free else self.kernel

    def named(self, theta: Array) -> dict[str, float]:
        """Return all numbers by name, from the logarithms of those that are free."""
        return {**self.fixed, **dict(zip(self.free, np.exp(theta).tolist(), strict=True))}

    def at(self, theta: Array) -> tuple[float, Array]:
        """Return the log likelihood and its slopes."""
        known = self.named(theta)
        matrix = self.kernel_at(known).gram(self.points) if "gamma" in self.free else self._matrix
        prior, noise = known["prior"], known["noise"]
        found = covariance(matrix, self.share, self.intercept, prior, noise)
        if found is None:
            return -np.inf, np.zeros(len(theta))
        ones = int(self.intercept)
        level = float(self.y @ (1.0 / self.share)) / float(np.sum(1.0 / self.share)) if ones else 0.0
        coef = found.projection @ (self.y - level)
        value = -0.5 * float((self.y - level) @ coef) - float(np.sum(np.log(np.diagonal(found.lower))))
        value -= 0.5 * (len(self.y) - ones) * math.log(2.0 * math.pi) + (0.5 * math.log(found.total) if ones else 0.0)
        slopes = {
            "noise": noise * float(self.share @ (coef**2 - np.diagonal(found.projection))),
            "prior": prior * _pull(coef, found.projection, matrix),
        }
        if "gamma" in self.free:
            bend = np.zeros_like(matrix)
            np.log(matrix, out=bend, where=matrix > 0.0)
            slopes["gamma"] = prior * _pull(coef, found.projection, np.multiply(matrix, bend, out=bend))
        return value, np.array([0.5 * slopes[name] for name in self.free])


@dataclass(frozen=True)
class Found:
    """What is likeliest, by name, and the log likelihood.

    ``slope`` is the norm of the slopes that are left as a share of its size, ``ends`` are the names that stand at the end of
    where was looked.
    """

    known: Mapping[str, float]
    value: float
    slope: float
    ends: tuple[str, ...]


def likeliest(problem: Likelihood, sample: Any, gammas: list[float]) -> Found:
    """Maximise the likelihood: from the best of several starts on a ``sample`` of the rows, then on all of them."""
    weight = 1.0 / problem.share
    level = float(problem.y @ weight) / float(weight.sum())
    spread = float(weight @ (problem.y - level) ** 2) / float(weight.sum())
    spread = spread if spread > 0.0 else 1.0
    scales = {"gamma": gammas[len(gammas) // 2] if gammas else 1.0, "noise": spread, "prior": spread}
    bounds = np.log([[scales[name] * end for end in RANGES[name]] for name in problem.free])
    small = problem.some(sample)
    starts = [
        np.log([{"gamma": gamma, "noise": share * spread, "prior": spread}[name] for name in problem.free])
        for gamma in gammas or [1.0]
        for share in NOISES
    ]
    best = max(starts, key=lambda start: small.at(start)[0])
    search = partial(climb, bounds=bounds, ftol=1e-13, gtol=1e-5)
    if len(small.y) < len(problem.y):
        best = search(small.at, best)[0]
    theta, value, slope = search(problem.at, best)
    ends = tuple(name for name, at, pair in zip(problem.free, theta, bounds, strict=True) if at in pair)
    return Found(problem.named(theta), value, float(np.linalg.norm(slope)) / max(1.0, abs(value)), ends)


def with_gamma(kernel: Kernel, gamma: float) -> Kernel:
    """Return a Gaussian or Laplacian kernel with another gamma.

    >>> with_gamma(Gaussian(1.0), 0.5)
    Gaussian(gamma=0.5)
    """
    assert isinstance(kernel, Gaussian | Laplacian)
    return replace(kernel, gamma=gamma)


def _pull(coef: Array, projection: Array, slopes: Array) -> float:
    return float(coef @ (slopes @ coef)) - float(np.sum(projection * slopes))
