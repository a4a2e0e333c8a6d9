"""Coefficients and scale of Huber's loss together by Newton's method, one pass over the rows for each step.

    G(b, sigma) = (1/S) sum_i s_i [sigma / 2 + sigma h(r_i / sigma)] + (strength / 2) sum_j d_j b_j^2    (see scale.py)

With the residuals r0 of a point b0 as one more column, r = [X r0] c, c = (b - b0, 1), and the sums of Huber's loss
with threshold epsilon sigma over these columns hold all of it: with H = [X r0]' S_Q [X r0], Q the rows within the threshold,

    sum_Q s r^2 = c'Hc,    X_Q' S r = (H c)_X,    m = (1/S) [c'Hc / sigma^2 + epsilon^2 (S - S_Q)],

    G_bb = H_XX / (S sigma) + strength D,   G_b sigma = -(H c)_X / (S sigma^2),   G_sigma = (1 - m) / 2,
    G_sigma sigma = c'Hc / (S sigma^3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from lineal.algebra.cholesky import Cholesky
from lineal.designs import Dense, HStack, Ones
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses import Huber
from lineal.problem.moments import Moments
from lineal.problem.passes import Evaluate, Sums
from lineal.problem.problem import EPS
from lineal.solvers.newton import samples
from lineal.sources.source import Block, Source

Enough = Callable[["Point"], float]


@dataclass(frozen=True)
class Point:
    """G at coefficients and a scale: value, derivatives in (b, sigma), and m, known to ``error``.

    ``sums`` are those of Huber's loss with this threshold over the columns of X, for whoever asks the same rows next.
    """

    coef: Array
    scale: float
    value: float
    gradient: Array
    hessian: Array
    square: float
    error: float
    sums: Sums


class Joint:
    """G over a source, and its minimum over coefficients and scale.

    ``epsilon`` is the threshold in scales, ``penalty_factor`` the strength of the ridge, d its ``penalty_factors``.

    >>> from lineal.designs import Ones
    >>> from lineal.sources.memory import Memory
    >>> from lineal.problem.moments import survey
    >>> source = Memory(Ones(4), np.array([0.0, 1.0, 2.0, 1.0]))
    >>> best = Joint(source, survey(source, Huber(1.0)), 3.0, 0.0, np.zeros(1)).minimum(None, 1e-9, 1e-6, 9.0, None)
    >>> round(float(best.coef[0, 0]), 9), round(best.scale**2, 9)
    (1.0, 0.5)
    """

    def __init__(
        self, source: Source, moments: Moments, epsilon: float, penalty_factor: float, penalty_factors: Array
    ) -> None:
        self.source, self.moments, self.epsilon = source, moments, epsilon
        self.curvature = penalty_factor * penalty_factors
        self.intercept = source.columns[:1] == ("(intercept)",)
        self.steps = 0
        # of more columns, products with the second derivative are cheaper than the whole of it
        self.suits = len(penalty_factors) <= 300 and source.sum(Foreign()) == 0
        self._from(np.zeros((len(penalty_factors), 1)))

    def _from(self, coef: Array) -> None:
        """Measure residuals from those of some coefficients, so that no digits are lost near them."""
        self.origin = coef
        self.rows = self.source.map(Residuals(coef, self.intercept), keep=self.suits)

    def _sums(self, coef: Array, scale: float, sample: int) -> tuple[Sums, Array, Array, float]:
        """Return the sums of a pass; the means H, c of the columns [X r0], and the share of weight within the threshold."""
        p = len(coef)
        move = np.concatenate([coef - self.origin, np.ones((1, 1)), np.zeros((int(not self.intercept), 1))])
        sums = self.rows.sum(Evaluate(Huber(self.epsilon * scale), move, len(move), sample))
        assert sums.hessian is not None
        whole = sums.hessian[0] / sums.weight_sum
        inside = float(whole[0, 0] if self.intercept else whole[-1, -1])
        return sums, whole[: p + 1, : p + 1], move[: p + 1, 0], inside

    def at(self, coef: Array, scale: float, sample: int = 1) -> Point:
        """Return G and its derivatives, in one pass over the rows or over one of ``sample`` of them."""
        p = len(coef)
        sums, inner, c, inside = self._sums(coef, scale, sample)
        assert sums.hessian is not None
        total = sums.weight_sum
        cross = inner @ c
        squares = max(float(cross @ c), 0.0)
        square = squares / scale**2 + self.epsilon**2 * max(1.0 - inside, 0.0)
        slope = sums.gradient[:p, 0] / (total * scale) + self.curvature * coef[:, 0]
        hessian = np.empty((p + 1, p + 1))
        hessian[:p, :p] = inner[:p, :p] / scale
        np.einsum("jj->j", hessian)[:p] += self.curvature
        hessian[p, :p] = hessian[:p, p] = -cross[:p] / scale**2
        hessian[p, p] = squares / scale**3
        value = 0.5 * scale + (sums.high + sums.low) / (total * scale)
        value += 0.5 * float(self.curvature @ coef[:, 0] ** 2)
        # Sums are off by a few hundred EPS of what is added, residuals by the rounding of their scores.
        added = float(np.abs(c) @ np.sqrt(np.maximum(np.diagonal(inner), 0.0))) / scale
        score_error = (
            (p + 6) * EPS * float(self.moments.largest @ np.abs(self.origin[:, 0]) + self.moments.offset) / scale
        )
        error = (1000 + self.moments.rows / 16384) * EPS * (added**2 + self.epsilon**2) + (
            2.0 * added + score_error
        ) * score_error
        part = replace(sums, gradient=sums.gradient[:p], hessian=sums.hessian[:, :p, :p])
        return Point(coef, scale, value, np.append(slope, 0.5 * (1.0 - square)), hessian, square, error, part)

    def minimum(
        self, start: Array | None, floor: float, tol: float, baseline: float, most: int | None, scale: float = math.inf
    ) -> Point | None:
        """Return a point near the minimum of G; None where Newton steps lead nowhere.

        There sigma |1 - m| and the distance of the dual point, about the root of 2 sigma times what a step promises, are
        both far below ``tol`` times the fall from ``baseline``; without a finite one, times G, and no digits are saved for m.
        ``floor`` is the least scale, ``most`` limits the steps over all rows; ``scale`` belongs to the start, where it is known.
        """
        if not self.suits:
            return None
        coef = start
        for sample in [*samples(self.moments.rows, len(self.curvature)), 1]:
            if coef is None or not math.isfinite(scale):
                squares = self._squares(coef, sample)
                if squares is None:
                    return None
                coef, scale = squares
            if sample == 1 and math.isfinite(baseline):
                self._from(coef)

            def enough(here: Point, sample: int = sample) -> float:
                # A subsample's own optimum is off by about coefficients / rows: no use in going closer.
                if sample > 1:
                    return 0.05 * len(here.coef) * sample / self.moments.rows * here.scale
                fall = baseline - here.value if math.isfinite(baseline) else here.value
                return float(0.5 * (0.05 * tol * max(fall, 0.0)) ** 2 / here.scale)

            point = self._descend(self.at(coef, max(scale, floor), sample), sample, floor, enough, most)
            if point is None:
                return None
            coef, scale = point.coef, point.scale
        return point

    def _squares(self, start: Array | None, sample: int) -> tuple[Array, float] | None:
        """Return least squares, or the given start, and the root of their mean square."""
        p = len(self.curvature)
        coef = np.zeros((p, 1)) if start is None else start
        _, inner, c, _ = self._sums(
            coef, 1e100, sample
        )  # a scale beyond all residuals: Huber's loss is the square there
        if start is None:
            factor = Cholesky.of(inner[:p, :p] + np.diag(self.curvature))
            if factor.singular:
                return None
            shift = factor.solve(inner[:p] @ c)
            coef, c = coef - shift[:, None], np.append(c[:p] - shift, 1.0)
        return coef, math.sqrt(max(float(c @ inner @ c), 0.0))

    def _descend(self, here: Point, sample: int, floor: float, enough: Enough, most: int | None) -> Point | None:
        """Take Newton steps until one promises less than ``enough``; None where they fail."""
        for _ in range(40):
            if not (math.isfinite(here.value) and np.all(np.isfinite(here.hessian))):
                return None
            factor = Cholesky.of(here.hessian)
            if factor.singular:
                return None
            shift = factor.solve(here.gradient)
            fall = float(shift @ here.gradient)
            if 0.5 * fall <= enough(here) or (sample == 1 and most is not None and self.steps >= most):
                return here
            better = self._search(here, shift, fall, sample, floor)
            if better is None:
                return here if fall <= 128 * EPS * abs(here.value) else None
            here = better
            self.steps += sample == 1
        return None

    def _search(self, here: Point, shift: Array, fall: float, sample: int, floor: float) -> Point | None:
        """Return the first of the whole step, its half, ... that lowers G enough; the scale at most halves, or doubles."""
        step = 1.0
        if shift[-1] != 0.0:
            step = min(step, (0.5 if shift[-1] > 0.0 else 1.0) * here.scale / abs(float(shift[-1])))
        for _ in range(30):
            scale = here.scale - step * float(shift[-1])
            if scale < floor:
                return None
            there = self.at(here.coef - step * shift[:-1, None], scale, sample)
            if there.value <= here.value - 1e-4 * step * fall:
                return there
            if fall <= 128 * EPS * abs(here.value):
                return there if abs(float(shift @ there.gradient)) < 0.5 * fall else None
            step *= 0.5
        return None


def constant(source: Source) -> Source:
    """Return the source with the intercept alone.

    >>> from lineal.sources.memory import Memory
    >>> constant(Memory(Dense(np.eye(2)), np.zeros(2))).held()[0].design.dense()
    array([[1.],
           [1.]])
    """
    return source.map(OnesOnly())


def best_scale(residuals: Array, weight: Array, epsilon: float) -> float:
    """Return the scale that minimises G for given residuals: ``sum over |r| <= epsilon sigma of w (r / sigma)^2 + rest = 1``.

    >>> round(best_scale(np.array([3.0, -4.0]), np.array([0.5, 0.5]), 10.0) ** 2, 9)
    12.5
    """
    order = np.argsort(np.abs(residuals), kind="stable")[::-1]
    size, w = np.abs(residuals)[order], weight[order]
    # with the k largest beyond the threshold: sigma^2 = (sum of the others' squares) / (1 - epsilon^2 (their weight))
    left = 1.0 - epsilon**2 * np.concatenate([[0.0], np.cumsum(w)[:-1]])
    squares = np.cumsum((w * size**2)[::-1])[::-1]
    possible = left > 0.0
    scale = np.sqrt(squares / np.where(possible, left, 1.0))
    fits = np.flatnonzero(possible & (size <= epsilon * scale))
    if len(fits):
        return float(scale[fits[0]])
    beyond = np.flatnonzero(~possible)
    return float(size[beyond[0] if len(beyond) else -1]) / epsilon


def best_level(rows: Array, weight: Array, threshold: float) -> float:
    """Return the constant c at which Huber's slopes of rows + c sum to zero, by halving."""
    low, high = float(-np.max(rows)), float(-np.min(rows))
    for _ in range(80):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        slope = float(weight @ np.clip(rows + middle, -threshold, threshold))
        low, high = (middle, high) if slope < 0.0 else (low, middle)
    return low


@dataclass(frozen=True)
class OnesOnly:
    """The change of a block that leaves a column of ones."""

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return replace(block, design=Ones(block.n_rows))


@dataclass(frozen=True)
class Residuals:
    """The change of a block that puts the residuals of ``coef`` beside its columns, and takes its targets away."""

    coef: Array
    intercept: bool

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        rest = -block.y if block.offset is None else block.offset - block.y
        if self.coef.any():
            rest += block.design.times(self.coef)
        if block.weight is not None:
            rest[block.weight == 0.0] = 0.0
        ones = [] if self.intercept else [Ones(block.n_rows)]
        design = HStack([block.design, Dense(rest), *ones])
        return Block(design, np.zeros_like(rest), block.weight, None, block.start)


@dataclass(frozen=True)
class Foreign:
    """The task that counts blocks without a compiled view."""

    def __call__(self, block: Block) -> int:
        """Look at one block."""
        return int(not block.design.compiled)
