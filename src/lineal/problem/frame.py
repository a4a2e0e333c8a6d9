"""A problem in columns with more digits: each less a combination of unpenalized ones, which pay for it.

    X = Z (I + M),   eta = X b = Z c,   c = (I + M) b

``M`` is zero but in the rows of unpenalized columns, so that every other coefficient is the same in both, and the penalty too:
F(b) on X is F(c) on Z. What an unpenalized column takes off, such as a mean that is large beside what differs between rows,
leaves no digits for the rest; in Z they are all there. Means are doubles that leave doubles, and columns that others are close
to stay as they are; only what is left of a column close to a combination is rounded, once, from double-double. Its coefficient
is the same in b and c, so that this moves a score by half a unit of its term, far less than the bounds of a proof allow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lineal.algebra.doubled import Doubled, two_product, two_sum
from lineal.designs import as_design
from lineal.designs.center import less, plain_columns, sparse_columns, unrounded
from lineal.designs.design import Design
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.sources.memory import Blocks

if TYPE_CHECKING:
    from lineal.solvers.solver import Step


FAR_MEAN_SDS = 100.0
"""A mean this many standard deviations from zero costs products of columns four digits: such columns are centered."""

CENTER_FIRST_SDS = 1e5
"""Means this far are taken off first: ten digits of the second derivative are those of the mean."""

CENTER_KEPT_SDS = 1e9
"""Beside means this far coefficients of the columns as they are have less than seven digits that tell rows apart."""

PROJECTED_MAX_SHARE = 1e-3
"""The share of a column's length outside the span of others below which its projection is worth more digits."""


