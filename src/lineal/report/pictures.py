"""Pictures in a report: drawn by matplotlib where it is there, their numbers as a table in any case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from lineal.errors import InputError, LinealError
from lineal.plots.record import Figure, Panel
from lineal.plots.saving import content
from lineal.report import html

MAX_LINES: Final = 60
"""Rows of the table of a picture that are embedded."""
IDS: Final = re.compile(r'( id="|url\(#|href="#)')
PLACES: Final = re.compile(r'(?:(?<= d)|(?<= x)|(?<= y))="[^"]*"')
STYLES: Final = re.compile(r' style="([^"]*)"')
MANY: Final = 10
"""Marks from which on a style that they share is written once."""
DIGITS: Final = re.compile(r"(\.\d\d)\d+")
"""Coordinates are in points; more than two digits of them are not seen."""


class Gallery:
    """Draws the pictures of one report, each with names of its own; ``rows`` says whether single rows may be shown."""

    def __init__(self, theme: str, *, rows: bool) -> None:
        self.theme, self.rows = theme, rows
        self.count = 0
        self.without = ""

    def show(self, draw: Callable[[], Figure], *, width: int | None = None) -> str:
        """Return a picture with its caption and its table; where there is none, the sentence that says why."""
        try:
            figure = draw()
        except LinealError as error:
            return html.sentence(f"Not drawn: {error}")
        single = any(len(mark.rows) for panel in figure.panels for mark in panel.marks)
        if single and not self.rows:
            figure = replace(figure, panels=tuple(map(_without_rows, figure.panels)), table={})
        caption = figure.caption
        if figure.verdict is not None:
            caption = caption.removeprefix(figure.verdict.words).strip()
        heads = list(figure.table)
        lines = list(zip(*figure.table.values(), strict=True)) if figure.table else []
        twin = html.table(heads, lines, MAX_LINES)
        drawn = self._svg(figure, width)
        if twin:
            twin = html.folded("The numbers as a table", twin) if drawn else twin
        return f"<figure><h3>{html.text(figure.title)}</h3>{drawn}<figcaption>{html.text(caption)}</figcaption>{twin}</figure>"

    def _svg(self, figure: Figure, width: int | None) -> str:
        """Return the picture as a part of the page, its names apart from those of other pictures; "" without matplotlib."""
        plain = replace(figure, title="", caption="", verdict=None)
        try:
            svg = content(plain, ".svg", width=width, theme=self.theme).decode()
        except InputError as error:
            self.without = str(error)
            return ""
        self.count += 1
        svg = svg[svg.index("<svg") :]
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        svg = IDS.sub(lambda found: f"{found.group(1)}p{self.count}-", svg)
        svg = PLACES.sub(lambda found: DIGITS.sub(r"\1", found.group()), svg)
        svg = self._shorter(svg)
        svg = svg.replace("<svg", f'<svg role="img" aria-label="{html.text(figure.title)}"', 1)
        size = "40rem" if len(figure.panels) == 1 else "none"
        return f'<div class="wide" style="max-width:{size}">{svg}</div>'

    def _shorter(self, svg: str) -> str:
        """Return the same with a class for every style that many marks have."""
        counts = Counter(STYLES.findall(svg))
        names = {style: f"p{self.count}-{k}" for k, style in enumerate(s for s, n in counts.items() if n >= MANY)}
        rules = "".join(f".{name}{{{style}}}" for style, name in names.items())
        svg = STYLES.sub(
            lambda found: f' class="{names[found.group(1)]}"' if found.group(1) in names else found.group(), svg
        )
        return svg.replace("</svg>", f"<style>{rules}</style></svg>") if rules else svg


def _without_rows(panel: Panel) -> Panel:
    """Return a panel without the marks that stand for single rows."""
    return replace(panel, marks=tuple(mark for mark in panel.marks if not len(mark.rows)))


def merged(figures: list[Figure], title: str, caption: str, across: int = 3) -> Figure:
    """Return several pictures as the panels of one, each titled by its own title."""
    panels = tuple(replace(panel, title=figure.title) for figure in figures for panel in figure.panels)
    first = figures[0]
    return replace(first, title=title, caption=caption, panels=panels, table={}, across=across)
