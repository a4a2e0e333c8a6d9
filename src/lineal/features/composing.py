"""From a formula to terms: every factor is decided as its column allows, categories coded as their margins ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, near
from lineal.features.formula import EVERY, Factor, Formula
from lineal.features.terms.base import Boolean, Category, Number, Term
from lineal.features.terms.curves import Curve, Poly, Spline, bent
from lineal.features.terms.date_parts import Cycle
from lineal.features.terms.product import MANY, Product
from lineal.features.terms.product import Factor as Part
from lineal.features.terms.written import Ordinal, Written
from lineal.features.types import deciding
from lineal.features.types.decision import Decision
from lineal.features.types.declared_types import Told
from lineal.features.types.survey import Column
from lineal.features.types.target_type import check_numbers, is_number
from lineal.ground.records import dataclass
from lineal.tables.tabular import Table

Array = npt.NDArray[np.float64]


def used(formula: Formula, names: Sequence[str]) -> list[str]:
    """Return the columns that a formula needs among ``names``; InputError with near names if one is not there."""
    for name in (*formula.columns, *formula.without):
        if name not in names:
            raise InputError(f"the formula names {name!r}, which is no column to predict from.{near(name, names)}")
    rest = names if (EVERY,) in formula.products else ()
    wanted = {*formula.columns, *rest} - set(formula.without)
    return [name for name in names if name in wanted]


@dataclass
class Composer:
    """The terms of a formula, made from what one pass learned of its columns; ``present`` are the numbers of splines' columns."""

    formula: Formula
    surveys: Mapping[str, Column]
    table: Table
    present: Mapping[str, Array]
    given: Mapping[str, Told] = field(default_factory=dict)
    marked: set[str] = field(default_factory=set)
    decisions: dict[str, Decision] = field(default_factory=dict)

    def terms(self) -> list[Term]:
        """Return the terms in the order of the formula."""
        margins = {frozenset(product) for product in self._products()}
        if self.formula.intercept:
            margins.add(frozenset())
        found: list[Term] = []
        for product in self._products():
            term = self._single(product[0], margins) if len(product) == 1 else self._product(product, margins)
            if term is not None:
                found.append(term)
            if len(product) == 1 and isinstance(term, Category):
                margins.add(frozenset())  # one full set of levels holds the intercept
        return found

    def _products(self) -> Iterator[tuple[Factor, ...]]:
        named = {factor.column for product in self.formula.products for factor in product}
        for product in self.formula.products:
            if product != (EVERY,):
                yield product
                continue
            for name in self.surveys:
                if name not in named and name not in self.formula.without:
                    yield (Factor(name, (), "."),)

    def _single(self, factor: Factor, margins: set[frozenset[Factor]]) -> Term | None:
        term = self._part(factor)
        if isinstance(term, Category):
            return term if frozenset() in margins else replace(term, reference=None)
        if isinstance(term, Poly):
            term = replace(term, origin=frozenset() not in margins)
        if isinstance(term, Number | Boolean | Curve | Written | Ordinal) and term.indicator:
            if term.column in self.marked:
                return replace(term, indicator=False)
            self.marked.add(term.column)
        return term

    def _product(self, product: tuple[Factor, ...], margins: set[frozenset[Factor]]) -> Product:
        parts: list[Part] = []
        for factor in product:
            term = self._part(factor)
            if term is None:
                raise InputError(f"the formula multiplies {factor.name!r}, but {self.decisions[factor.column].why}.")
            margin = frozenset(product) - {factor}
            if isinstance(term, Category):
                term = replace(term, missing=False)  # a missing cell then goes with the reference
                parts.append(term if margin in margins else replace(term, reference=None))
            elif isinstance(term, Poly):
                parts.append(replace(term, indicator=False, origin=margin not in margins))
            else:
                parts.append(replace(term, indicator=False))
        found = Product(tuple(parts))
        width = len(found.columns)
        if width > MANY:
            raise InputError(f"{found.column} makes {width} columns, more than {MANY}; leave it out, or merge levels.")
        return found

    def _part(self, factor: Factor) -> Part | None:
        """Return the term of one factor; None where a column that '.' stands for is left out."""
        survey = self.surveys[factor.column]
        if factor.functions or factor.basis in ("poly", "spline"):
            return self._curve(factor, survey)
        told = self.given.get(factor.column) if factor.basis != "C" else None
        decision = deciding.decide(
            survey, self.table, asked=factor.basis != ".", category=factor.basis == "C", told=told
        )
        self.decisions[factor.column] = decision
        term = decision.term
        if term is None and factor.basis != ".":
            raise InputError(f"the formula names {factor.column!r}, but {decision.why}; take it out of the formula.")
        if factor.reference is not None and isinstance(term, Category):
            if factor.reference not in term.levels:
                raise InputError(
                    f"{factor.column!r} has no level {factor.reference!r}.{near(factor.reference, term.levels)}"
                )
            term = replace(term, reference=factor.reference)
            self.decisions[factor.column] = replace(
                decision, why=f"{len(term.levels)} levels, compared with {term.reference!r}"
            )
        if not (term is None or isinstance(term, Number | Boolean | Category | Written | Ordinal)):
            if factor.basis == ".":
                why = f"it is a {decision.type}, which a formula cannot hold"
                self.decisions[factor.column] = replace(decision, term=None, more=(), why=why)
                return None
            raise InputError(f"{factor.column!r} is a {decision.type}, which a formula cannot hold; take it out.")
        return term

    def _curve(self, factor: Factor, survey: Column) -> Curve:
        name = factor.name if not factor.basis else f"{factor.basis}({factor.name}, {factor.size})"
        if not survey.present or not is_number(survey):
            raise InputError(f"{name} needs a column of numbers; {factor.column!r} is none.")
        check_numbers(survey, self.table)
        values, marked = survey.values, survey.missing > 0
        why = f"missing cells count as the mean {values.mean:.6g}" if marked else ""
        self.decisions[factor.column] = Decision(survey.name, "number", survey.missing, None, why)
        curve = Curve(factor.column, factor.functions, values.mean, marked)
        if not factor.basis:
            return curve
        if factor.basis == "spline":
            return self._spline(curve, factor.size, name)
        low, high = bounds(values.low, values.high, factor.functions)
        if not low < high:
            raise InputError(f"{name} needs a column that varies; {factor.name} is {low:g} in every row.")
        return Poly(
            *_fields(curve), degree=factor.size, centre=low / 2 + high / 2, half=high / 2 - low / 2, origin=False
        )

    def _spline(self, curve: Curve, size: int, name: str) -> Spline:
        found = knots(bent(self.present[curve.column], curve.functions), size)
        if len(found) < 3:
            raise InputError(
                f"{name} needs at least 3 different knots; {curve.name} has {len(found)}. Use it as it is."
            )
        return Spline(*_fields(curve), knots=found)


