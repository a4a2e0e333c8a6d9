"""`lineal verify`: the independent checker, line by line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click
from rich.text import Text

from lineal.cli.opening import DataFile
from lineal.cli.page import Screen, facts
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.errors import ModelFileError
from lineal.verify import verify
from lineal.verify.report import Refused, Report

SCORES: Final = "scores.parquet"
"""The out-of-fold scores of a stack: columns beside the data of its final model."""


def run(
    *,
    model: Path,
    data: DataFile,
    as_json: bool,
) -> int:
    """Check every claim and print each with a mark; the first that fails ends it with exit code 1. Of a stack: every model."""
    if not model.is_dir():
        return _checked(model, data, as_json=as_json)
    parts = members(model)
    reports: dict[str, Any] = {}
    for path, scored in parts:
        own = replace(data, beside=(*data.beside, str(model / SCORES))) if scored else data
        if as_json:
            reports[path.stem] = confirmed(path, own).to_dict()
        else:
            click.echo(f"{path.stem}:")
            _checked(path, own, as_json=False)
    if as_json:
        click.echo(text({"folder": str(model), "models": reports}))
    return 0


def members(folder: Path) -> list[tuple[Path, bool]]:
    """Return the model files of a stack, the final one last, and whether the scores belong to their data."""
    final = folder / "final.lineal"
    if not final.is_file() or not (folder / SCORES).is_file():
        raise ModelFileError(f"{folder} is no stack: it needs final.lineal and {SCORES}.")
    return [*((path, False) for path in sorted(folder.glob("*.lineal")) if path != final), (final, True)]


def confirmed(model: Path, data: DataFile) -> Report:
    """Return what the checker says of a model file; it raises Refused for a claim that does not hold."""
    with Watch(f"checking {model} against {data}") as watch:
        return verify(
            model,
            data.file,
            beside=[(other.path, other.key, other.name) for other in data.others],
            rename=data.names,
            delimiter=data.delimiter,
            quote=data.quote,
            header=data.header,
            sheet=data.sheet,
            watch=watch.share,
        )


def _checked(model: Path, data: DataFile, *, as_json: bool) -> int:
    """Check one model file and print what was checked."""
    refused: Refused | None = None
    try:
        report = confirmed(model, data)
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
