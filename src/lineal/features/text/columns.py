"""The columns of a table that are read as text: asked for, or found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lineal.errors import InputError
from lineal.features.encoder import column
from lineal.features.formula import EVERY, Formula
from lineal.features.pair_options import PairOptions, without_pairs
from lineal.features.terms import Pair, Term, TextStatistics
from lineal.features.terms.text_statistics import known_words
from lineal.features.text.learning import Learner
from lineal.features.text.pair_learning import learn_pair
from lineal.features.text_options import Options, TextOptions, columns_of
from lineal.features.types.deciding import is_text, many_levels
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
    plain, pairs = without_pairs(text, table.names)
    text_options = columns_of(plain, table.names)
    for name in text_options.keys() & pairs.keys():
        raise InputError(f"the text column {name!r} is named twice; put its options together, with commas.")
    text_options |= pairs
    for name in text_options.keys() & declared_types.keys():
        raise InputError(f"the column {name!r} has a type already; say how its text is read in one place.")
    text_options |= {
        name: PairOptions.read(one.options) for name, one in declared_types.items() if isinstance(one, TextType)
    }
    for name, options in list(text_options.items()):
        if options.pair is not None:
            words = text_options.get(options.pair)
            if options.pair == name or (words is not None and (words.pair is not None or words.partner is not None)):
                raise InputError(
                    f"the column {options.pair!r} is part of the pair with {name!r} already; name it once."
                )
            text_options[options.pair] = PairOptions(partner=name, words=words)
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


def words_without_marks(
    surveys: Sequence[Column],
    marks: Mapping[str, object],
    text_options: Mapping[str, Options],
    declared_types: Mapping[str, DeclaredType],
    formula: Formula | None,
) -> list[str]:
    """Return the columns of words, free text or a category of very many levels, whose marks nobody gave.

    There ``None``, ``null`` or ``?`` is a word like any other: only an empty cell is missing.
    """
    texts = {*texts_among(surveys, text_options, declared_types, formula)}
    texts |= {name for name, one in declared_types.items() if isinstance(one, TextType)}
    return [
        survey.name
        for survey in surveys
        if survey.name not in marks and (survey.name in texts or many_levels(survey, declared_types.get(survey.name)))
    ]


def learn_texts(
    wanted: dict[str, Options], surveys: Sequence[Column], again: Callable[..., Iterator[Any]]
) -> dict[str, Decision]:
    """Learn the terms of text columns in a pass of their own; ``again(texts=...)`` yields the rows that have a target."""
    if not wanted:
        return {}
    own = {name: o.words if isinstance(o, PairOptions) else o for name, o in wanted.items()}
    words = {name: o for name, o in own.items() if o is not None and o.statistics != "only"}
    learners = {name: Learner(name, options, missing=False) for name, options in words.items()}
    for batch in again(texts=list(learners)) if learners else ():
        for name, learner in learners.items():
            learner.add(column(batch, name))
    pairs = {name: learn_pair(name, o, again) for name, o in wanted.items() if isinstance(o, PairOptions) and o.pair}
    decisions = {}
    for survey in surveys:
        if survey.name in wanted:
            options = wanted[survey.name]
            read = own[survey.name]
            words_of = None if read is None else _decision(survey, read, learners.get(survey.name))
            if isinstance(options, PairOptions):
                decisions[survey.name] = _paired(survey, options, pairs[options.partner or survey.name], words_of)
            elif words_of is not None:
                decisions[survey.name] = words_of
    return decisions


def _paired(survey: Column, options: PairOptions, pair: Pair, words: Decision | None) -> Decision:
    """Return the decision on either column of a pair, its words beside it if they were asked for."""
    source = survey.name == pair.source
    why = f"{len(pair.columns)} features of the pair {pair.source!r} and {pair.target!r}"
    if pair.given:
        names = {"source": "words of the source", "target": "words of the target", "lexicon": "translations"}
        why += f" ({', '.join(names[part] for part in pair.given)} known from files)"
    spelling = f"text:{options.spelled}" if source else ""
    if words is None:
        return Decision(survey.name, "text", survey.missing, pair, why, declared=spelling)
    spelling = spelling if source else words.declared
    return Decision(
        survey.name, "text", survey.missing, pair, f"{why}; {words.why}", more=words.terms, declared=spelling
    )


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
