"""Every row of a fit beside the fit: residuals, leverage, and what the fit would be without the row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.inference.observations import Observations, Observing
from lineal.inference.triangle import Inverse
from lineal.losses.loss import Loss
from lineal.sources.source import Source
from lineal.tables.table import uniform

FITTED_EXACTLY: Final = 1e-10
"""A row whose leverage is this near to one is fitted exactly, whatever its target: nothing can be said of it."""
JUMP_STREAM: Final = 2**32
"""Added to the seed of quantile residuals: rows that were fitted because of their hash are drawn by another one."""
ROW_COLUMNS: Final = (
    "row_index",
    "target",
    "mean",
    "score",
    "count",
    "trials",
    "raw",
    "pearson",
    "deviance",
    "standardized",
    "standardized_deviance",
    "studentized",
    "quantile",
    "leverage",
    "cooks_distance",
    "dffits",
)
"""What is known of a row, before its DFBETAS."""


@dataclass(frozen=True)
class Influence:
    """From rows to what is known of each: numbers by the names of ``ROW_COLUMNS``, and ``dfbetas=COLUMN``.

    ``square`` is the sum of squared deviance residuals, ``left`` the degrees of freedom; ``dispersion`` the estimated one
    of least squares, otherwise 1. ``inverse`` is that of the information.
    """

    source: Source
    observing: Observing
    columns: tuple[str, ...]
    numbers: Index
    inverse: Inverse
    parameters: float
    left: float
    square: float
    dispersion: float
    seed: int

    @property
    def loss(self) -> Loss:
        """The loss of the fit."""
        return self.observing.loss

    @property
    def names(self) -> tuple[str, ...]:
        """What is known of a row."""
        return (*ROW_COLUMNS, *(f"dfbetas={name}" for name in self.columns))

    def __iter__(self) -> Iterator[dict[str, Array]]:
        """Yield what is known of some rows after the other; rows of weight zero have no numbers of their own."""
        for block in self.source.blocks():
            for rows in self.observing.pieces(block):
                yield self._of(rows)

    def _of(self, rows: Observations) -> dict[str, Array]:
        places = self.numbers[rows.start : rows.start + len(rows.y)]
        with np.errstate(divide="ignore", invalid="ignore"):
            answer = self._numbers(rows, places)
        absent = rows.count == 0.0
        for name in set(answer) - {"row_index", "count", "trials"} if absent.any() else ():
            answer[name] = np.where(absent, np.nan, answer[name])
        return answer

    def _numbers(self, rows: Observations, places: Index) -> dict[str, Array]:
        across = rows.cells @ self.inverse.half
        leverage = rows.information * (across**2).sum(axis=1)
        rest = np.where(1.0 - leverage > FITTED_EXACTLY, 1.0 - leverage, np.nan)
        phi = self.dispersion
        others = np.full(len(rest), phi)
        if self.loss.estimates_noise:
            others = np.maximum(self.square - rows.deviance**2 / rest, 0.0) / (self.left - 1.0)
            others = others if self.left > 1.0 else np.full(len(rest), np.nan)
        ratio = leverage / rest
        standardized = rows.pearson / np.sqrt(phi * rest)
        studentized = np.sign(rows.pull) * np.sqrt((rows.deviance**2 + ratio * rows.pearson**2) / others)
        change = across * (rows.pull / rest)[:, None] @ self.inverse.half.T
        size = np.sqrt((self.inverse.half**2).sum(axis=1))
        change = change / np.where(size > 0.0, size, np.inf) / np.sqrt(others)[:, None]
        known = {
            "row_index": places,
            "target": rows.y,
            "mean": rows.mean,
            "score": rows.eta,
            "count": rows.count,
            "trials": rows.trials,
            "raw": rows.y - rows.mean,
            "pearson": rows.pearson,
            "deviance": rows.deviance,
            "standardized": standardized,
            "standardized_deviance": rows.deviance / np.sqrt(phi * rest),
            "studentized": studentized,
            "quantile": self._quantile(rows, places),
            "leverage": leverage,
            "cooks_distance": standardized**2 * ratio / self.parameters,
            "dffits": studentized * np.sqrt(ratio),
        }
        return known | {f"dfbetas={name}": change[:, j] for j, name in enumerate(self.columns)}

    def _quantile(self, rows: Observations, places: Index) -> Array:
        """Return the normal number as likely as the target: of a target that jumps, a drawn one of those it jumps over.

        ``z = Phi^-1(P(Y < y) + u P(Y = y))``, u drawn by a hash of the seed and the number of the row.
        """
        from scipy import special

        chances = self.loss.chances(rows.y[:, None], rows.eta[:, None], self.dispersion, rows.trials)
        if chances is None:
            return np.full(len(rows.y), np.nan)
        below, same, above = chances
        drawn = uniform(self.seed + JUMP_STREAM, places.astype(np.int64))
        low, high = below + drawn * same, above + (1.0 - drawn) * same
        return np.asarray(np.where(low < high, special.ndtri(low), -special.ndtri(high)))
