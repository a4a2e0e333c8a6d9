"""From a dataset and a request to coefficients: the loss, the penalty, its strength, and the fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lineal import losses
from lineal.api.dataset import Dataset, with_offsets
from lineal.api.options import (
    OWN_METHOD,
    Limits,
    ModelRequest,
    PenaltyRequest,
    Wanted,
    read_bounds,
    read_model,
    read_penalty,
    read_solver,
    read_start,
)
from lineal.api.penalizing import Penalize, Penalized, squared_scales, stated
from lineal.certify.baseline import Baseline, adopt, baseline_fit
from lineal.errors import InputError
from lineal.fitting import fitting
from lineal.fitting.evidence import evidence
from lineal.fitting.firth import firth
from lineal.fitting.scale import scaled_huber
from lineal.fitting.stopping import Fit
from lineal.ground.deadline import Deadline, beforehand, in_time, on_trial, shared
from lineal.ground.records import dataclass
from lineal.losses import Huber, Squared
from lineal.losses.loss import Loss
from lineal.model.target import Target
from lineal.model.trace import Record
from lineal.paths.selection import FALLBACK, FOLDS, Choice, cross_validate, strengths
from lineal.penalties import Bounds, NoPenalty, Ridge, by_name
from lineal.penalties.penalty import Penalty
from lineal.perceptron.mistakes import mistaking
from lineal.perceptron.perceptron_fit import correcting, criterion, majority
from lineal.problem.frame import centered
from lineal.problem.moments import Moments, survey
from lineal.problem.problem import Problem
from lineal.solvers.solver import Solver
from lineal.sources.source import Block, Source

Array = npt.NDArray[np.float64]

CROSS_VALIDATED_MAX_CELLS: Final = 2_000_000
"""Training cells (rows x columns x outputs) up to which all folds validate a strength; above, one fold is enough."""

HUBER_THRESHOLD_SCALES: Final = 1.35
"""The threshold of huber where none is given, in estimated scales of the residuals (scikit-learn's default)."""

CENTER_MIN_DEVIATIONS: Final = 1e6
"""Standard deviations between zero and a column's mean from which firth, bayes and zero-one fit the centered column."""


@dataclass(frozen=True)
class Request:
    """What was asked for, checked as far as that is possible without data."""

    model: ModelRequest
    penalty: PenaltyRequest
    bounds: Limits | None
    solver: Solver | str
    penalize: Penalize = field(default_factory=Penalize)

    @staticmethod
    def of(
        model: str,
        penalty: str | float,
        bounds: Limits | None,
        solver: Solver | str,
        penalize: Penalized | None = None,
    ) -> Request:
        """Read the words, and refuse those that would have no effect together."""
        name = read_model(model)
        units = Penalize() if not penalize else Penalize.read(penalize)
        request = Request(name, read_penalty(penalty, name), bounds or None, read_solver(solver), units)
        if penalize and name.name != "bayes" and request.penalty.name in ("none", "firth"):
            which = "there is none" if request.penalty.name == "none" else "Firth's penalty sees no single column"
            raise InputError(
                f"penalize says how a penalty sees the columns, and {which}; leave it out, or ask for another penalty, such "
                "as ridge:0.1."
            )
        if name.name in OWN_METHOD:
            own = f"model {name.name}"
        elif request.penalty.name == "firth":
            own = "Firth's penalty"
        else:
            return request
        if request.solver != "auto":
            raise InputError(f"the solver has no effect: {own} has a method of its own; leave it out.")
        if request.bounds is not None:
            raise InputError(f"bounds cannot be put on the coefficients of {own}; leave them out.")
        return request

    @property
    def wanted(self) -> Wanted:
        """What the target has to be."""
        return "classes" if self.penalty.name == "firth" else self.model.wanted


@dataclass(frozen=True)
class Run:
    """How a fit is to be run.

    ``first`` is the deadline of the first look at the columns, for a fit that is alone: an InputError says that it passed.
    ``steps`` limits the final fit, which begins at ``start`` (see ``read_start``); ``iterates`` asks its trace for the
    coefficients of every step.
    """

    seed: int
    tol: float
    deadline: Deadline | None = None
    progress: Callable[[Record], None] | None = None
    interrupt: Literal["raise", "budget"] = "raise"
    first: Deadline | None = None
    steps: int | None = None
    start: object = None
    iterates: bool = False


@dataclass(frozen=True)
class Estimate:
    """A fit with what was decided on the way.

    ``penalty`` is the name that was asked for, ``penalty_factors`` what the penalty multiplies, ``level``
    the best constant score of the training rows, ``report`` entries that the model's report gets from it.
    """

    fit: Fit
    ready: Ready
    penalty: str
    level: Array
    choice: Choice | None = None
    penalty_factors: str | list[str] | None = None
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ready:
    """What is known before anything is minimised; ``report`` are entries for the model's report.

    ``raw`` says which columns a penalty sees as they are, not standardized.
    """

    loss: Loss
    moments: Moments
    variance: Array
    raw: npt.NDArray[np.bool_]
    intercept: bool
    limits: tuple[Array, Array] | None
    labels: list[str] | None
    report: Mapping[str, Any]

    @property
    def squared_scales(self) -> Array:
        """The square of what each coefficient is multiplied with before a penalty sees it."""
        return squared_scales(self.variance, self.raw)

    def stated(self, unit: Literal["variance", "sd"]) -> str | list[str]:
        """Return what a model file says of penalty factors in this unit."""
        return stated(unit, self.raw, self.intercept)


def prepare(
    dataset: Dataset, request: Request, deadline: Deadline | None = None, first: Deadline | None = None
) -> Ready:
    """Decide the loss, survey the columns and read the bounds; ``first`` as in ``Run``."""
    loss, report = _loss(request.model, dataset, deadline)
    moments = beforehand(first, lambda: survey(dataset.train, loss))
    labels = None if dataset.target.classes is None else [str(label) for label in dataset.target.classes]
    columns = tuple(dataset.train.columns)
    limits = read_bounds(request.bounds, columns)
    raw = request.penalize.raw(columns, dataset.encoder)
    if request.penalty.name == "group" and raw[:1].any() and columns[:1] == ("(intercept)",):
        raise InputError("the group penalty leaves the intercept alone; take (intercept)=raw out of penalize.")
    variance, intercept = _variance(dataset.train, moments), columns[:1] == ("(intercept)",)
    return Ready(loss, moments, variance, raw, intercept, limits, labels, report)


def estimate(dataset: Dataset, request: Request, run: Run) -> Estimate:
    """Fit the rows as asked."""
    ready = prepare(dataset, request, run.deadline, run.first)
    dataset = dataset if ready.moments.offset == 0.0 else with_offsets(dataset, ready.loss.outputs)
    source, loss, moments, report = dataset.train, ready.loss, ready.moments, ready.report
    level, constant = _level(source, loss, moments)
    if request.penalty.name == "firth" or request.model.name in ("bayes", "zero-one"):
        if (
            frame := centered(
                Problem.of(source, loss, NoPenalty(len(moments.mean)), moments), CENTER_MIN_DEVIATIONS, exact=True
            )
        ) is None:
            return _of_its_own(dataset, request, ready, level, run)
        inner = replace(dataset, train=frame.problem.source)
        own = _of_its_own(inner, request, replace(ready, moments=frame.problem.moments), level, run)
        return replace(own, fit=replace(own.fit, arrays={**own.fit.arrays, "center": frame.center}))
    if request.model.name == "perceptron":
        options = dict(request.model.options)
        fitted = correcting(
            source, loss, moments, options,
            seed=run.seed, deadline=run.deadline, progress=run.progress, interrupt=run.interrupt,
        )  # fmt: skip
        report = {**report, "model": f"perceptron, {options.get('variant', 'plain')}"}
        return Estimate(fitted, ready, "none", majority(moments), report=report)
    penalty, choice = build(request.penalty, request.penalty.strength or 1.0, ready.squared_scales, ready.limits), None
    if request.penalty.picked:
        choice = _pick(dataset, loss, penalty, moments, run)
        penalty = penalty.at(choice.strength)
    start = read_start(run.start, source.columns, loss.outputs)
    literal = isinstance(request.solver, Solver) and request.solver.literal
    if start is None and choice is not None and not literal:
        start = choice.start
    problem = Problem.of(source, loss, penalty, moments)
    if constant is not None:
        adopt(problem, constant)
    fitted = fitting.solve(
        problem,
        solver=request.solver,
        start=start,
        tol=run.tol,
        max_iter=run.steps,
        time_limit=run.deadline,
        labels=ready.labels,
        progress=_stop if choice is not None and choice.interrupted else run.progress,
        interrupt=run.interrupt,
        keep=True,
        iterates=run.iterates,
    )
    kind = by_name()[request.penalty.name]
    units = ready.stated(kind.factor_unit) if kind.parameters else None
    return Estimate(fitted, ready, kind.name, level, choice, units, report)


def _of_its_own(dataset: Dataset, request: Request, ready: Ready, level: Array, run: Run) -> Estimate:
    """Fit what has a method of its own: Firth's penalty, model bayes or zero-one."""
    source, loss, moments, report = dataset.train, ready.loss, ready.moments, ready.report
    if request.model.name == "bayes":
        return _bayes(source, ready, level, run)
    if request.model.name == "zero-one":
        fitted = mistaking(source, loss, moments, deadline=run.deadline, tol=run.tol, interrupt=run.interrupt)
        return Estimate(fitted, ready, "none", level, report=report)
    if not loss.logit:
        raise InputError(
            f"Firth's penalty is for two classes; {dataset.target.name} has {len(dataset.target.classes or ())}. Use ridge."
        )
    fitted = firth(
        source,
        tol=10.0 * run.tol,  # rounding leaves a slope of several tolerances where columns are unscaled
        time_limit=run.deadline,
        moments=moments,
        progress=run.progress,
        interrupt=run.interrupt,
    )
    return Estimate(fitted, ready, "firth", level, report=report)


def _bayes(source: Source, ready: Ready, level: Array, run: Run) -> Estimate:
    """Estimate both variances by the evidence; interrupted before they are known, stop a plain ridge at its start."""
    try:
        posterior = evidence(
            source,
            penalty_factors=ready.squared_scales,
            tol=run.tol,
            time_limit=run.deadline,
            moments=ready.moments,
            progress=run.progress,
        )
    except KeyboardInterrupt:
        if run.interrupt == "raise":
            raise
        plain = Ridge(FALLBACK, ready.squared_scales)
        fitted = fitting.fit(source, ready.loss, plain, moments=ready.moments, progress=_stop, interrupt="budget")
        return Estimate(fitted, ready, "ridge", level, penalty_factors=ready.stated("variance"), report=ready.report)
    if posterior.late:
        return Estimate(
            posterior.fit, ready, "ridge", level, penalty_factors=ready.stated("variance"), report=ready.report
        )
    reason = "one eigendecomposition of the gram, then a search for the two variances"
    fitted = replace(posterior.fit, verdict=posterior.verdict, trace=posterior.trace, solver="evidence", reason=reason)
    names = ("noise", "prior", "degrees", "log_evidence")
    report = {**ready.report, "bayes": {name: float(getattr(posterior, name)) for name in names}}
    return Estimate(fitted, ready, "bayes", level, penalty_factors=ready.stated("variance"), report=report)


def build(request: PenaltyRequest, strength: float, squares: Array, limits: tuple[Array, Array] | None) -> Penalty:
    """Return a penalty on ``c_j b_j``, the ``squares`` being ``c_j^2``: variances where columns are standardized."""
    kind = by_name()[request.name]
    factors = squares if kind.factor_unit == "variance" else np.sqrt(squares)
    penalty = kind.make(factors, strength=strength, l1_ratio=0.5 if request.l1_ratio is None else request.l1_ratio)
    return penalty if limits is None else Bounds(*limits, penalty)


def _stop(_record: Record) -> None:
    """Pass on a Ctrl-C that came while the strength was picked: the fit ends at its first step, with a verdict."""
    raise KeyboardInterrupt


def _pick(dataset: Dataset, loss: Loss, family: Penalty, moments: Moments, run: Run) -> Choice:
    """Return a strength: cross-validated where rows are few, on one fold where one is enough."""
    classes = dataset.target.kind == "classes"
    if len(family.conflicts()):
        reason = "taken by default, since the bounds exclude each other"
        return Choice(FALLBACK, reason, 0, loss.figure, folds=0)
    trying = on_trial(run.deadline)
    grid = in_time(trying, lambda: strengths(dataset.train, loss, family, moments), lambda: ())
    if not grid:
        reason = "taken by default, since its share of the time limit was over before any was tried"
        return Choice(FALLBACK, reason, 0, loss.figure, folds=0)
    cells = moments.rows * len(moments.mean) * loss.outputs
    return cross_validate(
        dataset.train,
        loss,
        family,
        grid,
        run.seed + 1,
        classes=classes,
        unseen=dataset.validation,
        folds=FOLDS if cells <= CROSS_VALIDATED_MAX_CELLS else 1,
        fallback=(FALLBACK if family.smooth else 0.1) * grid[0],
        deadline=trying,
        progress=run.progress,
        interrupt=run.interrupt,
    )


def _loss(model: ModelRequest, dataset: Dataset, deadline: Deadline | None) -> tuple[Loss, dict[str, Any]]:
    """Return the loss that a model's name and the target mean, and the entries that the report gets for it."""
    target = dataset.target
    if model.name == "perceptron":
        return criterion(dict(model.options), len(target.classes or ())), {}
    if target.kind == "classes":
        return _of_classes("logistic" if model.name == "auto" else model.name, target), {}
    kind = losses.by_model("linear" if model.name == "auto" else model.name)[0]
    if target.names is not None and (kind.outputs_field is None or model.name == "bayes"):
        raise InputError(f"model {model.name} predicts one number; fit the targets {target.name} one by one.")
    if model.parameter is not None:
        return kind.make(1, **{kind.parameter_names()[0]: model.parameter}), {}
    if model.name == "huber":
        threshold, scale, proven = _threshold(dataset.train, shared(deadline, 2))
        words = f"the threshold is {HUBER_THRESHOLD_SCALES:g} times the scale of the residuals, {scale:.4g}, "
        words += "fitted together with them"
        words += "" if proven else " as far as half the time limit allowed"
        return Huber(threshold), {"threshold": {"value": threshold, "scale": scale, "reason": words}}
    return kind.make(1 if target.names is None else len(target.names)), {}


def _of_classes(word: str, target: Target) -> Loss:
    """Return the first loss of that model word which takes the target's number of classes."""
    kinds = len(target.classes or ())
    kinds_of_loss = losses.by_model(word)
    for loss in kinds_of_loss:
        if outputs := loss.outputs_for(kinds):
            return loss.make(outputs)
    raise InputError(f"model {word} is for two classes; {target.name} has {kinds}. {kinds_of_loss[0].instead}".rstrip())


def _threshold(source: Source, deadline: Deadline | None) -> tuple[float, float, bool]:
    """Return a threshold for Huber's loss, the scale it is a multiple of, and whether a fit without a penalty proved it."""
    moments = survey(source, Squared(1))
    joint = scaled_huber(source, HUBER_THRESHOLD_SCALES, 0.0, np.zeros(len(moments.mean)), time_limit=deadline)
    scale = joint.scale
    spread = float(np.max(np.abs(moments.statistic))) / moments.weight_sum
    if not scale > 1e-7 * max(spread, 1e-300):  # what rounding leaves of residuals that are zero
        raise InputError(
            "the residuals of most rows are zero, so they have no scale from which a threshold follows; give one in units "
            "of the target, such as huber:1.5."
        )
    return HUBER_THRESHOLD_SCALES * scale, scale, deadline is None or joint.verdict.proven


def _variance(source: Source, moments: Moments) -> Array:
    """Return every column's variance, 0 for the intercept."""
    variance = moments.scatter / moments.weight_sum
    if source.columns[:1] == ("(intercept)",):
        variance[0] = 0.0  # exactly: rounding may leave 1e-32
    return variance


def _level(source: Source, loss: Loss, moments: Moments) -> tuple[Array, Baseline | None]:
    """Return the best constant score, offsets left aside; and the baseline of the rows, where it was made on the way."""
    if loss.has_mean_statistic or source.columns[:1] != ("(intercept)",):
        return loss.constant(moments.statistic / moments.weight_sum), None
    plain = source.map(WithoutOffset()) if moments.offset > 0.0 else source
    penalty_factors = np.ones(len(moments.mean))
    penalty_factors[0] = 0.0
    baseline = baseline_fit(Problem.of(plain, loss, Ridge(1.0, penalty_factors), replace(moments, offset=0.0)))
    return baseline.coef[0], baseline if moments.offset == 0.0 else None


def name(loss: Loss, penalty: str) -> str:
    """Return what a model is called, in words.

    >>> name(Huber(1.5), "l1")
    'Huber regression, threshold 1.5, l1 penalty'
    """
    if penalty == "bayes":
        return "Bayesian linear regression, ridge penalty by evidence"
    penalties = by_name()
    penalized = f"{penalties[penalty].label} penalty" if penalty in penalties else "Firth's penalty"
    return f"{loss.title()}, {penalized}"


@dataclass(frozen=True)
class WithoutOffset:
    """The change that takes offsets away."""

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return replace(block, offset=None)
