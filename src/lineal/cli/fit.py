"""`lineal fit`: a table in, a model file and a page out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import click
import pyarrow as pa

from lineal import container, training
from lineal.cli.opening import opened
from lineal.cli.output import table_file, write_table
from lineal.cli.page import Screen, page
from lineal.cli.progress import Watch
from lineal.cli.summary import summary
from lineal.cli.summary import text as as_text
from lineal.codes import read_multiclass
from lineal.errors import InputError, ModelFileError
from lineal.estimate import Wish
from lineal.features.told import pairs
from lineal.recipe import Recipe
from lineal.table import as_table

TRACE: Final = {
    "step": pa.int64(),
    "objective": pa.float64(),
    "estimate": pa.float64(),
    "passes": pa.int64(),
    "seconds": pa.float64(),
    "note": pa.string(),
}
"""The columns of --trace."""


def run(
    *,
    given: set[str],
    data: Path,
    target: str | tuple[str, ...] | None,
    model: str,
    penalty: str | None,
    bounds: tuple[str, ...],
    multiclass: str,
    solver: str,
    trace: Path | None,
    weight: str | None,
    offset: str | None,
    drop: tuple[str, ...],
    text: tuple[str, ...],
    intercept: bool,
    formula: str | None,
    poly: int,
    types: tuple[str, ...],
    recipe: Path | None,
    test_size: float,
    split: str | None,
    validation_size: float,
    test_file: Path | None,
    seed: int,
    time_limit: float | None,
    accept: bool,
    output: Path | None,
    beside: tuple[str, ...],
    delimiter: str | None,
    header: bool | None,
    as_json: bool,
) -> int:
    """Fit, write the model file, print, and return the exit code."""
    if test_file is not None:
        if "test_size" in given:
            raise InputError(
                "--test-size and --test-file exclude each other: the file holds the test rows; give one of them."
            )
        test_size = 0.0
    if split is not None and split.startswith("column:") and "test_size" not in given:
        test_size = 0.0
    known = Recipe() if recipe is None else Recipe.read(recipe)
    target = target if target is not None or formula is not None else known.target
    weight, offset = weight or known.weight, offset or known.offset
    drop = (*drop, *(name for name in known.drop if name not in drop))
    asked = "auto" if penalty is None else penalty
    wish = Wish.of(model, asked, bounds, solver, time_limit)
    if "seed" in given and test_size == 0 and not (wish.penalty.picked or wish.model.drawn):
        raise InputError("--seed has no effect here: no rows are held out and no strength is picked; leave it out.")
    path = output if output is not None else Path(f"{stem(data)}.lineal")
    free(path)
    if trace is not None and read_multiclass(multiclass)[0] != "direct":
        raise InputError("--trace records the steps of one fit, and --multiclass makes several; leave one of them out.")
    if trace is not None:
        table_file(trace, "--trace")
        if any(trace.exists() and used.exists() and trace.samefile(used) for used in (data, path)):
            raise InputError(f"--trace {trace} is the data or the model; choose another name.")
    with Watch(f"reading {data}") as watch:
        fitted = training.fit(
            opened(data, delimiter, header, beside),
            target,
            model=model,
            penalty=asked,
            bounds=bounds,
            solver=wish.solver,
            multiclass=multiclass,
            weight=weight,
            offset=offset,
            drop=drop,
            text=text,
            intercept=intercept,
            formula=formula,
            poly=poly,
            types={**known.types, **pairs(types)},
            test_size=test_size,
            split=split,
            validation_size=validation_size,
            test=None if test_file is None else as_table(test_file, delimiter=delimiter, header=header),
            seed=seed,
            time_limit=time_limit,
            progress=watch.step,
            interrupt="budget",
        )
    fitted.save(path)
    if trace is not None and fitted.trace is not None:
        write_table(trace, {key: pa.array(fitted.trace.column(key), kind) for key, kind in TRACE.items()}, "trace")
    check = command(path, data, delimiter, header, beside)
    told = {**summary(fitted), "file": str(path), "verify": check}
    told |= {} if trace is None else {"trace": str(trace)}
    screen = Screen()
    if as_json:
        click.echo(as_text(told))
    else:
        screen.print(*page(told, screen.width))
        steps = "" if trace is None else f" Its {len(fitted.trace or ())} steps are in {trace}."
        click.echo(
            f"\nWritten to {path}.{steps} To let an independent program check it:\n{check}"
        )  # never wrapped: it is copied
    return 0 if accept else fitted.verdict.exit_code


def stem(data: Path) -> str:
    """Return the name of a data file without its endings.

    >>> stem(Path("folder/penguins.csv.gz"))
    'penguins'
    """
    name = data.name[:-3] if data.name.lower().endswith(".gz") else data.name
    return Path(name).stem or name


def free(path: Path) -> None:
    """Refuse, before any work is done, to write over anything but a model file."""
    if path.is_dir():
        raise InputError(f"the output {path} is a folder; give the name of a model file with -o.")
    if not path.parent.is_dir():
        raise InputError(
            f"the folder {path.parent} of the output {path} does not exist; make it first, or choose another with -o."
        )
    if path.is_file():
        try:
            container.read(path)
        except ModelFileError as error:
            raise InputError(
                f"{path} is not a lineal model, so it is not overwritten; choose another name with -o, or delete it."
            ) from error


def command(path: Path, data: Path, delimiter: str | None, header: bool | None, beside: tuple[str, ...] = ()) -> str:
    """Return the command that checks the model.

    >>> command(Path("a.lineal"), Path("my data.csv"), ";", None)
    "lineal verify a.lineal 'my data.csv' --delimiter ';'"
    """
    words = ["lineal", "verify", str(path), str(data)]
    words += [word for other in beside for word in ("--beside", other)]
    words += [] if delimiter is None else ["--delimiter", delimiter]
    words += [] if header is None else ["--header" if header else "--no-header"]
    return shlex.join(words)
