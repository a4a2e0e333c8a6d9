"""A path to draw: the coefficients at every strength, of a table that was walked now or of a file of `lineal path -o`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from lineal.api.path_of_table import TablePath
from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.cells.finite import numbers_of
from lineal.features.encoder import column
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.verdict import KINDS
from lineal.paths.point import Point
from lineal.paths.strengths import Path
from lineal.plots.record import Word
from lineal.problem.moments import survey
from lineal.tables.table import Table

LEADING: Final = ("strength", "nonzero", "objective")
"""The first columns of a path."""
COEFFICIENT: Final = "coefficient of "
"""How the columns of a path begin that hold coefficients."""
INTERCEPT: Final = "(intercept)"


@dataclass(frozen=True)
class Walked:
    """The points of a path: a line of ``coef`` for each strength, a column for each of ``names``, the intercept left out.

    A name is a column of the design with the class or target that its coefficient speaks for, "" where there is one. ``losses``
    is what rows held out lose by ``metric``, none where none are; ``scaled`` whether coefficients are per standard deviation of
    their column.
    """

    strength: Array
    coef: Array
    names: tuple[tuple[str, str], ...]
    losses: Array | None
    metric: str
    verdict: Word
    scaled: bool

    @property
    def best(self) -> int | None:
        """The point at which rows held out lose least."""
        known = self.losses is not None and bool(np.isfinite(self.losses).any())
        return int(np.nanargmin(self.losses)) if known and self.losses is not None else None


def of_table(walked: TablePath) -> Walked:
    """Return the points of a table that there was time for."""
    points = walked.points[: walked.reached]
    moments = survey(walked.dataset.train, walked.loss)
    spread = np.asarray(np.sqrt(np.maximum(moments.scatter, 0.0) / moments.weight_sum))
    coef = np.stack([point.coef for point in points]) * spread[None, :, None]
    classes = walked.dataset.target.names or walked.dataset.target.classes or ()
    pairs = [(j, k) for j, name in enumerate(walked.columns) for k in range(coef.shape[2]) if name != INTERCEPT]
    names = [(walked.columns[j], str(classes[k]) if len(classes) > k and coef.shape[2] > 1 else "") for j, k in pairs]
    return Walked(
        np.array([point.strength for point in points]), np.stack([coef[:, j, k] for j, k in pairs], axis=1),
        tuple(names),
        np.array(walked.losses)[: len(points)] if walked.losses else None, walked.metric.replace("_", " "),
        _worst(points), scaled=True,
    )  # fmt: skip


def of_arrays(walked: Path) -> Walked:
    """Return the points of a path of ``lineal.path``, whose coefficients are those of the columns as they are."""
    points = walked.points[: walked.reached]
    if not points:
        raise InputError("the time limit left no time for a point of this path, so there is nothing to draw.")
    coef = np.stack([point.coef for point in points])
    pairs = [(j, k) for j, name in enumerate(walked.columns) for k in range(coef.shape[2]) if name != INTERCEPT]
    names = [(walked.columns[j], f"output {k + 1}" if coef.shape[2] > 1 else "") for j, k in pairs]
    strength = np.array([point.strength for point in points])
    lines = np.column_stack([coef[:, j, k] for j, k in pairs]) if pairs else np.empty((len(points), 0))
    return Walked(strength, lines, tuple(names), None, "loss", _worst(points), scaled=False)


def _worst(points: Sequence[Point]) -> Word:
    worst = min((point.verdict for point in points), key=lambda verdict: verdict.proven)
    return Word(worst.kind, f"The least sure of {len(points)} fits: {worst.sentence}", worst.proven)


def is_path(table: Table) -> bool:
    """Whether a table is a path that `lineal path -o` wrote.

    >>> from lineal.tables.table import as_table
    >>> is_path(as_table({"strength": [1.0], "nonzero": [0], "objective": [0.5], "coefficient of a": [0.0]}))
    True
    """
    return table.names[: len(LEADING)] == LEADING and any(name.startswith(COEFFICIENT) for name in table.names)


def of_file(table: Table, sd: Mapping[str, float] | None = None) -> Walked:
    """Return the points of a file; ``sd`` are standard deviations of columns, which files do not hold."""
    own = [name for name in table.names if name.startswith(COEFFICIENT) and not _of_intercept(name)]
    if not is_path(table) or not own:
        raise InputError(f"{table.origin} is no path: lineal path DATA --target COL -o FILE writes one.")
    held = [name for name in ("held_out",) if name in table.names]
    wanted = ["strength", *held, *own]
    parts: dict[str, list[Array]] = {name: [] for name in wanted}
    kinds: list[str] = []
    for batch in table.select(numbers=set(wanted), texts={"verdict"}).batches():
        for name in wanted:
            parts[name].append(np.asarray(numbers_of(name, column(batch, name)), float))
        codes, levels = texts(column(batch, "verdict"))
        kinds += [str(levels[code]) for code in codes.tolist() if code >= 0]
    arrays = {name: np.concatenate(values) for name, values in parts.items()}
    names = tuple(_parts(name.removeprefix(COEFFICIENT), sd) for name in own)
    coef = np.column_stack([arrays[name] for name in own])
    if sd is not None:
        if strange := [name for name, _ in names if name not in sd]:
            raise InputError(f"the path {table.origin} is of other columns than the model, such as {strange[0]!r}.")
        coef = coef * np.array([sd[name] for name, _ in names])
    losses = arrays["held_out"] if held else None
    return Walked(arrays["strength"], coef, names, losses, "loss", _verdict(kinds), sd is not None)


def _parts(label: str, sd: Mapping[str, float] | None) -> tuple[str, str]:
    """Return the column and the answer of a label; a name may hold a slash, so that known columns decide."""
    name, slash, answer = label.rpartition(" / ")
    return (name, answer) if slash and sd is not None and label not in sd else (label, "")


def _of_intercept(name: str) -> bool:
    label = name.removeprefix(COEFFICIENT)
    return label == INTERCEPT or label.startswith(f"{INTERCEPT} / ")


def _verdict(kinds: list[str]) -> Word:
    """Return the least sure of the verdicts of a file, which holds no more than their kinds."""
    proven = [kind for kind in kinds if kind in KINDS and KINDS[kind].solved]
    least = next((kind for kind in kinds if kind not in proven), kinds[0] if kinds else "budget")
    return Word(least, f"{len(proven)} of {len(kinds)} points are proven.", bool(kinds) and len(proven) == len(kinds))
