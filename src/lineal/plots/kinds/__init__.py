"""One file for each kind of picture; ``NAMES`` is the catalogue, in the order in which they are listed."""

from __future__ import annotations

import importlib
from typing import Final

from lineal.errors import InputError, near
from lineal.plots.catalogue import Kind

NAMES: Final = (
    "row",
    "layer",
    "fit",
    "boundary",
    "separable",
    "perceptron",
    "bound",
    "angle",
    "plane",
    "descent",
    "trace",
    "loss",
    "posterior",
    "scores",
    "sigmoid",
    "margin",
    "split",
    "capacity",
    "lift",
    "neighbours",
    "gram",
    "densities",
    "code",
    "stack",
    "contributions",
    "coefficients",
    "effect",
    "residuals",
    "influence",
    "calibration",
    "confusion",
    "roc",
    "precision",
    "cost",
    "selection",
    "columns",
    "path",
    "words",
    "compare",
)
"""Every kind of picture: the name of its file, of its function in it, and of what is typed."""


def kind(name: str) -> Kind:
    """Return a kind of picture by its name.

    >>> kind("loss").notes
    (9, 34, 35)
    """
    if name not in NAMES:
        raise InputError(
            f"there is no picture {name!r}.{near(name, list(NAMES))} `lineal plot` alone lists all of them."
        )
    found: Kind = importlib.import_module(f"lineal.plots.kinds.{name}").KIND
    return found


def every_kind() -> tuple[Kind, ...]:
    """Return all kinds, in order."""
    return tuple(map(kind, NAMES))
