"""Data on disk, made once per size: so that every fresh process reads the same bytes quickly."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import generators
from benchmarks.epochs import weights
from benchmarks.objective import Objective, largest, optimum, path
from benchmarks.problems import Problem

HERE = Path(__file__).parent
CACHE = HERE.parent / "build" / "bench-data"
SOLVED_BY = ("objective.py", "reference.py", "epochs.py")
WARM_ROWS = 400
ROUNDED = 5_000
"""Up to this many rows, the optimum of hinge loss is found by rounding its corners, apart from all competitors."""


@dataclass(frozen=True)
class Data:
    """What a competitor is given: arrays, or the path of a file; and what is known about the problem."""

    X: Any
    y: np.ndarray
    strength: float
    facts: dict[str, Any]
    path: Path | None = None
    texts: list[str] | None = None


def home(problem: Problem, size: str) -> Path:
    """Return the directory of a problem's data, shared by all problems on the same data."""
    assert problem.make is not None
    sizes = "-".join(str(value) for value in problem.sizes(size).values()) or "only"
    return CACHE / f"{problem.make.__name__}-{sizes}-{_digest((HERE / 'generators.py').read_bytes())}"


def answers(problem: Problem, size: str) -> Path:
    """Return the file of what is known about a problem; another one when the problem or its reference changes."""
    plain = replace(problem, says="", make=None, full=None, quick=None, goal=None)
    text = b"".join((HERE / name).read_bytes() for name in SOLVED_BY) + repr(plain).encode()
    return home(problem, size) / f"{problem.name}-{_digest(text)}.json"


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:8]


def make(problem: Problem, size: str) -> dict[str, Any]:
    """Write a problem's data and its reference optimum unless they are there; return the facts."""
    known = answers(problem, size)
    if not known.exists():
        facts = _solved(problem, size, _arrays(problem, size))
        known.write_text(json.dumps(facts))
    return json.loads(known.read_text())


def _arrays(problem: Problem, size: str) -> dict[str, Any]:
    """Make the data and write it unless it is there; return what an objective needs of it."""
    where = home(problem, size)
    if (where / "made").exists():
        return _read(where)
    where.mkdir(parents=True, exist_ok=True)
    assert problem.make is not None
    arrays = problem.make(**problem.sizes(size))
    if problem.task == "csv":
        generators.write_csv(where / "data.csv", arrays, len(arrays["y"]))
        generators.write_csv(where / "head.csv", arrays, WARM_ROWS * 5)
    if "texts" in arrays:
        (where / "texts.txt").write_text("\n".join(arrays.pop("texts")))
    for name, array in arrays.items():
        if hasattr(array, "indptr"):
            for part in ("indptr", "indices", "data"):
                np.save(where / f"{name}.{array.format}.{part}.npy", getattr(array, part))
            np.save(where / f"{name}.shape.npy", array.shape)
        else:
            np.save(where / f"{name}.npy", array)
    (where / "made").touch()
    return arrays


def _read(where: Path) -> dict[str, Any]:
    """Read arrays back."""
    from scipy import sparse

    found: dict[str, Any] = {}
    for kind, build in (("csr", sparse.csr_matrix), ("csc", sparse.csc_matrix)):
        if (where / f"X.{kind}.data.npy").exists():
            parts = [np.load(where / f"X.{kind}.{part}.npy") for part in ("data", "indices", "indptr")]
            found["X"] = build(tuple(parts), shape=tuple(np.load(where / "X.shape.npy")))
    for file in where.glob("*.npy"):
        if file.stem.isidentifier() and file.stem != "weights":
            found[file.stem] = np.load(file)
    return found


