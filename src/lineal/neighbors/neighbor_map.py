"""Columns made of training rows: the shares of the classes among the nearest of them, or the mean of their targets.

A model by neighbors is a linear model of these columns with coefficient 1, so that it predicts, is measured and is kept
like any other; its file holds the training rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.feature_map import FeatureMap
from lineal.neighbors.index import Index, Neighbors, Numbers
from lineal.neighbors.metric import ALL, Metric, minkowski, named
from lineal.neighbors.rows import is_sparse
from lineal.neighbors.votes import means, shares, weights_of

WEIGHTS: Final = ("uniform", "distance")
"""How neighbors may count."""
SPARSE: Final = ("indptr", "indices", "data")
"""The arrays of sparse training rows."""
MEMBERS: Final = {"neighbors", "metric", "power", "weights", "classes", "targets", "references", "inputs"}


@dataclass(frozen=True)
class NeighborMap(FeatureMap):
    """``phi_c(x)`` = share of class c among the k nearest training rows, or ``phi_j(x)`` = their mean of target j.

    Rows are compared in columns times ``scale``. ``references`` are the categories that have a level without a column, each
    as its first column and the one after its last: that level gets one, or two levels would be as far apart as it pleases
    the choice of the reference. ``targets`` are class numbers, or numbers, a column each.
    """

    rows: Any = field(repr=False)
    targets: Array = field(repr=False)
    scale: Array = field(repr=False)
    k: int
    metric: Metric
    weights: str
    labels: tuple[str, ...] | None
    names: tuple[str, ...]
    references: tuple[tuple[int, int], ...] = ()
    input_names: tuple[str, ...] | None = None

    name: ClassVar[str] = "neighbors"

    @property
    def width(self) -> int:
        """How many columns are compared, before those of reference levels."""
        return len(self.scale)

    @property
    def columns(self) -> tuple[str, ...]:
        """A share for every class, or a mean for every target."""
        if self.labels is not None:
            return tuple(f"share of {label}" for label in self.labels)
        return tuple(f"mean of {name}" for name in self.names)

    def compared(self, inputs: Any) -> Any:
        """Return rows as they are compared: scaled, with a column for every reference level."""
        more = [1.0 - np.asarray(inputs[:, first:last].sum(axis=1)).reshape(-1) for first, last in self.references]
        if not is_sparse(inputs):
            return np.ascontiguousarray(np.column_stack([np.asarray(inputs) * self.scale, *more]))
        from scipy import sparse

        scaled = sparse.csr_array(inputs.tocsr(copy=True))
        scaled.data = scaled.data * self.scale[scaled.indices]
        beside = [sparse.csr_array(column[:, None]) for column in more]
        return sparse.csr_array(sparse.hstack([scaled, *beside])) if beside else scaled

    @cached_property
    def index(self) -> Index:
        """The training rows, laid out for searches when they are first asked for."""
        return Index(self.compared(self.rows), self.metric)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def nearest(self, inputs: Any, own: Numbers | None = None) -> Neighbors:
        """Return the k nearest training rows of every row, nearest first; with ``own`` numbers, none finds itself."""
        return self.index.nearest(self.compared(inputs), self.k, own)

    def phi(self, inputs: Any) -> Array:
        """Return shares, or means."""
        return self.votes(self.nearest(inputs))

    def votes(self, neighbors: Neighbors) -> Array:
        """Return what neighbors say."""
        weights = weights_of(self.weights, neighbors.distances)
        if self.labels is not None:
            return shares(self.targets[:, 0].astype(np.int64)[neighbors.rows], len(self.labels), weights)
        return means(self.targets[neighbors.rows], weights)

    def parameters(self) -> dict[str, object]:
        """Return what a model file states as JSON."""
        return {
            "neighbors": self.k,
            **self.metric.to_dict(),
            "weights": self.weights,
            "classes": None if self.labels is None else list(self.labels),
            "targets": list(self.names),
            "references": [list(pair) for pair in self.references],
            **({} if self.input_names is None else {"inputs": list(self.input_names)}),
        }

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the training rows: as they are encoded, their targets, and what columns are multiplied with."""
        beside = {"targets": self.targets, "scale": self.scale}
        if not is_sparse(self.rows):
            return {"rows": np.ascontiguousarray(self.rows, dtype=np.float64), **beside}
        rows = self.rows.tocsr()
        parts = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(np.float64))
        return {**dict(zip(SPARSE, parts, strict=True)), **beside}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the map of a model file; anything unexpected is a ModelFileError."""
        if not set(parameters) <= MEMBERS or (MEMBERS - {"power", "inputs"}) - set(parameters):
            raise ModelFileError(f"feature_map must hold {', '.join(sorted(MEMBERS))}, power and inputs where needed.")
        targets, scale = _doubles(arrays, "targets", 2), _doubles(arrays, "scale", 1)
        rows = _rows(arrays, len(targets), len(scale))
        k, labels = parameters["neighbors"], parameters["classes"]
        if not _whole(k, 1) or k > len(targets):
            raise ModelFileError(f"feature_map.neighbors is {k!r}; there are {len(targets)} training rows.")
        if parameters["weights"] not in WEIGHTS:
            raise ModelFileError("feature_map.weights must be 'uniform' or 'distance'.")
        if not np.all(scale >= 0.0):
            raise ModelFileError("the array 'map.scale' must not be negative.")
        names, known = _texts(parameters["targets"]), None if labels is None else _texts(labels)
        _expect_targets(targets, names, known)
        given = parameters.get("inputs")
        return cls(
            rows, targets, scale, k, _metric(parameters), parameters["weights"], known, names,
            _references(parameters["references"], len(scale)), None if given is None else _texts(given),
        )  # fmt: skip

    def facts(self) -> list[tuple[str, str]]:
        """Return what a page says of it."""
        how = "each counts once" if self.weights == "uniform" else "each counts 1 / distance"
        scaled = "" if np.all(self.scale == 1.0) else "; columns of numbers are in units of their standard deviation"
        levels = "; two different levels of a category count 2" if self.references else ""
        return [
            ("Neighbors", f"{self.k} nearest of {len(self.targets)} training rows; {how}"),
            ("Distance", f"{self.metric.name}: {self.metric.formula}{scaled}{levels}"),
            ("Ties", "of equally near rows the first one"),
        ]

    @property
    def objective(self) -> str:
        """Nothing is minimized."""
        return "none: neighbors are looked up"

    @property
    def holds(self) -> str:
        """That the file holds all training rows."""
        return f"all {len(self.targets)} training rows, encoded, with their targets: whoever has the file can read them"


def _metric(parameters: Mapping[str, Any]) -> Metric:
    name, power = parameters["metric"], parameters.get("power")
    if power is not None:
        if name != "minkowski" or not isinstance(power, float) or not 0.0 < power < float("inf"):
            raise ModelFileError(f"feature_map.power is {power!r}; it belongs to 'minkowski' and is above 0.")
        return minkowski(power)
    if name not in {metric.name for metric in ALL}:
        raise ModelFileError(f"feature_map.metric is {name!r}; known are {', '.join(each.name for each in ALL)}.")
    return named(name)


def _rows(arrays: Mapping[str, npt.NDArray[Any]], count: int, width: int) -> Any:
    """Return the training rows, dense or sparse."""
    if set(arrays) == {"rows", "targets", "scale"}:
        rows = _doubles(arrays, "rows", 2)
        if rows.shape != (count, width):
            raise ModelFileError(f"the array 'map.rows' has shape {rows.shape}, not {(count, width)}.")
        return rows
    if set(arrays) != {*SPARSE, "targets", "scale"}:
        raise ModelFileError("the arrays of neighbors are rows (or indptr, indices and data), targets and scale.")
    from scipy import sparse

    indptr, indices = arrays["indptr"], arrays["indices"]
    data = _doubles(arrays, "data", 1)
    if indptr.dtype != np.int64 or indices.dtype != np.int64 or indptr.shape != (count + 1,):
        raise ModelFileError("the sparse training rows do not have the types or shapes they must have.")
    steps = np.diff(indptr)
    inside = indices.shape == data.shape and indptr[0] == 0 and indptr[-1] == len(data) and bool(np.all(steps >= 0))
    if not inside or np.any(indices < 0) or np.any(indices >= width):
        raise ModelFileError("the sparse training rows lead out of their arrays.")
    return sparse.csr_array((data, indices, indptr), shape=(count, width))


def _doubles(arrays: Mapping[str, npt.NDArray[Any]], name: str, dimensions: int) -> Array:
    array = arrays.get(name)
    if array is None or array.dtype != np.float64 or array.ndim != dimensions or not np.all(np.isfinite(array)):
        raise ModelFileError(f"the array 'map.{name}' must hold finite float64 numbers in {dimensions} dimensions.")
    return array


def _expect_targets(targets: Array, names: tuple[str, ...], labels: tuple[str, ...] | None) -> None:
    if targets.shape[1] != len(names) or (labels is not None and len(names) != 1):
        raise ModelFileError(f"the array 'map.targets' has {targets.shape[1]} columns for {len(names)} targets.")
    whole = labels is None or bool(np.all(np.isin(targets, np.arange(len(labels)))))
    if not whole:
        raise ModelFileError("the array 'map.targets' holds numbers that are no class.")


def _references(given: Any, width: int) -> tuple[tuple[int, int], ...]:
    pairs: list[tuple[int, int]] = []
    for pair in given if isinstance(given, list) else [None]:
        whole = isinstance(pair, list) and len(pair) == 2 and all(_whole(place, 0) for place in pair)
        first, last = (pair[0], pair[1]) if whole and pair is not None else (1, 0)
        if not first <= last <= width:
            raise ModelFileError(f"feature_map.references must be pairs of columns up to {width}.")
        pairs.append((first, last))
    return tuple(pairs)


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise ModelFileError("classes, targets and inputs of a feature map are lists of texts.")
    return tuple(given)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
