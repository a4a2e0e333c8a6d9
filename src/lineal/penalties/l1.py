"""Penalties that make coefficients exactly zero: the lasso and the elastic net."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.penalties.penalty import Array
from lineal.penalties.separable import Unbounded, checked


@dataclass(frozen=True)
class L1(Unbounded):
    """``penalty(b) = strength sum_jk charge_j |b_jk|``.

    Charges are 1 for the plain lasso, the standard deviation of a column for the lasso on standardised coefficients,
    0 for a column that is not charged.

    >>> L1(0.5, np.array([0.0, 1.0])).value(np.array([[10.0], [-2.0]]))
    1.0
    """

    strength: float
    charges: Array = field(repr=False)
    name: ClassVar[str] = "l1"

    def __post_init__(self) -> None:
        checked(self.name, self.strength, self.charges)

    @property
    def rate(self) -> Array:
        """charge_j."""
        return self.charges

    @cached_property
    def linear(self) -> Array:
        """Strength charge_j."""
        return self.strength * self.charges

    @cached_property
    def _curvature(self) -> Array:
        return np.zeros(len(self.charges))

    def curvature(self) -> Array:
        """Return 0."""
        return self._curvature

    def value(self, coef: Array) -> float:
        """Return strength sum_jk charge_j |b_jk|."""
        if coef.shape[1] == 1:
            return float(self.linear @ np.abs(coef[:, 0]))
        used, size = _used(coef)
        return float(self.linear[used] @ size)

    def shrink(self, gradient: Array) -> float:
        """Return min_jk strength charge_j / |gradient_jk|, at most 1."""
        size = np.max(np.abs(gradient), axis=1)
        over = np.flatnonzero((size > self.linear) & self.charged)
        return float(np.min(self.linear[over] / size[over], initial=1.0))

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return sum_jk |b_jk| (strength charge_j + sign(b_jk) gradient_jk), infinity where |gradient| is larger than that."""
        if np.any((np.max(np.abs(gradient), axis=1) > self.linear) & self.charged):
            return float("inf")
        used = np.flatnonzero(self.charged & coef.any(axis=1))
        b = coef[used]
        return float(np.sum(np.abs(b) * (self.linear[used, None] + np.sign(b) * gradient[used])))

    def blur(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return sum |b| error, infinity where the error may bring a gradient beyond what its charge allows."""
        reach = np.max(np.where(error > 0.0, np.abs(gradient) + error, 0.0), axis=1)
        if np.any((reach > self.linear) & self.charged):
            return float("inf")
        used = np.flatnonzero(self.charged & coef.any(axis=1))
        return float(np.sum(np.abs(coef[used]) * error[used]))

    def at(self, strength: float) -> L1:
        """Return l1 with another strength."""
        return L1(strength, self.charges)

    def take(self, columns: npt.NDArray[np.intp]) -> L1:
        """Return l1 on some of the columns."""
        return L1(self.strength, self.charges[columns])

    def without(self, columns: npt.NDArray[np.bool_]) -> L1:
        """Return l1 with some of the charges zero."""
        return L1(self.strength, np.where(columns, 0.0, self.charges))

    def rescaled(self, scale: Array) -> L1:
        """Return l1 with charges charge_j / scale_j."""
        return L1(self.strength, self.charges / scale)

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {"name": self.name, "strength": self.strength, "charges": self.charges}


@dataclass(frozen=True)
class ElasticNet(Unbounded):
    """``penalty(b) = strength sum_jk (l1_ratio charge_j |b_jk| + (1 - l1_ratio) / 2 (charge_j b_jk)^2)``.

    It charges ``charge_j b_j``: the charge of a column stands beside ``|b_j|`` and, squared, beside ``b_j^2``. So charges
    are standard deviations for the elastic net on standardised coefficients, and a change of units is a change of charges.
    (The charges of ``Ridge`` stand beside ``b_j^2`` as they are.)

    >>> ElasticNet(1.0, 0.5, np.array([0.0, 1.0])).value(np.array([[10.0], [2.0]]))
    2.0
    """

    strength: float
    l1_ratio: float
    charges: Array = field(repr=False)
    name: ClassVar[str] = "elastic"

    def __post_init__(self) -> None:
        checked("elastic net", self.strength, self.charges)
        if not 0.0 <= self.l1_ratio <= 1.0:
            raise InputError(f"the l1_ratio is {self.l1_ratio}; it must lie between 0 (ridge) and 1 (lasso).")

    @property
    def rate(self) -> Array:
        """l1_ratio charge_j."""
        return self.l1_ratio * self.charges

    @cached_property
    def linear(self) -> Array:
        """Strength l1_ratio charge_j."""
        return self.strength * self.l1_ratio * self.charges

    @cached_property
    def _curvature(self) -> Array:
        return self.strength * (1.0 - self.l1_ratio) * self.charges**2

    def curvature(self) -> Array:
        """Return strength (1 - l1_ratio) charge_j^2."""
        return self._curvature

    def critical(self, gradient: Array) -> float:
        """Return max_j |gradient_j| / (l1_ratio charge_j): the square has no say at zero."""
        charged = self.charges > 0.0
        size = float(np.max(np.abs(gradient[charged]) / self.charges[charged][:, None], initial=0.0))
        return 0.0 if size == 0.0 else size / self.l1_ratio if self.l1_ratio > 0.0 else float("inf")

    def at(self, strength: float) -> ElasticNet:
        """Return the elastic net with another strength and the same ratio."""
        return ElasticNet(strength, self.l1_ratio, self.charges)

    def take(self, columns: npt.NDArray[np.intp]) -> ElasticNet:
        """Return the elastic net on some of the columns."""
        return ElasticNet(self.strength, self.l1_ratio, self.charges[columns])

    def without(self, columns: npt.NDArray[np.bool_]) -> ElasticNet:
        """Return the elastic net with some of the charges zero."""
        return ElasticNet(self.strength, self.l1_ratio, np.where(columns, 0.0, self.charges))

    def rescaled(self, scale: Array) -> ElasticNet:
        """Return the elastic net with charges charge_j / scale_j."""
        return ElasticNet(self.strength, self.l1_ratio, self.charges / scale)

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {"name": self.name, "strength": self.strength, "l1_ratio": self.l1_ratio, "charges": self.charges}


def _used(coef: Array) -> tuple[npt.NDArray[np.intp], Array]:
    """Return the columns that are not zero and the sum of their sizes over outputs: few, where there are many columns."""
    used = np.flatnonzero(coef.any(axis=1))
    return used, np.abs(coef[used]).sum(axis=1)
