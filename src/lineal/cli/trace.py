"""`lineal trace`: a perceptron step by step, as the table of a textbook."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import numpy.typing as npt
from rich.table import Table as Grid
from rich.text import Text

from lineal.cli.opening import DataFile
from lineal.cli.options import typed
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, facts, left_out, verdict
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.encoder import column, needed
from lineal.ground.records import dataclass
from lineal.perceptron.halfspace import judge
from lineal.perceptron.perceptron import Plan, Run, present
from lineal.perceptron.step_log import Line, StepLog, spelled
from lineal.sources.memory import Memory
from lineal.tables.table import Table

Array = npt.NDArray[np.float64]

MAX_STEPS_SHOWN: Final = 100
"""Steps that are printed; files and --json hold all."""


@dataclass(frozen=True)
class Points:
    """The rows of a table as numbers, with their classes."""

    x: Array
    own: npt.NDArray[np.intp]
    columns: tuple[str, ...]
    classes: tuple[str, ...]

    @property
    def outputs(self) -> int:
        """One score for two classes, else one for each."""
        return 1 if len(self.classes) == 2 else len(self.classes)


def run(
    *,
    data: DataFile,
    target: str | None,
    classes: str | None,
    drop: tuple[str, ...],
    intercept: bool,
    start: str | None,
    tie: str,
    epochs: int,
    order: str,
    seed: int,
    oracle: bool,
    bound: bool,
    output: Path | None,
    as_json: bool,
) -> int:
    """Present the rows, print every step, and return 0."""
    if typed("seed") and order == "given":
        raise InputError("--seed has no effect here: the rows come in their own order; add --order drawn.")
    if output is not None:
        table_file(output, "--output")
        apart(output, "--output", data.path)
    with Watch(f"reading {data}"):
        table = data.open()
        points = read(table, target, classes, drop)
        columns = (("(intercept)",) if intercept else ()) + points.columns
        begin = _start(start, len(columns), points)
        plan = Plan(tie=tie, epochs=epochs, seed=seed if order == "drawn" else None, record=True)  # type: ignore[arg-type]
        source = Memory(as_design(points.x, intercept=intercept), points.own.astype(np.float64), columns=columns)
        presented = present(source, points.outputs, plan, begin)
        judged = judge(source, presented, plan, oracle=oracle, bound=bound, zero=not np.any(begin))
    ledger = presented.ledger or StepLog()
    if output is not None:
        write_table(output, _flat(ledger, points, columns), "trace")
    answer: dict[str, Any] = {
        "verdict": judged.verdict.to_dict(),
        "notes": list(table.notes),
        "columns": list(columns),
        "classes": list(points.classes),
        "mistakes": presented.mistakes,
        "weights": _nested(presented.coef),
        "steps": ledger.to_dict(),
        **({} if output is None else {"file": str(output)}),
    }
    if as_json:
        click.echo(text(answer))
    else:
        grid = _grid(ledger, columns, points)
        Screen().print(
            verdict(answer["verdict"]), grid, facts(_facts(presented, ledger, points, output) + left_out(answer))
        )
    return 0


def read(table: Table, target: str | None, classes: str | None, drop: Sequence[str]) -> Points:
    """Return the rows of a table: numbers in every column but the target, and the classes in order."""
    if table.sparse:
        raise InputError("lineal trace shows every number of a row; give a table with columns instead of sparse rows.")
    if target is None:
        raise InputError(f"no target was given; name the column of classes: {', '.join(map(repr, table.names[:20]))}.")
    table.require(target, "target column")
    for name in drop:
        table.require(name, "column to drop,")
    names = tuple(name for name in table.names if name != target and name not in drop)
    if not names:
        raise InputError(f"{table.origin} has no column beside the target {target!r}; there is nothing to present.")
    parts, labels = [], []
    for rows, batch in table.select(numbers=names, texts=[target]).numbered():
        try:
            parts.append(np.column_stack([needed(batch, name, "offset", table, rows) for name in names]))
        except InputError as error:
            raise InputError(f"{error} A column that holds no numbers is left out with --drop.") from None
        codes, levels = texts(column(batch, target))
        if np.any(codes < 0):
            place = table.place(int(rows[int(np.argmax(codes < 0))]))
            raise InputError(f"the target {target!r} is missing in {place}; every row needs a class.")
        labels += [levels[code] for code in codes.tolist()]
    if not labels:
        raise InputError(f"{table.origin} has no rows; there is nothing to present.")
    classes_ = _sorted(labels) if classes is None else tuple(word.strip() for word in classes.split(","))
    strange = [label for label in labels if label not in classes_]
    if strange or len(classes_) < 2 or len(set(classes_)) < len(classes_):
        wrong = f"{strange[0]!r} is none of them" if strange else "at least two different ones are needed"
        raise InputError(f"the classes are {', '.join(classes_)}: {wrong}; name all of them with --classes.")
    place_of = {label: k for k, label in enumerate(classes_)}
    return Points(np.vstack(parts), np.array([place_of[label] for label in labels]), names, classes_)


def _sorted(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the classes in order: numbers by size, + after -, other words by letter.

    >>> _sorted(["10", "9", "10"]), _sorted(["+", "-"])
    (('9', '10'), ('-', '+'))
    """
    distinct = set(labels)
    if distinct == {"+", "-"}:
        return ("-", "+")
    try:
        return tuple(sorted(distinct, key=float))
    except ValueError:
        return tuple(sorted(distinct))


