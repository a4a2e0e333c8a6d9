"""`lineal predict`: a table in, predictions out, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal.api.model_file import load
from lineal.cli.bad_rows import readable
from lineal.cli.decisions import costs_of
from lineal.cli.kept import Kept, wanted
from lineal.cli.opening import DataFile, stack_at
from lineal.cli.output import JsonLines, apart, sink, table_file
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.designs.design import Design
from lineal.errors import InputError, PointError
from lineal.features.computed import computed
from lineal.features.encoder import Encoder, needed, require
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.metrics.decision import Rule
from lineal.model.model import Model
from lineal.multiclass.committee import Committee
from lineal.tables.arrow import from_numpy, from_texts
from lineal.tables.marked import marked
from lineal.tables.table import Table
from lineal.tables.tabular import RowNumbers


@dataclass
class Noticed:
    """What is said once all rows are predicted: cells of unknown levels by column, and ties between classes."""

    unknown: Counter[str] = field(default_factory=Counter)
    ties: int = 0
    refused: int = 0
    first: str = ""


@dataclass(frozen=True)
class Wanted:
    """What is asked for beside the prediction: chances, scores, an interval of this level, so many contributions."""

    proba: bool = False
    score: bool = False
    level: float | None = None
    explain: int | None = None


def run(
    *,
    model: Path,
    data: DataFile,
    output: Path | None,
    proba: bool,
    score: bool,
    interval: float | None,
    threshold: float | None,
    costs: str | None,
    keep: str | None,
    explain: int | None,
    on_error: str,
    as_json: bool,
) -> int:
    """Predict every row and write the predictions."""
    whole = stack_at(model)
    fitted = load(model) if whole is None else whole.final
    if proba and fitted.target.kind == "number":
        raise InputError(f"--proba asks for class probabilities, but {model} predicts a number; leave --proba out.")
    apart(output, "-o", model, *data.files, costs)
    if output is not None and (output.is_file() or not output.exists()):  # a pipe or a device has no ending
        table_file(output, "-o")
    matrix = costs_of(costs, fitted)
    rule = None if threshold is None and matrix is None else fitted.rule(threshold, matrix)
    given = data.open()
    names = wanted(keep, given)
    table = given if whole is None else whole.table(given)
    kept = Kept(given, names) if names else None
    seen = Noticed()
    rows = 0
    asked = Wanted(proba, score, interval, explain)
    with Watch(f"predicting {data}"), sink(output, as_json) as target:
        for good, found in predictions(fitted, table, asked, seen, rule, stop=on_error == "stop"):
            batch = beside(found, good, kept, blank=on_error == "blank")
            rows += batch.num_rows
            target.write(batch)
        answer: dict[str, Any] = {"model": str(model), "data": str(data), "rows": rows}
        answer |= {"unknown_levels": dict(seen.unknown), "notes": list(table.notes)}
        answer |= {} if rule is None else {"decision": rule.to_dict()}
        answer |= {"unreadable_rows": seen.refused} if on_error != "stop" else {}
        answer |= {"ties": seen.ties} if isinstance(fitted, Committee) else {}
        if isinstance(target, JsonLines):
            target.close_with(answer)
    if as_json and output is not None:
        click.echo(text({**answer, "output": str(output)}))
    for sentence in () if as_json else said(seen, table, rule, on_error):
        click.echo(f"lineal: {sentence}", err=True)
    for sentence in fitted.encoder.sentences(seen.unknown) if isinstance(fitted.encoder, Encoder) else ():
        click.echo(f"lineal: {sentence}", err=True)
    return 0


def said(seen: Noticed, table: Table, rule: Rule | None, on_error: str) -> list[str]:
    """Return the sentences of stderr: how the table was read, how classes were decided, which rows could not be read."""
    sentences = [*table.notes, *([] if rule is None else [rule.sentence])]
    if seen.ties:
        were = "1 row was a tie" if seen.ties == 1 else f"{seen.ties:,} rows were ties"
        sentences.append(f"{were} between classes, decided by the sum of their scores.")
    if seen.refused:
        rows = "1 row cannot be read and has" if seen.refused == 1 else f"{seen.refused:,} rows cannot be read and have"
        done = "no prediction" if on_error == "blank" else "no line"
        sentences.append(f"{rows} {done}; the first: {seen.first}")
    return sentences


def beside(found: dict[str, Any], good: Mask, kept: Kept | None, *, blank: bool) -> pa.RecordBatch:
    """Return predictions beside the columns that are kept; rows that are not good have blank ones, or no line."""
    columns = {} if kept is None else kept.next(len(good))
    same = sorted(columns.keys() & found.keys())
    if same:
        raise InputError(
            f"the table has a column {same[0]!r}, as the predictions do; rename it: --rename {same[0]}=NAME."
        )
    if not good.all():
        if blank:
            places = pa.array(np.cumsum(good) - 1, mask=~good)
            found = {name: array.take(places) for name, array in found.items()}
        else:
            columns = {name: array.filter(pa.array(good)) for name, array in columns.items()}
    return pa.RecordBatch.from_pydict({**columns, **found})


def predictions(
    model: Model, table: Table, wanted: Wanted, seen: Noticed, rule: Rule | None = None, *, stop: bool = True
) -> Iterator[tuple[Mask, dict[str, Any]]]:
    """Yield of every batch of a table which rows can be read, and the predictions of these, decided by a rule if one is given.

    A row that cannot be read is an error where it is to ``stop``. What is noticed on the way is added to ``seen``.
    """
    encoder = model.encoder
    if not isinstance(encoder, Encoder):
        raise InputError(
            "this model was fitted on an array without column names, so it cannot read a table; use Model.predict."
        )
    column = model.roles.get("offset")
    roles = [] if column is None else [column]
    table = computed(table, column)
    if not table.sparse:
        require([*(name for term in encoder.terms for name in term.inputs), *roles], table)
    table = marked(table, encoder.marks).select(numbers=[*encoder.number_columns, *roles], texts=encoder.text_columns)
    for every, whole in table.numbered():
        good = np.ones(len(every), bool)
        try:
            design, unknown = _design(encoder, column, table, every, whole)
        except InputError as problem:
            if stop or table.sparse:
                raise
            good = readable(whole, partial(_read, encoder, column))
            if not seen.refused:
                seen.first = _why(encoder, column, table, every, whole, int(np.argmin(good))) or str(problem)
            seen.refused += int((~good).sum())
            design, unknown = _design(encoder, column, table, every[good], whole.filter(pa.array(good)))
        rows = every[good]
        seen.unknown.update(unknown)
        with placed(table, rows):
            batch = whole if good.all() else whole.filter(pa.array(good))
            offset = None if column is None else needed(batch, column, "offset", table, rows).reshape(-1, 1)
            arrays = {**_decided(model, design, offset, seen, rule), **_more(model, design, offset, wanted)}
        yield good, {name: _arrow(values) for name, values in arrays.items()}


def _design(
    encoder: Encoder, offset: str | None, table: Table, rows: RowNumbers, batch: Any
) -> tuple[Design, Mapping[str, int]]:
    """Return the design of a batch, and how many cells of each column hold unknown levels."""
    if table.sparse:
        return encoder.sparse(batch), {}
    part = encoder.part(batch, table, rows)
    if offset is not None:
        needed(batch, offset, "offset", table, rows)
    return encoder.design(len(rows), part.numbers, part.codes, part.texts), part.unknown


def _why(encoder: Encoder, offset: str | None, table: Table, rows: RowNumbers, batch: Any, place: int) -> str:
    """Return why one row of a batch cannot be read."""
    try:
        _design(encoder, offset, table, rows[place : place + 1], batch.slice(place, 1))
    except InputError as problem:
        return str(problem)
    return ""


def _read(encoder: Encoder, offset: str | None, batch: pa.RecordBatch) -> None:
    """Raise an InputError where a row of the batch cannot be read."""
    encoder.part(batch)
    if offset is not None:
        needed(batch, offset, "offset")


def _decided(
    model: Model, design: Design, offset: Array | None, seen: Noticed, rule: Rule | None
) -> dict[str, npt.NDArray[Any]]:
    """Return the column of the prediction, or one of each output, with what decisions are expected to cost."""
    costs: dict[str, npt.NDArray[Any]] = {}
    if isinstance(model, Committee):
        decoding = model.decode(design, offset)
        labels = decoding.labels
        seen.ties += int(decoding.ties.sum())
    elif rule is None:
        labels = model.predict(design, offset)
    else:
        decision = model.decided(rule, design, offset)
        labels = decision.labels
        costs = {} if rule.given == "threshold" or decision.expected is None else {"expected_cost": decision.expected}
    if labels.ndim == 1:
        return {"prediction": labels, **costs}
    return {**{f"prediction={name}": labels[:, k] for k, name in enumerate(model.target.names or ())}, **costs}


@contextmanager
def placed(table: Table, rows: RowNumbers) -> Iterator[None]:
    """Let a sentence about one of these rows say which row of the table it is."""
    try:
        yield
    except PointError as error:
        raise error.at(f"the text in {table.place(int(rows[error.place]))} of {table.origin}") from None


def _more(model: Model, design: Design, offset: Array | None, wanted: Wanted) -> dict[str, Any]:
    """Return the columns that were asked for beside the prediction."""
    arrays: dict[str, Any] = {}
    if wanted.level is not None:
        expected = model.interval(design, wanted.level, offset)
        arrays |= {"standard_deviation": expected.sd, "lower": expected.lower, "upper": expected.upper}
    if wanted.proba:
        chances = model.predict_proba(design, offset)
        of = model.target.classes or model.target.names or ()
        arrays |= {f"probability={one}": chances[:, k] for k, one in enumerate(of)}
    if wanted.score:
        eta = model.scores(design, offset)
        names = (
            ["score"]
            if eta.shape[1] == 1 and model.target.kind != "labels"
            else [f"score={output}" for output in model.outputs]
        )
        arrays |= {name: eta[:, k] for k, name in enumerate(names)}
    if wanted.explain is not None:
        why = model.explain(design, wanted.explain)
        for k in range(wanted.explain):
            arrays |= {f"reason_{k + 1}": why.names[:, k], f"contribution_{k + 1}": why.moves[:, k]}
    return arrays


def _arrow(values: npt.NDArray[Any]) -> Any:
    """Return numbers or names as an Arrow array."""
    return from_numpy(values) if values.dtype.kind in "biuf" else from_texts(values.tolist())
