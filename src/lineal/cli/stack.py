"""`lineal stack`: base models and a final one from a recipe, written into a folder."""

from __future__ import annotations

from pathlib import Path

import click

from lineal.api.stacking import FINAL, SCORES, check_place, read_recipe, stack
from lineal.cli.opening import DataFile
from lineal.cli.page import Screen, facts, left_out, lined
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch


def run(
    *,
    recipe: Path,
    data: DataFile,
    output: Path,
    time_limit: float | None,
    as_json: bool,
) -> int:
    """Fit the stack, write its folder, print every verdict, and return the exit code of the worst."""
    options = read_recipe(recipe)
    check_place(output)
    with Watch(f"fitting {recipe}"):
        rows = data.open()
        stacked = stack(rows, options.pop("target"), options.pop("bases"), time_limit=time_limit, **options)
    stacked.save(output)
    models = {**stacked.bases, FINAL: stacked.final}
    checks = [data.check(output / f"{name}.lineal") for name in stacked.bases]
    checks.append(data.check(output / f"{FINAL}.lineal", str(output / SCORES)))
    about = stacked.final.report["data"]
    if as_json:
        verdicts = {name: model.verdict.to_dict() for name, model in models.items()}
        reading = {name: about[name] for name in ("without_target", "notes")}
        click.echo(text({"folder": str(output), "verdicts": verdicts, "verify": checks, **reading}))
    else:
        table = lined("Model", "Verdict")
        for name, model in models.items():
            table.add_row(name, model.verdict.sentence)
        Screen().print(facts([("Data", str(data)), ("Folder", str(output)), *left_out(about)]), table)
        click.echo("\nTo let an independent program check them:\n" + "\n".join(checks))
    return max(model.verdict.exit_code for model in models.values())
