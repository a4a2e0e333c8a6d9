"""One problem in exact numbers: ``F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b)``, ``eta = X b + offset``.

Doubles are exact numbers: they enter ball arithmetic as they are. Coefficients are lists, ``b[j][k]`` for column j and output k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import flint
import numpy as np
import scipy.sparse
from flint import arb, arb_mat

from .losses import NUMBERS, ZERO, Loss, Row

BITS = 640
"""Digits of all oracles: columns 1e-15 apart with means of 1e15 cost about 200 of them in a Newton system."""

Coef = list[Row]


def mid(values: Sequence[Row]) -> Coef:
    """Return numbers without their error bounds, which only steer."""
    return [[v.mid() for v in row] for row in values]


@dataclass(frozen=True)
class Penalty:
    """``sum_j lasso_j |b_j|_1 + ridge_j / 2 |b_j|^2 + group_j |b_j|`` where ``lower <= b <= upper``, else infinity."""

    lasso: Row
    ridge: Row
    group: Row
    lower: list[float]
    upper: list[float]
    strength: float

    @staticmethod
    def of(
        name: str, columns: int, fields: dict[str, Any], penalty_factors: Any, lower: Any = None, upper: Any = None
    ) -> Penalty:
        """Return a penalty of docs/model-file.md by its name, its fields and its arrays."""
        c = [arb(float(v)) for v in (np.zeros(columns) if penalty_factors is None else penalty_factors)]
        none, strength = [ZERO] * columns, arb(float(fields.get("strength", 0.0)))
        lasso, ridge, group = none, none, none
        if name == "ridge":
            ridge = [strength * v for v in c]
        elif name == "l1":
            lasso = [strength * v for v in c]
        elif name == "elastic":
            share = arb(float(fields["l1_ratio"]))
            lasso, ridge = [strength * share * v for v in c], [strength * (1 - share) * v * v for v in c]
        elif name == "group":
            group = [strength * v for v in c]
        elif name != "none":
            raise ValueError(f"no such penalty: {name}")
        low = [-math.inf] * columns if lower is None else [float(v) for v in lower]
        high = [math.inf] * columns if upper is None else [float(v) for v in upper]
        return Penalty(lasso, ridge, group, low, high, float(fields.get("strength", 0.0)))

    def penalized(self, j: int) -> bool:
        """Whether anything of the penalty sees the coefficients of a column."""
        bounded = self.lower[j] > -math.inf or self.upper[j] < math.inf
        return bounded or bool(self.lasso[j] > 0 or self.ridge[j] > 0 or self.group[j] > 0)

    def inside(self, b: Coef) -> bool:
        """Whether every coefficient is within its bounds."""
        return all(lo <= v <= hi for row, lo, hi in zip(b, self.lower, self.upper, strict=True) for v in row)

    def value(self, b: Coef) -> arb:
        """Return the penalty; bounds are asked for by ``inside``."""
        total = ZERO
        for row, a, r, g in zip(b, self.lasso, self.ridge, self.group, strict=True):
            total += a * sum((abs(v) for v in row), ZERO)
            square = sum((v * v for v in row), ZERO)
            total += r * square / 2 + (g * square.sqrt() if g > 0 else ZERO)
        return total


@dataclass(frozen=True)
class Problem:
    """Rows of positive weight, their targets, shares ``s_i / S`` and offsets, a loss and a penalty.

    ``free`` are the places (column, output) that may move; all others stay where a minimiser starts.
    """

    x: arb_mat
    y: list[Row | int]
    share: Row
    offset: list[Row]
    loss: Loss
    penalty: Penalty
    intercept: bool
    free: tuple[tuple[int, int], ...]

    @property
    def columns(self) -> int:
        """The number of columns, the intercept counted."""
        return int(self.x.ncols())

    def scores(self, b: Coef) -> list[Row]:
        """Return ``X b + offset``."""
        k = self.loss.outputs
        eta = self.x * arb_mat(self.columns, k, [v for row in b for v in row])
        return [[eta[i, j].mid() + self.offset[i][j] for j in range(k)] for i in range(len(self.y))]

    def value(self, b: Coef) -> arb:
        """Return F(b), exact to about ``BITS`` bits."""
        with flint.ctx.workprec(BITS):
            eta = mid(self.scores(b))
            rows = [q * self.loss.value(y, e) for q, y, e in zip(self.share, self.y, eta, strict=True)]
            return (sum(rows, ZERO) + self.penalty.value(b)).mid()

    def only(self, columns: Sequence[int]) -> Problem:
        """Return the problem in which only the coefficients of some columns move."""
        return replace(self, free=tuple(place for place in self.free if place[0] in columns))

    def null_columns(self) -> list[int]:
        """Return the columns of the baseline: the unpenalized ones, or the intercept alone where nothing is penalized."""
        unpenalized = [j for j in range(self.columns) if not self.penalty.penalized(j)]
        if len(unpenalized) == self.columns:
            return [0] if self.intercept else []
        return unpenalized


def exact(values: Any) -> Coef:
    """Return a matrix of doubles as exact numbers."""
    return [[arb(float(v)) for v in row] for row in np.atleast_2d(np.asarray(values, float))]


def pose(
    X: Any,
    y: Any,
    loss: Loss,
    penalty: Penalty,
    *,
    intercept: bool,
    weight: Any = None,
    offset: Any = None,
    center: Any = None,
) -> Problem:
    """Return the problem of some arrays; ``y`` holds numbers, or the numbers of the classes.

    Columns less a ``center`` (0 for the intercept), subtracted exactly, are the same problem with another intercept.
    """
    with flint.ctx.workprec(BITS):
        dense = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X)
        n, k = dense.shape[0], loss.outputs
        s = [arb(1)] * n if weight is None else [arb(float(v)) for v in weight]
        keep = [i for i in range(n) if s[i] > 0]
        total = sum((s[i] for i in keep), ZERO)
        rows = [[arb(1)] * intercept + [_number(v) for v in dense[i]] for i in keep]
        if center is not None:
            assert intercept, "without an intercept, columns less a center are another problem"
            rows = [[v - arb(float(c)) for v, c in zip(row, center, strict=True)] for row in rows]
        targets = np.asarray(y).reshape(n, -1)
        given: list[Row | int]
        if loss.name in NUMBERS or loss.name == "huber-scale":
            given = [[_number(v) for v in targets[i]] for i in keep]
        else:
            given = [int(targets[i, 0]) for i in keep]
        o = np.zeros((n, k)) if offset is None else np.asarray(offset, float).reshape(n, -1)
        o = np.broadcast_to(o, (n, k)) if o.shape[1] == 1 else o
        p = len(rows[0])
        return Problem(
            x=arb_mat(len(keep), p, [v for row in rows for v in row]),
            y=given,
            share=[s[i] / total for i in keep],
            offset=[[arb(float(v)) for v in o[i]] for i in keep],
            loss=loss,
            penalty=penalty,
            intercept=intercept,
            free=tuple((j, c) for c in range(k) for j in range(p)),
        )


def _number(value: Any) -> arb:
    """Return a number of any numpy type as it is."""
    plain = value.item() if hasattr(value, "item") else value
    return arb(int(plain)) if isinstance(plain, int | bool) else arb(float(plain))
