"""The recorded steps of a fit: what progress bars, tables and curves are drawn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, Final, NamedTuple

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.tabled import Grid, Tabled, short

MAX_NUMBERS: Final = 2**22
"""Numbers up to which a trace keeps the coefficients of its steps: 32 MB."""


MAX_RECORDS_SHOWN: Final = 20
"""Records that a notebook shows, the last ones."""


class Record(NamedTuple):
    """One line of a trace: what the objective was, what the solver guessed of its distance to the optimum.

    ``gradient`` is the norm of F's gradient, None where no step needed it; ``rows`` the picked rows, counted from 1, that a
    stochastic step followed.

    >>> Record(step=1, objective=0.5, estimate=0.1, passes=2, seconds=0.01, note="full Newton step").passes
    2
    """

    step: int
    objective: float
    estimate: float
    passes: int
    seconds: float
    note: str = ""
    gradient: float | None = None
    rows: tuple[int, ...] = ()


@dataclass
class Trace(Tabled):
    """The records of one fit, in order, as a sequence and as columns.

    ``iterates`` are the coefficients after each step, ``(columns, outputs)``, where they are kept: for a descent by given
    steps, and where they were asked for; the first ones, up to ``MAX_NUMBERS`` numbers.

    >>> trace = Trace()
    >>> trace.add(Record(1, 0.5, 0.1, 2, 0.01))
    >>> len(trace), trace.column("objective")
    (1, [0.5])
    """

    picture = "trace"

    records: list[Record] = field(default_factory=list)
    iterates: list[Array] = field(default_factory=list, repr=False)

    def add(self, record: Record) -> None:
        """Append one record."""
        self.records.append(record)

    def keep(self, coef: Array) -> None:
        """Keep the coefficients of the step that was added last, while there is room."""
        if len(self.iterates) == len(self.records) - 1 and len(self.records) * coef.size <= MAX_NUMBERS:
            self.iterates.append(np.array(coef))

    def column(self, name: str) -> list[object]:
        """Return one field of all records."""
        return [getattr(record, name) for record in self.records]

    def steps_of(self, solver: str) -> int:
        """Return how many steps a solver took: the first record of most is where they begin, of some a step already."""
        return max(len(self.records) - (solver not in ("direct", "refined", "dual-ascent")), 0)

    def to_dict(self) -> dict[str, list[object]]:
        """Return the trace as columns, ready for any data frame."""
        return {name: self.column(name) for name in Record._fields}

    def to_frame(self) -> Any:
        """Return the trace as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    @property
    def headline(self) -> str:
        """How many steps were recorded."""
        return f"{len(self.records)} records of a fit"

    def grids(self) -> list[Grid]:
        """Return the last records as a table."""
        head = ("step", "note", "objective", "passes")
        lines = [(str(r.step), r.note, short(r.objective), str(r.passes)) for r in self.records[-MAX_RECORDS_SHOWN:]]
        return [Grid((head, *lines), texts=2)]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)
