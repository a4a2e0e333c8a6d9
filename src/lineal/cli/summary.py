"""`lineal summary`: every coefficient with its standard error, test, p-value and interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lineal.api.model_file import load
from lineal.cli.opening import DataFile
from lineal.cli.page import Screen
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.errors import InputError
from lineal.inference.summaries import summarise


def run(
    *,
    model: Path,
    data: DataFile | None,
    errors: str,
    cluster: str | None,
    level: float,
    against: str | None,
    as_json: bool,
    **reading: Any,
) -> int:
    """Summarise and print; without data the standard errors are those the model file holds."""
    fitted = load(model)
    if data is None:
        if errors != "classical" or cluster is not None:
            option = f"--cluster {cluster}" if cluster is not None else f"--errors {errors}"
            raise InputError(f"{option} needs another look at the rows: give the file the model was fitted on as DATA.")
        if any(value not in (None, ()) for value in reading.values()):
            raise InputError(
                "--delimiter, --quote, --header and --beside are about DATA, and no DATA is given; leave them out, or add it."
            )
        summarised = fitted.summary(level=level, against=against)
    else:
        with Watch(f"reading {data}"):
            table = data.open()
            summarised = summarise(fitted, table, errors=errors, cluster=cluster, level=level, against=against)
    if as_json:
        click.echo(text({"model": str(model), "data": None if data is None else str(data), **summarised.to_dict()}))
    else:
        Screen().print(summarised)
    return 0
