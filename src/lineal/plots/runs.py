"""A perceptron's run as pictures need it: its rows as points, its steps, and what they say; from a table or a trace file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from lineal.api.presenting import presented
from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.cells.finite import finite_numbers
from lineal.features.encoder import column
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.perceptron.halfspace import judge
from lineal.perceptron.standing import standing
from lineal.perceptron.step_log import Line, StepLog
from lineal.plots.record import Word
from lineal.plots.wording import number
from lineal.sources.rowwise import PlainRows
from lineal.tables.table import as_table

MAX_ROWS: Final = 20_000
"""Rows of a table whose perceptron is drawn: every one of them is presented again and again."""

MAX_SPELLED: Final = 6
"""Columns up to which sums are written out."""


@dataclass(frozen=True)
class Walk:
    """A run: its columns, classes, rows ``X`` (the intercept's 1 among the columns) with the class of each, its steps.

    ``numbers`` are the numbers of the rows in the data, ``now`` and ``best`` the mistakes of the weights before each step and
    the fewest so far, ``zero`` says that it began with weights 0, ``ended`` how it ended,
    ``verdict`` what it proved.
    """

    columns: tuple[str, ...]
    classes: tuple[str, ...]
    X: Array
    own: Index
    numbers: Index
    log: StepLog
    now: Array
    best: Array
    zero: bool
    ended: str
    verdict: Word | None = None

    @property
    def updates(self) -> list[int]:
        """The places of the steps that changed the weights."""
        return [k for k, line in enumerate(self.log) if np.any(line.signs)]

    @property
    def features(self) -> list[int]:
        """The places of the columns beside the intercept."""
        return [k for k, name in enumerate(self.columns) if name != "(intercept)"]


def walk_of(
    data: Any,
    trace: Any,
    *,
    target: str | None,
    classes: str | None,
    formula: str | None,
    drop: Sequence[str],
    intercept: bool | str,
    start: str | None,
    tie: str,
    epochs: int,
    order: str,
    seed: int,
) -> Walk:
    """Return the run over a table, or the one that a trace file holds."""
    if trace is not None:
        files = trace if isinstance(trace, list | tuple) else [trace]
        if len(files) != 1:
            raise InputError("one perceptron is drawn at a time: give one trace file.")
        return from_file(Path(files[0]))
    if order not in ("given", "drawn") or tie not in ("mistake", "positive", "negative"):
        raise InputError(
            f"the order is given or drawn, not {order!r}, and a tie is mistake, positive or negative, not {tie!r}."
        )
    if intercept not in (True, False, "yes", "no"):
        raise InputError(f"the intercept is {intercept!r}; it is yes or no.")
    wanted: dict[str, Any] = {"target": target, "formula": formula, "drop": drop}
    wanted |= {} if intercept in (True, "yes") else {"intercept": False}
    shown = presented(
        as_table(data),
        wanted,
        classes=classes,
        start=start,
        tie=tie,
        epochs=int(epochs),
        seed=int(seed) if order == "drawn" else None,
    )
    X, own = PlainRows.of(shown.points.source)
    if len(X) > MAX_ROWS:
        raise InputError(
            f"the steps of a perceptron are drawn for at most {MAX_ROWS:,} rows, and the table has {len(X):,}."
        )
    now, best = standing(shown.ledger, shown.points.source, tie)
    run = shown.run
    judged = judge(shown.points.source, run, shown.plan, oracle=False, zero=not np.any(shown.start)).verdict
    took = "1 epoch" if run.epochs == 1 else f"{run.epochs:,} epochs"
    mistakes = "1 mistake" if run.mistakes == 1 else f"{run.mistakes:,} mistakes"
    return Walk(
        tuple(shown.points.source.columns), shown.points.classes, X, own, shown.points.numbers, shown.ledger, now, best,
        not np.any(shown.start), f"{mistakes} in {took}.", Word(judged.kind, judged.sentence, judged.proven),
    )  # fmt: skip


def from_file(path: Path) -> Walk:
    """Return the run that `lineal trace -o FILE` wrote; its rows are those that it presented."""
    table = as_table(path)
    names = table.names
    if "row_index" not in names or not any(name.startswith("x:") for name in names):
        raise InputError(
            f"{path} is no trace of a perceptron: write one with lineal trace DATA --target COL -o {path.name}."
        )
    columns = tuple(name.removeprefix("x:") for name in names if name.startswith("x:"))
    signs = [name for name in names if name == "sign" or name.startswith("sign:")]
    classes = [name.removeprefix("sign").removeprefix(":") for name in signs]
    outputs = [f"{name}:" if name else "" for name in classes]
    needed = [
        *signs,
        *(f"weight:{output}{name}" for output in outputs for name in columns),
        *(f"x:{name}" for name in columns),
    ]
    scores = [f"score:{output}".rstrip(":") for output in outputs]
    wanted = [*needed, *scores, "row_index", "step", "epoch", "mistakes", "pocket_mistakes"]
    numbers = _numbers(table, wanted, path)
    right = _right(table)
    log, own, seen = StepLog(list(columns)), {}, {}
    for k in range(len(right)):
        w = np.array([[numbers[f"weight:{output}{name}"][k] for output in outputs] for name in columns])
        x = np.array([numbers[f"x:{name}"][k] for name in columns])
        s = np.array([numbers[name][k] for name in signs])
        eta = np.array([numbers[name][k] for name in scores])
        row = int(numbers["row_index"][k])
        log.lines.append(Line(int(numbers["epoch"][k]), int(numbers["step"][k]), row, w, eta, right[k], x, s))
        own[row], seen[row] = _class(eta, s, right[k]), x
    rows = np.array(sorted(seen), np.int64)
    names_of = tuple(classes) if len(classes) > 1 else ("-", "+")
    ended = f"{int(sum(not one for one in right)):,} mistakes in the {len(right):,} steps of the file."
    return Walk(
        columns, names_of, np.array([seen[row] for row in rows.tolist()]), np.array([own[row] for row in rows.tolist()]),
        rows, log, numbers["mistakes"], numbers["pocket_mistakes"], not np.any(log.lines[0].weights), ended,
    )  # fmt: skip


def _numbers(table: Any, wanted: list[str], path: Path) -> dict[str, Array]:
    for name in wanted:
        if name not in table.names:
            raise InputError(f"{path} has no column {name!r}; it is no whole trace of a perceptron.")
    parts: dict[str, list[Array]] = {name: [] for name in wanted}
    for batch in table.select(numbers=set(wanted)).batches():
        for name in wanted:
            parts[name].append(finite_numbers(name, column(batch, name)))
    return {name: np.concatenate(own) for name, own in parts.items()}


def _right(table: Any) -> list[bool]:
    right: list[bool] = []
    for batch in table.select(texts={"correct"}).batches():
        codes, levels = texts(column(batch, "correct"))
        right += [levels[code].lower() in ("true", "1") for code in codes.tolist()]
    return right


def _class(eta: Array, signs: Array, right: bool) -> int:
    """Return the class of a row as its step shows it."""
    if len(eta) == 1:
        return int(eta[0] > 0.0) if right else int(signs[0] > 0.0)
    return int(np.argmax(eta if right else signs))


def arithmetic(walk: Walk, line: Line) -> str:
    """Return a step as a sentence with its sums, as the lecture notes write it."""
    w, x = line.weights[:, 0], line.x
    if line.weights.shape[1] > 1:
        scores = ", ".join(number(float(score)) for score in line.score)
        raised = [walk.classes[k] for k in np.flatnonzero(line.signs > 0.0)]
        lowered = [walk.classes[k] for k in np.flatnonzero(line.signs < 0.0)]
        change = (
            f"x is added to {', '.join(raised)} and taken off {', '.join(lowered)}" if raised else "nothing changes"
        )
        after = ", ".join(number(float(score)) for score in line.after)
        return f"Step {line.step}, row {line.row + 1}: scores {scores}; {change}: {after}."
    sums = (
        " + ".join(f"{number(float(a))}*{number(float(b))}" for a, b in zip(w, x, strict=True))
        if len(x) <= 6
        else "w'x"
    )
    score, side = float(line.score[0]), line.signs[0]
    if not side:
        return f"Step {line.step}, row {line.row + 1}: {sums} = {number(score)}, right; nothing changes."
    sign, before, after = ("+" if side > 0 else "-"), number(score), number(float(line.after[0]))
    said = f"Step {line.step}, row {line.row + 1}: {sums} = {before}, wrong; "
    if len(x) > MAX_SPELLED:
        return f"{said}w {sign} x gives it the score {after}."
    new = ", ".join(number(float(v)) for v in w + side * x)
    square = number(float(x @ x))
    return f"{said}w {sign} x = [{new}] gives it {before} {sign} |x|^2 = {before} {sign} {square} = {after}."
