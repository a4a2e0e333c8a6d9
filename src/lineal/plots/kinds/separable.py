"""The picture `separable`: a line that separates the classes, or the rows that prove that there is none."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from lineal.algebra.integers import floats
from lineal.errors import InputError, near
from lineal.ground.arrays import Array, Index
from lineal.plots.answers import answered
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.sample import Sample


def separable(
    data: Any,
    answer: str | PathLike[str] | None = None,
    *,
    target: str | None = None,
    formula: str | None = None,
    drop: Sequence[str] = (),
    x: str | None = None,
    y: str | None = None,
) -> Figure:
    """Return the witness of `lineal separable`: a separator, or rows of both classes whose hulls share a point.

    Where a halfspace separates, its boundary is drawn: through two columns as they are, of more columns the score of the
    separator is across. Where none does, Gordan's weights a > 0 with ``sum a_i y_i x_i = 0`` are drawn: their rows, as large
    as their weights, joined within each class; ``sum a x`` over each class is the same point, which lies in both hulls, and no
    line can part two hulls that share a point. ``answer`` is a file that `lineal separable -o` wrote about these rows: then
    nothing is decided again. ``x``, ``y`` name the design columns of the axes.

    >>> gates = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "xor": [0, 1, 1, 0]}
    >>> figure = separable(gates, target="xor")
    >>> figure.verdict.kind, figure.data["weight"]
    ('overlap', [1.0, 1.0, 1.0, 1.0])
    """
    known = answered(data, answer, target, formula, drop)
    found, X, own = known.found, known.X, known.own
    names, labels = found.columns, found.classes
    weights, w = np.zeros(len(X)), None
    if found.witness is not None and found.witness.rows is not None:
        for row, weight in zip(found.witness.rows, found.witness.weights or (), strict=True):
            weights[row] += float(weight)
    if found.witness is not None and found.witness.direction is not None:
        w = floats(found.witness.direction)[:, 0]
    features = [k for k, name in enumerate(names) if name != "(intercept)"]
    places, axes, words = _plane(X, w, names, features, x, y)
    sample = Sample(np.flatnonzero(weights).tolist())
    sample.add(np.arange(len(X)), own.astype(float), places)
    kept = sample.rows()
    marks = [Mark("points", places[kept, 0], places[kept, 1], group=own[kept], rows=kept)]
    if w is not None:
        marks += _separator(axes, w, features, names, scored=len(features) != 2)
    if weights.any():
        marks += _hulls(places, own, weights)
    table: dict[str, Any] = {"row": kept + 1, "class": [labels[k] for k in own[kept].tolist()]}
    table |= {axis.name: places[kept, k] for k, axis in enumerate(axes)}
    table["weight"] = weights[kept]
    if w is not None:
        table["score"] = (X @ w)[kept]
    return Figure(
        kind="separable", title=f"Can a line separate {labels[0]} from {labels[1]}?", classes=labels,
        caption=" ".join(filter(None, [words, sample.words(len(kept))])),
        panels=(Panel(axes[0], axes[1], tuple(marks)),), table=table,
        verdict=Word(found.kind, found.sentence, found.kind != "budget"),
    )  # fmt: skip


def _plane(
    X: Array, w: Array | None, names: Sequence[str], features: list[int], x: str | None, y: str | None
) -> tuple[Array, list[Axis], str]:
    """Return where rows are drawn, on which axes, and what the projection is."""
    for name in (x, y):
        if name is not None and name not in names:
            raise InputError(f"the design has no column {name!r}.{near(name, list(names))}")
    if w is not None and len(features) != 2:
        score = X @ w
        rest = X[:, features] - X[:, features].mean(axis=0)
        rest /= np.where((sd := rest.std(axis=0)) > 0.0, sd, 1.0)
        across = w[features] * sd
        if (size := np.linalg.norm(across)) > 0.0:
            rest -= np.outer(rest @ across / size, across / size)
        second = rest @ np.linalg.eigh(rest.T @ rest)[1][:, -1]
        places = np.column_stack([score, second])
        axes = [
            Axis.around("score of the separator", score, [0.0]),
            Axis.around("first direction orthogonal to it", second),
        ]
        return places, axes, "x is the score of the separator, all columns in it; y a direction orthogonal to it."
    chosen = [list(names).index(name) for name in (x, y) if name is not None]
    chosen += [k for k in features if k not in chosen][: 2 - len(chosen)]
    if len(chosen) < 2:
        places = np.column_stack([X[:, features[0]] if features else X[:, 0], np.zeros(len(X))])
        axes = [Axis.around(names[features[0]] if features else names[0], places[:, 0]), Axis("", -1.0, 1.0)]
        return places, axes, ""
    places = X[:, chosen]
    axes = [Axis.around(names[k], X[:, k], pad=0.12) for k in chosen]
    more = len(features) > 2
    return places, axes, "Other columns are left out of the picture; they are in the proof." if more else ""


def _separator(axes: list[Axis], w: Array, features: list[int], names: Sequence[str], *, scored: bool) -> list[Mark]:
    """Return the boundary of the separator."""
    if scored:
        return [Mark("rule", x=[0.0], role="strong", label="separator")]
    constant = float(w[0]) if names[0] == "(intercept)" else 0.0
    normal = w[features]
    reach = 2.0 * sum(axis.high - axis.low + abs(axis.low) + abs(axis.high) for axis in axes)
    foot, along = -constant * normal / (normal @ normal), np.array([-normal[1], normal[0]]) / np.linalg.norm(normal)
    ends = np.array([foot - reach * along, foot + reach * along])
    return [Mark("line", ends[:, 0], ends[:, 1], role="strong", label="separator")]


def _hulls(places: Array, own: Index, weights: Array) -> list[Mark]:
    """Return the rows of Gordan's proof, joined within each class, and the point that both hulls share."""
    marks = []
    for k in (0, 1):
        at = np.flatnonzero((own == k) & (weights > 0.0))
        if not len(at):
            continue
        center = places[at].mean(axis=0)
        turn = np.argsort(np.arctan2(*(places[at] - center).T[::-1]), kind="stable")
        ring = places[at[turn]]
        marks.append(Mark("polygon", ring[:, 0], ring[:, 1], group=k) if len(at) > 2 else
                     Mark("line", ring[:, 0], ring[:, 1], group=k, role="strong"))  # fmt: skip
        marks.append(
            Mark(
                "points",
                places[at, 0],
                places[at, 1],
                size=weights[at],
                group=k,
                hollow=np.ones(len(at)),
                role="strong",
            )
        )
    first = np.flatnonzero((own == 1) & (weights > 0.0))
    if len(first):
        point = weights[first] @ places[first] / weights[first].sum()
        marks.append(Mark("points", point[:1], point[1:], group=-1, role="strong", label="a point of both hulls"))
    return marks


KIND = Kind(
    name="separable",
    question="Can a line separate the classes, and what proves the answer?",
    inputs=("DATA", "ANSWER DATA"),
    notes=(12, 13, 14),
    draw=separable,
)
