"""`lineal evaluate`: a model measured on a table that holds the target."""

from __future__ import annotations

from pathlib import Path

import click

from lineal.api.model_file import load
from lineal.api.training import evaluate
from lineal.cli.decisions import asked
from lineal.cli.opening import opened
from lineal.cli.page import Screen, calibration, compare, confusion, facts
from lineal.cli.progress import Watch
from lineal.cli.summary import text


def run(
    *,
    model: Path,
    data: Path,
    threshold: float | None,
    costs: str | None,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
) -> int:
    """Measure and print."""
    fitted = load(model)
    table = asked(costs, fitted)
    with Watch(f"reading {data}"):
        found = evaluate(fitted, opened(data, delimiter, quote, header, beside), threshold=threshold, costs=table)
    screen = Screen()
    if as_json:
        click.echo(text({"model": str(model), "data": str(data), **found}))
        return 0
    lines = [("Model", f"{model} ({fitted.target.name})"), ("Data", f"{data}: {found['rows']:,} rows measured")]
    lines += [("Note", sentence) for sentence in found["notes"]]
    lines += [("Decision", found["decision"]["sentence"])] if "decision" in found else []
    intervals = found.get("intervals", {})
    blocks = [facts(lines), compare(found["metrics"]["test"], found["metrics"]["baseline"], "Model", intervals)]
    taken = confusion(found["confusion"]) if "confusion" in found else None
    blocks += [] if taken is None else [taken]
    blocks += [calibration(found["calibration"])] if found.get("calibration") else []
    screen.print(*blocks)
    return 0
