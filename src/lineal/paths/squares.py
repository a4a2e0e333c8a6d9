"""Paths of the squared loss: the gram of the columns in use is all a point needs, and one pass proves a dozen points.

For a stretch of strengths the columns that may come into use are worked on: all points of the stretch are found on their
gram. All columns are then looked at for all points together, through the few directions that their residuals have
(``certify/directions.py``), and columns near their charge once more: that also gives the proofs. Columns that a point misses are
taken up, and the stretch goes on from that point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.certify.baseline import null
from lineal.certify.directions import Directions, Place
from lineal.certify.squares import Prover, Residuals
from lineal.certify.wording import judge
from lineal.designs.design import Design
from lineal.ground.records import dataclass
from lineal.model.verdict import Verdict
from lineal.penalties import L1, Bounds, ElasticNet, Separable
from lineal.penalties.penalty import Penalty
from lineal.problem.problem import Problem
from lineal.solvers.columns import Columns
from lineal.solvers.quadratic import Charges, jump

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]

FEW = 300
"""So many columns are all worked on from the beginning."""

LEAP = 0.5
"""Columns that may come into use in a stretch, beyond FEW, as a share of those in use."""

MOST_POINTS = 24
"""So many points are looked at in one pass at most, where columns are left out."""

REACH = 0.25
"""Directions leave of a residual what moves the slopes of nearly all columns by at most this share of their charge."""

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
class Look:
    """What a look at the points of a stretch showed: weighted residuals, their directions, and the slopes of those."""

    residuals: Residuals
    scaled: Array
    ways: Directions
    slopes: Array


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
        self.edges = np.cumsum([0, *map(len, self.weights)])
        self.weight = np.concatenate(self.weights)
        self.level = float(null(problem).coef[0, 0]) if self.ones else 0.0
        self.loss = null(problem).value
        self.rows = max(sum(map(len, self.weights)), 1)
        self.all = problem.shape[0] - self.ones <= FEW
        nothing = np.zeros(0, dtype=np.intp)
        alone = tuple(strip(np.arange(1)) for strip in self.picker.strips) if self.ones else ()
        self.part, self.missed = Part(nothing, alone, np.zeros((0, 0))), nothing
        self.coef, self.support = np.zeros(problem.shape[0]), _core.Support()
        self.origin = self._product(self._centred(np.zeros((1, 0)))[0] * self.weight[:, None])[:, 0]
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

    def points(self, grid: Array) -> Iterator[tuple[float, Array, float, Verdict]]:
        """Yield strength, coefficients, objective and verdict of the points, until a proof is not found."""
        if not np.all(np.isfinite(self.origin)):
            return
        at, top = 0, float(np.max(self._scores(self.origin, self.rates), initial=0.0))
        here = Place(max(float(grid[0]), top), self.origin, None)
        while at < len(grid) and grid[at] > 0.0:
            stretch, columns = self._stretch(grid[at:], here)
            self._work(columns, anew=True)
            found = self._walked(stretch, 0, np.empty((len(stretch), len(self.part.columns))))
            shown, on = self._look(found, stretch), np.flatnonzero(found.any(axis=0))
            used = self.part.columns[on]
            short = self._short(found[:, on], used)
            wide = np.concatenate([np.arange(self.ones), used])
            proofs = self.prover.prove(stretch, wide, short, shown.residuals)
            good, reached = 0, short[-1]
            for strength, proof in zip(stretch, proofs, strict=True):
                if not proof.within(self.tol):
                    if not self._take_up(shown.residuals, good, float(strength)):
                        return
                    reached = short[good]
                    break
                whole = np.zeros(self.problem.shape)
                whole[wide, 0] = short[good]
                verdict, _ = judge(self.problem, proof.objective, proof, self.tol, "", None, self.labels)
                yield float(strength), whole, proof.objective, verdict
                good += 1
            here, at = self._after(here, stretch[:good], shown), at + good
            self.coef = np.zeros(self.problem.shape[0])
            self.coef[wide] = reached

    def _after(self, here: Place, stretch: Array, shown: Look) -> Place:
        """Return the place after some points of a stretch are proved, with the slopes of the last two in all columns."""
        if not len(stretch):
            return here
        last = slice(max(len(stretch) - 2, 0), len(stretch))
        if len(stretch) == shown.scaled.shape[1]:
            slopes = shown.slopes @ np.ascontiguousarray(shown.ways.turns[:, last])
        else:
            slopes = self._product(np.ascontiguousarray(shown.scaled[:, last]))
        before = (here.strength, here.slopes)
        if len(stretch) > 1:
            before = (float(stretch[-2]), np.ascontiguousarray(slopes[:, 0]))
        now = float(stretch[-1])
        return Place(now, np.ascontiguousarray(slopes[:, -1]), before if now < before[0] else None)

    def _stretch(self, ahead: Array, here: Place) -> tuple[Array, Index]:
        """Return the strengths to look at together, and the columns that may come into use there."""
        most = max(1, MOST_ENTRIES // self.rows)
        ahead = np.ascontiguousarray(ahead[ahead > 0.0])
        if self.all:
            return ahead[:most], self.part.columns
        used, due = self.coef != 0.0, here.due(self.rates)
        ahead = ahead[: min(most, MOST_POINTS)]
        fresh = np.sort(-due[(due >= ahead[-1]) & ~used])
        few = np.searchsorted(fresh, -ahead, side="right") <= FEW + LEAP * np.count_nonzero(used)
        ahead = ahead[: max(1, int(np.count_nonzero(few)))]
        wanted = used | (due >= ahead[-1])
        wanted[: self.ones] = False
        return ahead, np.flatnonzero(wanted)

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
        kept = self.part.columns
        if anew:
            kept = np.union1d(np.flatnonzero(self.coef[self.ones :]) + self.ones, self.missed)
            self.missed = np.zeros(0, dtype=np.intp)
        wanted = np.union1d(columns, kept).astype(np.intp)
        if len(np.setdiff1d(wanted, self.part.columns)):
            self.part = self._part(wanted)

    def _take_up(self, seen: Residuals, point: int, strength: float) -> bool:
        """Work on the columns whose gradient is too large for zero; say whether there are any."""
        scores = self._scores(seen.slopes[point], self.rates.take(seen.columns))
        beyond = seen.columns[scores > (1.0 + SLACK) * strength]
        self.missed = np.setdiff1d(beyond, self.part.columns)
        return bool(len(self.missed))

    @staticmethod
    def _scores(gradient: Array, rates: Penalty) -> Array:
        """Return for some columns the strength from which on they may stay zero; 0 for the intercept."""
        assert isinstance(rates, Separable)
        pull = np.where(gradient > 0.0, rates.least < 0.0, rates.most > 0.0)
        rate = rates.linear
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

    def _short(self, found: Array, columns: Index) -> Array:
        """Return the coefficients of some points on some columns, all that are in use, the intercept in front."""
        if not self.ones:
            return found
        return np.hstack([self.level - found @ self.problem.moments.mean[columns, None], found])

    def _split(self, rows: Array) -> list[Array]:
        """Return numbers of all rows block by block."""
        return [rows[a:b] for a, b in pairwise(self.edges)]

    def _rows(self, found: Array) -> Array:
        """Return the residuals of some points, ``(rows, points)``; 0 where a row has no weight."""
        used = np.flatnonzero(found.any(axis=0)) if found.shape[1] else np.zeros(0, dtype=np.intp)
        columns, designs = self.part.columns, self.part.designs
        if 2 * len(used) < len(columns):
            found, columns = found[:, used], columns[used]
            wide = np.concatenate([np.arange(self.ones), columns])
            designs = tuple(strip(wide) for strip in self.picker.strips) if len(wide) else ()
        coef = np.ascontiguousarray(self._short(found, columns).T)
        parts = []
        for k, (weight, target) in enumerate(zip(self.weights, self.targets, strict=True)):
            eta = designs[k].times(coef) if len(coef) else np.zeros((len(target), len(found)))
            eta -= target[:, None]
            if not weight.all():
                eta[weight == 0.0] = 0.0
            parts.append(eta)
        return parts[0] if len(parts) == 1 else np.vstack(parts)

    def _centred(self, found: Array) -> tuple[Array, Array, Array]:
        """Return residuals less their mean where there is an intercept, the means, and the mean squares of residuals."""
        rows = self._rows(found)
        loss = np.asarray(self.weight @ rows**2)
        mean = self.weight @ rows * self.ones
        if self.ones:
            rows -= mean
            if not self.weight.all():
                rows[self.weight == 0.0] = 0.0
        return rows, mean, loss

    def _product(self, scaled: Array) -> Array:
        """Return the products of all columns with some weighted numbers of the rows, in one pass."""
        self.problem.passes += 1
        total = None
        for design, part in zip(self.picker.turned, self._split(scaled), strict=True):
            found = design.transpose_times(part)
            total = found if total is None else total + found
        assert total is not None
        return total

    def _look(self, found: Array, strengths: Array) -> Look:
        """Look at some points in all columns, in one pass."""
        rows, mean, loss = self._centred(found)
        scaled = rows * self.weight[:, None]
        left, size = np.abs(scaled.sum(axis=0)), np.abs(scaled).sum(axis=0)
        ways, seen = Directions.all(size), np.ones(len(self.origin), dtype=np.bool_)
        if not self.all:
            ways = Directions.of(scaled.T @ rows, self.rows, left, size, self.reach * strengths)
        slopes = self._product(scaled if ways.whole else np.ascontiguousarray(scaled[:, ways.chosen]))
        if not self.all:
            seen = self.prover.suspects(strengths, slopes, ways, left)
            seen[self.part.columns[found.any(axis=0)]] = True
        seen[: self.ones] = False
        columns = np.flatnonzero(seen)
        near = slopes[columns] if ways.whole else self._near(columns, scaled)
        square = self.weight @ rows**2 if self.ones else loss
        return Look(Residuals(columns, near.T, left, square, size, np.abs(mean), loss), scaled, ways, slopes)

    @cached_property
    def reach(self) -> float:
        """What of a residual at strength one moves the slopes of nearly all columns little."""
        sizes = self.prover.sizes[self.ones :]
        usual = float(np.quantile(sizes[:, 2] / sizes[:, 3], 0.9999))
        return REACH / usual if usual > 0.0 else np.inf

    def _near(self, columns: Index, scaled: Array) -> Array:
        """Return the products of some columns with weighted residuals; those at work are used as they are if most are asked."""
        parts, out = self._split(scaled), np.zeros((len(columns), scaled.shape[1]))
        inside = np.isin(columns, self.part.columns, assume_unique=True)
        if 2 * np.count_nonzero(inside) > len(self.part.columns):
            at = np.searchsorted(self.part.columns, columns[inside]) + self.ones
            for design, part in zip(self.part.designs, parts, strict=True):
                out[inside] += design.transpose_times(part)[at]
        else:
            inside[:] = False
        if not inside.all():
            for strip, part in zip(self.picker.strips, parts, strict=True):
                out[~inside] += strip(columns[~inside]).transpose_times(part)
        return out
