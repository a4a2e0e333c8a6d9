"""Profile intervals: which values of a coefficient the likelihood allows with all others at their best."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.model import Model
from lineal.model.summary import Row, quantile
from lineal.problem.problem import Problem

REACHED_SHARE: Final = 1e-10
"""How near to its height an end is, as a share of it."""
STEPS: Final = 100
"""Newton steps that are tried; a few are enough."""


def profiled(model: Model, problem: Problem, covariance: Array, level: float) -> tuple[Row, ...]:
    """Return every coefficient with the interval and the test of its profile.

    The interval holds the values v with ``2 (max log L - max log L given b_j = v) <= q``, q the quantile of chi-squared with
    one degree of freedom; the statistic is that drop at v = 0. Coefficients are those that people read: of a polynomial on
    the powers, ``b_j = l'c`` of the coefficients c of the fit.
    """
    from scipy import special

    if model.coef.shape[1] > 1 or not model.loss.likelihood or model.loss.quadratic:
        raise InputError(
            "profile intervals are for fits with one score a row whose likelihood is not a square (logistic, poisson); those "
            "of least squares are the intervals of t, and of several classes compare two by two."
        )
    columns, coef = model.readable()
    spelled = None if model.encoder is None else model.encoder.powers
    shares = np.eye(len(coef))
    if spelled is not None:
        for row, line in zip(shares, spelled.rows, strict=True):
            row[:] = [float(line.get(k, 0.0)) for k in range(len(coef))]
    reach, rows = quantile(level), []
    for name, along in zip(columns, shares, strict=True):
        error = math.sqrt(max(float(along @ covariance @ along), 0.0))
        search = Profile(problem, model.coef[:, 0], covariance, along)
        drop = search.root(0.0)[0] ** 2
        ends = [search.end(side, reach, error) for side in (-1.0, 1.0)]
        rows.append(Row(name, model.outputs[0], search.estimate, error, drop, float(special.chdtrc(1, drop)), *ends))
    return tuple(rows)


@dataclass
class Profile:
    """The likelihood with ``along'b`` held, everything else at its best."""

    problem: Problem
    best: Array
    covariance: Array
    along: Array

    def __post_init__(self) -> None:
        """Begin at the optimum."""
        self.estimate = float(self.along @ self.best)
        self.least = self.problem.evaluate(self.best[:, None]).value
        toward = self.covariance @ self.along
        self.toward = toward / float(self.along @ toward)  # how the others move with the held one, about
        self.last = self.best

    def root(self, value: float) -> tuple[float, float]:
        """Return ``r = sqrt(2 (max log L - max log L given along'b = value))`` and ``|dr / d value|``."""
        total = self.problem.moments.weight_sum
        here = self.last + self.toward * (value - float(self.along @ self.last))
        level, pull = math.inf, 0.0
        for _ in range(STEPS):
            at = self.problem.evaluate(here[:, None], hessian=len(here))
            if at.hessian is None or not math.isfinite(at.value):
                return math.inf, 0.0
            if not at.value <= level:  # too far: half of the step
                here = 0.5 * (here + self.last)
                continue
            step, pull = self._step(at.hessian[0], at.gradient[:, 0])
            level, self.last = at.value, here
            if 0.5 * total * float(-step @ at.gradient[:, 0]) <= 1e-14 * max(total * abs(level), 1.0):
                break
            here = here + step
        height = math.sqrt(max(2.0 * total * (level - self.least), 0.0))
        return height, total * abs(pull) / height if height > 0.0 else math.inf

    def _step(self, hessian: Array, gradient: Array) -> tuple[Array, float]:
        """Return the Newton step that leaves ``along'b`` as it is, and the multiplier of that."""
        size = 1.0 / np.sqrt(np.maximum(np.diagonal(hessian), 1e-300))
        border = size * self.along
        scale = float(np.abs(border).max())
        count = len(gradient)
        system = np.zeros((count + 1, count + 1))
        system[:count, :count] = hessian * np.outer(size, size)
        system[count, :count] = system[:count, count] = border / scale
        solved = np.linalg.lstsq(system, np.append(-size * gradient, 0.0), rcond=None)[0]
        return size * solved[:count], float(solved[count]) / scale

    def end(self, side: float, reach: float, error: float) -> float:
        """Return the end of the interval on one side: the optimum is unique, so there is one; NaN where it is not reached."""
        self.last = self.best
        low, high, distance = 0.0, math.inf, reach * error
        for _ in range(STEPS):
            height, slope = self.root(self.estimate + side * distance)
            if abs(height - reach) <= REACHED_SHARE * reach:
                break
            low, high = (distance, high) if height < reach else (low, distance)
            step = distance + (reach - height) / slope if slope > 0.0 else math.nan
            if not low < step < min(high, 3.0 * distance):
                step = 3.0 * distance if math.isinf(high) else 0.5 * (low + high)
            if not math.isfinite(height):
                self.last = self.best
            distance = step
        else:
            return math.nan
        return self.estimate + side * distance
