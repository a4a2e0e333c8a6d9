"""What a proof says: how far coefficients are from the optimum, at most."""

from __future__ import annotations

from dataclasses import field

from lineal.algebra.basis import Basis
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.verdict import TOLERANCE
from lineal.problem.problem import EPS


def unit(score_error: float, baseline: float) -> float:
    """Return the gap that doubles cannot see: scores known to 32 of their rounding errors, slopes to 1024 EPS, squared.

    ``score_error`` is the sum of the squared rounding errors of a row's scores.
    """
    return 1024.0 * score_error + 8.0 * (1024 * EPS) ** 2 * abs(baseline)


@dataclass(frozen=True)
class Proof:
    """``F(coef) - F* <= gap``, or why nothing could be proven.

    ``interior`` is False where the scores would still have to move far: the sign of an optimum at infinity.
    """

    objective: float
    baseline_objective: float
    gap: float | None
    reason: str | None = None
    interior: bool = True
    basis: Basis | None = None
    unit: float = 0.0
    dust: float = 0.0
    """What cannot be told from nothing to gain: rounding errors of the baseline."""
    theta: Array | None = field(default=None, repr=False)

    @property
    def relative_gap(self) -> float | None:
        """The gap as a share of what the columns gain over the baseline; 0 where both are at rounding level."""
        if self.gap is None:
            return None
        gain = self.baseline_objective - (self.objective - self.gap)
        last_bit = EPS * abs(self.baseline_objective)
        # a gap that doubles cannot see counts as zero only up to a share of what there is to gain
        if self.gap <= self.unit and (self.gap <= TOLERANCE * gain or gain <= self.dust):
            return 0.0
        if self.gap <= last_bit and gain <= 16 * last_bit:
            return 0.0
        return self.gap / gain if gain > 0.0 else float("inf")

    def within(self, tol: float) -> bool:
        """Whether the gap is proven to be small enough."""
        return (relative := self.relative_gap) is not None and relative <= tol
