"""A problem in columns with more digits: each less a combination of uncharged ones, which pay for it.

    X = Z (I + M),   eta = X b = Z c,   c = (I + M) b

``M`` is zero but in the rows of uncharged columns, so that every other coefficient is the same in both, and the penalty too:
F(b) on X is F(c) on Z. What an uncharged column takes off, such as a mean that is large beside what differs between rows,
leaves no digits for the rest; in Z they are all there. Products and sums are made in double-double and rounded once, so that
an entry of Z is known to half a unit, far less than the bounds of a proof allow for every score and gradient. Where only the
intercept is taken off, by doubles that leave doubles, nothing is rounded at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.algebra.doubled import Doubled, two_product
from lineal.design import Design
from lineal.designs import Dense, Stack, as_design
from lineal.problem import Problem
from lineal.records import dataclass
from lineal.solver import Step
from lineal.sources.memory import Blocks

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MAX_CELLS = 20_000_000
"""At most this many cells are copied."""

MAX_PROJECTED_CELLS = 2_000_000
"""At most this many cells are made again in double-double: about a second for ten columns."""

MAX_PROJECTED_COLUMNS = 60

NEAR = 1e-3
"""A column of whose length less than this share is left beside the others is worth more digits."""

LOST = 1e-14
"""Of a column of which less than this share is left, rounding made most: a coefficient would have no digits."""


@dataclass(frozen=True)
class Frame:
    """A problem in the columns Z, and the way back. ``center`` is the row of M that belongs to the intercept.

    ``exact`` says that Z has the numbers of X less those of the center, not rounded.
    """

    problem: Problem
    multiples: Array
    exact: bool

    @property
    def center(self) -> Array:
        """What was taken off every column by the intercept."""
        return np.asarray(self.multiples[0])

    def inward(self, coef: Array) -> Array:
        """Return ``c = (I + M) b``, every number rounded once."""
        found = coef.copy()
        for k in np.flatnonzero(self.multiples.any(axis=1)):
            for output, column in enumerate(coef.T):
                parts = np.concatenate(two_product(self.multiples[k], column))
                found[k, output] = math.fsum([float(column[k]), *parts.tolist()])
        return found

    def outward(self, coef: Array) -> Array:
        """Return ``b = (I + M)^-1 c``, rounded."""
        found = Doubled.of(coef)
        right = Doubled.of(-self.multiples)
        # M is nilpotent: what one column takes off another is taken off by those before it in turn
        for _ in range(np.count_nonzero(self.multiples.any(axis=1))):
            found = Doubled.of(coef) + right.times(found)
        return found.round()

    def covariance(self, inner: Array) -> Array:
        """Return the covariance, output-major, of b from that of c."""
        one = np.linalg.inv(np.eye(len(self.multiples)) + self.multiples)
        turn = np.kron(np.eye(len(inner) // len(one)), one)
        return np.asarray(turn @ inner @ turn.T)

    def steps(self, inner: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps of a solver in coefficients of X."""
        for step in inner:
            yield step._replace(coef=self.outward(step.coef))


def centered(problem: Problem, far: float, *, exact: bool = False) -> Frame | None:
    """Return the problem with the means of dense columns in memory taken off that are more than ``far`` sds from zero.

    None where there are none, or no intercept to pay for them. ``exact`` leaves a column alone whose numbers would be
    rounded by it.
    """
    moments, free = problem.moments, problem.intercept and 0 in problem.uncharged
    away = np.abs(moments.mean) > far * moments.sd
    if not (free and problem.source.resident and away[1:].any()):
        return None
    away[0] = False
    blocks = list(problem.source.blocks())
    plain = _dense(blocks[0].design)
    if sum(block.n_rows for block in blocks) * int(plain.sum()) > MAX_CELLS:
        return None
    center = np.where(away & plain, moments.mean, 0.0)
    if exact:
        center = np.where(np.all([unrounded(block.design, center) for block in blocks], axis=0), center, 0.0)
    if not center.any():
        return None
    moved = [replace(block, design=less(block.design, center)) for block in blocks]
    multiples = np.zeros((len(center), len(center)))
    multiples[0] = center
    inner = Problem.of(Blocks(moved, problem.source.columns), problem.loss, problem.penalty)
    return Frame(inner, multiples, exact)


