"""From the JSON of a Figure back to the record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lineal.ground.arrays import Array
from lineal.plots.record import NUMBERS, Axis, Figure, Frame, Mark, Panel, Word


def _array(numbers: Any) -> Array:
    return np.array(numbers, np.float64)  # (None becomes NaN)


def _mark(data: Mapping[str, Any]) -> Mark:
    known: dict[str, Any] = {name: _array(value) if name in NUMBERS else value for name, value in data.items()}
    return Mark(**{**known, "text": tuple(known.get("text", ()))})


def _panel(data: Mapping[str, Any]) -> Panel:
    axes = {name: _axis(data[name]) for name in ("x", "y", "z") if name in data}
    marks = tuple(map(_mark, data.get("marks", ())))
    return Panel(**{**data, **axes, "marks": marks})


def _axis(data: Mapping[str, Any]) -> Axis:
    return Axis(**{"name": "", **data, "levels": tuple(data.get("levels", ()))})


def _frame(data: Mapping[str, Any]) -> Frame:
    panels = {int(place): _panel(panel) for place, panel in data["panels"].items()}
    return Frame(int(data["step"]), data.get("label", ""), panels)


def figure(data: Mapping[str, Any]) -> Figure:
    """Return the figure of JSON data; what is no figure raises TypeError, ValueError or KeyError."""
    known = {name: value for name, value in data.items() if name != "figure"}
    known["panels"] = tuple(map(_panel, data.get("panels", ())))
    known["frames"] = tuple(map(_frame, data.get("frames", ())))
    known["verdict"] = Word(**data["verdict"]) if "verdict" in data else None
    return Figure(**{"caption": "", "title": "", **known, "classes": tuple(data.get("classes", ()))})
