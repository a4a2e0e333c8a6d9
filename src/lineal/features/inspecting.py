"""A table looked at before anything is fitted: what every column holds, and what would become of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.features.cells.cells import numbers
from lineal.features.cells.dates import Calendar
from lineal.features.cells.notation import Notation
from lineal.features.encoder import Encoder, column
from lineal.features.gathering import gather
from lineal.features.learning import learn
from lineal.features.marks_met import marks_met
from lineal.features.terms.written import scores
from lineal.features.text.columns import words_without_marks
from lineal.features.types import deciding
from lineal.features.types.choices import Choices
from lineal.features.types.decision import Decision, Reread
from lineal.features.types.declared_types import CategoryType, TextType, declared
from lineal.features.types.missing import chosen
from lineal.features.types.survey import Column
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.tabled import Grid, Tabled
from lineal.tables.joined import attached
from lineal.tables.marked import Marks, Said, marked, marks_of
from lineal.tables.table import Table, as_table

HISTOGRAM_BINS: Final = 12
UNREAD_TEXT: Final = "free text, which is read word by word once there is a target"
MAX_LEVELS_LISTED: Final = 5
"""How many levels of a column are listed, the most frequent ones."""


@dataclass(frozen=True)
class Inspection(Tabled):
    """What a table holds, in plain data, and the types of its columns in the words of `--types`."""

    picture = "columns"

    report: dict[str, Any]
    types: dict[str, str]

    @property
    def headline(self) -> str:
        """Which table this is."""
        return f"{self.report['origin']}: {self.report['rows']:,} rows"

    def grids(self) -> list[Grid]:
        """Return the columns with what a fit makes of them."""
        lines = [
            (str(one["column"]), str(one.get("type") or ""), str(one.get("missing", "")))
            for one in self.report["columns"]
        ]
        return [Grid((("column", "type", "missing"), *lines), texts=2)]


def inspect(
    data: Any,
    *,
    target: Any = None,
    weight: Any = None,
    offset: Any = None,
    drop: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    max_levels: int | None = None,
    missing: str = "mark",
    na: Said = None,
) -> Inspection:
    """Return counts, ranges, missing share, histogram and decision of every column; four passes at most.

    ``data`` is anything that can be fitted but an array; roles, ``types``, ``max_levels``, ``missing`` and ``na`` are those
    of ``lineal.fit``. ``marks`` of a column counts the texts that stand for missing cells in it ("" are empty cells),
    ``words`` those that would elsewhere.

    >>> inspected = inspect({"a": [1.5, 2.5, None], "b": ["u", "v", "u"]})
    >>> [(column["column"], column["type"], column["missing"]) for column in inspected.report["columns"]]
    [('a', 'number', 1), ('b', 'category', 0)]
    """
    choices = Choices(max_levels, missing, na=na)
    table = as_table(data)
    table, target = attached(table, target, "target")
    table, weight = attached(table, weight, "weight")
    table, offset = attached(table, offset, "offset")
    if table.sparse:
        raise InputError(f"{table.origin} is an SVMlight file; its columns are numbers without names, so fit it.")
    notes: list[str] = []
    plain, table = table, marked(table, marks_of(na, table.names, table.origin))
    if target is None:
        surveys, decisions, rows, marks = _decided(table, drop, types, choices)
    else:
        learned = learn(table, target=target, weight=weight, offset=offset, drop=drop, types=types, choices=choices)
        surveys = {survey.name: survey for survey in learned.surveys}
        decisions, rows = {decision.column: decision for decision in learned.decisions}, learned.report["rows"]
        marks = learned.encoder.marks
        notes = [learned.report["sentences"][0], *learned.report["suspicions"]]
        if learned.report["without_target"]:
            notes.append(f"{learned.report['without_target']} rows have no target and are not counted below.")
    pictures = _histograms(table, surveys)
    targets = (target,) if isinstance(target, str) else tuple(target or ())
    more = {name: survey.reading.missing for name, survey in surveys.items() if survey.reading is not None}
    met = marks_met(plain, marks, list(surveys), targets, more)
    columns = []
    for name in table.names:
        if name in surveys:
            role = "target" if name in targets else "feature"
            columns.append(
                {**_column(surveys[name], decisions.get(name), role, pictures.get(name)), **_met(*met[name])}
            )
        else:
            role = {weight: "weight", offset: "offset"}.get(name, "dropped")
            columns.append({"column": name, "role": role})
    report = {"origin": table.origin, "rows": rows, "columns": columns, "notes": [*table.notes, *notes]}
    declared_types = {name: decision.declared for name, decision in decisions.items() if decision.declared}
    return Inspection(report, declared_types)


def encoder_of(
    table: Table, drop: Sequence[str] = (), types: Mapping[str, str] | None = None, choices: Choices | None = None
) -> Encoder:
    """Return how a table of which no target is known becomes numbers, without an intercept; free text is left out.

    >>> encoder_of(as_table({"a": [1.5, 2.5, 4.0], "b": ["u", "v", "u"]})).columns
    ('a', 'b=v')
    """
    if table.sparse:
        raise InputError(f"{table.origin} is an SVMlight file; give a table whose columns have names.")
    table = marked(table, marks_of(choices.na if choices else None, table.names, table.origin))
    _, decisions, _, marks = _decided(table, drop, types, choices or Choices())
    terms = [term for name in table.names if name in decisions for term in decisions[name].terms]
    return Encoder(False, tuple(sorted(terms, key=lambda term: term.rank)), marks)


def _met(marks: dict[str, int], words: dict[str, int]) -> dict[str, Any]:
    return {**({"marks": marks} if marks else {}), **({"words": words} if words else {})}


def _decided(
    table: Table, drop: Sequence[str], types: Mapping[str, str] | None, choices: Choices
) -> tuple[dict[str, Column], dict[str, Decision], int, Marks]:
    """Decide on every column of a table of which no target is known."""
    declared_types = declared(types)
    for name in (*drop, *declared_types):
        table.require(name)
    features = [name for name in table.names if name not in drop]
    as_text = {name for name, one in declared_types.items() if one.as_text}
    levels = {name for name, one in declared_types.items() if isinstance(one, CategoryType)}
    readings: dict[str, Notation | Calendar] = {}
    while True:
        gathered = gather(table, [], features, None, None, as_text, readings, levels)
        worded = words_without_marks(gathered.features, table.marks, {}, declared_types, None)
        if worded:
            table = marked(table, dict.fromkeys(worded, ()))
            continue
        decisions: dict[str, Decision] = {}
        rereads: list[Reread] = []
        for survey in gathered.features:
            one = declared_types.get(survey.name)
            if isinstance(one, TextType) or (one is None and deciding.is_text(survey)):
                spelled = (one or TextType()).spelled
                decisions[survey.name] = Decision(
                    survey.name, "text", survey.missing, None, UNREAD_TEXT, declared=spelled
                )
                continue
            decision = deciding.decide(survey, table, declared=one, choices=choices)
            if isinstance(decision, Reread):
                rereads.append(decision)
            else:
                decisions[survey.name] = decision
        if not rereads:
            after, _ = chosen(list(decisions.values()), (), choices, partial(_batches, table))
            by_name = {decision.column: decision for decision in after}
            return {survey.name: survey for survey in gathered.features}, by_name, gathered.rows, table.marks
        as_text |= {one.column for one in rereads}
        readings |= {one.column: one.reading for one in rereads if one.reading is not None}


def _batches(table: Table, *, numbers: Collection[str] = (), texts: Collection[str] = ()) -> Iterator[Any]:
    """Yield some columns of all rows."""
    yield from table.select(numbers=numbers, texts=texts).batches()


def _column(survey: Column, decision: Decision | None, role: str, picture: list[int] | None) -> dict[str, Any]:
    values, kind = survey.values, "target" if decision is None else decision.type
    entry: dict[str, Any] = {
        "column": survey.name,
        "role": role,
        "type": kind if decision is not None else _target_type(survey),
        "used": decision is None or decision.term is not None or decision.declared.startswith("text"),
        "missing": survey.missing,
        "missing_share": survey.missing / survey.rows if survey.rows else 0.0,
        "distinct": None if survey.straight or survey.full or not survey.levels else len(survey.levels),
        "decision": None if decision is None else _sentence(decision),
    }
    if picture is not None:
        entry |= {"low": values.low, "high": values.high, "mean": values.mean, "histogram": picture}
        if isinstance(survey.reading, Calendar):
            entry |= {name: str(np.datetime64("1970-01-01") + _days(entry[name])) for name in ("low", "high", "mean")}
    elif survey.levels:
        ordered = sorted(survey.levels.items(), key=lambda item: (-item[1], item[0]))
        entry["levels"] = [{"level": level, "count": count} for level, count in ordered[:MAX_LEVELS_LISTED]]
    return entry


def _sentence(decision: Decision) -> str:
    return f"{decision.column!r} is {UNREAD_TEXT}." if decision.why == UNREAD_TEXT else decision.sentence


def _days(days: float) -> np.timedelta64:
    return np.timedelta64(math.floor(days), "D")


def _target_type(survey: Column) -> str:
    return "number" if survey.values.count and not survey.no_number else "category"


def _numeric(survey: Column) -> bool:
    values = survey.values
    return bool(values.count) and math.isfinite(values.low) and math.isfinite(values.high) and not survey.no_number


def _histograms(table: Table, surveys: Mapping[str, Column]) -> dict[str, list[int]]:
    """Return how many cells of each number column fall into each of HISTOGRAM_BINS equal parts of its range."""
    wanted = {name: survey for name, survey in surveys.items() if _numeric(survey)}
    straight = [name for name, survey in wanted.items() if survey.straight and survey.reading is None]
    counts = {name: np.zeros(HISTOGRAM_BINS, dtype=np.int64) for name in wanted}
    chosen = table.select(numbers=straight, texts=[name for name in wanted if name not in straight])
    for _, batch in chosen.numbered() if wanted else ():
        for name, survey in wanted.items():
            values = _finite(survey, column(batch, name))
            low, high = survey.values.low, survey.values.high
            width = (high / 2 - low / 2) or 1.0  # halves: the whole may be no double
            places = np.clip(((values / 2 - low / 2) / width * HISTOGRAM_BINS).astype(np.int64), 0, HISTOGRAM_BINS - 1)
            counts[name] += np.bincount(places, minlength=HISTOGRAM_BINS)
    return {name: held.tolist() for name, held in counts.items()}


def _finite(survey: Column, array: Any) -> Array:
    if survey.reading is None:
        values, _ = numbers(array)
    else:
        values, _ = scores(array, survey.reading.value, survey.reading.missing)
    return values[np.isfinite(values)]
