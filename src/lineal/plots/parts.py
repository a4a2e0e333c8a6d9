"""The parts of a training table: which rows a model was fitted to, which it was measured on."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.api.dataset import memory_limit
from lineal.api.measured_rows import fitted_rows
from lineal.ground.arrays import Index
from lineal.model.model import Model
from lineal.tables.remembered import remembered
from lineal.tables.table import Table, as_table


def held_out(model: Model, data: Any) -> Index | None:
    """Return the numbers of the rows that were held out; None for arrays and for another table than that of the fit.

    >>> import lineal
    >>> table = {"x": [float(k) for k in range(40)], "y": [k % 7 + 2.0 * k for k in range(40)]}
    >>> model = lineal.fit(table, "y", test_size=0.25)
    >>> len(held_out(model, table)) == 40 - model.training["rows"]
    True
    """
    if isinstance(data, tuple):
        return None
    answer = fitted_rows(model, remembered(as_table(data), 2 * memory_limit() // 3))
    if answer is None:
        return None
    return numbers_of(answer[1])


def numbers_of(table: Table | None) -> Index:
    """Return the numbers of the rows of a table."""
    parts = [] if table is None else [rows for rows, _ in table.numbered()]
    return np.concatenate([np.empty(0, np.int64), *parts])
