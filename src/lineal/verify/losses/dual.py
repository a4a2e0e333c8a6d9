"""What the proof asks of dual points: that they can be moved."""

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
    def theta_error(self) -> Array:
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
