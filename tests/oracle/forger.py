"""A forger: honest model files, altered so that every number agrees, and signed again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lineal
from lineal.errors import LinealError
from lineal.verify import verify

from .files import File, restate, sign, unpack, untrue

ROWS, COLUMNS = 40, 3

HONEST: dict[str, tuple[str, str]] = {
    f"{model} {penalty.partition(':')[0]}": (model, penalty)
    for model in (
        "linear",
        "huber:1.0",
        "quantile:0.4",
        "poisson",
        "logistic",
        "softmax",
        "svm",
        "svm3",
        "squared-hinge",
        "sparsemax",
    )
    for penalty in ("none", "ridge:0.05", "l1:0.02", "elastic:0.05,0.4", "group:0.03")
    if (model, penalty[:5]) != ("svm3", "group")  # which no solver minimises
}
"""Name of a model file -> model and penalty of the fit."""


def honest(name: str, folder: Path, seed: int = 0) -> File:
    """Fit a model to a table of numbers, save it, and return what its file holds."""
    model, penalty = HONEST[name]
    draw = np.random.default_rng([seed, len(name)])
    x = draw.normal(size=(ROWS, COLUMNS)).round(3)
    score = x @ draw.normal(size=(COLUMNS, 3)) * 0.7
    y: np.ndarray
    if model == "poisson":
        y = draw.poisson(np.exp(0.4 * score[:, 0])).astype(float)
    elif model in ("softmax", "svm3", "sparsemax"):
        y = np.array(["a", "b", "c"])[np.argmax(score + draw.gumbel(size=score.shape), axis=1)]
    elif model in ("logistic", "svm", "squared-hinge"):
        y = np.where(score[:, 0] + draw.logistic(size=ROWS) > 0, "yes", "no")
    else:
        y = (score[:, 0] + draw.standard_t(3, size=ROWS)).round(4)
    table = folder / f"{seed} {name}.csv".replace(":", "_")
    names = [f"x{j}" for j in range(COLUMNS)]
    lines = [
        ",".join([*names, "y"]),
        *(",".join([*(repr(float(v)) for v in row), str(t)]) for row, t in zip(x, y, strict=True)),
    ]
    table.write_text("\n".join(lines) + "\n")
    types = dict.fromkeys(names, "number")
    fitted = lineal.fit(
        table, "y", model={"softmax": "logistic", "svm3": "svm"}.get(model, model), penalty=penalty, types=types
    )
    path = folder / "honest.lineal"
    fitted.save(path)
    return File(*unpack(path), x, y, table)


# ---------------------------------------------------------------- consistent lies


def _zero(file: File) -> None:
    file.arrays["coef"][1:] = 0.0


def _nudge(size: float, place: int = 1) -> Callable[[File], None]:
    def nudge(file: File) -> None:
        coef = file.arrays["coef"]
        coef[place] += size * np.maximum(np.abs(coef[place]), 0.1) * np.where(np.arange(coef.shape[1]) == 0, 1.0, -0.5)

    return nudge


def _shrink(file: File) -> None:
    file.arrays["coef"][1:] *= 0.9


def _same(_file: File) -> None:
    """Leave the coefficients alone."""


COEFFICIENTS: dict[str, Callable[[File], None]] = {
    "all zero": _zero,
    "shrunk by a tenth": _shrink,
    **{f"slope off by {size:g}": _nudge(size) for size in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9)},
    "intercept off by 0.0001": _nudge(1e-4, 0),
    "the same": _same,
}
FIGURES: dict[str, dict[str, float]] = {
    "gap 0": {"gap": 0.0},
    "gap as it was": {},
    "gap 0, tol 1e6": {"gap": 0.0, "tol": 1e6},
    "tol 1e6": {"tol": 1e6},
    "gap 1e-9": {"gap": 1e-9},
    "null 1e9": {"null": 1e9},
    "gap 0, null 1e9": {"gap": 0.0, "null": 1e9},
    "gap 1, null 1e9": {"gap": 1.0, "null": 1e9},
}


def lies(file: File, chosen: Collection[str] = FIGURES.keys()) -> Iterator[tuple[str, File, str | None]]:
    """Yield every consistent alteration, with what is untrue in it; None if it is still true. ``chosen`` are some figures."""
    for first, alter in COEFFICIENTS.items():
        for second, figures in FIGURES.items():
            if second not in chosen:
                continue
            forged = file.copy()
            alter(forged)
            restate(forged, **figures)
            false = untrue(forged)
            if false is None and "null" in figures:
                false = "null objective 1e9"
            yield f"{first}, {second}", forged, false


def accepted(file: File, folder: Path) -> str | None:
    """Sign a file and ask the checker; return None where it confirms, else why not."""
    path = folder / "forged.lineal"
    sign(path, file.meta, file.arrays)
    try:
        verify(path, file.table)
    except LinealError as refusal:
        return str(refusal)
    return None


def replay(name: str, seed: int, words: str, folder: Path) -> str:
    """Forge one lie anew, and say what the checker says to it."""
    for found, forged, false in lies(honest(name, folder, seed)):
        if found == words:
            return f"{false}; the checker: {accepted(forged, folder) or 'confirmed'}"
    raise ValueError(f"no such lie: {words}")


# ---------------------------------------------------------------- one field at a time


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None or not value:
        yield path, value
        return
    for key, inner in items:
        yield from _leaves(inner, (*path, key))


def _other(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.001 + (1e-3 if abs(value) < 1e-3 else 0.0)
    if isinstance(value, str):
        return value + "."
    return 0 if value is None else [0.5] if isinstance(value, list) else {"more": 0.5}


def single(file: File) -> Iterator[tuple[str, File]]:
    """Yield the file with each leaf of its JSON, and one number of each array, altered."""
    for path, value in _leaves(file.meta):
        forged = file.copy()
        inner = forged.meta
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = _other(value)
        yield ".".join(map(str, path)), forged
    for name, array in file.arrays.items():
        forged = file.copy()
        flat = forged.arrays[name].reshape(-1)
        place = int(np.argmax(np.abs(np.where(np.isfinite(flat), flat, 0.0))))
        flat[place] = flat[place] * 1.001 + (1e-3 if abs(array.reshape(-1)[place]) < 1e-3 else 0.0)
        yield f"array {name}", forged
