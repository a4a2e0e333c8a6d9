"""``knn``: the nearest training rows vote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from lineal.api.methods.method import MapFit, Method
from lineal.certify.wording import exact
from lineal.errors import InputError, near
from lineal.features.encoder import Encoder
from lineal.features.terms import Category, Text
from lineal.features.terms.category import Merged
from lineal.ground.arrays import Array
from lineal.ground.deadline import watched
from lineal.ground.records import dataclass
from lineal.losses import Sparsemax, Squared
from lineal.losses.loss import Loss
from lineal.model.feature_map import inputs
from lineal.model.verdict import Verdict
from lineal.neighbors.choosing import LeaveOneOut, choose
from lineal.neighbors.metric import named
from lineal.neighbors.neighbor_map import WEIGHTS, NeighborMap
from lineal.neighbors.rows import is_sparse
from lineal.penalties import NoPenalty

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run


METRICS: Final = ("euclidean", "manhattan", "chebyshev", "cosine", "hamming")
"""The metrics that may be typed."""
SPELLING: Final = "knn:K, knn:auto, with metric=manhattan, weights=distance, columns=raw after commas"
CHECKED_ROWS: Final = 200
"""Training rows, evenly spread, whose nearest others are the evidence."""
MOST_CELLS: Final = 2**28
"""Cells of dense training rows that are kept: 2 GB."""


@dataclass(frozen=True)
class Knn(Method):
    """The k nearest training rows vote; k None: by exact leave-one-out.

    >>> Knn.read("knn:7,weights=distance", "7,weights=distance")
    Knn(k=7, metric='euclidean', weights='distance', raw=False)
    """

    k: int | None = 5
    metric: str = "euclidean"
    weights: str = "uniform"
    raw: bool = False

    name: ClassVar[str] = "knn"
    spellings: ClassVar[tuple[str, ...]] = ("knn", "knn:K", "knn:auto")

    @classmethod
    def read(cls, text: str, rest: str | None) -> Self:
        """Return the method with what stands after its colon."""
        if rest is None:
            return cls()
        first, *words = [word.strip() for word in rest.split(",")]
        options: dict[str, str] = {}
        if "=" in first:
            first, words = "5", [first, *words]
        for word in words:
            key, equals, value = word.partition("=")
            accepted = {"metric": METRICS, "weights": WEIGHTS, "columns": ("standardized", "raw")}.get(key)
            if not equals or accepted is None or key in options:
                raise InputError(f"the model is {text!r}; it is spelled {SPELLING}.")
            if value not in accepted:
                known = ", ".join(accepted)
                raise InputError(f"the model is {text!r}; {key} is one of {known}.{near(value, accepted)}")
            options[key] = value
        k = None if first == "auto" else _count(first, text)
        raw = options.get("columns", "standardized") == "raw"
        return cls(k, options.get("metric", "euclidean"), options.get("weights", "uniform"), raw)

    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Keep the training rows, settle k, and look up what the verdict states."""
        rows, targets = _gathered(dataset)
        target = dataset.target
        labels = None if target.classes is None else tuple(str(label) for label in target.classes)
        names = target.names if target.names is not None else (target.name,)
        given = None if dataset.encoder is not None else tuple(dataset.train.columns[_first(dataset) :])
        mapped = NeighborMap(
            rows, targets, self._scale(dataset, rows), self.k or 1, named(self.metric), self.weights, labels, names,
            _references(dataset), given,
        )  # fmt: skip
        if self.k is not None and self.k > len(targets):
            raise InputError(
                f"{self.k} neighbors are asked for, and there are {len(targets)} training rows; ask for {len(targets)} or "
                "fewer, or for knn:auto."
            )
        with watched(run.deadline):
            chosen = None
            if self.k is None:
                classes = None if labels is None else [len(labels)]
                chosen = choose(mapped.index, targets, classes, self.weights)
                mapped = replace(mapped, k=chosen.k)
            verdict = verdict_of(mapped, chosen)
        outputs = len(mapped.columns)
        coef = np.vstack([np.zeros((_first(dataset), outputs)), np.eye(outputs)])
        loss: Loss = Squared(outputs) if labels is None else Sparsemax(outputs)
        way = f"{mapped.index.way}: {mapped.index.reason}"
        result = MapFit(mapped, coef, verdict, "look-up", way, NoPenalty(len(coef)))
        return result, loss, {"model": f"{mapped.k} nearest neighbors"}

    def _scale(self, dataset: Dataset, rows: Any) -> Array:
        """Return what columns are multiplied with: 1 / sd for numbers, 1 for levels of categories and words of texts."""
        width = rows.shape[1]
        if self.raw or self.metric in ("cosine", "hamming"):
            return np.ones(width)
        numbers = np.ones(width, dtype=bool)
        numbers[_others(dataset)] = False
        return np.where(numbers, _inverse_spread(rows), 1.0)


