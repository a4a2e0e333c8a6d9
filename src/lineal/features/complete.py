"""The rows of a table without a missing cell in some columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.features.cells.cells import texts
from lineal.features.encoder import Encoder, column
from lineal.features.gathering import present
from lineal.features.splitting import Apart
from lineal.tables.marked import marked
from lineal.tables.tabular import Table


def used(encoder: Encoder) -> list[str]:
    """Return the columns of a table that its terms need, sorted."""
    return sorted({name for term in encoder.terms for name in term.inputs})


def complete(table: Table, names: Sequence[str], encoder: Encoder) -> tuple[Table, int]:
    """Return the rows whose cells in these columns are all there, and how many others there are.

    A cell is missing as the terms of the encoder read it: they may know more marks for it.

    >>> from lineal.tables.table import as_table
    >>> kept, gone = complete(as_table({"a": [1.0, None, 3.0]}), ["a"], Encoder(True, ()))
    >>> gone, [batch.num_rows for batch in kept.batches()]
    (1, [2])
    """
    written: list[dict[str, Any]] = [term.to_dict() for term in encoder.terms]
    marks = {term["column"]: set(term["markers"]) for term in written if term.get("markers")}
    gaps: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    as_text = [name for name in names if name in encoder.text_columns]
    told = marked(table, encoder.marks)
    for rows, batch in told.select(numbers=[name for name in names if name not in as_text], texts=as_text).numbered():
        gone = np.zeros(len(rows), dtype=np.bool_)
        for name in names:
            array = column(batch, name)
            gone |= ~present(array)
            if name in marks:
                codes, levels = texts(array)
                gone |= np.array([*(level in marks[name] for level in levels), False])[codes]
        gaps.append(rows[gone])
    lost = np.concatenate(gaps)
    return (table.where(Apart(lost)), len(lost)) if len(lost) else (table, 0)
