"""The registry: one entry per row of the table, each with at least two data sets that were made differently.

Sizes are those of ``problems.SIZES``, in this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.limits import DENSE, SINGLE, SPARSE, Work, gram, half_gram, text
from benchmarks.makers import files, measured, numbers, pictures, structures, tables, words
from benchmarks.problems import SIZES, Problem, Sample


def on(name: str, make: Any, *, ones: bool = True, **options: Any) -> Sample:
    """Return a data set: its name, its maker and the maker's options."""
    return Sample(name, make, options, ones)


def _row(row: str, task: str, says: str, data: list[Sample], **entry: Any) -> list[Problem]:
    """Return a problem per data set; a size (a tuple by ``SIZES``, or one number for all) is what no field of a problem is."""
    sizes = {key: entry.pop(key) for key in list(entry) if key not in Problem.__dataclass_fields__}
    by_size = {
        size: {key: value if isinstance(value, int) else value[at] for key, value in sizes.items()}
        for at, size in enumerate(SIZES)
    }
    return [Problem(row, sample, task, says, by_size, **entry) for sample in data]


LONG = {"rows": (1_000_000, 250_000, 40_000, 400)}
TEXT_LIKE = {"rows": (300_000, 60_000, 5_000, 300), "columns": (50_000, 30_000, 3_000, 60), "per_row": (98, 98, 70, 10)}
FEWER_TEXTS = {
    "rows": (100_000, 40_000, 5_000, 300),
    "columns": (50_000, 30_000, 3_000, 60),
    "per_row": (98, 98, 70, 10),
}
PIXELS = {"rows": (60_000, 12_000, 2_000, 300), "side": (28, 28, 14, 6), "classes": (10, 10, 10, 3)}
BESIDE = {"rows": (500_000, 200_000, 30_000, 300), "columns": (20, 20, 20, 4)}
DENSE_NUMBERS = [on("mixed", numbers.regression), on("photographs", pictures.neighbors)]
TWO_CLASSES = [on("mixed", numbers.classification), on("photographs", pictures.neighbors, target="photograph")]
WEAK, STRONG = on("weak", words.sparse_text), on("strong", words.sparse_text, signal=48.0, ones=False)
HEAVY_TAILS = [on("t2", numbers.outliers), on("photographs", pictures.neighbors)]
TEXTS = [on("plain", words.documents), on("accents", words.documents, tail=0.7, letters=words.ACCENTS)]


