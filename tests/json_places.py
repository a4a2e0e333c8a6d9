"""Every place in a JSON document, as the keys that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def every_place(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to every member, outer ones first."""
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from every_place(inner, (*path, key))
