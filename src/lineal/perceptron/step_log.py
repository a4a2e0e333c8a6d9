"""Every presentation of a perceptron, as the table the notes draw: step, row, weights, score, correct?, update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Line:
    """One presentation: the weights before it, (columns, outputs), its scores, whether it was right, and the update.

    The weights of output k change by ``signs[k] * x``, where ``x`` is the row times the ``rate``; ``row`` counts from 0.
    """

    epoch: int
    step: int
    row: int
    weights: Array
    score: Array
    correct: bool
    x: Array
    signs: Array
    rate: float = 1.0

    @property
    def angle(self) -> Array:
        """The angle between the row and the weights of each output, in degrees: w.x = |w| |x| cos(angle).

        It is NaN where either is zero.

        >>> Line(1, 1, 0, np.array([[1.0], [0.0]]), np.array([2.0]), True, np.array([2.0, 2.0]), np.zeros(1)).angle
        array([45.])
        """
        with np.errstate(all="ignore"):
            row = self.x / np.abs(self.x).max(
                initial=0.0
            )  # squares of either may be too large or too small for doubles
            columns = self.weights / np.abs(self.weights).max(axis=0, initial=0.0)
            cosine = row @ columns / (np.linalg.norm(row) * np.linalg.norm(columns, axis=0))
            return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))

    @property
    def after(self) -> Array:
        """The scores of the row after the update: those before, and |x|^2 times the rate more or less.

        >>> Line(1, 1, 0, np.zeros((1, 1)), np.zeros(1), False, np.array([2.0]), np.ones(1)).after
        array([4.])
        """
        return np.asarray(self.score + self.signs * float(self.x @ self.x) / self.rate)

    @property
    def update(self) -> str:
        """The change as the notes write it: none, + [1, 3, 2], or one entry for each class whose weights changed."""
        several = len(self.signs) > 1
        words = [
            f"{f'w{k} ' if several else ''}{'+' if self.signs[k] > 0 else '-'} {spelled(self.x)}"
            for k in np.flatnonzero(self.signs).tolist()
        ]
        return ", ".join(words) or "none"


@dataclass
class StepLog:
    """The presentations of a run, in order.

    >>> ledger = StepLog(["a"], [Line(1, 1, 0, np.zeros((1, 1)), np.zeros(1), False, np.array([2.0]), np.array([1.0]))])
    >>> ledger.to_dict()["update"], len(ledger)
    (['+ [2]'], 1)
    """

    columns: list[str] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns: epoch, step, row_index (from 0), weights, score, angle, correct, update, x, signs, score_after.

        Weights, scores, angles and signs of several classes are one list each; an angle is None where there is no direction.
        The update adds ``signs * x`` to the weights.
        """
        single = not self.lines or self.lines[0].weights.shape[1] == 1
        return {
            "epoch": [line.epoch for line in self.lines],
            "step": [line.step for line in self.lines],
            "row_index": [line.row for line in self.lines],
            "weights": [(line.weights[:, 0] if single else line.weights.T).tolist() for line in self.lines],
            "score": [float(line.score[0]) if single else line.score.tolist() for line in self.lines],
            "angle": [_finite(line.angle, single=single) for line in self.lines],
            "correct": [line.correct for line in self.lines],
            "update": [line.update for line in self.lines],
            "x": [line.x.tolist() for line in self.lines],
            "signs": [float(line.signs[0]) if single else line.signs.tolist() for line in self.lines],
            "score_after": [float(line.after[0]) if single else line.after.tolist() for line in self.lines],
        }

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)


def _finite(values: Array, *, single: bool) -> Any:
    kept = [None if np.isnan(value) else value for value in values.tolist()]
    return kept[0] if single else kept


def spelled(values: Array) -> str:
    """Return weights as the notes write them, every digit that counts.

    >>> spelled(np.array([-1.0, 0.5]))
    '[-1, 0.5]'
    """
    return f"[{', '.join(f'{v:.0f}' if abs(v) < 1e15 and v == int(v) else repr(v) for v in values.tolist())}]"
