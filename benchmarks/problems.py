"""The registry of problems: what is solved, how large, how well, and where its data comes from.

Every fit minimises the one objective of lineal, the intercept not charged:

    F(b) = (1/n) sum_i loss(y_i, x_i b + b_0) + (strength/2) |b|^2        or  strength |b|_1 (``penalty="l1"``)

``target`` is the relative suboptimality a fit has to reach, ``(F(b) - F*) / scale``; the scale is
``F(best intercept alone) - F*``, as in lineal's relative gap, or ``F*`` where a problem says so. A path (``points``)
has no intercept; its suboptimality is the worst of its points, and its scale is that of its last point.
Epochs (``task="epochs"``) have to end with the weights of a plain loop, to the last bit.
A question (``task="separable"``) has an answer that is known by construction; the suboptimality is 0 if it is given, else 1.
Words (``task="words"``) are counted right if the counts add up; the suboptimality is the share of entries that hashing lost.
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
        "lasso",
        "fit",
        "lasso path of 100 strengths from the largest to a twentieth of it, more columns than rows",
        generators.wide,
        "squared",
        "max/20",
        1e-6,
        penalty="l1",
        points=100,
        full={"rows": 2_000, "columns": 20_000},
        quick={"rows": 200, "columns": 2_000},
        goal=0.5,
    ),
    Problem(
        "lasso-sparse",
        "fit",
        "the same on text-like sparse columns",
        generators.sparse_wide,
        "squared",
        "max/20",
        1e-6,
        penalty="l1",
        points=100,
        full={"rows": 20_000, "columns": 100_000, "per_row": 100},
        quick={"rows": 1_000, "columns": 4_000, "per_row": 50},
        goal=0.4,
    ),
    Problem(
        "l1-logit",
        "fit",
        "l1 logistic, a fiftieth of the largest strength, text-like sparse rows",
        generators.sparse_text,
        "logistic",
        "max/50",
        1e-6,
        penalty="l1",
        full={"rows": 100_000, "columns": 50_000, "per_row": 98},
        quick={"rows": 5_000, "columns": 3_000, "per_row": 70},
        goal=0.4,
    ),
    Problem(
        "hinge",
        "fit",
        "support vector machine, hinge loss, C = 1, text-like sparse rows",
        generators.sparse_text,
        "hinge",
        "1/n",
        1e-3,
        full={"rows": 300_000, "columns": 50_000, "per_row": 98},
        quick={"rows": 5_000, "columns": 3_000, "per_row": 70},
        goal=0.5,
    ),
    Problem(
        "sq-hinge",
        "fit",
        "support vector machine, squared hinge loss, C = 1, text-like sparse rows",
        generators.sparse_text,
        "squared-hinge",
        "1/n",
        1e-6,
        full={"rows": 300_000, "columns": 50_000, "per_row": 98},
        quick={"rows": 2_000, "columns": 1_000, "per_row": 50},
        goal=0.35,
    ),
    Problem(
        "huber",
        "fit",
        "Huber's loss with threshold 1.5, heavy tails",
        generators.outliers,
        "huber",
        0.0,
        1e-6,
        threshold=1.5,
        full={"rows": 500_000, "columns": 20},
        quick={"rows": 30_000, "columns": 20},
        goal=0.3,
    ),
    Problem(
        "huber-scale",
        "fit",
        "Huber's loss with a scale fitted beside the coefficients, threshold 1.35 scales",
        generators.outliers,
        "huber-scale",
        0.0,
        1e-6,
        threshold=1.35,
        full={"rows": 500_000, "columns": 20},
        quick={"rows": 30_000, "columns": 20},
        goal=0.1,
    ),
    Problem(
        "median",
        "fit",
        "median regression (half the absolute loss), heavy tails",
        generators.outliers,
        "absolute",
        0.0,
        1e-6,
        full={"rows": 50_000, "columns": 20},
        quick={"rows": 1_500, "columns": 10},
        goal=0.25,
    ),
    Problem(
        "text",
        "words",
        "short texts to sparse counts of words, 18 MB",
        generators.documents,
        target=1e-3,
        full={"rows": 100_000, "vocabulary": 50_000, "words": 25},
        quick={"rows": 20_000, "vocabulary": 20_000, "words": 25},
        goal=0.15,
    ),
    Problem(
        "text-fit",
        "text",
        "short texts to l2 logistic on counts of words, C = 1",
        generators.documents,
        "logistic",
        "1/n",
        1e-3,
        full={"rows": 90_000, "vocabulary": 50_000, "words": 25},
        quick={"rows": 10_000, "vocabulary": 10_000, "words": 25},
        goal=0.3,
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
        1e-6,
        full={"rows": 1_000_000, "columns": 50},
        quick={"rows": 100_000, "columns": 50},
        goal=1.0,
    ),
    Problem(
        "predict-single",
        "predict",
        "the same, rows stored as float32 for everybody",
        generators.classification,
        "logistic",
        1e-4,
        1e-6,
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
        1e-6,
        goal=1.0,
    ),
    Problem(
        "separable",
        "separable",
        "can a halfspace separate the classes? Yes; ours with its proof in integers",
        generators.apart,
        target=1e-10,
        full={"rows": 100_000, "columns": 20},
        quick={"rows": 20_000, "columns": 20},
    ),
    Problem(
        "overlapping",
        "separable",
        "the same, and the answer is no",
        generators.overlapping,
        target=1e-10,
        full={"rows": 100_000, "columns": 20},
        quick={"rows": 20_000, "columns": 20},
    ),
    Problem(
        "perceptron",
        "epochs",
        "ten epochs of a perceptron, rows in their order, float64; the exact weights of a plain loop",
        generators.eighths,
        target=1e-10,
        full={"rows": 1_000_000, "columns": 50},
        quick={"rows": 60_000, "columns": 50},
        goal=1.0,
    ),
    Problem(
        "perceptron-sparse",
        "epochs",
        "the same on text-like sparse rows",
        generators.sparse_eighths,
        target=1e-10,
        full={"rows": 100_000, "columns": 50_000, "per_row": 98},
        quick={"rows": 10_000, "columns": 5_000, "per_row": 70},
        goal=0.5,
    ),
    Problem(
        "perceptron-classes",
        "epochs",
        "the same by the joint update of ten classes, synthetic pixel blobs, float64",
        generators.pixel_eighths,
        target=1e-10,
        full={"rows": 60_000, "side": 28, "classes": 10},
        quick={"rows": 6_000, "side": 14, "classes": 10},
        goal=0.5,
    ),
    Problem("import", "import", "import of the package in a fresh interpreter", goal=None),
)

PROBLEMS: Mapping[str, Problem] = {problem.name: problem for problem in _TABLE}
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
