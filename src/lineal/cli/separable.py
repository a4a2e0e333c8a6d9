"""`lineal separable`: the answer in a sentence, and the integers that prove it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.text import Text

from lineal import __version__, container
from lineal.algebra.integers import digits, floats, text
from lineal.api.dataset import Dataset, Roles, from_table
from lineal.cli.fit import free
from lineal.cli.opening import DataFile
from lineal.cli.page import Screen, facts, left_out, listed, number
from lineal.cli.plain_model import text as json_text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.errors import InputError
from lineal.features.splitting import Split
from lineal.ground.deadline import Deadline
from lineal.ground.records import dataclass
from lineal.perceptron.margin import Margin
from lineal.perceptron.margins import stated, widest
from lineal.perceptron.perceptron import Plan, present
from lineal.separation.cloud import Cloud
from lineal.separation.gathering import gather
from lineal.separation.record import Separability, answer
from lineal.sources import rowwise
from lineal.sources.source import Block, Source
from lineal.tables.table import Table

MAX_WITNESS_ROWS_SHOWN = 12
MARGIN_SECONDS = 5.0
"""Seconds a perceptron may take to try the bound."""


def run(
    *,
    data: DataFile,
    recipe: Path | None,
    bound: bool,
    time_limit: float,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Decide, print, and return the exit code: 0 for an answer, 3 for none."""
    if output is not None:
        free(output)
    with Watch(f"reading {data}"):
        dataset = _dataset(data.open(), settled(options, recipe))
        intercept = dataset.encoder is None or dataset.encoder.intercept
        labels = tuple(dataset.target.classes or ())
        cloud = gather(dataset.train, outputs=1 if len(labels) < 3 else len(labels))
        separability = answer(cloud, dataset.train.columns, labels, dataset.target.name, time_limit)
        margin = _margin(cloud, separability, held=True) if bound else None
        hard = _margin(cloud, separability, held=not intercept) if bound and intercept else margin
        tried = None if margin is None else _tried(dataset.train, margin)
    printed: dict[str, Any] = {
        **separability.to_dict(),
        "target": dataset.target.name,
        "notes": list(dataset.about["notes"]),
    }
    printed["without_target"] = dataset.about.get("without_target", 0)
    if bound:
        printed["margin"] = None if margin is None else margin.to_dict()
        printed["hard_margin"] = None if hard is None else hard.to_dict()
        printed["perceptron"] = tried
    if output is not None and separability.witness is not None:
        container.write(output, _record(separability, dataset, margin), {})
        printed["file"] = str(output)
    if as_json:
        click.echo(json_text(printed))
    else:
        screen = Screen()
        screen.print(
            Text(separability.sentence, style="bold"),
            facts(_facts(separability, margin, hard, bound) + _said(tried, margin) + left_out(printed)),
        )
        if output is not None and "file" in printed:
            # never wrapped: it is copied
            click.echo(f"Written to {output}; check it with:\n{data.check(output)}")
    return 3 if separability.kind == "budget" else 0


def _dataset(table: Table, wanted: Mapping[str, Any]) -> Dataset:
    """Return all rows of a table with the terms asked for."""
    names = ("target", "formula", "poly", "intercept", "weight", "drop", "types", "text", "max_levels", "missing", "na")
    dataset = from_table(table, Roles.of(**{name: wanted[name] for name in names}), "classes", Split(0, 0.0))
    if dataset.target.kind == "labels":
        raise InputError(
            f"the target {dataset.target.name} is labels, of which a row has any number; ask of each label whether its rows can "
            "be separated."
        )
    return dataset


def _record(separability: Separability, dataset: Dataset, margin: Margin | None) -> dict[str, Any]:
    """Return the JSON of a separability record (docs/separability.md)."""
    weights = rowwise.weights(dataset.train)
    assert separability.witness is not None
    assert dataset.encoder is not None
    record = {
        "format": container.FORMATS[1],
        "version": container.VERSION,
        "made_by": f"lineal {__version__}",
        "kind": separability.kind,
        "sentence": separability.sentence,
        "columns": list(separability.columns),
        "target": dataset.target.to_dict(),
        "encoder": dataset.encoder.to_dict(),
        "roles": dict(dataset.roles),
        "training": {
            "rows": separability.total,
            "weight_sum": math.fsum(weights.tolist()),
            **dataset.training,
        },
        "strict_rows": separability.strict,
        "witness": separability.witness.to_dict(),
        "margin": None if margin is None else margin.to_dict(),
    }
    return {**record, "encoding": container.encoding(record)}


