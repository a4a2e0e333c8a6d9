"""The pictures of scores and decisions: scores, sigmoid, margin, split."""

from __future__ import annotations

import lineal
from tests.laws import picture_cases as given

OTHERS = ["number", "three"]

CASES = {
    "scores": lambda: lineal.plot(given.model("three"), "scores", given.table(), row=7),
    "sigmoid": lambda: lineal.plot(given.model("two"), "sigmoid", given.table()),
    "margin": lambda: lineal.plot(
        lineal.fit(given.table(), "two", model="svm", penalty=0.05, drop=OTHERS, test_size=0.25),
        "margin",
        given.table(),
    ),
    "split": lambda: lineal.plot(
        lineal.fit(given.table(), "two", penalty=0.05, drop=OTHERS, test_size=0.25), "split", given.table()
    ),
    "split of a number": lambda: lineal.plot(given.model("number"), "split", given.table()),
}
