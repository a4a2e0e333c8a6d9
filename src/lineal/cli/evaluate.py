"""`lineal evaluate`: a model measured on a table that holds the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from lineal.api.model_file import load
from lineal.api.training import evaluate
from lineal.api.validating import cross_validate
from lineal.cli.decisions import costs_of
from lineal.cli.opening import DataFile, stack_at
from lineal.cli.options import READING, typed
from lineal.cli.page import Screen, calibration, compare, confusion, facts, lined, number, per_class, per_label, right
from lineal.cli.plain_model import finite, text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.errors import InputError
from lineal.metrics import metric


def run(
    *,
    fitted: Path,
    data: DataFile | None,
    folds: int | str | None,
    threshold: float | None,
    costs: str | None,
    rows: str,
    thresholds: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Measure and print: a model, or with folds a way of fitting."""
    if folds is not None:
        if data is not None:
            raise InputError(f"--folds fits anew, so it takes one file, the data; {fitted} and {data} are two.")
        if threshold is not None or costs is not None or typed("rows") or thresholds:
            raise InputError(
                "--threshold, --thresholds, --costs and --rows are for a fitted MODEL; with --folds leave them out."
            )
        reading = {name: options.pop(name) for name in READING}
        return _folded(DataFile(fitted, **reading), folds, as_json, options)
    if data is None:
        raise InputError("give a MODEL and the DATA to measure it on; or --folds 10 DATA to measure a way of fitting.")
    for name in options:
        if typed(name):
            raise InputError(
                f"--{name.replace('_', '-')} says how to fit, and {fitted} is fitted; leave it out, or use --folds."
            )
    return _measured(fitted, data, threshold, costs, rows, thresholds=thresholds, as_json=as_json)


def _folded(data: DataFile, folds: int | str, as_json: bool, options: Mapping[str, Any]) -> int:
    """Fit and predict fold by fold, and print every figure with its spread."""
    wanted = settled(options, options["recipe"])
    del wanted["recipe"]
    wanted["penalty"] = "auto" if wanted["penalty"] is None else wanted["penalty"]
    with Watch(f"reading {data}") as watch:
        answer = cross_validate(data.open(), folds=folds, progress=watch.step, **wanted)
    if as_json:
        click.echo(text({"data": str(data), **answer.to_dict()}))
        return answer.verdict.exit_code
    counts = f"{min(answer.rows):,}" + ("" if min(answer.rows) == max(answer.rows) else f" to {max(answer.rows):,}")
    lines = [
        ("Model", f"{answer.model}; target {answer.target}"),
        ("Data", f"{data}: {answer.words}, {counts} rows each, predicted by fits to the others"),
        ("Verdict", f"the worst of {len(answer.verdicts)} fits: {answer.verdict.sentence}"),
    ]
    lines += [("Note", sentence) for sentence in answer.notes]
    table = lined("Metric", "Mean", "Std. error", "Std. dev.", "Least", "Largest", "Baseline")
    right(table.columns[1:])
    for name, spread in answer.metrics.items():
        ends = (min(spread.folds), max(spread.folds))
        baseline = answer.baseline[name].mean if name in answer.baseline else None
        numbers = (spread.mean, spread.error, spread.sd, *ends, baseline)
        table.add_row(*map(Text, (metric.titled(name), *(number(finite(value)) for value in numbers))))
    Screen().print(facts(lines), table)
    return answer.verdict.exit_code


def _measured(
    model: Path,
    data: DataFile,
    threshold: float | None,
    costs: str | None,
    rows: str,
    *,
    thresholds: bool,
    as_json: bool,
) -> int:
    """Measure a fitted model, or a stack, and print."""
    whole = stack_at(model)
    fitted = load(model) if whole is None else whole.final
    table = costs_of(costs, fitted)
    if whole is not None and (typed("rows") or thresholds):
        raise InputError("--rows and --thresholds are for one model, and this is a stack; leave them out.")
    with Watch(f"reading {data}"):
        if whole is None:
            answer = evaluate(fitted, data.open(), threshold=threshold, costs=table, rows=rows, thresholds=thresholds)
        else:
            answer = whole.evaluate(data.open(), threshold=threshold, costs=table)
    screen = Screen()
    if as_json:
        click.echo(text({"model": str(model), "data": str(data), **answer}))
        return 0
    strange = sum(answer.get("unknown_classes", {}).values())
    part = f"{answer['rows']:,}" + (f" of {answer['rows'] + strange:,}" if strange else "")
    lines = [("Model", f"{model} ({fitted.target.name})"), ("Data", f"{data}: {part} rows measured")]
    lines += [("Note", sentence) for sentence in answer["notes"]]
    lines += [("Decision", answer["decision"]["sentence"])] if "decision" in answer else []
    intervals = answer.get("intervals", {})
    if answer.get("accuracy_of_all") is not None:
        lines.append(
            ("Of all rows", f"{number(answer['accuracy_of_all'])} is the accuracy, with those not measured as wrong")
        )
    where = f"{part} rows" if strange else "Model"
    blocks = [facts(lines), compare(answer["metrics"]["test"], answer["metrics"]["baseline"], where, intervals)]
    taken = confusion(answer["confusion"]) if "confusion" in answer else None
    each = per_class(answer["classes"]) if "classes" in answer else None
    marks = per_label(answer["labels"]) if "labels" in answer else None
    blocks += [block for block in (taken, each, marks) if block is not None]
    blocks += [calibration(answer["calibration"])] if answer.get("calibration") else []
    blocks += [_thresholds(answer["thresholds"])] if "thresholds" in answer else []
    screen.print(*blocks)
    return 0


def _thresholds(lines: Sequence[Mapping[str, Any]]) -> Table:
    """Return what deciding at each threshold catches and costs, a line each."""
    figures = [name for name in lines[0] if name not in ("threshold", "best")]
    table = lined("Threshold", *(name.capitalize() for name in figures), "")
    right(table.columns[:-1])
    best = "least cost" if "cost" in lines[0] else "largest F1"
    for line in lines:
        cells = (f"{line['threshold']:.2f}", *(number(line[name]) for name in figures), best if line["best"] else "")
        table.add_row(*map(Text, cells))
    return table
