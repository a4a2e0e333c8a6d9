"""`lineal verify`: the independent checker, line by line."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from lineal.cli.opening import DataFile, joined
from lineal.cli.page import Screen, facts
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.verify import verify
from lineal.verify.report import Refused


def run(
    *,
    model: Path,
    data: DataFile,
    as_json: bool,
) -> int:
    """Check every claim of the model file and print each with a mark; the first that fails ends it with exit code 1."""
    refused: Refused | None = None
    try:
        with Watch(f"checking {model} against {data}") as watch:
            report = verify(
                model,
                data.path,
                beside=list(map(joined, data.beside)),
                delimiter=data.delimiter,
                quote=data.quote,
                header=data.header,
                watch=watch.share,
            )
    except Refused as error:
        report, refused = error.report, error
    screen = Screen()
    if as_json:
        click.echo(text(report.to_dict()))
    else:
        marks = {True: "✓", False: "✗"} if screen.unicode else {True: "ok", False: "NO"}
        details = [f" ({line['detail']})" if line["detail"] else "" for line in report]
        lines = facts(
            [(marks[line["passed"]], line["check"] + more) for line, more in zip(report, details, strict=True)]
        )
        end = f"Confirmed: all {len(report)} claims of {model} hold for {data}."
        screen.print(lines, *([] if refused is not None else [Text(end, style="bold green")]))
    if refused is not None:
        refused.answered = as_json
        raise refused
    return 0
