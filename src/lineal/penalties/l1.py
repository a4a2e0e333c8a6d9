"""Penalties that make coefficients exactly zero: the lasso and the elastic net."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.penalties.penalty import checked, letter, squared
from lineal.penalties.separable import Unbounded


@dataclass(frozen=True)
class L1(Unbounded):
    """``penalty(b) = strength sum_jk factor_j |b_jk|``.

    Penalty factors are 1 for the plain lasso, the standard deviation of a column for the lasso on standardised coefficients,
    0 for a column that is not penalized.

    >>> L1(0.5, np.array([0.0, 1.0])).value(np.array([[10.0], [-2.0]]))
    1.0
    """

    strength: float
    penalty_factors: Array = field(repr=False)
    name: ClassVar[str] = "l1"
    label: ClassVar[str] = "l1"

    def __post_init__(self) -> None:
        checked(self.label, self.strength, self.penalty_factors)

    def formula(self, strength: str, scale: str, outputs: int) -> str:
        """Return strength sum_jk factor_j |b_jk| in letters."""
        return f"{strength} * sum {scale}|{letter(outputs)}|"

    @property
    def rate(self) -> Array:
        """factor_j."""
        return self.penalty_factors

    @cached_property
    def linear(self) -> Array:
        """Strength factor_j."""
        return self.strength * self.penalty_factors

    @cached_property
    def _curvature(self) -> Array:
        return np.zeros(len(self.penalty_factors))

    def curvature(self) -> Array:
        """Return 0."""
        return self._curvature

    def value(self, coef: Array) -> float:
        """Return strength sum_jk factor_j |b_jk|."""
        if coef.shape[1] == 1:
            return float(self.linear @ np.abs(coef[:, 0]))
        used, size = _used(coef)
        return float(self.linear[used] @ size)

    def shrink(self, gradient: Array) -> float:
        """Return min_jk strength factor_j / |gradient_jk|, at most 1."""
        size = np.max(np.abs(gradient), axis=1)
        over = np.flatnonzero((size > self.linear) & self.penalized)
        return float(np.min(self.linear[over] / size[over], initial=1.0))

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return sum_jk |b_jk| (strength factor_j + sign(b_jk) gradient_jk), infinity where |gradient| is larger than that."""
        if np.any((np.max(np.abs(gradient), axis=1) > self.linear) & self.penalized):
            return float("inf")
        used = np.flatnonzero(self.penalized & coef.any(axis=1))
        b = coef[used]
        return float(np.sum(np.abs(b) * (self.linear[used, None] + np.sign(b) * gradient[used])))

    def mismatch_error(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return sum |b| error, infinity where the error may bring a gradient beyond what its penalty factor allows."""
        reach = np.max(np.where(error > 0.0, np.abs(gradient) + error, 0.0), axis=1)
        if np.any((reach > self.linear) & self.penalized):
            return float("inf")
        used = np.flatnonzero(self.penalized & coef.any(axis=1))
        return float(np.sum(np.abs(coef[used]) * error[used]))


@dataclass(frozen=True)
class ElasticNet(Unbounded):
    """``penalty(b) = strength sum_jk (l1_ratio factor_j |b_jk| + (1 - l1_ratio) / 2 (factor_j b_jk)^2)``.

    It penalizes ``factor_j b_j``: the penalty factor of a column stands beside ``|b_j|`` and, squared, beside
    ``b_j^2``. So penalty factors are standard deviations for the elastic net on standardised coefficients, and a change
    of units is a change of penalty factors. (The penalty factors of ``Ridge`` stand beside ``b_j^2`` as they are.)

    >>> ElasticNet(1.0, 0.5, np.array([0.0, 1.0])).value(np.array([[10.0], [2.0]]))
    2.0
    """

    strength: float
    l1_ratio: float
    penalty_factors: Array = field(repr=False)
    name: ClassVar[str] = "elastic"
    label: ClassVar[str] = "elastic net"
    parameters: ClassVar[tuple[str, ...]] = ("strength", "l1_ratio")

    def __post_init__(self) -> None:
        checked(self.label, self.strength, self.penalty_factors)
        if not 0.0 <= self.l1_ratio <= 1.0:
            raise InputError(f"the l1_ratio is {self.l1_ratio}; it must lie between 0 (ridge) and 1 (lasso).")

    def formula(self, strength: str, scale: str, outputs: int) -> str:
        """Return strength sum_jk (l1_ratio factor_j |b_jk| + (1 - l1_ratio) / 2 (factor_j b_jk)^2) in letters."""
        linear, square = f"{scale}|{letter(outputs)}|", squared(scale, outputs)
        return f"{strength} * sum ({self.l1_ratio:g} {linear} + {1 - self.l1_ratio:g}/2 {square})"

    @property
    def rate(self) -> Array:
        """l1_ratio factor_j."""
        return self.l1_ratio * self.penalty_factors

    @cached_property
    def linear(self) -> Array:
        """Strength l1_ratio factor_j."""
        return self.strength * self.l1_ratio * self.penalty_factors

    @cached_property
    def _curvature(self) -> Array:
        return self.strength * (1.0 - self.l1_ratio) * self.penalty_factors**2

    def curvature(self) -> Array:
        """Return strength (1 - l1_ratio) factor_j^2."""
        return self._curvature

    def critical(self, gradient: Array) -> float:
        """Return max_j |gradient_j| / (l1_ratio factor_j): the square has no say at zero."""
        penalized = self.penalty_factors > 0.0
        size = float(np.max(np.abs(gradient[penalized]) / self.penalty_factors[penalized][:, None], initial=0.0))
        if size == 0.0:
            return 0.0
        return size / self.l1_ratio if self.l1_ratio > 0.0 else float("inf")


def _used(coef: Array) -> tuple[Index, Array]:
    """Return the columns that are not zero and the sum of their sizes over outputs: few, where there are many columns."""
    used = np.flatnonzero(coef.any(axis=1))
    return used, np.abs(coef[used]).sum(axis=1)