def verdict_of(mapped: NeighborMap, chosen: LeaveOneOut | None) -> Verdict:
    """Return the verdict on a map: what was looked up among how many rows, and for some of them the evidence.

    ``distances`` are those of the rows ``floor(i n / m)``, i = 0 ... m - 1, to their k-th nearest other row.
    """
    n, k = len(mapped.targets), mapped.k
    m = min(n, CHECKED_ROWS) if k < n else 0
    own = np.arange(m, dtype=np.int64) * n // max(m, 1)
    far = mapped.nearest(mapped.rows[own], own).distances[:, -1] if m else np.zeros(0)
    evidence = {
        "rows": n,
        "neighbors": k,
        "distances": far.tolist(),
        "leave_one_out": None if chosen is None else list(chosen.losses),
    }
    words = f"; {chosen.words()}" if chosen is not None else ""
    return exact(f"looked up, the {k} nearest of {n} training rows, {mapped.metric.name} distance{words}", evidence)


def _first(dataset: Dataset) -> int:
    return int(dataset.train.columns[:1] == ("(intercept)",))


def _gathered(dataset: Dataset) -> tuple[Any, Array]:
    """Return the training rows, dense or sparse, and their targets; row weights and offsets are refused."""
    roles = [role for role, column in dataset.roles.items() if column is not None]
    if roles:
        raise InputError(f"neighbors have no {roles[0]}: every training row counts once; leave {roles[0]} out.")
    parts = dataset.train.collect(lambda block: (inputs(block.design), block.y, block.weight))
    if any(weight is not None and np.any(weight != 1.0) for _, _, weight in parts):
        raise InputError("neighbors have no weights: every training row counts once; leave the weights out.")
    targets = np.concatenate([part[1] for part in parts])
    if any(is_sparse(part[0]) for part in parts):
        from scipy import sparse

        return sparse.csr_array(sparse.vstack([sparse.csr_array(part[0]) for part in parts])), targets
    if len(targets) * parts[0][0].shape[1] > MOST_CELLS:
        raise InputError(
            f"neighbors keep all training rows, {len(targets)} rows of {parts[0][0].shape[1]} columns, which is more than "
            "2 GB; fit a part of the rows."
        )
    return np.concatenate([part[0] for part in parts]), targets


def _spans(dataset: Dataset) -> list[tuple[Any, int, int]]:
    """Return every term with its first column of inputs and the one after its last."""
    if not isinstance(dataset.encoder, Encoder):
        return []
    spans, at = [], 0
    for term in dataset.encoder.terms:
        spans.append((term, at, at + len(term.columns)))
        at += len(term.columns)
    return spans


def _others(dataset: Dataset) -> list[int]:
    """Return the columns that are no numbers: levels of categories and words of texts."""
    return [j for term, first, last in _spans(dataset) if isinstance(term, Category | Text) for j in range(first, last)]


def _references(dataset: Dataset) -> tuple[tuple[int, int], ...]:
    """Return the columns of every category with a level that has none."""
    return tuple(
        (first, last)
        for term, first, last in _spans(dataset)
        if type(term) in (Category, Merged) and term.reference is not None
    )


def _inverse_spread(rows: Any) -> Array:
    """Return one over the standard deviation of every column, 1 for constant ones."""
    if is_sparse(rows):
        n = rows.shape[0]
        mean = np.asarray(rows.sum(axis=0)).reshape(-1) / n
        variance = np.asarray(rows.multiply(rows).sum(axis=0)).reshape(-1) / n - mean * mean
        spread = np.sqrt(np.maximum(variance, 0.0))
    else:
        with np.errstate(over="ignore"):
            spread = np.std(rows, axis=0)
    usable = (spread > 0.0) & np.isfinite(spread)
    return np.where(usable, 1.0 / np.where(usable, spread, 1.0), 1.0)


def _count(word: str, text: str) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= 2**53:
        raise InputError(f"the model is {text!r}; the number of neighbors is {word!r}; it is spelled {SPELLING}.")
    return int(word)
