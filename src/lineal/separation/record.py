"""`lineal.separability`: the answer, its witness and a sentence in the user's words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from lineal.algebra.integers import Whole, text
from lineal.deadline import Deadline, LateError
from lineal.errors import InputError
from lineal.records import dataclass
from lineal.separation.cloud import Cloud, centred
from lineal.separation.search import Decision, decide, strict_rows
from lineal.separation.sentences import said

Array = npt.NDArray[np.float64]

Kind = Literal["complete", "quasi", "overlap", "budget"]


@dataclass(frozen=True)
class Witness:
    """Exact evidence: integers a stranger can check with any program that knows large numbers.

    ``direction`` w, one column per output (one for two classes, whose second class has the positive score; else one for
    each class): no row scores on the wrong side. ``rows`` with ``weights`` a > 0 (``against`` the class each is compared
    with): sum a z = 0 with z = +-x for two classes, (e_own - e_against) (x) x for several; ``x`` with the leading 1 of the
    intercept. None where the answer does not need one of the two.
    """

    direction: Whole | None
    rows: tuple[int, ...] | None
    weights: tuple[int, ...] | None
    against: tuple[int, ...] | None

    def to_dict(self) -> dict[str, object]:
        """Return JSON data; integers too large for a double are written as text."""
        direction = None if self.direction is None else [[text(v) for v in row] for row in self.direction]
        weights = None if self.weights is None else [text(weight) for weight in self.weights]
        return {
            "direction": direction,
            "rows": None if self.rows is None else list(self.rows),
            "weights": weights,
            "against": None if self.against is None else list(self.against),
        }


@dataclass(frozen=True)
class Separability:
    """Whether a halfspace separates the classes: ``kind`` is complete, quasi, overlap, or budget if time ran out.

    complete: w with z'w > 0 for all rows. quasi: w with z'w >= 0, not all zero, and weights that exclude more. overlap:
    positive weights with sum zero on rows that span all others, so that every loss has a finite minimum.
    ``strict`` of ``total`` rows lie strictly on their side.
    """

    kind: Kind
    sentence: str
    witness: Witness | None
    columns: tuple[str, ...]
    classes: tuple[Any, ...]
    strict: int
    total: int

    @property
    def separable(self) -> bool | None:
        """Whether some halfspace makes no mistake; None if it is not known."""
        return None if self.kind == "budget" else self.kind == "complete"

    def to_dict(self) -> dict[str, object]:
        """Return the answer as JSON data."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "strict_rows": self.strict,
            "rows": self.total,
            "columns": list(self.columns),
            "classes": [c.item() if hasattr(c, "item") else c for c in self.classes],
            "witness": None if self.witness is None else self.witness.to_dict(),
        }

    def __str__(self) -> str:
        return self.sentence


def separability(
    X: Any, y: Any, *, intercept: bool = True, sample_weight: Any = None, time_limit: float = 60.0
) -> Separability:
    """Decide exactly whether a halfspace separates the classes y of the rows X, and prove the answer.

    X is an array, a sparse matrix or a data frame of numbers; rows of weight 0 are absent. The answer is found in
    floating point and proved in integers; it never depends on a tolerance.

    >>> corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> separability(corners, [0, 0, 0, 1]).kind, separability(corners, [0, 1, 1, 0]).kind
    ('complete', 'overlap')
    >>> separability(corners, [0, 1, 1, 0]).witness.weights
    (1, 1, 1, 1)
    """
    if not time_limit > 0.0:
        raise InputError(f"the time limit is {time_limit}; it must be a number of seconds above 0.")
    deadline = Deadline.after(time_limit)
    cloud, names, labels = cloud_of(X, y, intercept=intercept, sample_weight=sample_weight)
    return answer(cloud, names, labels, str(getattr(y, "name", None) or "y"), time_limit, deadline=deadline)


def cloud_of(
    X: Any, y: Any, *, intercept: bool = True, sample_weight: Any = None
) -> tuple[Cloud, tuple[str, ...], tuple[Any, ...]]:
    """Return checked arrays as a cloud, with the names of its columns and the sorted labels."""
    x, names = _matrix(X, intercept)
    labels, own = _labels(y, x.shape[0])
    numbers = np.arange(x.shape[0])
    if sample_weight is not None:
        try:
            weight = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("sample_weight must hold one finite number >= 0 for every row.") from None
        if weight.shape != own.shape or not np.all(np.isfinite(weight)) or np.any(weight < 0.0):
            raise InputError("sample_weight must hold one finite number >= 0 for every row.")
        numbers = np.flatnonzero(weight > 0.0)
        if not len(numbers):
            raise InputError("every sample_weight is zero, so there are no rows; give some row a weight above zero.")
        x = x[numbers]
        seen, own = np.unique(own[numbers], return_inverse=True)
        labels = labels[seen]
    return Cloud(x, own, 1 if len(labels) < 3 else len(labels), numbers), names, tuple(labels.tolist())


