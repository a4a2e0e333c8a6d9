"""A forger: honest model files, altered so that every number agrees, and signed again."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import lineal
from lineal.errors import LinealError
from lineal.verify import verify

from . import kinds
from .files import File, restate, seal, sign, unpack, untrue
from .splits import fingerprint, training, variances

ROWS, COLUMNS = 40, 3


@dataclass(frozen=True)
class Recipe:
    """How an honest file is fitted: model, penalty, and what else is asked for."""

    model: str
    penalty: str
    more: dict[str, Any] = field(default_factory=dict)


HONEST: dict[str, Recipe] = {
    f"{model} {penalty.partition(':')[0]}": Recipe(model, penalty)
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
"""Name of a model file -> how it is fitted."""
HONEST |= {
    f"{model} with {name}": Recipe(model, penalty, more)
    for model, penalty in (
        ("linear", "ridge:0.05"),
        ("logistic", "l1:0.02"),
        ("quantile:0.4", "none"),
        ("poisson", "none"),
    )
    for name, more in (
        ("weights", {"weight": "w"}),
        ("an offset", {"offset": "o"}),
        ("weights, an offset and bounds", {"weight": "w", "offset": "o", "bounds": {"x0": (0.0, 0.2)}}),
        ("rows held out", {"test_size": 0.3, "seed": 7}),
        ("groups held out", {"test_size": 0.3, "split": "group:g"}),
        ("the last held out", {"test_size": 0.25, "split": "time:g"}),
    )
}
HONEST |= {
    "logistic with counts": Recipe("counts", "none"),
    "logistic with counts and a ridge": Recipe("counts", "ridge:0.05"),
    "logistic with strata held out": Recipe("logistic", "ridge:0.05", {"test_size": 0.3, "split": "stratified"}),
}


def _target(model: str, draw: np.random.Generator, score: np.ndarray) -> np.ndarray:
    if model == "poisson":
        return draw.poisson(np.exp(0.4 * score[:, 0])).astype(float)
    if model in ("softmax", "svm3", "sparsemax", "classes"):
        return np.array(["a", "b", "c"])[np.argmax(score + draw.gumbel(size=score.shape), axis=1)]
    if model in ("logistic", "svm", "squared-hinge", "counts"):
        return np.where(score[:, 0] + draw.logistic(size=ROWS) > 0, "yes", "no")
    return (score[:, 0] + draw.standard_t(3, size=ROWS)).round(4)


def honest(name: str, folder: Path, seed: int = 0) -> File:
    """Fit a model to a table of numbers, save it, and return what its file holds, with the rows it was fitted on."""
    if name in kinds.LIES:
        return kinds.honest(name, folder, seed)
    recipe = HONEST[name]
    draw = np.random.default_rng([seed, len(name)])
    x = draw.normal(size=(ROWS, COLUMNS)).round(3)
    score = x @ draw.normal(size=(COLUMNS, 3)) * 0.7
    y = _target(recipe.model, draw, score)
    beside = {
        "w": draw.integers(0, 4, size=ROWS).astype(float), "o": draw.normal(size=ROWS).round(2),
        "g": draw.integers(0, 9, size=ROWS), "won": draw.integers(0, 6, size=ROWS), "lost": draw.integers(0, 6, size=ROWS),
    }  # fmt: skip
    names = [f"x{j}" for j in range(COLUMNS)]
    columns = {
        **{n: x[:, j].tolist() for j, n in enumerate(names)},
        **{n: v.tolist() for n, v in beside.items()},
        "y": y.tolist(),
    }
    table = folder / f"{seed} {name}.csv".replace(":", "_")
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    table.write_text("\n".join(lines) + "\n")
    model = {"softmax": "logistic", "svm3": "svm", "counts": "logistic"}.get(recipe.model, recipe.model)
    target = "won,lost" if recipe.model == "counts" else "y"
    fitted = lineal.fit(
        table, target, model=model, penalty=recipe.penalty, types=dict.fromkeys(names, "number"),
        formula="~ x0 + x1 + x2", **recipe.more,
    )  # fmt: skip
    path = folder / "honest.lineal"
    fitted.save(path)
    meta, arrays = unpack(path)
    weight = beside["w"] if "weight" in recipe.more else None
    offset = beside["o"] if "offset" in recipe.more else None
    if recipe.model == "counts":
        x, y = np.repeat(x, 2, axis=0), np.tile(np.array(["won", "lost"]), ROWS)
        y = np.array([meta["target"]["classes"][1 - k % 2] for k in range(2 * ROWS)])
        weight = np.column_stack([beside["won"], beside["lost"]]).reshape(-1).astype(float)
    keep = training(meta["training"]["split"], len(x), y.tolist(), beside["g"].tolist())
    parts = (None if v is None else v[keep] for v in (weight, offset))
    return File(meta, arrays, x[keep], y[keep], table, *parts, everything=(x, y))


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
    "null 1e9": {"baseline": 1e9},
    "gap 0, null 1e9": {"gap": 0.0, "baseline": 1e9},
    "gap 1, null 1e9": {"gap": 1.0, "baseline": 1e9},
}


def all_lies(name: str, file: File) -> Iterator[tuple[str, File, str | None]]:
    """Yield every lie about a file, of whatever kind it is."""
    if name in kinds.LIES:
        yield from ((words, forged, words) for words, forged in kinds.LIES[name](file))
    else:
        yield from lies(file)


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
            if false is None and "baseline" in figures:
                false = "null objective 1e9"
            yield f"{first}, {second}", forged, false
    if (forged := other_rows(file)) is not None:
        yield "other rows", forged, untrue(forged)


def other_rows(file: File) -> File | None:
    """Return the file as if other rows had been held out: its seed, rows, penalty factors, fingerprint and figures agree."""
    split = file.meta["training"]["split"]
    if split is None or split.get("by", "row") != "row" or file.weight is not None or file.offset is not None:
        return None
    forged = file.copy()
    x, y = forged.everything
    forged.meta["training"]["split"]["seed"] += 1
    keep = training(forged.meta["training"]["split"], len(x), y.tolist(), None)
    forged.x, forged.y = x[keep], y[keep]
    cells = {f"x{j}": forged.x[:, j].tolist() for j in range(COLUMNS)} | {"y": forged.y.tolist()}
    forged.meta["training"] |= {"rows": len(keep), "weight_sum": float(len(keep)), "fingerprint": fingerprint(cells)}
    for j, term in enumerate(forged.meta["encoder"]["terms"]):
        term["fill"] = math.fsum(forged.x[:, j].tolist()) / len(keep)
    seal(forged.meta)
    if "theta" in forged.arrays:
        forged.arrays["theta"] = np.resize(forged.arrays["theta"], (len(keep), forged.arrays["theta"].shape[1]))
    if "charges" in forged.arrays:
        spread = variances(forged.x)
        forged.arrays["charges"] = spread if forged.meta["report"]["charges"] == "variance" else np.sqrt(spread)
    restate(forged, baseline=float(forged.truth().baseline.value))
    return forged


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
    file = honest(name, folder, seed)
    if words == "honest":
        return f"the checker: {accepted(file, folder) or 'confirmed'}"
    for found, forged, false in all_lies(name, file):
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
