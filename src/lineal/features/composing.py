"""From a formula to terms: every factor is decided as its column allows, categories coded as their margins ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations_with_replacement

import numpy as np

from lineal.errors import InputError, near
from lineal.features import terms
from lineal.features.formula import EVERY, Factor, Formula
from lineal.features.terms import Category, Contrast, Curve, Cut, Fourier, Nystroem, Product, Quadratic, Single, Term
from lineal.features.terms.contrast import ordered
from lineal.features.terms.curve import Numbers
from lineal.features.terms.fourier import WIDTH
from lineal.features.terms.number import Number
from lineal.features.terms.product import MAX_COLUMNS
from lineal.features.terms.product import Factor as Part
from lineal.features.types import deciding
from lineal.features.types.choices import AS_FOUND, Choices
from lineal.features.types.decision import Decision, Reread
from lineal.features.types.declared_types import DeclaredType
from lineal.features.types.survey import Column
from lineal.features.types.target_type import check_numbers, is_number
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.tables.tabular import Table


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
    """The terms of a formula, made from what one pass learned of its columns; ``cells`` are those of curves that need all."""

    formula: Formula
    surveys: Mapping[str, Column]
    table: Table
    cells: Mapping[str, Array]
    declared_types: Mapping[str, DeclaredType] = field(default_factory=dict)
    choices: Choices = AS_FOUND
    marked: set[str] = field(default_factory=set)
    decisions: dict[str, Decision] = field(default_factory=dict)

    def terms(self) -> list[Term] | Reread:
        """Return the terms in the order of the formula, or which column must be read again first."""
        margins = {frozenset(product) for product in self._products()}
        if self.formula.intercept:
            margins.add(frozenset())
        composed: list[Term] = []
        for product in self._products():
            called = terms.called().get(product[0].basis)
            alone = len(product) == 1 and (called is None or not called.several)
            term = self._single(product[0], margins) if alone else self._product(product, margins)
            if isinstance(term, Reread):
                return term
            if term is not None:
                composed.append(term)
            if len(product) == 1 and isinstance(term, Category | Contrast):
                margins.add(frozenset())  # one full set of levels holds the intercept
        return composed

    def _products(self) -> Iterator[tuple[Factor, ...]]:
        named = {factor.column for product in self.formula.products for factor in product}
        for product in self.formula.products:
            if product != (EVERY,):
                yield product
                continue
            for name in self.surveys:
                if name not in named and name not in self.formula.without:
                    yield (Factor(name, (), "."),)

    def _single(self, factor: Factor, margins: set[frozenset[Factor]]) -> Term | Reread | None:
        term = self._part(factor)
        if term is None or isinstance(term, Reread):
            return term
        term = term.coded(margin=frozenset() in margins)
        if isinstance(term, Single) and term.indicator:
            if term.column in self.marked:
                return term.bare()
            self.marked.add(term.column)
        return term

    def _product(self, product: tuple[Factor, ...], margins: set[frozenset[Factor]]) -> Product | Reread:
        parts: list[Part] = []
        together = terms.called().get(product[0].basis)
        if together is not None and issubclass(together, Quadratic):
            return self._quadratic(product)
        if together is not None and issubclass(together, Fourier):
            return self._near_kernel(together, product)
        for factor in product:
            term = self._part(factor)
            if isinstance(term, Reread):
                return term
            if term is None:
                raise InputError(f"the formula multiplies {factor.name!r}, but {self.decisions[factor.column].why}.")
            margin = frozenset(product) - {factor}
            parts.append(term.bare().coded(margin=margin in margins))  # a missing cell then goes with the reference
        made = Product(tuple(parts))
        width = len(made.columns)
        if width > MAX_COLUMNS:
            raise InputError(
                f"{made.column} makes {width} columns, more than {MAX_COLUMNS}; leave it out, or merge levels."
            )
        return made

    def _near_kernel(self, called: type[Fourier], product: tuple[Factor, ...]) -> Product | Reread:
        """Return columns that come near a Gaussian kernel of some numbers, each in halves of its range."""
        for factor in product:
            if factor.functions:
                raise InputError(f"{factor.basis}(...) takes columns as they are; write {factor.column!r}.")
        parts = self._numbers(product)
        if isinstance(parts, Reread):
            return parts
        ends = [self.surveys[factor.column].values for factor in product]
        halves = tuple(one.high / 2.0 - one.low / 2.0 if one.high > one.low else 1.0 for one in ends)
        size, width = product[0].size, product[0].width or WIDTH
        if not issubclass(called, Nystroem):
            return Fourier(tuple(parts), halves, size, width)
        rows = []
        for factor, part in zip(product, parts, strict=True):
            if not isinstance(part, Number):
                raise InputError(f"{factor.basis}(...) needs columns of numbers; {factor.name!r} is not one.")
            cells = self.cells[factor.column]
            rows.append(np.where(np.isnan(cells), part.fill, cells))
        return Nystroem.through(tuple(parts), halves, size, width, np.column_stack(rows))

    def _quadratic(self, product: tuple[Factor, ...]) -> Product | Reread:
        """Return the map of several numbers."""
        parts = self._numbers(product)
        if isinstance(parts, Reread):
            return parts
        made = Quadratic(tuple(parts))
        width = len(made.columns)
        if width > MAX_COLUMNS:
            raise InputError(f"{made.spelled} makes {width} columns, more than {MAX_COLUMNS}; use a kernel instead.")
        return made

    def _numbers(self, product: tuple[Factor, ...]) -> list[Part] | Reread:
        """Return the terms of several numbers, each a column."""
        parts: list[Part] = []
        for factor in product:
            term = self._part(replace(factor, basis="", size=0, width=0.0))
            if isinstance(term, Reread):
                return term
            bare = None if term is None else term.bare()
            if bare is None or not isinstance(bare, Single) or len(bare.columns) != 1:
                raise InputError(f"{factor.basis}(...) needs columns of numbers; {factor.name!r} is not one.")
            parts.append(bare)
        return parts

    def _part(self, factor: Factor) -> Part | Reread | None:
        """Return the term of one factor; None where a column that '.' stands for is left out."""
        survey = self.surveys[factor.column]
        called = terms.called().get(factor.basis, Curve)
        category = issubclass(called, Category)
        if issubclass(called, Curve) and (factor.functions or factor.basis not in ("", ".")):
            return self._curve(called, factor, survey)
        declared = None if category else self.declared_types.get(factor.column)
        decision = deciding.decide(
            survey,
            self.table,
            in_formula=factor.basis != ".",
            category=category,
            declared=declared,
            choices=self.choices,
        )
        if isinstance(decision, Reread):
            return decision
        self.decisions[factor.column] = decision
        term = decision.term
        if term is None and factor.basis != ".":
            raise InputError(f"the formula names {factor.column!r}, but {decision.why}; take it out of the formula.")
        if factor.coding and isinstance(term, Category):
            term = self._contrast(factor, term)
        if factor.reference is not None and isinstance(term, Category):
            if factor.reference not in term.levels:
                raise InputError(
                    f"{factor.column!r} has no level {factor.reference!r}.{near(factor.reference, term.levels)}"
                )
            term = replace(term, reference=factor.reference)
            self.decisions[factor.column] = replace(
                decision, why=f"{len(term.levels)} levels, compared with {term.reference!r}"
            )
        if term is not None and not (term.is_factor and isinstance(term, Part)):
            if factor.basis == ".":
                why = f"it is a {decision.type}, which a formula cannot hold"
                self.decisions[factor.column] = replace(decision, term=None, more=(), why=why)
                return None
            raise InputError(f"{factor.column!r} is a {decision.type}, which a formula cannot hold; take it out.")
        return term

    def _contrast(self, factor: Factor, category: Category) -> Contrast:
        """Return a category coded by contrasts."""
        if type(category) is not Category or len(category.levels) < 2:
            why = "it has one level" if type(category) is Category else "its rare levels share a column"
            raise InputError(f"{factor.column!r} cannot be coded by contrasts: {why}.")
        if factor.levels and sorted(factor.levels) != sorted(category.levels):
            odd = sorted(set(factor.levels) ^ set(category.levels)) or list(factor.levels)
            raise InputError(
                f"the levels of {factor.column!r} are {', '.join(category.levels[:12])}; levels= has to name each of them "
                f"once, and differs at {odd[0]!r}."
            )
        levels = factor.levels or ordered(category.levels)
        self.decisions[factor.column] = replace(
            self.decisions[factor.column], why=f"{len(levels)} levels, contrasts {factor.coding}"
        )
        return Contrast(factor.column, levels, factor.coding, category.missing)

    def _curve(self, called: type[Curve], factor: Factor, survey: Column) -> Curve:
        if not survey.present or not is_number(survey):
            raise InputError(f"{factor.spelled} needs a column of numbers; {factor.column!r} is not one.")
        check_numbers(survey, self.table)
        values, missing = survey.values, survey.missing > 0
        why = f"missing cells count as the mean {values.mean:.6g}" if missing else ""
        self.decisions[factor.column] = Decision(survey.name, "number", survey.missing, None, why)
        cells = self.cells.get(factor.column)
        numbers = Numbers(factor.column, values.low, values.high, values.mean, missing, cells)
        if issubclass(called, Cut) and factor.breaks:
            return called.at(numbers, factor.functions, factor.breaks)
        return called.learned(numbers, factor.functions, factor.size)


def _calls(formula: Formula) -> list[tuple[str, type[Term]]]:
    """Return the column of every factor, and the term that it calls."""
    called = terms.called()
    return [(factor.column, called.get(factor.basis, Curve)) for product in formula.products for factor in product]


def categories(formula: Formula) -> set[str]:
    """Return the columns that a formula takes as categories, whatever they hold."""
    return {column for column, term in _calls(formula) if issubclass(term, Category)}


def curves_of_all_cells(formula: Formula) -> set[str]:
    """Return the columns of which a formula needs all numbers, as splines do for their knots and Nystroem's map for rows."""
    curves = {column for column, term in _calls(formula) if issubclass(term, Curve) and term.needs_cells}
    return curves | {column for column, term in _calls(formula) if issubclass(term, Nystroem)}


def monomials(factors: Sequence[Term], degree: int) -> list[Product]:
    """Return every product of 2 to ``degree`` terms; numbers may repeat, a category or a Boolean word is there once.

    >>> [p.column for p in monomials([terms.Number("a", 0.0, False), terms.Number("b", 0.0, False)], 2)]
    ['a^2', 'a:b', 'b^2']
    """
    bare = [term.bare() for term in factors if term.is_factor and isinstance(term, Part)]
    products, width = [], 0
    for size in range(2, degree + 1):
        for chosen in combinations_with_replacement(bare, size):
            once = [term for term in chosen if not term.has_powers]
            if len({term.column for term in once}) == len(once):
                products.append(Product(chosen))
                width += len(products[-1].columns)
                if width > MAX_COLUMNS:
                    raise InputError(
                        f"the products of degree {degree} are more than {MAX_COLUMNS} columns; use a lower degree or a formula."
                    )
    return products
