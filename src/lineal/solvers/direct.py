"""Least squares and ridge in closed form: one pass, a Cholesky factor, and double-double where that is not enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from lineal.algebra import lapack
from lineal.algebra.cholesky import Cholesky, inverse_norm
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.problem.dependence import suspected
from lineal.problem.problem import EPS, Problem
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step, kinks

PRODUCTS_MAX_LOSS = 1e-10
"""The relative error of Cholesky up to which a gradient from products is as good as one from the rows."""

CHOLESKY_MAX_LOSS = 1e-13
"""The relative error of Cholesky that a small problem may have; beyond it the gram is made in double-double."""


@dataclass(frozen=True)
class Direct(Solver):
    """Solve ``(X'SX/S + D) b = X'S(y - offset)/S``, ``D`` the ridge penalty factors.

    The gram is made in double first. Where its condition leaves fewer than 13 digits of a small problem, or where a
    large one is ill-conditioned, it is made again in double-double: 32 digits, which the squared condition of any
    honest design does not use up, so that neither the solution nor its standard errors need a second method.
    """

    largest: int = 4000
    name: ClassVar[str] = "direct"
    words: ClassVar[str] = "squared loss with {columns} columns: one pass gives the normal equations"

    def declines(self, problem: Problem) -> str | None:
        """Decline what is not a quadratic with a gram of reasonable size."""
        if not problem.loss.quadratic:
            return f"the {problem.loss.name} loss has no closed form"
        if (reason := kinks(problem)) is not None:
            return reason
        if problem.shape[0] > self.largest:
            return f"{problem.shape[0]} columns need a gram that size squared; the limit is {self.largest}"
        return None

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Iterator[Step]:
        """Yield the solution, then refinements of it until rounding allows no more."""
        columns = np.arange(problem.shape[0])
        evaluation = problem.evaluate(start, hessian=problem.shape[0])
        factor = problem.factor(evaluation, columns)
        if factor.singular and (basis := suspected(problem, problem.unpenalized)) is not None:
            columns = np.setdiff1d(columns, basis.dependent)
            factor = problem.factor(evaluation, columns)
        if wants_digits(problem, factor.condition) and (normal := problem.normal) is not None:
            problem.ask_rows()
            coef = normal.solution
            value = problem.evaluate(coef).value
            yield Step(coef, value, normal.gap(coef), problem.passes, "normal equations in double-double")
            return
        if PRODUCTS_MAX_LOSS * factor.condition < EPS and PRODUCTS_MAX_LOSS * remaining(factor.parts[0]) < EPS:
            problem.ask_rows()
            evaluation = problem.evaluate(start, hessian=problem.shape[0])
        coef, last = start, np.inf
        while True:
            shift = factor.solve(evaluation.gradient)
            estimate = 0.5 * float(np.vdot(shift, evaluation.gradient))
            if coef is not start:
                yield Step(coef, evaluation.value, abs(estimate), problem.passes, "normal equations")
                if problem.products is not None:  # they proved too little: see what the rows say
                    problem.ask_rows()
                    evaluation = problem.evaluate(coef, hessian=problem.shape[0])
                    continue
                if not estimate < 0.01 * last or estimate <= EPS * EPS * abs(evaluation.value):
                    return
                last = estimate
            coef = coef - shift
            evaluation = problem.evaluate(coef, hessian=problem.shape[0])


def remaining(factor: Cholesky) -> float:
    """Return the reciprocal condition of what is left when the first column has been eliminated, made even again.

    Means make an intercept depend on the other columns without costing these any digits, but for what the smallest share
    says that elimination leaves of a column's square. Of a factor in parts the condition of the whole.
    """
    if type(factor) is not Cholesky or factor.singular or len(factor.scale) < 2:
        return factor.condition
    first = factor.upper[0, 1:]
    left = 1.0 - first**2
    if not np.all(left > 0.0):
        return factor.condition
    size, least = np.sqrt(left), float(left.min())

    def solve(right: Array) -> Array:
        """Multiply by the inverse of what is left, a block of the inverse of the whole."""
        whole, _ = lapack.dpotrs(factor.upper, np.concatenate([[0.0], size * right]), lower=0)
        return np.asarray(size * whole[1:])

    norm, some = 0.0, 64  # rows at a time: they stay in the cache
    for top in range(0, len(size), some):
        rest = np.outer(first[top : top + some], first)
        np.abs(np.subtract(factor.even[1 + top : 1 + top + some, 1:], rest, out=rest), out=rest)
        norm = max(norm, float(np.max(rest @ (1.0 / size) / size[top : top + some])))
    return least / (norm * inverse_norm(solve, len(size)))


def wants_digits(problem: Problem, condition: float) -> bool:
    """Whether double-double is worth its price: on small least-squares problems always, else where it is needed.

    ``condition`` is the reciprocal condition of the equilibrated gram; Cholesky loses about EPS / condition, and more
    in a coefficient that is small beside the others (the intercept of NIST's Norris has 12 digits at condition 0.3).
    """
    work = problem.moments.rows * problem.shape[0] ** 2
    loss = EPS / max(condition, EPS)
    exact = len(problem.unpenalized) == problem.shape[0]
    return loss > 1e-6 or (work <= 2e7 and (exact or loss > CHOLESKY_MAX_LOSS))
