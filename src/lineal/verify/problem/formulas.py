"""The training problem F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b), and a point of it; both block by block.

Rows come in blocks, each a small `Problem` of its own; what is asked of all rows is added up over them. A `Problem` that is in
memory is its only block; a `Streamed` one reads its blocks from a store, as often as it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.verify.arithmetic import EPS, Array, Index, Mask, summed, times, total
from lineal.verify.losses.loss import Loss
from lineal.verify.problem.penalties import Penalty
from lineal.verify.reading.store import Store

ROW_FIELDS = ("x", "y", "q", "offset", "numbers", "theta", "weight")
"""The fields of a problem that have an entry for every row."""
MATRIX_MAX_BYTES = 8 * 2**30
"""A check that needs all rows at once refuses a larger matrix."""


@dataclass(frozen=True)
class Extent:
    """The largest |x| of every column, |y| and |offset|."""

    x: Array
    y: float
    offset: float


@dataclass(frozen=True)
class Problem:
    """Training rows of positive weight: design, target, q = weight / weight sum, offset; and what coefficients cost.

    ``numbers`` are their places among all training rows, counted from 0; ``parameter`` is the loss's own; ``theta`` the
    dual point that the file holds; ``weight`` the weights before they were divided and rounded.
    """

    loss: type[Loss]
    x: Array
    y: Array
    q: Array
    offset: Array
    penalty: Penalty
    intercept: bool
    numbers: Index
    parameter: float = 0.0
    theta: Array | None = None
    weight: Array | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.q)

    @property
    def columns(self) -> int:
        """Columns of the design."""
        return int(self.x.shape[1])

    @property
    def outputs(self) -> int:
        """Number of scores per row."""
        return int(self.y.shape[1])

    @cached_property
    def unpenalized(self) -> Index:
        """Columns that the penalty does not see."""
        return np.flatnonzero(~self.penalty.seen)

    @cached_property
    def extent(self) -> Extent:
        """How large the numbers are."""
        return _extent(self)

    def blocks(self) -> Iterator[Problem]:
        """Yield itself: all rows are here."""
        yield self

    def changed(self, change: Callable[[Problem], Problem], penalty: Penalty) -> Problem:
        """Return the problem of changed rows."""
        return replace(change(self), penalty=penalty)

    def with_penalty(self, penalty: Penalty) -> Problem:
        """Return the problem of the same rows with another penalty."""
        return replace(self, penalty=penalty)

    def kept(self) -> Problem:
        """Return itself."""
        return self

    def whole(self) -> Problem:
        """Return itself."""
        return self

    def only(self, chosen: Mask) -> Problem:
        """Return the problem of some of the rows."""
        fields = {name: getattr(self, name) for name in ROW_FIELDS}
        return replace(self, **{name: rows[chosen] for name, rows in fields.items() if rows is not None})

    def at_scores(self, eta: Array) -> Loss:
        """Return the loss at some scores."""
        return self.loss(self.y, eta, self.parameter)

    def at(self, coef: Array) -> Point:
        """Return everything about one point."""
        return Point(self, coef)


@dataclass(frozen=True)
class Streamed:
    """A problem whose rows are in a store; ``make`` turns what is stored of a block into its problem."""

    loss: type[Loss]
    store: Store
    make: Callable[[dict[str, npt.NDArray[Any]]], Problem]
    penalty: Penalty
    intercept: bool
    rows: int
    columns: int
    outputs: int
    parameter: float = 0.0

    @cached_property
    def unpenalized(self) -> Index:
        """Columns that the penalty does not see."""
        return np.flatnonzero(~self.penalty.seen)

    @cached_property
    def extent(self) -> Extent:
        """How large the numbers are."""
        return _extent(self)

    def blocks(self) -> Iterator[Problem]:
        """Yield all rows, some at a time, in order."""
        for arrays in self.store:
            block = self.make(arrays)
            if block.rows:
                yield replace(block, penalty=self.penalty)

    def changed(self, change: Callable[[Problem], Problem], penalty: Penalty) -> Streamed:
        """Return the problem of changed rows: ``change`` is asked of every block, whenever it is read."""
        make = self.make
        return replace(self, make=lambda arrays: change(make(arrays)), penalty=penalty, columns=len(penalty.linear))

    def with_penalty(self, penalty: Penalty) -> Streamed:
        """Return the problem of the same rows with another penalty."""
        return replace(self, penalty=penalty)

    def kept(self) -> Streamed:
        """Return the same problem with its rows, as they have been changed, in a store of their own.

        Worth its while where few columns are left and many passes are to come.
        """
        store = Store()
        for block in self.blocks():
            parts = {name: getattr(block, name) for name in ROW_FIELDS}
            store.append({name: part for name, part in parts.items() if part is not None})
        return replace(self, store=store, make=self._of)

    def _of(self, arrays: dict[str, npt.NDArray[Any]]) -> Problem:
        rows: dict[str, Any] = dict(arrays)
        return Problem(self.loss, penalty=self.penalty, intercept=self.intercept, parameter=self.parameter, **rows)

    def whole(self) -> Problem:
        """Return all rows at once, for what cannot be added up."""
        if 8 * self.rows * self.columns > MATRIX_MAX_BYTES:
            raise InputError(
                f"the matrix of {self.rows:,} rows and {self.columns:,} columns is too large for this check, which works"
                f" with all of it, zeros included (at most {MATRIX_MAX_BYTES // 2**30} GB); fit fewer columns, or fewer rows."
            )
        return joined(list(self.blocks()))

    def at(self, coef: Array) -> Point:
        """Return everything about one point."""
        return Point(self, coef)


Training = Problem | Streamed
"""The training rows, wherever they are. What is asked of all of them is asked block by block."""


def _extent(problem: Training) -> Extent:
    x, y, offset = np.zeros(problem.columns), 0.0, 0.0
    for block in problem.blocks():
        x = np.maximum(x, np.max(np.abs(block.x), axis=0, initial=0.0))
        y = max(y, float(np.max(np.abs(block.y), initial=0.0)))
        offset = max(offset, float(np.max(np.abs(block.offset), initial=0.0)))
    return Extent(x, y, offset)


def joined(blocks: list[Problem]) -> Problem:
    """Return the problem of all rows of some blocks."""
    if len(blocks) == 1:
        return blocks[0]
    first = blocks[0]
    parts: dict[str, Any] = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in ROW_FIELDS
        if getattr(first, name) is not None
    }
    return replace(first, **parts)


@dataclass(frozen=True)
class Figures:
    """F(b) without the penalty, how far its evaluation with twice the digits may be off, and one in plain float64."""

    objective: float
    rounding: float
    allowance: float
    finite: bool


@dataclass(frozen=True)
class At:
    """Some rows at some coefficients, and what follows row by row."""

    block: Problem
    coef: Array
    scores: Array | None = None

    @cached_property
    def eta(self) -> Array:
        """X b + offset with twice the digits."""
        return times(self.block.x, self.coef, self.block.offset) if self.scores is None else self.scores

    @cached_property
    def rows(self) -> Loss:
        """The loss of every row."""
        return self.block.at_scores(self.eta)

    @property
    def figures(self) -> Figures:
        """What these rows add to the figures of the point."""
        p, value, large = self.block, self.rows.value, self.rows.terms
        size = np.abs(p.x) @ np.abs(self.coef) + np.abs(p.offset)
        score_error = EPS * np.abs(self.eta) + (p.columns + 4) ** 2 * EPS**2 * size
        plain = (p.columns + 4) * EPS * size
        moved = np.sum(self.rows.steep * plain + 0.5 * self.rows.bend * plain**2, axis=1)
        return Figures(
            objective=total(p.q * value),
            rounding=16 * EPS * total(p.q * (np.abs(value) + large))
            + total(p.q * np.sum(self.rows.steep * score_error, axis=1)),
            allowance=32 * EPS * (abs(total(p.q * value)) + total(p.q * large)) + total(p.q * moved),
            finite=bool(np.all(np.isfinite(self.eta))),
        )


@dataclass(frozen=True)
class Point:
    """Coefficients of a problem, and what follows from them."""

    problem: Training
    coef: Array

    def blocks(self) -> Iterator[At]:
        """Yield all rows with what follows, some at a time."""
        if isinstance(self.problem, Problem):
            yield self.whole
            return
        for place, block in enumerate(self.problem.blocks()):
            yield At(block, self.coef, self._scores.block(place)["eta"])

    @cached_property
    def _scores(self) -> Store:
        """The scores of a streamed problem, computed once."""
        store = Store()
        for block in self.problem.blocks():
            store.append({"eta": At(block, self.coef).eta})
        return store

    @cached_property
    def whole(self) -> At:
        """All rows at once, for what cannot be added up."""
        return At(self.problem.whole(), self.coef)

    @cached_property
    def figures(self) -> Figures:
        """What one pass over the rows adds up, with the penalty."""
        penalty = total(self.problem.penalty.terms(self.coef))
        parts = [at.figures for at in self.blocks()]
        return Figures(
            objective=summed([penalty, *(part.objective for part in parts)]),
            rounding=summed([16 * EPS * penalty, *(part.rounding for part in parts)]),
            allowance=summed([32 * EPS * penalty, *(part.allowance for part in parts)]),
            finite=all(part.finite for part in parts),
        )

    @property
    def objective(self) -> float:
        """F(b), for coefficients within their bounds."""
        return self.figures.objective

    @property
    def rounding(self) -> float:
        """How far ``objective`` may be from F(b): scores known to twice the digits and rounded once, values to 16 EPS."""
        return self.figures.rounding

    @property
    def allowance(self) -> float:
        """How far a plain float64 evaluation of F(b) may be from the true value: scores rounded, exp and log 8 EPS."""
        return self.figures.allowance
