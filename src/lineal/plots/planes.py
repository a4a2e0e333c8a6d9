"""The plane in which rows with many columns are drawn: a slice at the typical row, or the score beside what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lineal.api.training import fit as fit_table
from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.ground.arrays import Array, Mask
from lineal.ground.records import dataclass
from lineal.plots.record import Axis
from lineal.plots.subject import GRID, Cells, Subject, subject_of
from lineal.plots.wording import clean

VIEWS: Final = ("slice", "score", "pair")
MAX_DIRECTIONS: Final = 500
"""Design columns, those of largest effect, among which the second direction of the view ``score`` is looked for."""


@dataclass(frozen=True)
class Plane:
    """Where rows are drawn, and what the model says at every point of a grid.

    ``px, py`` are the places of the rows, ``gx, gy`` the coordinates of the grid; ``design`` with ``offset`` are the rows of the
    grid, x running fastest (None in the view ``score``, where ``gx`` are the scores themselves). ``words`` say what the
    projection is.
    """

    subject: Subject
    x: Axis
    y: Axis
    px: Array
    py: Array
    gx: Array
    gy: Array
    design: Design | None
    offset: Array | None
    words: str
    columns: tuple[str, str] = ("", "")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the grid."""
        return len(self.gy), len(self.gx)

    def scores(self) -> Array:
        """Return the scores at every point of the grid, shape ``(points, outputs)``."""
        if self.design is None:
            return np.tile(self.gx, len(self.gy))[:, None]
        return self.subject.model.scores(self.design, self.offset)

    def means(self) -> Array:
        """Return what the model predicts at every point of the grid, shape ``(points, outputs)``."""
        if self.design is None:
            return self.subject.model.loss.mean(self.scores())
        return self.subject.model.means(self.design, self.offset)

    def hollow(self) -> Mask:
        """Return the rows whose prediction in the plane is another than that of the whole row."""
        subject = self.subject
        if self.design is None:
            return np.zeros(len(self.px), np.bool_)
        here, offset = subject.at(dict(zip(self.columns, (self.px, self.py), strict=True)))
        model = subject.model
        if model.target.kind == "classes":
            return np.asarray(model.predict(here, offset) != model.predict(subject.design, subject.offset))
        eta, full = model.scores(here, offset), subject.scores
        return np.asarray(np.abs(eta - full).max(axis=1) > 1e-6 * max(float(np.abs(full).max()), 1e-300))


def plane(
    subject: Subject, view: str | None, x: str | None = None, y: str | None = None, at: Cells | None = None
) -> Plane:
    """Return the plane of a view; ``slice`` unless there are two classes and more than two columns: then ``score``."""
    if view is not None and view not in VIEWS:
        raise InputError(f"the view is {view!r}; it is one of {', '.join(VIEWS)}.")
    single = subject.scores.shape[1] == 1
    asked = x is not None or y is not None or bool(at)
    if view is None:
        view = "score" if single and not asked and len(subject.names) > 2 else "slice"
    if view == "score":
        if not single or asked:
            raise InputError("the view score is for two classes, and its axes are directions of all columns: leave --x, --y "
                             "and --at out, or ask for the view slice.")  # fmt: skip
        return _score_plane(subject)
    if view == "pair":
        if at:
            raise InputError("the view pair fits two columns alone, so there is nothing to hold: leave --at out.")
        return sliced(_alone(subject, *subject.axes((x, y), 2)), x, y)
    return sliced(subject, x, y, at)


def _alone(subject: Subject, first: str, second: str) -> Subject:
    """Return a fit of two columns alone to the rows drawn, by the same loss and penalty, beside the same rows."""
    model = subject.model
    words = [word for word in type(model.loss).models if ":" not in word]
    strength = getattr(model.penalty, "strength", None)
    plain = model.penalty.name == "none" or (model.penalty.name in ("ridge", "l1") and strength is not None)
    if not words or not plain or model.feature_map is not None:
        raise InputError(
            f"the view pair fits two columns again, which it does for a named loss with no penalty, ridge or l1; this model is "
            f"{model.loss.name} with {model.penalty.name}. Ask for the view slice."
        )
    y = subject.y[:, 0]
    target = y if not subject.classes else np.array(subject.classes)[subject.group]
    table: dict[str, Any] = {first: subject.cells[first], second: subject.cells[second], model.target.name: target}
    penalty = model.penalty.name if strength is None else f"{model.penalty.name}:{strength!r}"
    alone = fit_table(table, model.target.name, model=words[0], penalty=penalty, weight=subject.weight)
    short = subject_of(alone, {**table} if subject.weight is None else {**table, "weight": subject.weight})
    drawn = Subject(alone, subject.rows, short.design, short.y, short.cells, weight=subject.weight)
    drawn.sampled = (
        f"{subject.sampled} This is a fit of {clean(first)} and {clean(second)} alone, not the model.".strip()
    )
    return drawn


