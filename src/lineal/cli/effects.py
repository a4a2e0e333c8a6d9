"""`lineal effects`: what predictions change by, or mean predictions, averaged over rows."""

from __future__ import annotations

import csv
from pathlib import Path

import click

from lineal.api.model_file import load
from lineal.cli.opening import DataFile
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.errors import InputError
from lineal.inference.effects import marginal_effects, predicted_means


def run(
    *,
    model: Path,
    data: DataFile,
    of: tuple[str, ...],
    at: tuple[str, ...],
    level: float,
    output: Path | None,
    as_json: bool,
) -> int:
    """Average and print."""
    if of and at:
        raise InputError("--of asks for effects and --at for mean predictions; leave one of them out.")
    if output is not None:
        table_file(output, "-o")
        apart(output, "-o", model, *data.files)
    fitted, values = load(model), _values(at)
    with Watch(f"reading {data}"):
        table = data.open()
        if at:
            found = predicted_means(fitted, table, values, level=level)
        else:
            found = marginal_effects(fitted, table, of or None, level=level)
    if output is not None:
        write_table(output, found.columns(), "effects")
    if as_json:
        click.echo(text({"model": str(model), "data": str(data), **found.to_dict()}))
    else:
        Screen().print(found)
    return 0


def _values(at: tuple[str, ...]) -> dict[str, list[str] | None]:
    """Return the values that columns are set to; None for all levels.

    >>> _values(("age=30,50", "sex"))
    {'age': ['30', '50'], 'sex': None}
    """
    values: dict[str, list[str] | None] = {}
    for one in at:
        name, equals, listed = one.partition("=")
        if name in values:
            raise InputError(f"--at names {name!r} twice; give all its values at once: {name}=1,2.")
        values[name] = next(csv.reader([listed]), []) if equals else None
        if values[name] == []:
            raise InputError(
                f"--at {one}: a value is missing after the '='; write {name}=1,2, or {name} for all levels."
            )
    return values