def _fits() -> Iterator[list[Problem]]:
    """Yield the rows that minimize, from arrays."""
    squared = {"loss": "squared", "rival": "scikit-learn-intelex"}
    yield _row("ols", "fit", "least squares, float64", DENSE_NUMBERS, **squared, **LONG, columns=(100, 100, 100, 5),
               target=1e-10, goal=0.6, work=Work(DENSE, gram))  # fmt: skip
    yield _row("ridge", "fit", "ridge, float64", DENSE_NUMBERS, **squared, **LONG, columns=(100, 100, 100, 5),
               strength=0.001, target=1e-10, goal=0.6, work=Work(DENSE, half_gram))  # fmt: skip
    yield _row("ridge-wide", "fit", "ridge, float32 columns as embeddings have them",
               [on("mixed", numbers.embeddings), on("factors", numbers.factors)], **squared,
               rows=(100_000, 30_000, 4_000, 200), columns=(768, 768, 768, 12),
               strength=0.001, target=1e-6, work=Work(SINGLE, half_gram))  # fmt: skip
    yield _row("ols-bad", "fit", "least squares on nearly dependent columns",
               [on("monomials", numbers.monomials), on("decays", numbers.decays)], loss="squared", rival="by hand",
               **LONG, columns=(14, 14, 14, 5), scale="optimum", target=1e-2, goal=0.2,
               work=Work(DENSE, gram))  # fmt: skip
    yield _row("logit", "fit", "l2 logistic", TWO_CLASSES, loss="logistic", rival="snapml", **LONG,
               columns=(50, 50, 50, 5), strength=1e-4, target=1e-6, goal=0.15, work=Work(DENSE, gram))  # fmt: skip
    yield _row("logit-sparse", "fit", "l2 logistic, C = 1, text-like sparse rows", [WEAK, STRONG], **TEXT_LIKE,
               loss="logistic", rival="snapml", strength="1/n", target=1e-6, goal=0.5, work=Work(SPARSE))  # fmt: skip
    yield _row("softmax", "fit", "softmax on columns of MNIST's shape, float32",
               [on("pixels", pictures.pixels), on("clouds", pictures.clouds)], **PIXELS, loss="softmax",
               rival="scikit-learn-intelex", strength=1e-4, target=1e-3, goal=0.35, work=Work(SINGLE))  # fmt: skip
    yield _row("softmax-small", "fit", "softmax on a few hundred rows",
               [on("digits", pictures.digits), on("wine", measured.wine)], images=(1797, 1797, 1797, 150), loss="softmax",
               rival="scikit-learn-intelex", strength=1e-4, target=1e-6, goal=0.2, work=Work(DENSE))  # fmt: skip
    yield _row("small-logistic", "fit", "logistic on a few hundred rows, C = 1",
               [on("cancer", measured.breast_cancer), on("irises", measured.two_irises)], loss="logistic",
               rival="by hand", strength="1/n", target=1e-6, goal=0.25, goal_of="scikit-learn",
               work=Work(DENSE, gram))  # fmt: skip
    yield _row("small-ridge", "fit", "ridge on a few hundred rows, alpha = 1",
               [on("diabetes", measured.diabetes), on("alcohol", measured.alcohol)], loss="squared", rival="by hand",
               strength="1/n", target=1e-10, goal=0.2, goal_of="scikit-learn", work=Work(DENSE, gram))  # fmt: skip


def _zeros_and_corners() -> Iterator[list[Problem]]:
    """Yield the rows whose penalties make zeros, or whose losses have corners or thresholds."""
    path = {"loss": "squared", "strength": "max/20", "target": 1e-6, "penalty": "l1", "points": 100}
    yield _row("lasso", "fit", "lasso path of 100 strengths down to a twentieth of the largest, more columns than rows",
               [on("lines", numbers.wide), on("blocks", numbers.blocks)], **path, rival="adelie",
               rows=(2_000, 700, 200, 40), columns=(20_000, 7_000, 2_000, 60), goal=0.5, work=Work(DENSE))  # fmt: skip
    yield _row("lasso-sparse", "fit", "the same on text-like sparse columns",
               [on("weak", words.sparse_wide), on("flat", words.sparse_wide, tail=0.5, noise=0.3)], **path,
               rival="python-glmnet", rows=(20_000, 8_000, 1_000, 100), columns=(100_000, 40_000, 4_000, 60),
               per_row=(100, 100, 50, 10), goal=0.4, work=Work(SPARSE))  # fmt: skip
    yield _row("l1-logit", "fit", "l1 logistic, a fiftieth of the largest strength, text-like sparse rows",
               [WEAK, on("strong", words.sparse_text, signal=48.0, tail=0.7)], **FEWER_TEXTS, loss="logistic",
               rival="adelie", strength="max/50", target=1e-6, penalty="l1", goal=0.4, work=Work(SPARSE))  # fmt: skip
    yield _row("hinge", "fit", "support vector machine, hinge loss, C = 1, text-like sparse rows", [WEAK, STRONG],
               **TEXT_LIKE, loss="hinge", rival="snapml", strength="1/n", target=1e-3, goal=0.5,
               work=Work(SPARSE))  # fmt: skip
    yield _row("sq-hinge", "fit", "support vector machine, squared hinge loss, C = 1, text-like sparse rows",
               [WEAK, STRONG], **TEXT_LIKE, loss="squared-hinge", rival="snapml", strength="1/n", target=1e-6,
               goal=0.35, work=Work(SPARSE))  # fmt: skip
    yield _row("huber", "fit", "Huber's loss with threshold 1.5, heavy tails", HEAVY_TAILS, **BESIDE, loss="huber",
               rival="by hand", target=1e-6, threshold=1.5, goal=0.45, work=Work(DENSE, gram))  # fmt: skip
    yield _row("huber-scale", "fit", "Huber's loss with a scale fitted beside the coefficients, threshold 1.35 scales",
               HEAVY_TAILS, **BESIDE, loss="huber-scale", rival="scikit-learn", target=1e-6, threshold=1.35, goal=0.1,
               work=Work(DENSE, gram))  # fmt: skip
    yield _row("median", "fit", "median regression (half the absolute loss), heavy tails", HEAVY_TAILS,
               rows=(50_000, 20_000, 1_500, 200), columns=(20, 20, 10, 3), loss="absolute", rival="quantreg",
               target=1e-6, goal=0.25, work=Work(DENSE))  # fmt: skip


