"""The solvers lineal knows, one file each, and the short list that chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from lineal.errors import InputError, near
from lineal.problem.problem import Problem
from lineal.solvers.conjugate_gradient import ConjugateGradient
from lineal.solvers.coordinate import Coordinate
from lineal.solvers.direct import Direct
from lineal.solvers.dual_ascent import DualAscent
from lineal.solvers.gradient_descent import GradientDescent
from lineal.solvers.interior_point import InteriorPoint
from lineal.solvers.mixed_precision import MixedPrecision, refines
from lineal.solvers.newton import NEWTON_MAX_COEFFICIENTS, Newton, affordable
from lineal.solvers.newton_cg import NewtonCG
from lineal.solvers.prox_gradient import ProxGradient
from lineal.solvers.prox_newton import ProxNewton
from lineal.solvers.quasi_newton import QuasiNewton
from lineal.solvers.sampled_newton import SampledNewton
from lineal.solvers.solver import Solver
from lineal.solvers.stochastic import Stochastic

ALL: Final[tuple[type[Solver], ...]] = (
    Direct,
    MixedPrecision,
    Newton,
    NewtonCG,
    SampledNewton,
    ProxNewton,
    QuasiNewton,
    ConjugateGradient,
    GradientDescent,
    Coordinate,
    ProxGradient,
    InteriorPoint,
    DualAscent,
    Stochastic,
)
"""Every solver."""

ELSEWHERE: Final = {
    "lbfgs": "quasi-newton", "bfgs": "quasi-newton", "cg": "conjugate-gradient", "gd": "gradient-descent",
    "irls": "newton", "newtoncholesky": "newton", "sag": "saga", "minibatch": "mini-batch", "liblinear": "coordinate",
}  # fmt: skip
"""What solvers are called elsewhere, without hyphens."""
BY_NAME: Final[Mapping[str, Callable[..., Solver]]] = {
    name: partial(kind, **options) for kind in ALL for name, options in kind.spellings().items()
}
"""Every solver by the name a user gives it."""

__all__ = [
    "ALL",
    "BY_NAME",
    "NEWTON_MAX_COEFFICIENTS",
    "ConjugateGradient",
    "Coordinate",
    "Direct",
    "DualAscent",
    "GradientDescent",
    "InteriorPoint",
    "MixedPrecision",
    "Newton",
    "NewtonCG",
    "ProxGradient",
    "ProxNewton",
    "QuasiNewton",
    "SampledNewton",
    "Stochastic",
    "choose",
    "named",
    "refines",
]


def choose(problem: Problem) -> tuple[Solver, str]:
    """Return the solver for a problem and the reason, in words.

    The list is ordered; the first that fits is taken.
    """
    solver = _chosen(problem)
    return solver, solver.reason(problem)


def _chosen(problem: Problem) -> Solver:
    if not problem.loss.smooth:
        return _with_corners(problem)
    if not problem.penalty.smooth:
        return _kinked(problem)
    if problem.loss.quadratic and Direct().refuses(problem) is None:
        fast = not problem.shared and refines(problem.source, problem.loss, problem.penalty)
        return MixedPrecision() if fast else Direct()
    if affordable(problem) and Newton().refuses(problem) is None:
        return Newton()
    thin = _thin(problem)
    if not thin and SampledNewton().refuses(problem) is None:
        return SampledNewton()
    return NewtonCG(gram=0) if thin else NewtonCG()


def _thin(problem: Problem) -> bool:
    """Whether the rows are in memory and store so few entries that factoring the gram of their columns dominates.

    Measured (benchmark sq-hinge): 2000 rows of 46 words, 1000 columns, take 98 ms preconditioned with the gram and
    15 ms with its diagonal.
    """
    if not problem.source.resident:
        return False
    entries = sum(block.design.entries for block in problem.source.held())
    return problem.shape[0] ** 3 > 1000 * entries


def _with_corners(problem: Problem) -> Solver:
    """Return the solver for a loss that is not smooth."""
    loss, size = problem.loss.name, problem.shape[0] * problem.shape[1]
    inner, row_wise = InteriorPoint().refuses(problem), DualAscent().refuses(problem)
    # Up to 500 coefficients, twenty weighted grams are cheaper than a few hundred visits of every row.
    if inner is None and (size <= 500 or row_wise is not None):
        return InteriorPoint()
    if row_wise is None:
        return DualAscent()
    if problem.penalty.grouped:
        raise InputError(
            f"no solver minimises {loss} loss with a group penalty; choose l1, elastic or ridge, or a loss without corners "
            "such as softmax or sparsemax."
        )
    raise InputError(f"no solver minimises {loss} loss here: by interior point, {inner}; by dual ascent, {row_wise}.")


def _kinked(problem: Problem) -> Solver:
    """Return the solver for a penalty with kinks or bounds."""
    prox_newton_fits = ProxNewton().refuses(problem) is None
    if prox_newton_fits and affordable(problem):
        return ProxNewton()
    if Coordinate().refuses(problem) is None:
        return Coordinate()
    return ProxNewton() if prox_newton_fits else ProxGradient()


def unknown(name: str) -> str:
    """Return the sentence about a solver that does not exist; some go by another name elsewhere.

    >>> unknown("lbfgs").rpartition(". ")[2]
    "Did you mean 'quasi-newton'?"
    """
    word = ELSEWHERE.get(name.lower().replace("-", ""), name)
    return f"unknown solver {name!r}; choose one of auto, {', '.join(BY_NAME)}.{near(word, BY_NAME)}"


def named(solver: Solver | str, problem: Problem) -> tuple[Solver, str]:
    """Return the solver that is asked for, and why; refuse one that cannot treat the problem."""
    if isinstance(solver, Solver):
        chosen, reason = solver, "asked for"
    elif solver == "auto":
        return choose(problem)
    elif solver in BY_NAME:
        chosen, reason = BY_NAME[solver](), "asked for"
    else:
        raise InputError(unknown(solver))
    refusal = chosen.refuses(problem)
    if refusal is not None:
        raise InputError(f"the solver {chosen.name!r} cannot be used here: {refusal}.")
    return chosen, reason