@dataclass(frozen=True)
class Frame:
    """A problem in the columns Z, and the way back. ``multiples`` are the rows of M that are not zero, those of ``columns``.

    The intercept, where it is among them, is the first. ``exact`` says that Z has the numbers of X less those of the center,
    not rounded.
    """

    problem: Problem
    columns: Index
    multiples: Array
    exact: bool

    @property
    def center(self) -> Array:
        """What was taken off every column by the intercept."""
        return np.asarray(self.multiples[0])

    def inward(self, coef: Array, *more: float | Array) -> Array:
        """Return ``c = (I + M) b``, every number rounded once; ``more`` is added to the first of ``columns``."""
        inner = coef.copy()
        for place, (k, row) in enumerate(zip(self.columns, self.multiples, strict=True)):
            inner[k] = _sums(coef[k], row, coef, *(() if place else more))
        return inner

    def outward(self, coef: Array, shared: float = 0.0) -> Array:
        """Return ``b = (I + M)^-1 c``, rounded: the intercept, which is taken off all others, comes last, less ``shared``."""
        outer = coef.copy()
        for place, (k, row) in reversed(list(enumerate(zip(self.columns, self.multiples, strict=True)))):
            outer[k] = _sums(coef[k], -row, outer, *(() if place else (-shared,)))
        return outer

    def covariance(self, inner: Array) -> Array:
        """Return the covariance, output-major, of b from that of c."""
        whole = np.eye(len(self.problem.moments.mean))
        whole[self.columns] += self.multiples
        one = np.linalg.inv(whole)
        turn = np.kron(np.eye(len(inner) // len(one)), one)
        return np.asarray(turn @ inner @ turn.T)

    def steps(self, inner: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps of a solver in coefficients of X."""
        for step in inner:
            yield step._replace(coef=self.outward(step.coef))


def _sums(own: Array, row: Array, coef: Array, *more: float | Array) -> list[float]:
    """Return ``own + row coef + more`` of every output, rounded once."""
    used = np.flatnonzero(row)
    added = np.array([np.broadcast_to(term, own.shape) for term in (own, *more)])
    products = [np.concatenate([*two_product(row[used], column[used])]) for column in coef.T]
    return [math.fsum([*terms.tolist(), *parts.tolist()]) for terms, parts in zip(added.T, products, strict=True)]


def centered(problem: Problem, far: float, *, exact: bool = False) -> Frame | None:
    """Return the problem with the means of columns in memory taken off that are more than ``far`` sds from zero.

    None where there are none, or no intercept to pay for them. ``exact`` leaves a column alone whose numbers would be
    rounded by it. Columns of sparse matrices are taken if they are FAR_MEAN_SDS from zero: they have hardly a zero then.
    """
    moments, free = problem.moments, problem.intercept and 0 in problem.unpenalized
    away = np.abs(moments.mean) > far * moments.sd
    if not (free and problem.source.resident and away[1:].any()):
        return None
    away[0] = False
    blocks = problem.source.held()
    plain = plain_columns(blocks[0].design)
    full = sparse_columns(blocks[0].design) & (np.abs(moments.mean) > FAR_MEAN_SDS * moments.sd) & (moments.sd > 0.0)
    if sum(block.n_rows for block in blocks) * int((plain | (away & full)).sum()) > 20_000_000:  # cells to copy
        return None
    center = np.where(away & (plain | full), moments.mean, 0.0)
    if exact:
        center = np.where(np.all([unrounded(block.design, center) for block in blocks], axis=0), center, 0.0)
    if not center.any():
        return None
    moved = [replace(block, design=less(block.design, center)) for block in blocks]
    inner = Problem.of(Blocks(moved, problem.source.columns), problem.loss, problem.penalty)
    return Frame(inner, np.zeros(1, dtype=np.intp), center[None, :], exact)


def projected(problem: Problem) -> Frame | None:
    """Return the problem with columns that are nearly combinations of unpenalized ones less those combinations.

    Means are taken off first, where nothing is rounded by it. None where no column is nearly a combination, or one is but for
    rounding.
    """
    free = problem.unpenalized
    if not problem.source.resident or not 0 < len(free) <= 60:
        return None
    blocks = problem.source.held()
    design = blocks[0].design
    if not (plain_columns(design) | sparse_columns(design))[int(problem.intercept) :].all():
        return None
    # two million cells take about a second in double-double for ten columns
    if sum(block.n_rows for block in blocks) * problem.shape[0] > 2_000_000:
        return None
    center = np.zeros(problem.shape[0])
    if problem.intercept and 0 in free:
        center[1:] = problem.moments.mean[1:]
        center = np.where(np.all([unrounded(block.design, center) for block in blocks], axis=0), center, 0.0)
    x = np.concatenate([block.design.dense() for block in blocks]) - center
    weight = np.concatenate([block.weights for block in blocks])
    projection = _projected(x, np.sqrt(weight / weight.sum()), free, center)
    if projection is None:
        return None
    z, multiples = projection
    used = np.flatnonzero(multiples.any(axis=1))
    edges = np.cumsum([block.n_rows for block in blocks])[:-1]
    designs = [_plain(part, intercept=problem.intercept) for part in np.split(z, edges)]
    moved = [replace(block, design=design) for block, design in zip(blocks, designs, strict=True)]
    inner = Problem.of(Blocks(moved, problem.source.columns), problem.loss, problem.penalty)
    return Frame(inner, used, multiples[used], exact=False)


def _projected(x: Array, root: Array, free: Index, center: Array) -> tuple[Array, Array] | None:
    """Return Z and M, or None where nothing is won or a column is lost; ``root`` are the roots of the rows' weights.

    ``center`` has been taken off x, and is part of the first row of M. Free columns that are apart from each other stay as they
    are, to the last digit: their coefficients may be as large as the others are close to them, and so would be the effect of
    any rounding. Only the others are rounded, and they are less what M says after its own rounding.
    """
    scaled = root[:, None] * x
    length = np.sqrt((scaled**2).sum(axis=0))
    kept, close = _apart(scaled / np.where(length > 0.0, length, 1.0), free)
    if not len(close):
        return None
    multiples, first = np.zeros((x.shape[1], x.shape[1])), np.eye(x.shape[1], 1)
    rest = Doubled.of(x[:, close].copy())
    for _ in range(2):  # corrected once, a remainder of 1e-12 has most of its digits
        turn, *_ = np.linalg.lstsq(scaled[:, kept], root[:, None] * rest.high, rcond=None)
        multiples[np.ix_(kept, close)] += turn
        rest = Doubled.of(x[:, close].copy())
        whole = multiples + center * first
        for k in kept:
            for part in two_sum(whole[k, close], -center[close] * first[k]):  # what is left to take off, exactly
                rest = rest + -Doubled(*two_product(x[:, k : k + 1], part[None, :]))
    z = x.copy()
    z[:, close] = rest.round()
    share = np.sqrt(((root[:, None] * z[:, close]) ** 2).sum(axis=0)) / length[close]
    # Of a column of which less than 1e-14 is left, rounding made most: its coefficient would have no digits.
    return None if np.any(share < 1e-14) else (z, whole)


def _apart(unit: Array, free: Index) -> tuple[Index, Index]:
    """Return free columns that are apart from each other, and all columns that are close to combinations of them.

    Columns come with length one; zeros are neither. The intercept goes first, then whatever has most left.
    """
    left, basis, kept = unit.copy(), np.zeros((len(unit), 0)), list[int]()
    size = np.sqrt((left**2).sum(axis=0))
    present = size > 0.0
    candidates = [int(k) for k in free if present[k]]
    while candidates:
        at = candidates[0] if not kept else max(candidates, key=lambda k: size[k])
        if size[at] <= PROJECTED_MAX_SHARE:
            break
        candidates.remove(at)
        kept.append(at)
        basis = np.column_stack([basis, left[:, at] / size[at]])
        for _ in range(2):
            left = left - basis @ (basis.T @ left)
        size = np.sqrt((left**2).sum(axis=0))
    close = present & (size <= PROJECTED_MAX_SHARE)
    close[kept] = False
    return np.array(sorted(kept), dtype=np.intp), np.flatnonzero(close)


def _plain(cells: Array, *, intercept: bool) -> Design:
    """Return plain cells as a design; the intercept is a column of ones."""
    return as_design(np.ascontiguousarray(cells[:, int(intercept) :]), intercept=intercept)
