"""Encoded documents: sparse rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Rows(NamedTuple):
    """Encoded documents in compressed sparse rows; ``unknown`` of the ``terms`` have no column."""

    starts: npt.NDArray[Any]
    columns: npt.NDArray[Any]
    values: npt.NDArray[Any]
    terms: int
    unknown: int

    def matrix(self, width: int) -> Any:
        """Return a scipy matrix of ``width`` columns, in 32-bit numbers where they suffice."""
        from scipy.sparse import csr_matrix

        starts, columns = self.indices()
        return csr_matrix((self.values, columns, starts), shape=(len(starts) - 1, width))

    def indices(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return starts and columns in one type."""
        if len(self.columns) < 2**31:
            return self.starts.astype(np.int32), self.columns
        return self.starts, self.columns.astype(np.int64)

    @property
    def size(self) -> int:
        """Bytes of memory."""
        return 8 * len(self.starts) + (4 + self.values.itemsize) * len(self.columns)

    @classmethod
    def none(cls) -> Rows:
        """Return no rows."""
        return cls(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0, 0)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of several parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        at = np.cumsum([0, *(len(part.columns) for part in parts)])
        starts = [part.starts[1:] + first for part, first in zip(parts, at, strict=False)]
        return cls(
            np.concatenate([np.zeros(1, np.int64), *starts]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.values for part in parts]),
            sum(part.terms for part in parts),
            sum(part.unknown for part in parts),
        )
