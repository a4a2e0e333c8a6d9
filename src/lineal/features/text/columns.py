"""The columns of a table that are read as text: asked for, or found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lineal.errors import InputError
from lineal.features.encoder import column
from lineal.features.formula import EVERY, Formula
from lineal.features.terms.base import Term
from lineal.features.terms.pair import Pair
from lineal.features.terms.text_statistics import TextStatistics, known_words
from lineal.features.text.learning import Learner
from lineal.features.text.pair_learning import learn_pair
from lineal.features.text_options import Asked, Options, columns_of
from lineal.features.types.deciding import is_text
from lineal.features.types.decision import Decision
from lineal.features.types.declared_types import Told
from lineal.features.types.survey import Column
from lineal.tables.tabular import Table


def asked_texts(
    table: Table, text: Asked, given: Mapping[str, Told], features: Sequence[str], formula: Formula | None
) -> dict[str, Options]:
    """Return the text columns that were asked for; InputError if one is not there, or has another part."""
    asked = columns_of(text, table.names)
    for name in asked.keys() & given.keys():
        raise InputError(f"the column {name!r} has a type already; say how its text is read in one place.")
    asked |= {name: Options.parse(",".join(one.words)) for name, one in given.items() if one.kind == "text"}
    for name, options in list(asked.items()):
        if options.pair is not None:
            if options.pair in asked or options.pair == name:
                raise InputError(
                    f"the column {options.pair!r} is part of the pair with {name!r} already; name it once."
                )
            asked[options.pair] = Options(partner=name)
    for name in asked:
        table.require(name, "text column")
        if name not in features or (formula is not None and name in formula.columns):
            raise InputError(f"the column {name!r} has another part in the model, so it cannot be text as well.")
    return asked


def texts_among(
    surveys: Sequence[Column], asked: Mapping[str, Options], given: Mapping[str, Told], formula: Formula | None
) -> dict[str, Options]:
    """Return the columns to read as text, in the order of the table: those asked for, and those that hold free text."""
    found = {}
    for survey in surveys:
        free = formula is None or (survey.name not in formula.columns and (EVERY,) in formula.products)
        if survey.name in asked or (free and survey.name not in given and is_text(survey)):
            found[survey.name] = asked.get(survey.name, Options())
    return found


def learn_texts(
    wanted: dict[str, Options], surveys: Sequence[Column], again: Callable[..., Iterator[Any]]
) -> dict[str, Decision]:
    """Learn the terms of text columns in a pass of their own; ``again(texts=...)`` yields the rows that have a target."""
    if not wanted:
        return {}
    words = {name: o for name, o in wanted.items() if o.statistics != "only" and o.pair is None and o.partner is None}
    learners = {name: Learner(name, options) for name, options in words.items()}
    for batch in again(texts=list(learners)) if learners else ():
        for name, learner in learners.items():
            learner.add(column(batch, name))
    pairs = {name: learn_pair(name, o.pair, again) for name, o in wanted.items() if o.pair is not None}
    decisions = {}
    for survey in surveys:
        if survey.name in wanted:
            options = wanted[survey.name]
            pair = pairs.get(options.partner or survey.name)
            decisions[survey.name] = (
                _decision(survey, options, learners.get(survey.name)) if pair is None else _paired(survey, pair)
            )
    return decisions


def _paired(survey: Column, pair: Pair) -> Decision:
    """Return the decision on either column of a pair."""
    told = f"text:pair={pair.target}" if survey.name == pair.source else ""
    why = f"{len(pair.columns)} features of the pair {pair.source!r} and {pair.target!r}"
    return Decision(survey.name, "text", survey.missing, pair, why, told=told)


def _decision(survey: Column, options: Options, learner: Learner | None) -> Decision:
    """Return the decision on a text column: its terms, its statistics, or both."""
    terms: list[Term] = []
    why = []
    if learner is not None:
        term = learner.term()
        terms += [term] if term.terms else []
        why.append(learner.said(term))
    if options.statistics:
        spelling = None if options.spelling is None else known_words(options.spelling)
        found = TextStatistics(survey.name, spelling)
        terms.append(found)
        why.append(f"{len(found.columns)} statistics of it")
    spelled = options.spelled
    told = "drop" if not terms else f"text:{spelled}" if spelled else "text"
    first, more = (terms[0], tuple(terms[1:])) if terms else (None, ())
    return Decision(survey.name, "text", survey.missing, first, "; ".join(why), more=more, told=told)
