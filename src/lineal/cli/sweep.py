"""`lineal sweep`: training and validation loss from the simplest model to the most complex."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.table import Table
from rich.text import Text

from lineal.api.sweeping import Sweep, SweepPoint, sweep
from lineal.cli.opening import DataFile
from lineal.cli.options import holds_out
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, facts, lined, number, right
from lineal.cli.plain_model import finite, text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled


def run(
    *,
    data: DataFile,
    recipe: Path | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Sweep, print, and return the exit code: 3 where the chosen point has no proven optimum."""
    wanted = settled(options, recipe)
    if not holds_out(wanted["split"]):
        wanted["test_size"] = 0.0
    if output is not None:
        table_file(output, "-o")
        apart(output, "-o", data.path, recipe, *data.beside)
    with Watch(f"reading {data}") as watch:
        swept = sweep(data.open(), progress=watch.step, **wanted)
    if output is not None:
        write_table(output, columns_of(swept), "sweep")
    chosen = swept.points[swept.best]
    if as_json:
        more = {} if output is None else {"file": str(output)}
        click.echo(text({"data": str(data), **swept.to_dict(), "options": typed_options(chosen, wanted), **more}))
    else:
        Screen().print(_facts(swept, data, wanted), _table(swept))
        if output is not None:
            click.echo(f"\nWritten to {output}, with the losses of every fold.")
    return chosen.verdict.exit_code


def columns_of(swept: Sweep) -> dict[str, list[Any]]:
    """Return the table of -o: a line for every point, the losses of the folds behind."""
    points = [point.to_dict() for point in swept.points]
    names = ("columns", "rows", "training", "validation", "error", "verdict")
    columns: dict[str, list[Any]] = {swept.over: [point["value"] for point in points]}
    columns |= {name: [finite(point[name]) for point in points] for name in names}
    for side in ("training", "validation"):
        for fold in range(len(points[0][f"{side}_folds"])):
            columns[f"{side} fold {fold + 1}"] = [finite(point[f"{side}_folds"][fold]) for point in points]
    return columns


def typed_options(point: SweepPoint, wanted: Mapping[str, Any]) -> str:
    """Return the options of fit that mean a point, but for those that hold for all points."""
    words: list[str] = []
    for name, value in point.settings.items():
        if name == "drop":
            words += [word for column in value for word in ("--drop", column)]
        else:
            words += [f"--{name}", str(value)]
    if "penalty" not in point.settings:
        words += ["--penalty", str(wanted["penalty"] or "none")]
    return shlex.join(words)


def _facts(swept: Sweep, data: DataFile, wanted: Mapping[str, Any]) -> Table:
    best, simplest = swept.points[swept.best], swept.one_se
    lines = [
        ("Model", f"{swept.model}; target {swept.target}"),
        ("Data", f"{data}: {swept.words}, {best.rows:,} rows fitted"),
        ("Loss", f"{swept.loss}, the mean over the folds" if len(best.validation) > 1 else swept.loss),
        ("Best", f"{swept.over} {best.value:.4g}: {typed_options(best, wanted)}"),
    ]
    if simplest is not None:
        point = swept.points[simplest]
        words = f"{swept.over} {point.value:.4g}, the simplest within one standard error of the best"
        lines.append(("Simplest", f"{words}: {typed_options(point, wanted)}"))
    if swept.threshold is not None:
        first = swept.points[swept.threshold]
        words = (
            f"from {swept.over} {first.value:.4g} on there are as many columns as rows: the training rows can be fitted"
        )
        lines.append(("Threshold", f"{words} exactly, and the smallest coefficients that do are taken"))
    lines += [("Note", sentence) for sentence in swept.notes]
    return facts(lines)


def _table(swept: Sweep) -> Table:
    several = len(swept.points[0].validation) > 1
    table = lined(
        swept.over.capitalize(),
        "Coefficients",
        "Training",
        "Validation",
        *(["Std. error"] if several else []),
        "Verdict",
        "",
    )
    right(table.columns[: 4 + several])
    for place, point in enumerate(swept.points):
        marks = [
            *(["best"] if place == swept.best else []),
            *(["simplest"] if place == swept.one_se else []),
            *(["threshold"] if place == swept.threshold else []),
        ]
        numbers = [
            float(np.mean(point.training)),
            float(np.mean(point.validation)),
            *([point.error] if several else []),
        ]
        cells = [f"{point.value:.4g}", str(point.columns), *(number(finite(value)) for value in numbers)]
        table.add_row(*map(Text, (*cells, point.verdict.kind, ", ".join(marks))))
    return table
