"""`lineal path`: the same table fitted at many strengths, and which columns enter as the penalty weakens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from lineal.api.estimate import name
from lineal.api.path_of_table import Trail, trail
from lineal.cli.objective import limits, spelled, subject
from lineal.cli.opening import opened
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, facts, left_out, lined, number
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.cli.summary import finite, text
from lineal.errors import InputError
from lineal.paths.strengths import Point

ENTERING: Final = 20
"""So many columns are drawn, the first to enter first."""


def run(
    *,
    given: set[str],
    data: Path,
    recipe: Path | None,
    accept: bool,
    output: Path | None,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Fit the path, print it, and return the exit code: 3 where a point has no proven optimum."""
    wanted = settled(options, recipe)
    if (wanted["split"] or "").startswith("column:") and "test_size" not in given:
        wanted["test_size"] = 0.0
    if "seed" in given and wanted["test_size"] == 0:
        raise InputError("--seed has no effect here: no rows are held out; leave it out.")
    if output is not None:
        table_file(output, "-o")
        apart(output, "-o", data, recipe, *beside)
    with Watch(f"reading {data}") as watch:
        found = trail(
            opened(data, delimiter, quote, header, beside),
            **wanted,
            progress=lambda point: watch.say(f"fitting: strength {point.strength:.3g}, {point.used} columns used"),
        )
    told = told_of(found)
    if output is not None:
        write_table(output, columns_of(found, told), "path")
        told["file"] = str(output)
    if as_json:
        click.echo(text(told))
    else:
        screen = Screen()
        screen.print(*page(found, told, screen.width))
        if output is not None:
            click.echo(f"\nWritten to {output}, with every coefficient.")
    return 0 if accept else max(point.verdict.exit_code for point in found.points)


def told_of(found: Trail) -> dict[str, Any]:
    """Return everything that is said about a path, as JSON data."""
    target = found.rows.target
    penalty = {"name": found.penalty.name} | (
        {} if found.penalty.l1_ratio is None else {"l1_ratio": found.penalty.l1_ratio}
    )
    losses = found.losses or (None,) * len(found.points)
    return {
        "model": {
            "name": name(found.loss, found.penalty.name),
            "loss": found.loss.to_dict(),
            "penalty": penalty,
            "bounds": limits(found.family, found.columns),
            "objective": spelled(found.loss, target, found.rows.roles, _penalty(found)),
        },
        "target": target.to_dict(),
        "data": {
            "origin": found.rows.about.get("origin"),
            "rows": found.fitted,
            "without_target": found.rows.about.get("without_target", 0),
            "notes": list(found.rows.about.get("notes", ())),
        },
        "critical": found.critical,
        "metric": found.metric,
        "best": found.best,
        "points": [
            {
                "strength": point.strength,
                "nonzero": len(found.used(point)),
                "objective": point.objective,
                "gap": point.verdict.gap,
                "relative_gap": point.verdict.relative_gap,
                "verdict": point.verdict.kind,
                "held_out": finite(loss),
                "columns": found.used(point),
            }
            for point, loss in zip(found.points, losses, strict=True)
        ],
    }


