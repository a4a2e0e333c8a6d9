"""A model by neighbors: the file's training rows are those of the data, and what it looked up is found again.

The search is plain: distances are sums of direct differences, column after column, each step rounded once; the smaller
distance comes first, of equal ones the smaller row number. For squares a product of matrices says which rows can be among the
nearest at all: it is off by no more than ``2^-48 (columns + 8) (|q|^2 + |x|^2)``, and that much room is left twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array, Index
from lineal.verify.claims.ground import field
from lineal.verify.claims.training import Examples
from lineal.verify.maps.claims import MapClaims
from lineal.verify.maps.stored import MOST_CELLS, dense
from lineal.verify.report import Report

METRICS: Final = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "hamming", "cosine", "minkowski")
CHECKED_ROWS: Final = 200
"""How many training rows a fit looks up for its verdict."""
CHUNK_CELLS: Final = 2**22
ROUNDING: Final = 1e-9
"""How far numbers that were encoded or averaged in another order may be off."""


@dataclass(frozen=True)
class Stated:
    """The fields of the map: how many neighbors, how far they are, and how they count."""

    k: int
    metric: str
    power: float
    weights: str
    references: list[list[int]]


def columns(claims: MapClaims) -> list[str]:
    """Return the names of the columns that the map makes."""
    if claims.classes is not None:
        return [f"share of {label}" for label in claims.classes]
    return [f"mean of {name}" for name in claims.targets]


def check(report: Report, claims: MapClaims, rows: Examples) -> None:
    """Check the training rows in the file, how they are compared, and what was looked up."""
    stated = _stated(claims)
    _check_form(report, claims)
    x, y = _gathered(rows, claims)
    kept, targets, scale = _kept(claims)
    same = kept.shape == x.shape and bool(np.all(np.abs(kept - x) <= ROUNDING * np.maximum(np.abs(x), np.abs(kept))))
    report.check("the training rows in the file are those of the data, encoded", same, f"{len(x)} rows")
    report.check("their targets are those of the data", targets.shape == y.shape and bool(np.all(targets == y)))
    _check_scale(report, claims, x, scale, stated.metric)
    wanted = _references(claims)
    report.check("every level without a column of its own gets one", stated.references == wanted, f"{len(wanted)}")
    report.check("there are at least as many rows as neighbors", 1 <= stated.k <= len(x), f"{stated.k} of {len(x)}")
    _check_evidence(report, claims, stated, _compared(kept, scale, stated), targets)


def _stated(claims: MapClaims) -> Stated:
    """Return the fields of the map, or refuse the file."""
    given = {"map": dict(claims.parameters)}
    known = {"neighbors", "metric", "power", "weights", "classes", "targets", "references", "inputs"}
    if not set(claims.parameters) <= known:
        raise ModelFileError("the feature map of the model file has fields that neighbors do not have.")
    metric, weights = field(given, "map.metric", str), field(given, "map.weights", str)
    if metric not in METRICS or weights not in ("uniform", "distance"):
        raise ModelFileError("the feature map names a metric or weights that this checker does not know.")
    labels = None if claims.classes is None else [str(label) for label in claims.classes]
    if claims.parameters.get("classes") != labels or claims.parameters.get("targets") != claims.targets:
        raise ModelFileError("the classes or targets of the feature map are not those of the model.")
    power = float(field(given, "map.power", float)) if metric == "minkowski" else 2.0
    k = field(given, "map.neighbors", int)
    return Stated(int(k), metric, power, weights, field(given, "map.references", list))


def _check_form(report: Report, claims: MapClaims) -> None:
    """Check that the model is nothing but its columns: each output is one of them."""
    outputs = len(claims.made) - int(claims.intercept)
    plain = np.vstack([np.zeros((int(claims.intercept), outputs)), np.eye(outputs)])
    alone = claims.coef.shape == plain.shape and bool(np.all(claims.coef == plain))
    report.check("every output is one of the columns that neighbors make", alone, f"{outputs} outputs")
    loss = (
        {"name": "squared", "width": outputs} if claims.classes is None else {"name": "sparsemax", "classes": outputs}
    )
    named = claims.loss.get("name") == loss["name"]
    report.check("scores are read as shares of classes, or as numbers", named, str(claims.loss.get("name")))
    report.check("nothing is penalized", claims.penalty.get("name") == "none", str(claims.penalty.get("name")))
    free = claims.weight is None and claims.offset is None and claims.counts is None
    report.check("every training row counts once", free)


def _gathered(rows: Examples, claims: MapClaims) -> tuple[Array, Array]:
    """Return the encoded training rows without the intercept, and their targets."""
    width = len(claims.columns) - int(claims.intercept)
    if rows.rows * max(width, 1) > MOST_CELLS:
        raise ModelFileError(f"{rows.rows} training rows of {width} columns are more than this checker holds (2 GB).")
    blocks = [(block["x"][:, int(claims.intercept) :], block["target"]) for block in rows.store]
    return np.vstack([x for x, _ in blocks]), np.vstack([target for _, target in blocks])


def _kept(claims: MapClaims) -> tuple[Array, Array, Array]:
    """Return rows, targets and scale of the file."""
    arrays = dict(claims.arrays)
    targets, scale = arrays.pop("targets", None), arrays.pop("scale", None)
    width = len(claims.columns) - int(claims.intercept)
    if set(arrays) == {"indptr", "indices", "data"}:
        rows: npt.NDArray[Any] | None = dense(arrays["indptr"], arrays["indices"], arrays["data"], width)
    else:
        rows = arrays.get("rows") if set(arrays) == {"rows"} else None
    for array, dimensions in ((rows, 2), (targets, 2), (scale, 1)):
        sound = array is not None and array.dtype == np.float64 and array.ndim == dimensions
        if not sound or not np.all(np.isfinite(array)):  # type: ignore[arg-type]
            raise ModelFileError("the arrays of the feature map do not have the types or shapes they must have.")
    assert rows is not None
    assert targets is not None
    assert scale is not None
    if len(scale) != width or rows.shape[1] != width:
        raise ModelFileError("the arrays of the feature map do not have the columns of its inputs.")
    return rows, targets, scale


def _check_scale(report: Report, claims: MapClaims, x: Array, scale: Array, metric: str) -> None:
    """Check that columns of numbers are in units of their standard deviation, or as they are, and others as they are."""
    numbers = np.ones(len(scale), dtype=bool)
    for kind, first, last in _spans(claims):
        if kind in ("category", "merged", "hashed", "cycle", "text"):
            numbers[first:last] = False
    spread = np.std(x, axis=0)
    units = np.where(spread > 0.0, 1.0 / np.where(spread > 0.0, spread, 1.0), 1.0)
    near = np.abs(scale - units) <= ROUNDING * np.maximum(scale, units) + _lost(x, spread) * units
    plain = bool(np.all(scale == 1.0))
    standard = bool(np.all(np.where(numbers, near, scale == 1.0))) and metric not in ("cosine", "hamming")
    words = "as they are" if plain else "in units of their standard deviation"
    report.check("columns are compared as they are, or numbers in units of their spread", plain or standard, words)


def _lost(x: Array, spread: Array) -> Array:
    """Return the share of a spread that rounding may take: that of a column far from zero is known to few digits."""
    size = np.max(np.abs(x), axis=0, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0.0, np.minimum(1e-13 * np.square(size / spread), 0.5), 0.0)


def _spans(claims: MapClaims) -> Iterator[tuple[str, int, int]]:
    """Yield the kind of every term with its first column of inputs and the one after its last."""
    from lineal.verify.terms import names

    at = 0
    for term in claims.terms:
        width = len(names(term))
        yield str(term["kind"]), at, at + width
        at += width


def _references(claims: MapClaims) -> list[list[int]]:
    spans = zip(claims.terms, _spans(claims), strict=True)
    return [
        [first, last]
        for term, (kind, first, last) in spans
        if kind in ("category", "merged") and term["reference"] is not None
    ]


def _compared(rows: Array, scale: Array, stated: Stated) -> Array:
    """Return rows as they are compared, in units in which no square overflows or vanishes (a power of two)."""
    more = [1.0 - rows[:, first:last].sum(axis=1) for first, last in stated.references]
    z = np.column_stack([rows * scale, *more])
    if stated.metric == "cosine":
        return _directions(z)
    size = float(np.max(np.abs(z), initial=0.0))
    power = int(np.frexp(size)[1]) - 1
    outside = size > 0.0 and not -450 <= power <= 500 and stated.metric not in ("hamming", "minkowski")
    return np.asarray(np.ldexp(z, -power)) if outside else z


def _directions(z: Array) -> Array:
    """Return rows divided by their lengths; one of zeros is as far from all as two that are orthogonal."""
    largest = np.max(np.abs(z), axis=1, initial=0.0)
    scaled = z * np.ldexp(1.0, np.clip(-np.frexp(largest)[1], -1000, 1000))[:, None]
    lengths = np.sqrt(_sums(scaled * scaled))
    return np.asarray(scaled * (1.0 / np.where(lengths == 0.0, 1.0, lengths))[:, None])


def _sums(terms: Array) -> Array:
    """Return the sum of every row, one column after the other."""
    return np.cumsum(terms, axis=1)[:, -1] if terms.shape[1] else np.zeros(len(terms))


def _shares(metric: str, power: float) -> Callable[[Array], Array]:
    """Return what a column's difference adds to a distance."""
    if metric in ("euclidean", "sqeuclidean", "cosine"):
        return np.square
    if metric == "hamming":
        return lambda gap: (gap != 0.0).astype(np.float64)
    return (lambda gap: np.abs(gap) ** power) if metric == "minkowski" else np.abs


