"""`lineal summary`: every coefficient with its standard error, test, p-value and interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import click
from rich.console import RenderableType
from rich.text import Text

from lineal.api.model_file import load
from lineal.cli.opening import DataFile
from lineal.cli.options import typed
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, lined, number, right
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.errors import InputError
from lineal.inference.summaries import summarise
from lineal.inference.term_tests import term_tests
from lineal.model.model import Model
from lineal.model.summary import Row, Summary

MAX_COVARIANCE_SHOWN: Final = 6
"""Coefficients up to which the covariance of a posterior is drawn: more are wider than a page."""


def run(
    *,
    model: Path,
    data: DataFile | None,
    errors: str,
    cluster: str | None,
    level: float,
    against: str | None,
    terms: str | None,
    ratios: bool,
    output: Path | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Summarise and print; without data the standard errors are those the model file holds."""
    if output is not None:
        table_file(output, "-o")
        apart(output, "-o", model, *(() if data is None else data.files))
    fitted = load(model)
    if terms is not None:
        return _terms(fitted, model, terms, data, output, as_json=as_json)
    if data is None:
        if errors != "classical" or cluster is not None:
            option = f"--cluster {cluster}" if cluster is not None else f"--errors {errors}"
            raise InputError(f"{option} needs another look at the rows: give the file the model was fitted on as DATA.")
        unread(reading)
        summarised = fitted.summary(level=level, against=against)
    elif fitted.variances is not None:
        raise InputError(f"the posterior of model bayes is in {model} itself; leave {data} out.")
    else:
        with Watch(f"reading {data}"):
            table = data.open()
            summarised = summarise(fitted, table, errors=errors, cluster=cluster, level=level, against=against)
    summarised = summarised.ratios() if ratios else summarised
    if output is not None:
        write_table(output, columns_of(summarised), "summary")
    if as_json:
        click.echo(text({"model": str(model), "data": None if data is None else str(data), **summarised.to_dict()}))
    else:
        covariance = [] if summarised.covariance is None else [_covariance(summarised)]
        Screen().print(summarised, *covariance, *_held_out(fitted))
    return 0


def columns_of(summarised: Summary) -> dict[str, list[Any]]:
    """Return the columns of ``-o``: every coefficient as the page has it; a number that is not finite is missing."""
    rows = summarised.to_dict()["rows"]
    return {name: [row[name] for row in rows] for name in (field.name for field in fields(Row))}


def _held_out(model: Model) -> list[Text]:
    """Return that rows were held out of the fit, if some were: standard errors are larger for it."""
    held = model.report.get("data", {}).get("held_out")
    if not held or not model.training.get("split"):
        return []
    rows = "1 row was" if held == 1 else f"{held:,} rows were"
    return [Text(f"{rows} held out of this fit; to use all of them, fit with --test-size 0.")]


def unread(reading: Mapping[str, Any]) -> None:
    """Refuse options that say how DATA is read where none is given."""
    if any(value not in (None, ()) for value in reading.values()):
        raise InputError(
            "--delimiter, --quote, --header and --beside are about DATA, and no DATA is given; leave them out, or add it."
        )


def _terms(fitted: Model, model: Path, kind: str, data: DataFile | None, output: Path | None, *, as_json: bool) -> int:
    """Test every term and print."""
    idle = [f"--{name}" for name in ("errors", "cluster", "level", "against", "ratios") if typed(name)]
    idle += [] if data is None else [str(data)]
    if idle:
        raise InputError(f"--terms tests from what {model} holds; leave {idle[0]} out.")
    tests = term_tests(fitted, kind)
    if output is not None:
        write_table(output, tests.columns(), "tests")
    if as_json:
        click.echo(text({"model": str(model), "kind": kind, **tests.to_dict()}))
    else:
        Screen().print(tests)
    return 0


def _covariance(summarised: Summary) -> RenderableType:
    """Return the covariance of the coefficients as a table, or where it is to be had if it is too wide for a page."""
    rows = summarised.covariance or ()
    if len(rows) > MAX_COVARIANCE_SHOWN:
        return Text(f"The covariance of the {len(rows)} coefficients is in --json.", style="dim")
    table = lined("Covariance", *(row.column for row in summarised.rows))
    right(table.columns[1:])
    for row, entries in zip(summarised.rows, rows, strict=True):
        table.add_row(*map(Text, (row.column, *map(number, entries))))
    return table
