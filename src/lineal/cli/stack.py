"""`lineal stack`: base models and a final one from a recipe, written into a folder."""

from __future__ import annotations

from pathlib import Path

import click

from lineal.api.stacking import FINAL, SCORES, check_place, read_recipe, stack
from lineal.cli.fit import command
from lineal.cli.opening import opened
from lineal.cli.page import Screen, facts, left_out, lined
from lineal.cli.progress import Watch
from lineal.cli.summary import text


def run(
    *,
    recipe: Path,
    data: Path,
    output: Path,
    time_limit: float | None,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
) -> int:
    """Fit the stack, write its folder, print every verdict, and return the exit code of the worst."""
    told = read_recipe(recipe)
    check_place(output)
    with Watch(f"fitting {recipe}"):
        rows = opened(data, delimiter, quote, header, beside)
        found = stack(rows, told.pop("target"), told.pop("bases"), time_limit=time_limit, **told)
    found.save(output)
    models = {**found.bases, FINAL: found.final}
    files = {name: output / f"{name}.lineal" for name in found.bases}
    checks = [command(file, data, delimiter, quote, header, beside) for file in files.values()]
    checks.append(command(output / f"{FINAL}.lineal", data, delimiter, quote, header, (*beside, str(output / SCORES))))
    about = found.final.report["data"]
    if as_json:
        verdicts = {name: model.verdict.to_dict() for name, model in models.items()}
        told = {name: about[name] for name in ("without_target", "notes")}
        click.echo(text({"folder": str(output), "verdicts": verdicts, "verify": checks, **told}))
    else:
        table = lined("Model", "Verdict")
        for name, model in models.items():
            table.add_row(name, model.verdict.sentence)
        Screen().print(facts([("Data", str(data)), ("Folder", str(output)), *left_out(about)]), table)
        click.echo("\nTo let an independent program check them:\n" + "\n".join(checks))
    return max(model.verdict.exit_code for model in models.values())
