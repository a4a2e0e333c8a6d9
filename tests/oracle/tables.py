"""Tables: formulas, categories, missing cells, weights and offsets by column, files larger than a block; encoded anew here."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import lineal
from lineal.api import dataset as held_rows
from lineal.sources.spilled import Spilled
from lineal.tables import columnar, delimited, jsonlines

from . import designs
from .designs import Draw, pick, power
from .doors import Case, claim_of
from .judge import Violation
from .outcome import Outcome, known, of_claims

DOORS = ("table", "file")
MODELS = ("linear", "logistic", "poisson", "huber:1.0", "quantile:0.3", "svm", "squared-hinge", "sparsemax")
FORMULAS = (
    None,
    None,
    "y ~ x0*g + x1",
    "y ~ x0:x1 + square(x0) + g",
    "y ~ x0 + g - 1",
    "y ~ x0:g + sqrt(abs(x1))",
    "y ~ g*h",
)
BATCH = 7
FUNCTIONS = {"square": lambda v: v * v, "sqrt": math.sqrt, "abs": abs}


@dataclass
class TableCase(Case):
    """A call with a table of columns, or with a file of it that is read in blocks of ``BATCH`` rows and kept on disk."""

    file: bool = False
    blocks: list[int] = field(default_factory=list)

    @property
    def code(self) -> str:
        """The call as one line; a file is written first, and read in short blocks."""
        given = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
        first = "from tests.oracle import tables; import lineal; "
        tail = "print(m.verdict.to_dict())"
        if self.file:
            return f"{first}m = tables.streamed({self.X!r}, {self.params!r})[0]; {tail}"
        return f"{first}m = lineal.fit({self.X!r}, {given}); {tail}"


@contextmanager
def small_blocks(seen: list[int]) -> Iterator[None]:
    """Read tables in blocks of a few rows, and keep none of them in memory; note how many blocks there were."""
    make = Spilled.__init__

    def counted(self: Any, blocks: Any, columns: Any) -> None:
        make(self, blocks, columns)
        seen.append(len(self._blocks))

    patches = [mock.patch.object(module, "BATCH_ROWS", BATCH) for module in (delimited, jsonlines, columnar)]
    patches += [mock.patch.object(held_rows, "MAX_MEMORY_BYTES", 0), mock.patch.object(Spilled, "__init__", counted)]
    with ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        yield


def streamed(table: dict[str, list[Any]], params: dict[str, Any]) -> tuple[Any, list[int]]:
    """Write a table, fit it from the file block by block, and return the model with the numbers of blocks."""
    seen: list[int] = []
    with tempfile.TemporaryDirectory() as place, small_blocks(seen):
        path = Path(place) / "table.csv"
        lines = [",".join(table), *(",".join(map(_cell, row)) for row in zip(*table.values(), strict=True))]
        path.write_text("\n".join(lines) + "\n")
        return lineal.fit(path, **params), seen


def _cell(value: Any) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> TableCase:
    """Return case number ``index`` of a seed."""
    draw = np.random.default_rng([seed, index, 6])
    x, tags = designs.matrix(draw, only, plain=plain)
    x = np.resize(x, (max(len(x), 12), 2))
    model = pick(draw, *MODELS)
    if model == "poisson":
        y, tag = designs.counts(draw, x, plain=plain)
    elif model in ("logistic", "svm", "squared-hinge", "sparsemax"):
        codes, tag = designs.classes(draw, x, int(pick(draw, 2, 3)) if model != "squared-hinge" else 2, plain=plain)
        y = np.array(["no", "yes", "perhaps"], dtype=object)[codes]
    else:
        y, tag = designs.numbers(draw, x, plain=plain)
    table = _table(draw, x, y)
    strength = f"{power(draw, -4, 1):.3g}"
    params: dict[str, Any] = {"model": model, "penalty": pick(draw, "none", f"ridge:{strength}", f"l1:{strength}")}
    formula = FORMULAS[int(draw.integers(len(FORMULAS)))]
    params |= {"target": "y"} if formula is None else {"formula": formula}
    if draw.random() < 0.4:
        found = designs.weights(draw, len(x), plain=plain)[0]
        table["w"] = [float(v) for v in (np.ones(len(x)) if found is None else found)]
        params["weight"] = "w"
    if (
        draw.random() < 0.25
        and (model not in ("logistic", "svm", "sparsemax") or len(set(y)) == 2)
        and model != "sparsemax"
    ):
        table["o"] = [float(v) for v in draw.uniform(-1, 1, size=len(x))]
        params["offset"] = "o"
    params["types"] = {"x0": "number", "x1": "number"}
    file = only == "file" or (only != "table" and draw.random() < 0.5)
    return TableCase("fit", params, table, "y", None, None, [*tags, tag, "file" if file else "table"], file=file)


def _table(draw: Draw, x: np.ndarray, y: np.ndarray) -> dict[str, list[Any]]:
    """Return columns of numbers and categories, some cells missing."""
    n = len(x)
    holes = draw.random((n, 4)) < pick(draw, 0.0, 0.1)
    numbers = {f"x{j}": [None if holes[i, j] else float(x[i, j]) for i in range(n)] for j in range(2)}
    g = [None if holes[i, 2] else str(v) for i, v in enumerate(draw.choice(["red", "green", "blue"], size=n))]
    h = [str(v) for v in draw.choice(["up", "down"], size=n)]
    target = [None if holes[i, 3] and i > 3 else (v if isinstance(v, str) else float(v)) for i, v in enumerate(y)]
    return {**numbers, "g": g, "h": h, "y": target}


def ask(case: TableCase) -> list[Outcome]:
    """Make the call, and return its outcomes."""
    if case.file:
        model, case.blocks = streamed(case.X, case.params)
    else:
        model = lineal.fit(case.X, **case.params)
    keep = [i for i, v in enumerate(case.X["y"]) if v is not None]
    x, bad = encoded(model, case.X, keep)
    weight = [case.X["w"][i] for i in keep] if "w" in case.X else None
    offset = np.array([case.X["o"][i] for i in keep]) if "o" in case.X else None
    y = np.array([case.X["y"][i] for i in keep], dtype=object if isinstance(case.X["y"][keep[0]], str) else float)
    if y.dtype == object:
        y = np.array([str(v) for v in y])
    part = Case("fit", case.params, x, y, weight, offset, case.tags)
    claim = claim_of(model, part, model.verdict, None)
    kind = "encoding"
    return [*of_claims(case, [claim]), known(kind, "exact", "", bad)]


# ---------------------------------------------------------------- columns by their names


def encoded(model: Any, table: dict[str, list[Any]], keep: list[int]) -> tuple[np.ndarray, list[Violation]]:
    """Return the design without its intercept, made from the names of its columns, and what is false about its fills."""
    fills: dict[str, float] = {}
    for term in model.encoder.terms if model.encoder else ():
        spelled = term.to_dict()
        for one in spelled.get("factors", [spelled]):
            if "fill" in one:
                fills[one["column"]] = float(one["fill"])
    bad = []
    for name, fill in fills.items():
        present = [table[name][i] for i in keep if table[name][i] is not None]
        mean = math.fsum(present) / len(present)
        if len(present) < len(keep) and len(set(present)) > 1 and abs(fill - mean) > 1e-12 * max(map(abs, present)):
            bad.append(Violation("fill", 1.0, f"{name} is filled with {fill!r}, its mean is {mean!r}"))
    columns = [name for name in model.columns if name != "(intercept)"]
    return np.array([[_value(name, table, i, fills) for name in columns] for i in keep], float).reshape(
        len(keep), -1
    ), bad


def _value(name: str, table: dict[str, list[Any]], i: int, fills: dict[str, float]) -> float:
    """Return the cell of a design column, read from its name."""
    if name.endswith(" is missing"):
        return float(table[name.removesuffix(" is missing")][i] is None)
    found = 1.0
    for part in name.split(":"):
        if "=" in part:
            column, _, level = part.partition("=")
            found *= float(table[column][i] == level)
        else:
            found *= _number(part, table, i, fills)
    return found


def _number(part: str, table: dict[str, list[Any]], i: int, fills: dict[str, float]) -> float:
    if part.endswith(")"):
        name, _, inner = part[:-1].partition("(")
        return float(FUNCTIONS[name](_number(inner, table, i, fills)))
    value = table[part][i]
    return fills[part] if value is None else float(value)
