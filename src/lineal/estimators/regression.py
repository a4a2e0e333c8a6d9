"""What the regressors share: numbers as targets, one or several, and predictions with the shape of y."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from lineal.estimators.bases import RegressorMixin
from lineal.estimators.fitted import Fitted
from lineal.estimators.intake import features_and_target, numbers, weights
from lineal.estimators.penalty_maker import PenaltyMaker
from lineal.fitting import fitting
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, shared
from lineal.ground.inputs import real
from lineal.losses import Squared
from lineal.losses.loss import Loss
from lineal.model.target import Target
from lineal.penalties.penalty import Penalty
from lineal.solvers.solver import Solver
from lineal.sources.memory import Memory


class Regressor(RegressorMixin, Fitted):
    """A regressor: squared loss of one target or several, or another loss of one."""

    _keeps_column: ClassVar[bool] = True
    """Whether one target in a column, (n, 1), gives predictions in a column; in scikit-learn it does but for Ridge and Lasso."""

    def _regress(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        offset: Any,
        *,
        penalty: PenaltyMaker,
        intercept: bool,
        tol: float,
        loss: Loss | None = None,
        solver: Solver | str = "auto",
        max_iter: int | None = None,
        warm_start: bool = False,
    ) -> Self:
        """Fit, and note coefficients in the shape of y; ``loss`` is squared unless given."""
        X, y = features_and_target(self, X, y, numeric=True, several=loss is None)
        values = numbers(y)
        several = y.ndim == 2 and (self._keeps_column or y.shape[1] > 1)
        coef = self._solve(
            X,
            values,
            weights(sample_weight, X),
            offset,
            loss=Squared(values.shape[1]) if loss is None else loss,
            penalty=penalty,
            target=target_of(values.shape[1] if several else None),
            intercept=intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            start=self._before(values.shape[1], intercept=intercept) if warm_start else None,
        )
        self._spread(coef, intercept=intercept, several=several, column=y.ndim == 2)
        return self

    def _spread(self, coef: Array, *, intercept: bool, several: bool = False, column: bool = False) -> None:
        """Note coefficients and intercept: arrays for several targets, an intercept in an array if y is a column."""
        slopes = self._rounded(coef[int(intercept) :].T.copy())
        self.coef_ = slopes if several else slopes[0]
        self.intercept_ = 0.0
        if intercept:
            self.intercept_ = self._rounded(coef[0].copy() if column else coef[0, 0])  # (a numpy scalar, as there)

    def predict(self, X: Any, *, offset: Any = None) -> Array:
        """Return ``X coef_ + intercept_ (+ offset)`` for every row."""
        eta = self._scores(X, offset)
        return eta if self.coef_.ndim == 2 else eta[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the share of y's variance that the predictions explain; where their squares overflow, -inf."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(super().score(X, y if y is None else real(y, "y"), sample_weight))


def per_target(
    source: Memory, penalties: Sequence[Penalty], *, tol: float, deadline: Deadline | None,
    solver: Solver | str = "auto", max_iter: int | None = None,
) -> list[Fit]:  # fmt: skip
    """Return a least squares fit of every target with a penalty of its own."""
    block, fits = source.block, []
    for k, penalty in enumerate(penalties):
        shift = None if block.offset is None else np.ascontiguousarray(block.offset[:, k : k + 1])
        target = np.ascontiguousarray(block.y[:, k : k + 1])
        own = Memory(block.design, target, weight=block.weight, offset=shift, columns=source.columns)
        fits.append(
            fitting.fit(
                own,
                Squared(1),
                penalty,
                solver=solver,
                tol=tol,
                max_iter=max_iter,
                time_limit=shared(deadline, len(penalties) - k),
                keep=True,
            )
        )
    return fits


@lru_cache(maxsize=16)
def target_of(several: int | None) -> Target:
    """Return a number as the target, or several of them.

    >>> target_of(2).names
    ('y0', 'y1')
    """
    return Target("y", "number", names=None if several is None else tuple(f"y{k}" for k in range(several)))
