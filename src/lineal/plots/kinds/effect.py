"""The picture `effect`: how the prediction changes along one column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.plots.catalogue import Kind
from lineal.plots.intervals import mean_band
from lineal.plots.planes import held_at
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import GRID, Subject, subject_of
from lineal.plots.wording import clean

MAX_LEVELS: Final = 12
"""Levels of a category that are drawn, the most frequent ones."""
AVERAGED: Final = 200
"""Rows over which predictions are averaged."""
POINTS: Final = 25
"""Places of a column at which they are."""
BINS: Final = 10
"""Parts of the rows, by the column, whose mean target is drawn."""


def effect(model: Any, data: Any, *, x: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Return the predicted mean along one column ``x``, the one of largest effect unless named.

    The thick line holds other columns at the typical row, or where ``at`` says, with a 95 % interval where the fit has one;
    the dashed one is the mean over rows as they are, with this column changed. Points are means of the target over tenths of
    the rows. Of classes the mean is their probability (of two: of the second), or the score of a loss without probabilities.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 3.0, 5.0, 9.0]}
    >>> figure = effect(lineal.fit(table, "y", model="linear", penalty="none"), table)
    >>> line = next(mark for mark in figure.panels[0].marks if mark.kind == "line")
    >>> round(float(line.y[-1] - line.y[0]), 6), float(line.x[-1] - line.x[0])
    (8.0, 4.0)
    """
    return effect_of(subject_of(model, data), x, at)


def effect_of(subject: Subject, x: str | None = None, at: Mapping[str, Any] | None = None) -> Figure:
    """Return the picture of rows that are read already."""
    (name,) = subject.axes((x,), 1, numbers=False)
    held = held_at(subject, at, (name,))
    numeric = subject.numeric(name)
    levels: Any = _grid(subject, name) if numeric else _levels(subject, name)
    places = levels if numeric else np.arange(len(levels), dtype=float)
    design, offset = subject.at({name: levels}, held)
    line = _told(subject, design, offset)
    band = None if subject.model.loss.decides else mean_band(subject.model, design, offset)
    some = _some(levels, numeric)
    mean = _averaged(subject, name, some, held)
    px, py = _happened(subject, name, levels)
    across = Axis.around(name, levels) if numeric else Axis.of_levels(name, [clean(one, 18) for one in levels])
    outputs = _outputs(subject)
    marks, seen = [], [line, mean, py]
    if band is not None:
        seen += [np.column_stack(band)]
        marks.append(_band(places, band, numeric))
    average_at = some if numeric else places
    for k in range(line.shape[1]):
        kind = "line" if numeric else "points"
        label = "typical row" if line.shape[1] == 1 else outputs[k]
        marks.append(Mark(kind, places, line[:, k], group=k, role="strong", label=label))
        marks.append(
            Mark("line", average_at, mean[:, k], group=k, role="guide", label="mean over rows" if not k else "")
        )
        label = "mean of the target" if not k else ""
        marks.append(
            Mark(
                "points",
                px,
                py[:, k],
                group=k if line.shape[1] > 1 else 1,
                hollow=[True] * len(px),
                label=label,
            )
        )
    if numeric:
        marks.append(_rug(subject.cells[name], np.concatenate([one.reshape(-1) for one in seen])))
    words = [
        "Hollow points are means of the target over tenths of the rows."
        if numeric
        else "Hollow points are means of the target."
    ]
    if band is not None:
        words.append("The interval holds the mean with 95 %.")
    table: dict[str, Any] = {name: levels}
    for k, output in enumerate(outputs):
        table |= {f"{output}: typical row": line[:, k]}
    if band is not None:
        table |= {"lower": band[0], "upper": band[1]}
    up = Axis.around(_named(subject, outputs), *seen)
    return Figure(
        kind="effect",
        title=f"{subject.model.target.name} along {name}",
        caption=" ".join([subject.held((name,), held), *words, subject.sampled]).strip(),
        panels=(Panel(across, up, tuple(marks)),),
        classes=tuple(outputs) if line.shape[1] > 1 else (),
        verdict=subject.verdict,
        table=table,
        source=subject.source,
    )  # fmt: skip


def _grid(subject: Subject, name: str) -> Array:
    seen = subject.cells[name][np.isfinite(subject.cells[name])]
    if not len(seen):
        raise InputError(f"the column {name!r} holds no number in the rows given.")
    return np.linspace(seen.min(), seen.max(), GRID + 1) if seen.max() > seen.min() else seen[:1]


