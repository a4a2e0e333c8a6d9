"""scipy's linear programs: is there a w with z'w >= 1 for every row? A float's answer, without a proof."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem


class Linprog(Peer):
    """HiGHS on the plain feasibility program: simplex (chosen by itself) and interior point."""

    name = "linprog"
    distribution = "scipy"
    tasks: ClassVar[tuple[str, ...]] = ("separable",)

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return two methods."""
        return [[{"method": "highs"}], [{"method": "highs-ipm"}]]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return whether the program is feasible."""
        from scipy.optimize import linprog

        z = np.column_stack([np.ones(data.y.size), data.X]) * np.where(data.y == 1, 1.0, -1.0)[:, None]
        found = linprog(np.zeros(z.shape[1]), A_ub=-z, b_ub=-np.ones(len(z)), bounds=(None, None), **setting)
        return {0: True, 2: False}.get(found.status)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return nothing: only the answer counts."""
        raise NotImplementedError

    def separable(self, fitted: Any) -> bool | None:
        """Return the answer."""
        return fitted
