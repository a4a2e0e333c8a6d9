"""The contract of a solver: a frozen record that yields ever better steps and never stops itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.sources.source import Access

if TYPE_CHECKING:
    from lineal.problem.problem import Problem


class Step(NamedTuple):
    """One improvement: where the solver is, and how far it thinks the optimum may be.

    ``estimate`` is the solver's own guess of ``F(coef) - F*``. It proves nothing: it only tells the
    fit when asking for a proof is worth a pass over the data. ``hint`` is an approximate Newton step (to be subtracted
    from ``coef``) from which the certificate builds a dual point, or None where it should make its own. A wrong step can
    only make the gap larger. ``ready`` is False where the solver is near its goal and would rather take one more precise
    step before a proof is tried. ``theta`` is a dual point itself, one row for each row of the source, for losses whose
    slopes are none; untrusted too. ``rows`` are the rows it was made from, counted from 1, where they were picked.
    """

    coef: Array
    objective: float
    estimate: float
    passes: int
    note: str = ""
    hint: Array | None = None
    theta: Array | None = None
    ready: bool = True
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Goal:
    """When the stop rule asks for a proof, as shares of the gain: what ``objective`` is below ``baseline``.

    At an estimate of ``near gain``, of a gap of ``tol gain``. A solver that has none goes on as if no proof would be asked for.
    """

    near: float = 0.0
    tol: float = 0.0
    baseline: float = 0.0

    def gain(self, objective: float) -> float:
        """Return how far F is below the baseline, if it is."""
        return max(self.baseline - objective, 0.0)

    def gap(self, objective: float) -> float | None:
        """Return the gap to prove; None where rounding may have made the gain, and the baseline itself is to be proven."""
        gain = self.gain(objective)
        return None if gain <= 16 * np.finfo(float).eps * abs(self.baseline) else self.tol * gain

    def negligible(self, objective: float) -> float:
        """Return a fall of F that is none for a hundred steps: beside the gap to prove, or, with nothing to gain, beside F."""
        gap = self.gap(objective)
        return 1e-4 * abs(objective) if gap is None else 1e-3 * gap

    def reached(self, objective: float, estimate: float) -> bool:
        """Whether a proof is worth asking for at this objective and estimate of ``F - F*``."""
        if estimate <= self.near * self.gain(objective):
            return True
        return self.gap(objective) is None and estimate <= self.tol * abs(self.baseline)


NO_GOAL: Final = Goal()


class Solver(ABC):
    """A way to minimise a problem, as a frozen record of its own options.

    ``words`` say why it is chosen, with the numbers of ``reason``. ``needs`` is what a source has to offer beside sums,
    and ``missing`` what is wrong with one that does not. ``corners`` says that it treats losses that are not smooth;
    ``sure`` at what share of a gap asked for, unless that is small, its estimate is worth a proof. ``max_steps`` is a
    number of steps after which it has lost its way. ``literal`` says that its steps are those of a textbook, to be followed to
    the letter: from zero, in the columns as they are, as many as are asked for.
    """

    name: ClassVar[str]
    words: ClassVar[str] = ""
    needs: ClassVar[Access] = Access.SUMS
    missing: ClassVar[str] = "it needs rows that are handed out here, one block after another"
    corners: ClassVar[bool] = False
    sure: ClassVar[float] = 0.5
    max_steps: ClassVar[float] = math.inf
    literal: ClassVar[bool] = False

    @classmethod
    def spellings(cls) -> Mapping[str, Mapping[str, Any]]:
        """Return the names by which a user asks for it, each with the options that it stands for."""
        return {cls.name: {}}

    def reason(self, problem: Problem) -> str:
        """Return why it is chosen for a problem."""
        columns, outputs = problem.shape
        return self.words.format(columns=columns, size=columns * outputs, loss=problem.loss.name)

    def refuses(self, problem: Problem) -> str | None:
        """Return why this solver cannot be used, in words, or None if it can: what it needs, declines and follows."""
        if self.needs & ~problem.source.offers:
            return self.missing
        if (reason := self.declines(problem)) is not None:
            return reason
        if not (problem.loss.smooth or self.corners):
            return f"it follows slopes, and the {problem.loss.name} loss has corners"
        return None

    @abstractmethod
    def declines(self, problem: Problem) -> str | None:
        """Return what of loss, penalty and shape this solver cannot treat, in words, or None if it can.

        It is asked only where the source offers what the solver needs.
        """

    def diverged(self, problem: Problem, objectives: Sequence[float]) -> str:
        """Return what the objectives of its steps say against the length of these, in words; empty where nothing does."""
        return ""

    @abstractmethod
    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield better and better steps from ``start``; near the ``goal``, with what a proof needs.

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
