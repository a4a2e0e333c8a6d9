"""Bounds on coefficients, alone or on top of a penalty that looks at one coefficient at a time."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.penalties.l1 import L1
from lineal.penalties.penalty import Penalty
from lineal.penalties.separable import Separable


@dataclass(frozen=True)
class Bounds(Separable):
    """``penalty(b) = inner(b)`` where ``lower_j <= b_jk <= upper_j``, else infinity.

    Bounds may be infinite; equal ones fix a coefficient. A lower bound above the upper one is allowed here, because
    that no coefficients exist is a verdict (``infeasible``), not an error.

    >>> from lineal.penalties import NoPenalty
    >>> Bounds(np.array([-np.inf, 0.0]), np.array([np.inf, 1.0]), NoPenalty(2)).prox(np.array([[3.0], [-2.0]]), np.ones(2))
    array([[3.],
           [0.]])
    """

    lower: Array = field(repr=False)
    upper: Array = field(repr=False)
    inner: Penalty
    name: ClassVar[str] = "bounds"
    label: ClassVar[str] = "bounded"
    parameters: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        inner = self.inner.costs(2)
        if inner is None or self.inner.bounds is not None:
            raise InputError(
                f"bounds on top of the penalty {self.inner.name!r} have no joint prox; "
                "put them on none, ridge, l1 or the elastic net."
            )
        shape = self.inner.penalized.shape
        for word, bound, empty in (("lower", self.lower, np.inf), ("upper", self.upper, -np.inf)):
            if bound.shape != shape:
                raise InputError(f"the {word} bounds have shape {bound.shape}; the penalty has {shape[0]} columns.")
            if np.any(np.isnan(bound) | (bound == empty)):
                raise InputError(f"the {word} bounds must be numbers, or {-empty} for none.")
        object.__setattr__(self, "penalty_factors", self.inner.penalty_factors)
        object.__setattr__(self, "strength", self.inner.strength)

    @cached_property
    def least(self) -> Array:
        """Smallest coefficient allowed."""
        return self.lower

    @cached_property
    def most(self) -> Array:
        """Largest coefficient allowed."""
        return self.upper

    @property
    def bounds(self) -> tuple[Array, Array]:
        """The bounds."""
        return self.lower, self.upper

    def without_bounds(self) -> Penalty:
        """Return the inner penalty."""
        return self.inner

    def formula(self, strength: str, scale: str, outputs: int) -> str:
        """Return the inner penalty's."""
        return self.inner.formula(strength, scale, outputs)

    @property
    def rate(self) -> Array:
        """The inner penalty's."""
        return self.inner.rate

    @property
    def linear(self) -> Array:
        """The inner penalty's."""
        return self.inner.linear

    def curvature(self) -> Array:
        """Return the inner penalty's."""
        return self.inner.curvature()

    def conflicts(self) -> Index:
        """Return the columns whose lower bound is above the upper one."""
        return np.flatnonzero(self.lower > self.upper)

    def at(self, strength: float) -> Bounds:
        """Return the same bounds on the inner penalty with another strength."""
        return Bounds(self.lower, self.upper, self.inner.at(strength))

    def take(self, columns: Index) -> Bounds:
        """Return the bounds of some of the columns."""
        return Bounds(self.lower[columns], self.upper[columns], self.inner.take(columns))

    def without(self, columns: Mask) -> Bounds:
        """Return the same bounds on the lighter inner penalty."""
        return Bounds(self.lower, self.upper, self.inner.without(columns))

    def rescaled(self, scale: Array) -> Bounds:
        """Return bounds scale_j lower_j and scale_j upper_j on the rescaled inner penalty."""
        first, second = self.lower * scale, self.upper * scale
        return Bounds(np.minimum(first, second), np.maximum(first, second), self.inner.rescaled(scale))

    @classmethod
    def example(cls, penalty_factors: Array) -> Bounds:
        """Return every second penalized column of a lasso between two bounds, the others above one."""
        free = np.full(len(penalty_factors), np.inf)
        second = np.arange(len(free)) % 2 == 1
        upper = np.where(second, 0.3, free)
        lower = np.where(second, -0.5, np.where(penalty_factors > 0.0, 0.0, -free))
        return cls(lower, upper, L1.example(penalty_factors))

    def to_dict(self) -> dict[str, object]:
        """Return plain data."""
        return {"name": self.name, "lower": self.lower, "upper": self.upper, "inner": self.inner.to_dict()}
