"""Group lasso over outputs: a column is used by all outputs or by none."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lineal.ground.records import dataclass
from lineal.penalties.penalty import Array, Penalty
from lineal.penalties.separable import checked

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Group(Penalty):
    """``penalty(b) = strength sum_j charge_j |b_j|``, ``|b_j|`` the Euclidean norm of a column's coefficients over outputs.

    With one output it is the lasso.

    >>> Group(0.5, np.array([0.0, 1.0])).value(np.array([[10.0, 10.0], [3.0, 4.0]]))
    2.5
    """

    strength: float
    charges: Array = field(repr=False)
    name: ClassVar[str] = "group"
    smooth: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked(self.name, self.strength, self.charges)

    @property
    def linear(self) -> Array:
        """Strength charge_j."""
        return self.strength * self.charges

    @property
    def charged(self) -> Mask:
        """Columns whose charge times strength is above zero."""
        return self.linear > 0.0

    def value(self, coef: Array) -> float:
        """Return strength sum_j charge_j |b_j|."""
        return float(self.linear @ _norm(coef))

    def moving(self, coef: Array) -> Mask:
        """Return the columns that are not charged, or not zero."""
        return np.broadcast_to((~self.charged | np.any(coef != 0.0, axis=1))[:, None], coef.shape)

    def gradient(self, coef: Array) -> Array:
        """Return strength charge_j b_j / |b_j|, 0 where b_j is."""
        norm = _norm(coef)
        return np.asarray((self.linear / np.where(norm > 0.0, norm, 1.0))[:, None] * coef)

    def curvature(self) -> Array:
        """Return 0: nothing of it is a square."""
        return np.zeros(len(self.charges))

    def shrink(self, gradient: Array) -> float:
        """Return min_j strength charge_j / |gradient_j|, at most 1."""
        size, rate = _norm(gradient)[self.charged], self.linear[self.charged]
        return float(np.min(rate / np.maximum(size, rate), initial=1.0))

    def critical(self, gradient: Array) -> float:
        """Return max_j |gradient_j| / charge_j."""
        seen = self.charges > 0.0
        return float(np.max(_norm(gradient)[seen] / self.charges[seen], initial=0.0))

    def at(self, strength: float) -> Group:
        """Return the group penalty with another strength."""
        return Group(strength, self.charges)

    def prox(self, coef: Array, step: Array) -> Array:
        """Return b_j max(0, 1 - step_j strength charge_j / |b_j|)."""
        norm, cut = _norm(coef), step * self.linear
        keep = np.where(norm > cut, 1.0 - cut / np.where(norm > 0.0, norm, 1.0), np.where(cut > 0.0, 0.0, 1.0))
        return np.asarray(keep[:, None] * coef)

    def conjugate(self, slope: Array) -> float:
        """Return 0 where |slope_j| <= strength charge_j for all columns, else infinity."""
        return 0.0 if np.all(_norm(slope) <= self.linear) else float("inf")

    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return sum_j (rate_j - |g_j|) |b_j| + ||b_j| g_j + |g_j| b_j|^2 / (2 |g_j| |b_j|), infinity where |g_j| > rate_j."""
        b, g, rate = coef[self.charged], gradient[self.charged], self.linear[self.charged]
        size, pull = _norm(b), _norm(g)
        if np.any(pull > rate):
            return float("inf")
        both = size * pull
        turn = np.sum((size[:, None] * g + pull[:, None] * b) ** 2, axis=1) / (2.0 * np.where(both > 0.0, both, 1.0))
        return float(np.sum((rate - pull) * size + np.where(both > 0.0, turn, 0.0)))

    def blur(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return sum |b| error, infinity where the error may bring a gradient out of its ball."""
        seen = self.charged
        if np.any((_norm(gradient) + _norm(error) > self.linear)[seen & np.any(error > 0.0, axis=1)]):
            return float("inf")
        return float(np.sum(np.abs(coef[seen]) * error[seen]))

    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return |gradient_j + rate_j b_j / |b_j||; at zero what of |gradient_j| exceeds rate_j."""
        zero = ~np.any(coef != 0.0, axis=1)
        size = _norm(gradient)
        over = np.maximum(0.0, 1.0 - self.linear / np.where(size > 0.0, size, 1.0)) * (size > 0.0)
        return np.where(zero[:, None], np.abs(gradient) * over[:, None], np.abs(gradient + self.gradient(coef)))

    def take(self, columns: npt.NDArray[np.intp]) -> Group:
        """Return the group penalty on some of the columns."""
        return Group(self.strength, self.charges[columns])

    def without(self, columns: npt.NDArray[np.bool_]) -> Group:
        """Return the group penalty with some of the charges zero."""
        return Group(self.strength, np.where(columns, 0.0, self.charges))

    def rescaled(self, scale: Array) -> Group:
        """Return the group penalty with charges charge_j / scale_j."""
        return Group(self.strength, self.charges / scale)

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {"name": self.name, "strength": self.strength, "charges": self.charges}


def _norm(rows: Array) -> Array:
    """Return the Euclidean norm of every row, safe from under- and overflow."""
    top = np.max(np.abs(rows), axis=1, initial=0.0)
    safe = np.where((top > 0.0) & np.isfinite(top), top, 1.0)
    return np.asarray(safe * np.sqrt(np.sum((rows / safe[:, None]) ** 2, axis=1)))
