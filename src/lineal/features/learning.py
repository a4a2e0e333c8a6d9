"""Learn from one pass over a table what the target is and how every column becomes part of the design."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.features.cells.cells import numbers
from lineal.features.cells.dates import Calendar
from lineal.features.cells.notation import Notation
from lineal.features.composing import Composer, categories, curves_of_all_cells, monomials, used
from lineal.features.encoder import INTERCEPT, Encoder, column
from lineal.features.formula import Formula
from lineal.features.gathering import Pass, gather, with_target
from lineal.features.sparse import learn_sparse
from lineal.features.terms import Term
from lineal.features.text.columns import declared_texts, learn_texts, texts_among, words_without_marks
from lineal.features.text_options import Options, TextOptions
from lineal.features.types import deciding, target_type
from lineal.features.types.choices import AS_FOUND, Choices
from lineal.features.types.decision import Decision, Reread, without
from lineal.features.types.declared_types import CategoryType, DeclaredType, DropType, declared
from lineal.features.types.leaks import origins, suspicions
from lineal.features.types.missing import chosen
from lineal.features.types.survey import Column
from lineal.features.types.target_type import Model, alike
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.target import Target
from lineal.tables.marked import marked
from lineal.tables.svmlight import LABEL
from lineal.tables.tabular import Table, filtered, listed


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
    text: TextOptions = (),
    choices: Choices = AS_FOUND,
) -> Learned:
    """Learn from the rows that have a target; one pass, two where a guess about a text file proves wrong, one for text.

    ``formula`` says which terms there are; otherwise every column is one, and every product of up to ``poly`` of them.
    ``types`` says what columns are (features/types/declared_types.py), instead of a guess.
    ``text`` names text columns and how to read them (docs/text.md); without a formula others are found.
    ``choices`` are made for all columns.

    >>> from lineal.tables.table import as_table
    >>> learned = learn(as_table({"y": [1.5, 2.5, 3.0], "a": ["u", "v", "u"]}), target="y")
    >>> learned.encoder.columns
    ('(intercept)', 'a=v')
    """
    if model not in ("auto", "number", "classes", "labels"):
        raise InputError(f"the model kind {model!r} is unknown; it is 'auto', 'number', 'classes' or 'labels'.")
    if table.sparse:
        if formula is not None or poly > 1 or text or replace(choices, positive=None) != AS_FOUND:
            raise InputError(
                f"{table.origin} is an SVMlight file of numbers without names: there is nothing for a formula, products,"
                " text or levels."
            )
        return _learn_sparse(table, target, weight, offset, drop, model, choices.positive)
    names = _targets(table, target)
    declared_types = declared(types)
    drop = (*drop, *(name for name, one in declared_types.items() if isinstance(one, DropType) and name not in drop))
    _check_roles(table, names, weight, offset, drop)
    _check_types(table, declared_types, {*names, weight, offset}, drop)
    apart = {*names, weight, offset, *drop}
    features = [name for name in table.names if name not in apart]
    as_text: set[str] = {name for name, one in declared_types.items() if one.as_text}
    readings: dict[str, Notation | Calendar] = {}
    text_options = declared_texts(table, text, declared_types, features, formula)
    as_text |= set(text_options)
    levels = {name for name, one in declared_types.items() if isinstance(one, CategoryType)}
    if formula is not None:
        features = list(dict.fromkeys([*used(formula, features), *text_options]))
        levels |= categories(formula)
        as_text |= levels
    while True:
        gathered = gather(table, names, features, weight, offset, as_text, readings, levels, labels=model == "labels")
        worded = words_without_marks(gathered.features, table.marks, text_options, declared_types, formula)
        if worded:
            table = marked(table, dict.fromkeys(worded, ()))
            if any(survey.missing for survey in gathered.features if survey.name in worded):
                continue  # what stands there may be a word
        learned = _decide(
            table, gathered, weight, offset, drop, model, formula, poly, declared_types, text_options, choices
        )
        if isinstance(learned, Learned):
            return learned
        as_text |= {one.column for one in learned}
        readings |= {one.column: one.reading for one in learned if one.reading is not None}


def _targets(table: Table, target: str | Sequence[str] | None) -> list[str]:
    if target is None:
        raise InputError(f"no target was given; name the column to predict. The columns are {listed(table.names)}.")
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


def _check_types(
    table: Table, declared_types: Mapping[str, DeclaredType], roles: set[str | None], drop: Sequence[str]
) -> None:
    for name, one in declared_types.items():
        table.require(name, "column")
        if name in roles:
            raise InputError(f"the column {name!r} is no column to predict from; leave its type out.")
        if name in drop and not isinstance(one, DropType):
            raise InputError(f"the column {name!r} is dropped, so its type has no effect; give one of the two.")


def _decide(
    table: Table,
    gathered: Pass,
    weight: str | None,
    offset: str | None,
    drop: Sequence[str],
    model: Model,
    formula: Formula | None,
    poly: int,
    declared_types: Mapping[str, DeclaredType],
    text_options: dict[str, Options],
    choices: Choices,
) -> Learned | list[Reread]:
    """Return what follows from a pass, or the columns that must be read again before anything can."""
    rereads: list[Reread] = []
    terms: list[Term] = []
    decisions: list[Decision] = []
    again = partial(_again, table, gathered)
    decided = target_type.decide(gathered.targets, table, model)
    if isinstance(decided, Reread):
        rereads.append(decided)
    written = texts_among(gathered.features, text_options, declared_types, formula)
    surveys = [survey for survey in gathered.features if survey.name not in written]
    if formula is None:
        for survey in surveys:
            decision = deciding.decide(survey, table, declared=declared_types.get(survey.name), choices=choices)
            rereads.append(decision) if isinstance(decision, Reread) else decisions.append(decision)
        if not rereads:
            decisions, _ = chosen(decisions, (), choices, again)
            terms += [term for decision in decisions for term in decision.terms]
            terms += monomials(terms, poly)
    else:
        composer = Composer(
            formula, {s.name: s for s in surveys}, table, _values(table, gathered, formula), declared_types, choices
        )
        composed = composer.terms()
        if isinstance(composed, Reread):
            rereads.append(composed)
        else:
            decisions += [composer.decisions[survey.name] for survey in surveys]
            decisions, terms = chosen(decisions, composed, choices, again)
    if rereads or isinstance(decided, Reread):
        return rereads
    target, counts, sentence = target_type.with_positive(decided, choices.positive)
    if written and formula is None and poly == 1:
        undeclared = [decision for decision in decisions if decision.column not in declared_types]
        reasons = origins(gathered.head, target, undeclared)
        gone = {id(term) for decision in decisions if decision.column in reasons for term in decision.terms}
        terms = [term for term in terms if id(term) not in gone]
        decisions = [
            without(survey, "category", reasons[survey.name]) if survey.name in reasons else decision
            for survey, decision in zip(surveys, decisions, strict=True)
        ]
    text = learn_texts(written, gathered.features, again)
    by_name = {**{d.column: d for d in decisions}, **text}
    decisions = [by_name[survey.name] for survey in gathered.features]
    terms += {
        id(term): term for decision in text.values() for term in decision.terms
    }.values()  # a pair has two columns
    terms.sort(key=lambda term: term.rank)  # stable: otherwise in the order of the table
    encoder = Encoder(intercept=formula is None or formula.intercept, terms=tuple(terms), marks=dict(table.marks))
    _check_columns(encoder, decisions, table, formula)
    report = _report(gathered, target, counts, decisions, drop, formula)
    report["sentences"].insert(0, sentence)
    if model == "auto":
        report["suspicions"] += target_type.like_counts(gathered.targets, target)
    report["texts"] = list(dict.fromkeys(decision.sentence for decision in text.values()))
    return Learned(encoder, target, report, weight, offset, (*gathered.targets, *gathered.features), tuple(decisions))


def _report(
    gathered: Pass,
    target: Target,
    counts: list[int] | None,
    decisions: list[Decision],
    drop: Sequence[str],
    formula: Formula | None,
) -> dict[str, Any]:
    """Return in plain data what was learned, and the decisions in sentences."""
    named = () if formula is None else formula.columns
    return {
        "rows": gathered.rows,
        "without_target": gathered.without_target,
        "columns": [
            {"column": d.column, "type": d.type, "missing": d.missing, "levels": d.levels}
            for d in decisions
            if d.term is not None or d.column in named
        ],
        "dropped": [{"column": d.column, "why": d.why} for d in decisions if d.term is None and d.column not in named]
        + [{"column": name, "why": "as asked"} for name in drop],
        "target": {
            "column": target.name,
            "kind": target.kind,
            "classes": None if target.classes is None else list(target.classes),
            "counts": counts,
        },
        "formula": None if formula is None else formula.text,
        "sentences": [*_rows_sentences(gathered), *(decision.sentence for decision in decisions)],
        "lost": [f"Of {d.column!r}, {d.lost}." for d in decisions if d.lost],
        "suspicions": [*alike(target), *suspicions(gathered.head, target, decisions)],
    }


def _rows_sentences(gathered: Pass) -> list[str]:
    if not gathered.without_target:
        return []
    plural = (
        "1 row has no target and is"
        if gathered.without_target == 1
        else f"{gathered.without_target} rows have no target and are"
    )
    return [f"{plural} left out."]


def _values(table: Table, gathered: Pass, formula: Formula) -> dict[str, Array]:
    """Return the numbers of the columns that splines of the formula need, in a pass of its own."""
    wanted = curves_of_all_cells(formula)
    if not wanted:
        return {}
    parts: dict[str, list[Array]] = {name: [] for name in wanted}
    for batch in _again(table, gathered, numbers=wanted):
        for name, held in parts.items():
            held.append(numbers(column(batch, name))[0])
    return {name: np.concatenate(held) for name, held in parts.items()}


def _again(
    table: Table, gathered: Pass, *, numbers: Collection[str] = (), texts: Collection[str] = ()
) -> Iterator[Any]:
    """Yield some columns of the rows that have a target once more."""
    targets = [survey.name for survey in gathered.targets]
    for _, batch in table.select(
        numbers=[name for name in numbers if name not in targets], texts=[*targets, *texts]
    ).numbered():
        keep = with_target(gathered, batch)
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
    positive: str | None,
) -> Learned:
    name = target if isinstance(target, str) else ", ".join(target or (LABEL,))
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
    encoder, labels, report = learn_sparse(table, drop, model, positive)
    return Learned(encoder, labels, report)


__all__ = ["INTERCEPT", "Learned", "learn"]
