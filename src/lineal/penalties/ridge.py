"""Ridge: (strength / 2) sum_j factor_j |b_j|^2; with no strength, no penalty."""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.penalties.costs import CoordinateCosts
from lineal.penalties.penalty import Penalty, squared


@dataclass(frozen=True)
class Ridge(Penalty):
    """``penalty(b) = (strength / 2) sum_j factor_j |b_j|^2``.

    Penalty factors are 1 for plain ridge, the variance of a column for ridge on standardised coefficients,
    0 for a column that is not penalized (the intercept).

    >>> Ridge(0.5, np.array([0.0, 1.0])).value(np.array([[10.0], [2.0]]))
    1.0
    """

    strength: float
    penalty_factors: Array = field(repr=False)
    _curvature: Array = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "ridge"
    label: ClassVar[str] = "ridge"
    factor_unit: ClassVar[Literal["variance", "sd"]] = "variance"
    square: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.strength) and self.strength >= 0.0):
            raise InputError(f"the ridge strength is {self.strength}; it must be a finite number >= 0.")
        penalty_factors = self.penalty_factors
        # (NaN is both the least and the most)
        if len(penalty_factors) and not (
            penalty_factors[penalty_factors.argmin()] >= 0.0 and penalty_factors[penalty_factors.argmax()] < math.inf
        ):
            raise InputError("the penalty factors of a ridge penalty must be finite numbers >= 0, one per column.")
        object.__setattr__(self, "_curvature", self._fixed(self.strength * penalty_factors))

    def formula(self, strength: str, scale: str, outputs: int) -> str:
        """Return (strength / 2) sum_j factor_j |b_j|^2 in letters."""
        return f"{strength}/2 * sum {squared(scale, outputs)}"

    def no_errors(self) -> str | None:
        """Return that a ridge which penalizes anything pulls coefficients towards zero."""
        if not self.penalized.any():
            return None
        return (
            "a ridge penalty pulls coefficients towards zero, so their standard errors do not measure their distance "
            "from the truth and p-values would be wrong. Fit without a penalty (penalty='none', --penalty none), or fit the "
            "posterior of a ridge (model='bayes', --model bayes; docs/statistics.md)."
        )

    def costs(self, outputs: int) -> CoordinateCosts:
        """Return the squares."""
        free = np.full(len(self.penalty_factors), np.inf)
        return CoordinateCosts(self.linear, self._curvature, -free, free)

    @cached_property
    def penalized(self) -> Mask:
        """Columns whose penalty factor times strength is above zero."""
        return self._fixed(self._curvature > 0.0)

    @cached_property
    def _part(self) -> slice | Mask:
        """The penalized columns; a slice where all of them come last."""
        first = int(self.penalized.argmax()) if len(self.penalized) else 0
        return slice(first, None) if self.penalized[first:].all() else self.penalized

    @staticmethod
    def _fixed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an array that is handed out many times, and so may not be written to."""
        array.setflags(write=False)
        return array

    def value(self, coef: Array) -> float:
        """Return (strength / 2) sum_j factor_j |b_j|^2."""
        if coef.shape[1] == 1:
            return 0.5 * float((self._curvature * coef[:, 0]) @ coef[:, 0])
        return 0.5 * float(np.vdot(self._curvature[:, None] * coef, coef))

    def gradient(self, coef: Array) -> Array:
        """Return strength factor_j b_j."""
        return self.curvature()[:, None] * coef

    def curvature(self) -> Array:
        """Return strength factor_j."""
        return self._curvature

    def critical(self, gradient: Array) -> float:
        """Return 0 where the gradient is zero already, else infinity: ridge makes nothing exactly zero."""
        return float("inf") if np.any(gradient[self.penalty_factors > 0.0] != 0.0) else 0.0

    def prox(self, coef: Array, step: Array) -> Array:
        """Return b_j / (1 + step_j strength factor_j)."""
        return np.asarray(coef / (1.0 + step * self.curvature())[:, None])

    def conjugate(self, slope: Array) -> float:
        """Return sum_j |slope_j|^2 / (2 strength factor_j)."""
        if np.any(slope[~self.penalized] != 0.0):
            return float("inf")
        weight = self.curvature()[self.penalized]
        return 0.5 * float(np.sum(slope[self.penalized] ** 2 / weight[:, None]))

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return sum_j (strength factor_j / 2) |b_j + gradient_j / (strength factor_j)|^2 over the penalized columns."""
        part, weight = self._part, self._curvature[self._part][:, None]
        off = weight * coef[part] + gradient[part]
        return 0.5 * float((off * off / weight).sum())

    def mismatch_error(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return sum_j (2 |strength factor_j b_j + gradient_j| error_j + error_j^2) / (2 strength factor_j)."""
        part, weight = self._part, self._curvature[self._part][:, None]
        off = np.abs(weight * coef[part] + gradient[part])
        error = error[part]
        return float(((off + 0.5 * error) * error / weight).sum())

    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return |gradient + strength factor_j b|."""
        return np.abs(gradient + self.gradient(coef))


class NoPenalty(Ridge):
    """No penalty at all: the strength is zero.

    >>> NoPenalty(2).value(np.ones((2, 1)))
    0.0
    """

    name: ClassVar[str] = "none"
    label: ClassVar[str] = "no"
    parameters: ClassVar[tuple[str, ...]] = ()

    def __init__(self, columns: int) -> None:
        super().__init__(0.0, np.zeros(columns))

    @classmethod
    def make(cls, penalty_factors: Array, **_parameters: float) -> NoPenalty:
        """Return no penalty on as many columns as there are penalty factors."""
        return cls(len(penalty_factors))

    def formula(self, strength: str, scale: str, outputs: int) -> str:
        """Return nothing."""
        return ""

    def at(self, strength: float) -> Penalty:
        """Refuse: there is nothing to make stronger."""
        raise InputError("no penalty has no strength; choose ridge, l1, elastic net or group.")

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {"name": self.name}
