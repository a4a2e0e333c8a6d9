"""How a Figure becomes a file: pictures by the painters, JSON and CSV without them, and what a notebook shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from lineal.errors import InputError
from lineal.plots.record import Figure

THEMES: Final = ("light", "dark", "print")


def save(
    figure: Figure, path: Any, *, width: int | None = None, height: int | None = None, theme: str = "light"
) -> None:
    """Write a figure in the format that the ending of the name says; sizes are in pixels, 100 to an inch."""
    target = Path(path)
    target.write_bytes(content(figure, target.suffix.lower(), width=width, height=height, theme=theme))


def content(
    figure: Figure, ending: str, *, width: int | None = None, height: int | None = None, theme: str = "light"
) -> bytes:
    """Return the bytes of a file with this ending: the same for the same figure and versions."""
    check(ending, theme)
    if ending in (".svg", ".png", ".pdf"):
        from lineal.plots.paint.matplotlib_painter import painted

        return painted(figure, ending[1:], width=width, height=height, theme=theme)
    if ending == ".html":
        from lineal.plots.paint.plotly_painter import page

        return page(figure, width=width, height=height, theme=theme).encode()
    return PLAIN[ending](figure).encode()


def check(ending: str, theme: str) -> None:
    """Refuse a format or theme that does not exist, before any work is done."""
    if ending not in (*PAINTED, *PLAIN):
        raise InputError(f"a picture cannot be written as {ending or 'a file without an ending'}; "
                         f"the name must end in one of {', '.join((*PAINTED, *PLAIN))}.")  # fmt: skip
    if theme not in THEMES:
        raise InputError(f"the theme is {theme!r}; it is one of {', '.join(THEMES)}.")


def as_csv(figure: Figure) -> str:
    """Return the table twin as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(figure.table)
    writer.writerows(zip(*figure.table.values(), strict=True))
    return text.getvalue()


def bundle(figure: Figure) -> dict[str, str]:
    """Return what a notebook shows, without a server and in an untrusted one, too."""
    shown = {"text/plain": repr(figure)}
    try:
        return {**shown, "image/svg+xml": content(figure, ".svg").decode()}
    except InputError:  # (matplotlib is not there)
        return shown


PAINTED: Final = (".svg", ".png", ".pdf", ".html")
PLAIN: Final[Mapping[str, Callable[[Figure], str]]] = {".json": Figure.to_json, ".csv": as_csv}
