"""What a file must hold: each check refuses the file with a sentence."""

from __future__ import annotations

import math
from typing import Any

from lineal.errors import ModelFileError


def expect(holds: bool, sentence: str) -> None:
    """Refuse the file unless something holds."""
    if not holds:
        raise ModelFileError(f"the encoder in the model file {sentence}.")


def finite(value: Any) -> bool:
    """Return whether a value of a file is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def words_from(data: Any, name: str) -> tuple[str, ...]:
    """Return a list of different words."""
    expect(
        isinstance(data, list) and len(data) > 0 and all(isinstance(word, str) for word in data),
        f"has no list of words for {name!r}",
    )
    expect(len(set(data)) == len(data), f"has a word of {name!r} twice")
    return tuple(data)
