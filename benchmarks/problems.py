"""The registry of problems: what is solved, how large, how well, and where its data comes from.

Every fit minimises the one objective of lineal, the intercept not charged:

    F(b) = (1/n) sum_i loss(y_i, x_i b + b_0) + (strength/2) |b|^2        or  strength |b|_1 (``penalty="l1"``)

``target`` is the relative suboptimality a fit has to reach, ``(F(b) - F*) / scale``; the scale is
``F(best intercept alone) - F*``, as in lineal's relative gap, or ``F*`` where a problem says so. A path (``points``)
has no intercept; its suboptimality is the worst of its points, and its scale is that of its last point.
Epochs (``task="epochs"``) have to end with the weights of a plain loop, to the last bit.
A question (``task="separable"``) has an answer that is known by construction; the suboptimality is 0 if it is given, else 1.
Tiny tables (``task="tiny"``, `tiny.py`) have no reference: their verdicts are counted; no fit is to take a second.
Words (``task="words"``) are counted right if the counts add up; the suboptimality is the share of entries that hashing lost.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import generators

Make = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class Problem:
    """One row of the table: a workload with its objective, target and sizes."""

    name: str
    task: str
    says: str
    make: Make | None = None
    loss: str = ""
    strength: float | str = 0.0
    target: float = 0.0
    scale: str = "null"
    penalty: str = "ridge"
    threshold: float = 0.0
    points: int = 0
    full: Mapping[str, int] | None = None
    quick: Mapping[str, int] | None = None
    goal: float | None = None

    def sizes(self, size: str) -> Mapping[str, int]:
        """Return the sizes of ``full`` or ``quick``; data that exists in one size only has one entry for both."""
        return (self.full if size == "full" else self.quick) or {}

    def strength_of(self, rows: int, largest: float = 0.0) -> float:
        """Return the strength in F; ``"1/n"`` is scikit-learn's C = 1 (or ridge alpha = 1) on n rows.

        ``"max/50"`` is a share of the ``largest`` that matters, at which all coefficients are zero.
        """
        if isinstance(self.strength, str):
            return 1.0 / rows if self.strength == "1/n" else largest / float(self.strength.removeprefix("max/"))
        return self.strength

    @property
    def row(self) -> str:
        """The row it belongs to; its name says more where its sizes are others (``benchmarks.scaling``)."""
        return self.name.partition("@")[0]

    @property
    def ones(self) -> bool:
        """Whether there is an intercept."""
        return self.points == 0


def _registry() -> dict[str, Problem]:
    """Read ``problems.toml``; ``make`` names a function of ``generators``."""
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    made = {name: {"make": getattr(generators, row["make"])} if "make" in row else {} for name, row in rows.items()}
    return {name: Problem(name, **(row | made[name])) for name, row in rows.items()}


PROBLEMS: Mapping[str, Problem] = _registry()
"""Every problem by name."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "small": ("small-logistic", "small-ridge"),
    "predict": ("predict", "predict-single", "predict-one"),
    "huber": ("huber", "huber-scale"),
    "separable": ("separable", "overlapping"),
    "perceptron": ("perceptron", "perceptron-sparse", "perceptron-classes"),
}
"""Rows of SPEED.md that hold several problems; ``--only small`` means both."""


def chosen(names: str | None) -> list[Problem]:
    """Return the problems that ``--only a,b`` names (all of them without it)."""
    if not names:
        return list(PROBLEMS.values())
    found: dict[str, Problem] = {}
    for name in names.split(","):
        members = GROUPS.get(name, (name,))
        for member in members:
            if member not in PROBLEMS:
                raise SystemExit(f"no row called {name!r}; the rows are {', '.join([*PROBLEMS, *GROUPS])}.")
            found[member] = PROBLEMS[member]
    return list(found.values())
