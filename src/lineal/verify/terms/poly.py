"""Powers of a number up to a degree, on a basis that keeps digits: the twin is in curve.py."""

from __future__ import annotations

from typing import Final

from lineal.verify.terms import curve
from lineal.verify.terms.curve import TYPE, Learner, names, values

FIELDS: Final[dict[str, tuple[type, ...]]] = {
    **curve.FIELDS,
    "degree": (int,),
    "centre": (float, int),
    "half": (float, int),
    "origin": (bool,),
}

__all__ = ["FIELDS", "TYPE", "Learner", "names", "values"]
