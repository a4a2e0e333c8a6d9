"""The pictures of steps: descent, trace."""

from __future__ import annotations

import lineal
from tests.laws import picture_cases as given


def traces():
    """Return two solvers over each other."""
    options = {"drop": ["number", "three"], "penalty": 0.01}
    fits = [lineal.fit(given.table(), "two", solver=name, **options) for name in ("newton", "gradient-descent")]
    return lineal.plot(fits, "trace")


CASES = {
    "descent": lambda: lineal.plot(given.model("two"), "descent", given.table(), eta="0.1:5,50:4,auto:5"),
    "trace": traces,
}
