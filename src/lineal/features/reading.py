"""Terms out of a model file, every member checked: a file is somebody else's."""

from __future__ import annotations

import math
from typing import Any

from lineal.errors import ModelFileError
from lineal.features.terms import Boolean, Category, Number, Term


def expect(holds: bool, sentence: str) -> None:
    """Refuse the file unless something holds."""
    if not holds:
        raise ModelFileError(f"the encoder in the model file {sentence}.")


def term_from(data: Any) -> Term:
    """Return a term, or refuse the file naming what is wrong."""
    expect(isinstance(data, dict), "has a term that is not an object")
    kind = data.get("kind")
    fields = {
        "number": {"kind", "column", "fill", "indicator"},
        "boolean": {"kind", "column", "true", "false", "fill", "indicator"},
        "category": {"kind", "column", "levels", "reference", "missing"},
    }
    expect(isinstance(kind, str) and kind in fields, f"has a term of unknown kind {kind!r}")
    expect(set(data) == fields[kind], f"has a {kind} term with other members than {sorted(fields[kind])}")
    name = data["column"]
    expect(isinstance(name, str) and name != "", f"has a {kind} term without a column name")
    if kind == "category":
        levels = words_from(data["levels"], name)
        expect(data["reference"] in levels, f"has a reference level of {name!r} that is none of its levels")
        expect(isinstance(data["missing"], bool), f"must say for {name!r} whether cells were missing, true or false")
        return Category(name, levels, data["reference"], data["missing"])
    fill, indicator = data["fill"], data["indicator"]
    expect(
        isinstance(fill, int | float) and not isinstance(fill, bool) and math.isfinite(fill),
        f"has no finite fill for {name!r}",
    )
    expect(isinstance(indicator, bool), f"must say for {name!r} whether there is an indicator, true or false")
    if kind == "number":
        return Number(name, float(fill), indicator)
    true, false = words_from(data["true"], name), words_from(data["false"], name)
    expect(
        not {word.lower() for word in true} & {word.lower() for word in false},
        f"has a word of {name!r} that is both true and false",
    )
    return Boolean(name, true, false, float(fill), indicator)


def words_from(data: Any, name: str) -> tuple[str, ...]:
    """Return a list of different words."""
    expect(
        isinstance(data, list) and len(data) > 0 and all(isinstance(word, str) for word in data),
        f"has no list of words for {name!r}",
    )
    expect(len(set(data)) == len(data), f"has a word of {name!r} twice")
    return tuple(data)
