"""Text of a picture: names and cells of strangers are text everywhere, of a length that can be read."""

from __future__ import annotations

import math
import unicodedata
from typing import Final

MAX_NAME: Final = 48
"""Characters of a name of a column, level or file that are shown."""
MAX_SENTENCES: Final = 4000
"""Characters of a caption that are kept."""
UNPRINTED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of Unicode without a glyph: controls, marks of direction, surrogates, unassigned, ends of lines."""


def clean(text: object, limit: int = MAX_NAME) -> str:
    r"""Return text without characters that are not seen (controls, marks of direction), its middle left out if too long.

    >>> clean("age\x07 of\u202e car\n"), clean("x" * 100, 9)
    ('age of car', 'xxxx…xxxx')
    """
    words = str(text)
    if len(words) > 4 * limit:  # (of ten megabytes only the ends are looked at)
        words = words[: 2 * limit] + words[-2 * limit :]
    seen = "".join(" " if char.isspace() else char for char in words if char.isspace() or _printed(char))
    seen = " ".join(seen.split())
    if len(seen) <= limit:
        return seen
    head = limit // 2
    return f"{seen[:head].rstrip()}…{seen[len(seen) - (limit - head - 1) :].lstrip()}"


def number(value: float) -> str:
    """Return a number in few characters.

    >>> number(3.0), number(0.123456), number(1234567.0), number(float("nan"))
    ('3', '0.1235', '1.235e+06', '-')
    """
    if math.isnan(value):
        return "-"
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{int(value):,}"
    return f"{value:.4g}"


def listed(names: list[str], most: int = 6) -> str:
    """Return names with commas between, the first ones of many.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = ", ".join(clean(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def _printed(char: str) -> bool:
    return unicodedata.category(char) not in UNPRINTED
