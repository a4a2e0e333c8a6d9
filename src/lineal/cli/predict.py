"""`lineal predict`: a table in, predictions out, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

import click
import numpy.typing as npt
import pyarrow as pa

from lineal.api.model_file import load
from lineal.cli.decisions import costs_of
from lineal.cli.opening import DataFile, stack_at
from lineal.cli.output import JsonLines, apart, sink, table_file
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.designs.design import Design
from lineal.errors import InputError, PointError
from lineal.features.encoder import Encoder, needed, require
from lineal.ground.arrays import Array
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
    table = data.open()
    table = table if whole is None else whole.table(table)
    seen = Noticed()
    rows = 0
    with Watch(f"predicting {data}"), sink(output, as_json) as target:
        for batch in predictions(fitted, table, proba, seen, rule, score=score, level=interval):
            rows += batch.num_rows
            target.write(batch)
        answer: dict[str, Any] = {"model": str(model), "data": str(data), "rows": rows}
        answer |= {"unknown_levels": dict(seen.unknown), "notes": list(table.notes)}
        answer |= {} if rule is None else {"decision": rule.to_dict()}
        answer |= {"ties": seen.ties} if isinstance(fitted, Committee) else {}
        if isinstance(target, JsonLines):
            target.close_with(answer)
    if as_json and output is not None:
        click.echo(text({**answer, "output": str(output)}))
    for note in () if as_json else table.notes:
        click.echo(f"lineal: {note}", err=True)
    if rule is not None and not as_json:
        click.echo(f"lineal: {rule.sentence}", err=True)
    if seen.ties and not as_json:
        rows_were = "1 row was a tie" if seen.ties == 1 else f"{seen.ties:,} rows were ties"
        click.echo(f"lineal: {rows_were} between classes, decided by the sum of their scores.", err=True)
    for sentence in fitted.encoder.sentences(seen.unknown) if isinstance(fitted.encoder, Encoder) else ():
        click.echo(f"lineal: {sentence}", err=True)
    return 0


def predictions(
    model: Model,
    table: Table,
    proba: bool,
    seen: Noticed,
    rule: Rule | None = None,
    *,
    score: bool = False,
    level: float | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the predictions of every batch of a table, decided by a rule if one is given.

    ``level`` asks for intervals that cover the target with this probability. What is noticed on the way is added to
    ``seen``.
    """
    encoder = model.encoder
    if not isinstance(encoder, Encoder):
        raise InputError(
            "this model was fitted on an array without column names, so it cannot read a table; use Model.predict."
        )
    column = model.roles.get("offset")
    roles = [] if column is None else [column]
    if not table.sparse:
        require([*(name for term in encoder.terms for name in term.inputs), *roles], table)
    table = marked(table, encoder.marks).select(numbers=[*encoder.number_columns, *roles], texts=encoder.text_columns)
    for rows, batch in table.numbered():
        if table.sparse:
            design = encoder.sparse(batch)
        else:
            part = encoder.part(batch, table, rows)
            seen.unknown.update(part.unknown)
            design = encoder.design(len(rows), part.numbers, part.codes, part.texts)
        with placed(table, rows):
            offset = None if column is None else needed(batch, column, "offset", table, rows).reshape(-1, 1)
            arrays: dict[str, Any] = {}
            if isinstance(model, Committee):
                decoding = model.decode(design, offset)
                labels = decoding.labels
                seen.ties += int(decoding.ties.sum())
            elif rule is None:
                labels = model.predict(design, offset)
            else:
                decision = model.decided(rule, design, offset)
                labels = decision.labels
            if labels.ndim == 1:
                arrays["prediction"] = labels
            else:
                arrays.update({f"prediction={name}": labels[:, k] for k, name in enumerate(model.target.names or ())})
            arrays.update({} if rule is None or rule.given == "threshold" else {"expected_cost": decision.expected})
            arrays |= _more(model, design, offset, level=level, proba=proba, score=score)
        yield pa.RecordBatch.from_pydict({name: _arrow(values) for name, values in arrays.items()})


@contextmanager
def placed(table: Table, rows: RowNumbers) -> Iterator[None]:
    """Let a sentence about one of these rows say which row of the table it is."""
    try:
        yield
    except PointError as error:
        raise error.at(f"the text in {table.place(int(rows[error.place]))} of {table.origin}") from None


def _more(
    model: Model,
    design: Design,
    offset: Array | None,
    *,
    level: float | None,
    proba: bool,
    score: bool,
) -> dict[str, Any]:
    """Return the columns that were asked for beside the prediction."""
    arrays: dict[str, Any] = {}
    if level is not None:
        expected = model.interval(design, level, offset)
        arrays |= {"standard_deviation": expected.sd, "lower": expected.lower, "upper": expected.upper}
    if proba:
        chances = model.predict_proba(design, offset)
        of = model.target.classes or model.target.names or ()
        arrays |= {f"probability={one}": chances[:, k] for k, one in enumerate(of)}
    if score:
        eta = model.scores(design, offset)
        names = (
            ["score"]
            if eta.shape[1] == 1 and model.target.kind != "labels"
            else [f"score={output}" for output in model.outputs]
        )
        arrays |= {name: eta[:, k] for k, name in enumerate(names)}
    return arrays


def _arrow(values: npt.NDArray[Any]) -> Any:
    """Return numbers or names as an Arrow array."""
    return from_numpy(values) if values.dtype.kind in "biuf" else from_texts(values.tolist())
