"""Gradient descent: as the textbook writes it for a given step, in centred and scaled columns where the step is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import numpy as np

from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import Problem
from lineal.problem.standardized import standardize
from lineal.solvers.picks import Picker
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step, kinks
from lineal.solvers.stable_step import too_long

ORDERS = ("drawn", "shuffled", "given")
"""How rows are picked: with replacement, every row once in an epoch, in the order of the table."""


@dataclass(frozen=True)
class GradientDescent(Solver):
    """``b <- b - t_k g``, g the gradient of F, or of ``batch`` picked rows and the penalty.

    A given ``step`` is the textbook's: from zero, in the columns as they are, ``t_k = step / (1 + decay k)^power`` for
    k = 0, 1, ...; several numbers are the first steps one after another, the last of which stays. Without one, t is found
    by halving and cautious growth in ``scaled`` columns. ``batch`` rows are picked by ``order``: drawn with replacement,
    shuffled anew in every epoch, or as given; 1 is stochastic gradient descent.
    """

    step: float | tuple[float, ...] | None = None
    decay: float = 0.0
    power: float = 1.0
    batch: int | None = None
    order: Literal["drawn", "shuffled", "given"] = "drawn"
    seed: int = 0
    scaled: bool | None = None
    name: ClassVar[str] = "gradient-descent"

    def __post_init__(self) -> None:
        sizes = self._sizes
        if not all(np.isfinite(size) and size > 0.0 for size in sizes) or (self.step is not None and not sizes):
            raise InputError(f"the step of gradient descent is {self.step}; it must be a number above zero.")
        if not (np.isfinite(self.decay) and self.decay >= 0.0):
            raise InputError(f"the decay of gradient descent is {self.decay}; it must be a number >= 0.")
        if not (np.isfinite(self.power) and self.power > 0.0):
            raise InputError(f"the power of gradient descent is {self.power}; it must be a number above zero.")
        if self.decay and self.step is None:
            raise InputError("a decay needs a step to begin with; steps found by halving need none.")
        if self.decay and len(sizes) > 1:
            raise InputError("a decay is for one step; several numbers say themselves how the steps shrink.")
        if self.power != 1.0 and not self.decay:
            raise InputError("a power has no effect without a decay: steps are step / (1 + decay k)^power.")
        self._check_picks()

    def _check_picks(self) -> None:
        """Refuse a batch that cannot be picked, and options of picking without one."""
        if self.order not in ORDERS:
            hint = near(str(self.order), ORDERS)
            raise InputError(
                f"the order of gradient descent is {self.order!r}; accepted are {', '.join(ORDERS)}.{hint}"
            )
        if self.batch is None:
            if self.order != "drawn" or self.seed:
                raise InputError("an order or a seed has no effect on descent over all rows; give a batch, such as 1.")
            return
        if self.batch < 1:
            raise InputError(f"the batch is {self.batch}; it must be a whole number of at least 1.")
        if self.order == "given" and self.seed:
            raise InputError("a seed has no effect on rows in their given order; leave it out.")
        if self.step is None or not self.literal:
            raise InputError("steps by picked rows need a step, and are taken in the columns as they are; give step=.")

    @property
    def _sizes(self) -> tuple[float, ...]:
        """The given steps."""
        if self.step is None:
            return ()
        return tuple(self.step) if isinstance(self.step, Sequence) else (self.step,)

    @property
    def literal(self) -> bool:  # type: ignore[override]
        """Whether it is the textbook's: where a step is given, unless columns are to be scaled."""
        return self.step is not None if self.scaled is None else not self.scaled

    def at(self, number: int) -> float:
        """Return the given step after ``number`` steps.

        >>> GradientDescent(step=1.0, decay=1.0, power=0.5).at(3), GradientDescent(step=(2.0, 0.5)).at(7)
        (0.5, 0.5)
        """
        sizes = self._sizes
        return float(sizes[min(number, len(sizes) - 1)] / (1.0 + self.decay * number) ** self.power)

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem."""
        return kinks(problem)

    def diverged(self, problem: Problem, objectives: Sequence[float]) -> str:
        """Say it of the textbook's steps where they were too long, with the longest that is proven to descend."""
        if self.step is None or not self.literal or not objectives:
            return ""
        return too_long(problem, objectives, max(self._sizes), by_row=self.batch is not None)

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per move; a step too large ends where F is no longer finite."""
        standardized = None if self.literal else standardize(problem)
        inner = problem if standardized is None else standardized.problem
        picker = None if self.batch is None else Picker.of(problem, self.batch, self.order, self.seed)
        coef = start if standardized is None else standardized.outer_coef(start)
        step, number = 1.0 if self.step is None else self.at(0), 0
        picked: tuple[int, ...] = ()
        evaluation = inner.evaluate(coef)
        while True:
            square = float(np.sum(evaluation.gradient**2))
            passes = problem.passes
            outer = coef if standardized is None else standardized.inner_coef(coef)
            if not np.isfinite(evaluation.value):
                break
            yield Step(outer, evaluation.value, 0.5 * step * square, passes, f"step size {step:.3g}", rows=picked)
            if square == 0.0 and picker is None:
                return
            for _ in range(60):
                gradient, picked = (evaluation.gradient, ()) if picker is None else picker.gradient(coef, number)
                trial = coef - step * gradient
                trial_evaluation = inner.evaluate(trial)
                if self.step is not None or trial_evaluation.value <= evaluation.value - 0.5 * step * square:
                    break
                step *= 0.5
            else:
                return
            coef, evaluation, number = trial, trial_evaluation, number + 1
            step = 1.5 * step if self.step is None else self.at(number)
        # Divergence is an outcome like any other: the trace ends with it.
        yield Step(outer, evaluation.value, np.inf, passes, "diverged", rows=picked)
