"""Paths of the squared loss: the gram of the columns in use is all a point needs, and one pass proves a dozen points.

For a stretch of strengths the columns that may come into use are worked on: all points of the stretch are found on their
gram. The columns that the strong rule names are then looked at for all points together, and at last all columns: that
pass also gives the proofs. Columns that a point misses are taken up, and the stretch goes on from that point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.certify_squares import Prover, Residuals
from lineal.design import Design
from lineal.null import null
from lineal.penalties import L1, Bounds, ElasticNet, Separable
from lineal.penalty import Penalty
from lineal.problem import Problem
from lineal.solvers.columns import Columns
from lineal.solvers.quadratic import Charges, jump
from lineal.verdict import Verdict
from lineal.wording import judge

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

FEW = 300
"""So many columns are all worked on from the beginning."""

LEAP = 0.5
"""Columns that may come into use in a stretch, beyond FEW, as a share of those in use."""

MOST_POINTS = 24
"""So many points are looked at in one pass at most, where columns are left out."""

TURN = 0.2
"""By so much the slope of a gradient along the path is expected to change within a stretch; a strength is the unit."""

MOST_ENTRIES = 4_000_000
"""So many residuals are held at once at most."""

PATIENCE = 50.0
"""Sweeps over all columns worked on that a point may cost before an exact solve is tried."""

MOST_JUMPS = 50
"""After so many exact solves in one stretch the points that are left are for others to find."""

FAR = 100.0
"""A column whose mean is so many deviations from zero is centred before it is multiplied, not after."""

SLACK = 1e-10
"""A column whose gradient exceeds its charge by this share is not in its place."""


@dataclass(frozen=True)
class Part:
    """Some charged columns: their designs with the intercept's column in front, block by block, and their centred gram."""

    columns: Index
    designs: tuple[Design, ...]
    gram: Array


@dataclass(frozen=True)
class Place:
    """The last point that is known: its strength, the gradients there, and how they change with the strength, if known."""

    strength: float
    slopes: Array
    trend: Array | None

    def after(self, strength: float, slopes: Array) -> Place:
        """Return the next point."""
        apart = self.strength - strength
        return Place(strength, slopes, (self.slopes - slopes) / apart if apart > 0.0 else None)

    def ahead(self, strength: float) -> Array:
        """Return the gradients to be expected at a smaller strength."""
        return self.slopes if self.trend is None else self.slopes - (self.strength - strength) * self.trend

    def least(self, strength: float) -> float:
        """Return the size of an expected gradient from which on its column may come into use, times its charge.

        Without a trend this is the strong rule: a gradient changes by at most as much as the strength.
        """
        return strength - (1.0 if self.trend is None else TURN) * (self.strength - strength)


