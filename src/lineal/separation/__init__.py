"""Can a halfspace separate the classes? Decided exactly, with a witness for either answer."""

from __future__ import annotations

from lineal.separation.directions import Answer, Direction, check, look, seek
from lineal.separation.lossless import lossless
from lineal.separation.record import Separability, Witness, separability

__all__ = ["Answer", "Direction", "Separability", "Witness", "check", "look", "lossless", "seek", "separability"]
