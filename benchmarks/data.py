"""Data on disk, made once per size: so that every fresh process reads the same bytes quickly."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import alike
from benchmarks.epochs import weights
from benchmarks.makers import tables
from benchmarks.objective import Objective, largest, optimum, path
from benchmarks.problems import Problem

HERE = Path(__file__).parent
CACHE = HERE.parent / "build" / "bench-data"
SOLVED_BY = ("objective.py", "reference.py", "epochs.py", "alike.py", "kernel_machines.py")
FILES = ("data.csv", "data.parquet", "texts.txt")
MACHINES = ("svc", "kridge", "gp")
"""Tasks of `kernel_machines.py`, which measures results by themselves."""
TEXT_TASKS = ("words", "text", *alike.TASKS)
WARM_ROWS = 400
ROUNDED_MAX_ROWS = 5_000
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
    assert problem.sample.make is not None
    source = b"".join(file.read_bytes() for file in sorted((HERE / "makers").glob("*.py")))
    called = f"{problem.sample.make.__module__} {sorted(problem.arguments(size).items())}"
    return CACHE / f"{problem.sample.make.__name__}-{_digest(source + called.encode())}"


def answers(problem: Problem, size: str) -> Path:
    """Return the file of what is known about a problem; another one when the problem or its reference changes."""
    minimized = (problem.task, problem.loss, problem.strength, problem.target, problem.scale, problem.penalty)
    minimized += (problem.threshold, problem.points, problem.ones)
    text = b"".join((HERE / name).read_bytes() for name in SOLVED_BY) + repr(minimized).encode()
    return home(problem, size) / f"{problem.row}-{_digest(text)}.json"


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:8]


def make(problem: Problem, size: str) -> dict[str, Any]:
    """Write a problem's data and its reference optimum unless they are there; return the facts."""
    if problem.sample.make is None:
        return {}
    known = answers(problem, size)
    if not known.exists():
        known.write_text(json.dumps(_solved(problem, size, _arrays(problem, size))))
    return json.loads(known.read_text())


def _arrays(problem: Problem, size: str) -> dict[str, Any]:
    """Make the data and write it unless it is there; return what an objective needs of it."""
    where = home(problem, size)
    if not (where / "made").exists():
        assert problem.sample.make is not None
        where.mkdir(parents=True, exist_ok=True)
        arrays = problem.sample.make(**problem.arguments(size))
        _write(where, arrays, problem)
        (where / "made").touch()
    return _read(where)


def _write(where: Path, arrays: dict[str, Any], problem: Problem) -> None:
    """Write arrays, and the files that some tasks begin with."""
    if problem.task == "csv":
        tables.write_csv(where / "data.csv", arrays, len(arrays["y"]))
        tables.write_csv(where / "head.csv", arrays, WARM_ROWS * 5)
    if "csv" in arrays:
        (where / "data.csv").write_text(arrays.pop("csv"), encoding="utf-8")
    if "parquet" in arrays:
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table(arrays.pop("parquet")), where / "data.parquet")
    if "texts" in arrays:
        (where / "texts.txt").write_text("\n".join(arrays.pop("texts")), encoding="utf-8")
    for name, array in arrays.items():
        if hasattr(array, "indptr"):
            for part in ("indptr", "indices", "data"):
                np.save(where / f"{name}.{array.format}.{part}.npy", getattr(array, part))
            np.save(where / f"{name}.shape.npy", array.shape)
        else:
            np.save(where / f"{name}.npy", array)


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
    X, rows, where = arrays.get("X"), len(arrays["y"]), home(problem, size)
    written = [file.stat().st_size for file in where.iterdir() if file.name in FILES]
    facts: dict[str, Any] = {"rows": rows, "strength": 0.0, "bytes": sum(written)}
    if X is not None:
        facts |= {"columns": X.shape[1], "nonzeros": int(X.nnz) if hasattr(X, "nnz") else None}
    answer = _answer(problem, arrays)
    if problem.task in alike.TASKS:
        answer = alike.reference(problem.task, (where / "texts.txt").read_text(encoding="utf-8").split("\n"))
    if answer:
        np.save(where / "weights.npy", answer.pop("weights", np.empty(0)))
        return facts | answer
    if not problem.loss:
        return facts
    top = largest(objective_of(problem, arrays, facts)) if problem.penalty == "l1" else 0.0
    facts["strength"] = problem.strength_of(rows, top)
    objective = objective_of(problem, arrays, facts)
    if problem.points:
        facts["strengths"] = [float(s) for s in np.geomspace(top, facts["strength"], problem.points)]
        best, baseline = path(objective, facts["strengths"]), objective.baseline()
        facts |= {"optimum": best, "baseline": baseline, "scale": baseline - best[-1]}
    elif problem.task != "predict":
        best = _certified(problem, objective) if problem.loss == "hinge" and rows > ROUNDED_MAX_ROWS else None
        best, baseline = best or optimum(objective, problem.target, problem.scale), objective.baseline()
        scale = best if problem.scale == "optimum" else baseline - best
        facts |= {"optimum": best, "baseline": baseline, "scale": scale}
    return facts


