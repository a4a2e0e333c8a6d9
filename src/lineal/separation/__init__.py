"""Can a halfspace separate the classes? Decided exactly, with a witness for either answer."""

from __future__ import annotations

from lineal.separation.directions import Answer, Direction, check, look, seek

__all__ = ["Answer", "Direction", "check", "look", "seek"]
