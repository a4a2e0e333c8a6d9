"""Two columns of numbers and a target of classes, out of a table: what pictures of a plane fit by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.api.training import fit
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.plots.subject import Subject, subject_of


@dataclass(frozen=True)
class Pair:
    """Two columns and the classes of some rows; ``sampled`` is the sentence that says which rows."""

    names: tuple[str, str]
    x: Array
    y: Array
    target: str
    labels: tuple[str, ...]
    rows: Index
    sampled: str

    @property
    def table(self) -> dict[str, Any]:
        """The rows as a table of three columns."""
        return {self.names[0]: self.x, self.names[1]: self.y, self.target: list(self.labels)}


def pair_of(data: Any, target: str | None, x: str | None, y: str | None) -> Pair:
    """Return the rows without a gap in two columns; columns that are not named are those of largest effect on the target.

    The effect is that of a ridge fit of all columns.
    """
    if target is None:
        raise InputError("say which column holds the classes (--target COL).")
    whole = fit(data, target, model="logistic", penalty=0.01, test_size=0.0)
    subject = subject_of(whole, data)
    first, second = subject.axes((x, y), 2)
    for name in (first, second):
        if not subject.numeric(name):
            raise InputError(f"the column {name!r} holds levels, and the picture needs two columns of numbers.")
    return _complete(subject, first, second)


def _complete(subject: Subject, first: str, second: str) -> Pair:
    px, py = subject.cells[first], subject.cells[second]
    at = np.flatnonzero(np.isfinite(px) & np.isfinite(py))
    labels = tuple(subject.classes[k] for k in subject.group[at].tolist())
    if len(set(labels)) < 2:
        raise InputError(
            f"the rows that have {first!r} and {second!r} are of one class; there is nothing to tell apart."
        )
    return Pair((first, second), px[at], py[at], subject.model.target.name, labels, subject.rows[at], subject.sampled)
