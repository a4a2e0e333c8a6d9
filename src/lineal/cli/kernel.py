"""`lineal kernel`: the Gram matrix of a table's rows, and whether it is one of inner products."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.text import Text

from lineal import kernels
from lineal.api.kernel_points import KernelPoints, kernel_points
from lineal.cli.opening import DataFile
from lineal.cli.output import apart
from lineal.cli.page import Screen, facts, number
from lineal.cli.plain_model import text as json_text
from lineal.cli.progress import Watch
from lineal.cli.roles import pairs, typed_marks
from lineal.errors import InputError
from lineal.features.types.choices import Choices
from lineal.ground.arrays import Array
from lineal.ground.memory import free_memory
from lineal.kernels import Kernel, MercerTest


def run(
    *,
    data: DataFile,
    kernel: str,
    column: str | None,
    drop: tuple[str, ...],
    types: tuple[str, ...],
    max_levels: int | None,
    missing: str,
    na: tuple[str, ...],
    raw: bool,
    check: bool,
    output: Path | None,
    as_json: bool,
) -> int:
    """Compute, test, perhaps write; return the exit code: 3 where the test is undecided."""
    asked = kernels.read(kernel)
    if output is not None:
        _free(output, data)
    if missing == "drop":
        raise InputError("--missing drop leaves rows out, and every row is a point of the matrix; use mark or mean.")
    with Watch(f"reading {data}"):
        points = kernel_points(
            data.open(),
            asked,
            text=column,
            drop=drop,
            types=pairs(types),
            choices=Choices(max_levels, missing, na=typed_marks(na) or None),
            standardized=not raw,
        )
        _room(len(points.points))
    with Watch("comparing all points"):
        gram = asked.gram(points.points)
        error = asked.entry_error(points.points) if asked.bounded else None
        test = asked.check(points.points) if check else None
    printed = _answer(asked, points, gram, error, test)
    if output is not None:
        _write(output, gram)
        printed["file"] = str(output)
    if as_json:
        click.echo(json_text(printed))
    else:
        screen = Screen()
        head = [] if test is None else [Text(test.sentence, style="bold")]
        screen.print(*head, facts(_facts(asked, points, printed, test)))
        if output is not None:
            click.echo(f"Written to {output}.")
    return 3 if test is not None and test.answer == "undecided" else 0


def _answer(
    kernel: Kernel, points: KernelPoints, gram: Array, error: Array | None, test: MercerTest | None
) -> dict[str, Any]:
    own = np.diagonal(gram)
    return {
        "kernel": kernel.spelled(),
        "formula": kernel.formula(),
        "mercer": kernel.mercer,
        "points": len(gram),
        "columns": list(points.columns),
        "standardized": points.standardized,
        "least": float(gram.min()) if gram.size else None,
        "largest": float(gram.max()) if gram.size else None,
        "diagonal": [float(own.min()), float(own.max())] if gram.size else None,
        "rounding": None if error is None else float(error.max(initial=0.0)) ** 2,
        "check": None if test is None else test.to_dict(),
    }


def _facts(
    kernel: Kernel, points: KernelPoints, said: dict[str, Any], test: MercerTest | None
) -> list[tuple[str, str]]:
    names = ", ".join(points.columns[:8]) + (f" and {len(points.columns) - 8} more" if len(points.columns) > 8 else "")
    lines = [
        ("Kernel", f"k(x, z) = {said['formula']}" + ("" if kernel.mercer else "; not known to be Mercer's")),
        ("Points", f"{said['points']:,}, of {names}" + (" (standardized)" if points.standardized else "")),
    ]
    if said["points"]:
        low, high = said["diagonal"]
        lines.append(("Entries", f"{number(said['least'])} to {number(said['largest'])}"))
        lines.append(("Diagonal", number(low) if low == high else f"{number(low)} to {number(high)}"))
        bound = "not bounded, since a part is not known to be Mercer's"
        lines.append(("Rounding", f"at most {said['rounding']:.2g} an entry" if kernel.bounded else bound))
    if test is not None and test.rows:
        shown = [f"{m} x row {i + 1}" for m, i in zip(test.vector[:8], test.rows[:8], strict=True)]
        more = f" and {len(test.rows) - 8} more (see --json)" if len(test.rows) > 8 else ""
        lines.append(("Vector", ", ".join(shown) + more))
    return lines


def _room(points: int) -> None:
    needed, free = 8 * points**2, free_memory()
    if needed > 0.9 * free:
        raise InputError(
            f"the Gram matrix of {points:,} points takes {needed / 2**30:.1f} GB, and {free / 2**30:.1f} GB of memory are "
            "free; take fewer rows, or lineal.Nystroem in Python, whose columns need no such matrix."
        )


def _free(output: Path, data: DataFile) -> None:
    if output.suffix != ".npy":
        raise InputError(f"-o {output}: a Gram matrix is written as numpy's format; the name must end in .npy.")
    if output.is_dir() or not output.parent.is_dir():
        raise InputError(f"-o {output}: the folder {output.parent} does not exist, or {output} is one; choose another.")
    apart(output, "-o", *data.files)


def _write(output: Path, gram: Array) -> None:
    beside = output.with_name(f".{output.name}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as stream:
            np.save(stream, gram, allow_pickle=False)
        beside.replace(output)
    except OSError as error:
        raise InputError(f"the Gram matrix cannot be written to {output}: {error.strerror or error}.") from error
    finally:
        beside.unlink(missing_ok=True)
