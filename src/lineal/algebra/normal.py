"""Normal equations in double-double: solution, distance from it, inverse and rank with 32 digits."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import numpy as np

from lineal import _core
from lineal.algebra.doubled import UNIT, Doubled
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass

EPS = float(np.finfo(np.float64).eps)


DEPENDENT_SHARE = 1e-27
"""A column whose squared distance from the others, relative to its square, is below this is suspected of depending on them.

Rounding a column to doubles puts it about 1e-32 away from the combination it was computed from; the powers t .. t^14 on
[0, 1] are 1e-18 apart, NIST's Filip about 1e-20.
"""


@dataclass(frozen=True)
class Normal:
    """``H b = c`` with ``H = X'SX + S D`` and ``c = X'S(y - offset)``, held in double-double.

    Columns are scaled by powers of two, which is exact, so that the diagonal is near one.
    """

    gram: Doubled
    """[X y]' S [X y] with the ridge penalty factors on the diagonal, scaled."""
    scale: Array
    columns: int
    weight_sum: float
    chain: float
    penalty_factor: Array
    """The ridge penalty factors S D, scaled; S is a sum of doubles, so that these have the digits of doubles only."""
    _gaps: dict[bytes, float] = field(default_factory=dict, repr=False, compare=False)
    """What ``gap`` has said: a solver asks first, then the proof."""

    @staticmethod
    def of(gram: Doubled, curvature: Array, weight_sum: float, rows: int) -> Normal:
        """Scale the gram of [X y] and add the ridge penalty factors."""
        size = len(gram.high)
        penalty_factor = np.zeros(size)
        penalty_factor[: len(curvature)] = curvature * weight_sum
        gram = gram + Doubled.of(np.diag(penalty_factor))
        diagonal = np.diagonal(gram.high)
        exponent = np.round(-0.5 * np.log2(np.where(diagonal > 0.0, diagonal, 1.0)))
        scale = np.exp2(exponent)
        both = scale[:, None] * scale
        chain, p = 1000 + rows / 16384, len(curvature)
        return Normal(
            Doubled(gram.high * both, gram.low * both), scale, p, weight_sum, chain, penalty_factor[:p] * scale[:p] ** 2
        )

    @cached_property
    def _factor(self) -> tuple[Doubled, Index, int]:
        fixed = len(self.scale) - self.columns
        high, low, order, rank = _core.factor_dd(self.gram.high, self.gram.low, DEPENDENT_SHARE, fixed)
        return Doubled(high, low), np.asarray(order, dtype=np.intp), int(rank)

    @property
    def independent(self) -> Index:
        """Columns that do not depend on those before them in pivot order, sorted."""
        _, order, rank = self._factor
        return np.sort(order[:rank])

    @property
    def dependent(self) -> Index:
        """The other columns, sorted."""
        _, order, rank = self._factor
        return np.sort(order[rank : self.columns])

    def _solve(self, right: Doubled) -> Doubled:
        """Return H^-1 right (scaled units) on the independent columns, zero elsewhere."""
        factor, order, rank = self._factor
        inner = right[order[:rank]]
        half = _core.solve_dd(factor.high, factor.low, rank, False, inner.high, inner.low)
        high, low = _core.solve_dd(factor.high, factor.low, rank, True, *half)
        result = Doubled.of(np.zeros((self.columns, right.high.shape[1])))
        result.high[order[:rank]], result.low[order[:rank]] = high, low
        return result

    @cached_property
    def _exact(self) -> Doubled:
        return self._solve(self.gram[: self.columns, self.columns :])

    @property
    def solution(self) -> Array:
        """The minimiser, dependent columns zero, shape ``(columns, outputs)``."""
        p = self.columns
        return np.asarray(self._exact.round() * self.scale[:p, None] / self.scale[None, p:])

    def residual_squares(self) -> Array:
        """Return y'Sy - y'SX b of the minimiser, per output: the residual sum of squares where nothing is penalized."""
        p = self.columns
        explained = self.gram[p:, :p].times(self._exact)
        left = (self.gram[p:, p:] + -explained).round()
        return np.asarray(np.diagonal(left) / self.scale[p:] ** 2)

    def residual_doubt(self) -> Array:
        """Return a bound on the error of `residual_squares`: entries of the gram are known to chain * UNIT."""
        p = self.columns
        size = np.sum(np.abs(self._exact.high), axis=0) + np.sqrt(np.abs(self.gram.high.diagonal()[p:]))
        return np.asarray(self.chain * UNIT * 4.0 * (size / self.scale[p:]) ** 2)

    def inverse(self) -> Array:
        """Return H^-1, rows and columns of dependent columns zero."""
        scale = self.scale[: self.columns]
        return np.asarray(self._spread * scale[:, None] * scale)

    def combinations(self) -> tuple[Array, Array]:
        """Return one d, as high and low, for each dependent column: 1 on it, and ``X d`` as small as possible."""
        p, dependent = self.columns, self.dependent
        weights = self._solve(self.gram[:p, dependent])
        ratio = self.scale[:p, None] / self.scale[dependent]
        high, low = -weights.high * ratio, -weights.low * ratio
        size = np.abs(weights.high)
        tiny = size < 1e-11 * np.maximum(1.0, size.max(axis=0, initial=0.0))
        high[tiny], low[tiny] = 0.0, 0.0
        high[dependent, np.arange(len(dependent))] = 1.0
        return high, low

    def gap(self, coef: Array) -> float:
        """Return an upper bound on F(coef) - F* = (1/2S) g' H^-1 g, g = H b - c, rounding included."""
        key = coef.tobytes()
        if key not in self._gaps:
            self._gaps[key] = self._gap(coef)
        return self._gaps[key]

    def _gap(self, coef: Array) -> float:
        p = self.columns
        scaled = Doubled.of(coef / self.scale[:p, None] * self.scale[None, p:])
        gradient = self.gram[:p, :p].times(scaled) + -self.gram[:p, p:]
        shift = self._solve(gradient).round()
        square = np.sum(np.maximum(gradient.round() * shift, 0.0), axis=0)
        # entries of the scaled gram are at most about 2, known to chain * UNIT
        error = self.chain * UNIT * 4.0 * (np.sum(np.abs(scaled.high), axis=0) + np.sqrt(self.gram.high.diagonal()[p:]))
        spread = np.sqrt(np.maximum(self._spread.diagonal(), 0.0))
        value_error = self.chain * EPS * (spread * self.penalty_factor) @ np.abs(scaled.high)
        bound = (np.sqrt(square) + error * float(np.sum(spread)) + value_error) ** 2 / self.scale[p:] ** 2
        return 0.5 * float(np.sum(bound)) / self.weight_sum * (1.0 + 1e-10)

    @cached_property
    def _spread(self) -> Array:
        return self._solve(Doubled.of(np.eye(self.columns))).round()
