"""The pictures of what a model is: row, layer, angle, plane, posterior."""

from __future__ import annotations

import lineal
from tests.laws import picture_cases as given


def bayes():
    """Return the posterior of a fit to the hostile table."""
    fitted = lineal.fit(given.table(), "number", drop=["two", "three"], model="bayes")
    return lineal.plot(fitted, "posterior", given.table())


CASES = {
    "row": lambda: lineal.plot(given.model("three"), "row", given.table(), row=3),
    "layer": lambda: lineal.plot(given.model("three"), "layer"),
    "layer of a row": lambda: lineal.plot(given.model("three"), "layer", given.table(), row=2),
    "angle": lambda: lineal.plot(given.model("two"), "angle", given.table()),
    "plane": lambda: lineal.plot(given.model("two"), "plane", given.table()),
    "posterior": bayes,
}
