"""What is proven about given coefficients: a bound of F(b) - F* from a dual point, for every kind of loss."""

from __future__ import annotations

from lineal.certify.proof import Proof
from lineal.certify.proving import prove

__all__ = ["Proof", "prove"]
