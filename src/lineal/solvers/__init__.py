"""The solvers lineal knows, one file each, and the short list that chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from lineal.errors import InputError, near
from lineal.problem.problem import Problem
from lineal.solvers.columns import stored
from lineal.solvers.coordinate import Coordinate
from lineal.solvers.direct import Direct
from lineal.solvers.dual_ascent import DualAscent
from lineal.solvers.gradient_descent import GradientDescent
from lineal.solvers.interior_point import InteriorPoint
from lineal.solvers.mixed_precision import Refined, refines
from lineal.solvers.newton import Newton
from lineal.solvers.newton_cg import NewtonCG
from lineal.solvers.prox_gradient import ProxGradient
from lineal.solvers.prox_newton import ProxNewton
from lineal.solvers.quasi_newton import QuasiNewton
from lineal.solvers.sampled_newton import SampledNewton
from lineal.solvers.solver import Solver
from lineal.solvers.stochastic import Stochastic

EPOCHS: Final = 1000
"""So often sgd visits every row unless it is told otherwise: it comes near an optimum, and rarely to it."""

BY_NAME: Final[Mapping[str, Callable[[], Solver]]] = {
    "direct": Direct,
    "refined": Refined,
    "newton": Newton,
    "newton-cg": NewtonCG,
    "sampled-newton": SampledNewton,
    "prox-newton": ProxNewton,
    "quasi-newton": QuasiNewton,
    "gradient-descent": GradientDescent,
    "coordinate": Coordinate,
    "prox-gradient": ProxGradient,
    "interior-point": InteriorPoint,
    "dual-ascent": DualAscent,
    "saga": partial(Stochastic, "saga"),
    "sgd": partial(Stochastic, "sgd", schedule="adaptive", patience=5, epochs=EPOCHS),
    "mini-batch": partial(Stochastic, "sgd", batch=32, schedule="adaptive", patience=5, epochs=EPOCHS),
}
"""Every solver by the name a user gives it."""

NEWTON_COLUMNS: Final = 300
"""Up to this many columns a whole second derivative is cheaper than products with it (measured: even at about 300)."""

NEWTON_COUPLED: Final = 150
"""The same for coefficients of a loss that couples its outputs, whose second derivative has outputs^2 blocks."""

FACTOR_COST: Final = 1000
"""With more than this many columns^3 per stored entry, factoring a gram to precondition products costs more than it saves.

Measured (benchmark sq-hinge): 2000 rows of 46 words, 1000 columns, takes 98 ms with the gram and 15 ms with its diagonal.
"""

GRAM_COLUMNS: Final = 500
"""Up to this many columns, twenty weighted grams are cheaper than a few hundred visits of every row."""

__all__ = [
    "BY_NAME",
    "Coordinate",
    "Direct",
    "DualAscent",
    "GradientDescent",
    "InteriorPoint",
    "Newton",
    "NewtonCG",
    "ProxGradient",
    "ProxNewton",
    "QuasiNewton",
    "Refined",
    "SampledNewton",
    "Stochastic",
    "choose",
    "named",
    "refines",
]


DIRECT: Final = Direct()


def closed_form(columns: int) -> str:
    """Return why a quadratic is solved directly."""
    return f"squared loss with {columns} columns: one pass gives the normal equations"


def whole_second_derivative(size: int) -> str:
    """Return why Newton's method is taken."""
    return f"{size} coefficients: few enough for the whole second derivative"


def choose(problem: Problem) -> tuple[Solver, str]:
    """Return the solver for a problem and the reason, in words.

    The list is ordered; the first that fits is taken.
    """
    columns, outputs = problem.shape
    if not problem.loss.smooth:
        return _with_corners(problem)
    if not problem.penalty.smooth:
        return _kinked(problem)
    if problem.loss.quadratic and DIRECT.declines(problem) is None:
        if not problem.shared and refines(problem.source, problem.loss, problem.penalty):
            return (
                Refined(),
                f"ridge with {columns} dense columns: normal equations in single precision, corrected from the rows",
            )
        return DIRECT, closed_form(columns)
    size = columns * outputs
    if size <= (NEWTON_COUPLED if problem.loss.coupled else NEWTON_COLUMNS) and Newton().declines(problem) is None:
        return Newton(), whole_second_derivative(size)
    if SampledNewton().declines(problem) is None and not _thin(problem):
        reason = f"{size} coefficients: the whole second derivative of a sample of the rows, gradients of all of them"
        return SampledNewton(), reason
    reason = f"{size} coefficients: too many for the whole second derivative, so only products with it"
    return (NewtonCG(gram=0) if _thin(problem) else NewtonCG()), reason


def _thin(problem: Problem) -> bool:
    """Whether the rows are in memory and store so little that a gram of their columns is dear."""
    if not problem.source.resident:
        return False
    entries = sum(stored(block.design) for block in problem.source.blocks())
    return problem.shape[0] ** 3 > FACTOR_COST * entries


def _with_corners(problem: Problem) -> tuple[Solver, str]:
    """Return the solver for a loss that is not smooth."""
    columns, loss = problem.shape[0], problem.loss.name
    inner, row_wise = InteriorPoint().declines(problem), DualAscent().declines(problem)
    if row_wise is None and (inner is not None or columns * problem.shape[1] > GRAM_COLUMNS):
        return DualAscent(), f"{loss} loss with ridge and {columns} columns: one row at a time in the dual"
    if inner is None:
        return InteriorPoint(), f"{loss} loss is piecewise linear: one weighted gram per interior point"
    if problem.penalty.name == "group":
        raise InputError(
            f"no solver minimises {loss} loss with a group penalty; choose l1, elastic or ridge, or a loss without corners "
            "such as softmax or sparsemax."
        )
    raise InputError(f"no solver minimises {loss} loss here: by interior point, {inner}; by dual ascent, {row_wise}.")


def _kinked(problem: Problem) -> tuple[Solver, str]:
    """Choose for a penalty with kinks or bounds."""
    size, few = problem.shape[0] * problem.shape[1], NEWTON_COUPLED if problem.loss.coupled else NEWTON_COLUMNS
    model = "few enough for the whole second derivative, with the penalty as it is"
    if size <= few and ProxNewton().declines(problem) is None:
        return ProxNewton(), f"{size} coefficients: {model}"
    if Coordinate().declines(problem) is None:
        return Coordinate(), f"{size} coefficients, rows in memory: working sets of the columns that matter"
    if ProxNewton().declines(problem) is None:
        return ProxNewton(), f"{size} coefficients, rows that stream: {model}"
    return ProxGradient(), f"{size} coefficients: too many for a second derivative, so gradients and the penalty's prox"


def named(solver: Solver | str, problem: Problem) -> tuple[Solver, str]:
    """Return the solver that is asked for, and why; refuse one that cannot treat the problem."""
    if isinstance(solver, Solver):
        chosen, reason = solver, "asked for"
    elif solver == "auto":
        return choose(problem)
    elif solver in BY_NAME:
        chosen, reason = BY_NAME[solver](), "asked for"
    else:
        raise InputError(f"unknown solver {solver!r}; choose one of auto, {', '.join(BY_NAME)}.{near(solver, BY_NAME)}")
    refusal = chosen.declines(problem)
    if refusal is None and not (problem.loss.smooth or chosen.corners):
        refusal = f"it follows slopes, and the {problem.loss.name} loss has corners"
    if refusal is not None:
        raise InputError(f"the solver {chosen.name!r} cannot be used here: {refusal}.")
    return chosen, reason
