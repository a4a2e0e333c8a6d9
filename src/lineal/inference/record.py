"""The record of diagnostics: figures, tests and the rows that matter, and on request every row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, field
from typing import Any, Final

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.inference.hypothesis import HypothesisTest
from lineal.inference.influence import Influence
from lineal.model.tabled import Grid, Tabled, plain, short

MAX_TERMS_SHOWN: Final = 40
"""Terms whose inflation is shown; ``to_dict`` has all."""


@dataclass(frozen=True)
class Inflation:
    """How much wider the interval of a term is than if its columns were not like the others: ``vif``, and its root.

    Of a term of several columns ``vif`` is the generalized one; ``root = vif^(1 / (2 columns))`` compares with others.
    """

    term: str
    columns: tuple[str, ...]
    vif: float

    @property
    def root(self) -> float:
        """By how much intervals are wider, per column."""
        return float(self.vif ** (0.5 / len(self.columns)))


@dataclass(frozen=True)
class Influential:
    """A row that the fit hangs on: its number (from 0), target, mean and figures, and its DFBETAS by column."""

    row_index: int
    target: float
    mean: float
    studentized: float
    leverage: float
    cooks_distance: float
    dfbetas: dict[str, float]

    @property
    def moves(self) -> str:
        """The column whose coefficient it moves most, with its DFBETAS."""
        known = {name: value for name, value in self.dfbetas.items() if np.isfinite(value)}
        name = max(known, key=lambda key: abs(known[key]), default="")
        return f"{name} {known[name]:+.2f}" if name else ""


@dataclass(frozen=True)
class Diagnostics(Tabled):
    """How a fit disagrees with its rows: plain data that displays as tables.

    ``parameters`` is the trace of the hat matrix, ``freedom`` what is left of the ``observations``; ``dispersion`` is
    ``pearson / freedom``, the variance of residuals for least squares and 1 where counts vary as the model says;
    ``condition`` that of the columns at length one. ``arrays()`` has every row.
    """

    title: str
    observations: float
    parameters: float
    freedom: float
    deviance: float
    pearson: float
    dispersion: float
    condition: float
    inflation: tuple[Inflation, ...]
    tests: tuple[HypothesisTest, ...]
    influential: tuple[Influential, ...]
    seed: int
    notes: tuple[str, ...] = ()
    influence: Influence | None = field(default=None, repr=False, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """What is known of a row, by the names of ``arrays()``."""
        return () if self.influence is None else self.influence.names

    def blocks(self) -> Iterator[dict[str, Array]]:
        """Yield what is known of the rows, some after the other: no more of them are in memory than are looked at."""
        if self.influence is not None:
            yield from self.influence

    def arrays(self) -> dict[str, Array]:
        """Return what is known of every row: one array for each of ``columns``."""
        parts = list(self.blocks())
        return {name: np.concatenate([part[name] for part in parts]) for name in self.columns}

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data, without the arrays; a number that is not finite becomes None."""
        names = ("title", "observations", "parameters", "freedom", "deviance", "pearson", "dispersion", "condition")
        answer: dict[str, Any] = {name: getattr(self, name) for name in names}
        answer["inflation"] = [{**asdict(one), "root": one.root} for one in self.inflation]
        answer["tests"] = [asdict(test) for test in self.tests]
        answer["influential"] = [asdict(row) for row in self.influential]
        answer |= {"seed": self.seed, "notes": list(self.notes)}
        return {name: plain(value) for name, value in answer.items()}

    @property
    def headline(self) -> str:
        """What was looked at."""
        left = f"{short(self.parameters)} parameters, {short(self.freedom)} degrees of freedom left"
        return f"{self.title}; {self.observations:g} observations, {left}"

    @property
    def figure_line(self) -> str:
        """The figures about the whole fit."""
        names = ("deviance", "pearson", "dispersion", "condition")
        figures = ", ".join(f"{name} {short(getattr(self, name))}" for name in names)
        return f"{figures}; quantile residuals drawn with seed {self.seed}"

    def grids(self) -> list[Grid]:
        """Return the tests, the inflation of the terms and the rows that the fit hangs on."""
        grids = []
        if self.tests:
            lines = [(test.name, test.null, short(test.statistic), f"{test.p:.4g}") for test in self.tests]
            grids.append(Grid([("test", "if it holds", "statistic", "p"), *lines], texts=2))
        if self.inflation:
            shown = sorted(self.inflation, key=lambda one: -one.root)[:MAX_TERMS_SHOWN]
            lines = [(one.term, f"{len(one.columns)}", short(one.vif), short(one.root)) for one in shown]
            grids.append(Grid([("term", "columns", "VIF", "wider by"), *lines], title="Variance inflation"))
        if self.influential:
            head = ("row", "target", "mean", "studentized", "leverage", "Cook's D", "moves most")
            rows = [
                (
                    f"{row.row_index + 1:,}",
                    *map(short, (row.target, row.mean, row.studentized, row.leverage, row.cooks_distance)),
                    row.moves,
                )
                for row in self.influential
            ]
            grids.append(Grid([head, *rows], title="Rows the fit hangs on, by Cook's distance"))
        return grids
