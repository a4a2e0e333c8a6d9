"""What a competitor is: an adapter that says what it solves, in which settings, and translates the objective."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.data import Data
from benchmarks.problems import Problem

Setting = dict[str, Any]
Line = list[Setting]
"""Settings of one method, loosest first."""

ROOT = Path(__file__).parent.parent

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)


def tolerances(name: str, **fixed: Any) -> Line:
    """Return a line of settings that differ in one tolerance."""
    return [{**fixed, name: tol} for tol in TOLERANCES]


class Peer(ABC):
    """One competitor. Methods import their package themselves: an absent one is a reason, not a crash."""

    name: ClassVar[str]
    distribution: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]] = ("fit", "csv", "predict")
    """What it may be asked to do."""
    slow: ClassVar[str | None] = None
    """Why only a run in full size tries this competitor unless it is named."""
    rival: ClassVar[bool] = True
    """Whether it can be the best peer; not so where it is lineal again."""
    apart: ClassVar[bool] = False
    """Whether it needs an environment of its own, build/bench-NAME (scripts/bench makes it)."""

    outside: ClassVar[bool] = False
    """Whether it works in another process, whose processor time and memory are not seen."""

    def python(self) -> str:
        """Return the interpreter that runs this competitor."""
        return str(ROOT / "build" / f"bench-{self.name}" / "bin" / "python") if self.apart else sys.executable

    def environment(self) -> dict[str, str]:
        """Return the variables that its processes need beside those of this one."""
        return {}

    def version(self) -> str | None:
        """Return the version that is installed, or None."""
        if self.apart:
            packages = Path(self.python()).parent.parent.glob("lib/*/site-packages")
            found = metadata.distributions(name=self.distribution, path=[str(path) for path in packages])
        else:
            found = metadata.distributions(name=self.distribution)
        return next((entry.version for entry in found), None)

    def absent(self) -> str | None:
        """Return why this competitor cannot run here, or None."""
        where = f"build/bench-{self.name}" if self.apart else "this environment"
        return None if self.version() else f"{self.distribution} is not installed in {where}"

    def offers(self, problem: Problem) -> list[Line] | str:
        """Return the settings to try for a problem, or why it is none for this competitor."""
        return self.lines(problem) if problem.task in self.tasks else f"has nothing for the task {problem.task!r}"

    @abstractmethod
    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the settings to try, a line per method, each loosest first; or why it does not solve this problem."""

    def prepare(self, problem: Problem, data: Data) -> None:  # noqa: B027  (most have nothing to prepare)
        """Take the data where it has to be, if that is not this process's memory; not timed."""

    @abstractmethod
    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Fit with one setting; this is what is timed."""

    @abstractmethod
    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return raw coefficients ``(columns, outputs)`` (a dictionary by name for a table) and intercept."""

    def predictor(self, problem: Problem, fitted: Any) -> Callable[[Any], Any]:
        """Return the function from rows to the probability of class 1; its call is what is timed."""
        return lambda X: fitted.predict_proba(X)[:, 1]

    def given(self, rows: Any) -> Any:
        """Return the rows to predict as this competitor stores them; not timed."""
        return rows

    def separable(self, fitted: Any) -> bool | None:
        """Return whether the classes are separable, where that was asked; None if it is not known."""
        raise NotImplementedError
