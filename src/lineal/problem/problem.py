"""The problem: weighted mean loss over a source plus a penalty. The only place where 1/S is written."""

from __future__ import annotations

import math
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lineal.algebra.basis import Basis
from lineal.algebra.doubled import Doubled
from lineal.algebra.factor import Factor
from lineal.algebra.normal import Normal
from lineal.errors import InputError
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.penalties.penalty import Penalty
from lineal.problem.moments import Moments, survey
from lineal.problem.passes import Conjugate, Curve, Dual, Evaluate, Kept, NormalEquations, Sums
from lineal.problem.products import Products
from lineal.sources.source import Source

if TYPE_CHECKING:
    from lineal.certify.baseline import Baseline


EPS = float(np.finfo(np.float64).eps)

GRAM_MAX_COLUMNS = 4000
"""The gram in double-double takes 256 MB for this many columns."""

SHORT_PASS_MAX_WORK = 1_000_000
"""Rows times columns squared up to which one more pass is cheaper than avoiding it."""


@dataclass(frozen=True)
class Evaluation:
    """F at one point: value, a bound on its rounding error, gradient, second derivative of the first columns.

    ``gradient_error`` bounds the error of a gradient that was made from products, not from rows.
    """

    value: float
    error: float
    gradient: Array
    slope: Array
    hessian: Array | None
    gradient_error: Array | None = None

    @property
    def width(self) -> int:
        """Whether a hessian is there, and for how many columns and outputs."""
        return 0 if self.hessian is None else self.hessian.shape[1]


@dataclass
class Shared:
    """What problems that differ in their penalty only have in common: the last sums; of a quadratic loss gram and products."""

    sums: dict[tuple[Loss, bytes, int], Sums] = field(default_factory=dict)
    gram: Array | None = None
    products: Products | None = None
    wanted: bool = False