def _solved(problem: Problem, size: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the facts of a problem: its size, its strength and its optimum, or the right answer."""
    X, rows = arrays.get("X"), len(arrays["y"])
    facts: dict[str, Any] = {"rows": rows, "strength": 0.0}
    if X is not None:
        facts |= {"columns": X.shape[1], "nonzeros": int(X.nnz) if hasattr(X, "nnz") else None}
    answer = _answer(problem, arrays)
    if answer:
        np.save(home(problem, size) / "weights.npy", answer.pop("weights", np.empty(0)))
        return facts | answer
    top = largest(objective_of(problem, arrays, facts)) if problem.penalty == "l1" else 0.0
    facts["strength"] = problem.strength_of(rows, top)
    objective = objective_of(problem, arrays, facts)
    if problem.points:
        facts["strengths"] = [float(s) for s in np.geomspace(top, facts["strength"], problem.points)]
        best, null = path(objective, facts["strengths"]), objective.null()
        facts |= {"optimum": best, "null": null, "scale": null - best[-1]}
    elif problem.task in ("fit", "csv", "text"):
        best = _certified(problem, objective) if problem.loss == "hinge" and rows > ROUNDED else None
        best, null = best or optimum(objective, problem.target, problem.scale), objective.null()
        facts |= {"optimum": best, "null": null, "scale": best if problem.scale == "optimum" else null - best}
    return facts


def _certified(problem: Problem, objective: Objective) -> float:
    """Return F at a fit of ours that is proved to a hundredth of the target: the rounded corners take hours here."""
    import lineal

    C = 1.0 / (objective.y.size * objective.strength)
    model = lineal.LinearSVC(C=C, loss="hinge", tol=1e-2 * problem.target, max_iter=100_000)
    model.fit(objective.X, objective.y)
    if str(model.verdict_.kind) != "optimal":
        raise RuntimeError(f"the reference for {problem.name} is {model.verdict_.kind}, not optimal.")
    return objective.value(model.coef_.T, model.intercept_)


def _answer(problem: Problem, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return what is right where nothing is minimised: an answer, a number of words, or the weights of a plain loop."""
    if problem.task == "separable":
        return {"separable": bool(arrays["separable"])}
    if problem.task == "words":
        return {"terms": int(arrays["X"].sum())}
    if problem.task == "epochs":
        return {"classes": int(arrays["y"].max()) + 1, "weights": weights(arrays["X"], arrays["y"])}
    return {}


def load(problem: Problem, size: str) -> Data:
    """Read a problem's data into memory; the rows of ``predict-single`` as float32."""
    where = home(problem, size)
    facts = json.loads(answers(problem, size).read_text())
    if problem.task == "csv":
        return Data(None, np.load(where / "y.npy"), facts["strength"], facts, where / "data.csv")
    arrays = _read(where)
    if problem.row == "predict-single":
        arrays["X"] = arrays["X"].astype(np.float32)
    texts = (where / "texts.txt").read_text().split("\n") if problem.task in ("words", "text") else None
    return Data(arrays["X"], arrays["y"], facts["strength"], facts, texts=texts)


def head(data: Data) -> Data:
    """Return the first rows, to warm a competitor up."""
    if data.path is not None:
        return Data(None, data.y[: WARM_ROWS * 5], data.strength, data.facts, data.path.with_name("head.csv"))
    texts = None if data.texts is None else data.texts[:WARM_ROWS]
    return Data(data.X[:WARM_ROWS], data.y[:WARM_ROWS], data.strength, data.facts, texts=texts)


def objective_of(problem: Problem, arrays: dict[str, Any], facts: dict[str, Any]) -> Objective:
    """Return the common objective on given arrays."""
    if problem.task != "csv":
        return Objective(
            problem.loss,
            arrays["X"],
            arrays["y"],
            facts["strength"],
            penalty=problem.penalty,
            threshold=problem.threshold,
            ones=problem.ones,
        )
    from scipy import sparse

    X = _design(arrays["numbers"], arrays["codes"])
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    assert sparse.issparse(X)
    return Objective(problem.loss, X, arrays["y"], facts["strength"], charges=square - mean**2)


def suboptimality(problem: Problem, size: str, data: Data, coef: Any, intercept: Any) -> float:
    """Return (F(b) - F*) / scale on the common objective; the worst point of a path, one column of ``coef`` each."""
    best, scale = data.facts["optimum"], data.facts["scale"]
    if not problem.points:
        return (evaluate(problem, size, data, coef, intercept) - best) / scale
    objective = objective_of(problem, {"X": data.X, "y": data.y}, data.facts)
    values = [
        replace(objective, strength=strength).value(coef[:, k], np.zeros(1))
        for k, strength in enumerate(data.facts["strengths"])
    ]
    worst = max(range(problem.points), key=lambda k: values[k] - best[k])
    return (values[worst] - best[worst]) / scale


def evaluate(problem: Problem, size: str, data: Data, coef: Any, intercept: Any) -> float:
    """Return F at a competitor's coefficients (for a table: a dictionary from column name to coefficient)."""
    arrays: dict[str, Any] = {"X": data.X, "y": data.y}
    if problem.task == "csv":
        where = home(problem, size)
        arrays |= {"numbers": np.load(where / "numbers.npy"), "codes": np.load(where / "codes.npy")}
        coef = np.array([coef[name] for name in generators.design_names(arrays["codes"])])[:, None]
    return objective_of(problem, arrays, data.facts).value(coef, np.atleast_1d(intercept))


def _design(numbers: np.ndarray, codes: np.ndarray) -> Any:
    """Return the common design of the table: numbers and dummies without the reference level, CSR."""
    from scipy import sparse

    n = numbers.shape[0]
    parts = [sparse.csr_matrix(numbers)]
    for j in range(codes.shape[1]):
        kept = np.flatnonzero(codes[:, j] > 0)
        ones = np.ones(kept.size)
        parts.append(sparse.csr_matrix((ones, (kept, codes[kept, j] - 1)), shape=(n, int(codes[:, j].max()))))
    return sparse.hstack(parts, format="csr")


def strayed(problem: Problem, size: str, coef: np.ndarray) -> float:
    """Return how far weights are from those of the plain loop, relative to the largest of them."""
    expected = np.load(home(problem, size) / "weights.npy")
    return float(np.max(np.abs(coef - expected)) / max(float(np.max(np.abs(expected))), 1e-300))
