"""Terms out of a model file, every member checked: a file is somebody else's."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any, Final

from lineal.errors import ModelFileError
from lineal.features.formula import DEGREE, PIECES
from lineal.features.schema import texts
from lineal.features.schema.expecting import expect, finite, words_from
from lineal.features.schema.pair import pair_from
from lineal.features.schema.text import statistics_from, text_from
from lineal.features.terms.base import Boolean, Category, Number, Term
from lineal.features.terms.curves import FUNCTIONS, Curve, Poly, Spline
from lineal.features.terms.product import MANY, Factor, Product
from lineal.features.terms.written import Ordinal, Written

CURVES: Final = {"function": (), "poly": ("degree", "centre", "half", "origin"), "spline": ("knots",)}
"""Terms of formulas, with the members that only they have."""


def term_from(data: Any) -> Term:
    """Return a term, or refuse the file naming what is wrong."""
    expect(isinstance(data, dict), "has a term that is not an object")
    kind = data.get("kind")
    if kind == "product":
        return _product(data)
    if kind == "text":
        return text_from(data)
    if kind == "pair":
        return pair_from(data)
    if kind == "statistics":
        return statistics_from(data)
    fields = {
        **{name: {"kind", "column", "functions", "fill", "indicator"} for name in CURVES},
        "number": {"kind", "column", "fill", "indicator"},
        "boolean": {"kind", "column", "true", "false", "fill", "indicator"},
        "category": {"kind", "column", "levels", "reference", "missing"},
        **{name: {"kind", "column", *members} for name, members in texts.FIELDS.items()},
    }
    expect(isinstance(kind, str) and kind in fields, f"has a term of unknown kind {kind!r}")
    fields = {name: members | set(CURVES.get(name, ())) for name, members in fields.items()}
    expect(set(data) == fields[kind], f"has a {kind} term with other members than {sorted(fields[kind])}")
    name = data["column"]
    expect(isinstance(name, str) and name != "", f"has a {kind} term without a column name")
    if kind in texts.FIELDS:
        return texts.term_from(kind, name, data)
    if kind == "category":
        levels = words_from(data["levels"], name)
        expect(
            data["reference"] is None or data["reference"] in levels,
            f"has a reference level of {name!r} that is none of its levels",
        )
        expect(isinstance(data["missing"], bool), f"must say for {name!r} whether cells were missing, true or false")
        return Category(name, levels, data["reference"], data["missing"])
    fill, indicator = data["fill"], data["indicator"]
    expect(finite(fill), f"has no finite fill for {name!r}")
    expect(isinstance(indicator, bool), f"must say for {name!r} whether there is an indicator, true or false")
    if kind == "number":
        return Number(name, float(fill), indicator)
    if kind in CURVES:
        return _curve(data, Curve(name, _functions(data["functions"], name), float(fill), indicator))
    true, false = words_from(data["true"], name), words_from(data["false"], name)
    expect(
        not {word.lower() for word in true} & {word.lower() for word in false},
        f"has a word of {name!r} that is both true and false",
    )
    return Boolean(name, true, false, float(fill), indicator)


def _functions(data: Any, name: str) -> tuple[str, ...]:
    known = isinstance(data, list) and all(isinstance(word, str) and word in FUNCTIONS for word in data)
    expect(known and len(data) <= 10, f"applies functions to {name!r} that do not exist")
    return tuple(data)


def _curve(data: Any, curve: Curve) -> Curve:
    """Return a function, a polynomial or a spline."""
    base = (curve.column, curve.functions, curve.fill, curve.indicator)
    if data["kind"] == "function":
        return curve
    if data["kind"] == "poly":
        degree, centre, half, origin = (data[member] for member in CURVES["poly"])
        expect(isinstance(origin, bool), f"must say for {curve.column!r} whether there is a constant, true or false")
        expect(isinstance(degree, int) and not isinstance(degree, bool) and 1 <= degree <= DEGREE, "has an odd degree")
        expect(finite(centre) and finite(half) and half > 0, f"has no range for the powers of {curve.column!r}")
        return Poly(*base, degree=degree, centre=float(centre), half=float(half), origin=origin)
    knots = data["knots"]
    fine = isinstance(knots, list) and 3 <= len(knots) <= PIECES + 1 and all(map(finite, knots))
    expect(fine and all(a < b for a, b in pairwise(knots)), f"has no increasing knots for {curve.column!r}")
    return Spline(*base, knots=tuple(map(float, knots)))


def _product(data: Any) -> Product:
    expect(set(data) == {"kind", "factors"}, "has a product with other members than its factors")
    factors = data["factors"]
    expect(
        isinstance(factors, list) and 2 <= len(factors) <= 10, "has a product of fewer than 2 or more than 10 factors"
    )
    terms: list[Factor] = []
    for factor in factors:
        expect(isinstance(factor, dict) and factor.get("kind") != "product", "has a product within a product")
        term = term_from(factor)
        if not isinstance(term, Number | Boolean | Curve | Category | Written | Ordinal):
            raise ModelFileError("the encoder in the model file has a product of what cannot be multiplied.")
        terms.append(term)
    found = Product(tuple(terms))
    expect(prod(len(term.columns) for term in terms) <= MANY, "has a product of too many columns")
    return found