def _start(words: str | None, columns: int, points: Points) -> Array | None:
    """Return the weights to begin with, (columns, outputs): one class after the other, separated by semicolons."""
    if words is None:
        return None
    try:
        rows = [[float(word) for word in part.split(",")] for part in words.split(";")]
    except ValueError:
        rows = []
    if len(rows) != points.outputs or any(len(part) != columns for part in rows) or not np.all(np.isfinite(rows)):
        shape = (
            f"{columns} numbers" if points.outputs == 1 else f"{columns} numbers for each of {points.outputs} classes"
        )
        raise InputError(f"--start {words}: give {shape}, commas between numbers, semicolons between classes.")
    return np.array(rows).T


def _nested(coef: Array) -> list[Any]:
    return list(coef[:, 0].tolist() if coef.shape[1] == 1 else coef.T.tolist())


def _flat(ledger: StepLog, points: Points, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Return the steps as columns of plain numbers: one for every weight and every score."""
    outputs = [""] if points.outputs == 1 else [f"{name}:" for name in points.classes]
    flat: dict[str, list[Any]] = {name: list(ledger.to_dict()[name]) for name in ("epoch", "step", "row")}
    for k, output in enumerate(outputs):
        for j, name in enumerate(columns):
            flat[f"weight:{output}{name}"] = [float(line.weights[j, k]) for line in ledger]
    for k, output in enumerate(outputs):
        flat[f"score:{output}".rstrip(":")] = [float(line.score[k]) for line in ledger]
    flat["correct"] = [line.correct for line in ledger]
    flat["update"] = [line.update for line in ledger]
    return flat


def _grid(ledger: StepLog, columns: Sequence[str], points: Points) -> Grid:
    """Return the steps as a table; the weights are those before the step."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    many = bool(ledger.lines) and ledger.lines[-1].epoch > 1
    for name in (
        *(["Epoch"] if many else []),
        "Step",
        "Row",
        f"Weights ({', '.join(columns)})",
        "Score",
        "Correct",
        "Update",
    ):
        right = name in ("Epoch", "Step", "Row", "Score")
        grid.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for line in ledger.lines[:MAX_STEPS_SHOWN]:
        cells = [str(line.epoch)] if many else []
        cells += [str(line.step), str(line.row), _weights(line, points), _scores(line), "yes" if line.correct else "no"]
        grid.add_row(*map(Text, (*cells, line.update)))
    return grid


def _weights(line: Line, points: Points) -> str:
    if points.outputs == 1:
        return spelled(line.weights[:, 0])
    return " ".join(f"w{k} {spelled(line.weights[:, k])}" for k in range(points.outputs))


def _scores(line: Line) -> str:
    return spelled(line.score)[1:-1]


def _facts(presented: Run, ledger: StepLog, points: Points, output: Path | None) -> list[tuple[str, str]]:
    mistakes = "1 mistake" if presented.mistakes == 1 else f"{presented.mistakes} mistakes"
    lines = []
    if points.outputs == 1:
        lines.append(
            ("Weights", f"{spelled(presented.coef[:, 0])} after {mistakes}; positive scores are {points.classes[1]}")
        )
    else:
        lines += [(f"w{k}", f"{spelled(presented.coef[:, k])} (class {name})") for k, name in enumerate(points.classes)]
        lines.append(("Mistakes", str(presented.mistakes)))
    if len(ledger) > MAX_STEPS_SHOWN:
        lines.append(
            ("Steps", f"{len(ledger):,}, of which {MAX_STEPS_SHOWN} are shown; -o FILE.csv or --json has all of them")
        )
    return lines + ([] if output is None else [("Written", str(output))])
