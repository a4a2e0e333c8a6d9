"""What columns are and what they are for: options typed, and behind them what a recipe says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lineal.errors import InputError
from lineal.features.recipe import Recipe
from lineal.features.types.declared_types import pairs


def settled(options: Mapping[str, Any], recipe: Path | None) -> dict[str, Any]:
    """Return the options with what a recipe says where nothing was typed; types become a dictionary.

    >>> found = settled({"target": "y", "weight": None, "drop": (), "types": ("age=number",)}, None)
    >>> found["types"]
    {'age': 'number'}
    """
    found = dict(options)
    known = Recipe() if recipe is None else Recipe.read(recipe)
    if found["target"] is None and found.get("formula") is None:
        found["target"] = known.target
    for role in ("weight", "offset"):
        told = getattr(known, role)
        if role in found:
            found[role] = found[role] or told
        elif told is not None:
            raise InputError(f"the recipe {recipe} names the {role} {told!r}, which has no effect here; take it out.")
    found["drop"] = (*found["drop"], *(name for name in known.drop if name not in found["drop"]))
    found["types"] = {**known.types, **pairs(found["types"])}
    return found
