"""Which marks of missing cells a table holds, in which column and how often, and which texts look like marks and are words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from lineal.features.cells.cells import kind, numbers
from lineal.features.encoder import column
from lineal.features.gathering import present
from lineal.tables.arrow import to_numpy, valid
from lineal.tables.dialect import MISSING, number
from lineal.tables.marked import Marks, read
from lineal.tables.tabular import Table, filtered

Met = tuple[dict[str, int], dict[str, int]]
"""The marks that a column holds, and the usual marks that are words in it, each with the number of cells."""


def marks_met(
    table: Table, marks: Marks, names: Collection[str], targets: Collection[str], more: Mapping[str, Collection[str]]
) -> dict[str, Met]:
    """Count the marks of some columns in the rows that have a target, each by itself; "" are cells that are empty or null.

    ``table`` is as it was before any marks were looked at, ``marks`` are those of columns that have their own, ``more`` are
    texts that stand for no number or no date in a column.

    >>> from lineal.tables.table import as_table
    >>> table = as_table({"a": ["NA", "x", "", "None", "NA"]})
    >>> marks_met(table, {}, ["a"], (), {})["a"], marks_met(table, {"a": ("NA",)}, ["a"], (), {})["a"]
    (({'': 1, 'NA': 2, 'None': 1}, {}), ({'': 1, 'NA': 2}, {'None': 1}))
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for _, batch in table.select(texts=[*names, *targets]).numbered():
        rows = [present(read(column(batch, name), marks.get(name, MISSING))) for name in targets]
        kept = filtered(batch, np.logical_and.reduce(rows)) if rows else batch
        for name, counter in counts.items():
            counter.update(_seen(column(kept, name), marks.get(name, ())))
    return {name: _told(counter, marks.get(name), more.get(name, ())) for name, counter in counts.items()}


def _seen(array: Any, marks: Collection[str]) -> dict[str, int]:
    """Return how often every text stands in a column; of numbers, those that are marks."""
    if kind(array) not in ("text", "category"):
        seen = {"": int((~present(array)).sum())}
        values = numbers(array)[0] if kind(array) == "number" and marks else np.empty(0)
        return {**seen, **{mark: int((values == number(mark)).sum()) for mark in marks if number(mark) is not None}}
    packed = array if hasattr(array, "dictionary") else array.dictionary_encode()
    there = valid(packed.indices)
    codes = to_numpy(packed.indices) if there is None else to_numpy(packed.indices)[there]
    times = np.bincount(codes.astype(np.int64), minlength=len(packed.dictionary))
    counted = Counter({"": len(array) - len(codes)})
    for cell, count in zip(packed.dictionary.to_pylist(), times.tolist(), strict=True):
        counted["" if cell is None else str(cell).strip()] += count
    return counted


def _told(seen: Mapping[str, int], own: Collection[str] | None, more: Collection[str]) -> Met:
    """Return which of the texts are marks, and which would be if the column had none of its own."""
    marks = {"", *(MISSING if own is None else own), *more}
    values = {value for mark in own or () if (value := number(mark)) is not None}
    met = {text: seen[text] for text in sorted(seen) if text in marks or (values and number(text) in values)}
    words = {text: seen[text] for text in sorted(seen) if text in MISSING and text not in met}
    return {text: count for text, count in met.items() if count}, {
        text: count for text, count in words.items() if count
    }