def sliced(subject: Subject, x: str | None = None, y: str | None = None, at: Cells | None = None) -> Plane:
    """Return the plane of two columns, others at the typical row or as ``at`` says."""
    first, second = subject.axes((x, y), 2)
    held = held_at(subject, at, (first, second))
    px, py = (np.where(np.isnan(v), subject.typical[n], v) for n, v in ((n, subject.cells[n]) for n in (first, second)))
    axes = Axis.around(first, px, pad=0.08), Axis.around(second, py, pad=0.08)
    gx, gy = (np.linspace(axis.low, axis.high, GRID) for axis in axes)
    design, offset = subject.at({first: np.tile(gx, GRID), second: np.repeat(gy, GRID)}, held)
    words = subject.held((first, second), held)
    if words:
        words += " A hollow point is predicted otherwise by its own values of them."
    return Plane(subject, *axes, px, py, gx, gy, design, offset, words, (first, second))


def held_at(subject: Subject, at: Cells | None, drawn: Sequence[str] = ()) -> dict[str, Any]:
    """Return where columns are held, numbers read as numbers; a column that is drawn cannot be held."""
    held: dict[str, Any] = {}
    for name, value in (at or {}).items():
        subject.require(name)
        if name in drawn:
            raise InputError(
                f"the column {name!r} is an axis of the picture, so it cannot be held at {value}; leave it out of --at."
            )
        try:
            held[name] = float(value) if subject.numeric(name) else str(value)
        except ValueError:
            raise InputError(f"the column {name!r} holds numbers, and {value!r} is none.") from None
    return held


def _score_plane(subject: Subject) -> Plane:
    """Return the plane of the score and of the first direction orthogonal to it.

    In standardized columns Z with the weights ``w = sd b``: ``y = Z v``, v the direction of largest variance among those with
    ``v'w = 0``. The score of a row is its x, so that nothing of the model is left out.
    """
    score = subject.scores[:, 0]
    py = _second_direction(subject)
    outputs = subject.model.outputs
    x = Axis.around(f"score of {outputs[0]}", score, [0.0])
    y = Axis.around("first direction orthogonal to the score", py)
    gx, gy = np.linspace(x.low, x.high, GRID), np.linspace(y.low, y.high, 2)
    words = (
        "x is the score of the whole model, all columns in it; y is the direction, orthogonal to it in standardized columns, "
        "in which rows differ most."
    )
    return Plane(subject, x, y, score, py, gx, gy, None, None, words)


def _second_direction(subject: Subject) -> Array:
    model = subject.model
    if model.feature_map is not None:
        numbers = [np.asarray(subject.cells[name], float) for name in subject.names if subject.numeric(name)]
        z = np.nan_to_num(np.column_stack(numbers)) if numbers else subject.scores.copy()
        w = np.zeros(z.shape[1])
    else:
        weights = model.coef[:, 0] * subject.spread
        columns = np.sort(
            np.argsort(-np.abs(np.where(subject.spread > 0.0, np.abs(weights) + 1e-300, 0.0)), kind="stable")[
                :MAX_DIRECTIONS
            ]
        )
        columns = columns[subject.spread[columns] > 0.0]
        if not len(columns):
            return np.zeros(len(subject.rows))
        pick = np.zeros((subject.design.shape[1], len(columns)))
        pick[columns, np.arange(len(columns))] = 1.0
        z, w = subject.design.times(pick), weights[columns]
    z = z - z.mean(axis=0)
    z /= np.where((sd := z.std(axis=0)) > 0.0, sd, 1.0)
    if (length := np.linalg.norm(w)) > 0.0:
        z -= np.outer(z @ (w / length), w / length)
    _, vectors = np.linalg.eigh(z.T @ z)
    v = vectors[:, -1]
    v = v if v[np.abs(v).argmax()] > 0.0 else -v
    return np.asarray(z @ v)
