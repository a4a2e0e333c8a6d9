"""The picture `contributions`: how the score of one row comes together, column by column."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.errors import InputError, near
from lineal.inference.contributions import Contributions
from lineal.inference.contributions import contributions as parts_of
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import clean, number

MAX_BARS: Final = 15
"""Columns that are drawn; what the others add is one bar."""
FEW: Final = 3
"""With fewer columns of the data than this, design columns are drawn: the words of a text."""
REFERENCES: Final = ("zero", "typical")


def contributions(
    model: Any,
    data: Any,
    *,
    row: int = 1,
    against: str = "zero",
    of: str | None = None,
    threshold: float | None = None,
) -> Figure:
    """Return how the score of a row (counted from 1) is the sum of what each column adds: ``score = b_0 + sum (x_j - r_j) b_j``.

    The reference ``r`` is 0 (``against`` "zero"), or the typical row ("typical"): then the bars say what is special about this
    row. Of several scores that of the class ``of`` is drawn, which is the predicted one unless named. A dashed line is where
    two classes are parted: the score 0, or that of the probability ``threshold``.

    >>> import lineal
    >>> table = {"a": [0.0, 1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0, 2.0], "y": [1.0, 3.0, 4.0, 9.0]}
    >>> figure = contributions(lineal.fit(table, "y", model="linear", penalty="none"), table, row=4)
    >>> figure.data["column"], [round(one, 6) for one in figure.data["adds"]]
    (['(intercept)', 'b = 2', 'a = 1'], [1.0, 6.0, 2.0])
    """
    fitted = model_of(model)
    KIND.require(fitted)
    if against not in REFERENCES:
        raise InputError(f"against is {against!r}; it is {' or '.join(REFERENCES)}.")
    if row < 1:
        raise InputError(f"there is no row {row}; rows are numbered from 1.")
    row -= 1
    subject = subject_of(fitted, data, also=(row,))
    parts = parts_of_row(subject, row, against)
    output = _output(subject, row, of)
    marks, table, axes = _waterfall(subject, row, parts, output, against)
    name = _score_name(fitted, output)
    cut = _cut(fitted, threshold)
    if cut is not None:
        marks.append(Mark("rule", [cut], role="guide", label=f"decided here: {number(cut)}"))
    typical = against == "typical"
    end = float(table["score"][-1])
    words = (
        f"From {'the score of the typical row' if typical else 'the intercept'} each column adds its part, up to the {name}, "
        f"{number(end)}."
    )
    held = subject.held(()).replace("Other columns are held at the typical row", "The typical row") if typical else ""
    edges = [0.0, *table["score"], *([] if cut is None else [cut])]
    low, high = min(edges), max(edges)
    room = 0.14 * (high - low) or 0.5
    return Figure(
        kind="contributions",
        title=f"How row {row + 1} gets its {name}",
        caption=" ".join([words, _said(subject, row), held]).strip(),
        panels=(Panel(Axis(name, low - room, high + room), axes, tuple(marks)),),
        verdict=subject.verdict,
        table=table,
        source={**subject.source, "row": row + 1},
    )


def parts_of_row(subject: Subject, row: int, against: str = "zero") -> Contributions:
    """Return what each column adds to the scores of one row of a subject."""
    at = place(subject, row)
    design = subject.design.slice(at, at + 1)
    reference = None
    if against == "typical":
        name, value = next(iter(subject.typical.items()))
        reference, _ = subject.at({name: [value]})
    few = len(subject.names) < FEW and design.shape[1] > MAX_BARS
    return parts_of(subject.model, design, against=reference, each=few)


def place(subject: Subject, row: int) -> int:
    """Return where a row of the data, by its number from 0, is among those of a subject."""
    found = np.flatnonzero(subject.rows == row)
    if not len(found):
        raise InputError(
            f"there is no row {row + 1} with a target; the rows that have one are 1 to {subject.rows[-1] + 1}."
        )
    return int(found[0])


def _output(subject: Subject, row: int, of: str | None) -> int:
    names = [clean(one) for one in subject.model.outputs]
    if of is not None:
        if clean(of) not in names:
            raise InputError(f"there is no score of {of!r}.{near(of, names)} The scores are of {', '.join(names[:8])}.")
        return names.index(clean(of))
    scores = subject.scores[place(subject, row)]
    return int(scores.argmax()) if subject.model.target.kind == "classes" else 0


def _score_name(model: Model, output: int) -> str:
    several = len(model.outputs) > 1 or model.target.kind == "classes"
    return f"score of {clean(model.outputs[output], 32)}" if several else "score"


def _cut(model: Model, threshold: float | None) -> float | None:
    """Return the score at which two classes are parted."""
    if model.target.kind != "classes" or model.coef.shape[1] != 1:
        if threshold is not None:
            raise InputError("a threshold parts two classes; this model has other answers.")
        return None
    boundary = None if threshold is None else model.rule(threshold).boundary
    return 0.0 if boundary is None else boundary


def _said(subject: Subject, row: int) -> str:
    """Return what the model says of the row."""
    model, at = subject.model, place(subject, row)
    one = subject.design.slice(at, at + 1)
    offset = None if subject.offset is None else subject.offset[at : at + 1]
    label = model.predict(one, offset)[0]
    if model.target.kind != "classes":
        return f"Predicted is {number(float(np.reshape(label, -1)[0]))}."
    sure = "" if model.loss.decides else f", with probability {number(float(model.predict_proba(one, offset).max()))}"
    return f"Predicted is {clean(label)}{sure}."


def _waterfall(
    subject: Subject, row: int, parts: Contributions, output: int, against: str
) -> tuple[list[Mark], dict[str, Any], Axis]:
    """Return the bars from the start to the score, the largest part first, as a table and with their axis."""
    at, model = place(subject, row), subject.model
    ordered = [(name, value) for name, value in parts.largest(0, output) if value]
    shown, rest = ordered[:MAX_BARS], ordered[MAX_BARS:]
    first = "typical row" if against == "typical" else "(intercept)" if model.has_intercept else "(nothing)"
    steps = [(first, float(parts.start[output]))]
    steps += [(f"{clean(name, 30)}{_cell(subject, name, at)}", value) for name, value in shown]
    if rest:
        steps.append((f"{len(rest):,} more", float(sum(value for _, value in rest))))
    if subject.offset is not None:
        steps.append(("offset", float(subject.offset[at, 0])))
    names, values = [name for name, _ in steps], np.array([value for _, value in steps])
    ends = np.cumsum(values)
    starts = ends - values
    height = np.arange(len(steps), 0, -1.0)
    colors = np.where(values < 0.0, 0, 1)
    colors[0] = -1
    bars = Mark("bars", starts, height - 0.36, ends, height + 0.36, group=colors)
    total = Mark("bars", [0.0], [-0.36], [ends[-1]], [0.36])
    links = Mark("segments", ends, height - 0.36, ends, height - 0.64, role="faint")
    marks = [bars, total, links, *_labels(values, starts, ends, height)]
    axis = Axis.of_levels("column", ["= score", *reversed(names)])
    return marks, {"column": names, "adds": values, "score": ends}, axis


def _labels(values: Any, starts: Any, ends: Any, height: Any) -> list[Mark]:
    """Return what each bar adds as words beside its end."""
    marks = []
    for side, chosen in (("right", values >= 0.0), ("left", values < 0.0)):
        words = tuple(f"{value:+.3g}" for value in values[chosen])
        where = np.maximum(starts, ends) if side == "right" else np.minimum(starts, ends)
        if words:
            marks.append(Mark("text", where[chosen], height[chosen], text=words, side=side))
    side = "right" if ends[-1] >= 0.0 else "left"
    marks.append(Mark("text", [ends[-1]], [0.0], text=(f"{ends[-1]:.4g}",), side=side, role="strong"))
    return marks


def _cell(subject: Subject, name: str, at: int) -> str:
    """Return what the row has in a column: ` = 39.1`; "" where it is no single cell."""
    if name not in subject.cells:
        return ""
    value = subject.cells[name][at]
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return " is missing"
    return f" = {number(float(value)) if subject.numeric(name) else clean(value, 20)}"


def refuses(model: Model) -> str:
    """Say why a model has no parts of a score by column; "" if it has."""
    if model.feature_map is not None:
        return "its coefficients multiply columns that are made of training rows; draw effect."
    return ""


KIND = Kind(
    name="contributions",
    question="How does the score of one row come together?",
    inputs=("MODEL DATA",),
    notes=(21, 40, 41),
    draw=contributions,
    refuses=refuses,
)
