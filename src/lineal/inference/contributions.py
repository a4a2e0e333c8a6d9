"""What each column of the data adds to the score of a row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.designs.center import less
from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.model.model import Model

GROUPS_AT_ONCE: Final = 64
"""Columns of the data whose part of the scores is computed in one product."""
MAX_CELLS: Final = 5 * 10**7
"""Products of cells and coefficients that are kept one by one."""


@dataclass(frozen=True)
class Contributions:
    """What each of ``names`` adds to the scores of some rows: ``values`` are ``(rows, names, outputs)``.

    ``start`` are the scores they are added to, one for each output: ``start + sum of values`` are the scores of the rows.
    """

    names: tuple[str, ...]
    values: Array
    start: Array

    def largest(self, row: int, output: int = 0) -> list[tuple[str, float]]:
        """Return names with what they add to one score of one row, the largest first, of equals the first named."""
        own = self.values[row, :, output]
        return [(self.names[j], float(own[j])) for j in np.argsort(-np.abs(own), kind="stable").tolist()]


def contributions(model: Model, data: Any, *, against: Any = None, each: bool = False) -> Contributions:
    """Return what each column of the data adds to the scores of rows: ``(x_j - r_j) b_j``, summed over its design columns.

    The reference ``r`` is 0, and ``start`` the intercept, unless ``against`` gives a row to compare with; then ``start`` is
    its score. Columns that a formula multiplies are one name, ``a:b``. ``each`` keeps design columns apart: the words of a
    text, the levels of a category. An offset is left out.

    >>> import lineal
    >>> table = {"a": [0.0, 1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0, 2.0], "y": [1.0, 3.0, 4.0, 9.0]}
    >>> model = lineal.fit(table, "y", model="linear", penalty="none")
    >>> parts = contributions(model, {"a": [1.0], "b": [2.0]})
    >>> parts.names, parts.values[0, :, 0].round(6).tolist(), parts.start.round(6).tolist()
    (('a', 'b'), [2.0, 6.0], [1.0])
    """
    if model.feature_map is not None:
        raise InputError(
            "the coefficients of this model multiply columns that are made of training rows, so no column of the data has "
            "a part of the score of its own; draw effect, or ask lineal show what it holds."
        )
    design = _about(model, model.design(data))
    first = int(model.has_intercept)
    start = model.coef[0].copy() if first else np.zeros(model.coef.shape[1])
    base = np.zeros(design.shape[1])
    if against is not None:
        base = _about(model, model.design(against)).dense()[0]
        start = base @ model.coef
    groups = _each(model, design, base) if each else columns_of(model)
    names = tuple(groups)
    n, outputs = design.shape[0], model.coef.shape[1]
    if n * len(names) * outputs > MAX_CELLS:
        raise InputError(
            f"{n:,} rows of {len(names):,} columns have more parts than are kept ({MAX_CELLS:,}); give fewer rows."
        )
    values = np.zeros((n, len(names), outputs))
    for begin in range(0, len(names), GROUPS_AT_ONCE):
        some = names[begin : begin + GROUPS_AT_ONCE]
        weights = np.zeros((design.shape[1], len(some), outputs))
        for k, name in enumerate(some):
            weights[groups[name], k] = model.coef[groups[name]]
        flat = weights.reshape(design.shape[1], -1)
        values[:, begin : begin + len(some)] = (design.times(flat) - base @ flat).reshape(n, len(some), outputs)
    return Contributions(names, values, start)


def columns_of(model: Model) -> dict[str, Index]:
    """Return the numbers of the design columns that are made of each column of the data, or of several: ``a:b``.

    Every design column but the intercept is in one of them.
    """
    first = int(model.has_intercept)
    if not isinstance(model.encoder, Encoder):
        return {name: np.array([first + k], np.intp) for k, name in enumerate(model.columns[first:])}
    places: dict[str, list[int]] = {}
    for term in model.encoder.terms:
        own = places.setdefault(":".join(dict.fromkeys(term.inputs)), [])
        own += range(first, first + len(term.columns))
        first += len(term.columns)
    return {name: np.array(columns, np.intp) for name, columns in places.items() if columns}


def _each(model: Model, design: Design, base: Array) -> dict[str, Index]:
    """Return each design column in which some row differs from the reference, by its name."""
    first = int(model.has_intercept)
    n, columns = design.shape
    if n * columns > MAX_CELLS:
        raise InputError(
            f"{n:,} rows of {columns:,} design columns are too many to look at one by one; give fewer rows."
        )
    live = np.flatnonzero((design.dense() != base).any(axis=0))
    return {model.columns[j]: np.array([j], np.intp) for j in live.tolist() if j >= first}


def _about(model: Model, design: Design) -> Design:
    return design if model.center is None else less(design, model.center)
