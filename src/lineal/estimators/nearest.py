"""What the estimators of neighbors share: the search and its graphs, with scikit-learn's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.neighbors import BallTree, KDTree
from sklearn.neighbors import NearestNeighbors as Reference
from sklearn.utils.validation import check_is_fitted

from lineal.certify.wording import exact
from lineal.designs.sound import is_sparse
from lineal.errors import InputError, KindError
from lineal.estimators.distances import Searched, searched
from lineal.estimators.fitted import Fitted
from lineal.estimators.intake import blame, features, features_alone
from lineal.estimators.parameters import hints, number
from lineal.ground.arrays import Array
from lineal.neighbors.index import Neighbors

Numbers = npt.NDArray[np.int64]

ALGORITHMS = ("auto", "brute", "kd_tree", "ball_tree")
KNeighborsMixin: Any
RadiusNeighborsMixin: Any
KNeighborsMixin, RadiusNeighborsMixin = Reference.__bases__[:2]
"""What scikit-learn's functions recognize a search by; only its public classes name them."""
RADIUS_CELLS = 2**22
"""Distances that a search within a radius holds at a time: 32 MB."""


class NeighborsEstimator(Fitted, KNeighborsMixin):  # type: ignore[misc]
    """Training rows that are searched for the nearest ones.

    ``solver_`` says how they are searched, and why; every way gives the same answer, to the last bit: the smaller distance
    first, of equal ones the smaller row number.
    """

    if TYPE_CHECKING:
        n_neighbors: Any
        algorithm: str
        leaf_size: int
        metric: Any
        p: float
        metric_params: dict[str, Any] | None
        n_jobs: int | None
        n_samples_fit_: int
        effective_metric_: Any
        _searched: Searched | None

    def _hold(self, X: Any) -> None:
        """Keep the training rows, laid out for searches."""
        hints(n_jobs=self.n_jobs)
        leaf = _count("leaf_size", self.leaf_size)
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"algorithm is {self.algorithm!r}; accepted are {', '.join(map(repr, ALGORITHMS))}.")
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise KindError(f"metric_params is {self.metric_params!r}; it must be a dict, or None.")
        self._searched = held = searched(X, self.metric, self.p, self.metric_params, self.algorithm, leaf)
        self.n_samples_fit_ = held.count
        self._fit_X = held.rows
        named = getattr(held, "metric", None)
        self.effective_metric_ = getattr(named, "name", self.metric)
        self.effective_metric_params_ = dict(self.metric_params or {})
        self.solver_ = f"{held.way}: {held.reason}"

    def _conclude(self, k: int, how: str = "") -> None:
        """Note the verdict: nothing was optimized."""
        metric = self.effective_metric_ if isinstance(self.effective_metric_, str) else "a function"
        rows = self.n_samples_fit_
        among = f"{k} nearest of {rows} training row{'s' * (rows != 1)}, {metric} distance"
        evidence = {"rows": rows, "neighbors": k, "metric": metric}
        self.verdict_ = exact(f"looked up, the {among}{how}", evidence)

    def _ready(self) -> None:
        """Raise NotFittedError before a fit."""
        if "n_samples_fit_" not in self.__dict__:
            check_is_fitted(self)

    @property
    def _held(self) -> Searched:
        """The training rows, laid out again after a pickle."""
        if self.__dict__.get("_searched") is None:
            self._searched = searched(
                self._fit_X, self.metric, self.p, self.metric_params, self.algorithm, int(self.leaf_size)
            )
        assert self._searched is not None
        return self._searched

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_searched"}

    def _asked(self, X: Any) -> tuple[Any, Numbers | None]:
        """Return queries and which training row each of them is: with X None all training rows, none finding itself."""
        self._ready()
        if X is None:
            return self._fit_X, np.arange(self.n_samples_fit_)
        self._check_format(X)
        X = features(self, X)
        blame(X)
        return X, None

    def _check_format(self, X: Any) -> None:
        """Refuse distances in formats of sparse matrices that lose distances of zero."""
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        if given and is_sparse(X) and X.format in ("dok", "bsr"):
            raise KindError(
                f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit zeros, which are "
                "distances; convert it with tocsr() first."
            )

    def _neighbors(self, X: Any, k: Any = None) -> Neighbors:
        """Return distances and rows of the neighbors."""
        asked, own = self._asked(X)
        k = self._k if k is None else neighbor_count(k)
        most = self.n_samples_fit_ - (own is not None)
        if k > most:
            beside = " beside the row itself" if own is not None else ""
            raise InputError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}, "
                f"n_samples = {asked.shape[0]}: there are {most} rows to be found{beside}; ask for {most} or fewer."
            )
        return self._held.nearest(asked, k, own)

    @property
    def _k(self) -> int:
        """How many neighbors a query has unless it says so."""
        return int(self.__dict__.get("n_neighbors_") or neighbor_count(self.n_neighbors))

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Array, Numbers] | Numbers:
        """Return distances and row numbers of the nearest training rows, nearest first, of equal ones the smaller number.

        Without X, those of every training row, which is not its own neighbor.
        """
        neighbors = self._neighbors(X, n_neighbors)
        return (neighbors.distances, neighbors.rows) if return_distance else neighbors.rows

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: Literal["connectivity", "distance"] = "connectivity"
    ) -> sparse.csr_matrix:
        """Return a sparse matrix with an entry for every neighbor of a query: 1, or the distance."""
        neighbors = self._neighbors(X, n_neighbors)
        n, k = neighbors.rows.shape
        data = neighbors.distances.reshape(-1) if _mode(mode) == "distance" else np.ones(n * k)
        return sparse.csr_matrix((data, neighbors.rows.reshape(-1), np.arange(0, n * k + 1, k)), shape=(n, self._width))

    @property
    def _width(self) -> int:
        return self.n_samples_fit_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.pairwise = given
        tags.input_tags.sparse = True
        return tags


