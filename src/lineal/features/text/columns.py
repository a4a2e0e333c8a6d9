"""The columns of a table that are read as text: asked for, or found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lineal.errors import InputError
from lineal.features.encoder import column
from lineal.features.formula import EVERY, Formula
from lineal.features.terms import Pair, Term, TextStatistics
from lineal.features.terms.text_statistics import known_words
from lineal.features.text.learning import Learner
from lineal.features.text.pair_learning import learn_pair
from lineal.features.text_options import Options, TextOptions, columns_of
from lineal.features.types.deciding import is_text
from lineal.features.types.decision import Decision
from lineal.features.types.declared_types import DeclaredType, TextType
from lineal.features.types.survey import Column
from lineal.tables.tabular import Table


def declared_texts(
    table: Table,
    text: TextOptions,
    declared_types: Mapping[str, DeclaredType],
    features: Sequence[str],
    formula: Formula | None,
) -> dict[str, Options]:
    """Return the text columns that were asked for; InputError if one is not there, or has another part."""
    text_options = columns_of(text, table.names)
    for name in text_options.keys() & declared_types.keys():
        raise InputError(f"the column {name!r} has a type already; say how its text is read in one place.")
    text_options |= {
        name: Options.parse(one.options) for name, one in declared_types.items() if isinstance(one, TextType)
    }
    for name, options in list(text_options.items()):
        if options.pair is not None:
            if options.pair in text_options or options.pair == name:
                raise InputError(
                    f"the column {options.pair!r} is part of the pair with {name!r} already; name it once."
                )
            text_options[options.pair] = Options(partner=name)
    for name in text_options:
        table.require(name, "text column")
        if name not in features or (formula is not None and name in formula.columns):
            raise InputError(f"the column {name!r} has another part in the model, so it cannot be text as well.")
    return text_options


def texts_among(
    surveys: Sequence[Column],
    text_options: Mapping[str, Options],
    declared_types: Mapping[str, DeclaredType],
    formula: Formula | None,
) -> dict[str, Options]:
    """Return the columns to read as text, in the order of the table: those asked for, and those that hold free text."""
    terms = {}
    for survey in surveys:
        free = formula is None or (survey.name not in formula.columns and (EVERY,) in formula.products)
        if survey.name in text_options or (free and survey.name not in declared_types and is_text(survey)):
            terms[survey.name] = text_options.get(survey.name, Options.parse(""))
    return terms


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
    spelling = f"text:pair={pair.target}" if survey.name == pair.source else ""
    why = f"{len(pair.columns)} features of the pair {pair.source!r} and {pair.target!r}"
    return Decision(survey.name, "text", survey.missing, pair, why, declared=spelling)


def _decision(survey: Column, options: Options, learner: Learner | None) -> Decision:
    """Return the decision on a text column: its terms, its statistics, or both."""
    terms: list[Term] = []
    why = []
    if learner is not None:
        term = learner.term()
        terms += [term] if term.terms else []
        why.append(learner.sentence(term))
    if options.statistics:
        spelling = None if options.spelling is None else known_words(options.spelling)
        statistics = TextStatistics(survey.name, spelling)
        terms.append(statistics)
        why.append(f"{len(statistics.columns)} statistics of it")
    declared = TextType(options.spelled).spelled if terms else "drop"
    first, more = (terms[0], tuple(terms[1:])) if terms else (None, ())
    return Decision(survey.name, "text", survey.missing, first, "; ".join(why), more=more, declared=declared)
