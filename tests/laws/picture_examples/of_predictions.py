"""The pictures of predictions: contributions, coefficients, effect, residuals, influence, and of what is decided."""

from __future__ import annotations

from functools import cache

import lineal
from tests.laws import picture_cases as given


def only(target):
    """Return the table without the other targets."""
    return {name: cells for name, cells in given.table().items() if name not in {"number", "two", "three"} - {target}}


@cache
def of_text():
    """Return a fit of a text with hostile words."""
    lines = ["<b>cheap</b> pills now", "see you now", "\u202echeap watches", "dinner at eight"] * 8
    return lineal.fit(
        {given.HOSTILE[0]: lines, "spam": ["yes", "no"] * 16}, "spam", penalty=0.1, text=[given.HOSTILE[0]]
    )


@cache
def compared():
    """Return a comparison of two models."""
    return lineal.compare(only("number"), "number", models=["linear", "ridge ridge:1"], folds=4)


@cache
def chosen():
    """Return a fit whose strength was chosen."""
    return lineal.fit(given.table(), "two", drop=["number", "three"], penalty="auto", test_size=0)


CASES = {
    "contributions": lambda: lineal.plot(given.model("two"), "contributions", given.table(), row=3),
    "contributions of three": lambda: lineal.plot(
        given.model("three"), "contributions", given.table(), row=60, against="typical"
    ),
    "coefficients": lambda: lineal.plot(given.model("number"), "coefficients"),
    "coefficients of three": lambda: lineal.plot(given.model("three"), "coefficients", given.table()),
    "effect": lambda: lineal.plot(given.model("number"), "effect", given.table()),
    "effect of three": lambda: lineal.plot(given.model("three"), "effect", given.table(), x=given.HOSTILE[2]),
    "residuals": lambda: lineal.plot(given.model("number"), "residuals", given.table()),
    "influence": lambda: lineal.plot(given.model("number"), "influence", given.table()),
    "calibration": lambda: lineal.plot(given.model("two"), "calibration", given.table()),
    "confusion": lambda: lineal.plot(given.model("three"), "confusion", given.table()),
    "roc": lambda: lineal.plot(given.model("two"), "roc", given.table()),
    "precision": lambda: lineal.plot(given.model("two"), "precision", given.table(), threshold=0.4),
    "cost": lambda: lineal.plot(given.model("two"), "cost", given.table(), costs=[[0, 1], [4, 0]]),
    "selection": lambda: lineal.plot(chosen(), "selection"),
    "columns": lambda: lineal.plot(given.table(), "columns"),
    "path": lambda: lineal.plot(only("two"), "path", target="two"),
    "words": lambda: lineal.plot(of_text(), "words"),
    "compare": lambda: lineal.plot(compared(), "compare"),
}
