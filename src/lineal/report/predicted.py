"""The middle of a report: the picture, held-out figures, coefficients, the choice of the strength, effects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lineal.errors import LinealError
from lineal.plots.kinds import kind
from lineal.plots.kinds.effect import effect_of
from lineal.plots.kinds.path import path_of
from lineal.plots.record import Figure
from lineal.plots.walked import of_file
from lineal.report import html
from lineal.report.facts import Facts
from lineal.report.pictures import Gallery, merged
from lineal.report.sentences import about_columns
from lineal.tables.table import as_table

EFFECTS = 6
"""Columns whose effects are drawn."""


def picture(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield the picture of the whole fit."""
    name = "boundary" if facts.of_classes else "fit"
    yield gallery.show(lambda: kind(name).draw(facts.model, facts.subject))


def figures(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield what was measured on rows held out, and the pictures of decisions or of residuals."""
    metrics, evaluation = facts.about["metrics"], facts.about["evaluation"] or {}
    intervals = evaluation.get("intervals", {})
    test, baseline = metrics.get("test", {}), metrics.get("baseline", {})
    if test:
        lines = [
            (name.replace("_", " "), value, *(intervals.get(name) or (None, None)), baseline.get(name))
            for name, value in test.items()
        ]
        yield html.table(("figure", "held out", "from", "to (95 %)", "baseline"), lines)
        yield html.sentence("The baseline predicts the same for every row: the best constant of the training rows.")
    else:
        yield html.sentence("No rows were held out, so nothing is known about rows that were not fitted.")
    if facts.of_classes:
        for name in ("confusion", "calibration", "roc", "precision"):
            yield gallery.show(lambda name=name: _drawn(name, facts, facts.measured))  # type: ignore[misc]
    else:
        yield gallery.show(lambda: _drawn("residuals", facts, facts.diagnosed))


def _drawn(name: str, facts: Facts, rows: object) -> Figure:
    """Return a picture of rows that are read already, if it is for this model."""
    kind(name).require(facts.model)
    return kind(name).draw(facts.model, rows)


def coefficients(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield sentences about the strongest columns, coefficients with intervals, words and bounds."""
    yield html.sentences(about_columns(facts.model))
    yield gallery.show(lambda: _drawn("coefficients", facts, None))
    for entry in facts.about["words"]:
        yield html.sentence(
            f"Words of {entry['column']} that speak most for {entry['for']}: {', '.join(entry['words'])}."
        )
    bounds = facts.about["model"].get("bounds")
    if bounds:
        yield html.sentences(f"Bound: {one}" for one in (bounds if isinstance(bounds, list) else [bounds]))
    if facts.about["aside"]:
        yield html.sentence(facts.about["aside"])


def strength(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield how the strength of the penalty was chosen."""
    known = facts.model.report.get("selection")
    if not known:
        yield html.sentence("It was given, or there is no penalty: nothing was chosen by the data.")
    else:
        yield gallery.show(lambda: _drawn_alone("selection", facts))
    if facts.path is not None:
        path = facts.path
        yield gallery.show(lambda: _walked(facts, path))


def _walked(facts: Facts, path: Path) -> Figure:
    """Return the picture of a path file, in the units that the model knows of its columns."""
    sd = facts.model.report.get("sd")
    known = None if sd is None else dict(zip(facts.model.columns, map(float, sd), strict=True))
    return path_of(of_file(as_table(path), known))


def _drawn_alone(name: str, facts: Facts) -> Figure:
    return kind(name).draw(facts.model)


def effects(facts: Facts, gallery: Gallery) -> Iterator[str]:
    """Yield how the prediction changes along the strongest columns."""
    drawn, reasons = list[Figure](), list[str]()
    try:
        names = list(facts.subject.effects)
    except LinealError as error:
        yield html.sentence(f"Not drawn: {error}")
        return
    for name in names:
        if len(drawn) == EFFECTS:
            break
        try:
            drawn.append(effect_of(facts.subject, name))
        except LinealError as error:
            reasons.append(str(error))
    if drawn:
        words = (
            "One column at a time: thick with the others at the typical row, dashed the mean over rows, points the mean "
            "target."
        )
        yield gallery.show(lambda: merged(drawn, "Along the strongest columns", words))
        yield html.sentence(
            facts.subject.held(()).replace("Other columns are held at the typical row", "The typical row", 1)
        )
    yield html.sentences(f"Not drawn: {reason}" for reason in reasons[:5])
