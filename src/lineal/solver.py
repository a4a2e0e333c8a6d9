"""The contract of a solver: a frozen record that yields ever better steps and never stops itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from lineal.loss import Loss
    from lineal.penalty import Penalty

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """One improvement: where the solver is, and how far it thinks the optimum may be.

    ``estimate`` is the solver's own guess of ``F(coef) - F*``. Nobody believes it: it only tells the
    fit when asking for a proof is worth a pass over the data.
    """

    coef: Array
    objective: float
    estimate: float
    passes: int
    note: str = ""


class Solvable(Protocol):
    """What a solver may see of a problem."""

    loss: Loss
    penalty: Penalty

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and outputs."""


class Solver(ABC):
    """A way to minimise a problem, as a frozen record of its own options."""

    name: ClassVar[str]

    @abstractmethod
    def declines(self, problem: Solvable) -> str | None:
        """Return why this solver cannot treat the problem, in words, or None if it can."""

    @abstractmethod
    def steps(self, problem: Solvable, start: Array) -> Iterator[Step]:
        """Yield better and better steps from ``start``; ending means rounding error allows no more."""
