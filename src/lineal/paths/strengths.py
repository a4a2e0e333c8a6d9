"""Regularisation paths: one fit for each of many strengths, from the strongest down, each with its own verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from lineal.certify import Proof
from lineal.certify.baseline import baseline_fit
from lineal.certify.wording import judge
from lineal.errors import InputError
from lineal.fitting.fitting import solve
from lineal.ground.arrays import Array
from lineal.ground.deadline import LATE, Deadline, Limit, beforehand, in_time
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.tabled import Grid, Tabled
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.paths.lookahead import Lookahead
from lineal.paths.point import Point
from lineal.paths.squares import Squares
from lineal.penalties.penalty import Penalty
from lineal.problem.blas import one_thread
from lineal.problem.frame import CENTER_KEPT_SDS, centered
from lineal.problem.moments import Moments
from lineal.problem.problem import Problem
from lineal.solvers.solver import Solver
from lineal.sources.source import Source


@dataclass(frozen=True)
class Path(Tabled):
    """The points of a path, strongest first, and the smallest strength for which nothing penalized is used."""

    points: tuple[Point, ...]
    critical: float
    reached: int
    """How many of the points there was time for; all, where no time limit is given. The others are not to be compared."""
    center: Array | None = None
    """What is taken off the columns before coefficients are applied, ``eta = (X - center) coef``; mostly None."""
    columns: tuple[str, ...] = ()
    """The names of the columns, the intercept first where there is one."""

    picture = "path"

    @property
    def strengths(self) -> Array:
        """The strength of every point."""
        return np.array([point.strength for point in self.points])

    @property
    def coef(self) -> Array:
        """Coefficients, shape ``(points, columns, outputs)``."""
        return np.stack([point.coef for point in self.points])

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """The verdict of every point."""
        return tuple(point.verdict for point in self.points)

    @property
    def headline(self) -> str:
        """How many strengths there are, and where nothing is used any more."""
        return f"{len(self.points)} strengths; from {self.critical:.5g} on nothing penalized is used"

    def grids(self) -> list[Grid]:
        """Return the points: strength, how many coefficients are not zero, verdict."""
        lines = [
            (point.verdict.kind, f"{point.strength:.5g}", str(int(np.count_nonzero(point.coef.any(axis=1)))))
            for point in self.points
        ]
        return [Grid((("verdict", "strength", "nonzero"), *lines))]


def path(
    source: Source,
    loss: Loss,
    penalty: Penalty,
    strengths: Sequence[float] | Array | int = 100,
    *,
    ratio: float = 1e-3,
    solver: Solver | str = "auto",
    tol: float = TOLERANCE,
    max_iter: int | None = None,
    time_limit: Limit = None,
    moments: Moments | None = None,
    labels: Sequence[str] | None = None,
    progress: Callable[[Point], None] | None = None,
    keep: bool = False,
) -> Path:
    """Fit a penalty at many strengths, each fit started from the one before, and prove every one of them.

    ``strengths`` are numbers, or how many of them to take from the critical strength, where nothing penalized is used, down
    to ``ratio`` times it (evenly in the logarithm). The strength that ``penalty`` has itself does not matter.
    ``max_iter`` limits the steps of every fit. The points that ``time_limit`` leaves no time for are not fitted: they have
    the coefficients of the last point that was, and the verdict ``budget``. ``keep`` says that the caller can predict about a
    ``center``: columns are fitted less one where they are so far from zero that coefficients would have too few digits.

    >>> from lineal.designs import as_design
    >>> from lineal.losses import Squared
    >>> from lineal.penalties import L1
    >>> from lineal.sources.memory import Memory
    >>> x, y = np.array([[1.0, 2.0], [2.0, -1.0], [3.0, 0.5]]), np.array([1.0, 2.0, 3.5])
    >>> walked = path(Memory(as_design(x), y), Squared(1), L1(1.0, np.array([0.0, 1.0, 1.0])), 3, ratio=0.01)
    >>> [point.used for point in walked.points]
    [1, 2, 3]
    """
    deadline = Deadline.of(time_limit)
    with one_thread(source, loss.outputs):
        problem = beforehand(deadline, lambda: Problem.of(source, loss, penalty.at(1.0), moments))
        frame = centered(problem, CENTER_KEPT_SDS, exact=True) if keep else None
        problem = problem if frame is None else frame.problem
        base = baseline_fit(problem)
        together = solver == "auto" and max_iter is None
        stretches = _by_stretches(problem, penalty, tol, labels) if together else None
        critical = critical_strength(problem.at(penalty.at(1.0)), None if stretches is None else stretches.origin)
        grid = _grid(strengths, critical, ratio, penalty)
        points: list[Point] = []
        reached = len(grid)

        def solve_stretches() -> None:
            for point in () if stretches is None else stretches.points(grid):
                _add(points, point, progress)

        in_time(deadline, solve_stretches, lambda: None)
        for strength in grid[len(points) :].tolist():
            problem_at = problem.at(penalty.at(strength))
            last = points[-1] if points else None
            fitted = None
            if deadline is None or not deadline.passed:
                start = base.coef if last is None else last.coef
                fitted = solve(
                    problem_at,
                    solver=solver,
                    start=start,
                    tol=tol,
                    max_iter=max_iter,
                    time_limit=deadline,
                    labels=labels,
                )
            if fitted is None or (deadline is not None and fitted.verdict.kind == "budget" and deadline.passed):
                reached = min(reached, len(points))
            if fitted is None or math.isnan(fitted.objective):  # no step was taken
                _add(points, _unreached(problem_at, strength, last, tol), progress)
            else:
                _add(points, Point(strength, fitted.coef, fitted.objective, fitted.verdict, fitted.steps), progress)
    return Path(tuple(points), critical, reached, None if frame is None else frame.center, tuple(source.columns))


def critical_strength(problem: Problem, slopes: Array | None = None) -> float:
    """Return the least strength at which every penalized coefficient is zero; infinite where there is none.

    ``slopes`` is the gradient of the loss at the null fit, where it is known.
    """
    if slopes is None:
        coef = baseline_fit(problem).coef
        slopes = problem.evaluate(coef, hessian=problem.lead).gradient - problem.penalty.gradient(coef)
    return problem.penalty.at(1.0).critical(slopes)


def _unreached(problem: Problem, strength: float, last: Point | None, tol: float) -> Point:
    """Return the point of a strength that there was no time for: the coefficients before it, with what it costs them."""
    if last is None:
        coef, objective = baseline_fit(problem).coef, baseline_fit(problem).value
    else:
        coef, objective = last.coef, last.objective
        objective += problem.penalty.value(coef) - problem.penalty.at(last.strength).value(coef)
    reason = "nothing was fitted at this strength, whose coefficients are the last ones that were found"
    proof = Proof(objective, math.nan, None, reason=reason)
    return Point(strength, coef, objective, judge(problem, objective, proof, tol, LATE, None)[0])


def _by_stretches(
    problem: Problem, penalty: Penalty, tol: float, labels: Sequence[str] | None
) -> Squares | Lookahead | None:
    """Return what solves many strengths of this path together; None where every strength is a fit of its own."""
    if Squares.fits(problem, penalty):
        return Squares(problem, penalty, tol, labels)
    return Lookahead(problem, penalty, tol, labels) if Lookahead.fits(problem) else None


def _add(points: list[Point], point: Point, progress: Callable[[Point], None] | None) -> None:
    points.append(point)
    if progress is not None:
        progress(point)


def _grid(strengths: Sequence[float] | Array | int, critical: float, ratio: float, penalty: Penalty) -> Array:
    """Return the strengths of a path, strongest first."""
    if isinstance(strengths, int | np.integer):
        if strengths < 1:
            raise InputError(f"a path of {strengths} strengths was asked for; it needs at least one.")
        if not 0.0 < ratio < 1.0:
            raise InputError(f"the ratio of the last strength to the first is {ratio}; it must lie between 0 and 1.")
        if not np.isfinite(critical):
            raise InputError(
                f"the {penalty.name} penalty makes nothing zero at any strength, so a path has no natural beginning; "
                "give the strengths as numbers."
            )
        return np.geomspace(critical, ratio * critical, strengths) if critical > 0.0 else np.ones(1)
    grid = np.sort(np.asarray(strengths, dtype=np.float64).ravel())[::-1]
    if not len(grid) or not np.all(np.isfinite(grid)) or grid[-1] < 0.0:
        raise InputError("the strengths of a path must be finite numbers >= 0, at least one.")
    return grid