def answer(
    cloud: Cloud,
    columns: Sequence[str],
    classes: Sequence[Any],
    target: str,
    time_limit: float,
    guesses: Sequence[Array] = (),
    deadline: Deadline | None = None,
) -> Separability:
    """Decide for rows that are already gathered; ``columns`` name those of x, ``target`` the class."""
    total = len(cloud.own)
    try:
        found = decide(cloud, deadline or Deadline.after(time_limit), guesses)
    except LateError:
        sentence = f"Not decided: {time_limit:g} s were not enough to prove either answer; give more time."
        return Separability("budget", sentence, None, tuple(columns), tuple(classes), 0, total)
    strict = strict_rows(cloud, found)
    return Separability(
        kind=found.kind,  # type: ignore[arg-type]
        sentence=said(cloud, found, strict, columns, classes, target),
        witness=_witness(cloud, found),
        columns=tuple(columns),
        classes=tuple(classes),
        strict=len(strict),
        total=total,
    )


def _witness(cloud: Cloud, found: Decision) -> Witness:
    several = cloud.outputs > 1
    rows = found.ids // cloud.outputs if several else found.ids
    some = len(found.ids) > 0
    return Witness(
        direction=None if found.direction is None else centred(cloud, found.direction),
        rows=tuple(cloud.numbers[rows].tolist()) if some else None,
        weights=tuple(int(weight) for weight in found.weights) if some else None,
        against=tuple((found.ids % cloud.outputs).tolist()) if some and several else None,
    )


def _matrix(X: Any, intercept: bool) -> tuple[Any, tuple[str, ...]]:
    """Return X as float64, dense or CSR, with a first column of ones if asked, and the names of its columns."""
    named = getattr(X, "columns", None)
    names = None if named is None else tuple(str(name) for name in named)
    if hasattr(X, "tocsr"):
        from scipy import sparse

        given = sparse.csr_array(X)
        x: Any = given.astype(np.float64)
        values = x.data
        _unchanged(given.data, values)
        if intercept:
            x = sparse.csr_array(sparse.hstack([sparse.csr_array(np.ones((x.shape[0], 1))), x]))
    else:
        try:
            cells = np.asarray(X)
            if cells.dtype.kind == "c":
                raise InputError("X holds complex numbers; give real ones, such as the parts as columns of their own.")
            x = np.array(cells if cells.dtype.kind in "biuf" else X, dtype=np.float64, ndmin=1)
        except (TypeError, ValueError) as error:
            raise InputError(f"X cannot be read as numbers ({error}); encode categories first.") from None
        _unchanged(cells, x)
        if x.ndim != 2:
            raise InputError(f"X has shape {x.shape}; give two dimensions, rows and columns.")
        values = x
        x = np.column_stack([np.ones(len(x)), x]) if intercept else np.ascontiguousarray(x)
    if not np.all(np.isfinite(values)):
        raise InputError("X contains NaN or infinity; leave such rows out or fill them.")
    names = tuple(f"x{j}" for j in range(x.shape[1] - intercept)) if names is None else names
    return x, ("(intercept)", *names) if intercept else names


def _unchanged(given: npt.NDArray[Any], values: Array) -> None:
    """Refuse numbers that are others as doubles: an exact answer about them would be one about other rows."""
    if given.dtype.kind in "iu":
        at = np.abs(values) >= 2.0**53
    elif given.dtype.kind == "f" and given.dtype.itemsize > 8:
        at = values.astype(given.dtype) != given
    else:
        at = np.full(values.shape, given.dtype.kind == "O" and given.shape == values.shape)
    for number, value in zip(given[at].tolist() if given.dtype.kind in "iuO" else given[at], values[at], strict=True):
        if not np.isnan(value) and number != float(value):
            raise InputError(f"X holds {number}, which no double is; subtract a constant from its column, or split it.")


def _labels(y: Any, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    values = np.asarray(y)
    if values.shape != (n,) or not n:
        raise InputError(f"y has shape {values.shape}, X has {n} rows; give one class for every row, and some rows.")
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        raise InputError("y contains NaN or infinity; leave such rows out.")
    if values.dtype.kind == "O" and any(_absent(value) for value in values.tolist()):
        raise InputError("y contains a missing value; leave such rows out.")
    labels, own = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
    return labels, own


def _absent(value: object) -> bool:
    """Return whether a label is None, NaN, or what data frames have for them."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )
