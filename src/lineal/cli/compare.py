"""`lineal compare`: a sensible set of models on the same split, best first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from lineal.api.comparing import Comparison, Entry, compare
from lineal.cli.opening import DataFile
from lineal.cli.options import holds_out, typed
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, facts, left_out, lined, number, right
from lineal.cli.plain_model import finite, text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.errors import InputError
from lineal.metrics import metric


def run(
    *,
    data: DataFile,
    models: tuple[str, ...],
    recipe: Path | None,
    test_file: Path | None,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Fit all, print one table, and return the exit code: 3 if the best one has no proven optimum."""
    if output is not None:
        table_file(output, "-o")
        apart(output, "-o", *data.files, recipe, test_file)
    if test_file is not None and typed("test_size"):
        raise InputError(
            "--test-size and --test-file exclude each other: the file holds the test rows; give one of them."
        )
    if test_file is not None or not holds_out(options["split"]):
        options["test_size"] = 0.0
    wanted = settled({**options, "formula": options["formula"] or None, "poly": options["poly"] or 1}, recipe)
    with Watch(f"reading {data}") as watch:
        comparison = compare(
            data.open(),
            models=models,
            test=None if test_file is None else data.open(test_file),
            progress=lambda name, record: watch.say(f"{name}: step {record.step}, objective {record.objective:.6g}"),
            **wanted,
        )
    if output is not None:
        write_table(output, columns_of(comparison), "comparison")
    if as_json:
        click.echo(text(_plain(comparison, data)))
    else:
        Screen().print(*_page(comparison, data))
    return comparison.entries[0].model.verdict.exit_code


def _plain(comparison: Comparison, data: DataFile) -> dict[str, Any]:
    entries = [
        {
            "model": entry.name,
            "metrics": comparison.figures(entry),
            "spread": {name: spread.to_dict() for name, spread in entry.validation.items()},
            "test": entry.test,
            "intervals": entry.model.report.get("evaluation", {}).get("intervals"),
            "seconds": entry.seconds,
            "verdict": entry.model.verdict.to_dict(),
            "selection": entry.model.report.get("selection"),
        }
        for entry in comparison.entries
    ]
    about = comparison.entries[0].model.report["data"]
    reading = {name: about[name] for name in ("without_target", "notes")}
    plain: dict[str, Any] = finite(
        {
            "data": str(data),
            **reading,
            "metric": comparison.metric,
            "where": "validation",
            "how": comparison.how,
            "baseline": comparison.baseline,
            "models": entries,
            "refused": dict(comparison.refused),
        }
    )
    return plain


def columns_of(comparison: Comparison) -> dict[str, list[Any]]:
    """Return the columns of ``-o``: every model with its figures and those of the test rows, the baseline last."""
    entries = comparison.entries
    figures = list(dict.fromkeys(name for entry in entries for name in comparison.figures(entry)))
    columns: dict[str, list[Any]] = {"model": [*(entry.name for entry in entries), "baseline"]}
    for name in figures:
        columns[name] = [*(comparison.figures(entry).get(name) for entry in entries), comparison.baseline.get(name)]
    for name in dict.fromkeys(name for entry in entries for name in entry.test or ()):
        columns[f"test_{name}"] = [*((entry.test or {}).get(name) for entry in entries), None]
    columns["seconds"] = [*(entry.seconds for entry in entries), None]
    columns["verdict"] = [*(entry.model.verdict.kind for entry in entries), None]
    return {name: finite(values) for name, values in columns.items()}


def _page(comparison: Comparison, data: DataFile) -> list[Any]:
    about = comparison.entries[0].model.report["data"]
    target = comparison.entries[0].model.target
    lines = [
        ("Data", f"{data}: {about['rows']:,} rows fitted, {about['held_out']:,} held out"),
        ("Target", f"{target.name}, {'a number' if target.classes is None else f'{len(target.classes)} classes'}"),
        ("Order", f"by {comparison.metric} on {comparison.how}, best first; the test rows decide nothing"),
        *left_out(about),
        *(("Not fitted", f"{name}: {why}") for name, why in comparison.refused.items()),
    ]
    figures = list(dict.fromkeys(name for entry in comparison.entries for name in comparison.figures(entry)))
    hidden = {comparison.metric, *(one.name for one in metric.ALL if not one.compared)}
    figures = [comparison.metric, *(name for name in figures if name not in hidden)]
    several = any(len(spread.folds) > 1 for spread in comparison.entries[0].validation.values())
    tested = comparison.entries[0].test is not None
    table = lined(
        "Model",
        *map(metric.titled, figures),
        *(["Std. error"] if several else []),
        *([f"Test {metric.titled(comparison.metric)}", "95 % interval"] if tested else []),
        "Seconds",
        "Verdict",
    )
    right(table.columns[1:-1])
    for entry in comparison.entries:
        measured = comparison.figures(entry)
        cells = [number(finite(measured[name])) if name in measured else "" for name in figures]
        cells += [number(finite(entry.validation[comparison.metric].error))] if several else []
        cells += _tested(entry, comparison.metric) if tested else []
        table.add_row(*map(Text, (entry.name, *cells, f"{entry.seconds:.2g}", entry.model.verdict.kind)))
    constant = [number(finite(comparison.baseline[name])) if name in comparison.baseline else "" for name in figures]
    table.add_row(*map(Text, ("baseline", *constant, *[""] * (len(table.columns) - 1 - len(constant)))), style="dim")
    return [facts(lines), table]


def _tested(entry: Entry, name: str) -> list[str]:
    """Return the figure of the test rows, and its interval."""
    low, high = entry.model.report.get("evaluation", {}).get("intervals", {}).get(name, (None, None))
    value = (entry.test or {}).get(name)
    return [number(value), "" if low is None else f"{number(low)} to {number(high)}"]
