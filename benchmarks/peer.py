"""What a competitor is: an adapter that says what it solves, in which settings, and translates the objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import metadata
from typing import Any, ClassVar

from benchmarks.data import Data
from benchmarks.problems import Problem

Setting = dict[str, Any]
Line = list[Setting]
"""Settings of one method, loosest first."""

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)


def tolerances(name: str, **fixed: Any) -> Line:
    """Return a line of settings that differ in one tolerance."""
    return [{**fixed, name: tol} for tol in TOLERANCES]


class Peer(ABC):
    """One competitor. Methods import their package themselves: an absent one is a reason, not a crash."""

    name: ClassVar[str]
    distribution: ClassVar[str]
    module: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]] = ("fit", "csv", "predict", "import")
    """What it may be asked to do."""
    not_quick: ClassVar[str | None] = None
    """Why a quick run leaves this competitor out unless it is named."""

    def absent(self) -> str | None:
        """Return why this competitor cannot run here, or None."""
        try:
            metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return f"{self.distribution} is not installed in this environment"
        return None

    def offers(self, problem: Problem) -> list[Line] | str:
        """Return the settings to try for a problem, or why it is none for this competitor."""
        return self.lines(problem) if problem.task in self.tasks else f"has nothing for the task {problem.task!r}"

    @abstractmethod
    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the settings to try, a line per method, each loosest first; or why it does not solve this problem."""

    @abstractmethod
    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit with one setting; this is what is timed."""

    @abstractmethod
    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return raw coefficients ``(columns, outputs)`` (a dictionary by name for a table) and intercept."""

    def predictor(self, problem: Problem, fitted: Any) -> Callable[[Any], Any]:
        """Return the function from rows to the probability of class 1; its call is what is timed."""
        return lambda X: fitted.predict_proba(X)[:, 1]

    def separable(self, fitted: Any) -> bool | None:
        """Return whether the classes are separable, where that was asked; None if it is not known."""
        raise NotImplementedError
