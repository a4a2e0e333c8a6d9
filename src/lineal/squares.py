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

STRETCH = 0.75
"""The last strength of a stretch is at least this share of the one before its first, where columns are left out."""

MOST_POINTS = 12
"""So many points are looked at in one pass at most, where columns are left out."""

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
        alone = tuple(pick(np.arange(1)) for pick in self.picker.pickers) if self.ones else ()
        self.part = Part(nothing, alone, np.zeros((0, 0)))
        self.coef = np.zeros(problem.shape[0])
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
        gradient, at = self.origin, 0
        if not np.all(np.isfinite(gradient)):
            return
        before = max(float(grid[0]), float(np.max(self._scores(gradient), initial=0.0)))
        while at < len(grid) and grid[at] > 0.0 and left() != 0.0:
            stretch = self._stretch(grid[at:], before)
            found = self._found(stretch, gradient, before)
            shown, whole = self._residuals(found), self._whole(found)
            proofs = self.prover.prove(stretch, self._used, whole[:, self._used], shown)
            for point, (strength, proof) in enumerate(zip(stretch, proofs, strict=True)):
                coef = whole[point]
                if not proof.within(self.tol):
                    if not self._take_up(shown.slopes[point], float(strength)):
                        return
                    self.coef = coef
                    break
                verdict, _ = judge(self.problem, proof.objective, proof, self.tol, "", None, self.labels)
                yield float(strength), coef[:, None].copy(), proof.objective, verdict
                gradient, before, at, self.coef = shown.slopes[point], float(strength), at + 1, coef

    def _stretch(self, ahead: Array, before: float) -> Array:
        """Return the strengths to look at together."""
        most = max(1, MOST_ENTRIES // self.rows)
        ahead = ahead[ahead > 0.0]
        if not self.all:
            most = min(most, MOST_POINTS, max(1, int(np.count_nonzero(ahead >= STRETCH * before))))
        return np.ascontiguousarray(ahead[:most])

    def _found(self, stretch: Array, gradient: Array, before: float) -> Array:
        """Return the coefficients at every strength of a stretch, optimal among the columns that the strong rule names."""
        if self.all:
            return self._walked(stretch, 0, np.empty((len(stretch), len(self.part.columns))))
        scores = self._scores(gradient)
        last = float(stretch[-1])
        near = np.flatnonzero(scores[self.ones :] >= 2.0 * last - before) + self.ones
        # those that are likely to come into use are worked on at once
        self._work(near if len(near) <= FEW else np.flatnonzero(scores >= last), anew=True)
        watched = np.setdiff1d(near, self.part.columns)
        designs = [pick(watched) for pick in self.picker.pickers] if len(watched) else []
        found, begin = np.empty((len(stretch), len(self.part.columns))), 0
        while True:
            found = self._walked(stretch, begin, found)
            if not len(watched):
                return found
            slopes = np.zeros((len(watched), len(stretch) - begin))
            for design, weight, rows in zip(designs, self.weights, self._rows(found[begin:]), strict=True):
                slopes += design.transpose_times(weight[:, None] * rows)
            beyond = np.abs(slopes) > (1.0 + SLACK) * np.outer(self.rates.linear[watched], stretch[begin:])
            beyond[np.isin(watched, self.part.columns)] = False
            if not beyond.any():
                return found
            first = int(np.argmax(beyond.any(axis=0)))
            self.coef = self._whole(found[begin + first : begin + first + 1])[0]
            old = self.part.columns
            self._work(watched[beyond.any(axis=1)])
            wider = np.zeros((len(stretch), len(self.part.columns)))
            wider[:, np.searchsorted(self.part.columns, old)] = found
            found, begin = wider, begin + first

    def _walked(self, stretch: Array, begin: int, found: Array) -> Array:
        """Find the points of a stretch from number ``begin`` on, among the columns worked on."""
        part, unit = self.part, self.rates.take(self.part.columns)
        assert isinstance(unit, Separable)
        coef = self.coef[part.columns]
        origin = self.origin[part.columns]
        gradient = origin + part.gram @ coef
        parts = (unit.linear, unit.curvature(), unit.least, unit.most)
        numbers = (self.loss, 0.3 * self.tol, 1e-24 * self.loss, 1e5 + PATIENCE * len(coef) ** 2)
        for _ in range(MOST_JUMPS):
            begin = _core.walk_gram(part.gram, origin, *parts, stretch, *numbers, coef, gradient, found, begin)
            if begin == len(stretch):
                return found
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
            block.design if whole else pick(wide)
            for pick, block in zip(self.picker.pickers, self.picker.blocks, strict=True)
        )
        mean = moments.mean[columns] * ones
        known = np.isin(columns, self.part.columns, assume_unique=True)
        new = np.flatnonzero(~known)
        far = bool(np.any(np.abs(mean) > FAR * moments.sd[columns]))
        if far or (3 * len(new) < len(columns) and len(new) * self.rows <= MOST_ENTRIES):
            new = np.arange(len(columns)) if far else new
            cross = self._cross(designs, np.eye(len(wide))[:, ones + new], mean[new])
            gram = np.empty((len(columns), len(columns)))
            old = np.searchsorted(self.part.columns, columns[known])
            gram[np.ix_(known, known)] = self.part.gram[np.ix_(old, old)]
            gram[:, new], gram[new] = cross, cross.T
            return Part(columns, designs, gram)
        gram = np.zeros((len(columns), len(columns)))
        for design, weight in zip(designs, self.weights, strict=True):
            gram += design.gram(weight)[ones:, ones:]
        return Part(columns, designs, gram - np.outer(mean, mean))

    def _cross(self, designs: Sequence[Design], chosen: Array, mean: Array) -> Array:
        """Return the products of all columns of some designs with a few of them, centred before they are multiplied."""
        total = np.zeros((len(chosen) - self.ones, chosen.shape[1]))
        chosen, height = np.ascontiguousarray(chosen), max(1, MOST_ENTRIES // max(chosen.shape[1], 1))
        for design, weight in zip(designs, self.weights, strict=True):
            for first in range(0, len(weight), height):
                rows, share = design.slice(first, first + height), weight[first : first + height, None]
                few = np.where(share > 0.0, rows.times(chosen) - mean, 0.0)
                total += rows.transpose_times(share * few)[self.ones :]
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

    def _whole(self, found: Array) -> Array:
        """Return the coefficients of some points on all columns."""
        whole = np.zeros((len(found), self.problem.shape[0]))
        whole[:, self._used] = self._short(found)
        return whole

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
        for block, weight, row in zip(self.picker.blocks, self.weights, rows, strict=True):
            centred = row - mean
            if not weight.all():
                centred[weight == 0.0] = 0.0
            square += weight @ centred**2
            centred *= weight[:, None]
            size += np.abs(centred).sum(axis=0)
            slopes += block.design.transpose_times(centred)
        return Residuals(np.ascontiguousarray(slopes.T), square, size, np.abs(mean), np.asarray(loss))
