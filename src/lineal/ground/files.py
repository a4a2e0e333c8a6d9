"""Small text files that people write: recipes, word lists, costs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lineal.errors import InputError, near

MAX_BYTES: Final = 2**26
"""A larger file is not one that a person wrote."""


def text_of(path: Path, what: str) -> str:
    """Return the text of a file, UTF-8 with or without a mark; ``what`` is what sentences call it.

    >>> text_of(Path("no such folder") / "recipe.toml", "the recipe")
    Traceback (most recent call last):
    lineal.errors.InputError: the recipe no such folder/recipe.toml does not exist; give a text file.
    """
    try:
        if not path.exists():
            names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            raise InputError(f"{what} {path} does not exist; give a text file.{near(path.name, sorted(names))}")
        if not path.is_file():  # a device may have no end, and a pipe no writer
            kind = "a folder" if path.is_dir() else "no regular file"
            raise InputError(f"{what} {path} is {kind}; give a text file.")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{what} {path} has more than {MAX_BYTES:,} bytes; give a smaller text file.")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{what} {path} cannot be read: {reason}; give a text file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{what} {path} is not UTF-8 text; save it as UTF-8.") from None
