"""polars: words by its regular expressions, hashed by it, counted as scipy adds entries."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem

COLUMNS = 2**20


class Polars(Peer):
    """Lower case, every run of word characters, its hash; a row of the matrix has as many entries as words."""

    name = "polars"
    distribution = "polars"
    tasks: ClassVar[tuple[str, ...]] = ("words",)

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return the one way."""
        return [[{}]]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return the counts of words."""
        import polars as pl
        from scipy.sparse import csr_matrix

        words = pl.Series(data.texts).str.to_lowercase().str.extract_all(r"\w+")
        starts = np.concatenate([[0], np.cumsum(words.list.len().to_numpy())])
        columns = (words.explode(empty_as_null=False).hash() % COLUMNS).to_numpy().astype(np.int32)
        found = csr_matrix((np.ones(columns.size), columns, starts), shape=(len(words), COLUMNS))
        found.sum_duplicates()
        return found

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return nothing: only the counts matter."""
        raise NotImplementedError
