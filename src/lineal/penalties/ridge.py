"""Ridge: (strength / 2) sum_j charge_j |b_j|^2; with no strength, no penalty."""

from __future__ import annotations

import math
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.penalties.penalty import Array, Penalty


@dataclass(frozen=True)
class Ridge(Penalty):
    """``penalty(b) = (strength / 2) sum_j charge_j |b_j|^2``.

    Charges are 1 for plain ridge, the variance of a column for ridge on standardised coefficients,
    0 for a column that is not charged (the intercept).

    >>> Ridge(0.5, np.array([0.0, 1.0])).value(np.array([[10.0], [2.0]]))
    1.0
    """

    strength: float
    charges: Array = field(repr=False)
    _curvature: Array = field(init=False, repr=False, compare=False)
    name: ClassVar[str] = "ridge"
    square: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.strength) and self.strength >= 0.0):
            raise InputError(f"the ridge strength is {self.strength}; it must be a finite number >= 0.")
        charges = self.charges
        # (NaN is both the least and the most)
        if len(charges) and not (charges[charges.argmin()] >= 0.0 and charges[charges.argmax()] < math.inf):
            raise InputError("the charges of a ridge penalty must be finite numbers >= 0, one per column.")
        object.__setattr__(self, "_curvature", self._fixed(self.strength * charges))

    @cached_property
    def charged(self) -> npt.NDArray[np.bool_]:
        """Columns whose charge times strength is above zero."""
        return self._fixed(self._curvature > 0.0)

    @cached_property
    def _part(self) -> slice | npt.NDArray[np.bool_]:
        """The charged columns; a slice where all of them come last."""
        first = int(self.charged.argmax()) if len(self.charged) else 0
        return slice(first, None) if self.charged[first:].all() else self.charged

    @staticmethod
    def _fixed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return an array that is handed out many times, and so may not be written to."""
        array.setflags(write=False)
        return array

    def value(self, coef: Array) -> float:
        """Return (strength / 2) sum_j charge_j |b_j|^2."""
        if coef.shape[1] == 1:
            return 0.5 * float((self._curvature * coef[:, 0]) @ coef[:, 0])
        return 0.5 * float(np.vdot(self._curvature[:, None] * coef, coef))

    def gradient(self, coef: Array) -> Array:
        """Return strength charge_j b_j."""
        return self.curvature()[:, None] * coef

    def curvature(self) -> Array:
        """Return strength charge_j."""
        return self._curvature

    def critical(self, gradient: Array) -> float:
        """Return 0 where the gradient is zero already, else infinity: ridge makes nothing exactly zero."""
        return float("inf") if np.any(gradient[self.charges > 0.0] != 0.0) else 0.0

    def at(self, strength: float) -> Ridge:
        """Return ridge with another strength."""
        return Ridge(strength, self.charges)

    def prox(self, coef: Array, step: Array) -> Array:
        """Return b_j / (1 + step_j strength charge_j)."""
        return np.asarray(coef / (1.0 + step * self.curvature())[:, None])

    def conjugate(self, slope: Array) -> float:
        """Return sum_j |slope_j|^2 / (2 strength charge_j)."""
        if np.any(slope[~self.charged] != 0.0):
            return float("inf")
        weight = self.curvature()[self.charged]
        return 0.5 * float(np.sum(slope[self.charged] ** 2 / weight[:, None]))

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return sum_j (strength charge_j / 2) |b_j + gradient_j / (strength charge_j)|^2 over the charged columns."""
        part, weight = self._part, self._curvature[self._part][:, None]
        off = weight * coef[part] + gradient[part]
        return 0.5 * float((off * off / weight).sum())

    def blur(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return sum_j (2 |strength charge_j b_j + gradient_j| error_j + error_j^2) / (2 strength charge_j)."""
        part, weight = self._part, self._curvature[self._part][:, None]
        off = np.abs(weight * coef[part] + gradient[part])
        error = error[part]
        return float(((off + 0.5 * error) * error / weight).sum())

    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return |gradient + strength charge b|."""
        return np.abs(gradient + self.gradient(coef))

    def take(self, columns: npt.NDArray[np.intp]) -> Ridge:
        """Return ridge on some of the columns."""
        return Ridge(self.strength, self.charges[columns])

    def without(self, columns: npt.NDArray[np.bool_]) -> Ridge:
        """Return ridge with some of the charges zero."""
        return Ridge(self.strength, np.where(columns, 0.0, self.charges))

    def rescaled(self, scale: Array) -> Ridge:
        """Return ridge with charges charge_j / scale_j^2."""
        return Ridge(self.strength, self.charges / scale**2)

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {"name": self.name, "strength": self.strength, "charges": self.charges}


class NoPenalty(Ridge):
    """No penalty at all: the strength is zero.

    >>> NoPenalty(2).value(np.ones((2, 1)))
    0.0
    """

    name: ClassVar[str] = "none"

    def __init__(self, columns: int) -> None:
        super().__init__(0.0, np.zeros(columns))

    def at(self, strength: float) -> Ridge:
        """Refuse: there is nothing to make stronger."""
        raise InputError("no penalty has no strength; choose ridge, l1, elastic net or group.")

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {"name": self.name}
