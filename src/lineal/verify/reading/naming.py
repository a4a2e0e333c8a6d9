"""Which names the columns of a header have: every one its own (docs/model-file.md, "Reading the data file")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def named(header: Sequence[str]) -> list[str]:
    """Return the names of the columns: an empty one is called by its place, a repeated one by how often it came before.

    >>> named([" a", "", "a", "a"]), named(["c2", "", "a.2", "a", "a"])
    (['a', 'c2', 'a.2', 'a.3'], ['c2', 'c2.2', 'a.2', 'a', 'a.3'])
    """
    cells = [cell.strip() for cell in header]
    used, met, names = set(cells), Counter[str](), []
    for place, cell in enumerate(cells, 1):
        met[cell] += 1
        if cell and met[cell] == 1:
            names.append(cell)
            continue
        stem, number = (cell, 2) if cell else (f"c{place}", 1)
        while (name := stem if number == 1 else f"{stem}.{number}") in used:
            number += 1
        used.add(name)
        names.append(name)
    return names