def _texts_and_tables() -> Iterator[list[Problem]]:
    """Yield the rows that begin with text or with a file, and those that end with predictions."""
    yield _row("text", "words", "short texts to sparse counts of words", TEXTS, rival="polars",
               rows=(100_000, 50_000, 10_000, 300), vocabulary=(50_000, 50_000, 10_000, 300), words=(25, 25, 25, 10),
               target=1e-3, goal=0.15, work=Work(lambda facts: facts["bytes"] + 8.0 * facts["nonzeros"]))  # fmt: skip
    yield _row("text-fit", "text", "short texts to l2 logistic on counts of words, C = 1", TEXTS, loss="logistic",
               rival="vowpal wabbit", rows=(90_000, 40_000, 5_000, 300), vocabulary=(50_000, 50_000, 5_000, 300),
               words=(25, 25, 25, 10), strength="1/n", target=1e-3, goal=0.3, work=Work(text))  # fmt: skip
    yield _row("csv", "csv", "CSV file, 12 numbers and 7 categories, to l2 logistic on standardized columns",
               [on("even", tables.table), on("rare", tables.table, tail=1.2, digits=1)], loss="logistic", rival="glum",
               rows=(1_000_000, 250_000, 20_000, 3_000), levels=(1_288, 1_288, 133, 21), strength=1e-4, target=1e-6,
               goal=0.45, work=Work(text))  # fmt: skip
    predict = {"loss": "logistic", "strength": 1e-4, "target": 1e-6, "goal": 1.0}
    two = {"rows": (1_000_000, 1_000_000, 100_000, 500), "columns": (50, 50, 50, 5), "rival": "onnxruntime"}
    yield _row("predict", "predict", "probabilities of a fitted logistic model, many rows", TWO_CLASSES, **predict,
               **two, work=Work(lambda facts: DENSE(facts) + 16.0 * facts["rows"]))  # fmt: skip
    yield _row("predict-single", "predict", "the same, rows stored as float32 for all", TWO_CLASSES, **predict,
               **two, work=Work(lambda facts: SINGLE(facts) + 16.0 * facts["rows"]))  # fmt: skip
    yield _row("predict-one", "predict", "probability of a fitted logistic model, one row",
               [on("mixed", numbers.classification), on("cancer", measured.breast_cancer)], **predict,
               rows=(2_000, 2_000, 2_000, 500), columns=(50, 50, 50, 5), rival="by hand")  # fmt: skip


