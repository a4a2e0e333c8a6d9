"""What remains after a fit: coefficients with names, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lineal import container
from lineal.design import Design
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.loss import Loss
from lineal.penalty import Penalty
from lineal.target import Target
from lineal.verdict import TOLERANCE, Verdict

Array = npt.NDArray[np.float64]


class Encoder(Protocol):
    """How a table becomes a design: learned once, saved with the model."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""

    def encode(self, data: object) -> Design:
        """Return the design of a table, columns taken by name."""

    def offset(self, data: object, column: str) -> Array:
        """Return a numeric column of the table as an offset, shape ``(n, 1)``."""

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""


@dataclass(frozen=True)
class Model:
    """A fitted linear model: ``eta = X coef (+ offset)``, ``prediction = loss.mean(eta)``.

    ``coef`` is ``(columns, outputs)``; the intercept, where there is one, is the first column.
    ``training`` and ``report`` are plain data: what the model was fitted on and what was measured.
    """

    coef: Array
    columns: tuple[str, ...]
    loss: Loss
    penalty: Penalty
    target: Target
    verdict: Verdict
    encoder: Encoder | None = None
    solver: str = ""
    reason: str = ""
    tol: float = TOLERANCE
    roles: Mapping[str, str | None] = field(default_factory=lambda: {"weight": None, "offset": None})
    training: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    @property
    def intercept(self) -> bool:
        """Whether the first column is the intercept."""
        return bool(self.columns) and self.columns[0] == "(intercept)"

    def design(self, data: object) -> Design:
        """Return the design of new data: by column name for a table, by position for an array; a design is itself."""
        if isinstance(data, Design):
            return data
        if self.encoder is not None:
            return self.encoder.encode(data)
        expected = len(self.columns) - self.intercept
        design = as_design(data, intercept=self.intercept)
        given = design.shape[1] - self.intercept
        if given != expected:
            raise InputError(
                f"the data has {given} columns, the model was fitted on {expected}; give the same columns in the same order."
            )
        return design

    def scores(self, data: object, offset: Array | None = None) -> Array:
        """Return ``eta = X coef + offset`` for every row, shape ``(n, outputs)``."""
        eta = self.design(data).times(self.coef)
        offset = self._offset(data, offset)
        return eta if offset is None else eta + offset

    def means(self, data: object, offset: Array | None = None) -> Array:
        """Return the predicted mean of every row: numbers, or the probability of each output's class."""
        design = self.design(data)
        offset = self._offset(data, offset)
        if design.rows is not None and self.loss.native is not None:
            return design.rows.means(self.loss.native, self.coef, offset)
        eta = design.times(self.coef)
        return self.loss.mean(eta if offset is None else eta + offset)

    def predict(self, data: object, offset: Array | None = None) -> npt.NDArray[Any]:
        """Return a number or a class label for every row."""
        if self.target.kind == "number":
            means = self.means(data, offset)
            return means[:, 0] if means.shape[1] == 1 and self.target.names is None else means
        eta = self.scores(data, offset)
        index = (eta[:, 0] > 0).astype(np.intp) if eta.shape[1] == 1 else np.argmax(eta, axis=1)
        labels: npt.NDArray[Any] = np.asarray(self.target.classes)[index]
        return labels

    def predict_proba(self, data: object, offset: Array | None = None) -> Array:
        """Return the probability of every class, columns in the order of ``target.classes``."""
        if self.target.kind != "classes":
            raise InputError("this model predicts a number, so it has no class probabilities; use predict.")
        means = self.means(data, offset)
        return np.column_stack([1.0 - means[:, 0], means[:, 0]]) if means.shape[1] == 1 else means

    def scorer(self) -> Callable[[npt.ArrayLike], Array]:
        """Return a fast function of one row (or several) of plain numbers, design columns without the intercept.

        It checks nothing: for a service that scores one row at a time.
        """
        weights = np.ascontiguousarray(self.coef[1:] if self.intercept else self.coef)
        constant = self.coef[0] if self.intercept else np.zeros(self.coef.shape[1])
        mean = self.loss.mean

        def score(row: npt.ArrayLike) -> Array:
            return mean(np.atleast_2d(row) @ weights + constant)

        return score

    def covariance(self) -> Array:
        """Return the estimated covariance matrix of the coefficients of an unpenalised fit.

        Squared loss: ``sigma^2 (X'SX)^-1`` with ``sigma^2 = RSS / (S - columns)``; otherwise the inverse of the
        observed information. Output-major where there are several outputs.
        """
        if "covariance" not in self.arrays:
            raise InputError(
                self.training.get("no_covariance")
                or "this model carries no covariance: it was fitted with a penalty, or its coefficients are not unique."
            )
        return np.asarray(self.arrays["covariance"])

    def to_dict(self) -> dict[str, Any]:
        """Return the model as plain data (docs/model-file.md), without its arrays."""
        from lineal import __version__

        return {
            "format": "lineal-model",
            "version": 1,
            "made_by": f"lineal {__version__}",
            "loss": self.loss.to_dict(),
            "penalty": {key: value for key, value in self.penalty.to_dict().items() if key != "charges"},
            "columns": list(self.columns),
            "target": self.target.to_dict(),
            "encoder": None if self.encoder is None else self.encoder.to_dict(),
            "roles": dict(self.roles),
            "training": dict(self.training),
            "tol": self.tol,
            "verdict": self.verdict.to_dict(),
            "solver": {"name": self.solver, "reason": self.reason},
            "report": dict(self.report),
        }

    def save(self, path: str | Path) -> None:
        """Write the model to a file: whole or not at all."""
        arrays = {"coef": self.coef, **self.arrays}
        charges = self.penalty.to_dict().get("charges")
        if charges is not None:
            arrays["charges"] = np.asarray(charges)
        container.write(path, self.to_dict(), arrays)

    def __repr__(self) -> str:
        return f"<lineal Model: {self.loss.name}, {len(self.columns)} columns; {self.verdict.sentence}>"

    def _offset(self, data: object, offset: Array | None) -> Array | None:
        column = self.roles.get("offset")
        if offset is None and column is not None and self.encoder is not None:
            return self.encoder.offset(data, column)
        return offset
