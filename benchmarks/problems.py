"""The registry of problems: what is solved, how large, how well, and where its data comes from.

Every fit minimises the one objective of lineal, the intercept not charged:

    F(b) = (1/n) sum_i loss(y_i, x_i b + b_0) + (strength/2) |b|^2

``target`` is the relative suboptimality a fit has to reach, ``(F(b) - F*) / scale``; the scale is
``F(best intercept alone) - F*``, as in lineal's relative gap, or ``F*`` where a problem says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    full: Mapping[str, int] | None = None
    quick: Mapping[str, int] | None = None
    goal: float | None = None

    def sizes(self, size: str) -> Mapping[str, int]:
        """Return the sizes of ``full`` or ``quick``; data that exists in one size only has one entry for both."""
        return (self.full if size == "full" else self.quick) or {}

    def strength_of(self, rows: int) -> float:
        """Return the strength in F; ``"1/n"`` is scikit-learn's C = 1 (or ridge alpha = 1) on n rows."""
        return 1.0 / rows if self.strength == "1/n" else float(self.strength)


_TABLE = (
    Problem(
        "ols",
        "fit",
        "least squares, float64",
        generators.regression,
        "squared",
        0.0,
        1e-10,
        full={"rows": 1_000_000, "columns": 100},
        quick={"rows": 60_000, "columns": 100},
        goal=0.6,
    ),
    Problem(
        "ridge",
        "fit",
        "ridge, float64",
        generators.regression,
        "squared",
        1e-3,
        1e-10,
        full={"rows": 1_000_000, "columns": 100},
        quick={"rows": 60_000, "columns": 100},
        goal=0.6,
    ),
    Problem(
        "ols-bad",
        "fit",
        "least squares on the monomials t..t^14, t in [0, 1]",
        generators.monomials,
        "squared",
        0.0,
        1e-2,
        scale="optimum",
        full={"rows": 1_000_000, "columns": 14},
        quick={"rows": 60_000, "columns": 14},
        goal=0.2,
    ),
    Problem(
        "logit",
        "fit",
        "l2 logistic",
        generators.classification,
        "logistic",
        1e-4,
        1e-6,
        full={"rows": 1_000_000, "columns": 50},
        quick={"rows": 60_000, "columns": 50},
        goal=0.15,
    ),
    Problem(
        "logit-sparse",
        "fit",
        "l2 logistic, C = 1, text-like sparse rows",
        generators.sparse_text,
        "logistic",
        "1/n",
        1e-6,
        full={"rows": 300_000, "columns": 50_000, "per_row": 98},
        quick={"rows": 10_000, "columns": 5_000, "per_row": 70},
        goal=0.5,
    ),
    Problem(
        "softmax",
        "fit",
        "softmax on synthetic pixel blobs of MNIST's shape, float32",
        generators.pixels,
        "softmax",
        1e-4,
        1e-3,
        full={"rows": 60_000, "side": 28, "classes": 10},
        quick={"rows": 3_000, "side": 14, "classes": 10},
        goal=0.35,
    ),
    Problem(
        "softmax-small",
        "fit",
        "softmax on scikit-learn's digits, 1797 x 64, divided by 16",
        generators.digits,
        "softmax",
        1e-4,
        1e-6,
        goal=0.2,
    ),
    Problem(
        "small-logistic",
        "fit",
        "logistic on breast_cancer, 569 x 30, standardised, C = 1",
        generators.breast_cancer,
        "logistic",
        "1/n",
        1e-6,
        goal=0.15,
    ),
    Problem(
        "small-ridge",
        "fit",
        "ridge on diabetes, 442 x 10, alpha = 1",
        generators.diabetes,
        "squared",
        "1/n",
        1e-10,
        goal=1.5,
    ),
    Problem(
        "csv",
        "csv",
        "CSV file, 12 numbers and 7 categories, to l2 logistic on standardised columns",
        generators.csv_file,
        "logistic",
        1e-4,
        1e-6,
        full={"rows": 1_000_000, "levels": 1288},
        quick={"rows": 40_000, "levels": 133},
        goal=0.2,
    ),
    Problem(
        "predict",
        "predict",
        "probabilities of a fitted logistic model, many rows",
        generators.classification,
        "logistic",
        1e-4,
        1e-10,
        full={"rows": 1_000_000, "columns": 50},
        quick={"rows": 100_000, "columns": 50},
        goal=1.0,
    ),
    Problem(
        "predict-one",
        "predict",
        "probability of a fitted logistic model, one row of 50",
        generators.one_row,
        "logistic",
        1e-4,
        1e-10,
        goal=1.0,
    ),
    Problem("import", "import", "import of the package in a fresh interpreter", goal=None),
)

PROBLEMS: Mapping[str, Problem] = {problem.name: problem for problem in _TABLE}
"""Every problem by name."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "small": ("small-logistic", "small-ridge"),
    "predict": ("predict", "predict-one"),
}
"""Rows of SPEED.md that hold two problems; ``--only small`` means both."""


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
