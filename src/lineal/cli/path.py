"""`lineal path`: the same table fitted at many strengths, and which columns enter as the penalty weakens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Group
from rich.table import Table
from rich.text import Text

from lineal.api.estimate import name
from lineal.api.path_of_table import TablePath, table_path
from lineal.cli.objective import intercept_words, limits, scales, spelled, subject
from lineal.cli.opening import DataFile
from lineal.cli.options import holds_out, typed
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, facts, left_out, lined, number, right
from lineal.cli.plain_model import finite, text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.errors import InputError
from lineal.model.model import center_words
from lineal.paths.point import Point

MAX_COLUMNS_SHOWN: Final = 20
"""Columns that are drawn, the first to enter first."""


def run(
    *,
    data: DataFile,
    recipe: Path | None,
    accept: bool,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Fit the path, print it, and return the exit code: 3 where a point has no proven optimum."""
    wanted = settled(options, recipe)
    if not holds_out(wanted["split"]):
        wanted["test_size"] = 0.0
    if typed("seed") and wanted["test_size"] == 0:
        raise InputError("--seed has no effect here: no rows are held out; leave it out.")
    if output is not None:
        table_file(output, "-o")
        apart(output, "-o", *data.files, recipe)
    with Watch(f"reading {data}") as watch:
        walked = table_path(
            data.open(),
            **wanted,
            progress=lambda point: watch.say(f"fitting: strength {point.strength:.3g}, {point.used} columns used"),
        )
    answer = answer_of(walked)
    if output is not None:
        write_table(output, columns_of(walked, answer), "path")
        answer["file"] = str(output)
    if as_json:
        click.echo(text(answer))
    else:
        screen = Screen()
        screen.print(*page(walked, answer, screen.width))
        if output is not None:
            click.echo(f"\nWritten to {output}, with every coefficient.")
    return 0 if accept else max(point.verdict.exit_code for point in walked.points)


def answer_of(walked: TablePath) -> dict[str, Any]:
    """Return everything that is said about a path, as JSON data."""
    target = walked.dataset.target
    penalty = {"name": walked.penalty.name} | (
        {} if walked.penalty.l1_ratio is None else {"l1_ratio": walked.penalty.l1_ratio}
    )
    losses = walked.losses or (None,) * len(walked.points)
    return {
        "model": {
            "name": name(walked.loss, walked.penalty.name),
            "loss": walked.loss.to_dict(),
            "penalty": penalty,
            "bounds": limits(walked.family, walked.columns),
            "objective": spelled(walked.loss, target, walked.dataset.roles, _penalty(walked)),
        },
        "target": target.to_dict(),
        "data": {
            "origin": walked.dataset.about.get("origin"),
            "rows": walked.fitted,
            "without_target": walked.dataset.about.get("without_target", 0),
            "notes": list(walked.dataset.about.get("notes", ())),
        },
        "critical": walked.critical,
        "center": None if walked.center is None else dict(zip(walked.columns, walked.center.tolist(), strict=True)),
        "metric": walked.metric,
        "best": walked.best,
        "points": [
            {
                "strength": point.strength,
                "nonzero": len(walked.used(point)),
                "objective": point.objective,
                "gap": point.verdict.gap,
                "relative_gap": point.verdict.relative_gap,
                "verdict": point.verdict.kind,
                "held_out": finite(loss),
                "columns": walked.used(point),
            }
            for point, loss in zip(walked.points, losses, strict=True)
        ],
    }


