"""Rows whose class the model knows, and the classes of the others by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import numpy as np

from lineal.errors import near
from lineal.features.cells.cells import texts
from lineal.features.encoder import column
from lineal.features.splitting import Apart
from lineal.features.types.target_type import class_index
from lineal.ground.records import dataclass
from lineal.model.target import Target
from lineal.tables.table import Table

MAX_STRANGERS_NAMED: Final = 5
"""Classes that training did not have and a sentence names; it counts the others."""


def known_classes(table: Table, target: Target) -> tuple[Table, Strangers]:
    """Return the rows whose class the model knows, and which classes the others have (a rare one may be tested only)."""
    if target.kind != "classes" or table.sparse:
        return table, Strangers(target, {})
    place, strange, counts, known = class_index(target), [], Counter[str](), 0
    for rows, batch in table.select(texts=[target.name]).numbered():
        codes, levels = texts(column(batch, target.name))
        unknown = np.array([*(bool(np.isneginf(place(level))) for level in levels), False])
        strange.append(rows[unknown[codes]])
        known += int(np.count_nonzero(~unknown[codes] & (codes >= 0)))
        times = np.bincount(codes[codes >= 0], minlength=len(levels))
        counts.update({level: int(n) for level, n, odd in zip(levels, times, unknown, strict=False) if odd and n})
    if not counts:
        return table, Strangers(target, {})
    return table.where(Apart(np.concatenate(strange))), Strangers(
        target, dict(counts.most_common()), none_known=not known
    )


@dataclass(frozen=True)
class Strangers:
    """Rows to measure whose class training did not have: how many of each, the most frequent first."""

    target: Target
    counts: Mapping[str, int]
    none_known: bool = False

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.counts.values())

    def sentences(self, use: str) -> list[str]:
        """Return a sentence that names the classes, if there are some, with those that may be meant."""
        if not self.counts:
            return []
        known = [str(label) for label in self.target.classes or ()]
        said = f"{rows_were(self.rows)} not {use}: the training rows have no class"
        if len(self.counts) == 1:
            first = next(iter(self.counts))
            return [f"{said} {first!r} of {self.target.name!r}.{near(first, known)}"]
        named = [f"{label!r} ({count:,})" for label, count in islice(self.counts.items(), MAX_STRANGERS_NAMED)]
        more = len(self.counts) - len(named)
        listed = ", ".join(named) + (f" and {more:,} more" if more else "")
        hints = [near(label, known).strip() for label in islice(self.counts, MAX_STRANGERS_NAMED)]
        return [" ".join((f"{said} of {self.target.name!r} such as {listed}.", *dict.fromkeys(filter(None, hints))))]


def rows_were(count: int) -> str:
    """Return how many rows, and the verb.

    >>> rows_were(1), rows_were(1200)
    ('1 row is', '1,200 rows are')
    """
    return "1 row is" if count == 1 else f"{count:,} rows are"


def over_all(strangers: Strangers, measured: int, accuracy: float | None) -> dict[str, Any]:
    """Return what is said beside figures of the measured rows alone: the others by class, and the accuracy of them all.

    ``accuracy_of_all = accuracy measured / (measured + unknown)``: no prediction is a class that training did not have.

    >>> over_all(Strangers(Target("y", "classes", classes=("a", "b")), {"c": 30}), 10, 0.8)
    {'unknown_classes': {'c': 30}, 'accuracy_of_all': 0.2}
    """
    share = measured / (measured + strangers.rows)
    return {
        "unknown_classes": dict(strangers.counts),
        "accuracy_of_all": None if accuracy is None else accuracy * share,
    }
