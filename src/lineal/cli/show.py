"""`lineal show`: everything a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from lineal import container
from lineal.api.model_file import load
from lineal.cli.opening import stack_at
from lineal.cli.page import MAX_COLUMNS_LISTED, Screen, apart, facts, lined
from lineal.cli.plain_model import summary, text

FINAL: Final = "final"
"""The last model of a stack."""


def run(*, model: Path, as_json: bool) -> int:
    """Print the model file as a page or as one object; of a stack all its models in short, then the final one."""
    whole = stack_at(model)
    if whole is not None:
        if as_json:
            click.echo(
                text({"folder": str(model), "models": {name: summary(one) for name, one in whole.models.items()}})
            )
            return 0
        table = lined("Model", "Predicts", "Columns", "Verdict")
        for name, one in whole.models.items():
            table.add_row(name, one.target.name, f"{len(one.columns):,}", one.verdict.sentence)
        Screen().print(facts([("Stack", f"{model}: scores of {', '.join(whole.bases)} are columns of {FINAL}")]), table)
        model = model / f"{FINAL}.lineal"
    fitted = load(model)
    answer = {**summary(fitted), "file": str(model), "evidence_arrays": sorted(fitted.arrays)}
    screen = Screen()
    if as_json:
        click.echo(text(answer))
        return 0
    lines = [("File", str(model)), ("Tolerance", f"relative gap at most {fitted.tol:g}")]
    lines += [("Evidence", f"{key}: {_short(value)}") for key, value in answer["verdict"]["evidence"].items()]
    lines += [("Fingerprint", str(answer["data"]["training"].get("fingerprint")))]
    lines += [("Encoding", fitted.to_dict()["encoding"]), ("SHA-256", container.signature(*container.read(model)))]
    limit = None if len(fitted.columns) <= MAX_COLUMNS_LISTED else MAX_COLUMNS_LISTED
    about, several = answer["model"], answer["model"]["multiclass"]
    marks = about["labels"]
    heading = f"{about['loss']} loss, {about['penalty']['name']} penalty"
    heading += "" if several is None else f", {len(several['members'])} members ({several['scheme']})"
    heading += "" if marks is None else f", one member for each of {len(marks['members'])} labels"
    top, *rest = apart(answer, screen.width, limit, heading)
    screen.print(top, facts(lines), *rest)
    return 0


def _short(value: object) -> str:
    """Return evidence in few words: a long list of records is counted.

    >>> _short([1, 2]), _short([{"rows": [1]}] * 40)
    ('[1, 2]', '40 of them (see --json)')
    """
    long = isinstance(value, list) and len(value) > 12 and isinstance(value[0], dict)
    return f"{len(value)} of them (see --json)" if isinstance(value, list) and long else str(value)