def _certified(problem: Problem, objective: Objective) -> float:
    """Return F at a fit of ours that is proved to a hundredth of the target: the rounded corners take hours here."""
    import lineal

    C = 1.0 / (objective.y.size * objective.strength)
    accuracy = 1e-2 * problem.target
    model = lineal.LinearSVC(C=C, loss="hinge", tol=accuracy, max_iter=100_000, fit_intercept=problem.ones)
    model.fit(objective.X, objective.y)
    if str(model.verdict_.kind) != "optimal":
        raise RuntimeError(f"the reference for {problem.name} is {model.verdict_.kind}, not optimal.")
    return objective.value(model.coef_.T, np.atleast_1d(model.intercept_))


def _answer(problem: Problem, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return what is right where nothing is minimised: an answer, a number of words, weights of a plain loop, distances."""
    if problem.task == "separable":
        return {"separable": bool(arrays["separable"])}
    if problem.task in MACHINES:
        return {"labels": len(np.unique(arrays["y"]))}
    if problem.task == "words":
        return {"terms": int(arrays["X"].sum())}
    if problem.task == "epochs":
        return {"classes": int(arrays["y"].max()) + 1, "weights": weights(arrays["X"], arrays["y"])}
    if problem.task == "counting":
        from benchmarks.lookups import word_logs

        return {"weights": word_logs(arrays["X"], arrays["y"])}
    if problem.task == "neighbors":
        from benchmarks.lookups import distances

        return {"weights": distances(arrays["X"], arrays["y"])}
    return {}


def load(problem: Problem, size: str) -> Data:
    """Read a problem's data into memory; the rows of ``predict-single`` as float32."""
    if problem.sample.make is None:
        return Data(None, np.empty(0), 0.0, {})
    where = home(problem, size)
    facts = json.loads(answers(problem, size).read_text())
    if problem.task == "first-fit":
        return Data(None, np.empty(0), 0.0, facts, where)
    file = next((where / name for name in ("data.csv", "data.parquet") if (where / name).exists()), None)
    if file is not None:
        return Data(None, np.load(where / "y.npy"), facts["strength"], facts, file)
    arrays = _read(where)
    if problem.row == "predict-single":
        arrays["X"] = arrays["X"].astype(np.float32)
    texts = (where / "texts.txt").read_text(encoding="utf-8").split("\n") if problem.task in TEXT_TASKS else None
    return Data(arrays["X"], arrays["y"], facts["strength"], facts, texts=texts)


def head(data: Data) -> Data:
    """Return the first rows, to warm a competitor up; a small file is its own head."""
    if data.path is not None:
        file = data.path.with_name("head.csv")
        return replace(data, y=data.y[: WARM_ROWS * 5], path=file) if file.exists() else data
    if data.X is None:
        return data
    texts = None if data.texts is None else data.texts[:WARM_ROWS]
    return replace(data, X=data.X[:WARM_ROWS], y=data.y[:WARM_ROWS], texts=texts)


def objective_of(problem: Problem, arrays: dict[str, Any], facts: dict[str, Any]) -> Objective:
    """Return the common objective on given arrays."""
    X, factors = arrays.get("X"), None
    if problem.task == "csv":
        X = tables.design(arrays["numbers"], arrays["codes"])
        mean = np.asarray(X.mean(axis=0)).ravel()
        factors = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    return Objective(
        problem.loss,
        X,
        arrays["y"],
        facts["strength"],
        penalty_factors=factors,
        penalty=problem.penalty,
        threshold=problem.threshold,
        ones=problem.ones,
    )


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
        coef = np.array([coef[name] for name in tables.design_names(arrays["codes"])])[:, None]
    return objective_of(problem, arrays, data.facts).value(coef, np.atleast_1d(intercept))


def strayed(problem: Problem, size: str, coef: np.ndarray) -> float:
    """Return how far weights are from those of the plain loop, relative to the largest of them."""
    expected = np.load(home(problem, size) / "weights.npy")
    return float(np.max(np.abs(coef - expected)) / max(float(np.max(np.abs(expected))), 1e-300))
