"""`lineal trace`: a perceptron step by step, as the table of a textbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import numpy.typing as npt
from rich.table import Table as Grid
from rich.text import Text

from lineal.api.dataset import Roles, from_table
from lineal.api.options import read_start
from lineal.cli.opening import DataFile
from lineal.cli.options import typed
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, facts, left_out, verdict
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.encoder import column, needed
from lineal.features.splitting import Split
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses import Perceptron
from lineal.perceptron.halfspace import judge
from lineal.perceptron.perceptron import NO_LIMIT, TIES, Plan, Run
from lineal.perceptron.perceptron_fit import standardized
from lineal.perceptron.scaling import Scaled
from lineal.perceptron.step_log import Line, StepLog, spelled
from lineal.problem.moments import survey
from lineal.sources.memory import Memory
from lineal.sources.source import Source
from lineal.tables.marked import marked, marks_of
from lineal.tables.table import Table

MAX_STEPS_SHOWN: Final = 100
"""Steps that are printed; files and --json hold all."""
MAX_UNBROKEN_SUM: Final = 30
"""Characters of a score written as a sum that stay on one line."""

MAX_COLUMNS_SHOWN: Final = 8
"""Columns up to which the weights of a step are printed."""

MAX_SUM_SHOWN: Final = 36
"""Characters up to which a score is written out as the sum that it is."""


@dataclass(frozen=True)
class Points:
    """The rows of a table as they are presented, their places in it, and the classes in order."""

    source: Source
    numbers: npt.NDArray[np.int64]
    classes: tuple[str, ...]
    about: Mapping[str, Any]

    @property
    def outputs(self) -> int:
        """One score for two classes, else one for each."""
        return 1 if len(self.classes) == 2 else len(self.classes)


def run(
    *,
    data: DataFile,
    recipe: Path | None,
    classes: str | None,
    columns: str,
    start: str | None,
    tie: str,
    epochs: int,
    order: str,
    seed: int,
    oracle: bool,
    bound: bool,
    output: Path | None,
    as_json: bool,
    **options: Any,
) -> int:
    """Present the rows, print every step, and return 0."""
    if typed("seed") and order == "given":
        raise InputError("--seed has no effect here: the rows come in their own order; add --order drawn.")
    if output is not None:
        table_file(output, "--output")
        apart(output, "--output", *data.files)
    with Watch(f"reading {data}"):
        points = read(data.open(), settled(options, recipe), classes)
        begin = read_start(start, points.source.columns, points.outputs)
        record = NO_LIMIT if as_json or output is not None else MAX_STEPS_SHOWN
        plan = Plan(tie=tie, epochs=epochs, seed=seed if order == "drawn" else None, record=record)  # type: ignore[arg-type]
        moments = survey(points.source, Perceptron(points.outputs, float(TIES[tie])))
        presented, change = standardized(points.source, moments, points.outputs, plan, begin, raw=columns == "raw")
        judged = judge(
            points.source, presented, plan,
            oracle=oracle, bound=bound, zero=not np.any(begin), standardized=change is not None,
        )  # fmt: skip
    ledger = _numbered(presented.ledger or StepLog(), points)
    names = points.source.columns
    if output is not None:
        write_table(output, _flat(ledger, points), "trace")
    answer: dict[str, Any] = {
        "verdict": judged.verdict.to_dict(),
        **{name: points.about[name] for name in ("notes", "without_target")},
        "columns": list(names),
        "standardized": None if change is None else {"shift": change.shift.tolist(), "scale": change.scale.tolist()},
        "classes": list(points.classes),
        "mistakes": presented.mistakes,
        "weights": _nested(presented.coef),
        **({} if output is None else {"file": str(output)}),
    }
    if as_json:
        click.echo(text({**answer, "steps": ledger.to_dict()}))
    else:
        said = _facts(presented, change, points, output) + left_out(answer)
        Screen().print(verdict(answer["verdict"]), _grid(ledger, points, many=presented.epochs > 1), facts(said))
    return 0


def read(table: Table, wanted: Mapping[str, Any], classes: str | None) -> Points:
    """Return the rows of a table with the terms that a fit would make of them, and the classes in order."""
    names = ("formula", "poly", "intercept", "weight", "drop", "types", "text", "max_levels", "missing", "na")
    roles = Roles.of(wanted["target"], **{name: wanted[name] for name in names})
    target = roles.target
    table = marked(table, marks_of(roles.choices.na, table.names, table.origin))
    if table.sparse:
        if classes is not None:
            raise InputError("--classes has no effect on an SVMlight file, whose labels say them; leave it out.")
        dataset = from_table(table, roles, "classes", Split(0, 0.0))
        labelled = tuple(map(str, dataset.target.classes or ()))
        rows = sum(block.n_rows for block in dataset.train.blocks())
        return Points(dataset.train, np.arange(rows), labelled, dataset.about)
    if target is None:
        raise InputError(f"no target was given; name the column of classes: {', '.join(map(repr, table.names[:20]))}.")
    if not isinstance(target, str):
        raise InputError("lineal trace follows one target; name one column of classes.")
    table.require(target, "target column")
    labels = _labels(table, target)
    present = [label for label in labels if label is not None]
    if not present:
        raise InputError(f"{table.origin} has no row with a class in {target!r}; there is nothing to present.")
    order = _sorted(present) if classes is None else tuple(word.strip() for word in classes.split(","))
    strange = [label for label in present if label not in order]
    if strange or len(order) < 2 or len(set(order)) < len(order):
        wrong = f"{strange[0]!r} is none of them" if strange else "at least two different ones are needed"
        raise InputError(f"the classes are {', '.join(order)}: {wrong}; name all of them with --classes.")
    place = {label: float(k) for k, label in enumerate(order)}
    codes = np.array([np.nan if label is None else place[label] for label in labels])
    numbered = replace(
        roles,
        target=codes,
        drop=[*roles.drop, target],
        formula=None if roles.formula is None else replace(roles.formula, targets=()),
    )
    if len(set(present)) == 1:  # a fit would find nothing to tell apart
        return _plain(table, replace(numbered, target=target), codes, order)
    dataset = from_table(table, numbered, "number", Split(0, 0.0))
    return Points(dataset.train, np.flatnonzero(~np.isnan(codes)), order, dataset.about)


def _plain(table: Table, roles: Roles, codes: Array, order: tuple[str, ...]) -> Points:
    """Return rows that are all of one class: their columns must be numbers, as they are."""
    if roles.formula is not None or roles.poly > 1 or roles.types or roles.text or roles.weight is not None:
        raise InputError(
            f"all rows are of the class {order[int(codes[0])]!r}; such a table is shown as it is, without formulas, "
            "products, types, texts and weights. Leave them out, or add a row of another class."
        )
    names = tuple(name for name in table.names if name not in roles.drop)
    if not names:
        raise InputError(f"{table.origin} has no column beside the target; there is nothing to present.")
    parts = [
        np.column_stack([needed(batch, name, "offset", table, rows) for name in names])
        for rows, batch in table.select(numbers=names, texts=[]).numbered()
    ]
    design = as_design(np.vstack(parts), intercept=roles.intercept)
    columns = (("(intercept)",) if roles.intercept else ()) + names
    kept = np.flatnonzero(~np.isnan(codes))
    weight = None if len(kept) == len(codes) else (~np.isnan(codes)).astype(np.float64)
    about = {"notes": list(table.notes), "without_target": len(codes) - len(kept)}
    return Points(Memory(design, np.nan_to_num(codes), weight, columns=columns), np.arange(len(codes)), order, about)


def _labels(table: Table, target: str) -> list[str | None]:
    """Return the class of every row, None where there is none."""
    labels: list[str | None] = []
    for _, batch in table.select(numbers=(), texts=[target]).numbered():
        codes, levels = texts(column(batch, target))
        labels += [levels[code] if code >= 0 else None for code in codes.tolist()]
    return labels


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


def _numbered(ledger: StepLog, points: Points) -> StepLog:
    """Return the steps with the places that their rows have in the table."""
    return replace(ledger, lines=[replace(line, row=int(points.numbers[line.row])) for line in ledger])


def _nested(coef: Array) -> list[Any]:
    return list(coef[:, 0].tolist() if coef.shape[1] == 1 else coef.T.tolist())


def _flat(ledger: StepLog, points: Points) -> dict[str, list[Any]]:
    """Return the steps as columns of plain numbers: one for every weight, every score and every angle."""
    outputs = [""] if points.outputs == 1 else [f"{name}:" for name in points.classes]
    plain = ledger.to_dict()
    flat: dict[str, list[Any]] = {name: list(plain[name]) for name in ("epoch", "step", "row_index")}
    for k, output in enumerate(outputs):
        for j, name in enumerate(points.source.columns):
            flat[f"weight:{output}{name}"] = [float(line.weights[j, k]) for line in ledger]
    for name, values in (("score", "score"), ("angle", "angle"), ("score_after", "after")):
        for k, output in enumerate(outputs):
            flat[f"{name}:{output}".rstrip(":")] = [float(getattr(line, values)[k]) for line in ledger]
    flat["correct"] = list(plain["correct"])
    flat["update"] = list(plain["update"])
    return flat


def _grid(ledger: StepLog, points: Points, *, many: bool) -> Grid:
    """Return the steps as a table, of many epochs or one; the weights are those before the step."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    few = len(points.source.columns) <= MAX_COLUMNS_SHOWN
    names = ["Epoch"] if many else []
    names += ["Step", "Row", *(["Weights"] if few else []), "Score", "Angle", "Correct?", "Update", "After"]
    for name in names:
        right = name in ("Epoch", "Step", "Row", "Score", "Angle", "After")
        grid.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    sums = (score for line in ledger.lines[:MAX_STEPS_SHOWN] for score in _scores(line))
    # updates and weights are the ones to be broken, unless sums take all the width
    grid.columns[names.index("Score")].no_wrap = max(map(len, sums), default=0) <= MAX_UNBROKEN_SUM
    for line in ledger.lines[:MAX_STEPS_SHOWN]:
        cells = [str(line.epoch)] if many else []
        cells += [str(line.step), str(line.row + 1)]
        cells += ["\n".join(_weights(line))] if few else []
        cells += ["\n".join(_scores(line)), "\n".join(map(_degrees, line.angle)), "yes" if line.correct else "no"]
        cells += [_update(line, few=few), "" if line.correct else "\n".join(map(_short, line.after.tolist()))]
        grid.add_row(*map(Text, cells))
    return grid