def _questions() -> Iterator[list[Problem]]:
    """Yield the rows that ask for a halfspace, or present rows to a perceptron."""
    ask = {"rows": (100_000, 50_000, 10_000, 400), "columns": (20, 20, 20, 4), "target": 1e-10, "rival": "linprog"}
    yield _row("separable", "separable", "can a halfspace separate the classes? Yes; ours with its proof in integers",
               [on("mixed", numbers.apart), on("whole", numbers.apart, whole=True)], **ask)  # fmt: skip
    yield _row("overlapping", "separable", "the same, and the answer is no",
               [on("noisy", numbers.overlapping), on("close", numbers.overlapping, noise=0.01)], **ask)  # fmt: skip
    yield _row("perceptron", "epochs", "ten epochs of a perceptron, rows in their order; the weights of a plain loop",
               [on("mixed", numbers.classification, eighths=True), TWO_CLASSES[1]], **LONG, columns=(50, 50, 50, 5),
               target=1e-10, rival="numba loop", goal=1.2, work=Work(DENSE, reads=10))  # fmt: skip
    yield _row("perceptron-sparse", "epochs", "the same on text-like sparse rows",
               [on("weak", words.sparse_text, exact=True), on("strong", words.sparse_text, signal=48.0, exact=True)],
               **FEWER_TEXTS, target=1e-10, rival="scikit-learn", goal=0.8, work=Work(SPARSE, reads=10))  # fmt: skip
    yield _row("perceptron-classes", "epochs", "the same by the joint update of ten classes, float64",
               [on("pixels", pictures.pixels, exact=True), on("clouds", pictures.clouds, exact=True)], **PIXELS,
               target=1e-10, rival="numba loop", goal=0.8, work=Work(DENSE, lambda facts: 20.0 * facts["rows"] *
               facts["columns"] * facts["classes"], reads=10))  # fmt: skip


def _grams() -> Iterator[list[Problem]]:
    """Yield the rows that compare all points of a set by a kernel."""
    alike = {"target": 1e-10, "rival": "numba loop", "goal": 0.1}
    yield _row("ssk", "sequences", "Gram matrix of the subsequence kernel, length 4, decay 0.5",
               [on("genes", structures.genes), on("words", words.documents)], **alike, rows=(1_000, 300, 60, 8),
               length=(57, 57, 57, 20), vocabulary=(5_000, 5_000, 1_000, 50), words=(25, 25, 12, 3))  # fmt: skip
    yield _row("tree-kernel", "trees", "Gram matrix of the tree kernel of Collins and Duffy, decay 0.5",
               [on("parses", structures.parses), on("shapes", structures.shapes)], **alike,
               rows=(5_000, 1_500, 300, 12), words=(2_000, 2_000, 2_000, 50))  # fmt: skip


def _lookups() -> Iterator[list[Problem]]:
    """Yield the rows that look up neighbors, the layout of the rows included, and the one that counts."""
    points = [on("normal", numbers.points), on("clusters", numbers.points, clusters=30)]
    yield _row("knn", "neighbors", "the 10 nearest rows of queries, 64 columns", points, target=1e-5,
               rival="scikit-learn-intelex", rows=(100_000, 40_000, 10_000, 300), queries=(10_000, 4_000, 1_000, 40),
               columns=(64, 64, 64, 8), goal=0.5)  # fmt: skip
    yield _row("knn-low", "neighbors", "the 10 nearest rows of queries, 3 columns", points, target=1e-5,
               rival="scipy tree", rows=(500_000, 200_000, 40_000, 300), queries=(200_000, 80_000, 20_000, 40),
               columns=3, goal=0.5)  # fmt: skip
    yield _row("naive-bayes", "counting", "multinomial naive Bayes of word counts",
               [on("two", words.counts, classes=2), on("twenty", words.counts, classes=20, tail=0.7)], target=1e-10,
               rival="scikit-learn", rows=(100_000, 40_000, 8_000, 200), columns=(50_000, 50_000, 8_000, 40),
               per_row=(80, 80, 60, 8), goal=0.3)  # fmt: skip


