"""The columns that a fit left out, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

MAX_DROPPED_NAMED: Final = 5
"""Columns left out for one reason that a page names; it counts the others."""


def dropped(entries: Sequence[Mapping[str, str]]) -> list[str]:
    """Return a sentence for every reason that columns are left out; many of one reason share it.

    >>> dropped([{"column": "a", "why": "it is 0 in every row"}, {"column": "b", "why": "it is 0 in every row"}])
    ['a, b: it is 0 in every row']
    """
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        reasons.setdefault(entry["why"], []).append(entry["column"])
    named = [(names[:MAX_DROPPED_NAMED], len(names) - MAX_DROPPED_NAMED, why) for why, names in reasons.items()]
    return [", ".join(names) + (f" and {more:,} more" if more > 0 else "") + f": {why}" for names, more, why in named]
