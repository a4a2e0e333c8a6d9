"""The catalogue of terms: how columns of a table become columns of a design, one class each."""

from __future__ import annotations

from typing import Any

from lineal.features.terms.boolean import Boolean
from lineal.features.terms.bspline import BSpline
from lineal.features.terms.category import Category, Merged
from lineal.features.terms.contrast import Contrast
from lineal.features.terms.curve import FUNCTIONS, Curve
from lineal.features.terms.cut import Cut
from lineal.features.terms.date_parts import Cycle, Elapsed
from lineal.features.terms.fourier import Fourier
from lineal.features.terms.hashed import Hashed
from lineal.features.terms.members import expect
from lineal.features.terms.number import Number
from lineal.features.terms.nystroem import Nystroem
from lineal.features.terms.pair import Pair
from lineal.features.terms.poly import Poly
from lineal.features.terms.product import Product
from lineal.features.terms.quadratic import Quadratic
from lineal.features.terms.scaled import Scaled
from lineal.features.terms.spline import Spline
from lineal.features.terms.term import Numeric, Single, Term
from lineal.features.terms.text import Text
from lineal.features.terms.text_statistics import TextStatistics
from lineal.features.terms.verbatim import Verbatim
from lineal.features.terms.written import Ordinal, Written

ALL: tuple[type[Term], ...] = (
    Number,
    Boolean,
    Category,
    Merged,
    Contrast,
    Hashed,
    Curve,
    Poly,
    Spline,
    BSpline,
    Scaled,
    Cut,
    Written,
    Ordinal,
    Elapsed,
    Cycle,
    Text,
    TextStatistics,
    Verbatim,
    Pair,
    Product,
    Quadratic,
    Fourier,
    Nystroem,
)
"""Every term. Whoever needs a list of kinds, of functions or of words asks here."""


def read(data: Any) -> Term:
    """Return the term of a model file, or refuse the file naming what is wrong.

    >>> read({"kind": "number", "column": "age", "fill": 41.5, "indicator": False}).columns
    ('age',)
    """
    expect(isinstance(data, dict), "has a term that is not an object")
    kind = data.get("kind")
    same = [term for term in ALL if term.kind == kind]
    expect(len(same) == 1, f"has a term of unknown kind {kind!r}")
    return same[0].from_dict(data)


def called() -> dict[str, type[Term]]:
    """Return the terms that a formula calls by name.

    >>> list(called())
    ['C', 'factor', 'poly', 'spline', 'ns', 'bs', 'scale', 'cut', 'quadratic', 'fourier', 'nystroem']
    """
    return {name: term for term in ALL if term.usage for name in (term.usage.partition("(")[0], *term.also)}


__all__ = [
    "ALL", "FUNCTIONS", "BSpline", "Boolean", "Category", "Contrast", "Curve", "Cut", "Cycle", "Elapsed", "Fourier", "Hashed",
    "Merged", "Number", "Numeric", "Nystroem", "Ordinal", "Pair", "Poly", "Product", "Quadratic", "Scaled", "Single", "Spline",
    "Term", "Text", "TextStatistics", "Verbatim", "Written", "called", "read",
]  # fmt: skip
