"""Newton's method without the second derivative: products with it, and conjugate gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lineal.problem import EPS, Problem
from lineal.solver import Array, Solver, Step


@dataclass(frozen=True)
class NewtonCG(Solver):
    """``b <- b - t d`` with ``H d ~ g`` solved by preconditioned conjugate gradients, more exactly the closer we are."""

    rounds: int = 200
    name: ClassVar[str] = "newton-cg"

    def declines(self, problem: Problem) -> str | None:
        """Take every smooth problem."""
        return None

    def steps(self, problem: Problem, start: Array) -> Iterator[Step]:
        """Yield one step per Newton step."""
        view = problem.equilibrated()
        coef = view.outer_coef(start)
        here = view.problem.evaluate(coef)
        first = float(np.sqrt(np.sum(here.gradient**2)))
        while True:
            size = float(np.sqrt(np.sum(here.gradient**2)))
            forcing = min(0.3, (size / first) ** 0.5) if first > 0 else 0.0
            shift = self._solve(view.problem, coef, here.gradient, forcing)
            fall = float(np.sum(shift * here.gradient))
            passes = problem.passes + view.problem.passes
            yield Step(view.inner_coef(coef), here.value, 0.5 * abs(fall), passes, hint=view.inner_coef(shift))
            if not fall > 0.0:
                return
            step = 1.0
            for _ in range(40):
                trial = coef - step * shift
                there = view.problem.evaluate(trial)
                if there.value <= here.value - 1e-4 * step * fall:
                    break
                if fall <= 64 * EPS * abs(here.value) + here.error:
                    if np.sum(there.gradient**2) < 0.25 * np.sum(here.gradient**2):
                        break
                    return
                step *= 0.5
            else:
                return
            coef, here = trial, there

    def _solve(self, problem: Problem, coef: Array, gradient: Array, forcing: float) -> Array:
        """Return d with |H d - g| <= forcing |g|, by conjugate gradients preconditioned by the penalty and mean curvature."""
        moments, loss = problem.moments, problem.loss
        scale = problem.penalty.curvature() + 0.5 * loss.steepest * (moments.mean**2 + moments.sd**2)
        inverse = (1.0 / np.where(scale > 0.0, scale, 1.0))[:, None]
        solution = np.zeros_like(gradient)
        residual = gradient.copy()
        z = inverse * residual
        direction, rho = z, float(np.sum(residual * z))
        goal = forcing * forcing * rho
        for _ in range(self.rounds):
            if rho <= goal:
                break
            image = problem.curve(coef, direction)
            bend = float(np.sum(direction * image))
            if not bend > 0.0:
                break
            step = rho / bend
            solution = solution + step * direction
            residual = residual - step * image
            z = inverse * residual
            rho, before = float(np.sum(residual * z)), rho
            direction = z + (rho / before) * direction
        return solution if np.any(solution) else inverse * gradient
