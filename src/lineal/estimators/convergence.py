"""The warning that code written for scikit-learn listens for: a fit that ``max_iter`` ended without a proof."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any, Final

from sklearn.exceptions import ConvergenceWarning

from lineal.api.dialects import SOLVERS
from lineal.estimators.bases import BaseEstimator

LIMIT_REACHED: Final = re.compile("the limit of [0-9]+ (iterations|epochs)|max_iter was reached")
"""What a verdict says that a number of steps ended."""


class Warned(BaseEstimator):
    """An estimator whose ``fit`` warns with scikit-learn's ConvergenceWarning where ``max_iter`` ended it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in cls.__dict__:
            setattr(cls, "fit", _warning(cls.__dict__["fit"]))  # noqa: B010  (not every base has one)


def _warning(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``fit`` that says when it was ended by the limit of ``max_iter``."""

    @functools.wraps(fit)
    def warned(self: Any, *rows: Any, **options: Any) -> Any:
        result = fit(self, *rows, **options)
        verdict = self.__dict__.get("verdict_")  # one that is still to be written down is a proof
        if verdict is not None and verdict.kind == "budget" and _limited(self, verdict.reason):
            warnings.warn(f"{verdict.sentence} Increase max_iter, or tol.", ConvergenceWarning, stacklevel=2)
        return result

    return warned


def _limited(estimator: Any, reason: str | None) -> bool:
    """Whether a number of steps ended a fit that was to be proven: without a tol, or with a solver of ours, steps are wanted."""
    solver = getattr(estimator, "solver", "auto")
    proof = getattr(estimator, "tol", None) is not None and isinstance(solver, str) and solver in ("auto", *SOLVERS)
    return proof and LIMIT_REACHED.search(reason or "") is not None