def columns_of(found: Trail, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of -o: a line for every point, its coefficients behind."""
    keys = ("strength", "nonzero", "objective", "gap", "relative_gap", "verdict", "held_out")
    columns: dict[str, Any] = {key: [point[key] for point in told["points"]] for key in keys}
    if not found.losses:
        del columns["held_out"]
    classes = found.rows.target.classes or ()
    several = found.rows.target.names or classes
    for j, column in enumerate(found.columns):
        for k in range(found.loss.outputs):
            label = column if found.loss.outputs == 1 else f"{column} / {several[k]}"
            columns[f"coefficient of {label}"] = [float(point.coef[j, k]) for point in found.points]
    return columns


def page(found: Trail, told: Mapping[str, Any], width: int) -> list[Any]:
    """Return the parts of the page: what was done, the table, the picture."""
    proven = sum(point.verdict.proven for point in found.points)
    sentence = f"{proven} of {len(found.points)} points are proven: the verdict of each is in the table."
    if found.reached < len(found.points):
        sentence += f" The time limit left no time for the last {len(found.points) - found.reached}."
    lines = [
        ("Model", told["model"]["name"]),
        ("Objective", told["model"]["objective"]),
        ("Path", f"from {found.critical:.4g}, the least strength at which no column is used"),
        ("Data", f"{told['data']['origin']}: {told['data']['rows']:,} rows fitted; target {found.rows.target.name}"),
    ]
    if found.losses:
        lines.append(("Held out", f"{found.metric.replace('_', ' ')} on rows that no point has seen; * is the least"))
    lines += left_out(told["data"])
    style = "bold green" if proven == len(found.points) else "bold yellow"
    return [Text(sentence, style=style), facts(lines), _table(found, told), _picture(found, width)]


def _penalty(found: Trail) -> str:
    """Return the penalty in letters, since its strength is what changes."""
    unit = "jk" if found.loss.outputs > 1 else "j"
    text = f"sum sd_j |b_{unit}|"
    if found.penalty.name == "elastic":
        ratio = found.penalty.l1_ratio or 0.0
        text = f"sum ({ratio:g} sd_j |b_{unit}| + {1 - ratio:g}/2 (sd_j b_{unit})^2)"
    elif found.penalty.name == "group":
        text = "sum sd_j |b_j|, |b_j| the root of the sum of b_jk^2 over k"
    free = ", intercept not charged" if found.columns[:1] == ("(intercept)",) else ""
    return f" + strength * {text}{free}{subject(limits(found.family, found.columns))}"


def _table(found: Trail, told: Mapping[str, Any]) -> Table:
    table = lined("Strength", "Non-zero", "Objective", "Gap", *(["Held out"] if found.losses else []), "Verdict")
    for column in table.columns[1:-1]:
        column.justify = "right"
    for place, point in enumerate(told["points"]):
        held = [number(point["held_out"]) + ("*" if place == found.best else " ")] if found.losses else []
        gap = "-" if point["gap"] is None else f"{point['gap']:.1e}"
        cells = [number(point["strength"]), str(point["nonzero"]), number(point["objective"]), gap, *held]
        table.add_row(*map(Text, cells), Text(point["verdict"]))
    return table


def _picture(found: Trail, width: int) -> Group:
    """Draw a line for every column, a mark for every point: how coefficients enter as the strength falls."""
    entered = sorted(range(len(found.columns)), key=lambda j: _entry(found, j))
    drawn = [j for j in entered if found.columns[j] != "(intercept)" and _entry(found, j) < len(found.points)]
    room = max(width - len(found.points) - 2, 8)
    rows = []
    for j in drawn[:ENTERING]:
        label = found.columns[j] if len(found.columns[j]) <= room else found.columns[j][: room - 1] + "~"
        rows.append((label, "".join(_mark(point, j) for point in found.points)))
    longest = max((len(label) for label, _ in rows), default=0)
    lines = [f"{label:<{longest}}  {marks}" for label, marks in rows]
    legend = "The strength falls from left to right; + above zero, - below, x both, . zero."
    if len(drawn) > ENTERING:
        legend = f"{len(drawn) - ENTERING} more columns enter later. " + legend
    never = len(found.columns) - len(drawn) - int(found.columns[:1] == ("(intercept)",))
    if never:
        legend += " 1 column never enters." if never == 1 else f" {never} columns never enter."
    return Group(*(Text(line[:width]) for line in lines), Text(legend, style="dim"))


def _entry(found: Trail, column: int) -> int:
    """Return the first point that uses a column; the number of points if none does."""
    return next((i for i, point in enumerate(found.points) if point.coef[column].any()), len(found.points))


def _mark(point: Point, column: int) -> str:
    row = point.coef[column]
    above, below = bool(np.any(row > 0.0)), bool(np.any(row < 0.0))
    return "x" if above and below else "+" if above else "-" if below else "."
