"""`lineal compare`: a sensible set of models on the same split, best first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from lineal.api.comparing import Comparison, compare
from lineal.cli.opening import opened
from lineal.cli.page import Screen, facts, left_out, lined, number
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.cli.summary import finite, text


def run(
    *,
    given: set[str],
    data: Path,
    models: tuple[str, ...],
    recipe: Path | None,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Fit all, print one table, and return the exit code: 3 if the best one has no proven optimum."""
    if (options["split"] or "").startswith("column:") and "test_size" not in given:
        options["test_size"] = 0.0
    wanted = settled(options, recipe)
    with Watch(f"reading {data}") as watch:
        found = compare(
            opened(data, delimiter, quote, header, beside),
            models=models,
            progress=lambda name, record: watch.say(f"{name}: step {record.step}, objective {record.objective:.6g}"),
            **wanted,
        )
    if as_json:
        click.echo(text(_plain(found, data)))
    else:
        Screen().print(*_page(found, data))
    return found.entries[0].model.verdict.exit_code


def _plain(found: Comparison, data: Path) -> dict[str, Any]:
    entries = [
        {
            "model": entry.name,
            "metrics": found.figures(entry),
            "intervals": entry.model.report.get("evaluation", {}).get("intervals"),
            "seconds": entry.seconds,
            "verdict": entry.model.verdict.to_dict(),
            "selection": entry.model.report.get("selection"),
        }
        for entry in found.entries
    ]
    about = found.entries[0].model.report["data"]
    told = {name: about[name] for name in ("without_target", "notes")}
    plain: dict[str, Any] = finite(
        {
            "data": str(data),
            **told,
            "metric": found.metric,
            "where": found.where,
            "baseline": found.baseline,
            "models": entries,
        }
    )
    return plain


def _page(found: Comparison, data: Path) -> list[Any]:
    about = found.entries[0].model.report["data"]
    target = found.entries[0].model.target
    named = {"test": "held-out rows", "train": "the training rows, which flatters"}.get(found.where, found.where)
    lines = [
        ("Data", f"{data}: {about['rows']:,} rows fitted, {about['held_out']:,} held out"),
        ("Target", f"{target.name}, {'a number' if target.classes is None else f'{len(target.classes)} classes'}"),
        ("Order", f"by {found.metric} on {named}, best first"),
        *left_out(about),
    ]
    figures = list(dict.fromkeys(name for entry in found.entries for name in found.figures(entry)))
    figures = [found.metric, *(name for name in figures if name not in (found.metric, "mean_loss", "brier"))]
    table = lined("Model", *(name.replace("_", " ") for name in figures), "95 % interval", "Seconds", "Verdict")
    for column in table.columns[1:-1]:
        column.justify = "right"
    for entry in found.entries:
        measured = found.figures(entry)
        low, high = entry.model.report.get("evaluation", {}).get("intervals", {}).get(found.metric, (None, None))
        cells = [number(measured[name]) if name in measured else "" for name in figures]
        cells += ["" if low is None else f"{number(low)} to {number(high)}", f"{entry.seconds:.2g}"]
        table.add_row(*map(Text, (entry.name, *cells, entry.model.verdict.kind)))
    constant = [number(found.baseline[name]) if name in found.baseline else "" for name in figures]
    table.add_row(*map(Text, ("baseline", *constant, "", "", "")), style="dim")
    return [facts(lines), table]