def _levels(subject: Subject, name: str) -> list[str | None]:
    values, counts = np.unique([value for value in subject.cells[name] if value is not None], return_counts=True)
    if not len(values):
        raise InputError(f"the column {name!r} is empty in the rows given.")
    if len(values) > len(subject.rows) // 2 and len(values) > MAX_LEVELS:
        raise InputError(f"the column {name!r} holds text, which has no line of values; draw contributions or words.")
    kept = np.sort(np.argsort(-counts, kind="stable")[:MAX_LEVELS])
    return list(map(str, values[kept]))


def _some(levels: Any, numeric: bool) -> Any:
    return levels[np.unique(np.linspace(0, len(levels) - 1, POINTS).astype(int))] if numeric else levels


def _told(subject: Subject, design: Any, offset: Array | None) -> Array:
    model = subject.model
    return model.scores(design, offset) if model.loss.decides else model.means(design, offset)


def _averaged(subject: Subject, name: str, levels: Any, held: Mapping[str, Any]) -> Array:
    """Return the mean prediction over rows, their own cells kept, at every value of the column."""
    rows = np.unique(np.linspace(0, len(subject.rows) - 1, AVERAGED).astype(int))
    cells = {key: _taken(values, rows, len(levels)) for key, values in subject.cells.items()}
    cells |= {key: [value] * (len(rows) * len(levels)) for key, value in held.items()}
    each = [level for level in list(levels) for _ in rows]
    cells[name] = np.array(each, float) if subject.numeric(name) else each
    design, offset = subject.at(cells)
    return np.asarray(_told(subject, design, offset).reshape(len(levels), len(rows), -1).mean(axis=1))


def _taken(values: Any, rows: Any, times: int) -> Any:
    if isinstance(values, np.ndarray):
        return np.tile(values[rows], times)
    return [values[row] for row in rows.tolist()] * times


def _happened(subject: Subject, name: str, levels: Any) -> tuple[Array, Array]:
    """Return the mean target of parts of the rows by the column: tenths of numbers, or every level."""
    y = _targets(subject)
    weight = np.ones(len(y)) if subject.weight is None else subject.weight
    if subject.numeric(name):
        values = subject.cells[name]
        known = np.isfinite(values)
        edges = np.unique(np.quantile(values[known], np.linspace(0.0, 1.0, BINS + 1)[1:-1]))
        part = np.where(known, np.searchsorted(edges, values, side="right"), -1)
        count = len(edges) + 1
    else:
        place = {level: k for k, level in enumerate(levels)}
        part = np.array([place.get(value, -1) for value in subject.cells[name]])
        values, count = part.astype(float), len(levels)
    used = [k for k in range(count) if weight[part == k].sum() > 0.0]
    px = np.array([np.average(values[part == k], weights=weight[part == k]) for k in used])
    py = np.array([np.average(y[part == k], axis=0, weights=weight[part == k]) for k in used]).reshape(len(used), -1)
    return px, py


def _targets(subject: Subject) -> Array:
    """Return what the drawn mean is a mean of: numbers, or 1 for rows of a class."""
    if subject.model.target.kind != "classes":
        return subject.y
    outputs = subject.scores.shape[1]
    second = subject.y[:, :1]
    if outputs == 1:
        return np.asarray(2.0 * second - 1.0 if subject.model.loss.decides else second)
    return np.asarray(second == np.arange(outputs), np.float64)


def _outputs(subject: Subject) -> list[str]:
    return [clean(one, 32) for one in subject.model.outputs]


def _named(subject: Subject, outputs: list[str]) -> str:
    model = subject.model
    if model.target.kind != "classes":
        return str(model.target.name)
    what = "score" if model.loss.decides else "probability"
    return what if len(outputs) > 1 else f"{what} of {outputs[0]}"


def _band(places: Array, band: tuple[Array, Array], numeric: bool) -> Mark:
    if numeric:
        return Mark("area", places, band[0], y2=band[1], group=0, label="95 % of the mean")
    return Mark("segments", places, band[0], places, band[1], group=0, label="95 % of the mean")


def _rug(values: Array, seen: Array) -> Mark:
    """Return the rows as ticks along the lower edge."""
    ticks = np.unique(values[np.isfinite(values)])
    ticks = ticks[np.unique(np.linspace(0, len(ticks) - 1, 300).astype(int))]
    seen = seen[np.isfinite(seen)]
    low, reach = float(seen.min()), float(np.ptp(seen)) or 1.0
    return Mark(
        "segments",
        ticks,
        np.full(len(ticks), low - 0.035 * reach),
        ticks,
        np.full(len(ticks), low - 0.01 * reach),
        role="faint",
    )


KIND = Kind(
    name="effect",
    question="How does the prediction change along one column?",
    inputs=("MODEL DATA",),
    notes=(),
    draw=effect,
)