class Squares:
    """A walk along the strengths of a penalty that makes most coefficients zero, with the squared loss."""

    def __init__(self, problem: Problem, penalty: Penalty, tol: float, labels: Sequence[str] | None) -> None:
        """Look at all columns once, at the null fit."""
        assert isinstance(penalty, Separable)
        self.problem, self.penalty, self.tol, self.labels = problem, penalty, tol, labels
        self.picker = Columns(problem)
        self.ones = int(problem.intercept)
        self.prover = Prover(problem, penalty)
        self.rates = self.prover.family
        self.weights, self.targets = [], []
        for block in self.picker.blocks:
            weight = np.ones(block.n_rows) if block.weight is None else block.weight
            target = block.y[:, 0] if block.offset is None else block.y[:, 0] - block.offset[:, 0]
            self.weights.append(weight / problem.moments.weight_sum)
            self.targets.append(np.where(weight > 0.0, target, 0.0))
        self.level = float(null(problem).coef[0, 0]) if self.ones else 0.0
        self.loss = null(problem).value
        self.rows = max(sum(map(len, self.weights)), 1)
        self.all = problem.shape[0] - self.ones <= FEW
        nothing = np.zeros(0, dtype=np.intp)
        alone = tuple(strip(np.arange(1)) for strip in self.picker.strips) if self.ones else ()
        self.part = Part(nothing, alone, np.zeros((0, 0)))
        self.coef, self.support = np.zeros(problem.shape[0]), _core.Support()
        self.origin = self._residuals(np.zeros((1, 0))).slopes[0]
        if self.all:
            self.part = self._part(np.arange(self.ones, problem.shape[0]))

    @staticmethod
    def fits(problem: Problem, penalty: Penalty) -> bool:
        """Whether the walk is possible: squared loss, one output, l1 on every column but the intercept, rows in memory."""
        inner = penalty.inner if isinstance(penalty, Bounds) else penalty
        if not (problem.loss.quadratic and problem.shape[1] == 1 and isinstance(inner, L1 | ElasticNet)):
            return False
        unit = penalty.at(1.0)
        assert isinstance(unit, Separable)
        ones = int(problem.intercept)
        charged = np.all(unit.linear[ones:] > 0.0) and not unit.charged[:ones].any()
        bounded = np.any(unit.least > 0.0) or np.any(unit.most < 0.0)
        return bool(charged and not bounded and problem.shape[0] > ones and Columns.refuse(problem) is None)

    def points(self, grid: Array, left: Callable[[], float | None]) -> Iterator[tuple[float, Array, float, Verdict]]:
        """Yield strength, coefficients, objective and verdict of the points, until the time is up or a proof is not found."""
        if not np.all(np.isfinite(self.origin)):
            return
        at, top = 0, float(np.max(self._scores(self.origin), initial=0.0))
        here = Place(max(float(grid[0]), top), self.origin, None)
        while at < len(grid) and grid[at] > 0.0 and left() != 0.0:
            stretch, columns = self._stretch(grid[at:], here)
            self._work(columns, anew=True)
            found = self._walked(stretch, 0, np.empty((len(stretch), len(self.part.columns))))
            shown, short = self._residuals(found), self._short(found)
            proofs = self.prover.prove(stretch, self._used, short, shown)
            for point, (strength, proof) in enumerate(zip(stretch, proofs, strict=True)):
                whole = np.zeros(self.problem.shape)
                whole[self._used, 0] = short[point]
                self.coef = whole[:, 0]
                if not proof.within(self.tol):
                    if not self._take_up(shown.slopes[point], float(strength)):
                        return
                    break
                verdict, _ = judge(self.problem, proof.objective, proof, self.tol, "", None, self.labels)
                yield float(strength), whole, proof.objective, verdict
                here, at = here.after(float(strength), shown.slopes[point]), at + 1

    def _stretch(self, ahead: Array, here: Place) -> tuple[Array, Index]:
        """Return the strengths to look at together, and the columns that may come into use there."""
        most = max(1, MOST_ENTRIES // self.rows)
        ahead = np.ascontiguousarray(ahead[ahead > 0.0])
        if self.all:
            return ahead[:most], self.part.columns
        used = self.coef != 0.0
        wanted, count = used, 0
        for strength in ahead[: min(most, MOST_POINTS)]:
            wider = wanted | (self._scores(here.ahead(float(strength))) >= here.least(float(strength)))
            if count >= 1 and np.count_nonzero(wider & ~used) > FEW + LEAP * np.count_nonzero(used):
                break
            wanted, count = wider, count + 1
        wanted[: self.ones] = False
        return ahead[:count], np.flatnonzero(wanted)

    def _walked(self, stretch: Array, begin: int, found: Array) -> Array:
        """Find the points of a stretch from number ``begin`` on, among the columns worked on."""
        part, unit = self.part, self.rates.take(self.part.columns)
        assert isinstance(unit, Separable)
        coef = self.coef[part.columns]
        origin = self.origin[part.columns]
        gradient = origin + part.gram @ coef
        parts = (unit.linear, unit.curvature(), unit.least, unit.most)
        numbers = (self.loss, 0.3 * self.tol, 1e-24 * self.loss, 1e5 + PATIENCE * len(coef) ** 2)
        jumps = 0
        while jumps < MOST_JUMPS:
            before, begin = (
                begin,
                _core.walk_gram(
                    part.gram,
                    origin,
                    *parts,
                    stretch,
                    *numbers,
                    coef,
                    gradient,
                    found,
                    begin,
                    part.columns,
                    self.support,
                ),
            )
            if begin == len(stretch):
                return found
            if begin > before and np.array_equal(coef, found[begin - 1]):
                continue  # it only came up for air
            jumps += 1
            # Sweeps are slow here: go to the minimiser of the face they are on.
            charges = Charges(unit.at(float(stretch[begin])), 1)
            jump(part.gram[None], charges, coef[None], gradient[None], coupled=False)
            gradient = origin + part.gram @ coef
        found[begin:] = coef  # what these are worth is for the proof to say
        return found

    def _work(self, columns: Index, *, anew: bool = False) -> None:
        """Work on these columns too; ``anew``: no longer on those that are neither in use nor among them."""
        kept = np.flatnonzero(self.coef[self.ones :]) + self.ones if anew else self.part.columns
        wanted = np.union1d(columns, kept).astype(np.intp)
        if len(np.setdiff1d(wanted, self.part.columns)):
            self.part = self._part(wanted)

    def _take_up(self, gradient: Array, strength: float) -> bool:
        """Work on the columns whose gradient is too large for zero; say whether there are any."""
        beyond = np.flatnonzero(self._scores(gradient) > (1.0 + SLACK) * strength)
        missed = np.setdiff1d(beyond, self.part.columns)
        self._work(missed)
        return bool(len(missed))

    def _scores(self, gradient: Array) -> Array:
        """Return for every column the strength from which on it may stay zero; 0 for the intercept."""
        rate = self.rates.linear
        pull = np.where(gradient > 0.0, self.rates.least < 0.0, self.rates.most > 0.0)
        return np.where((rate > 0.0) & pull, np.abs(gradient) / np.where(rate > 0.0, rate, 1.0), 0.0)

    def _part(self, columns: Index) -> Part:
        """Return some columns with their gram, centred where there is an intercept; products known already are kept."""
        moments, ones = self.problem.moments, self.ones
        wide = np.r_[np.arange(ones), columns]
        whole = len(wide) == self.problem.shape[0]
        designs = tuple(
            design if whole else strip(wide)
            for strip, design in zip(self.picker.strips, self.picker.turned, strict=True)
        )
        mean = moments.mean[columns] * ones
        known = np.isin(columns, self.part.columns, assume_unique=True)
        new = np.flatnonzero(~known)
        far = bool(np.any(np.abs(mean) > FAR * moments.sd[columns]))
        if far or 3 * len(new) < len(columns):
            new = np.arange(len(columns)) if far else new
            cross = self._cross(designs, columns[new], mean[new])
            gram = np.empty((len(columns), len(columns)))
            old = np.searchsorted(self.part.columns, columns[known])
            gram[np.ix_(known, known)] = self.part.gram[np.ix_(old, old)]
            gram[:, new], gram[new] = cross, cross.T
            return Part(columns, designs, gram)
        gram = np.zeros((len(columns), len(columns)))
        for pick, weight in zip(self.picker.pickers, self.weights, strict=True):
            gram += pick(columns).gram(weight)
        return Part(columns, designs, gram - np.outer(mean, mean))

    def _cross(self, designs: Sequence[Design], columns: Index, mean: Array) -> Array:
        """Return the products of all columns of some designs with a few columns, which are centred before."""
        total = np.zeros((designs[0].shape[1] - self.ones, len(columns)))
        for strip, design, weight in zip(self.picker.strips, designs, self.weights, strict=True):
            width, absent = max(1, MOST_ENTRIES // max(len(weight), 1)), weight == 0.0
            for first in range(0, len(columns), width):
                few = strip(columns[first : first + width]).dense() - mean[first : first + width]
                few *= weight[:, None]
                few[absent] = 0.0
                total[:, first : first + width] += design.transpose_times(few)[self.ones :]
        return total

    @property
    def _used(self) -> Index:
        """The columns that may have a coefficient."""
        return np.concatenate([np.arange(self.ones), self.part.columns])

    def _short(self, found: Array) -> Array:
        """Return the coefficients of some points on the columns worked on, the intercept in front."""
        if not self.ones:
            return found
        return np.hstack([self.level - found @ self.problem.moments.mean[self.part.columns, None], found])

    def _rows(self, found: Array) -> Iterator[Array]:
        """Yield the residuals of some points for every block, ``(rows, points)``; 0 where a row has no weight."""
        coef = np.ascontiguousarray(self._short(found).T)
        for k, (weight, target) in enumerate(zip(self.weights, self.targets, strict=True)):
            eta = self.part.designs[k].times(coef) if len(coef) else np.zeros((len(target), len(found)))
            eta -= target[:, None]
            if not weight.all():
                eta[weight == 0.0] = 0.0
            yield eta

    def _residuals(self, found: Array) -> Residuals:
        """Look at some points in all columns, in one pass."""
        count = len(found)
        slopes = np.zeros((self.problem.shape[0], count))
        square, size = np.zeros(count), np.zeros(count)
        self.problem.passes += 1
        rows = list(self._rows(found))
        loss = sum(weight @ row**2 for weight, row in zip(self.weights, rows, strict=True))
        mean = sum(weight @ row for weight, row in zip(self.weights, rows, strict=True)) * self.ones
        for design, weight, row in zip(self.picker.turned, self.weights, rows, strict=True):
            centred = row - mean
            if not weight.all():
                centred[weight == 0.0] = 0.0
            square += weight @ centred**2
            centred *= weight[:, None]
            size += np.abs(centred).sum(axis=0)
            slopes += design.transpose_times(centred)
        return Residuals(np.ascontiguousarray(slopes.T), square, size, np.abs(mean), np.asarray(loss))