def columns_of(walked: TablePath, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of -o: a line for every point, its coefficients behind."""
    keys = ("strength", "nonzero", "objective", "gap", "relative_gap", "verdict", "held_out")
    columns: dict[str, Any] = {key: [point[key] for point in answer["points"]] for key in keys}
    if not walked.losses:
        del columns["held_out"]
    classes = walked.dataset.target.classes or ()
    several = walked.dataset.target.names or classes
    for j, column in enumerate(walked.columns):
        for k in range(walked.loss.outputs):
            label = column if walked.loss.outputs == 1 else f"{column} / {several[k]}"
            columns[f"coefficient of {label}"] = [float(point.coef[j, k]) for point in walked.points]
    return columns


def page(walked: TablePath, answer: Mapping[str, Any], width: int) -> list[Any]:
    """Return the parts of the page: what was done, the table, the picture."""
    proven = sum(point.verdict.proven for point in walked.points)
    sentence = f"{proven} of {len(walked.points)} points are proven: the verdict of each is in the table."
    if walked.reached < len(walked.points):
        sentence += f" The time limit left no time for the last {len(walked.points) - walked.reached}."
    lines = [
        ("Model", answer["model"]["name"]),
        ("Objective", answer["model"]["objective"]),
        ("Path", f"from {walked.critical:.4g}, {_beginning(walked)}"),
        (
            "Data",
            f"{answer['data']['origin']}: {answer['data']['rows']:,} rows fitted; target {walked.dataset.target.name}",
        ),
    ]
    if walked.center is not None:
        lines.append(("Center", center_words(walked.columns, walked.center)))
    if walked.losses:
        lines.append(("Held out", f"{walked.metric.replace('_', ' ')} on rows that no point has seen; * is the least"))
    lines += left_out(answer["data"])
    style = "bold green" if proven == len(walked.points) else "bold yellow"
    picture = [] if walked.family.smooth else [_picture(walked, width)]
    return [Text(sentence, style=style), facts(lines), _table(walked, answer), *picture]


def _beginning(walked: TablePath) -> str:
    if walked.family.smooth:
        return "where coefficients are about a hundredth of their size: a ridge makes nothing zero"
    return "the least strength at which no column is used"


def _penalty(walked: TablePath) -> str:
    """Return the penalty in letters, since its strength is what changes."""
    scale, words = scales(walked.charges, walked.columns, walked.texts)
    text = walked.family.formula("strength", scale or "", walked.loss.outputs) + words
    charged = bool(walked.family.penalty_factors[:1].any())
    free = intercept_words(walked.columns, charged=charged)
    return f" + {text}{free}{subject(limits(walked.family, walked.columns))}"


def _table(walked: TablePath, answer: Mapping[str, Any]) -> Table:
    table = lined("Strength", "Non-zero", "Objective", "Gap", *(["Held out"] if walked.losses else []), "Verdict")
    right(table.columns[1:-1])
    for place, point in enumerate(answer["points"]):
        held = [number(point["held_out"]) + ("*" if place == walked.best else " ")] if walked.losses else []
        gap = "-" if point["gap"] is None else f"{point['gap']:.1e}"
        cells = [number(point["strength"]), str(point["nonzero"]), number(point["objective"]), gap, *held]
        table.add_row(*map(Text, cells), Text(point["verdict"]))
    return table


def _picture(walked: TablePath, width: int) -> Group:
    """Draw a line for every column, a mark for every point: how coefficients enter as the strength falls."""
    entered = sorted(range(len(walked.columns)), key=lambda j: _entry(walked, j))
    drawn = [j for j in entered if walked.columns[j] != "(intercept)" and _entry(walked, j) < len(walked.points)]
    room = max(width - len(walked.points) - 2, 8)
    rows = []
    for j in drawn[:MAX_COLUMNS_SHOWN]:
        label = walked.columns[j] if len(walked.columns[j]) <= room else walked.columns[j][: room - 1] + "~"
        rows.append((label, "".join(_mark(point, j) for point in walked.points)))
    longest = max((len(label) for label, _ in rows), default=0)
    lines = [f"{label:<{longest}}  {marks}" for label, marks in rows]
    legend = "The strength falls from left to right; + above zero, - below, x both, . zero."
    if len(drawn) > MAX_COLUMNS_SHOWN:
        legend = f"{len(drawn) - MAX_COLUMNS_SHOWN} more columns enter later. " + legend
    never = len(walked.columns) - len(drawn) - int(walked.columns[:1] == ("(intercept)",))
    if never:
        legend += " 1 column never enters." if never == 1 else f" {never} columns never enter."
    return Group(*(Text(line[:width]) for line in lines), Text(legend, style="dim"))


def _entry(walked: TablePath, column: int) -> int:
    """Return the first point that uses a column; the number of points if none does."""
    return next((i for i, point in enumerate(walked.points) if point.coef[column].any()), len(walked.points))


def _mark(point: Point, column: int) -> str:
    row = point.coef[column]
    return {(True, True): "x", (True, False): "+", (False, True): "-"}.get((max(row) > 0.0, min(row) < 0.0), ".")