class RadiusMixin(RadiusNeighborsMixin):  # type: ignore[misc]
    """Searches for all training rows within a radius."""

    if TYPE_CHECKING:
        radius: float

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """Return, for every query, distances and numbers of the training rows no further than the radius.

        In the order of row numbers, or with ``sort_results`` the nearest first, of equal ones the smaller number.
        """
        if sort_results and not return_distance:
            raise InputError("return_distance must be True if sort_results is True; ask for distances, too.")
        parts = list(self._within(X, radius))
        distances, rows = np.empty(len(parts), dtype=object), np.empty(len(parts), dtype=object)
        for place, (far, numbers) in enumerate(parts):
            order = np.argsort(far, kind="stable") if sort_results else slice(None)
            distances[place], rows[place] = far[order], numbers[order]
        return (distances, rows) if return_distance else rows

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
        sort_results: bool = False,
    ) -> sparse.csr_matrix:
        """Return a sparse matrix with an entry for every training row within the radius of a query: 1, or the distance."""
        distances, rows = self.radius_neighbors(X, radius, return_distance=True, sort_results=sort_results)
        starts = np.concatenate([[0], np.cumsum([len(numbers) for numbers in rows])])
        far = np.concatenate([np.zeros(0), *distances])
        numbers = np.concatenate([np.zeros(0, np.int64), *rows])
        data = far if _mode(mode) == "distance" else np.ones(len(far))
        return sparse.csr_matrix((data, numbers, starts), shape=(len(rows), self.n_samples_fit_))

    def _within(self, X: Any, radius: float | None) -> Any:
        """Yield distances and row numbers of every query, some queries at a time."""
        asked, own = self._asked(X)
        bound = number("radius", self.radius if radius is None else radius, infinite=True)
        held = self._held
        step = max(1, RADIUS_CELLS // held.count)
        for first in range(0, asked.shape[0], step):
            some = held.all_distances(asked[first : first + step])
            if own is not None:
                some[np.arange(len(some)), own[first : first + step]] = np.nan
            for distances in some:
                rows = np.flatnonzero(distances <= bound)
                yield distances[rows], rows


@dataclass(eq=False, repr=False, kw_only=True)
class NearestNeighbors(RadiusMixin, NeighborsEstimator):
    """The nearest training rows of a query, found exactly.

    ``d(q, x) = (sum_j |q_j - x_j|^p)^(1/p)`` or another metric; the smaller distance comes first, of equal ones the smaller
    row number. Distances are sums of direct differences: rows near 1e8 that differ by 1e-8 are told apart, and every
    ``algorithm``, a hint about cost, gives the same bits.

    Parameters
    ----------
    n_neighbors : how many neighbors a query has unless it says so, at least 1.
    radius : how far neighbors are for ``radius_neighbors`` unless it says so.
    algorithm : "auto", "brute", "kd_tree" or "ball_tree": a hint about cost; "auto" measures it.
    leaf_size : about how many rows a leaf of a tree holds.
    metric : "minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "hamming", "precomputed", any other name of
        scikit-learn's, or a function of two rows (docs/neighbors.md).
    p : the power of Minkowski's distance, above 0.
    metric_params : further options of a metric, a dict, or None.
    n_jobs : accepted for compatibility; the cores that are given are used.

    >>> search = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [5.0]])
    >>> search.kneighbors([[0.4]])
    (array([[0.4, 0.6]]), array([[0, 1]], dtype=int64))
    >>> search.verdict_.sentence
    'Exact: looked up, the 2 nearest of 3 training rows, euclidean distance; nothing was optimized.'
    """

    n_neighbors: int = 5
    radius: float = 1.0
    algorithm: str = "auto"
    leaf_size: int = 30
    metric: Any = "minkowski"
    p: float = 2
    metric_params: dict[str, Any] | None = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the training rows; ``y`` is not read."""
        k = neighbor_count(self.n_neighbors)
        self._hold(features_alone(self, rows_in(X)))
        self._conclude(k)
        return self


def rows_in(X: Any) -> Any:
    """Return the training rows that an estimator of neighbors or a tree of scikit-learn's holds; anything else as it is."""
    if isinstance(X, KNeighborsMixin):
        check_is_fitted(X)
        return X._fit_X  # noqa: SLF001  (scikit-learn's only name of them)
    return np.asarray(X.data) if isinstance(X, BallTree | KDTree) else X


def _mode(mode: object) -> object:
    if mode not in ("connectivity", "distance"):
        raise InputError(f"mode is {mode!r}; accepted are 'connectivity' and 'distance'.")
    return mode


def _count(name: str, value: Any) -> int:
    """Return a whole number of at least 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise KindError(f"{name} does not take {type(value).__name__} value, enter integer value: it is {value!r}.")
    if value < 1:
        raise InputError(f"Expected {name} > 0. Got {value!r}; give a whole number of at least 1.")
    return int(value)


def neighbor_count(value: Any) -> int:
    """Return a number of neighbors: a whole number of at least 1.

    >>> neighbor_count(5)
    5
    """
    return _count("n_neighbors", value)
