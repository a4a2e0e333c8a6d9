"""Rows on which a model is looked at as by `lineal evaluate`: those held out of its own table, else all."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

import numpy as np

from lineal.api.measured_rows import to_measure
from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.ground.arrays import Array, Index
from lineal.ground.inputs import class_labels, real
from lineal.metrics.decision import Rule
from lineal.metrics.evaluation import Predict, Predictions
from lineal.model.model import Model
from lineal.plots.record import Word
from lineal.plots.subject import model_of, sha256

SAMPLES: Final = 200
"""Bootstrap samples of a band; fewer where there are many rows."""
MAX_DRAWN: Final = 4_000_000
"""Rows that all bootstrap samples together draw."""
MAX_POINTS: Final = 400
"""Points of a curve that are drawn; of more, evenly chosen ones."""


class Measured:
    """A model beside the rows it is measured on: targets, scores and weights of each, and what is said of these rows."""

    def __init__(self, model: Model, rows: Predictions, notes: list[str]) -> None:
        self.model, self.notes = model, notes
        self.y, self.eta, self.weight = rows.y, rows.eta, rows.weight

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return tuple(map(str, self.model.target.classes or ()))

    @cached_property
    def truth(self) -> Index:
        """The class of every row."""
        return self.y[:, 0].astype(np.int64)

    @cached_property
    def proba(self) -> Array:
        """The probability of every class."""
        means = self.model.loss.mean(self.eta)
        return np.column_stack([1.0 - means, means]) if means.shape[1] == 1 else means

    def decided(self, rule: Rule | None = None) -> Index:
        """Return the class decided for every row."""
        if rule is None:
            return np.asarray(self.model.loss.decide(self.eta))
        return rule.decide(self.proba, self.eta[:, 0] if rule.logit else None)

    @property
    def caption(self) -> str:
        """Which rows these are."""
        return " ".join([f"{len(self.weight):,} rows are measured.", *self.notes])

    @property
    def verdict(self) -> Word:
        """The verdict that a caption begins with."""
        verdict = self.model.verdict
        return Word(verdict.kind, verdict.sentence, verdict.proven)

    @property
    def source(self) -> dict[str, Any]:
        """What was drawn, for the record."""
        return {"model": sha256(self.model), "data": self.model.training.get("fingerprint"), "rows": len(self.weight)}

    def band(self, curve: Callable[[Array], Array], level: float = 0.95) -> tuple[Array, Array]:
        """Return between which values the middle 95 % of a curve lie over bootstrap samples, as functions of weights."""
        n = len(self.weight)
        random = np.random.default_rng([0, n])
        draws = int(np.clip(MAX_DRAWN // max(n, 1), 40, SAMPLES))
        curves = []
        for _ in range(draws):
            weight = self.weight * np.bincount(random.integers(n, size=n, dtype=np.int64), minlength=n)
            curves.append(curve(weight))
        tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        seen = np.array(curves)
        known = np.isfinite(seen).sum(axis=0) > draws / 2
        ends = np.full((2, seen.shape[1]), np.nan)
        ends[:, known] = np.nanquantile(seen[:, known], tails, axis=0)
        return ends[0], ends[1]


def measured(fitted: Any, data: Any) -> Measured:
    """Return a model beside rows to measure it on: of its own table those held out, of arrays ``(X, y)`` all.

    What is measured already is itself.
    """
    if isinstance(data, Measured):
        return data
    model = model_of(fitted)
    if isinstance(model.encoder, Encoder):
        rows = to_measure(model, data)
        score = model.measure()
        seen = rows.source.sum(Predict(score, model.coef))
        notes = [note.replace(" (all rows: --rows all)", "") for note in rows.notes]
    elif isinstance(data, tuple) and len(data) == 2:
        seen, notes = _of_arrays(model, *data), []
    else:
        raise InputError("the model was fitted on arrays, whose columns have no names: give the data as (X, y).")
    if not len(seen.weight):
        raise InputError("there is no row to measure the model on: none has a target that it knows.")
    return Measured(model, seen, notes)


def _of_arrays(model: Model, X: Any, y: Any) -> Predictions:
    """Return scores of the rows of arrays; a class that the model does not know is refused."""
    eta = model.scores(X)
    if model.target.kind != "classes":
        targets = real(y, "y").reshape(len(eta), -1)
        return Predictions(targets, eta, np.ones(len(eta)))
    places = {label: k for k, label in enumerate(model.target.classes or ())}
    labels = class_labels(y, "y").reshape(-1).tolist()
    if strange := [label for label in labels if label not in places]:
        raise InputError(f"y holds the class {strange[0]!r}, which the model does not know.")
    return Predictions(np.array([[places[label]] for label in labels], np.float64), eta, np.ones(len(eta)))


def thinned(count: int, most: int = MAX_POINTS) -> Index:
    """Return the places of at most so many of a number of points, the ends among them.

    >>> thinned(5, 3).tolist()
    [0, 2, 4]
    """
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))
