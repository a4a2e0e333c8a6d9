"""One point of a path: the fit at one strength."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.verdict import Verdict


@dataclass(frozen=True)
class Point:
    """One fit of a path."""

    strength: float
    coef: Array = field(repr=False)
    objective: float
    verdict: Verdict
    steps: int = 0
    """Steps of its solver; zero where one call solves a whole path."""

    @property
    def used(self) -> int:
        """How many columns have a coefficient that is not zero, the unpenalized ones included."""
        return int(np.count_nonzero(self.coef.any(axis=1)))