def _machines() -> Iterator[list[Problem]]:
    """Yield the rows of functions in the span of a Gaussian kernel at the rows."""
    sizes = {"rows": (10_000, 4_000, 1_000, 60), "columns": (20, 20, 20, 4)}
    yield _row("svc", "svc", "support vectors, two classes, C = 1, to a proven duality gap", TWO_CLASSES, **sizes,
               target=1e-4, rival="scikit-learn-intelex", goal=0.6)  # fmt: skip
    fewer = {"rows": (5_000, 3_000, 1_000, 60), "columns": (20, 20, 20, 4)}
    yield _row("kridge", "kridge", "kernel ridge regression, alpha = 1", DENSE_NUMBERS, **fewer,
               target=1e-8, rival="by hand", goal=0.5)  # fmt: skip
    yield _row("gp", "gp", "the posterior of a Gaussian process, hyperparameters given", DENSE_NUMBERS, **fewer,
               target=1e-8, rival="scikit-learn", goal=0.5)  # fmt: skip


def _commands() -> Iterator[list[Problem]]:
    """Yield the rows that are timed from the start of a process to its end, and that of tiny tables."""
    yield _row("tiny", "tiny", "the slowest of 500 fits of 10 to 40 rows, every loss with every penalty",
               [Sample("kind"), Sample("unkind")])  # fmt: skip
    small = [on("penguins", files.penguins), on("wine", files.wine)]
    yield _row("first-answer", "answer", "from the shell's prompt to the verdict on a small CSV file", small,
               target=1e-10, rival="scikit-learn", goal=1.0)  # fmt: skip
    yield _row("first-fit", "first-fit", "from a fresh interpreter to a fitted LogisticRegression",
               [on("cancer", measured.breast_cancer), on("wine", measured.wine)], target=1e-10,
               rival="scikit-learn", goal=1.0)  # fmt: skip
    yield _row("verify", "verify", "lineal verify of a numeric Parquet table, beside the fit from it",
               [on("classes", files.classes), on("regression", files.regression)], target=1e-10, rival="lineal fit",
               rows=(1_000_000, 200_000, 20_000, 300), columns=(20, 20, 20, 4), goal=10.0)  # fmt: skip
    yield _row("import", "import", "an interpreter that imports the package and ends", [Sample("package")],
               target=1e-10, rival="by hand")  # fmt: skip


PROBLEMS: Mapping[str, Problem] = {
    problem.name: problem
    for room in (_fits, _zeros_and_corners, _texts_and_tables, _questions, _lookups, _grams, _machines, _commands)
    for problems in room()
    for problem in problems
}
"""Every problem by name, ``row/data``, in the order of the table."""

ROWS: Mapping[str, list[Problem]] = {
    row: [problem for problem in PROBLEMS.values() if problem.row == row]
    for row in dict.fromkeys(problem.row for problem in PROBLEMS.values())
}
"""The problems of every row."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "small": ("small-logistic", "small-ridge"),
    "predict": ("predict", "predict-single", "predict-one"),
    "huber": ("huber", "huber-scale"),
    "separable": ("separable", "overlapping"),
    "neighbors": ("knn", "knn-low"),
    "perceptron": ("perceptron", "perceptron-sparse", "perceptron-classes"),
    "first": ("first-answer", "first-fit"),
}
"""Rows that are often wanted together; ``--only small`` means both."""


def find(name: str) -> Problem:
    """Return a problem by its name, or one of another size (``benchmarks.scaling``).

    >>> find("logit/mixed@rows=100,columns=5").arguments("full")
    {'rows': 100, 'columns': 5}
    """
    known, _, variant = name.partition("@")
    return PROBLEMS[known].resized(variant) if variant else PROBLEMS[known]


def chosen(names: str | None) -> list[Problem]:
    """Return the problems that ``--only a,b/data`` names: rows, groups of rows, or single problems (all without it)."""
    picked: dict[str, Problem] = {}
    for name in names.split(",") if names else ROWS:
        rows = [problem for row in GROUPS.get(name, (name,)) for problem in ROWS.get(row, ())]
        found = rows or ([PROBLEMS[name]] if name in PROBLEMS else [])
        if not found:
            raise SystemExit(f"no row called {name!r}; the rows are {', '.join([*ROWS, *GROUPS])}.")
        picked |= {problem.name: problem for problem in found}
    return list(picked.values())
