"""Paths of the squared loss: the gram of the columns in use is all a point needs, and one pass proves a dozen points.

For a stretch of strengths the columns that may come into use are worked on: all points of the stretch are found on their
gram. All columns are then looked at for all points together, through the few directions that their residuals have
(``certify/directions.py``), and columns near their penalty factor once more: that also gives the proofs. Columns that a
point misses are taken up, and the stretch goes on from that point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from lineal import _core
from lineal.certify.baseline import baseline_fit
from lineal.certify.directions import Directions, Place
from lineal.certify.squares import Prover, Residuals
from lineal.certify.wording import judge
from lineal.designs.design import Design
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.paths.point import Point
from lineal.penalties.penalty import Penalty
from lineal.problem.frame import FAR_MEAN_SDS
from lineal.problem.problem import Problem
from lineal.solvers.columns import GRADIENT_SLACK, Columns
from lineal.solvers.quadratic import jump

SCREENED_MIN_COLUMNS = 300
"""With fewer columns or as many, all are worked on from the beginning; with more, some are screened out."""

RESIDUAL_MAX_ENTRIES = 4_000_000
"""Residuals that are held at once: 32 MB."""

POINT_MAX_SWEEPS = 50.0
"""Sweeps over all columns worked on that a point may cost before an exact solve is tried."""

STRETCH_MAX_SOLVES = 50
"""Exact solves of one stretch; ordinary fits take the points that are left after them."""


@dataclass(frozen=True)
class Part:
    """Some penalized columns: their designs with the intercept's column in front, block by block, and their centred gram."""

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
    """The path of a penalty that makes most coefficients zero, with the squared loss, a stretch at a time."""

    def __init__(self, problem: Problem, penalty: Penalty, tol: float, labels: Sequence[str] | None) -> None:
        """Look at all columns once, at the baseline."""
        self.problem, self.penalty, self.tol, self.labels = problem, penalty, tol, labels
        self.picker = Columns(problem)
        self.ones = int(problem.intercept)
        self.prover = Prover(problem, penalty)
        self.rates = self.prover.family
        self.costs = self.prover.costs(np.arange(problem.shape[0]))
        self.weights, self.targets = [], []
        for block in self.picker.blocks:
            weight = block.weights
            target = block.y[:, 0] if block.offset is None else block.y[:, 0] - block.offset[:, 0]
            self.weights.append(weight / problem.moments.weight_sum)
            self.targets.append(np.where(weight > 0.0, target, 0.0))
        self.edges = np.cumsum([0, *map(len, self.weights)])
        self.weight = np.concatenate(self.weights)
        self.level = float(baseline_fit(problem).coef[0, 0]) if self.ones else 0.0
        self.loss = baseline_fit(problem).value
        self.rows = max(sum(map(len, self.weights)), 1)
        self.all = problem.shape[0] - self.ones <= SCREENED_MIN_COLUMNS
        nothing = np.zeros(0, dtype=np.intp)
        alone = tuple(strip(np.arange(1)) for strip in self.picker.strips) if self.ones else ()
        self.part, self.missed = Part(nothing, alone, np.zeros((0, 0))), nothing
        self.coef = np.zeros(problem.shape[0])
        self.origin = self._product(self._centred(np.zeros((1, 0)))[0] * self.weight[:, None])
        if self.all:
            self.part = self._part(np.arange(self.ones, problem.shape[0]))

    @staticmethod
    def fits(problem: Problem, penalty: Penalty) -> bool:
        """Whether the path is of this kind: squared loss, one output, l1 on every column but the intercept, rows in memory."""
        ones, costs = int(problem.intercept), penalty.costs(1)
        if costs is None or not (
            problem.loss.quadratic and problem.shape[1] == 1 and np.all(penalty.rate[ones:] > 0.0)
        ):
            return False
        bounded = np.any(costs.least > 0.0) or np.any(costs.most < 0.0)
        free = not (bounded or penalty.at(1.0).penalized[:ones].any())
        return bool(free and problem.shape[0] > ones and Columns.refuse(problem) is None)

    def points(self, grid: Array) -> Iterator[Point]:
        """Yield the points, until a proof is not found."""
        if not np.all(np.isfinite(self.origin)):
            return
        at, top = 0, float(np.max(self.rates.entry_strengths(self.origin), initial=0.0))
        place = Place(max(float(grid[0]), top), self.origin[:, 0], None)
        while at < len(grid) and grid[at] > 0.0:
            stretch, columns = self._stretch(grid[at:], place)
            self._work(columns, anew=True)
            coefs = self._solved(stretch, 0, np.empty((len(stretch), len(self.part.columns))))
            shown, on = self._look(coefs, stretch), np.flatnonzero(coefs.any(axis=0))
            used = self.part.columns[on]
            short = self._short(coefs[:, on], used)
            design_columns = np.concatenate([np.arange(self.ones), used])
            proofs = self.prover.prove(stretch, design_columns, short, shown.residuals)
            good, reached = 0, short[-1]
            for strength, proof in zip(stretch, proofs, strict=True):
                if not proof.within(self.tol):
                    if not self._take_up(shown.residuals, good, float(strength)):
                        return
                    reached = short[good]
                    break
                whole = np.zeros(self.problem.shape)
                whole[design_columns, 0] = short[good]
                verdict, _ = judge(self.problem, proof.objective, proof, self.tol, "", None, self.labels)
                yield Point(float(strength), whole, proof.objective, verdict)
                good += 1
            place, at = self._after(place, stretch[:good], shown), at + good
            self.coef = np.zeros(self.problem.shape[0])
            self.coef[design_columns] = reached

    def _after(self, place: Place, stretch: Array, shown: Look) -> Place:
        """Return the place after some points of a stretch are proved, with the slopes of the last two in all columns."""
        if not len(stretch):
            return place
        last = slice(max(len(stretch) - 2, 0), len(stretch))
        if len(stretch) == shown.scaled.shape[1]:
            slopes = shown.slopes @ np.ascontiguousarray(shown.ways.turns[:, last])
        else:
            slopes = self._product(np.ascontiguousarray(shown.scaled[:, last]))
        before = (place.strength, place.slopes)
        if len(stretch) > 1:
            before = (float(stretch[-2]), np.ascontiguousarray(slopes[:, 0]))
        now = float(stretch[-1])
        return Place(now, np.ascontiguousarray(slopes[:, -1]), before if now < before[0] else None)

    def _stretch(self, ahead: Array, place: Place) -> tuple[Array, Index]:
        """Return the strengths to look at together, and the columns that may come into use there."""
        most = max(1, RESIDUAL_MAX_ENTRIES // self.rows)
        ahead = np.ascontiguousarray(ahead[ahead > 0.0])
        if self.all:
            return ahead[:most], self.part.columns
        used, due = self.coef != 0.0, place.due(self.costs)
        ahead = ahead[: min(most, 24)]
        fresh = np.sort(-due[(due >= ahead[-1]) & ~used])
        few = np.searchsorted(fresh, -ahead, side="right") <= SCREENED_MIN_COLUMNS + 0.5 * np.count_nonzero(used)
        ahead = ahead[: max(1, int(np.count_nonzero(few)))]
        wanted = used | (due >= ahead[-1])
        wanted[: self.ones] = False
        return ahead, np.flatnonzero(wanted)

    def _solved(self, stretch: Array, begin: int, coefs: Array) -> Array:
        """Find the points of a stretch from number ``begin`` on, among the columns worked on."""
        part, unit = self.part, self.prover.costs(self.part.columns)
        coef = self.coef[part.columns]
        origin = self.origin[part.columns, 0]
        gradient = origin + part.gram @ coef
        parts = (unit.linear, unit.square, unit.least, unit.most)
        numbers = (self.loss, 0.3 * self.tol, 1e-24 * self.loss, 1e5 + POINT_MAX_SWEEPS * len(coef) ** 2)
        solves = 0
        while solves < STRETCH_MAX_SOLVES:
            before = begin
            begin = _core.walk_gram(part.gram, origin, *parts, stretch, *numbers, coef, gradient, coefs, begin)
            if begin == len(stretch):
                return coefs
            if begin > before and np.array_equal(coef, coefs[begin - 1]):
                continue  # the call only returned to let Ctrl-C be answered
            solves += 1
            # Sweeps are slow for this point: go to the minimizer of the face they are on.
            costs = unit.at(stretch[begin : begin + 1])
            jump(part.gram[None], costs, coef[None], gradient[None], coupled=False)
            gradient = origin + part.gram @ coef
        coefs[begin:] = coef  # the proofs decide what these are worth
        return coefs

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
        scores = self.rates.take(seen.columns).entry_strengths(seen.slopes[point][:, None])
        beyond = seen.columns[scores > (1.0 + GRADIENT_SLACK) * strength]
        self.missed = np.setdiff1d(beyond, self.part.columns)
        return bool(len(self.missed))

    def _part(self, columns: Index) -> Part:
        """Return some columns with their gram, centred where there is an intercept; products known already are kept."""
        moments, ones = self.problem.moments, self.ones
        design_columns = np.r_[np.arange(ones), columns]
        whole = len(design_columns) == self.problem.shape[0]
        designs = tuple(
            design if whole else strip(design_columns)
            for strip, design in zip(self.picker.strips, self.picker.turned, strict=True)
        )
        mean = moments.mean[columns] * ones
        in_gram = np.isin(columns, self.part.columns, assume_unique=True)
        new = np.flatnonzero(~in_gram)
        far = bool(np.any(np.abs(mean) > FAR_MEAN_SDS * moments.sd[columns]))
        if far or 3 * len(new) < len(columns):
            new = np.arange(len(columns)) if far else new
            cross = self._cross(designs, columns[new], mean[new])
            gram = np.empty((len(columns), len(columns)))
            old = np.searchsorted(self.part.columns, columns[in_gram])
            gram[np.ix_(in_gram, in_gram)] = self.part.gram[np.ix_(old, old)]
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
            width, absent = max(1, RESIDUAL_MAX_ENTRIES // max(len(weight), 1)), weight == 0.0
            for first in range(0, len(columns), width):
                few = strip(columns[first : first + width]).dense() - mean[first : first + width]
                few *= weight[:, None]
                few[absent] = 0.0
                total[:, first : first + width] += design.transpose_times(few)[self.ones :]
        return total

    def _short(self, coefs: Array, columns: Index) -> Array:
        """Return the coefficients of some points on some columns, all that are in use, the intercept in front."""
        if not self.ones:
            return coefs
        return np.hstack([self.level - coefs @ self.problem.moments.mean[columns, None], coefs])

    def _split(self, rows: Array) -> list[Array]:
        """Return numbers of all rows block by block."""
        return [rows[a:b] for a, b in pairwise(self.edges)]

    def _rows(self, coefs: Array) -> Array:
        """Return the residuals of some points, ``(rows, points)``; 0 where a row has no weight."""
        used = np.flatnonzero(coefs.any(axis=0)) if coefs.shape[1] else np.zeros(0, dtype=np.intp)
        columns, designs = self.part.columns, self.part.designs
        if 2 * len(used) < len(columns):
            coefs, columns = coefs[:, used], columns[used]
            design_columns = np.concatenate([np.arange(self.ones), columns])
            designs = tuple(strip(design_columns) for strip in self.picker.strips) if len(design_columns) else ()
        coef = np.ascontiguousarray(self._short(coefs, columns).T)
        parts = []
        for k, (weight, target) in enumerate(zip(self.weights, self.targets, strict=True)):
            eta = designs[k].times(coef) if len(coef) else np.zeros((len(target), len(coefs)))
            eta -= target[:, None]
            if not weight.all():
                eta[weight == 0.0] = 0.0
            parts.append(eta)
        return parts[0] if len(parts) == 1 else np.vstack(parts)

    def _centred(self, coefs: Array) -> tuple[Array, Array, Array]:
        """Return residuals less their mean where there is an intercept, the means, and the mean squares of residuals."""
        rows = self._rows(coefs)
        loss = np.asarray(self.weight @ rows**2)
        mean = self.weight @ rows * self.ones
        if self.ones:
            rows -= mean
            if not self.weight.all():
                rows[self.weight == 0.0] = 0.0
        return rows, mean, loss

    def _product(self, scaled: Array) -> Array:
        """Return the products of all columns with some weighted numbers of the rows, in one pass."""
        self.problem.source.pass_count.made += 1
        total = None
        for design, part in zip(self.picker.turned, self._split(scaled), strict=True):
            product = design.transpose_times(part)
            total = product if total is None else total + product
        assert total is not None
        return total

    def _look(self, coefs: Array, strengths: Array) -> Look:
        """Look at some points in all columns, in one pass."""
        rows, mean, loss = self._centred(coefs)
        scaled = rows * self.weight[:, None]
        left, size = np.abs(scaled.sum(axis=0)), np.abs(scaled).sum(axis=0)
        ways, seen = Directions.all(size), np.ones(len(self.origin), dtype=np.bool_)
        if not self.all:
            ways = Directions.of(scaled.T @ rows, self.rows, left, size, self.reach * strengths)
        slopes = self._product(scaled if ways.whole else np.ascontiguousarray(scaled[:, ways.chosen]))
        if not self.all:
            seen = self.prover.suspects(strengths, slopes, ways, left)
            seen[self.part.columns[coefs.any(axis=0)]] = True
        seen[: self.ones] = False
        columns = np.flatnonzero(seen)
        near = slopes[columns] if ways.whole else self._near(columns, scaled)
        square = self.weight @ rows**2 if self.ones else loss
        return Look(Residuals(columns, near.T, left, square, size, np.abs(mean), loss), scaled, ways, slopes)

    @cached_property
    def reach(self) -> float:
        """What of a residual at strength one moves the slopes of nearly all columns by a quarter of their penalty factor."""
        sizes = self.prover.sizes[self.ones :]
        usual = float(np.quantile(sizes[:, 2] / sizes[:, 3], 0.9999))
        return 0.25 / usual if usual > 0.0 else np.inf

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
