"""A natural cubic spline of a number: the twin is in curve.py."""

from __future__ import annotations

from typing import Final

from lineal.verify.terms import curve
from lineal.verify.terms.curve import TYPE, Learner, names, values

FIELDS: Final[dict[str, tuple[type, ...]]] = {**curve.FIELDS, "knots": (list,)}

__all__ = ["FIELDS", "TYPE", "Learner", "names", "values"]
