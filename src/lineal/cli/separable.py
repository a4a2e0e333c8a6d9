"""`lineal separable`: the answer in a sentence, and the integers that prove it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from rich.text import Text

from lineal import __version__, container
from lineal.algebra.integers import digits, floats, text
from lineal.api.dataset import Roles, Rows, from_table
from lineal.cli.fit import command, free
from lineal.cli.opening import opened
from lineal.cli.page import Screen, facts, left_out, number
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.cli.summary import text as json_text
from lineal.features.splitting import Split
from lineal.ground.deadline import Deadline
from lineal.perceptron.margins import Margin, stated, widest
from lineal.perceptron.perceptron import Plan, present
from lineal.separation.cloud import Cloud
from lineal.separation.gathering import gather
from lineal.separation.record import Separability, answer
from lineal.sources.source import Source
from lineal.tables.table import Table

SHOWN = 12
PATIENCE = 5.0
"""Seconds a perceptron may take to try the bound."""


def run(
    *,
    data: Path,
    recipe: Path | None,
    bound: bool,
    time_limit: float,
    output: Path | None,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Decide, print, and return the exit code: 0 for an answer, 3 for none."""
    if output is not None:
        free(output)
    with Watch(f"reading {data}"):
        rows = _rows(opened(data, delimiter, quote, header, beside), settled(options, recipe))
        intercept = rows.encoder is None or rows.encoder.intercept
        labels = tuple(rows.target.classes or ())
        cloud = gather(rows.train, outputs=1 if len(labels) < 3 else len(labels))
        found = answer(cloud, rows.train.columns, labels, rows.target.name, time_limit)
        margin = _margin(cloud, found, held=True) if bound else None
        hard = _margin(cloud, found, held=not intercept) if bound and intercept else margin
        tried = None if margin is None else _tried(rows.train, margin)
    told: dict[str, Any] = {**found.to_dict(), "target": rows.target.name, "notes": list(rows.about["notes"])}
    told["without_target"] = rows.about.get("without_target", 0)
    if bound:
        told["margin"] = None if margin is None else margin.to_dict()
        told["hard_margin"] = None if hard is None else hard.to_dict()
        told["perceptron"] = tried
    if output is not None and found.witness is not None:
        container.write(output, _record(found, rows, margin), {})
        told["file"] = str(output)
    if as_json:
        click.echo(json_text(told))
    else:
        screen = Screen()
        screen.print(
            Text(found.sentence, style="bold"),
            facts(_facts(found, margin, hard, bound) + _said(tried, margin) + left_out(told)),
        )
        if output is not None and "file" in told:
            # never wrapped: it is copied
            click.echo(
                f"Written to {output}; check it with:\n{command(output, data, delimiter, quote, header, beside)}"
            )
    return 3 if found.kind == "budget" else 0


def _rows(table: Table, wanted: Mapping[str, Any]) -> Rows:
    """Return all rows of a table with the terms asked for."""
    names = ("target", "formula", "poly", "intercept", "weight", "drop", "types", "text")
    return from_table(table, Roles.of(**{name: wanted[name] for name in names}), "classes", Split(0, 0.0))


def _record(found: Separability, rows: Rows, margin: Margin | None) -> dict[str, Any]:
    """Return the JSON of a separability record (docs/separability.md)."""
    weights = [np.ones(block.n_rows) if block.weight is None else block.weight for block in rows.train.blocks()]
    assert found.witness is not None
    assert rows.encoder is not None
    told = {
        "format": container.FORMATS[1],
        "version": container.VERSION,
        "made_by": f"lineal {__version__}",
        "kind": found.kind,
        "sentence": found.sentence,
        "columns": list(found.columns),
        "target": rows.target.to_dict(),
        "encoder": rows.encoder.to_dict(),
        "roles": dict(rows.roles),
        "training": {
            "rows": found.total,
            "weight_sum": math.fsum(itertools.chain.from_iterable(weight.tolist() for weight in weights)),
            **rows.training,
        },
        "strict_rows": found.strict,
        "witness": found.witness.to_dict(),
        "margin": None if margin is None else margin.to_dict(),
    }
    return {**told, "encoding": container.encoding(told)}


def _margin(cloud: Cloud, found: Separability, *, held: bool) -> Margin | None:
    """Return the largest margin; ``held`` as the perceptron's theorem has it: the intercept counts in both lengths."""
    if found.kind != "complete" or found.witness is None or found.witness.direction is None or len(found.classes) < 2:
        return None
    return stated(widest(cloud, floats(found.witness.direction), held=held))


def _tried(source: Source, margin: Margin) -> dict[str, Any]:
    """Let a perceptron start at zero, and hold its mistakes against the bound, which is true after any number of epochs."""
    plain = source.map(lambda block: replace(block, weight=_once(block.weight)))
    run = present(plain, margin.coef.shape[1], Plan(epochs=1000, deadline=Deadline.after(PATIENCE)))
    if run.mistakes > margin.bound:
        raise AssertionError(f"a perceptron made {run.mistakes} mistakes, the bound is {margin.bound}")
    return {"mistakes": run.mistakes, "epochs": run.epochs, "clean": run.clean, "within_bound": True}


def _once(weight: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float64] | None:
    return None if weight is None else (weight > 0.0).astype(np.float64)


def _said(tried: dict[str, Any] | None, margin: Margin | None) -> list[tuple[str, str]]:
    if tried is None or margin is None:
        return []
    mistakes = "1 mistake" if tried["mistakes"] == 1 else f"{tried['mistakes']:,} mistakes"
    end = (
        f"in {tried['epochs']} epochs, the last one clean" if tried["clean"] else f"in {tried['epochs']} epochs so far"
    )
    return [("Perceptron", f"{mistakes} {end}: {tried['mistakes']:,} <= {number(margin.bound)}")]


def _facts(found: Separability, margin: Margin | None, hard: Margin | None, bound: bool) -> list[tuple[str, str]]:
    lines = [("Rows", f"{found.strict:,} of {found.total:,} strictly on their side")] if found.kind != "overlap" else []
    witness = found.witness
    if witness is not None and witness.direction is not None:
        for k in range(witness.direction.shape[1]):
            label = "Direction" if witness.direction.shape[1] == 1 else f"Direction of {found.classes[k]}"
            parts = [f"{text(v)} {name}" for name, v in zip(found.columns, witness.direction[:, k], strict=True) if v]
            more = f" + {len(parts) - SHOWN} more (see --json)" if len(parts) > SHOWN else ""
            lines.append((label, (" + ".join(parts[:SHOWN]).replace(" + -", " - ") or "0") + more))
    if witness is not None and witness.rows is not None and witness.weights is not None:
        shown = [f"{_short(w)} x row {row}" for row, w in zip(witness.rows, witness.weights, strict=True)]
        more = f" and {len(shown) - SHOWN} more (see --json)" if len(shown) > SHOWN else ""
        lines.append(("Sum zero", ", ".join(shown[:SHOWN]) + more))
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
