"""What columns are and what they are for: options typed, and behind them what a recipe says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lineal.errors import InputError
from lineal.features.recipe import Recipe
from lineal.features.types.declared_types import ALL as ALL_TYPES
from lineal.tables.marked import EVERY


def typed_marks(said: Sequence[str]) -> dict[str, str]:
    """Return the marks for missing cells by column, "*" for all others, as they were typed.

    >>> typed_marks(["NA,?", "age=-999", "word="])
    {'*': 'NA,?', 'age': '-999', 'word': ''}
    """
    marks: dict[str, str] = {}
    for text in said:
        column, equals, own = text.rpartition("=")
        name = column.strip() if equals else EVERY
        if name in marks or not name:
            raise InputError(f"--na {text}: write the marks of all columns, or of one as COL=MARKS, and of each once.")
        marks[name] = own
    return marks


def settled(options: Mapping[str, Any], recipe: Path | None) -> dict[str, Any]:
    """Return the options with what a recipe says where nothing was typed; types become a dictionary.

    >>> known = settled({"target": "y", "weight": None, "drop": (), "max_levels": None, "na": (), "types": ("age=number",)}, None)
    >>> known["types"]
    {'age': 'number'}
    """
    merged = dict(options)
    declared = Recipe() if recipe is None else Recipe.read(recipe)
    if merged["target"] is None and merged.get("formula") is None:
        merged["target"] = declared.target
    for role in ("weight", "offset"):
        named = getattr(declared, role)
        if role in merged:
            merged[role] = merged[role] or named
        elif named is not None:
            raise InputError(f"the recipe {recipe} names the {role} {named!r}, which has no effect here; take it out.")
    merged["drop"] = (*merged["drop"], *(name for name in declared.drop if name not in merged["drop"]))
    merged["max_levels"] = declared.max_levels if merged["max_levels"] is None else merged["max_levels"]
    merged["na"] = {**declared.na, **typed_marks(merged["na"])} or None
    merged["types"] = {**declared.types, **pairs(merged["types"])}
    return merged


def pairs(words: tuple[str, ...]) -> dict[str, str]:
    """Return ``COLUMN=TYPE`` words as a mapping.

    >>> pairs(("size=ordinal:S<M<L", "a=b=category"))
    {'size': 'ordinal:S<M<L', 'a=b': 'category'}
    """
    types: dict[str, str] = {}
    for word in words:
        at = max((word.rfind(f"={kind.name}") for kind in ALL_TYPES), default=-1)
        at = at if at > 0 else word.find("=")
        if at <= 0:
            raise InputError(f"--types {word}: write the column and its type, such as --types age=number.")
        column = word[:at]
        if column in types:
            raise InputError(f"--types names the column {column!r} twice; give it one type.")
        types[column] = word[at + 1 :]
    return types
