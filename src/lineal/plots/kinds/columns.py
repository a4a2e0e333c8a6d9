"""The picture `columns`: what is in the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.cells.finite import finite_numbers
from lineal.features.encoder import column
from lineal.features.inspecting import Inspection, inspect
from lineal.ground.arrays import Array
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.wording import clean
from lineal.tables.table import as_table

MAX_COLUMNS: Final = 24
"""Columns that are drawn, the first ones."""
MAX_LEVELS: Final = 8
"""Levels that are drawn, the most frequent ones; the others are one bar."""
BINS: Final = 20
Shown = tuple[Panel, list[tuple[Any, ...]]]
"""The panel of a column, and its lines in the table."""


def columns(data: Any) -> Figure:
    """Return histograms of numbers and bars of levels, as `lineal inspect` reads the columns; of a table, or of its inspection.

    >>> figure = columns({"age": [30.0, 40.0, 50.0, 60.0], "sex": ["f", "m", "f", "f"]})
    >>> [panel.title for panel in figure.panels], figure.data["rows"][-2:]
    (['age', 'sex'], [3, 1])
    """
    if isinstance(data, Inspection):
        return _inspected(data)
    table = as_table(data)
    if table.sparse:
        raise InputError("an SVMlight file has columns without names or cells to draw; give a table.")
    kinds = {one["column"]: one["type"] for one in inspect(data).report["columns"]}
    found = list(kinds)[:MAX_COLUMNS]
    numbers = [name for name in found if kinds[name] == "number"]
    words = [name for name in found if name not in numbers]
    cells: dict[str, list[Any]] = {name: [] for name in found}
    for _, batch in table.select(numbers=numbers, texts=words).numbered():
        for name in numbers:
            cells[name].append(finite_numbers(name, column(batch, name)))
        for name in words:
            codes, levels = texts(column(batch, name))
            cells[name] += [None if code < 0 else levels[code] for code in codes.tolist()]
    whole = {name: np.concatenate(parts) if name in numbers else parts for name, parts in cells.items()}
    more = len(table.names) - len(found)
    return figure_of(whole, f"{more:,} more columns are not drawn." if more > 0 else "")


def figure_of(cells: dict[str, Any], words: str = "") -> Figure:
    """Return the picture of columns that are read already: arrays of numbers, or lists of text."""
    return _drawn([_panel(name, values) for name, values in list(cells.items())[:MAX_COLUMNS]], words)


def _inspected(found: Inspection) -> Figure:
    """Return the picture of what an inspection counted; columns that are nearly all different have nothing to count."""
    rows = int(found.report["rows"])
    panels = [_counted(one, rows) for one in found.report["columns"] if one.get("histogram") or one.get("levels")]
    if not panels:
        raise InputError("the inspection counted no cells, so there is nothing to draw.")
    more = len(found.report["columns"]) - len(panels[:MAX_COLUMNS])
    return _drawn(panels[:MAX_COLUMNS], f"{more:,} more columns are not drawn." if more > 0 else "")


def _counted(about: Mapping[str, Any], rows: int) -> Shown:
    """Return the panel of a column as an inspection counted it."""
    name, counts = str(about["column"]), about.get("histogram")
    if counts:
        days = isinstance(about["low"], str)
        low, high = (
            float(np.datetime64(about[end], "D").astype(int)) if days else about[end] for end in ("low", "high")
        )
        edges = np.linspace(low, high if high > low else low + 1.0, len(counts) + 1)
        return _histogram(name, np.array(counts), edges, "days since 1970" if days else "value")
    sizes = {str(one["level"]): int(one["count"]) for one in about["levels"]}
    missing = int(about["missing"])
    if missing:
        sizes = dict(sorted({**sizes, "(missing)": missing}.items(), key=lambda one: -one[1]))
    return _most(name, list(sizes), list(sizes.values()), max(rows - sum(sizes.values()), 0))


def _drawn(drawn: Sequence[Shown], words: str) -> Figure:
    """Return the picture of these panels, with their lines as its table."""
    said = ["Bars count rows; missing cells are left out of numbers, and a level of text.", words]
    lines = [line for _, some in drawn for line in some]
    return Figure(
        kind="columns",
        title="What is in the columns",
        caption=" ".join(said).strip(),
        panels=tuple(panel for panel, _ in drawn),
        table={key: [line[k] for line in lines] for k, key in enumerate(("column", "from or level", "to", "rows"))},
        across=4,
    )


def _panel(name: str, values: Any) -> Shown:
    """Return the histogram of a column, and its lines in the table."""
    if isinstance(values, np.ndarray):
        known = values[np.isfinite(values)]
        if not len(known):
            return _bars(name, ["(missing)"], [len(values)])
        counts, edges = np.histogram(known, bins=min(BINS, max(1, len(np.unique(known)))))
        return _histogram(name, counts, edges, "value")
    levels, counts = np.unique(["(missing)" if value is None else str(value) for value in values], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return _most(name, [str(levels[k]) for k in order], [int(counts[k]) for k in order], 0)


def _histogram(name: str, counts: Array, edges: Array, label: str) -> Shown:
    lines = [(clean(name), float(a), float(b), int(n)) for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)]
    mark = Mark("bars", edges[:-1], np.zeros(len(counts)), edges[1:], counts, group=0)
    axes = Axis.around(label, edges), Axis("rows", 0.0, 1.06 * float(max(counts.max(), 1)))
    return Panel(*axes, (mark,), name), lines


def _most(name: str, levels: list[str], counts: list[int], rest: int) -> Shown:
    """Return bars of the most frequent levels; all others, with ``rest`` more rows, are one bar."""
    others, rest = levels[MAX_LEVELS:], rest + sum(counts[MAX_LEVELS:])
    names, sizes = levels[:MAX_LEVELS], counts[:MAX_LEVELS]
    if rest:
        word = f"{len(others):,} others" if rest == sum(counts[MAX_LEVELS:]) else "others"
        names, sizes = [*names, word], [*sizes, rest]
    return _bars(name, names, sizes)


def _bars(name: str, names: Sequence[str], sizes: Sequence[int]) -> Shown:
    place = np.arange(len(names), dtype=float)[::-1]
    mark = Mark("bars", np.zeros(len(names)), place - 0.35, np.array(sizes, float), place + 0.35, group=0)
    up = Axis.of_levels("level", [clean(one, 14) for one in names][::-1])
    panel = Panel(Axis("rows", 0.0, 1.06 * float(max(*sizes, 1))), up, (mark,), name)
    return panel, [(clean(name), clean(one), None, size) for one, size in zip(names, sizes, strict=True)]


KIND = Kind(
    name="columns",
    question="What is in the columns of a table?",
    inputs=("DATA",),
    notes=(),
    draw=columns,
)
