"""What missing cells count as, where a person chose: the mean or the median, without a mark of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lineal.features.cells.cells import numbers
from lineal.features.encoder import column
from lineal.features.terms import Category, Curve, Product, Single, Term
from lineal.features.types.choices import Choices
from lineal.features.types.decision import Decision, cells, marked, own_level
from lineal.ground.arrays import Array

Medians = Mapping[Single, float]


def medians(terms: Iterable[Term], again: Callable[..., Iterator[Any]]) -> dict[Single, float]:
    """Return the median of the present cells of every column of numbers, in a pass of its own."""
    parts: dict[Single, list[Array]] = {term: [] for one in terms for term in _leaves(one) if isinstance(term, Single)}
    if not parts:
        return {}
    text = {term.column for term in parts if term.reads_text}
    plain = {term.column for term in parts if not term.reads_text} - text
    for batch in again(numbers=plain, texts=text):
        for term, held in parts.items():
            held.append(_present(term, column(batch, term.column)))
    return {term: float(np.median(np.concatenate(held))) for term, held in parts.items()}


def _present(term: Single, array: Any) -> Array:
    """Return the numbers that the present cells of a term mean, before any function."""
    if isinstance(term, Curve):
        values = numbers(array)[0]
    else:
        out = np.empty((len(array), 1))
        replace(term, fill=np.nan, indicator=False).write(out, array)  # type: ignore[type-var]
        values = out[:, 0]
    return values[~np.isnan(values)]


def _leaves(term: Term) -> Sequence[Term]:
    return term.factors if isinstance(term, Product) else (term,)


def counted(term: Term, fills: Medians) -> Term:
    """Return a term whose missing cells have no column, and count as the median where there is one."""
    if isinstance(term, Product):
        return replace(term, factors=tuple(counted(factor, fills) for factor in term.factors))  # type: ignore[misc]
    bare = term.bare()
    if isinstance(term, Single) and term in fills:
        return replace(bare, fill=fills[term])  # type: ignore[type-var]
    return bare


def settled(decision: Decision, fills: Medians) -> Decision:
    """Return a decision whose terms have no column for missing cells, and which says what those count as."""
    if decision.term is None:
        return decision
    terms = [counted(term, fills) for term in decision.terms]
    if not any(term.columns for term in terms):
        return _without(decision)
    why = decision.why
    for term, after in zip(decision.terms, terms, strict=True):
        if isinstance(term, Single) and isinstance(after, Single):
            kind = "median" if term in fills else "mean"
            said = f"{cells(decision.missing)} replaced by the {kind} {after.fill:.6g}"
            why = why.replace(marked(decision.missing, term.fill), said).replace(marked(decision.missing), said)
        elif isinstance(term, Category):
            whom = "for nothing" if term.reference is None else f"as {term.reference!r}"
            said = f"{cells(decision.missing)} counted {whom}"
            why = why.replace(own_level(decision.missing), said)
    return replace(decision, term=terms[0], more=tuple(terms[1:]), why=why)


def _without(decision: Decision) -> Decision:
    """Return the decision to leave out a column of which only the gaps could have said anything."""
    why = "it is the same wherever it is present, and missing cells have no column"
    return replace(decision, term=None, more=(), why=why, declared="drop")


def chosen(
    decisions: Sequence[Decision], terms: Sequence[Term], choices: Choices, again: Callable[..., Iterator[Any]]
) -> tuple[list[Decision], list[Term]]:
    """Return decisions and terms as the choice about missing cells has them."""
    if choices.missing == "mark":
        return list(decisions), list(terms)
    every = [*terms, *(term for decision in decisions for term in decision.terms)]
    fills = medians(every, again) if choices.missing == "median" else {}
    after = [term for term in (counted(term, fills) for term in terms) if term.columns]
    return [settled(decision, fills) for decision in decisions], after
