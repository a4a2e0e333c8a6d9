"""Arithmetic with a number, one step at a time, as `I(...)` in a formula has it: `+1`, `*2`, `^2`, `1/`, `>3`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np

from lineal.ground.arrays import Array

NUMBER: Final = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_STEP: Final = re.compile(rf"(?P<sign>[-+*/^]|>=|<=|>|<)(?P<right>{NUMBER})|(?P<left>{NUMBER})(?P<of>[-/])")

_SIGNS: Final[dict[str, Callable[[Array, float], Array]]] = {
    "+": lambda x, c: x + c,
    "-": lambda x, c: x - c,
    "*": lambda x, c: x * c,
    "/": lambda x, c: x / c,
    "^": lambda x, c: x**c,
    ">": lambda x, c: np.where(np.isnan(x), np.nan, (x > c).astype(np.float64)),
    "<": lambda x, c: np.where(np.isnan(x), np.nan, (x < c).astype(np.float64)),
    ">=": lambda x, c: np.where(np.isnan(x), np.nan, (x >= c).astype(np.float64)),
    "<=": lambda x, c: np.where(np.isnan(x), np.nan, (x <= c).astype(np.float64)),
}


def is_step(name: str) -> bool:
    """Whether a name is that of a step.

    >>> is_step("^2"), is_step("1/"), is_step("log")
    (True, True, False)
    """
    return _STEP.fullmatch(name) is not None


def stepped(name: str, x: Array) -> Array:
    """Return a step of numbers.

    >>> stepped("1/", np.array([4.0])), stepped(">3", np.array([4.0]))
    (array([0.25]), array([1.]))
    """
    step = _STEP.fullmatch(name)
    if step is None:
        raise ValueError(f"{name!r} is no arithmetic")
    if step["sign"] is not None:
        return _SIGNS[step["sign"]](x, float(step["right"]))
    return float(step["left"]) - x if step["of"] == "-" else float(step["left"]) / x


def written(name: str, inner: str, *, whole: bool) -> str:
    """Return a step as a formula has it, in brackets what it is done to unless that is ``whole``.

    >>> written("^2", "x", whole=True), written("1/", "x + 1", whole=False)
    ('x^2', '1/(x + 1)')
    """
    shown = inner if whole else f"({inner})"
    step = _STEP.fullmatch(name)
    if step is None:
        raise ValueError(f"{name!r} is no arithmetic")
    if step["sign"] is None:
        return f"{step['left']}/{shown}" if step["of"] == "/" else f"{step['left']} - {shown}"
    tight = step["sign"] in "*/^"
    return f"{shown}{step['sign']}{step['right']}" if tight else f"{shown} {step['sign']} {step['right']}"


def spelled(value: float) -> str:
    """Return a number as a step has it: with all its digits, and no more.

    >>> spelled(2.0), spelled(0.1), spelled(1e-9)
    ('2', '0.1', '1e-09')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
