"""Learn from one pass over a table what the target is and how every column becomes part of the design."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.features.cells.cells import numbers
from lineal.features.cells.dates import Calendar
from lineal.features.cells.notation import Notation
from lineal.features.composing import Composer, monomials, used
from lineal.features.encoder import INTERCEPT, Encoder, column
from lineal.features.formula import Formula
from lineal.features.gathering import AgainError, Pass, gather, present
from lineal.features.sparse import learn_sparse
from lineal.features.terms.base import Term, rank
from lineal.features.text.columns import asked_texts, learn_texts, texts_among
from lineal.features.text_options import Asked, Options
from lineal.features.types import deciding, target_type
from lineal.features.types.decision import Decision
from lineal.features.types.declared_types import Told, told
from lineal.features.types.leaks import suspicions
from lineal.features.types.survey import Column
from lineal.features.types.target_type import Model, alike
from lineal.ground.records import dataclass
from lineal.model.target import Target
from lineal.tables.svmlight import LABEL
from lineal.tables.tabular import Table, filtered

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Learned:
    """How a table is read: encoder, target, the columns of weights and offsets, and a report in plain data.

    ``report`` has ``rows`` (with a target), ``without_target``, ``columns`` (name, type, missing, levels),
    ``dropped`` (column, why), ``target`` (column, kind, classes and their counts), ``sentences`` and ``suspicions``.
    ``surveys`` and ``decisions`` are what the pass learned of every column and what follows from it.
    """

    encoder: Encoder
    target: Target
    report: dict[str, Any] = field(default_factory=dict)
    weight: str | None = None
    offset: str | None = None
    surveys: tuple[Column, ...] = field(default=(), repr=False)
    decisions: tuple[Decision, ...] = field(default=(), repr=False)


def learn(
    table: Table,
    *,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
    offset: str | None = None,
    drop: Sequence[str] = (),
    model: Model = "auto",
    formula: Formula | None = None,
    poly: int = 1,
    types: Mapping[str, str] | None = None,
    text: Asked = (),
) -> Learned:
    """Learn from the rows that have a target; one pass, two where a guess about a text file proves wrong, one for text.

    ``formula`` says which terms there are; otherwise every column is one, and every product of up to ``poly`` of them.
    ``types`` says what columns are (features/types/declared_types.py), instead of a guess.
    ``text`` names text columns and how to read them (docs/text.md); without a formula others are found.

    >>> from lineal.tables.table import as_table
    >>> learned = learn(as_table({"y": [1.5, 2.5, 3.0], "a": ["u", "v", "u"]}), target="y")
    >>> learned.encoder.columns
    ('(intercept)', 'a=v')
    """
    if model not in ("auto", "number", "classes"):
        raise InputError(f"the model kind {model!r} is unknown; it is 'auto', 'number' or 'classes'.")
    if table.sparse:
        if formula is not None or poly > 1 or text:
            raise InputError(
                f"{table.origin} is an SVMlight file, whose columns have no names for a formula, products or text."
            )
        return _learn_sparse(table, target, weight, offset, drop, model)
    names = _targets(table, target)
    given = told(types)
    drop = (*drop, *(name for name, one in given.items() if one.kind == "drop" and name not in drop))
    _check_roles(table, names, weight, offset, drop)
    _check_types(table, given, {*names, weight, offset}, drop)
    apart = {*names, weight, offset, *drop}
    features = [name for name in table.names if name not in apart]
    as_text: set[str] = {name for name, one in given.items() if one.as_text}
    readings: dict[str, Notation | Calendar] = {}
    asked = asked_texts(table, text, given, features, formula)
    as_text |= set(asked)
    if formula is not None:
        features = list(dict.fromkeys([*used(formula, features), *asked]))
        as_text |= {factor.column for product in formula.products for factor in product if factor.basis == "C"}
    while True:
        gathered = gather(table, names, features, weight, offset, as_text, readings)
        try:
            return _decide(table, gathered, weight, offset, drop, model, formula, poly, given, asked)
        except AgainError as again:
            as_text |= again.as_text
            readings |= again.readings


def _targets(table: Table, target: str | Sequence[str] | None) -> list[str]:
    if target is None:
        raise InputError(
            "no target was given; name the column to predict."
            f" The columns are {', '.join(map(repr, table.names[:20]))}."
        )
    names = [target] if isinstance(target, str) else list(target)
    if not names or len(set(names)) < len(names):
        raise InputError("the targets must be one or several different columns.")
    for name in names:
        table.require(name, "target column")
    return names


def _check_roles(table: Table, targets: list[str], weight: str | None, offset: str | None, drop: Sequence[str]) -> None:
    for role, name in (("weight", weight), ("offset", offset), *(("dropped", name) for name in drop)):
        if name is not None:
            table.require(name, f"{role} column" if role != "dropped" else "column to drop,")
            if name in targets:
                other = "dropped" if role == "dropped" else f"the {role}"
                raise InputError(f"the column {name!r} is the target and cannot be {other} as well.")
    if weight is not None and weight == offset:
        raise InputError(f"the column {weight!r} cannot be both weight and offset.")
    for name in {weight, offset} & set(drop):
        raise InputError(f"the column {name!r} has a role of its own and is no part of the model; do not drop it.")


def _check_types(table: Table, given: Mapping[str, Told], roles: set[str | None], drop: Sequence[str]) -> None:
    for name, one in given.items():
        table.require(name, "column")
        if name in roles:
            raise InputError(f"the column {name!r} is no column to predict from; leave its type out.")
        if name in drop and one.kind != "drop":
            raise InputError(f"the column {name!r} is dropped, so its type has no effect; give one of the two.")


def _decide(
    table: Table,
    found: Pass,
    weight: str | None,
    offset: str | None,
    drop: Sequence[str],
    model: Model,
    formula: Formula | None,
    poly: int,
    given: Mapping[str, Told],
    asked: dict[str, Options],
) -> Learned:
    again = AgainError()
    terms: list[Term] = []
    decisions: list[Decision] = []
    with again.noting():
        target, counts, sentence = target_type.decide(found.targets, table, model)
    written = texts_among(found.features, asked, given, formula)
    surveys = [survey for survey in found.features if survey.name not in written]
    if formula is None:
        for survey in surveys:
            with again.noting():
                decisions.append(deciding.decide(survey, table, told=given.get(survey.name)))
        terms += [term for decision in decisions for term in decision.terms]
        terms += monomials(terms, poly)
    else:
        composer = Composer(formula, {s.name: s for s in surveys}, table, _values(table, found, formula), given)
        with again.noting():
            terms += composer.terms()
            decisions += [composer.decisions[survey.name] for survey in surveys]
    if again.as_text:
        raise again
    text = learn_texts(written, found.features, partial(_again, table, found))
    by_name = {**{d.column: d for d in decisions}, **text}
    decisions = [by_name[survey.name] for survey in found.features]
    terms += {
        id(term): term for decision in text.values() for term in decision.terms
    }.values()  # a pair has two columns
    terms.sort(key=rank)  # stable: otherwise in the order of the table
    encoder = Encoder(intercept=formula is None or formula.intercept, terms=tuple(terms))
    _check_columns(encoder, decisions, table, formula)
    report = _report(found, target, counts, decisions, drop, formula)
    report["sentences"].insert(0, sentence)
    report["texts"] = list(dict.fromkeys(decision.sentence for decision in text.values()))
    return Learned(encoder, target, report, weight, offset, (*found.targets, *found.features), tuple(decisions))


def _report(
    found: Pass,
    target: Target,
    counts: list[int] | None,
    decisions: list[Decision],
    drop: Sequence[str],
    formula: Formula | None,
) -> dict[str, Any]:
    """Return in plain data what was learned, and the decisions in sentences."""
    named = () if formula is None else formula.columns
    return {
        "rows": found.rows,
        "without_target": found.without_target,
        "columns": [
            {"column": d.column, "type": d.type, "missing": d.missing, "levels": d.levels}
            for d in decisions
            if d.term is not None or d.column in named
        ],
        "dropped": [{"column": d.column, "why": d.why} for d in decisions if d.term is None and d.column not in named]
        + [{"column": name, "why": "as told"} for name in drop],
        "target": {
            "column": target.name,
            "kind": target.kind,
            "classes": None if target.classes is None else list(target.classes),
            "counts": counts,
        },
        "formula": None if formula is None else formula.text,
        "sentences": [*_rows_sentences(found), *(decision.sentence for decision in decisions)],
        "lost": [f"Of {d.column!r}, {d.lost}." for d in decisions if d.lost],
        "suspicions": [*alike(target), *suspicions(found.head, target, decisions)],
    }


def _rows_sentences(found: Pass) -> list[str]:
    if not found.without_target:
        return []
    plural = (
        "1 row has no target and is"
        if found.without_target == 1
        else f"{found.without_target} rows have no target and are"
    )
    return [f"{plural} left out."]


def _values(table: Table, found: Pass, formula: Formula) -> dict[str, Array]:
    """Return the numbers of the columns that a spline of the formula needs, in a pass of its own."""
    wanted = {factor.column for product in formula.products for factor in product if factor.basis == "spline"}
    if not wanted:
        return {}
    parts: dict[str, list[Array]] = {name: [] for name in wanted}
    for batch in _again(table, found, numbers=wanted):
        for name, held in parts.items():
            held.append(numbers(column(batch, name))[0])
    return {name: np.concatenate(held) for name, held in parts.items()}


def _again(table: Table, found: Pass, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Iterator[Any]:
    """Yield some columns of the rows that have a target once more."""
    targets = [survey.name for survey in found.targets]
    for _, batch in table.select(
        numbers=[name for name in numbers if name not in targets], texts=[*targets, *texts]
    ).numbered():
        keep = np.logical_and.reduce([present(column(batch, name)) for name in targets])
        yield batch if keep.all() else filtered(batch, keep)


def _check_columns(encoder: Encoder, decisions: list[Decision], table: Table, formula: Formula | None) -> None:
    if not encoder.terms and not (encoder.intercept and formula is not None):
        reasons = "; ".join(f"{d.column!r}: {d.why}" for d in decisions[:5]) or "there is no other column"
        raise InputError(f"no column of {table.origin} is left to predict from ({reasons}).")
    seen: set[str] = set()
    for name in encoder.columns:
        if name in seen:
            raise InputError(
                f"two columns of the model would be called {name!r};"
                " rename one of the table's columns, or leave it out (--drop)."
            )
        seen.add(name)


def _learn_sparse(
    table: Table,
    target: str | Sequence[str] | None,
    weight: str | None,
    offset: str | None,
    drop: Sequence[str],
    model: Model,
) -> Learned:
    name = LABEL if target is None else target if isinstance(target, str) else ", ".join(target)
    if name != LABEL:
        raise InputError(
            f"{table.origin} has no target column {name!r};"
            f" the target of an SVMlight file is its label, called {LABEL!r}."
        )
    if weight is not None or offset is not None:
        raise InputError(
            f"{table.origin} is an SVMlight file, which has no column for weights or offsets;"
            " use another format for them."
        )
    encoder, found, report = learn_sparse(table, drop, model)
    return Learned(encoder, found, report)


__all__ = ["INTERCEPT", "Learned", "learn"]