def _margin(cloud: Cloud, separability: Separability, *, held: bool) -> Margin | None:
    """Return the largest margin; ``held`` as the perceptron's theorem has it: the intercept counts in both lengths."""
    if (
        separability.kind != "complete"
        or separability.witness is None
        or separability.witness.direction is None
        or len(separability.classes) < 2
    ):
        return None
    return stated(widest(cloud, floats(separability.witness.direction), held=held))


def _tried(source: Source, margin: Margin) -> dict[str, Any]:
    """Let a perceptron start at zero, and hold its mistakes against the bound, which is true after any number of epochs."""
    plain = source.map(Once())
    run = present(plain, margin.coef.shape[1], Plan(epochs=1000, deadline=Deadline.after(MARGIN_SECONDS)))
    if run.mistakes > margin.bound:
        raise AssertionError(f"a perceptron made {run.mistakes} mistakes, the bound is {margin.bound}")
    return {"mistakes": run.mistakes, "epochs": run.epochs, "clean": run.clean, "within_bound": True}


@dataclass(frozen=True)
class Once:
    """The change that lets every row of positive weight count once."""

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return block if block.weight is None else replace(block, weight=(block.weight > 0.0).astype(np.float64))


def _said(tried: dict[str, Any] | None, margin: Margin | None) -> list[tuple[str, str]]:
    if tried is None or margin is None:
        return []
    mistakes = "1 mistake" if tried["mistakes"] == 1 else f"{tried['mistakes']:,} mistakes"
    end = (
        f"in {tried['epochs']} epochs, the last one clean" if tried["clean"] else f"in {tried['epochs']} epochs so far"
    )
    return [("Perceptron", f"{mistakes} {end}: {tried['mistakes']:,} <= {number(margin.bound)}")]


def _facts(
    separability: Separability, margin: Margin | None, hard: Margin | None, bound: bool
) -> list[tuple[str, str]]:
    lines = (
        [("Rows", f"{separability.strict:,} of {separability.total:,} strictly on their side")]
        if separability.kind != "overlap"
        else []
    )
    witness = separability.witness
    if witness is not None and witness.direction is not None:
        for k in range(witness.direction.shape[1]):
            label = "Direction" if witness.direction.shape[1] == 1 else f"Direction of {separability.classes[k]}"
            parts = [
                f"{text(v)} {name}" for name, v in zip(separability.columns, witness.direction[:, k], strict=True) if v
            ]
            terms = listed(parts, MAX_WITNESS_ROWS_SHOWN, " +", " + ").replace(" + -", " - ")
            lines.append((label, terms + _see_json(parts) if terms else "0"))
    if witness is not None and witness.rows is not None and witness.weights is not None:
        shown = [f"{_short(w)} x row {row}" for row, w in zip(witness.rows, witness.weights, strict=True)]
        lines.append(("Sum zero", listed(shown, MAX_WITNESS_ROWS_SHOWN) + _see_json(shown)))
    if bound:
        lines.append(("Bound", "none: the classes are not separable" if margin is None else _bound(margin)))
        lines += [] if hard is None else [("Hard margin", hard.sentence)]
    return lines


def _bound(margin: Margin) -> str:
    factor = "2 " if margin.against is not None else ""
    return (
        f"a perceptron that starts at 0 makes at most {factor}R^2/gamma^2 = {factor}(RB)^2 = {number(margin.bound)} mistakes "
        f"(R = {number(margin.radius)}, maximum margin gamma = {number(margin.gamma)}, B = 1/gamma = "
        f"{number(1 / margin.gamma)}, per row {number(margin.share)})"
    )


def _short(weight: int) -> str:
    """Return an integer, or its size where it is long.

    >>> _short(12), _short(10**30)
    ('12', '1.0e+30')
    """
    if weight < 10**9:
        return str(weight)
    written = digits(weight)
    return f"{written[0]}.{written[1]}e+{len(written) - 1}"


def _see_json(parts: Sequence[str]) -> str:
    """Return where the parts are that were not listed."""
    return " (see --json)" if len(parts) > MAX_WITNESS_ROWS_SHOWN else ""
