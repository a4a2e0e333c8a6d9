"""A recipe: a small TOML file that says what the columns of a table are and what they are for."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from lineal.errors import InputError, near
from lineal.ground.files import text_of
from lineal.ground.records import dataclass
from lineal.tables.marked import words

FIELDS: Final = ("target", "weight", "offset", "drop", "max_levels", "na", "types")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Recipe:
    """The columns' roles, and their types in the words of `--types`.

    >>> print(Recipe(target="y", types={"age": "number", "job title": "category"}).text())
    target = "y"
    <BLANKLINE>
    [types]
    age = "number"
    "job title" = "category"
    <BLANKLINE>
    """

    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    offset: str | None = None
    drop: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    max_levels: int | None = None
    na: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a recipe; an InputError names what is wrong with it."""
        try:
            data = tomllib.loads(text_of(path, "the recipe"))
        except tomllib.TOMLDecodeError as problem:
            raise InputError(f"the recipe {path} is not TOML: {problem}; fix that line.") from None
        for name in data:
            if name not in FIELDS:
                raise InputError(f"the recipe {path} has an unknown entry {name!r}.{near(name, FIELDS)}")
        for name in ("weight", "offset"):
            _expect(isinstance(data.get(name, ""), str), path, name, "the name of a column")
        target = data.get("target")
        _expect(target is None or isinstance(target, str) or _names(target), path, "target", "one column, or a list")
        _expect(_names(data.get("drop", [])), path, "drop", "a list of columns")
        most = data.get("max_levels")
        _expect(most is None or type(most) is int, path, "max_levels", "a whole number")
        types = data.get("types", {})
        fine = isinstance(types, dict) and all(isinstance(value, str) for value in types.values())
        _expect(fine, path, "types", 'a table of lines such as age = "number"')
        na = data.get("na", {})
        na = na if isinstance(na, dict) else {"*": na}
        fine = all(_names(value) for value in na.values())
        _expect(fine, path, "na", 'a list of marks, or a table of lines such as age = ["NA", "-999"]')
        target = tuple(target) if isinstance(target, list) else target
        return cls(target, data.get("weight"), data.get("offset"), tuple(data.get("drop", ())), types, most, na)

    def text(self) -> str:
        """Return the recipe as TOML."""
        lines = []
        if self.target is not None:
            lines.append(f"target = {_value(self.target)}")
        lines += [f"{name} = {_value(value)}" for name in ("weight", "offset") if (value := getattr(self, name))]
        if self.drop:
            lines.append(f"drop = {_value(self.drop)}")
        lines += [] if self.max_levels is None else [f"max_levels = {self.max_levels}"]
        if self.na:
            lines += ["", "[na]", *(f"{_key(name)} = {_value(words(own))}" for name, own in self.na.items())]
        lines += ["", "[types]"]
        lines += [f"{_key(name)} = {_value(value)}" for name, value in self.types.items()]
        return "\n".join(lines) + "\n"


def _expect(holds: bool, path: Path, name: str, what: str) -> None:
    if not holds:
        raise InputError(f"the entry {name!r} of the recipe {path} must be {what}.")


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: str | Sequence[str]) -> str:
    """Return a text, or a list of texts, as TOML: its basic strings are JSON's but for the character 127."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(_value(item) for item in value) + "]"
