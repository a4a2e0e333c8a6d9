"""What --costs means: a matrix typed on the command line, or a file that holds one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.files import text_of
from lineal.metrics.decision import read_costs
from lineal.model.model import Model


def costs_of(costs: str | None, model: Model) -> Array | None:
    """Return the costs that were asked for, None if none were: the text of a file where there is one of this name."""
    if costs is None:
        return None
    model.rule(costs=np.eye(len(model.answers or (0, 1))))  # refuses, in words, a model that has no probabilities
    path = Path(costs)
    text = costs
    if path.exists():
        text = text_of(path, "the file of --costs")
    elif path.suffix.lower() in (".csv", ".txt"):
        raise InputError(f"the file {path} of --costs does not exist; give a CSV file, or numbers such as 0,1;5,0.")
    return read_costs(text, model.answers)
