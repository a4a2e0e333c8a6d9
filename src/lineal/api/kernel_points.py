"""The points of a kernel from a table: its columns as numbers, one column of texts or trees, or the matrix that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.features.cells.cells import numbers
from lineal.features.cells.cells import texts as texts_of
from lineal.features.encoder import column
from lineal.features.inspecting import encoder_of
from lineal.features.types.choices import Choices
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.kernels import Kernel, Points
from lineal.tables.table import Table, as_table


@dataclass(frozen=True)
class KernelPoints:
    """Points as a kernel takes them, the columns they come from, and whether these were standardized."""

    points: Points
    columns: tuple[str, ...]
    standardized: bool


def kernel_points(
    data: Any,
    kernel: Kernel,
    *,
    text: str | None = None,
    drop: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    choices: Choices | None = None,
    standardized: bool = True,
) -> KernelPoints:
    """Return the points of a table for a kernel: encoded columns for one of rows, the column ``text`` for texts or trees.

    Encoded columns are brought to mean 0 and standard deviation 1 unless ``standardized`` is false.

    >>> from lineal.kernels import Gaussian, Spectrum
    >>> kernel_points({"a": [1.0, 3.0], "b": ["u", "v"]}, Gaussian(), types={"b": "category"}).points.values
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> kernel_points({"word": ["ab", "abc"]}, Spectrum(2)).points.values
    ['ab', 'abc']
    """
    table = as_table(data)
    if kernel.takes in ("sequences", "trees"):
        name = _text_column(table, text, drop, kernel)
        return KernelPoints(kernel.points(_texts(table, name), name), (name,), standardized=False)
    if text is not None:
        raise InputError(f"the {kernel.label} takes columns of numbers; a column of texts ({text!r}) has no effect.")
    if kernel.takes == "entries":
        names = tuple(name for name in table.names if name not in drop)
        return KernelPoints(kernel.points(_entries(table, names)), names, standardized=False)
    encoder = encoder_of(table, drop, types, choices)
    if not encoder.columns:
        raise InputError(f"{table.origin} has no column of numbers or categories for the {kernel.label}.")
    rows = encoder.encode(table).times(np.eye(len(encoder.columns)))
    return KernelPoints(kernel.points(_standard(rows) if standardized else rows), encoder.columns, standardized)


def _standard(rows: Array) -> Array:
    """Return columns of mean 0 and standard deviation 1; constant ones are left out."""
    size = np.abs(rows).max(axis=0, initial=0.0)
    rows = rows / np.where(size > 0.0, size, 1.0)  # squares of what is huge or tiny are none
    centered = rows - rows.mean(axis=0)
    sd = np.sqrt((centered**2).mean(axis=0))
    return np.asarray(centered[:, sd > 1e-15] / sd[sd > 1e-15])


def _text_column(table: Table, text: str | None, drop: Sequence[str], kernel: Kernel) -> str:
    names = [name for name in table.names if name not in drop]
    if text is not None:
        table.require(text, "text column")
        return text
    if len(names) != 1:
        raise InputError(
            f"the {kernel.label} takes one column of {kernel.takes}; say which of {', '.join(map(repr, names[:8]))} it is."
        )
    return names[0]


def _texts(table: Table, name: str) -> list[str]:
    """Return the cells of a column; a missing one is an empty text, as in a fit."""
    texts: list[str] = []
    for _, batch in table.select(texts=[name]).numbered():
        codes, levels = texts_of(column(batch, name))
        texts += ["" if code < 0 else levels[code] for code in codes]
    return texts


def _entries(table: Table, names: Sequence[str]) -> Array:
    parts = []
    for _, batch in table.select(numbers=names).numbered():
        columns = []
        for name in names:
            values, bad = numbers(column(batch, name))
            if len(bad) or np.isnan(values).any():
                raise InputError(
                    f"the column {name!r} of {table.origin} holds cells that are no numbers; a precomputed kernel is a "
                    f"matrix of numbers."
                )
            columns.append(values)
        parts.append(np.column_stack(columns) if columns else np.zeros((batch.num_rows, 0)))
    return np.concatenate(parts) if parts else np.zeros((0, 0))
