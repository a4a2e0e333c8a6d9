"""From rows and wishes to coefficients: the loss and the penalty that were asked for, a strength, and the fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lineal.api.dataset import Rows, with_offsets
from lineal.api.options import (
    Limits,
    ModelWish,
    PenaltyWish,
    Wanted,
    read_bounds,
    read_model,
    read_penalty,
    read_solver,
)
from lineal.certify.baseline import Null, adopt, null
from lineal.errors import InputError
from lineal.fitting import fitting
from lineal.fitting.evidence import evidence
from lineal.fitting.firth import firth
from lineal.fitting.scale import scaled_huber
from lineal.fitting.stopping import Fit
from lineal.ground.deadline import Deadline, beforehand, in_time, on_trial, shared
from lineal.ground.records import dataclass
from lineal.losses import (
    CrammerSinger,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    Softmax,
    Sparsemax,
    Squared,
    SquaredHinge,
    ZeroOne,
)
from lineal.losses.loss import Loss
from lineal.model.target import Target
from lineal.model.trace import Record
from lineal.paths.selection import FALLBACK, FOLDS, GRID, Choice, cross_validate, measure, strengths
from lineal.penalties import L1, Bounds, ElasticNet, Group, NoPenalty, Ridge
from lineal.penalties.penalty import Penalty
from lineal.perceptron.mistakes import mistaking
from lineal.perceptron.perceptron_fit import correcting, criterion, majority
from lineal.problem.frame import centered
from lineal.problem.moments import Moments, survey
from lineal.problem.problem import Problem
from lineal.solvers.solver import Solver
from lineal.sources.source import Source

Array = npt.NDArray[np.float64]

FEW: Final = 2_000_000
"""Up to so many training cells (rows x columns x outputs) a strength is cross-validated; above, one fold validates."""

EPSILON: Final = 1.35
"""The threshold of huber without one, in estimated scales of the residuals (scikit-learn's default)."""

LOST: Final = 1e6
"""Methods of their own take a mean off that is so many standard deviations from zero, and keep it as the center."""

SLOPE: Final = 10.0
"""A slope of this many tolerances, in standard errors, is none: rounding leaves as much where columns are unscaled."""

SMALLEST: Final = 1e-7
"""A scale below this share of the target's standard deviation means that the residuals have none."""


@dataclass(frozen=True)
class Wish:
    """What was asked for, checked as far as that is possible without data."""

    model: ModelWish
    penalty: PenaltyWish
    bounds: Limits | None
    solver: Solver | str

    @staticmethod
    def of(model: str, penalty: str | float, bounds: Limits | None, solver: Solver | str) -> Wish:
        """Read the words, and refuse those that would have no effect together."""
        name = read_model(model)
        wish = Wish(name, read_penalty(penalty, name), bounds or None, read_solver(solver))
        own = "Firth's penalty" if wish.penalty.name == "firth" else None
        own = f"model {name.name}" if name.name in ("bayes", "zero-one", "perceptron") else own
        if own is not None and wish.solver != "auto":
            raise InputError(f"the solver has no effect: {own} has a method of its own; leave it out.")
        if own is not None and wish.bounds is not None:
            raise InputError(f"bounds cannot be put on the coefficients of {own}; leave them out.")
        return wish

    @property
    def wanted(self) -> Wanted:
        """What the target has to be."""
        return "classes" if self.penalty.name == "firth" else self.model.wanted


@dataclass(frozen=True)
class Run:
    """How a fit is to be run.

    ``first`` is the deadline of the first look at the columns, for a fit that is alone: an InputError says that it passed.
    """

    seed: int
    tol: float
    deadline: Deadline | None = None
    progress: Callable[[Record], None] | None = None
    interrupt: Literal["raise", "budget"] = "raise"
    first: Deadline | None = None


@dataclass(frozen=True)
class Estimate:
    """A fit with what was decided on the way.

    ``penalty`` is the name that was asked for, ``charges`` what the penalty's charges are, ``level`` the best constant
    score of the training rows, ``said`` more for the report.
    """

    fit: Fit
    ready: Ready
    penalty: str
    level: Array
    choice: Choice | None = None
    charges: Literal["variance", "sd"] | None = None
    said: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ready:
    """What is known before anything is minimised; ``said`` is for the report."""

    loss: Loss
    moments: Moments
    variance: Array
    limits: tuple[Array, Array] | None
    labels: list[str] | None
    said: Mapping[str, Any]


def prepare(rows: Rows, wish: Wish, deadline: Deadline | None = None, first: Deadline | None = None) -> Ready:
    """Decide the loss, survey the columns and read the bounds; ``first`` as in ``Run``."""
    loss, said = _loss(wish.model, rows, deadline)
    moments = beforehand(first, lambda: survey(rows.train, loss))
    labels = None if rows.target.classes is None else [str(label) for label in rows.target.classes]
    limits = read_bounds(wish.bounds, rows.train.columns)
    return Ready(loss, moments, _variance(rows.train, moments), limits, labels, said)


def estimate(rows: Rows, wish: Wish, run: Run) -> Estimate:
    """Fit the rows as asked."""
    ready = prepare(rows, wish, run.deadline, run.first)
    rows = rows if ready.moments.offset == 0.0 else with_offsets(rows, ready.loss.outputs)
    source, loss, moments, said = rows.train, ready.loss, ready.moments, ready.said
    level, constant = _level(source, loss, moments)
    if wish.penalty.name == "firth" or wish.model.name in ("bayes", "zero-one"):
        if (
            frame := centered(Problem.of(source, loss, NoPenalty(len(moments.mean)), moments), LOST, exact=True)
        ) is None:
            return _of_its_own(rows, wish, ready, level, run)
        inner = replace(rows, train=frame.problem.source)
        own = _of_its_own(inner, wish, replace(ready, moments=frame.problem.moments), level, run)
        return replace(own, fit=replace(own.fit, arrays={**own.fit.arrays, "center": frame.center}))
    if wish.model.name == "perceptron":
        given = dict(wish.model.options)
        found = correcting(
            source, loss, moments, given,
            seed=run.seed, deadline=run.deadline, progress=run.progress, interrupt=run.interrupt,
        )  # fmt: skip
        said = {**said, "model": f"perceptron, {given.get('variant', 'plain')}"}
        return Estimate(found, ready, "none", majority(moments), said=said)
    penalty, choice = build(wish.penalty, wish.penalty.strength or 1.0, ready.variance, ready.limits), None
    if wish.penalty.picked:
        choice = _pick(rows, loss, penalty, moments, run)
        penalty = penalty.at(choice.strength)
    problem = Problem.of(source, loss, penalty, moments)
    if constant is not None:
        adopt(problem, constant)
    found = fitting.solve(
        problem,
        solver=wish.solver,
        start=None if choice is None else choice.start,
        tol=run.tol,
        time_limit=run.deadline,
        labels=ready.labels,
        progress=_stop if choice is not None and choice.interrupted else run.progress,
        interrupt=run.interrupt,
        keep=True,
    )
    asked = wish.penalty.name
    charges: Literal["variance", "sd"] = "variance" if asked == "ridge" else "sd"
    return Estimate(found, ready, asked, level, choice, None if asked == "none" else charges, said)


def _of_its_own(rows: Rows, wish: Wish, ready: Ready, level: Array, run: Run) -> Estimate:
    """Fit what has a method of its own: Firth's penalty, model bayes or zero-one."""
    source, loss, moments, said = rows.train, ready.loss, ready.moments, ready.said
    if wish.model.name == "bayes":
        return _bayes(source, ready, level, run)
    if wish.model.name == "zero-one":
        found = mistaking(source, loss, moments, deadline=run.deadline, tol=run.tol, interrupt=run.interrupt)
        return Estimate(found, ready, "none", level, said=said)
    if not isinstance(loss, Logistic):
        raise InputError(
            f"Firth's penalty is for two classes; {rows.target.name} has {len(rows.target.classes or ())}. Use ridge."
        )
    found = firth(
        source,
        tol=SLOPE * run.tol,
        time_limit=run.deadline,
        moments=moments,
        progress=run.progress,
        interrupt=run.interrupt,
    )
    return Estimate(found, ready, "firth", level, said=said)


def _bayes(source: Source, ready: Ready, level: Array, run: Run) -> Estimate:
    """Estimate both variances by the evidence; interrupted before they are known, stop a plain ridge at its start."""
    try:
        posterior = evidence(
            source,
            charges=ready.variance,
            tol=run.tol,
            time_limit=run.deadline,
            moments=ready.moments,
            progress=run.progress,
        )
    except KeyboardInterrupt:
        if run.interrupt == "raise":
            raise
        plain = Ridge(FALLBACK, ready.variance)
        found = fitting.fit(source, ready.loss, plain, moments=ready.moments, progress=_stop, interrupt="budget")
        return Estimate(found, ready, "ridge", level, charges="variance", said=ready.said)
    if posterior.late:
        return Estimate(posterior.fit, ready, "ridge", level, charges="variance", said=ready.said)
    reason = "one eigendecomposition of the gram, then a search for the two variances"
    found = replace(posterior.fit, verdict=posterior.verdict, trace=posterior.trace, solver="evidence", reason=reason)
    names = ("noise", "prior", "degrees", "log_evidence")
    said = {**ready.said, "bayes": {name: float(getattr(posterior, name)) for name in names}}
    return Estimate(found, ready, "bayes", level, charges="variance", said=said)


def build(wish: PenaltyWish, strength: float, variance: Array, limits: tuple[Array, Array] | None) -> Penalty:
    """Return a penalty on ``sd_j b_j``: charges are variances for ridge, standard deviations for the others."""
    sd = np.sqrt(variance)
    penalty: Penalty
    if wish.name == "ridge":
        penalty = Ridge(strength, variance)
    elif wish.name == "l1":
        penalty = L1(strength, sd)
    elif wish.name == "elastic":
        penalty = ElasticNet(strength, 0.5 if wish.l1_ratio is None else wish.l1_ratio, sd)
    elif wish.name == "group":
        penalty = Group(strength, sd)
    else:
        penalty = NoPenalty(len(variance))
    return penalty if limits is None else Bounds(*limits, penalty)


def _stop(_record: Record) -> None:
    """Pass on a Ctrl-C that came while the strength was picked: the fit ends at its first step, with a verdict."""
    raise KeyboardInterrupt


def _pick(rows: Rows, loss: Loss, family: Penalty, moments: Moments, run: Run) -> Choice:
    """Return a strength: cross-validated where rows are few, on one fold where one is enough."""
    classes = rows.target.kind == "classes"
    if len(family.conflicts()):
        reason = "taken by default, since the bounds exclude each other"
        return Choice(FALLBACK, reason, 0, measure(loss, classes), folds=0)
    trying = on_trial(run.deadline)
    grid = in_time(trying, lambda: strengths(rows.train, loss, family, moments), lambda: ())
    if not grid:
        reason = "taken by default, since its share of the time limit was over before any was tried"
        return Choice(FALLBACK, reason, 0, measure(loss, classes), folds=0)
    cells = moments.rows * len(moments.mean) * loss.outputs
    return cross_validate(
        rows.train,
        loss,
        family,
        grid,
        run.seed + 1,
        classes=classes,
        unseen=rows.validation,
        folds=FOLDS if cells <= FEW else 1,
        fallback=FALLBACK if grid is GRID else 0.1 * grid[0],
        deadline=trying,
        progress=run.progress,
        interrupt=run.interrupt,
    )


def _loss(model: ModelWish, rows: Rows, deadline: Deadline | None) -> tuple[Loss, dict[str, Any]]:
    """Return the loss that a model's name and the target mean, and what is to be said about it."""
    target = rows.target
    if model.name == "perceptron":
        return criterion(dict(model.options), len(target.classes or ())), {}
    if target.kind == "classes":
        return _of_classes(model.name, target), {}
    if model.name in ("huber", "quantile", "poisson", "bayes") and target.names is not None:
        raise InputError(f"model {model.name} predicts one number; fit the targets {target.name} one by one.")
    if model.name == "quantile":
        return Quantile(0.5 if model.parameter is None else model.parameter), {}
    if model.name == "poisson":
        return Poisson(), {}
    if model.name == "huber":
        if model.parameter is not None:
            return Huber(model.parameter), {}
        threshold, scale, proven = _threshold(rows.train, shared(deadline, 2))
        words = f"the threshold is {EPSILON:g} times the scale of the residuals, {scale:.4g}, fitted together with them"
        words += "" if proven else " as far as half the time limit allowed"
        return Huber(threshold), {"threshold": {"value": threshold, "scale": scale, "reason": words}}
    return Squared(1 if target.names is None else len(target.names)), {}


def _of_classes(name: str, target: Target) -> Loss:
    kinds = len(target.classes or ())
    if name == "svm":
        return Hinge() if kinds == 2 else CrammerSinger(kinds)
    if name == "sparsemax":
        return Sparsemax(kinds)
    if name == "zero-one":
        if kinds != 2:
            raise InputError(f"model zero-one is for two classes; {target.name} has {kinds}.")
        return ZeroOne()
    if name == "squared-hinge":
        if kinds != 2:
            raise InputError(
                f"model squared-hinge is for two classes; {target.name} has {kinds}. Use logistic, sparsemax or svm."
            )
        return SquaredHinge()
    return Logistic() if kinds == 2 else Softmax(kinds)


def _threshold(source: Source, deadline: Deadline | None) -> tuple[float, float, bool]:
    """Return a threshold for Huber's loss, the scale it is a multiple of, and whether a fit without a penalty proved it."""
    moments = survey(source, Squared(1))
    found = scaled_huber(source, EPSILON, 0.0, np.zeros(len(moments.mean)), time_limit=deadline)
    scale = found.scale
    spread = float(np.max(np.abs(moments.statistic))) / moments.weight_sum
    if not scale > SMALLEST * max(spread, 1e-300):
        raise InputError(
            "the residuals of most rows are zero, so they have no scale from which a threshold follows; give one in units "
            "of the target, such as huber:1.5."
        )
    return EPSILON * scale, scale, deadline is None or found.verdict.proven


def _variance(source: Source, moments: Moments) -> Array:
    """Return every column's variance, 0 for the intercept."""
    variance = moments.scatter / moments.weight_sum
    if source.columns[:1] == ("(intercept)",):
        variance[0] = 0.0  # exactly: rounding may leave 1e-32
    return variance


def _level(source: Source, loss: Loss, moments: Moments) -> tuple[Array, Null | None]:
    """Return the best constant score, offsets left aside; and the null fit of the rows, where it was made on the way."""
    if loss.has_mean_statistic or source.columns[:1] != ("(intercept)",):
        return loss.constant(moments.statistic / moments.weight_sum), None
    plain = source.map(lambda block: replace(block, offset=None)) if moments.offset > 0.0 else source
    charges = np.ones(len(moments.mean))
    charges[0] = 0.0
    found = null(Problem.of(plain, loss, Ridge(1.0, charges), replace(moments, offset=0.0)))
    return found.coef[0], found if moments.offset == 0.0 else None


def name(loss: Loss, penalty: str) -> str:
    """Return what a model is called, in words.

    >>> name(Logistic(), "l1")
    'logistic regression, l1 penalty'
    """
    if penalty == "bayes":
        return "Bayesian linear regression, ridge penalty by evidence"
    numbers = loss.parameters()
    words = {
        "squared": "linear regression",
        "huber": f"Huber regression, threshold {numbers.get('threshold', 0.0):.4g}",
        "quantile": f"regression of the {numbers.get('q', 0.5):g} quantile",
        "poisson": "Poisson regression",
        "logistic": "logistic regression",
        "softmax": "multinomial logistic regression",
        "hinge": "support vector machine",
        "squared-hinge": "support vector machine with squared hinge",
        "crammer-singer": "support vector machine of Crammer and Singer",
        "sparsemax": "sparsemax classification",
        "zero-one": "halfspace of fewest mistakes",
    }
    charged = {"none": "no penalty", "elastic": "elastic net penalty", "firth": "Firth's penalty"}
    return f"{words.get(loss.name, loss.name)}, {charged.get(penalty, f'{penalty} penalty')}"
