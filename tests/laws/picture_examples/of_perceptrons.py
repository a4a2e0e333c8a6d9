"""The pictures of halfspaces: separable, perceptron, bound."""

from __future__ import annotations

import lineal
from tests.laws import picture_cases as given

NOTES = {"x1": [1, 3, 2, 3, 2], "x2": [1, 2, 4, 4, 3], "class": ["-", "+", "+", "+", "-"]}
SPREAD = {
    "x": [-2.0, -1.0, 1.0, 3.0],
    given.HOSTILE[0]: [0.0, 1.0, 0.5, 2.0],
    "side": ["left", "left", "right", "right"],
}

CASES = {
    "separable": lambda: lineal.plot(given.table(), "separable", target="two", drop=["number", "three"]),
    "separable by two columns": lambda: lineal.plot(SPREAD, "separable", target="side"),
    "perceptron": lambda: lineal.plot(NOTES, "perceptron", target="class", start="-1,0,0"),
    "perceptron at a step": lambda: lineal.plot(NOTES, "perceptron", target="class", start="-1,0,0", epochs=1, step=2),
    "perceptron of mistakes": lambda: lineal.plot(NOTES, "perceptron", target="class", view="mistakes"),
    "perceptron of three": lambda: lineal.plot(
        given.table(), "perceptron", target="three", drop=["number", "two"], epochs=1
    ),
    "bound": lambda: lineal.plot(SPREAD, "bound", target="side"),
}