def _short(value: float) -> str:
    """Return a number as a textbook writes it.

    >>> _short(-1.0), _short(0.30000000000000004), _short(1234567.0)
    ('-1', '0.3', '1234567')
    """
    return f"{value:.0f}" if abs(value) < 1e9 and value == int(value) else f"{value:.4g}"


def _degrees(angle: float) -> str:
    return "-" if np.isnan(angle) else f"{angle:.1f}"


def _vector(values: Array) -> str:
    return f"[{', '.join(map(_short, values.tolist()))}]"


def _weights(line: Line) -> list[str]:
    several = line.weights.shape[1] > 1
    return [f"{f'w{k} ' if several else ''}{_vector(weights)}" for k, weights in enumerate(line.weights.T)]


def _scores(line: Line) -> list[str]:
    """Return each score, written out where there are few columns: -1*1 + 0*3 + 0*2 = -1."""
    short = [_short(score) for score in line.score.tolist()]
    if len(line.x) > MAX_COLUMNS_SHOWN:
        return short
    sums = [
        " + ".join(f"{_short(w)}*{_short(x)}" for w, x in zip(weights, line.x / line.rate, strict=True))
        for weights in line.weights.T.tolist()
    ]
    written = [f"{terms} = {score}" for terms, score in zip(sums, short, strict=True)]
    return written if max(map(len, written)) <= MAX_SUM_SHOWN else short


