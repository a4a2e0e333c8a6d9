"""statsmodels: median regression by iterated weighted least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting, tolerances
from benchmarks.problems import Problem


class Statsmodels(Peer):
    """QuantReg(y, [1 X]).fit(q=0.5); its standard errors come with the fit."""

    name = "statsmodels"
    distribution = "statsmodels"

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return one line of tolerances on the change of the coefficients."""
        return [tolerances("p_tol")] if problem.loss == "absolute" else "is here for median regression"

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return coefficients, intercept first."""
        from statsmodels.regression.quantile_regression import QuantReg

        A = np.column_stack([np.ones(data.y.size), data.X])
        return QuantReg(data.y, A).fit(q=0.5, max_iter=10_000, **setting).params

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return coefficients and intercept."""
        return fitted[1:, None], fitted[:1]
