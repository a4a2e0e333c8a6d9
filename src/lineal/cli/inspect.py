"""`lineal inspect`: every column of a table, and what would become of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table
from rich.text import Text

from lineal.api.dataset import memory_limit
from lineal.cli.opening import DataFile
from lineal.cli.page import Screen, facts, number
from lineal.cli.plain_model import text
from lineal.cli.progress import Watch
from lineal.cli.roles import pairs, typed_marks
from lineal.errors import InputError
from lineal.features.inspecting import inspect
from lineal.features.recipe import Recipe
from lineal.tables.remembered import remembered

BLOCK_BARS: Final = " ▁▂▃▄▅▆▇█"
ASCII_BARS: Final = " .:-=+*#@"


def run(
    *,
    data: DataFile,
    target: str | None,
    weight: str | None,
    offset: str | None,
    drop: tuple[str, ...],
    types: tuple[str, ...],
    max_levels: int | None,
    missing: str,
    na: tuple[str, ...],
    recipe: Path | None,
    as_json: bool,
) -> int:
    """Look at a table, print what it holds, perhaps write the decisions to a recipe; return the exit code."""
    if recipe is not None and recipe.exists():
        raise InputError(f"the recipe {recipe} exists already; choose another name, or delete it.")
    marks = typed_marks(na)
    with Watch(f"reading {data}"):
        table = remembered(data.open(), 2 * memory_limit() // 3)
        inspection = inspect(
            table,
            target=target,
            weight=weight,
            offset=offset,
            drop=drop,
            types=pairs(types),
            max_levels=max_levels,
            missing=missing,
            na=marks or None,
        )
    if recipe is not None:
        kept = {name: spelling for name, spelling in inspection.types.items() if spelling != "drop"}
        gone = [name for name, spelling in inspection.types.items() if spelling == "drop"]
        written = Recipe(
            target, weight, offset, (*drop, *(name for name in gone if name not in drop)), types=kept, na=marks
        )
        try:
            recipe.write_text(written.text(), encoding="utf-8")
        except OSError as problem:
            raise InputError(f"the recipe {recipe} cannot be written: {(problem.strerror or '').lower()}.") from None
    if as_json:
        click.echo(text(inspection.report))
        return 0
    screen = Screen()
    report = inspection.report
    lines = [("Data", f"{report['origin']}: {report['rows']:,} rows, {len(report['columns'])} columns")]
    lines += [("Note", note) for note in report["notes"]]
    plain = {f"{entry['column']!r} is a {entry.get('type')}." for entry in report["columns"]}  # the table says as much
    used = [entry for entry in report["columns"] if entry.get("decision") and entry["decision"] not in plain]
    screen.print(
        facts(lines),
        _listed(report["columns"], screen.unicode),
        facts([(entry["column"], entry["decision"].removeprefix(f"{entry['column']!r} ")) for entry in used]),
        facts([("Marks", sentence) for entry in report["columns"] for sentence in _marks(entry)]),
    )
    if recipe is not None:
        click.echo(f"\nThe decisions are written to {recipe}; change them there, then fit with --recipe {recipe}.")
    return 0


def _listed(columns: Sequence[Mapping[str, Any]], unicode: bool) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("column", "type", "missing", "range or most frequent", "histogram"):
        grid.add_column(name, justify="right" if name == "missing" else "left", overflow="fold")
    for entry in columns:
        if "type" not in entry:
            grid.add_row(Text(entry["column"]), Text(entry["role"]), "", "", "")
            continue
        kind = entry["type"] if entry["role"] == "feature" else f"{entry['type']} ({entry['role']})"
        kind += "" if entry["used"] else ", left out"
        share = f"{100 * entry['missing_share']:.1f} %" if entry["missing"] else ""
        shown = bars(entry["histogram"], unicode) if "histogram" in entry else ""
        grid.add_row(Text(entry["column"]), Text(kind), share, Text(_range(entry)), Text(shown))
    return grid


def _marks(entry: Mapping[str, Any]) -> list[str]:
    """Return which texts count as missing in a column and which do not, if they say anything beside being empty.

    >>> _marks({"column": "age", "marks": {"": 3, "NA": 5, "?": 1}}), _marks({"column": "word", "words": {"None": 2}})
    (["'age' is missing where it is empty (3), NA (5), ? (1)."], ["'word' holds None (2), a word like any other there."])
    """
    shown = [f"{mark or 'empty'} ({count:,})" for mark, count in entry.get("marks", {}).items()]
    sentences = (
        [f"{entry['column']!r} is missing where it is {', '.join(shown)}."]
        if set(entry.get("marks", {})) - {""}
        else []
    )
    held = ", ".join(f"{word} ({count:,})" for word, count in entry.get("words", {}).items())
    words = "words like any others there" if len(entry.get("words", {})) > 1 else "a word like any other there"
    return [*sentences, *([f"{entry['column']!r} holds {held}, {words}."] if held else [])]


def _range(entry: Mapping[str, Any]) -> str:
    if "low" in entry:
        ends = (entry[name] for name in ("low", "high", "mean"))
        low, high, mean = (value if isinstance(value, str) else number(value) for value in ends)
        return f"{low} to {high}, mean {mean}"
    levels = entry.get("levels", [])
    shown = ", ".join(f"{one['level'][:20]} ({one['count']:,})" for one in levels[:3])
    more = (entry["distinct"] or 0) - min(3, len(levels))
    return shown + (f", {more:,} more" if more > 0 else "")


def bars(counts: Sequence[int], unicode: bool = True) -> str:
    """Return a histogram of one line: the highest bar is full, a count above zero is never blank.

    >>> bars([0, 1, 50, 100])
    ' ▁▄█'
    """
    marks, top = BLOCK_BARS if unicode else ASCII_BARS, max(counts, default=0)
    return "".join(marks[max(1, round((len(marks) - 1) * count / top))] if count else marks[0] for count in counts)