class Search:
    """The nearest others of training rows."""

    def __init__(self, z: Array, stated: Stated) -> None:
        self.z, self.stated = z, stated
        self._share = _shares(stated.metric, stated.power)
        self._norms = np.einsum("ij,ij->i", z, z)
        self._zero = self._norms == 0.0

    def nearest(self, own: Index, k: int) -> tuple[Array, Index]:
        """Return the k least sums of some rows to all others, and whose they are, in order."""
        nearest = np.empty((len(own), k)), np.empty((len(own), k), dtype=np.intp)
        step = max(1, CHUNK_CELLS // len(self.z))
        for first in range(0, len(own), step):
            some = own[first : first + step]
            for place, (row, candidates) in enumerate(self._candidates(some, k), first):
                sums = self._apart(row, candidates)
                order = np.lexsort((candidates, sums))[:k]
                nearest[0][place], nearest[1][place] = sums[order], candidates[order]
        return nearest

    def distances(self, sums: Array, columns: int, exponent: float) -> Array:
        """Return distances from sums."""
        metric = self.stated.metric
        if metric == "hamming":
            return sums / columns
        if metric == "cosine":
            return 0.5 * sums
        if metric == "minkowski":
            return np.asarray(sums ** (1.0 / self.stated.power))
        return np.sqrt(sums) * exponent if metric == "euclidean" else sums * exponent

    def _candidates(self, some: Index, k: int) -> Iterator[tuple[int, Index]]:
        """Yield some rows with all others that can be among their k nearest."""
        if self._share is not np.square or self.stated.metric == "cosine":
            yield from ((int(row), np.delete(np.arange(len(self.z)), row)) for row in some)
            return
        squares = self._norms[some][:, None] + self._norms[None, :]
        room = 2.0**-48 * (self.z.shape[1] + 8) * squares
        about = squares - 2.0 * (self.z[some] @ self.z.T)
        high = about + room
        high[np.arange(len(some)), some] = np.inf
        bound = np.partition(high, k - 1, axis=1)[:, k - 1]
        near = about - room <= bound[:, None]
        near[np.arange(len(some)), some] = False
        yield from ((int(row), np.flatnonzero(line)) for row, line in zip(some, near, strict=True))

    def _apart(self, row: int, others: Index) -> Array:
        """Return the sums of one row and some others."""
        shares = self._share(self.z[row] - self.z[others])
        if self.stated.metric == "chebyshev":
            return np.asarray(shares.max(axis=1, initial=0.0))
        sums = _sums(shares)
        if self.stated.metric == "cosine":
            return np.where(self._zero[others] | self._zero[row], 2.0, sums)
        return sums


def _check_evidence(report: Report, claims: MapClaims, stated: Stated, z: Array, targets: Array) -> None:
    """Look up again what the verdict states, and write its sentence anew."""
    given = {"verdict": dict(claims.verdict)}
    evidence = field(given, "verdict.evidence", dict)
    report.check(
        "the verdict is that neighbors were looked up", claims.verdict["kind"] == "exact", claims.verdict["kind"]
    )
    nothing = all(claims.verdict[name] is None for name in ("gap", "relative_gap", "reason"))
    report.check("nothing else is claimed", nothing and not claims.kept)
    n, k = len(z), stated.k
    counts = evidence.get("rows") == n and evidence.get("neighbors") == k
    report.check("it is about all training rows and as many neighbors as the map takes", counts, f"{k} of {n}")
    search, m = Search(z, stated), min(n, CHECKED_ROWS) if k < n else 0
    own = np.arange(m) * n // max(m, 1)
    kept, _, scale = _kept(claims)
    exponent = _exponent(kept, scale, stated)
    distances = search.distances(search.nearest(own, k)[0][:, -1], z.shape[1], exponent) if m else np.zeros(0)
    claimed = evidence.get("distances")
    shape = isinstance(claimed, list) and len(claimed) == m and all(isinstance(each, float) for each in claimed)
    far = np.asarray(claimed if shape else np.full(m, np.nan), dtype=np.float64)
    good = shape and bool(np.all(np.abs(far - distances) <= 1e-12 * np.maximum(far, distances)))
    report.check(f"the distances of {m} training rows to their neighbor {k} are found again", good)
    losses = evidence.get("leave_one_out")
    words = "" if losses is None else _left_out(report, search, stated, losses, targets, claims)
    sentence = f"Exact: looked up, the {k} nearest of {n} training rows, {stated.metric} distance{words}; nothing was optimized."
    report.check("the sentence says what was found", claims.verdict["sentence"] == sentence, sentence)


def _exponent(rows: Array, scale: Array, stated: Stated) -> float:
    """Return the unit of the numbers that are compared: the power of two that was taken out."""
    if stated.metric in ("cosine", "hamming", "minkowski"):
        return 1.0
    more = [1.0 - rows[:, first:last].sum(axis=1) for first, last in stated.references]
    size = float(np.max(np.abs(np.column_stack([rows * scale, *more])), initial=0.0))
    power = int(np.frexp(size)[1]) - 1
    if size == 0.0 or -450 <= power <= 500:
        return 1.0
    return float(np.ldexp(1.0, power * (2 if stated.metric == "sqeuclidean" else 1)))


def _left_out(report: Report, search: Search, stated: Stated, losses: Any, targets: Array, claims: MapClaims) -> str:
    """Predict every row from the others, for every k that was tried; return what the sentence says of it."""
    n = len(targets)
    most = min(n - 1, max(32, int(np.ceil(2.0 * np.sqrt(n)))), 256)
    numbers = isinstance(losses, list) and all(isinstance(each, float | int) for each in losses)
    report.check("as many k were tried as are stated", numbers and len(losses) == most and most > 0, f"1 to {most}")
    own = np.arange(n)
    sums, rows = search.nearest(own, most)
    weights = np.ones(sums.shape)
    if stated.weights == "distance":
        far = search.distances(sums, search.z.shape[1], 1.0)
        zero = far == 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(zero.any(axis=1, keepdims=True), zero, far.min(axis=1, keepdims=True) / far)
    recounted = _losses(rows, weights, targets, claims.classes)
    stated_losses = np.asarray(losses, dtype=np.float64)
    close = bool(np.all(np.abs(stated_losses - recounted) <= (0.0 if claims.classes else 1e-9) * recounted))
    report.check("rows that are left out are predicted as stated, for every k", close)
    best = int(np.argmin(stated_losses))
    report.check("the number of neighbors is the first of the best", best + 1 == stated.k, f"{best + 1}")
    shown = f"mistakes when each row is left out, {losses[best]:.0f}"
    if claims.classes is None:
        shown = f"squared error when each row is left out, {losses[best]:.6g}"
    return f"; k = {stated.k} of 1 to {most} has the least {shown}"


def _losses(rows: Index, weights: Array, targets: Array, classes: list[Any] | None) -> Array:
    """Return the mistakes, or squared errors, of the first k neighbors for every k."""
    n, most = rows.shape
    losses = np.zeros(most)
    if classes is not None:
        codes, votes = targets[:, 0].astype(np.intp), np.zeros((n, len(classes)))
        for k in range(most):
            votes[np.arange(n), codes[rows[:, k]]] += weights[:, k]
            losses[k] = np.count_nonzero(np.argmax(votes, axis=1) != codes)
        return losses
    sums, total = np.zeros(targets.shape), np.zeros((n, 1))
    for k in range(most):
        sums += weights[:, k, None] * targets[rows[:, k]]
        total += weights[:, k, None]
        losses[k] = np.sum(np.square(sums / total - targets))
    return losses
