"""What the proof asks of a loss: its rows at given scores, and dual points that can be moved."""

from __future__ import annotations

from typing import Protocol

from lineal.verify.arithmetic import Array


class Dual(Protocol):
    """A dual point: one theta per row in the domain of loss*, that may be moved by ``V z`` without leaving it."""

    @property
    def reach(self) -> float:
        """How large |z| may be."""

    @property
    def steady(self) -> bool:
        """Whether V stays the same when theta moves."""

    @property
    def coupled(self) -> bool:
        """Whether V mixes outputs (it then does not see what all of them share)."""

    @property
    def theta(self) -> Array:
        """The dual point, one row for each row."""

    @property
    def noise(self) -> Array:
        """A bound on the rounding error of theta, and of products with it."""

    @property
    def weight(self) -> Array:
        """The diagonal of V."""

    @property
    def sway(self) -> Array:
        """The largest |V z| for |z| <= 1."""

    def bend(self, z: Array) -> Array:
        """Return V z."""

    def moved(self, z: Array) -> Dual:
        """Return theta - V z."""

    def shrunk(self, a: float) -> Dual:
        """Return a theta, 0 <= a <= 1."""

    def eased(self) -> list[Dual]:
        """Return what to try in its place if nothing can be proven with it."""

    def cost(self, kappa: float) -> Array:
        """Return the largest mismatch of each row over theta - V z, |z| <= kappa; infinite where that leaves the domain."""


class Rows(Protocol):
    """A loss at the scores of all rows."""

    @property
    def coupled(self) -> bool:
        """Whether the curvature mixes outputs."""

    @property
    def value(self) -> Array:
        """The loss of each row."""

    @property
    def slope(self) -> Array:
        """Its derivative by the scores (at a corner, one of its slopes)."""

    @property
    def steep(self) -> Array:
        """How much the loss may change per unit of a score."""

    @property
    def weight(self) -> Array:
        """The diagonal of the curvature W."""

    def curved(self, u: Array) -> Array:
        """Return W u."""

    def duals(self, steps: list[Array], given: Array | None = None, /) -> list[Dual]:
        """Return dual points: the given one if there is one and slopes are none, else slope - W u for every step u."""
