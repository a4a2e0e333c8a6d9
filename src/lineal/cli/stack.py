"""`lineal stack`: base models and a final one from a recipe, written into a folder."""

from __future__ import annotations

from pathlib import Path

import click

from lineal.cli.opening import opened
from lineal.cli.page import Screen, facts, lined
from lineal.cli.progress import Watch
from lineal.cli.summary import text
from lineal.stacking import FINAL, SCORES, read_recipe, stack


def run(
    *,
    recipe: Path,
    data: Path,
    output: Path,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
) -> int:
    """Fit the stack, write its folder, print every verdict, and return the exit code of the worst."""
    told = read_recipe(recipe)
    with Watch(f"fitting {recipe}"):
        found = stack(opened(data, delimiter, quote, header, beside), told.pop("target"), told.pop("bases"), **told)
    found.save(output)
    models = {**found.bases, FINAL: found.final}
    checks = [f"lineal verify {output / f'{name}.lineal'} {data}" for name in found.bases]
    checks.append(f"lineal verify {output / f'{FINAL}.lineal'} {data} --beside {output / SCORES}")
    if as_json:
        verdicts = {name: model.verdict.to_dict() for name, model in models.items()}
        click.echo(text({"folder": str(output), "verdicts": verdicts, "verify": checks}))
    else:
        table = lined("Model", "Verdict")
        for name, model in models.items():
            table.add_row(name, model.verdict.sentence)
        Screen().print(facts([("Data", str(data)), ("Folder", str(output))]), table)
        click.echo("\nTo let an independent program check them:\n" + "\n".join(checks))
    return max(model.verdict.exit_code for model in models.values())
