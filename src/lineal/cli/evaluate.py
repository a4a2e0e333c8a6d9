"""`lineal evaluate`: a model measured on a table that holds the target."""

from __future__ import annotations

from pathlib import Path

import click

from lineal.api.model_file import load
from lineal.api.training import evaluate
from lineal.cli.decisions import costs_of
from lineal.cli.opening import DataFile
from lineal.cli.page import Screen, calibration, compare, confusion, facts
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch


def run(
    *,
    model: Path,
    data: DataFile,
    threshold: float | None,
    costs: str | None,
    as_json: bool,
) -> int:
    """Measure and print."""
    fitted = load(model)
    table = costs_of(costs, fitted)
    with Watch(f"reading {data}"):
        answer = evaluate(fitted, data.open(), threshold=threshold, costs=table)
    screen = Screen()
    if as_json:
        click.echo(text({"model": str(model), "data": str(data), **answer}))
        return 0
    lines = [("Model", f"{model} ({fitted.target.name})"), ("Data", f"{data}: {answer['rows']:,} rows measured")]
    lines += [("Note", sentence) for sentence in answer["notes"]]
    lines += [("Decision", answer["decision"]["sentence"])] if "decision" in answer else []
    intervals = answer.get("intervals", {})
    blocks = [facts(lines), compare(answer["metrics"]["test"], answer["metrics"]["baseline"], "Model", intervals)]
    taken = confusion(answer["confusion"]) if "confusion" in answer else None
    blocks += [] if taken is None else [taken]
    blocks += [calibration(answer["calibration"])] if answer.get("calibration") else []
    screen.print(*blocks)
    return 0
