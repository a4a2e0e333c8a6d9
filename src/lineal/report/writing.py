"""Puts the sections of a report in order: the verdict first, provenance last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lineal.errors import LinealError
from lineal.report import asked, closing, html, look, predicted
from lineal.report.facts import Facts
from lineal.report.pictures import Gallery

__all__ = ["Facts", "written"]


def written(facts: Facts, theme: str = "light") -> str:
    """Return the report as one HTML page: the same text for the same facts and versions."""
    gallery = Gallery(theme, rows=facts.rows > 0)
    sections = [(title, _parts(make)) for title, make in _sections(facts, gallery)]
    body = [html.section(place, title, parts) for place, (title, parts) in enumerate(sections, 2)]
    contents = "".join(
        f'<a href="#s{place}">{place}. {html.text(title)}</a>' for place, (title, _) in enumerate(sections, 2)
    )
    without = (
        html.sentence(f"Pictures are left out, their numbers are tables: {gallery.without}") if gallery.without else ""
    )
    title = html.text(f"{facts.files[0]}: {facts.model.target.name}", 120)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{look.policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><link rel="icon" href="data:,">'
        f"<title>{title}</title><style>{look.style(theme)}</style></head>"
        f'<body><main>{asked.heading(facts)}{without}<nav aria-label="Sections">{contents}</nav>{"".join(body)}</main>'
        f"<script>{look.SCRIPT}</script></body></html>\n"
    )


def _parts(make: Callable[[], Iterator[str]]) -> list[str]:
    """Return what a section says; where rows cannot be read (the checker has said so), the reason."""
    parts = list[str]()
    try:
        parts.extend(make())
    except LinealError as error:
        parts.append(html.sentence(f"Not known: {error}"))
    return parts


def _sections(facts: Facts, gallery: Gallery) -> list[tuple[str, Callable[[], Iterator[str]]]]:
    """Return titles with what writes each section."""
    return [
        ("What was asked", lambda: asked.asked(facts)),
        ("What the checker says", lambda: asked.checked(facts)),
        ("The data", lambda: asked.data(facts, gallery)),
        ("The picture", lambda: predicted.picture(facts, gallery)),
        ("How well it predicts", lambda: predicted.figures(facts, gallery)),
        ("What moves the answer", lambda: predicted.coefficients(facts, gallery)),
        ("How the strength was chosen", lambda: predicted.strength(facts, gallery)),
        ("Along the strongest columns", lambda: predicted.effects(facts, gallery)),
        ("Rows to look at", lambda: closing.rows(facts, gallery)),
        ("Decisions", lambda: closing.decisions(facts, gallery)),
        ("How it was found", lambda: closing.found(facts, gallery)),
        ("What is not known", lambda: closing.unknown(facts)),
        ("Provenance", lambda: closing.provenance(facts)),
    ]
