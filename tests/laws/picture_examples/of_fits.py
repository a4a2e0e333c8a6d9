"""The pictures of a whole fit: fit, boundary, loss."""

from __future__ import annotations

import lineal
from tests.laws import picture_cases as given

CASES = {
    "fit": lambda: lineal.plot(given.model("number"), "fit", given.table()),
    "boundary": lambda: lineal.plot(given.model("two"), "boundary", given.table()),
    "boundary of three": lambda: lineal.plot(given.model("three"), "boundary", given.table()),
    "boundary in a slice": lambda: lineal.plot(
        given.model("two"), "boundary", given.table(), view="slice", threshold=0.8
    ),
    "loss": lambda: lineal.plot(given.model("two"), "loss", given.table()),
}
