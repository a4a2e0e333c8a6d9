"""scipy: its k-d tree, on all processors."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmarks.data import Data
from benchmarks.peer import Line, Peer, Setting
from benchmarks.problems import Problem


class ScipyTree(Peer):
    """``scipy.spatial.cKDTree`` with ``workers=-1``."""

    name = "scipy tree"
    distribution = "scipy"
    tasks: ClassVar[tuple[str, ...]] = ("neighbors",)

    def lines(self, problem: Problem) -> list[Line] | str:
        """Return both ways of cutting; a tree of 64 columns looks at all rows."""
        if problem.row == "knn":
            return "is a tree, which looks at nearly all rows of 64 columns"
        return [[{"balanced_tree": True}], [{"balanced_tree": False}]]

    def fit(self, problem: Problem, data: Data, setting: Setting) -> Any:
        """Return distances and row numbers."""
        from scipy.spatial import cKDTree

        from benchmarks.lookups import NEIGHBORS, parts

        rows, queries = parts(data)
        return cKDTree(rows, **setting).query(queries, NEIGHBORS, workers=-1)

    def coefficients(self, problem: Problem, fitted: Any) -> tuple[Any, Any]:
        """Return the distances that are compared."""
        from benchmarks.lookups import CHECKED

        return fitted[0][:CHECKED], None
