"""Results that read as a headline, tables and notes: as text, on a terminal and in a notebook."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lineal.errors import LinealError
from lineal.ground.records import dataclass

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


@dataclass(frozen=True)
class Grid:
    """Cells in lines, the heading first; the leading ``texts`` columns are words, the others numbers.

    >>> print(Grid((("", "vif"), ("a", "1.5"))))
       vif
    a  1.5
    """

    cells: Sequence[Sequence[str]]
    texts: int = 1
    title: str = ""

    def __str__(self) -> str:
        widths = [max(len(line[k]) for line in self.cells) for k in range(len(self.cells[0]))]
        lines = [
            "  ".join(
                cell.ljust(w) if k < self.texts else cell.rjust(w)
                for k, (cell, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in self.cells
        ]
        return "\n".join([*([self.title] if self.title else []), *lines])

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        head, *lines = self.cells
        table = Table(
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="bold",
            title_justify="left",
            title_style="bold",
        )
        table.title = Text(self.title) if self.title else None
        for k, name in enumerate(head):
            table.add_column(Text(name), justify="left" if k < self.texts else "right", overflow="fold")
        for line in lines:
            table.add_row(*map(Text, line))
        return table

    def _repr_html_(self) -> str:
        head, *lines = ([html.escape(cell) for cell in line] for line in self.cells)
        top = "".join(f"<th>{cell}</th>" for cell in head)
        rows = "".join(f"<tr><th>{line[0]}</th>{''.join(f'<td>{c}</td>' for c in line[1:])}</tr>" for line in lines)
        title = f"<p>{html.escape(self.title)}</p>" if self.title else ""
        return f"{title}<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"


class Tabled:
    """A result that shows as a ``headline``, the ``grids``, a line of figures and ``notes``."""

    notes: tuple[str, ...] = ()
    picture: str = ""
    """The kind of picture that a notebook shows below the tables; "" where there is none."""

    @property
    def headline(self) -> str:
        """What the result is about, in one line."""
        raise NotImplementedError

    @property
    def figure_line(self) -> str:
        """The figures about the whole, in one line; "" where there are none."""
        return ""

    def grids(self) -> list[Grid]:
        """Return the tables."""
        raise NotImplementedError

    def __str__(self) -> str:
        parts = [self.headline]
        for grid in self.grids():
            parts += ["", str(grid)]
        return "\n".join([*parts, "", *([self.figure_line] if self.figure_line else []), *self.notes]).rstrip("\n")

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = [Text(self.headline, style="bold")]
        for grid in self.grids():
            parts += [Text(), grid]
        parts += [Text(), Text(self.figure_line)] if self.figure_line else [Text()] if self.notes else []
        return Group(*parts, *(Text(note, style="dim") for note in self.notes))

    def _repr_html_(self) -> str:
        below = "".join(f"<p>{html.escape(words)}</p>" for words in (self.figure_line, *self.notes) if words)
        tables = "".join(grid._repr_html_() for grid in self.grids())
        drawn = pictured(self, self.picture) if self.picture else ""
        return f'<div class="lineal-summary"><p><b>{html.escape(self.headline)}</b></p>{tables}{below}{drawn}</div>'


def pictured(result: object, kind: str) -> str:
    """Return the picture of a result as an image in HTML; "" without matplotlib, or where there is nothing to draw.

    An image runs no script and is shown in an untrusted notebook, too.

    >>> import lineal
    >>> model = lineal.fit({"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]}, "y", model="linear")
    >>> pictured(model, "coefficients")[:27] in ("", '<p><img alt="What moves y" ')
    True
    """
    import lineal  # (the public name: pictures stand above what they show)

    try:
        figure = lineal.plot(result, kind)
    except LinealError:
        return ""
    svg = figure._repr_mimebundle_().get("image/svg+xml")
    if svg is None:
        return ""
    data = base64.b64encode(svg.encode()).decode()
    return f'<p><img alt="{html.escape(figure.title)}" src="data:image/svg+xml;base64,{data}"/></p>'


def short(value: float | None) -> str:
    """Return a number with five significant digits, a dash where there is none.

    >>> short(0.123456789), short(None), short(float("nan"))
    ('0.12346', '-', '-')
    """
    return "-" if value is None or math.isnan(value) else f"{value:.5g}"


def plain(value: object) -> object:
    """Return plain JSON data: a number that is not finite becomes None.

    >>> plain({"p": float("nan"), "names": ("a",)})
    {'p': None, 'names': ['a']}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
