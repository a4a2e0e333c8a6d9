"""Pieces of a page: everything that strangers wrote becomes text here, and nowhere else."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from lineal.plots.wording import clean, number

MAX_TEXT: Final = 2000
"""Characters of one piece of text."""


def text(value: object, limit: int = MAX_TEXT) -> str:
    """Return what somebody wrote as text of a page.

    >>> text("<b>age</b>")
    '&lt;b&gt;age&lt;/b&gt;'
    """
    return html.escape(clean(value, limit), quote=True)


def cell(value: Any) -> str:
    """Return a cell of a table as text."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, float):
        return text(number(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return text(value, 160)


def sentence(words: object, kind: str = "") -> str:
    """Return a paragraph."""
    return f'<p class="{kind}">{text(words)}</p>' if kind else f"<p>{text(words)}</p>"


def sentences(several: Iterable[object]) -> str:
    """Return a list of sentences; "" if there are none."""
    items = "".join(f"<li>{text(one)}</li>" for one in several)
    return f"<ul>{items}</ul>" if items else ""


def code(words: str) -> str:
    """Return what is typed."""
    return f"<pre><code>{text(words)}</code></pre>"


def facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return names with what is known of each."""
    lines = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in pairs)
    return f"<dl>{lines}</dl>" if lines else ""


def table(head: Sequence[str], rows: Sequence[Sequence[Any]], most: int | None = None) -> str:
    """Return a table; numbers stand to the right, and above ``most`` rows the others are counted."""
    if not rows:
        return ""
    shown = rows if most is None else rows[:most]
    top = "".join(f'<th scope="col">{text(name, 80)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in shown)
    left = f"<p>{len(rows) - len(shown):,} more rows are left out.</p>" if len(shown) < len(rows) else ""
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>{left}'


def folded(summary: str, inner: str) -> str:
    """Return what is shown on request; in print it is left out."""
    return f"<details><summary>{text(summary)}</summary>{inner}</details>"


def section(place: int, title: str, parts: Iterable[str]) -> str:
    """Return a numbered section."""
    return f'<section id="s{place}"><h2>{place}. {text(title)}</h2>{"".join(parts)}</section>'


def _td(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td class="n" data-v="{float(value)!r}">{cell(value)}</td>'
    return f"<td>{cell(value)}</td>"
