"""Pictures that the laws run over: one or more for each kind, drawn from small fits on data with hostile names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import lineal
from lineal.plots.kinds import NAMES
from lineal.plots.record import Figure
from tests.laws import picture_examples

HOSTILE = ("<script>alert(1)</script>", "\u202egnp.exe\x07", "$\\frac{1}{0}$ & \"q\" 'q'", "x" * 10_000)
"""Names of columns that must be text everywhere: markup, right-to-left, formulas, ten thousand characters."""


@cache
def table(rows: int = 60) -> dict[str, Any]:
    """Return a table with two columns of numbers, a category, a number, two classes and three classes."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=rows), random.normal(size=rows)
    level = np.array(["red", "<b>green</b>", "blue"])[random.integers(0, 3, rows)]
    number = 2.0 * a - b + (level == "blue") + 0.3 * random.normal(size=rows)
    two = np.where(a + 0.5 * b + 0.5 * random.normal(size=rows) > 0.0, "yes", "no & <i>never</i>")
    three = np.array(["low", "mid", "high"])[np.digitize(a + 0.3 * random.normal(size=rows), [-0.5, 0.5])]
    first, second, third, _ = HOSTILE
    return {
        first: a.tolist(), second: b.tolist(), third: level.tolist(), "number": number.tolist(), "two": two.tolist(),
        "three": three.tolist(),
    }  # fmt: skip


@cache
def model(target: str) -> Any:
    """Return a fit of one of the targets."""
    others = [name for name in ("number", "two", "three") if name != target]
    return lineal.fit(table(), target, drop=others, penalty="none" if target == "number" else 0.01)


Case = Callable[[], Figure]


@cache
def cases() -> dict[str, Case]:
    """Return what draws each example, by name, ``KIND`` or ``KIND of something``: those of all files of picture_examples."""
    found: dict[str, Case] = {}
    for module in pkgutil.iter_modules(picture_examples.__path__):
        found |= importlib.import_module(f"{picture_examples.__name__}.{module.name}").CASES
    return found


@cache
def figure(name: str) -> Figure:
    """Return an example, drawn once."""
    return cases()[name]()


def missing() -> set[str]:
    """Return the kinds without an example."""
    return set(NAMES) - {name.split(" ")[0] for name in cases()}
