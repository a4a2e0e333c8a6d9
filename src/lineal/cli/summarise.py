"""`lineal summary`: every coefficient with its standard error, test, p-value and interval."""

from __future__ import annotations

from pathlib import Path

import click

from lineal.api.model_file import load
from lineal.cli.opening import opened
from lineal.cli.page import Screen
from lineal.cli.progress import Watch
from lineal.cli.summary import text
from lineal.errors import InputError
from lineal.inference.summaries import summarise


def run(
    *,
    model: Path,
    data: Path | None,
    errors: str,
    cluster: str | None,
    level: float,
    against: str | None,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
) -> int:
    """Summarise and print; without data the standard errors are those the model file holds."""
    fitted = load(model)
    if data is None:
        if errors != "classical" or cluster is not None:
            asked = f"--cluster {cluster}" if cluster is not None else f"--errors {errors}"
            raise InputError(f"{asked} needs another look at the rows: give the file the model was fitted on as DATA.")
        if delimiter is not None or quote is not None or header is not None or beside:
            raise InputError(
                "--delimiter, --quote, --header and --beside are about DATA, and no DATA is given; leave them out, or add it."
            )
        found = fitted.summary(level=level, against=against)
    else:
        with Watch(f"reading {data}"):
            table = opened(data, delimiter, quote, header, beside)
            found = summarise(fitted, table, errors=errors, cluster=cluster, level=level, against=against)
    if as_json:
        click.echo(text({"model": str(model), "data": None if data is None else str(data), **found.to_dict()}))
    else:
        Screen().print(found)
    return 0
