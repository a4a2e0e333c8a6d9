"""celer: working sets with dual extrapolation for lasso paths."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class Celer(Peer):
    """celer_path(alphas = strengths): lineal's objective word for word, without an intercept."""

    name = "celer"
    distribution = "celer"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return one line of tolerances on the gap."""
        if problem.points:
            return [tolerances("tol")]
        return "fits no intercept here" if problem.penalty == "l1" else "is for l1 penalties"

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return the coefficients, one column for each strength."""
        from celer import celer_path

        alphas = np.array(data.facts["strengths"])
        return celer_path(data.X, data.y, "lasso", alphas=alphas, max_iter=1000, max_epochs=100_000, **setting)[1]

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return what fit returned."""
        return fitted, np.zeros(1)
