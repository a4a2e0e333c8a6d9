"""A test of every term of a model: what its columns add to those of the others."""

from __future__ import annotations

from collections import Counter

from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.features.terms import Product
from lineal.ground.records import dataclass
from lineal.inference.hypotheses import Tests
from lineal.inference.wald import Estimates
from lineal.model.model import Model


@dataclass(frozen=True)
class Termed:
    """A term: its name, the places of its columns, and what it is a product of."""

    name: str
    places: list[int]
    factors: Counter[str]

    def within(self, other: Termed) -> bool:
        """Whether the other is a product of this and more."""
        return self.factors != other.factors and self.factors <= other.factors


def term_tests(model: Model, kind: str = "II") -> Tests:
    """Return Wald's test of every term of a fit without a penalty: F for least squares, otherwise chi-squared.

    ``kind`` "III": all coefficients of the term are zero, whatever else is in the model; with products that depends on how
    categories are coded (contrasts with sum zero are what people mean). "II": the columns of the term add nothing to a
    model that has all others but the products the term is in: ``W(term and its products) - W(its products)``, W Wald's
    statistic. Without products both are the same, and for least squares both are the exact tests of sums of squares.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5, 4.0], "sex": list("fmfmf"), "y": [0.1, 1.1, 1.9, 3.6, 4.2]}
    >>> found = term_tests(lineal.fit(table, target="y", model="linear", penalty="none"))
    >>> [(test.name, test.freedom) for test in found.tests]
    [('dose', 1), ('sex', 1)]
    """
    if kind not in ("II", "III"):
        raise InputError(f"the tests of terms are of kind {kind!r}; known are 'II' and 'III'.")
    estimates, width = Estimates.of(model), len(model.columns)
    named = terms_of(model)
    tests = []
    for term in named:
        above = [place for other in named if term.within(other) for place in other.places] if kind == "II" else []
        statistic, rank = estimates.distance(estimates.picked(term.places + above, width))
        if above:
            further, more = estimates.distance(estimates.picked(above, width))
            statistic, rank = max(statistic - further, 0.0), rank - more
        tests.append(estimates.test(term.name, "", statistic, rank))
    notes = list(model.filled_notes)
    if any(term.within(other) for term in named for other in named):
        notes.append(
            "A term is tested in a model without the products it is in."
            if kind == "II"
            else "With products in the model, tests of type III depend on how its categories are coded."
        )
    title = f"{model.loss.summary_title()} of {model.target.name}; tests of terms, type {kind}"
    return Tests(title, tuple(tests), by="term", notes=tuple(notes))


def terms_of(model: Model) -> list[Termed]:
    """Return the terms of a model with the places of their columns; of a model of arrays every column is one."""
    at = int(model.has_intercept)
    if not isinstance(model.encoder, Encoder):
        return [Termed(name, [at + k], Counter([name])) for k, name in enumerate(model.columns[at:])]
    named = []
    for term in model.encoder.terms:
        width = len(term.columns)
        parts = [part.spelled for part in term.factors] if isinstance(term, Product) else [term.spelled]
        name = term.spelled if len(parts) == 1 else term.column
        if width:
            named.append(Termed(name, list(range(at, at + width)), Counter(parts)))
        at += width
    return named
