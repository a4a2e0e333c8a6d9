"""The picture `neighbours`: shares of classes among the nearest rows, over the plane of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.api.training import fit
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.neighbors.neighbor_map import NeighborMap
from lineal.plots.catalogue import Kind
from lineal.plots.pairs import pair_of
from lineal.plots.planes import Plane, sliced
from lineal.plots.record import Figure, Mark, Panel
from lineal.plots.subject import Subject, model_of, subject_of
from lineal.plots.wording import listed

DEFAULT_NEIGHBORS = 5


def neighbours(
    model: Any = None,
    data: Any = None,
    *,
    target: str | None = None,
    x: str | None = None,
    y: str | None = None,
    neighbors: int | None = None,
    row: int | None = None,
) -> Figure:
    """Return the share of a class among the k nearest rows at every place of a plane, and which rows are nearest to one.

    From a table alone, k neighbors vote in the plane of two columns, each divided by its standard deviation. A model of
    neighbors is drawn as it is, other columns held. Lines lead from row ``row`` (from 1) to the rows that vote on it.

    >>> table = {"u": [0.0, 1.0, 2.0, 3.0], "v": [0.0, 1.0, 0.0, 1.0], "k": ["a", "a", "b", "b"]}
    >>> figure = neighbours(table, target="k", neighbors=1)
    >>> figure.data["prediction"]
    ['a', 'a', 'b', 'b']
    """
    if data is None:  # the only input is a table
        model, data = None, model
    subject, words = _asked(model, data, target, x, y, neighbors)
    seen = sliced(subject, x, y)
    nearest = subject.model.feature_map
    assert isinstance(nearest, NeighborMap)
    marks = [_ground(seen), *_lines(subject, nearest, seen, row)]
    marks.append(Mark("points", seen.px, seen.py, group=subject.group, rows=subject.rows, hollow=seen.hollow()))
    said = [str(one) for one in subject.model.predict(subject.design, subject.offset)]
    words.insert(0, f"{nearest.k:,} neighbors vote at every place; rows vote on themselves, too.")
    first, second = seen.columns
    name = subject.model.target.name
    return Figure(
        kind="neighbours", title=f"{name} by {nearest.k:,} neighbors",
        caption=" ".join(filter(None, [*words, seen.words, subject.sampled])),
        panels=(Panel(seen.x, seen.y, tuple(marks)),), classes=subject.classes, verdict=subject.verdict, source=subject.source,
        table={"row": subject.rows + 1, first: seen.px, second: seen.py, "prediction": said,
               name: [subject.classes[k] for k in subject.group.tolist()]},
    )  # fmt: skip


def _asked(
    model: Any, data: Any, target: str | None, x: str | None, y: str | None, neighbors: int | None
) -> tuple[Subject, list[str]]:
    """Return the model beside its rows: one that was given, or one of two columns that is fitted here."""
    if model is not None:
        fitted = model_of(model)
        KIND.require(fitted)
        if target is not None or neighbors is not None:
            raise InputError(
                "the model knows its target and its number of neighbors; leave --target and --neighbors out."
            )
        return subject_of(fitted, data), []
    pair = pair_of(data, target, x, y)
    k = min(neighbors or DEFAULT_NEIGHBORS, len(pair.rows))
    fitted = fit(pair.table, pair.target, model=f"knn:{k}", types=dict.fromkeys(pair.names, "number"), test_size=0.0)
    words = [f"Fitted here to {listed(list(pair.names))} alone."]
    return subject_of(fitted, pair.table), [*words, pair.sampled]


def _ground(seen: Plane) -> Mark:
    """Return the shares: of the second of two classes, or which class has most of them."""
    shares = seen.means()
    if len(seen.subject.classes) == 2:
        label = f"share of {seen.subject.classes[1]}"
        return Mark("heat", seen.gx, seen.gy, z=shares[:, -1].reshape(seen.shape), role="share", label=label)
    z = seen.subject.model.loss.decide(seen.scores()).astype(float).reshape(seen.shape)
    return Mark("heat", seen.gx, seen.gy, z=z, role="classes")


def _lines(subject: Subject, nearest: NeighborMap, seen: Plane, row: int | None) -> list[Mark]:
    """Return lines from a row to its neighbors among the rows that are drawn."""
    if row is None:
        return []
    at = np.flatnonzero(subject.rows == row - 1)
    if not len(at):
        raise InputError(f"row {row:,} is not among the {len(subject.rows):,} rows that are drawn.")
    from lineal.model.feature_map import inputs

    place = int(at[0])
    found = nearest.nearest(inputs(subject.design)[place : place + 1]).rows[0]
    drawn = {_key(one): k for k, one in enumerate(nearest.compared(inputs(subject.design)))}
    ends = [drawn[key] for key in (_key(one) for one in nearest.compared(nearest.rows)[found]) if key in drawn]
    here = np.full(len(ends), seen.px[place]), np.full(len(ends), seen.py[place])
    return [Mark("segments", *here, seen.px[ends], seen.py[ends], role="strong", label=f"neighbors of row {row:,}")]


def _key(row: Array) -> bytes:
    return np.asarray(row, np.float64).tobytes()


def _refuses(model: Model) -> str:
    if not isinstance(model.feature_map, NeighborMap):
        return "it asks no neighbors; fit model knn:5, or draw it from the table alone with --target."
    return "" if model.target.kind == "classes" else "it predicts a number; ask for fit."


KIND = Kind(
    name="neighbours",
    question="Which class do the nearest rows vote for, everywhere in a plane?",
    inputs=("DATA", "MODEL DATA"),
    notes=(37,),
    draw=neighbours,
    refuses=_refuses,
)
