"""Rows that a model file holds, dense or sparse, as an array."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array

MOST_CELLS: Final = 2**28
"""Cells of training rows that are held: 2 GB."""


def dense(starts: npt.NDArray[Any], places: npt.NDArray[Any], values: npt.NDArray[Any], width: int) -> Array:
    """Return sparse rows as an array, or refuse what leads out of it.

    >>> dense(np.array([0, 1, 2]), np.array([1, 0]), np.array([5.0, 7.0]), 2)
    array([[0., 5.],
           [7., 0.]])
    """
    whole = starts.dtype == np.int64 and places.dtype == np.int64 and starts.ndim == 1 and len(starts) > 0
    if not whole or values.shape != places.shape or values.dtype != np.float64:
        raise ModelFileError("the sparse training rows do not have the types they must have.")
    steps = np.diff(starts)
    inside = starts[0] == 0 and starts[-1] == len(values) and bool(np.all(steps >= 0))
    if not inside or np.any(places < 0) or np.any(places >= width) or (len(starts) - 1) * width > MOST_CELLS:
        raise ModelFileError("the sparse training rows lead out of their array.")
    rows = np.zeros((len(starts) - 1, width))
    rows[np.repeat(np.arange(len(steps)), steps), places] = values
    return rows
