"""`lineal fit`: a table in, a model file and a page out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
import pyarrow as pa

from lineal import container
from lineal.api import training
from lineal.api.estimate import Wish
from lineal.cli.opening import opened
from lineal.cli.output import apart, sink, table_file
from lineal.cli.page import Screen, page
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.cli.summary import summary
from lineal.cli.summary import text as as_text
from lineal.errors import InputError, ModelFileError
from lineal.multiclass.codes import read_multiclass
from lineal.tables.table import as_table

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
    output: Path | None,
    trace: Path | None,
    recipe: Path | None,
    test_file: Path | None,
    accept: bool,
    beside: tuple[str, ...],
    delimiter: str | None,
    quote: str | None,
    header: bool | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Fit, write the model file, print, and return the exit code."""
    wanted = _settled(options, given, recipe, test_file)
    path = output if output is not None else Path(f"{stem(data)}.lineal")
    free(path)
    if trace is not None:
        _check_trace(trace, wanted["multiclass"])
        apart(trace, "--trace", data, path, test_file, recipe, *beside)
    with Watch(f"reading {data}") as watch:
        fitted = training.fit(
            opened(data, delimiter, quote, header, beside),
            test=None if test_file is None else as_table(test_file, delimiter=delimiter, quote=quote, header=header),
            progress=watch.step,
            interrupt="budget",
            **wanted,
        )
    if trace is None or fitted.trace is None:
        fitted.save(path)
    else:
        steps = {key: pa.array(fitted.trace.column(key), kind) for key, kind in TRACE.items()}
        with sink(trace, as_json=False, what="trace") as target:  # both files appear, or none
            target.write(pa.RecordBatch.from_pydict(steps))
            fitted.save(path)
    check = command(path, data, delimiter, quote, header, beside)
    told = {**summary(fitted), "file": str(path), "verify": check}
    told |= {} if trace is None else {"trace": str(trace)}
    if as_json:
        click.echo(as_text(told))
    else:
        screen = Screen()
        screen.print(*page(told, screen.width))
        note = "" if trace is None else f" Its {len(fitted.trace or ())} steps are in {trace}."
        # never wrapped: it is copied
        click.echo(f"\nWritten to {path}.{note} To let an independent program check it:\n{check}")
    return 0 if accept else fitted.verdict.exit_code


def _settled(
    options: Mapping[str, Any], given: set[str], recipe: Path | None, test_file: Path | None
) -> dict[str, Any]:
    """Return the arguments of ``lineal.fit``: options with what a recipe says, those without effect refused."""
    found = settled(options, recipe)
    by_column = (found["split"] or "").startswith("column:")
    if test_file is not None and "test_size" in given:
        raise InputError(
            "--test-size and --test-file exclude each other: the file holds the test rows; give one of them."
        )
    if test_file is not None or (by_column and "test_size" not in given):
        found["test_size"] = 0.0
    found["penalty"] = "auto" if found["penalty"] is None else found["penalty"]
    wish = Wish.of(found["model"], found["penalty"], found["bounds"], found["solver"])
    found["solver"] = wish.solver
    if "seed" in given and found["test_size"] == 0 and not (wish.penalty.picked or wish.model.drawn):
        raise InputError("--seed has no effect here: no rows are held out and no strength is picked; leave it out.")
    return found


def _check_trace(trace: Path, multiclass: str) -> None:
    """Refuse a trace of several fits, or one whose name says no format."""
    if read_multiclass(multiclass)[0] != "direct":
        raise InputError("--trace records the steps of one fit, and --multiclass makes several; leave one of them out.")
    table_file(trace, "--trace")


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


def command(
    path: Path, data: Path, delimiter: str | None, quote: str | None, header: bool | None, beside: tuple[str, ...] = ()
) -> str:
    """Return the command that checks the model.

    >>> command(Path("a.lineal"), Path("my data.csv"), ";", None, None)
    "lineal verify a.lineal 'my data.csv' --delimiter ';'"
    """
    words = ["lineal", "verify", str(path), str(data)]
    words += [word for other in beside for word in ("--beside", other)]
    words += [] if delimiter is None else ["--delimiter", delimiter]
    words += [] if quote is None else ["--quote", quote or "none"]
    words += [] if header is None else ["--header" if header else "--no-header"]
    return shlex.join(words)
