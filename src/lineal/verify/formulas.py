"""The training problem F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b), and a point of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lineal.verify import corners, simplex, smooth
from lineal.verify.arithmetic import EPS, Array, times, total
from lineal.verify.charges import Charges
from lineal.verify.dual import Rows

Index = npt.NDArray[np.intp]


CORNERED = (*corners.CORNERED, "crammer-singer")
"""Losses whose slopes are no dual point: the file holds one."""
FLAT = (*corners.NAMES, *simplex.NAMES)
"""Losses with parts that do not bend."""
ENDLESS = ("logistic", "softmax", "poisson")
"""Losses that fall for ever in some direction: a dual point proves that a minimiser exists where it is off its border."""
RESIDUAL = ("squared", "absolute", "quantile", "huber", "epsilon-insensitive", "squared-epsilon-insensitive")
"""Losses that see nothing of score and target but their difference."""


@dataclass(frozen=True)
class Problem:
    """The training rows of positive weight: design, target, q = weight / weight sum, offset; and what coefficients cost.

    ``numbers`` are their places among all training rows, counted from 0; ``parameter`` is the loss's own; ``theta`` the
    dual point that the file holds; ``weight`` the weights before they were divided and rounded.
    """

    loss: str
    x: Array
    y: Array
    q: Array
    offset: Array
    charges: Charges
    intercept: bool
    numbers: Index
    parameter: float = 0.0
    theta: Array | None = None
    weight: Array | None = None

    @property
    def outputs(self) -> int:
        """Number of scores per row."""
        return int(self.y.shape[1])

    @cached_property
    def uncharged(self) -> Index:
        """Columns that the penalty does not see."""
        return np.flatnonzero(~self.charges.seen)

    def rows(self, eta: Array) -> Rows:
        """Return the loss at some scores."""
        if self.loss in smooth.NAMES:
            return smooth.SmoothRows(self.loss, self.y, eta)
        if self.loss in simplex.NAMES:
            return simplex.SimplexRows(self.loss, self.y, eta)
        return corners.CornerRows(self.loss, self.y, eta, self.parameter)

    def at(self, coef: Array) -> Point:
        """Return everything about one point."""
        return Point(self, coef)


@dataclass(frozen=True)
class Point:
    """Coefficients, and what follows from them row by row."""

    problem: Problem
    coef: Array

    @cached_property
    def eta(self) -> Array:
        """X b + offset with twice the digits."""
        return times(self.problem.x, self.coef, self.problem.offset)

    @cached_property
    def rows(self) -> Rows:
        """The loss of every row."""
        return self.problem.rows(self.eta)

    @cached_property
    def objective(self) -> float:
        """F(b), for coefficients within their bounds."""
        return total(np.concatenate([self.problem.q * self.rows.value, self.problem.charges.terms(self.coef)]))

    @cached_property
    def rounding(self) -> float:
        """How far ``objective`` may be from F(b): scores known to twice the digits and rounded once, values to 16 EPS."""
        p = self.problem
        size = np.abs(p.x) @ np.abs(self.coef) + np.abs(p.offset)
        blur = EPS * np.abs(self.eta) + (p.x.shape[1] + 4) ** 2 * EPS**2 * size
        terms = np.abs(self.rows.value) + (np.abs(self.eta * p.y)[:, 0] if p.loss == "poisson" else 0.0)
        charged = total(p.charges.terms(self.coef))
        return 16 * EPS * (total(p.q * terms) + charged) + total(p.q * np.sum(self.rows.steep * blur, axis=1))

    @cached_property
    def allowance(self) -> float:
        """How far a plain float64 evaluation of F(b) may be from the true value: scores rounded, exp and log 8 EPS."""
        p = self.problem
        blur = (p.x.shape[1] + 4) * EPS * (np.abs(p.x) @ np.abs(self.coef) + np.abs(p.offset))
        bend = 0.0 if p.loss in CORNERED else self.rows.weight if p.loss == "poisson" else 1.0
        moved = np.sum(self.rows.steep * blur + 0.5 * bend * blur**2, axis=1)
        large = np.abs(self.eta * p.y)[:, 0] * p.q if p.loss == "poisson" else np.zeros(1)
        return 32 * EPS * (abs(self.objective) + total(large)) + total(p.q * moved)
