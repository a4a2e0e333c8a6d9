"""Which names the columns of a header have: every one its own (docs/model-file.md, "Reading the data file")."""

from __future__ import annotations

from collections.abc import Sequence


def named(header: Sequence[str]) -> list[str]:
    """Return the names of the columns: an empty one is called by its place, a repeated one by how often it came before.

    >>> named([" a", "", "a", "a"]), named(["c2", "", "a.2", "a", "a"])
    (['a', 'c2', 'a.2', 'a.3'], ['c2', 'c2.2', 'a.2', 'a', 'a.3'])
    """
    cells = [cell.strip() for cell in header]
    used, met, names = set(cells), set[str](), list[str]()
    last: dict[str, int] = {}  # of each repeated name the number that was given last: those up to it are used
    for place, cell in enumerate(cells, 1):
        if cell and cell not in met:
            met.add(cell)
            names.append(cell)
            continue
        stem = cell or f"c{place}"
        name, last[stem] = unused(stem, last.get(stem, 1 if cell else 0) + 1, used)
        used.add(name)
        names.append(name)
    return names


def unused(stem: str, number: int, used: set[str]) -> tuple[str, int]:
    """Return the first of the names ``stem.number``, ``stem.(number + 1)``, ... that is not used, and its number."""
    while (name := stem if number == 1 else f"{stem}.{number}") in used:
        number += 1
    return name, number
