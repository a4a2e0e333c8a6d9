"""What coefficients cost in scikit-learn's words: its alpha, C and l1_ratio as a penalty of F.

F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b),        S = sum_i s_i
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lineal.ground.arrays import Array
from lineal.penalties import L1, Bounds, ElasticNet, NoPenalty, Ridge
from lineal.penalties.penalty import Penalty

PenaltyMaker = Callable[[float, Array], Penalty]
"""From the sum of weights and the penalty factors (1 for every column, 0 for the intercept) to the penalty of F."""


def penalty_maker(strength: Callable[[float], float], l1_ratio: float = 0.0, *, positive: bool = False) -> PenaltyMaker:
    """Return ``strength (l1_ratio |b|_1 + (1 - l1_ratio) / 2 |b|^2)``, b not negative if ``positive``.

    ``strength`` is the dialect: it turns the sum of weights into the strength of F.

    >>> penalty = penalty_maker(lambda weight_sum: 1.0 / weight_sum, 1.0)(10.0, np.array([0.0, 1.0]))
    >>> penalty.name, penalty.value(np.array([[7.0], [-2.0]]))
    ('l1', 0.2)
    """

    def penalty(weight_sum: float, penalty_factors: Array) -> Penalty:
        made = _plain(strength(weight_sum), l1_ratio, penalty_factors)
        if not positive:
            return made
        return Bounds(np.where(penalty_factors > 0.0, 0.0, -np.inf), np.full(len(penalty_factors), np.inf), made)

    return penalty


def _plain(strength: float, l1_ratio: float, penalty_factors: Array) -> Penalty:
    if strength == 0.0:
        return NoPenalty(len(penalty_factors))
    if l1_ratio == 0.0:
        return Ridge(strength, penalty_factors)
    return L1(strength, penalty_factors) if l1_ratio == 1.0 else ElasticNet(strength, l1_ratio, penalty_factors)
