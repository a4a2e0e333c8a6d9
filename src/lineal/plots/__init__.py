"""Pictures of fits: ``lineal.plots.KIND(model, data, ...)`` returns a Figure, ``ALL`` lists the kinds.

Names are resolved on first use: ``lineal.plots.fit`` is the function of the picture ``fit``.
"""

from __future__ import annotations

import importlib
from typing import Any

RECORDS = ("Axis", "Figure", "Frame", "Mark", "Panel", "Word")


def __getattr__(name: str) -> Any:
    if name in RECORDS:
        return getattr(importlib.import_module("lineal.plots.record"), name)
    kinds = importlib.import_module("lineal.plots.kinds")
    if name == "ALL":
        return kinds.every_kind()
    if name in kinds.NAMES:
        return kinds.kind(name).draw
    raise AttributeError(f"module 'lineal.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    kinds = importlib.import_module("lineal.plots.kinds")
    return sorted({*globals(), *RECORDS, "ALL", *kinds.NAMES})
