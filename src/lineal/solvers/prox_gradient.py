"""Proximal gradient descent in centred and scaled columns, with momentum that restarts when it overshoots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.problem import EPS, Evaluation, Problem
from lineal.problem.standardized import standardize
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step


@dataclass(frozen=True)
class ProxGradient(Solver):
    """``b <- prox(v - t g(v))``, ``g`` the gradient of the loss, ``v = b + momentum (b - the b before)``.

    ``step=None`` finds ``t`` by halving and cautious growth. A fixed ``step`` may be too small or too large: then F hardly
    falls, or rises until it is no longer finite, and the trace shows it. ``decay`` makes it ``t / (1 + decay * number)``.
    """

    step: float | None = None
    decay: float = 0.0
    momentum: bool = True
    name: ClassVar[str] = "prox-gradient"
    words: ClassVar[str] = "{size} coefficients: too many for a second derivative, so gradients and the penalty's prox"

    def __post_init__(self) -> None:
        if self.step is not None and not (np.isfinite(self.step) and self.step > 0.0):
            raise InputError(f"the step of proximal gradient is {self.step}; it must be a number above zero.")
        if not (np.isfinite(self.decay) and self.decay >= 0.0):
            raise InputError(f"the decay of proximal gradient is {self.decay}; it must be a number >= 0.")
        if self.decay and self.step is None:
            raise InputError("a decay needs a step to begin with; steps found by halving need none.")

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth loss."""
        return None if problem.loss.smooth else f"the {problem.loss.name} loss has kinks, where it has no slope"

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield one step per move; a step too large ends where F is no longer finite."""
        standardized = standardize(problem)
        inner, rest = standardized.problem, np.zeros(len(start))
        coef = inner.penalty.prox(standardized.outer_coef(start), rest)
        evaluation = ahead = inner.evaluate(coef)
        point, weight, size = coef, 1.0, 1.0 if self.step is None else self.step
        estimate, number = np.inf, 0
        while np.isfinite(evaluation.value):
            passes = problem.passes
            yield Step(standardized.inner_coef(coef), evaluation.value, estimate, passes, f"step size {size:.3g}")
            if self.step is not None:
                size = self.step / (1.0 + self.decay * number)
            number += 1
            move = self._move(inner, point, ahead, size)
            if move is None:
                return
            trial, trial_evaluation, size = move
            estimate = float(np.sum((trial - point) ** 2)) / size
            if estimate == 0.0 and point is coef:
                return
            if self.momentum and point is not coef and np.sum((point - trial) * (trial - coef)) > 0.0:
                # It overshoots: drop what was gathered, and go on from the better of both points.
                if trial_evaluation.value <= evaluation.value:
                    coef, evaluation = trial, trial_evaluation
                point, ahead, weight = coef, evaluation, 1.0
                continue
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * weight * weight))
            share = (weight - 1.0) / following if self.momentum else 0.0
            point = trial if share == 0.0 else inner.penalty.prox(trial + share * (trial - coef), rest)
            coef, evaluation, weight = trial, trial_evaluation, following
            ahead = evaluation if share == 0.0 else inner.evaluate(point)
            size = size if self.step is not None else 1.2 * size
        yield Step(standardized.inner_coef(coef), evaluation.value, np.inf, problem.passes, "diverged")

    def _move(
        self, problem: Problem, point: Array, evaluation: Evaluation, size: float
    ) -> tuple[Array, Evaluation, float] | None:
        """Return prox(point - size gradient), F there and the size: halved until the loss stays below its parabola."""
        penalty = problem.penalty
        gradient = evaluation.gradient - penalty.gradient(point)
        value = evaluation.value - penalty.value(point)
        for _ in range(60):
            trial = penalty.prox(point - size * gradient, np.full(len(point), size))
            trial_evaluation = problem.evaluate(trial)
            if self.step is not None:
                return trial, trial_evaluation, size
            move = trial - point
            bound = value + float(np.sum(gradient * move)) + float(np.sum(move**2)) / (2.0 * size)
            if trial_evaluation.value - penalty.value(trial) <= bound + 16 * EPS * abs(value) + evaluation.error:
                return trial, trial_evaluation, size
            size *= 0.5
        return None
