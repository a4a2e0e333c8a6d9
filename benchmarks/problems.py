"""What a problem of the benchmark is: what is minimized, how well, how large, on which data.

Every fit minimizes the one objective of lineal, the intercept not penalized:

    F(b) = (1/n) sum_i loss(y_i, x_i b + b_0) + (strength/2) |b|^2        or  strength |b|_1 (``penalty="l1"``)

``target`` is the relative suboptimality a fit has to reach, ``(F(b) - F*) / scale``; the scale is
``F(best intercept alone) - F*``, as in lineal's relative gap, or ``F*`` where a problem says so. A path (``points``)
has no intercept; its suboptimality is the worst of its points, and its scale is that of its last point.

``goal`` is the ratio of our time to that of the best peer which the row has to reach, or to that of ``goal_of``;
``rival`` is the peer that was the fastest when the goal was set.

Other tasks than ``fit``, ``csv`` and ``text`` (fits from arrays, a file, texts) minimize nothing; their suboptimality is
- ``epochs``: how far the weights are from those of a plain loop (`epochs.py`);
- ``svc``, ``kridge``, ``gp``: a duality gap, or how far equations are from solved (`kernel_machines.py`);
- ``sequences``, ``trees``: how far entries of a Gram matrix are from those of plain loops (`alike.py`);
- ``counting``: how far logs of shares are from those of plain sums (`lookups.py`);
- ``separable``: 0 if the answer is the one that is known by construction, else 1;
- ``words``: the share of entries that hashing lost, if the counts add up, else 1;
- ``answer``, ``first-fit``, ``verify``, ``import``: 0 if the command ended well, else 1 (`commands.py`);
- ``tiny`` has none: its verdicts are counted (`tiny.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.limits import Work

SIZES = ("full", "table", "quick", "tiny")
"""Of the goals; of a table within half an hour; within three minutes; of a test."""

COMMANDS = ("answer", "first-fit", "verify", "import")
"""Tasks that another process does, from its start to its end."""


@dataclass(frozen=True)
class Sample:
    """A data set of a row: its maker, the options it is called with, and whether the row's fits have an intercept on it."""

    name: str
    make: Callable[..., dict[str, Any]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    ones: bool = True

    def arguments(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return what the maker is called with: its options, and those of the sizes that it asks for."""
        assert self.make is not None
        wanted = inspect.signature(self.make).parameters
        return {**{key: value for key, value in sizes.items() if key in wanted}, **self.options}


@dataclass(frozen=True)
class Problem:
    """A row of the table on one of its data sets."""

    row: str
    sample: Sample
    task: str
    says: str
    sizes: Mapping[str, Mapping[str, int]]
    loss: str = ""
    strength: float | str = 0.0
    target: float = 0.0
    scale: str = "baseline"
    penalty: str = "ridge"
    threshold: float = 0.0
    points: int = 0
    goal: float | None = None
    goal_of: str = ""
    rival: str | None = None
    work: Work | None = None
    variant: str = ""

    @property
    def name(self) -> str:
        """The row and its data set, and the sizes where they are others than those of the registry."""
        return f"{self.row}/{self.sample.name}" + (f"@{self.variant}" if self.variant else "")

    @property
    def ones(self) -> bool:
        """Whether there is an intercept."""
        return self.points == 0 and self.sample.ones

    @property
    def sparse(self) -> bool:
        """Whether the data is a sparse matrix of as many columns as there are words."""
        return "per_row" in self.sizes["full"]

    def arguments(self, size: str) -> dict[str, Any]:
        """Return what the maker of its data is called with."""
        return self.sample.arguments(self.sizes[size])

    def resized(self, variant: str) -> Problem:
        """Return it with other sizes, ``rows=100,columns=5``; ``points`` is the number of strengths of a path."""
        sizes = {key: int(value) for key, value in (part.split("=") for part in variant.split(","))}
        points = sizes.pop("points", self.points)
        return replace(self, variant=variant, sizes=dict.fromkeys(SIZES, sizes), points=points)

    def strength_of(self, rows: int, largest: float = 0.0) -> float:
        """Return the strength in F; ``"1/n"`` is scikit-learn's C = 1 (or ridge alpha = 1) on n rows.

        ``"max/50"`` is a share of the ``largest`` that matters, at which all coefficients are zero.
        """
        if isinstance(self.strength, str):
            return 1.0 / rows if self.strength == "1/n" else largest / float(self.strength.removeprefix("max/"))
        return self.strength
