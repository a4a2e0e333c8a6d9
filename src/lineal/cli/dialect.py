"""`lineal dialect`: one strength in the words of every library."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from lineal.api.dialects import DIALECTS, Scale, translations
from lineal.cli.page import Screen
from lineal.cli.plain_model import text


def run(*, value: float, source: str, n: float, weight_sum: float | None, spread: float | None, as_json: bool) -> int:
    """Translate and print."""
    values = translations(value, source, Scale(n, weight_sum, spread))
    if as_json:
        click.echo(text({"from": source, "value": value, "n": n, "weight_sum": weight_sum, "dialects": values}))
        return 0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("Dialect", "Value", "Objective", "Spoken by"):
        table.add_column(name, no_wrap=name == "Dialect", justify="right" if name == "Value" else "left")
    for dialect in DIALECTS:
        translated = values[dialect.name]
        shown = "--spread" if translated is None else f"{translated:.9g}"
        spoken = f"{dialect.spoken_by}; spread: {dialect.spread_is}" if dialect.spread else dialect.spoken_by
        table.add_row(*map(Text, (dialect.name, shown, dialect.formula, spoken)))
    Screen().print(table)
    return 0
