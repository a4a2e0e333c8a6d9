"""`lineal trace`: a perceptron step by step, as the table of a textbook."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from rich.table import Table as Grid
from rich.text import Text

from lineal.api.presenting import Points, presented
from lineal.cli.opening import DataFile
from lineal.cli.options import typed
from lineal.cli.output import apart, table_file, write_table
from lineal.cli.page import Screen, facts, left_out, verdict
from lineal.cli.plain_model import finite, text
from lineal.cli.progress import Watch
from lineal.cli.roles import settled
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.perceptron.halfspace import judge
from lineal.perceptron.perceptron import NO_LIMIT, Run
from lineal.perceptron.scaling import Scaled
from lineal.perceptron.standing import standing
from lineal.perceptron.step_log import Line, StepLog, spelled

MAX_STEPS_SHOWN: Final = 100
"""Steps that are printed; files and --json hold all."""
MAX_UNBROKEN_SUM: Final = 30
"""Characters of a score written as a sum that stay on one line."""

MAX_COLUMNS_SHOWN: Final = 8
"""Columns up to which the weights of a step are printed."""

MAX_SUM_SHOWN: Final = 36
"""Characters up to which a score is written out as the sum that it is."""


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
        wanted = settled(options, recipe)
        shown = presented(
            data.open(), wanted, classes=classes, columns=columns, start=start, tie=tie, epochs=epochs,
            seed=seed if order == "drawn" else None, record=NO_LIMIT if as_json or output is not None else MAX_STEPS_SHOWN,
        )  # fmt: skip
        points, run, change = shown.points, shown.run, shown.change
        judged = judge(
            points.source, run, shown.plan,
            oracle=oracle, bound=bound, zero=not np.any(shown.start), standardized=change is not None,
        )  # fmt: skip
    ledger = shown.ledger
    names = points.source.columns
    if output is not None:
        write_table(output, flat(ledger, points, tie), "trace")
    answer: dict[str, Any] = {
        "verdict": judged.verdict.to_dict(),
        **{name: points.about[name] for name in ("notes", "without_target")},
        "columns": list(names),
        "standardized": None if change is None else {"shift": change.shift.tolist(), "scale": change.scale.tolist()},
        "classes": list(points.classes),
        "mistakes": run.mistakes,
        "weights": _nested(run.coef),
        **({} if output is None else {"file": str(output)}),
    }
    if as_json:
        click.echo(text({**answer, "steps": ledger.to_dict()}))
    else:
        said = _facts(run, change, points, output) + left_out(answer)
        Screen().print(verdict(answer["verdict"]), _grid(ledger, points, many=run.epochs > 1), facts(said))
    return 0


def _nested(coef: Array) -> list[Any]:
    return list(coef[:, 0].tolist() if coef.shape[1] == 1 else coef.T.tolist())


def flat(ledger: StepLog, points: Points, tie: str) -> dict[str, list[Any]]:
    """Return the steps as columns of plain numbers: one for every weight, every score, every angle and every cell of the row.

    ``mistakes`` are those that the weights before the step make on all rows, ``pocket_mistakes`` the fewest so far.
    """
    outputs = [""] if points.outputs == 1 else [f"{name}:" for name in points.classes]
    plain = ledger.to_dict()
    table: dict[str, list[Any]] = {name: list(plain[name]) for name in ("epoch", "step", "row_index")}
    for k, output in enumerate(outputs):
        for j, name in enumerate(points.source.columns):
            table[f"weight:{output}{name}"] = [float(line.weights[j, k]) for line in ledger]
    for name, values in (("score", "score"), ("angle", "angle"), ("score_after", "after")):
        for k, output in enumerate(outputs):
            table[f"{name}:{output}".rstrip(":")] = [float(getattr(line, values)[k]) for line in ledger]
    table["correct"] = list(plain["correct"])
    table["update"] = list(plain["update"])
    for j, name in enumerate(points.source.columns):
        table[f"x:{name}"] = [float(line.x[j]) for line in ledger]
    for k, output in enumerate(outputs):
        table[f"sign:{output}".rstrip(":")] = [float(line.signs[k]) for line in ledger]
    now, best = standing(ledger, points.source, tie)
    table["mistakes"], table["pocket_mistakes"] = (finite(one.tolist()) for one in (now, best))
    return table


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


def _facts(run: Run, change: Scaled | None, points: Points, output: Path | None) -> list[tuple[str, str]]:
    mistakes = "1 mistake" if run.mistakes == 1 else f"{run.mistakes} mistakes"
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
                f"{run.mistakes}; positive scores are {points.classes[-1]}" if points.outputs == 1 else mistakes,
            )
        )
    elif points.outputs == 1:
        final = spelled(run.coef[:, 0])
        lines.append(("Weights", f"{final}{held} after {mistakes}; positive scores are {points.classes[1]}"))
    else:
        lines += [(f"w{k}", f"{spelled(run.coef[:, k])}{held} (class {name})") for k, name in enumerate(points.classes)]
        lines.append(("Mistakes", str(run.mistakes)))
    if run.presented > MAX_STEPS_SHOWN:
        shown = f"of which {MAX_STEPS_SHOWN} are shown; -o FILE.csv or --json has all of them"
        lines.append(("Steps", f"{run.presented:,}, {shown}"))
    return lines + ([] if output is None else [("Written", str(output))])
