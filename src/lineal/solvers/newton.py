"""Newton's method with the whole second derivative, warmed up on nested subsamples of large tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lineal.problem import EPS, Evaluation, Problem
from lineal.solver import Array, Solver, Step


@dataclass(frozen=True)
class Newton(Solver):
    """``b <- b - t H^-1 g`` with ``g``, ``H`` the first and second derivative of F and ``t`` by halving.

    A table much longer than it is wide is first looked at through one row in ``g``, then one in ``g/8``, ...:
    the full passes that remain start close to the optimum.
    """

    largest: int = 4000
    name: ClassVar[str] = "newton"

    def declines(self, problem: Problem) -> str | None:
        """Decline where the second derivative would not fit."""
        size = problem.shape[0] * problem.shape[1]
        if size > self.largest:
            return f"{size} coefficients need a second derivative of {size} x {size}; the limit is {self.largest}"
        return None

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per full evaluation."""
        coef = start
        for sample in _samples(problem):
            coef = _descend(problem, coef, sample)
        columns = np.arange(problem.shape[0])
        here = problem.evaluate(coef, hessian=len(columns))
        while True:
            shift = problem.factor(here, columns).solve(here.gradient)
            estimate = 0.5 * float(np.sum(shift * here.gradient))
            yield Step(coef, here.value, abs(estimate), problem.passes)
            found = search(problem, coef, here, shift, estimate)
            if found is None:
                return
            coef, here = found


def search(
    problem: Problem, coef: Array, here: Evaluation, shift: Array, estimate: float, sample: int = 1
) -> tuple[Array, Evaluation] | None:
    """Return the first of b - shift, b - shift/2, ... that lowers F enough, or None where rounding hides any descent."""
    size = problem.shape[0]
    step = 1.0
    for _ in range(40):
        trial = coef - step * shift
        there = problem.evaluate(trial, hessian=size, sample=sample)
        if there.value <= here.value - 2e-4 * step * estimate and not np.array_equal(trial, coef):
            return trial, there
        # Close to the optimum the fall of F drowns in rounding; then the gradient tells whether the step was good.
        if estimate <= 64 * EPS * abs(here.value) + here.error:
            smaller = np.sum(shift * there.gradient) ** 2 < 0.25 * np.sum(shift * here.gradient) ** 2
            return (trial, there) if smaller else None
        step *= 0.5
    return None


def _samples(problem: Problem) -> list[int]:
    """Return the subsampling rates to pass through before all rows are looked at."""
    enough = max(20 * problem.shape[0] * problem.shape[1], 10_000)
    rate, rates = problem.moments.rows // enough, []
    while rate >= 4:
        rates.append(rate)
        rate //= 8
    return rates


def _descend(problem: Problem, coef: Array, sample: int) -> Array:
    """Return a rough minimiser over a subsample; a subsample without one is left at once."""
    columns = np.arange(problem.shape[0])
    here = problem.evaluate(coef, hessian=len(columns), sample=sample)
    first = here.value
    for _ in range(12):
        factor = problem.factor(here, columns)
        if factor.singular:
            return coef
        shift = factor.solve(here.gradient)
        estimate = 0.5 * float(np.sum(shift * here.gradient))
        # The subsample's own optimum is off by about coefficients / rows: no use in going closer.
        if estimate <= 0.05 * columns.size * problem.shape[1] * sample / problem.moments.rows:
            return np.asarray(coef - shift)
        found = search(problem, coef, here, shift, estimate, sample)
        if found is None or found[1].value < 0.01 * first:
            return coef
        coef, here = found
    return coef