def projected(problem: Problem) -> Frame | None:
    """Return the problem with every dense column less its projection on uncharged ones, where that leaves little of one.

    Columns are taken in the order of what is left of them, the longest share first. None where no column is nearly a
    combination of uncharged ones, or one is but for rounding.
    """
    free = problem.uncharged
    if not problem.source.resident or not 0 < len(free) <= MAX_PROJECTED_COLUMNS:
        return None
    blocks = list(problem.source.blocks())
    if not _dense(blocks[0].design)[int(problem.intercept) :].all():
        return None
    if sum(block.n_rows for block in blocks) * problem.shape[0] > MAX_PROJECTED_CELLS:
        return None
    x = np.concatenate([block.design.dense() for block in blocks])
    weight = np.concatenate([np.ones(b.n_rows) if b.weight is None else b.weight for b in blocks])
    found = _projected(x, weight, free)
    if found is None:
        return None
    z, multiples = found
    edges = np.cumsum([block.n_rows for block in blocks])[:-1]
    designs = [_plain(part, intercept=problem.intercept) for part in np.split(z, edges)]
    moved = [replace(block, design=design) for block, design in zip(blocks, designs, strict=True)]
    inner = Problem.of(Blocks(moved, problem.source.columns), problem.loss, problem.penalty)
    return Frame(inner, multiples, exact=False)


def _projected(x: Array, weight: Array, free: npt.NDArray[np.intp]) -> tuple[Array, Array] | None:
    """Return Z and M, or None where nothing is won or a column is lost."""
    root = np.sqrt(weight / weight.sum())[:, None]
    length = np.linalg.norm(root * x, axis=0)
    rest, multiples = Doubled.of(x), np.zeros((x.shape[1], x.shape[1]))
    share, left = np.where(length > 0.0, 1.0, np.inf), list(free)
    used = length > 0.0
    while left:
        # the intercept stays as it is, and goes first
        at = left.pop(int(np.argmax(share[left])) if len(left) < len(free) else 0)
        if not used[at]:
            continue
        pivot = rest.high[:, at]
        others = np.setdiff1d(np.flatnonzero(used), np.setdiff1d(free, left))
        if not len(others):
            continue
        turn = ((root**2 * pivot[:, None]) * rest.high[:, others]).sum(axis=0) / float(
            ((root[:, 0] * pivot) ** 2).sum()
        )
        multiples[at, others] = turn
        taken = Doubled(*two_product(pivot[:, None], turn[None, :]))
        less_ = rest[:, others] + -taken
        rest.high[:, others], rest.low[:, others] = less_.high, less_.low
        share[others] = np.linalg.norm(root * less_.high, axis=0) / length[others]
    smallest = float(np.min(share[used], initial=1.0))
    return None if not LOST <= smallest <= NEAR else (rest.round(), multiples)


def less(design: Design, center: Array) -> Design:
    """Return the design with a center taken off the columns of its plain matrices.

    >>> from lineal.designs import as_design
    >>> less(as_design([[5.0], [7.0]]), np.array([0.0, 5.0])).dense()
    array([[1., 0.],
           [1., 2.]])
    """
    parts: list[Design] = []
    at = 0
    for part in _parts(design):
        own = center[at : at + part.shape[1]]
        at += part.shape[1]
        if own.any() and not isinstance(part, Dense):
            raise TypeError("only plain matrices have a center")
        parts.append(Dense(part.array - own) if isinstance(part, Dense) and own.any() else part)
    return Stack(parts)


def unrounded(design: Design, center: Array) -> Mask:
    """Return for which columns ``x - center`` is a double in every row: both ways back are exact."""
    found, at = np.ones(len(center), dtype=bool), 0
    for part in _parts(design):
        own = slice(at, at + part.shape[1])
        at += part.shape[1]
        if isinstance(part, Dense) and center[own].any():
            x = part.array.astype(np.float64, copy=False)
            moved = x - center[own]
            found[own] = np.all((moved + center[own] == x) & (x - moved == center[own]), axis=0)
    return found


def _parts(design: Design) -> list[Design]:
    return list(design.designs) if isinstance(design, Stack) else [design]


def _dense(design: Design) -> Mask:
    """Return which columns stand in plain matrices."""
    return np.concatenate([np.full(part.shape[1], isinstance(part, Dense)) for part in _parts(design)])


def _plain(cells: Array, *, intercept: bool) -> Design:
    """Return plain cells as a design; the intercept is a column of ones."""
    return as_design(np.ascontiguousarray(cells[:, int(intercept) :]), intercept=intercept)
