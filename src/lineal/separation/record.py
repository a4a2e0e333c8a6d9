"""`lineal.separability`: the answer, its witness and a sentence in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lineal.algebra.integers import Whole, text
from lineal.designs.sound import is_sparse, sound
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import Deadline, LateError
from lineal.ground.inputs import class_labels, names_of, real
from lineal.ground.records import dataclass
from lineal.model.tabled import Grid, Tabled
from lineal.separation.cloud import Cloud, centred
from lineal.separation.search import Decision, decide, strict_rows
from lineal.separation.sentences import said

MAX_ROWS_SHOWN: Final = 20
"""Rows of a proof that a notebook shows."""

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
class Separability(Tabled):
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

    @property
    def headline(self) -> str:
        """The answer."""
        return self.sentence

    def grids(self) -> list[Grid]:
        """Return the witness as tables: the direction, or the rows whose weighted sum is zero."""
        witness, tables = self.witness, list[Grid]()
        if witness is not None and witness.direction is not None:
            several = witness.direction.shape[1] > 1
            head = ("column", *(map(str, self.classes) if several else ("direction",)))
            lines = zip(self.columns, witness.direction.tolist(), strict=True)
            tables.append(Grid((head, *((name, *map(str, row)) for name, row in lines))))
        if witness is not None and witness.rows is not None:
            pairs = list(zip(witness.rows, witness.weights or (), strict=False))[:MAX_ROWS_SHOWN]
            tables.append(Grid((("row", "weight"), *((str(row), str(weight)) for row, weight in pairs))))
        return tables

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
    deadline = Deadline.given(time_limit)
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
        weight = real(sample_weight, "sample_weight")
        if weight.shape != own.shape or not np.all(np.isfinite(weight)) or np.any(weight < 0.0):
            raise InputError("sample_weight must hold one finite number >= 0 for every row.")
        if not np.max(weight, initial=0.0) <= np.finfo(np.float64).max / max(len(weight), 1):
            raise InputError("the sum of sample_weight is too large for a double; divide them by their mean.")
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
        decision = decide(cloud, deadline or Deadline.after(time_limit), guesses)
    except LateError:
        sentence = f"Not decided: {time_limit:g} s were not enough to prove either answer; give more time."
        return Separability("budget", sentence, None, tuple(columns), tuple(classes), 0, total)
    strict = strict_rows(cloud, decision)
    return Separability(
        kind=decision.kind,  # type: ignore[arg-type]
        sentence=said(cloud, decision, strict, columns, classes, target),
        witness=_witness(cloud, decision),
        columns=tuple(columns),
        classes=tuple(classes),
        strict=len(strict),
        total=total,
    )


def _witness(cloud: Cloud, decision: Decision) -> Witness:
    several = cloud.outputs > 1
    rows = decision.ids // cloud.outputs if several else decision.ids
    some = len(decision.ids) > 0
    return Witness(
        direction=None if decision.direction is None else centred(cloud, decision.direction),
        rows=tuple(cloud.numbers[rows].tolist()) if some else None,
        weights=tuple(int(weight) for weight in decision.weights) if some else None,
        against=tuple((decision.ids % cloud.outputs).tolist()) if some and several else None,
    )


def _matrix(X: Any, intercept: bool) -> tuple[Any, tuple[str, ...]]:
    """Return X as float64, dense or CSR, with a first column of ones if asked, and the names of its columns."""
    named = names_of(X)
    names = None if named is None else tuple(map(str, named))
    if is_sparse(X):
        from scipy import sparse

        given = sound(X).tocsr()
        values = real(given.data[: given.indptr[-1]], "X").astype(np.float64)
        x: Any = sparse.csr_array((values, given.indices[: given.indptr[-1]], given.indptr), shape=given.shape)
        if intercept:
            x = sparse.csr_array(sparse.hstack([sparse.csr_array(np.ones((x.shape[0], 1))), x]))
    else:
        x = real(X, "X").astype(np.float64)
        if x.ndim != 2:
            raise InputError(f"X has shape {x.shape}; give two dimensions, rows and columns.")
        values = x
        x = np.column_stack([np.ones(len(x)), x]) if intercept else np.ascontiguousarray(x)
    if not np.all(np.isfinite(values)):
        raise InputError("X contains NaN or infinity; leave such rows out or fill them.")
    names = tuple(f"x{j}" for j in range(x.shape[1] - intercept)) if names is None else names
    return x, ("(intercept)", *names) if intercept else names


def _labels(y: Any, n: int) -> tuple[npt.NDArray[Any], Index]:
    values = class_labels(y)
    if values.shape != (n,) or not n:
        raise InputError(f"y has shape {values.shape}, X has {n} rows; give one class for every row, and some rows.")
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        raise InputError("y contains NaN or infinity; leave such rows out.")
    labels, own = np.unique(values.astype(str) if values.dtype.kind == "O" else values, return_inverse=True)
    return labels, own
