"""Trace files: the steps of a solver as a table, which says whose steps they are (Parquet) and where they ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.features.cells.finite import numbers_of
from lineal.features.encoder import column
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.model import Model
from lineal.model.trace import Trace
from lineal.plots.subject import model_of, sha256
from lineal.tables.table import as_table

LEADING: Final = ("step", "epoch")
"""The first column of a trace: steps of a solver, or of a perceptron."""
ABOUT: Final = "lineal"
"""The key of a Parquet file's metadata under which a trace says whose it is."""


@dataclass(frozen=True)
class Steps:
    """The steps of a fit: passes and objective after each, coefficients ``(steps, columns, outputs)`` where they are kept.

    ``gap`` bounds how far the last objective is above the optimum, infinite where nothing is known; ``about`` says whose
    steps they are.
    """

    name: str
    step: Array
    passes: Array
    objective: Array
    iterates: Array | None
    gap: float
    about: Mapping[str, Any]


def about(model: Model) -> dict[str, Any]:
    """Return what a trace file says of itself: the SHA-256 of the model and how its fit ended."""
    verdict = model.verdict
    return {
        "model": sha256(model), "columns": list(model.columns), "outputs": model.outputs, "loss": model.loss.to_dict(),
        "penalty": model.penalty.name, "solver": model.solver, "kind": verdict.kind, "sentence": verdict.sentence,
        "gap": verdict.gap if verdict.gap is not None and np.isfinite(verdict.gap) else None,
    }  # fmt: skip


def is_trace(path: Path) -> bool:
    """Whether a file is a trace: a table whose first column is the step, or the epoch."""
    return path.suffix.lower() in (".csv", ".parquet") and as_table(path).names[:1] in {(name,) for name in LEADING}


def steps_of(given: Any) -> Steps:
    """Return the steps of a trace file, of a model or an estimator that recorded them, or of a Trace."""
    if isinstance(given, Trace):
        return _recorded(given, "trace", np.inf, {})
    if isinstance(given, str | Path):
        return _from_file(Path(given))
    trace = getattr(given, "trace_", None)
    model = model_of(given)
    if (trace := model.trace if trace is None else trace) is None or not len(trace):
        raise InputError(
            "this model recorded no steps: models of files never do; write them with lineal fit --trace FILE."
        )
    gap = np.inf if model.verdict.gap is None else model.verdict.gap
    return _recorded(trace, model.solver, gap, about(model))


def _recorded(trace: Trace, name: str, gap: float, said: Mapping[str, Any]) -> Steps:
    step, passes, objective = (np.array(trace.column(key), np.float64) for key in ("step", "passes", "objective"))
    kept = np.array(trace.iterates) if trace.iterates else None
    return Steps(name, step, passes, objective, kept, gap, said)


def _from_file(path: Path) -> Steps:
    table = as_table(path)
    names = table.names
    if names[:1] != ("step",) or "objective" not in names:
        raise InputError(
            f"{path} is no trace of a fit: write one with lineal fit DATA --target COL --trace {path.name}."
        )
    weights = [name for name in names if name.startswith("weight:")]
    wanted = ["step", "passes", "objective", *weights]
    parts: dict[str, list[Array]] = {name: [] for name in wanted}
    for batch in table.select(numbers=set(wanted)).batches():
        for name in wanted:
            parts[name].append(np.asarray(numbers_of(name, column(batch, name)), float))
    arrays = {name: np.concatenate(own) for name, own in parts.items()}
    said = _said(path)
    outputs = len(said.get("outputs", [""])) or 1
    iterates = None
    if weights:
        stacked = np.column_stack([arrays[name] for name in weights])
        kept = stacked[np.isfinite(stacked).all(axis=1)]
        iterates = kept.reshape(len(kept), outputs, len(weights) // outputs).transpose(0, 2, 1)
    gap = said.get("gap")
    return Steps(path.stem, arrays["step"], arrays["passes"], arrays["objective"], iterates,
                 np.inf if gap is None else float(gap), said)  # fmt: skip


def _said(path: Path) -> dict[str, Any]:
    """Return what a Parquet file says of itself; nothing of another file."""
    if path.suffix.lower() != ".parquet":
        return {}
    import pyarrow.parquet as pq

    text = (pq.read_schema(path).metadata or {}).get(ABOUT.encode())
    try:
        said = json.loads(text) if text is not None else {}
    except ValueError:
        said = {}
    return said if isinstance(said, dict) else {}