def _update(line: Line, *, few: bool) -> str:
    several = len(line.signs) > 1
    row = _vector(line.x) if few else "x"
    words = [
        f"{f'w{k} ' if several else ''}{'+' if line.signs[k] > 0 else '-'}{row}"
        for k in np.flatnonzero(line.signs).tolist()
    ]
    return "\n".join(words) or "none"


def _facts(presented: Run, change: Scaled | None, points: Points, output: Path | None) -> list[tuple[str, str]]:
    mistakes = "1 mistake" if presented.mistakes == 1 else f"{presented.mistakes} mistakes"
    names = points.source.columns
    few = len(names) <= MAX_COLUMNS_SHOWN
    seen = "as they are" if change is None else "numbers less their mean, in standard deviations (see --json)"
    listed = ", ".join(names) if few else f"{len(names):,}, whose weights are in --json and -o FILE.csv"
    lines = [("Columns", f"{listed}; {seen}")]
    held = "" if change is None else " (of the columns as they are)"
    if not few:
        lines.append(
            (
                "Mistakes",
                f"{presented.mistakes}; positive scores are {points.classes[-1]}" if points.outputs == 1 else mistakes,
            )
        )
    elif points.outputs == 1:
        final = spelled(presented.coef[:, 0])
        lines.append(("Weights", f"{final}{held} after {mistakes}; positive scores are {points.classes[1]}"))
    else:
        lines += [
            (f"w{k}", f"{spelled(presented.coef[:, k])}{held} (class {name})") for k, name in enumerate(points.classes)
        ]
        lines.append(("Mistakes", str(presented.mistakes)))
    if presented.presented > MAX_STEPS_SHOWN:
        shown = f"of which {MAX_STEPS_SHOWN} are shown; -o FILE.csv or --json has all of them"
        lines.append(("Steps", f"{presented.presented:,}, {shown}"))
    return lines + ([] if output is None else [("Written", str(output))])
