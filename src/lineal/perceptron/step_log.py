"""Every presentation of a perceptron, as the table the notes draw: step, row, weights, score, correct?, update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.ground.records import dataclass

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """One presentation: the weights before it, (columns, outputs), its scores, whether it was right, and the update.

    The weights of output k change by ``signs[k] * x``.
    """

    epoch: int
    step: int
    row: int
    weights: Array
    score: Array
    correct: bool
    x: Array
    signs: Array

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
        """Return columns: epoch, step, row, weights, score, correct, update; weights of several classes one list each."""
        single = not self.lines or self.lines[0].weights.shape[1] == 1
        return {
            "epoch": [line.epoch for line in self.lines],
            "step": [line.step for line in self.lines],
            "row": [line.row for line in self.lines],
            "weights": [(line.weights[:, 0] if single else line.weights.T).tolist() for line in self.lines],
            "score": [float(line.score[0]) if single else line.score.tolist() for line in self.lines],
            "correct": [line.correct for line in self.lines],
            "update": [line.update for line in self.lines],
        }

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)


def spelled(values: Array) -> str:
    """Return weights as the notes write them, every digit that counts.

    >>> spelled(np.array([-1.0, 0.5]))
    '[-1, 0.5]'
    """
    return f"[{', '.join(f'{v:.0f}' if abs(v) < 1e15 and v == int(v) else repr(v) for v in values.tolist())}]"
