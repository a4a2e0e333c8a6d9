"""The rows of a fit with their residuals and influence, as `lineal diagnose` has them: what two pictures draw."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.inference.diagnostics import diagnostics, refuse
from lineal.model.model import Model
from lineal.plots.record import Word
from lineal.plots.sample import MAX_ROWS, Sample
from lineal.plots.subject import sha256

NAMED: Final = 5
"""Rows that are named in a picture."""

MANY: Final = 150
"""Rows from which on points are faint."""


@dataclass(frozen=True)
class Diagnosed:
    """What is known of the drawn rows, by the names of ``Diagnostics.columns``; ``rows`` are their numbers from 0."""

    model: Model
    rows: Index
    known: dict[str, Array]
    parameters: float
    total: int
    sampled: str
    notes: tuple[str, ...]

    @property
    def normal(self) -> bool:
        """Whether residuals are normal as they are: least squares. Otherwise quantile residuals are."""
        return self.model.loss.estimates_noise

    @property
    def residual(self) -> Array:
        """Residuals that are standard normal where the model holds: standardized ones, or randomized quantile ones."""
        return self.known["standardized" if self.normal else "quantile"]

    @property
    def role(self) -> str:
        """How points are drawn: many of them let light through."""
        return "faint" if len(self.rows) > MANY else "plain"

    def farthest(self, values: Array, count: int = NAMED) -> Index:
        """Return the places of the rows of largest value, largest first."""
        order = np.argsort(-np.nan_to_num(np.abs(values), nan=-1.0), kind="stable")
        return order[:count]

    @property
    def verdict(self) -> Word:
        """The verdict that a caption begins with."""
        verdict = self.model.verdict
        return Word(verdict.kind, verdict.sentence, verdict.proven)

    @property
    def source(self) -> dict[str, Any]:
        """What was drawn, for the record."""
        return {"model": sha256(self.model), "data": self.model.training.get("fingerprint"), "rows": self.total}


def diagnosed(model: Model, data: Any, most: int = MAX_ROWS) -> Diagnosed:
    """Return the rows a model was fitted on with residuals and influence, above ``most`` a sample; a diagnosed is itself."""
    if isinstance(data, Diagnosed):
        return data
    if isinstance(model.encoder, Encoder):
        found = diagnostics(model, data)
    elif isinstance(data, tuple) and len(data) == 2:
        found = diagnostics(model, *data)
    else:
        raise InputError("the model was fitted on arrays, whose columns have no names: give the data as (X, y).")
    known = found.arrays()
    rows = known["row_index"].astype(np.int64)
    sample = Sample(most=most)
    ends = np.column_stack([known["cooks_distance"], known["leverage"], known["studentized"], known["quantile"]])
    sample.add(rows, np.zeros(len(rows)), np.nan_to_num(ends))
    at = np.flatnonzero(np.isin(rows, sample.rows()))
    return Diagnosed(
        model, rows[at], {name: values[at] for name, values in known.items()}, found.parameters, len(rows),
        sample.words(len(at)), found.notes,
    )  # fmt: skip


def refused(model: Model) -> str:
    """Say why a fit has no residuals with leverage; "" if it has."""
    try:
        refuse(model)
    except InputError as error:
        return str(error)
    return ""
