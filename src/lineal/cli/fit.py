"""`lineal fit`: a table in, a model file and a page out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
import pyarrow as pa

from lineal import container
from lineal.api import training
from lineal.api.methods import kernel_machines
from lineal.api.request import Request
from lineal.cli.opening import DataFile
from lineal.cli.options import holds_out, typed
from lineal.cli.output import apart, sink, table_file
from lineal.cli.page import Screen, page
from lineal.cli.plain_model import summary
from lineal.cli.plain_model import text as as_text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.errors import InputError, ModelFileError
from lineal.model.model import Model
from lineal.model.trace import Trace
from lineal.model.verdict import Verdict
from lineal.multiclass.codes import read_multiclass
from lineal.tables.packing import without_packing
from lineal.tables.table import Table

MIN_ROWS_TO_HOLD_OUT: Final = 30
"""Of tables with fewer rows none are held out unless --test-size is typed."""
MAX_FEW_BYTES: Final = 1 << 20
"""Longer files are not looked at for having few rows."""
TRACE_SCHEMA: Final = {
    "step": pa.int64(),
    "objective": pa.float64(),
    "estimate": pa.float64(),
    "passes": pa.int64(),
    "seconds": pa.float64(),
    "note": pa.string(),
    "gradient": pa.float64(),
}
"""The first columns of --trace."""


def run(
    *,
    data: DataFile,
    output: Path | None,
    trace: Path | None,
    recipe: Path | None,
    test_file: Path | None,
    test_beside: tuple[str, ...],
    accept: bool,
    as_json: bool,
    kernel: str | None = None,
    **options: Any,
) -> int:
    """Fit, write the model file, print, and return the exit code."""
    options = _with_kernel(options, kernel)
    wanted = _settled(options, recipe, test_file)
    if test_beside and test_file is None:
        raise InputError("--test-beside has no effect without --test-file; give the file that it stands beside.")
    path = output if output is not None else Path(f"{stem(data.path)}.lineal")
    standing = free(path)
    if trace is not None:
        _check_trace(trace, wanted["multiclass"])
        apart(trace, "--trace", *data.files, path, test_file, recipe)
    with Watch(f"reading {data}") as watch:
        table = data.open()
        if wanted["test_size"] > 0 and not typed("test_size") and few(data.file, table):
            wanted["test_size"] = 0.0
        fitted = training.fit(
            table,
            test=None if test_file is None else data.open(test_file, test_beside),
            progress=watch.step,
            interrupt="budget",
            iterates=trace is not None,
            **wanted,
        )
    wished, path = path, place(path, standing, fitted.verdict)
    if trace is None or fitted.trace is None:
        fitted.save(path)
    else:
        from lineal.plots.traces import ABOUT, about  # (no fit without --trace needs it)

        steps = _columns(fitted, fitted.trace)
        with sink(trace, as_json=False, what="trace") as target:  # both files appear, or none
            said = {ABOUT: as_text(about(fitted))}
            target.write(pa.RecordBatch.from_pydict(steps, metadata=said))
            fitted.save(path)
    check = data.check(path)
    answer = {**summary(fitted), "file": str(path), "verify": check}
    answer |= {} if trace is None else {"trace": str(trace)}
    if as_json:
        click.echo(as_text(answer))
    else:
        screen = Screen()
        screen.print(*page(answer, screen.width))
        taken = len(fitted.trace or ())
        note = "" if trace is None else f" The trace of {taken} step{'' if taken == 1 else 's'} is in {trace}.\n"
        spared = "" if path == wished else f" The model {wished}, whose fit was finished, stays as it is."
        # never wrapped: it is copied
        click.echo(f"\nWritten to {path}.{spared}{note or ' '}To let an independent program check it:\n{check}")
    return 0 if accept else fitted.verdict.exit_code


def _with_kernel(options: dict[str, Any], kernel: str | None) -> dict[str, Any]:
    """Return the options with the kernel in the name of the model, as Python has it: ``kernel-ridge:rbf:2``."""
    if kernel is None:
        return options
    model = str(options["model"])
    model = "kernel-svm" if model == "svm" else model
    if model not in kernel_machines.NAMES:
        machines = ", ".join(("svm", *kernel_machines.NAMES))
        raise InputError(f"--kernel has no effect on --model {model}; it is for {machines}, typed without a colon.")
    return {**options, "model": f"{model}:{kernel}"}


def _columns(model: Model, trace: Trace) -> dict[str, pa.Array]:
    """Return the columns of --trace: those of the records, then one for every coefficient that was kept."""
    columns = {key: pa.array(trace.column(key), kind) for key, kind in TRACE_SCHEMA.items()}
    columns["rows"] = pa.array([" ".join(map(str, record.rows)) or None for record in trace], pa.string())
    if not trace.iterates:
        return columns
    outputs = model.coef.shape[1]
    named = model.target.classes if model.target.kind == "classes" else model.target.names
    labels = [""] if outputs == 1 else [f"{label}:" for label in named or range(outputs)]
    missing = [None] * (len(trace) - len(trace.iterates))
    for k, label in enumerate(labels):
        for j, name in enumerate(model.columns):
            values = [float(coef[j, k]) for coef in trace.iterates]
            columns[f"weight:{label}{name}"] = pa.array([*values, *missing], pa.float64())
    return columns


def _settled(options: Mapping[str, Any], recipe: Path | None, test_file: Path | None) -> dict[str, Any]:
    """Return the arguments of ``lineal.fit``: options with what a recipe says, those without effect refused."""
    arguments = settled(options, recipe)
    if test_file is not None and typed("test_size"):
        raise InputError(
            "--test-size and --test-file exclude each other: the file holds the test rows; give one of them."
        )
    if test_file is not None or not holds_out(arguments["split"]):
        arguments["test_size"] = 0.0
    arguments["penalty"] = "auto" if arguments["penalty"] is None else arguments["penalty"]
    names = ("model", "penalty", "bounds", "solver", "penalize")
    request = Request.of(*(arguments[name] for name in names))
    arguments["solver"] = request.solver
    if typed("seed") and arguments["test_size"] == 0 and not (request.penalty.picked or request.model.drawn):
        raise InputError("--seed has no effect here: no rows are held out and no strength is picked; leave it out.")
    return arguments


def _check_trace(trace: Path, multiclass: str) -> None:
    """Refuse a trace of several fits, or one whose name says no format."""
    if read_multiclass(multiclass).name != "direct":
        raise InputError("--trace records the steps of one fit, and --multiclass makes several; leave one of them out.")
    table_file(trace, "--trace")


def stem(data: Path) -> str:
    """Return the name of a data file without its endings.

    >>> stem(Path("folder/penguins.csv.gz"))
    'penguins'
    """
    name = "stdin" if str(data) == "-" else without_packing(data.name)
    return Path(name).stem or name


def few(file: Path, table: Table) -> bool:
    """Return whether a table has too few rows to hold some out: figures of five rows say nothing, and a fit misses them."""
    if not file.is_file() or file.stat().st_size > MAX_FEW_BYTES:
        return False
    rows = 0
    for numbers, _ in table.numbered():
        rows += len(numbers)
        if rows >= MIN_ROWS_TO_HOLD_OUT:
            return False
    return True


def place(path: Path, standing: str | None, verdict: Verdict) -> Path:
    """Return where a model is written: not over one whose fit was finished, if this one was cut short.

    ``standing`` is the kind of verdict of the model that is there.

    >>> cut = Verdict("budget", "Stopped.", gap=None, relative_gap=None, reason="interrupted")
    >>> str(place(Path("a.lineal"), "optimal", cut)), str(place(Path("a.lineal"), "budget", cut))
    ('a.unfinished.lineal', 'a.lineal')
    """
    reason = verdict.reason or ""
    cut = verdict.kind == "budget" and ("interrupt" in reason or "time limit" in reason)
    return path.with_name(f"{path.stem}.unfinished{path.suffix}") if cut and standing not in (None, "budget") else path


def free(path: Path) -> str | None:
    """Refuse, before any work is done, to write over anything but a model file; return the kind of verdict of that model."""
    if path.is_dir():
        raise InputError(f"the output {path} is a folder; give the name of a model file with -o.")
    if not path.parent.is_dir():
        raise InputError(
            f"the folder {path.parent} of the output {path} does not exist; make it first, or choose another with -o."
        )
    if path.is_file():
        try:
            verdict = container.read(path)[0].get("verdict")
            return str(verdict.get("kind")) if isinstance(verdict, dict) else None
        except ModelFileError as error:
            raise InputError(
                f"{path} is not a lineal model, so it is not overwritten; choose another name with -o, or delete it."
            ) from error
    return None
