"""The contract of a solver: a frozen record that yields ever better steps and never stops itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from lineal.problem.problem import Problem

Array = npt.NDArray[np.float64]
Hint = Callable[[float | None], Array | None]


class Step(NamedTuple):
    """One improvement: where the solver is, and how far it thinks the optimum may be.

    ``estimate`` is the solver's own guess of ``F(coef) - F*``. Nobody believes it: it only tells the
    fit when asking for a proof is worth a pass over the data. ``hint`` may make an approximate Newton step
    (to be subtracted from ``coef``) from which the certificate builds a dual point of a wanted gap; None where there is
    none at this point. Asked without a gap it makes what it has. A wrong step can only make the gap larger.
    ``theta`` is a dual point itself, one row for each row of the source, for losses whose slopes are none; untrusted too.
    """

    coef: Array
    objective: float
    estimate: float
    passes: int
    note: str = ""
    hint: Hint | None = None
    theta: Array | None = None


class Solver(ABC):
    """A way to minimise a problem, as a frozen record of its own options.

    ``corners`` says that it treats losses that are not smooth; ``sure`` at what share of a gap asked for, unless that is
    small, its estimate is worth a proof. ``max_steps`` is a number of steps after which it has lost its way.
    """

    name: ClassVar[str]
    corners: ClassVar[bool] = False
    sure: ClassVar[float] = 0.5
    max_steps: ClassVar[float] = math.inf

    @abstractmethod
    def declines(self, problem: Problem) -> str | None:
        """Return why this solver cannot treat the problem, in words, or None if it can."""

    def towards(self, goal: float, tol: float, baseline: float) -> Solver:
        """Return the solver told when a proof will be asked for, and of which gap.

        That is at an estimate of ``goal (baseline - objective)``, and of a gap of ``tol (baseline - objective)``.
        """
        return self

    @abstractmethod
    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield better and better steps from ``start``.

        A solver that ends may return why; without a reason it says that rounding error allows no more.
        """


def kinks(problem: Problem) -> str | None:
    """Return what of the problem has no gradient everywhere, in words, or None: for solvers that need one."""
    if not problem.loss.smooth:
        return f"the {problem.loss.name} loss has kinks, where it has no slope"
    if not problem.penalty.smooth:
        others = "prox-newton, coordinate or prox-gradient"
        return f"the {problem.penalty.name} penalty has kinks or bounds, where it has no gradient; use {others}"
    return None
