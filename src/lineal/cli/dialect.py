"""`lineal dialect`: one strength in the words of every library."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from lineal.api.dialects import DIALECTS, Scale, options, translations
from lineal.cli.page import Screen, facts
from lineal.cli.plain_model import text


def run(*, value: float, source: str, n: float, weight_sum: float | None, spread: float | None, as_json: bool) -> int:
    """Translate and print."""
    scale = Scale(n, weight_sum, spread)
    values, typed = translations(value, source, scale), options(value, source, scale)
    if as_json:
        answer = {"from": source, "value": value, "n": n, "weight_sum": weight_sum, "dialects": values}
        click.echo(text({**answer, "options": typed}))
        return 0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("Dialect", "Value", "Objective", "Spoken by"):
        table.add_column(name, no_wrap=name == "Dialect", justify="right" if name == "Value" else "left")
    for dialect in DIALECTS:
        translated = values[dialect.name]
        shown = "--spread" if translated is None else f"{translated:.9g}"
        spoken = f"{dialect.spoken_by}; spread: {dialect.spread_is}" if dialect.spread else dialect.spoken_by
        table.add_row(*map(Text, (dialect.name, shown, dialect.formula, spoken)))
    lines = [
        ("To type", f"{typed['meant']} (what {source} means)"),
        ("Raw", f"{typed['raw']} (columns as they are, intercept free)"),
        ("Standardized", f"{typed['standardized']} (in units of standard deviations: glmnet; after a StandardScaler)"),
    ]
    Screen().print(facts(lines), table)
    return 0