def bounds(low: float, high: float, functions: tuple[str, ...]) -> tuple[float, float]:
    """Return about how far the functions of numbers between ``low`` and ``high`` reach: on 101 even steps."""
    values = bent(np.linspace(low, high, 101), functions)
    return (float(np.nanmin(values)), float(np.nanmax(values))) if np.isfinite(values).any() else (0.0, 0.0)


def knots(values: Array, size: int) -> tuple[float, ...]:
    """Return the different ones among the quantiles 0, 1/size, ..., 1 of the values that are numbers.

    >>> knots(np.array([0.0, 1.0, 2.0, 4.0, np.nan]), 3)
    (0.0, 1.0, 2.0, 4.0)
    """
    kept = values[np.isfinite(values)]
    return tuple(float(knot) for knot in np.unique(np.quantile(kept, np.arange(size + 1) / size))) if len(kept) else ()


def monomials(terms: Sequence[Term], degree: int) -> list[Product]:
    """Return every product of 2 to ``degree`` terms; numbers may repeat, a category or a Boolean word is there once.

    >>> [p.column for p in monomials([Number("a", 0.0, False), Number("b", 0.0, False)], 2)]
    ['a^2', 'a:b', 'b^2']
    """
    bare = [
        replace(term, missing=False) if isinstance(term, Category) else replace(term, indicator=False)
        for term in terms
        if isinstance(term, Number | Boolean | Category | Written | Ordinal) and not isinstance(term, Cycle)
    ]
    found, width = [], 0
    for size in range(2, degree + 1):
        for chosen in combinations_with_replacement(bare, size):
            once = [term for term in chosen if not isinstance(term, Number | Written | Ordinal)]
            if len({term.column for term in once}) == len(once):
                found.append(Product(chosen))
                width += len(found[-1].columns)
                if width > MANY:
                    raise InputError(
                        f"the products of degree {degree} are more than {MANY} columns; use a lower degree or a formula."
                    )
    return found


def _fields(curve: Curve) -> tuple[str, tuple[str, ...], float, bool]:
    return curve.column, curve.functions, curve.fill, curve.indicator