@dataclass
class Problem:
    """``F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b)``, ``eta = X b + offset``, ``S = sum_i s_i``."""

    source: Source
    loss: Loss
    penalty: Penalty
    moments: Moments
    before: int = -1
    """Passes over the source that were made before this problem was posed; those made so far, unless given."""
    baseline: Baseline | None = None
    light: Problem | None = None
    bases: dict[bytes, Basis | None] = field(default_factory=dict, repr=False)
    """Which of some columns depend on others (``dependence.among``), by the columns asked about."""
    _factored: tuple[Array, bytes, Factor] | None = field(default=None, repr=False)
    _constant: Array | None = field(default=None, repr=False)
    _memory: dict[tuple[bytes, int], Evaluation] = field(default_factory=dict, repr=False)
    _shared: Shared = field(default_factory=Shared, repr=False)

    @staticmethod
    def of(
        source: Source, loss: Loss, penalty: Penalty, moments: Moments | None = None, *, products: bool = False
    ) -> Problem:
        """Return the problem after a survey of the source (or with one made before), with ``products`` if there is use."""
        products = products and loss.quadratic and penalty.smooth and len(source.columns) <= GRAM_MAX_COLUMNS
        before = source.pass_count.made
        if moments is None:
            moments = survey(source, loss, products=products)
        factors, columns = len(penalty.penalized), len(moments.mean)
        if factors != columns:
            raise InputError(f"the penalty has factors for {factors} columns, the data has {columns}.")
        shared = Shared()
        if moments.products is not None:
            shared = Shared(gram=moments.products.hessian, products=moments.products)
            moments = replace(moments, products=None)
        return Problem(source, loss, penalty, moments, before, _shared=shared)

    def __post_init__(self) -> None:
        """Count passes from here on."""
        if self.before < 0:
            self.before = self.source.pass_count.made

    @property
    def passes(self) -> int:
        """Passes over the source since the problem was posed."""
        return self.source.pass_count.made - self.before

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Columns and outputs."""
        return len(self.moments.mean), self.loss.outputs

    @property
    def intercept(self) -> bool:
        """Whether the first column is the intercept."""
        return self.source.leading == "(intercept)"

    @property
    def curvature_bound(self) -> float:
        """The largest curvature of the loss; where it has none (Poisson), twice the mean one of the best constant."""
        bound = self.loss.curvature_bound
        return bound if np.isfinite(bound) else 2.0 * float(np.sum(self.moments.statistic)) / self.moments.weight_sum

    @cached_property
    def unpenalized(self) -> Index:
        """Columns the penalty does not see."""
        return (~self.penalty.penalized).nonzero()[0]

    @cached_property
    def tied(self) -> Mask:
        """The coefficients of those columns, shape ``(columns, outputs)``."""
        return np.repeat(~self.penalty.penalized[:, None], self.shape[1], axis=1)

    @property
    def lead(self) -> int:
        """How many leading columns hold all unpenalized ones."""
        return int(self.unpenalized[-1]) + 1 if len(self.unpenalized) else 0

    def majorant(self, coef: Array) -> Evaluation | None:
        """Return the evaluation of a quadratic above the loss, which touches it at ``coef``; None where there is none."""
        above = self.loss.majorant()
        return None if above is None else self.of_loss(above).evaluate(coef, hessian=self.shape[0])

    def of_loss(self, loss: Loss) -> Problem:
        """Return the problem with another loss of the same targets."""
        return replace(self, loss=loss, _constant=None, _memory={})

    def evaluate(self, coef: Array, hessian: int = 0, sample: int = 1, kept: Kept | None = None) -> Evaluation:
        """Return F, its gradient and the second derivative in the first ``hessian`` columns, in one pass.

        The last few evaluations are remembered, so that asking again (as the certificate does) costs nothing. A pass
        over all rows in memory fills ``kept`` with curvatures for ``curve``.
        """
        coef = np.ascontiguousarray(coef)
        remembered = self._memory.get((coef.tobytes(), sample))
        if remembered is not None and (hessian == 0 or remembered.width >= self._width(hessian)):
            return remembered
        # A quadratic loss has one second derivative for all points: it is summed once.
        constant = self.loss.quadratic and sample == 1
        held = self._constant if constant else None
        width = 0 if held is not None else hessian
        evaluation = self.objective(self._sums(coef, width, sample, kept), coef, hessian, held)
        if constant and evaluation.hessian is not None and evaluation.hessian.shape[1] == self.shape[0]:
            self._constant = evaluation.hessian
        self.keep(coef, evaluation, sample)
        return evaluation

    def objective(self, sums: Sums, coef: Array, hessian: int = 0, held: Array | None = None) -> Evaluation:
        """Return F and its derivatives from sums over the rows, whoever made them: F is written here alone.

        ``held`` is a second derivative known before.
        """
        total, second = sums.weight_sum, held
        if held is None and hessian:
            raw = sums.hessian if sums.hessian is not None else self._shared.gram
            assert raw is not None
            mine = not self._shared.wanted and self._shared.products is None and raw is not self._shared.gram
            second = np.divide(raw, total, out=raw if mine else None)
            tiles = self.shape[1] if self.loss.coupled else 1
            penalty_factors = self.penalty.curvature()[: second.shape[1] // tiles]
            np.einsum("kjj->kj", second)[:] += penalty_factors if tiles == 1 else np.tile(penalty_factors, tiles)
        value = (sums.high + sums.low) / total + self.penalty.value(coef)
        slope = sums.slope_sum / total
        return Evaluation(
            value=value,
            error=8 * EPS * abs(value) + float(self.score_error(coef) @ slope) + sums.value_error / total,
            gradient=sums.gradient / total + self.penalty.gradient(coef),
            slope=slope,
            hessian=second,
            gradient_error=None if sums.gradient_error is None else sums.gradient_error / total,
        )

    def remembered(self, coef: Array) -> Evaluation | None:
        """Return the evaluation at ``coef`` if it is one of the last; None where it would cost a pass."""
        return self._memory.get((coef.tobytes(), 1))

    def keep(self, coef: Array, evaluation: Evaluation, sample: int = 1) -> None:
        """Take note of an evaluation, forgetting all but the last two."""
        if len(self._memory) >= 2:
            self._memory.pop(next(iter(self._memory)))
        self._memory[coef.tobytes(), sample] = evaluation

    def _sums(self, coef: Array, hessian: int, sample: int, kept: Kept | None = None) -> Sums:
        """Return the sums of a pass at ``coef``, or those made before, whatever the penalty was."""
        shared, key = self._shared, (self.loss, coef.tobytes(), sample)
        remembered = shared.sums.get(key)
        if hessian and self.loss.quadratic and sample == 1 and shared.gram is not None:
            hessian = 0
        if remembered is not None:
            width = 0 if remembered.hessian is None else remembered.hessian.shape[1]
            if width >= self._width(hessian):
                return remembered
        if shared.products is not None and sample == 1:
            sums_of_products = shared.products.quadratic(coef)
            if sums_of_products is not None:
                return sums_of_products
        sums = self.source.sum(Evaluate(self.loss, coef, hessian, sample, keep=kept is not None))
        if kept is not None and sums.kept is not None:
            kept.update(sums.kept)
            sums = replace(sums, kept=None)
        if not shared.wanted:
            return sums
        if self.loss.quadratic and hessian == self.shape[0] and sample == 1:
            shared.gram = sums.hessian
        shared.sums.pop(key, None)
        if len(shared.sums) >= 2:
            shared.sums.pop(next(iter(shared.sums)))
        shared.sums[key] = sums
        return sums

    def remember(self, coef: Array, sums: Sums) -> None:
        """Take the sums of a pass at ``coef`` that was made elsewhere."""
        self._shared.wanted = True
        self._shared.sums[(self.loss, np.ascontiguousarray(coef).tobytes(), 1)] = sums

    @property
    def products(self) -> Products | None:
        """The products that the sums of a quadratic loss are made from, if any."""
        return self._shared.products

    @property
    def shared(self) -> bool:
        """Whether its sums were made before, or serve other problems too."""
        return self._shared.wanted or self._shared.gram is not None

    def ask_rows(self) -> None:
        """Make further sums from the rows, where those of products would have too few digits; the gram is kept."""
        self._shared.products = None
        self._memory = {key: one for key, one in self._memory.items() if one.gradient_error is None}

    def at(self, penalty: Penalty) -> Problem:
        """Return the problem with another penalty; what does not depend on it is not summed again."""
        self._shared.wanted = True
        other = Problem(self.source, self.loss, penalty, self.moments, _shared=self._shared)
        same = np.array_equal(penalty.penalized, self.penalty.penalized)
        if self.baseline is not None and same and not np.any(self.baseline.coef[penalty.penalized]):
            other.baseline = self.baseline
        return other

    def _width(self, hessian: int) -> int:
        return hessian * self.shape[1] if self.loss.coupled else hessian

    def dual(self, coef: Array, shift: Array, scale: float = 1.0, unscaled: Dual | None = None) -> Dual:
        """Return the dual point ``theta = scale (slope - W X shift)`` at ``coef``: means of mismatch, gradient, |theta|.

        ``unscaled`` is the same point with scale 1, whose gradient need not be summed again.
        """
        coef, shift = np.ascontiguousarray(coef), np.ascontiguousarray(shift)
        dual = self.source.sum(Conjugate(self.loss, coef, shift, scale, wanted=unscaled is None))
        total = self.moments.weight_sum
        gradient = dual.gradient / total if unscaled is None else scale * unscaled.gradient
        return Dual(dual.high / total, dual.low / total, gradient, dual.largest_shift, dual.slope_sum / total)

    def curve(
        self,
        coef: Array,
        direction: Array,
        sample: int = 1,
        turn: int = 0,
        kept: Kept | None = None,
    ) -> Array:
        """Return the second derivative of F at ``coef`` times ``direction``, in one pass.

        ``sample = g`` takes one row of every g, others on another ``turn``; ``kept`` (empty at first, one for every
        ``coef``, sample and turn) saves the next products their scores.
        """
        points = np.ascontiguousarray(coef), np.ascontiguousarray(direction)
        product = self.source.sum(Curve(self.loss, *points, sample, turn, kept, keep=kept is not None))
        if kept is not None and product.kept is not None:
            kept.update(product.kept)
        bent = product.array / product.weight_sum if product.weight_sum > 0.0 else product.array
        return np.asarray(bent + self.penalty.curvature()[:, None] * direction)

    def score_error(self, coef: Array) -> Array:
        """Return a bound on the rounding error of every score, per output: gamma_p (sum_j max|x_j| |b_j| + max|offset|)."""
        largest = self.moments.largest
        if len(coef) > 1000:
            used = np.flatnonzero(coef.any(axis=1))
            largest, coef = largest[used], coef[used]
        size = largest @ np.abs(coef) + self.moments.offset
        return np.asarray((self.shape[0] + 4) * EPS * size)

    def gradient_error(self, slope: Array, score_error: Array | float = 0.0, peak: float = np.inf) -> Array:
        """Return a bound on the rounding error of a gradient whose rows have mean |slope|, per column and output.

        ``score_error`` is by how much the slopes themselves may be off, ``peak`` the largest of them: mean |slope x| is
        at most the root of mean slope^2 <= peak mean |slope| times that of mean x^2, far less than with the largest x
        of a heavy tail. Rows are added in blocks of at most a few hundred, blocks in chunks, chunks in order: the
        longest chain of additions is far below 1000 + rows / 16384.
        """
        chain = 16 + min(self.moments.rows, 1000 + self.moments.rows / 16384)
        largest = self.moments.largest[:, None]
        if not math.isfinite(peak):
            return np.asarray(largest * (chain * EPS * slope + score_error))
        mean = 1.001 * np.sqrt(self.moments.square[:, None] * (peak * slope))
        return np.asarray(chain * EPS * np.minimum(largest * slope, mean) + largest * score_error)

    def factor(self, evaluation: Evaluation, columns: Index | Mask) -> Factor:
        """Return the factored second derivative in ``columns``, or in the coefficients of a mask ``(columns, outputs)``."""
        if evaluation.hessian is None:
            raise ValueError("this evaluation holds no second derivative")
        if columns.ndim == 2 and columns is self.tied:
            columns = self.unpenalized
        if columns.ndim == 2:
            mask = columns.astype(bool)
            if np.any(mask.any(axis=1) & ~mask.all(axis=1)):
                return Factor.masked(evaluation.hessian, mask, coupled=self.loss.coupled)
            columns = np.flatnonzero(mask.any(axis=1))
        key = columns.tobytes()
        if self._factored is None or self._factored[0] is not evaluation.hessian or self._factored[1] != key:
            factor = Factor.of(
                evaluation.hessian, columns.astype(np.intp, copy=False), self.shape, coupled=self.loss.coupled
            )
            self._factored = (evaluation.hessian, key, factor)
        return self._factored[2]

    @property
    def normal_known(self) -> bool:
        """Whether the normal equations in double-double have been made."""
        return "normal" in self.__dict__

    @cached_property
    def normal(self) -> Normal | None:
        """The normal equations in double-double; None where there are too many columns."""
        if self.shape[0] > GRAM_MAX_COLUMNS:
            return None
        if not self.penalty.smooth:
            # Kinks and bounds have no normal equations: these only tell which unpenalized columns depend on each other.
            return self.normal_of(self.unpenalized)
        return Normal.of(self._products, self.penalty.curvature(), self.moments.weight_sum, self.moments.rows)

    @cached_property
    def _products(self) -> Doubled:
        return self.source.sum(NormalEquations())

    def normal_of(self, columns: Index) -> Normal:
        """Return normal equations in which all columns but some are held by a square as large as their own."""
        curvature = np.where(self.moments.square > 0.0, self.moments.square, 1.0)
        curvature[columns] = 0.0
        return Normal.of(self._products, curvature, self.moments.weight_sum, self.moments.rows)
