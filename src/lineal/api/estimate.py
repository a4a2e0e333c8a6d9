"""From a dataset and a request to coefficients: the loss, the penalty, its strength, and the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from lineal import losses
from lineal.api.dataset import Dataset, with_offsets
from lineal.api.methods.method import MapFit
from lineal.api.options import ModelRequest, read_bounds, read_start
from lineal.api.own_methods import fit_its_own, stop_at_once
from lineal.api.penalizing import Penalize, Units, text_blocks
from lineal.api.picking import build, pick
from lineal.api.request import Estimate, Ready, Request, Run
from lineal.certify.baseline import Baseline, adopt, baseline_fit
from lineal.errors import InputError
from lineal.fitting import fitting
from lineal.fitting.scale import scaled_huber
from lineal.ground.arrays import Array, Mask
from lineal.ground.deadline import Deadline, beforehand, shared
from lineal.ground.records import dataclass
from lineal.losses import Huber, Squared
from lineal.losses.loss import Loss
from lineal.model.target import Target
from lineal.penalties import NoPenalty, Ridge, by_name
from lineal.perceptron.perceptron_fit import correcting, criterion, majority
from lineal.problem.frame import centered
from lineal.problem.moments import Moments, survey
from lineal.problem.problem import Problem
from lineal.solvers.solver import Solver
from lineal.sources.source import Block, Source

HUBER_THRESHOLD_SCALES: Final = 1.35
"""The threshold of huber where none is given, in estimated scales of the residuals (scikit-learn's default)."""

MAX_CONSTANT_DEVIATION: Final = 1e-15
"""The standard deviation, as a share of its mean, that rounding may leave of a column that is the same in every row."""

CENTER_MIN_DEVIATIONS: Final = 1e6
"""Standard deviations between zero and a column's mean from which firth, bayes and zero-one fit the centered column."""


def prepare(
    dataset: Dataset, request: Request, deadline: Deadline | None = None, first: Deadline | None = None
) -> Ready:
    """Decide the loss, survey the columns and read the bounds; ``first`` as in ``Run``."""
    if dataset.target.kind == "labels":
        raise InputError(
            f"the target {dataset.target.name} is labels, of which a row has any number, and each needs a fit of its own: "
            "lineal fit makes them; here name one label."
        )
    loss, report = _loss(request.model, dataset, deadline)
    moments = beforehand(first, lambda: survey(dataset.train, loss))
    columns = tuple(dataset.train.columns)
    limits = read_bounds(request.bounds, columns)
    raw = request.penalize.raw(columns, dataset.encoder)
    if request.penalty.name == "group" and raw[:1].any() and columns[:1] == ("(intercept)",):
        raise InputError("the group penalty leaves the intercept alone; take (intercept)=raw out of penalize.")
    texts = {name: block for name, block in text_blocks(columns, dataset.encoder).items() if raw[block].all()}
    variance, intercept = _variance(dataset.train, moments), columns[:1] == ("(intercept)",)
    if intercept:
        raw |= _constant(variance, moments)
    units = Units(variance, raw, intercept, texts, free=request.penalize == Penalize())
    return Ready(loss, moments, units, limits, dataset.target.spelled, report)


def estimate(dataset: Dataset, request: Request, run: Run) -> Estimate:
    """Fit the rows as asked."""
    if request.model.method is not None:
        result, loss, report = request.model.method.fit(dataset, run)
        return _mapped(dataset, result, loss, report)
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
            return fit_its_own(dataset, request, ready, level, run)
        inner = replace(dataset, train=frame.problem.source)
        own = fit_its_own(inner, request, replace(ready, moments=frame.problem.moments), level, run)
        return replace(own, fit=replace(own.fit, arrays={**own.fit.arrays, "center": frame.center}))
    if request.model.name == "perceptron":
        options = dict(request.model.options)
        fitted = correcting(
            source, loss, moments, options,
            seed=run.seed, start=read_start(run.start, source.columns, loss.outputs),
            deadline=run.deadline, progress=run.progress, interrupt=run.interrupt,
        )  # fmt: skip
        seen = "standardized columns" if "standardized" in fitted.verdict.evidence else "columns as they are"
        report = {**report, "model": f"perceptron, {options.get('variant', 'plain')}, on {seen}"}
        return Estimate(fitted, ready, "none", majority(moments), report=report)
    penalty, choice = build(request.penalty, request.penalty.strength or 1.0, ready.units.squares, ready.limits), None
    if request.penalty.picked:
        choice, ready = pick(dataset, request, ready, run)
        penalty = build(request.penalty, choice.strength, ready.units.squares, ready.limits)
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
        progress=stop_at_once if choice is not None and choice.interrupted else run.progress,
        interrupt=run.interrupt,
        keep=True,
        iterates=run.iterates,
    )
    kind = by_name()[request.penalty.name]
    units = ready.units.stated(kind.factor_unit) if kind.parameters else None
    return Estimate(fitted, ready, kind.name, level, choice, units, report)


def _mapped(dataset: Dataset, result: MapFit, loss: Loss, report: Mapping[str, Any]) -> Estimate:
    """Return the fit of a method with what a model says of its rows."""
    moments = survey(dataset.train, loss)
    level, _ = _level(dataset.train, loss, moments)
    variance = _variance(dataset.train, moments)
    units = Units(variance, np.zeros(len(variance), np.bool_), dataset.train.columns[:1] == ("(intercept)",), {})
    words = dataset.target.spelled
    return Estimate(result, Ready(loss, moments, units, None, words, report), "none", level, report=report)


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


def _constant(variance: Array, moments: Moments) -> Mask:
    """Return which columns but the intercept are a constant, such as a word that is in every row.

    They have no standard deviation to be penalized by, and the intercept says all that they can: seen as they are, they
    have a coefficient of zero. Without a penalty they would be as good as the intercept, and nobody could tell which.
    """
    constant = variance <= (MAX_CONSTANT_DEVIATION * moments.mean) ** 2
    constant[0] = False
    return np.asarray(constant)


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
        return "Bayesian linear regression"
    penalties = by_name()
    penalized = f"{penalties[penalty].label} penalty" if penalty in penalties else "Firth's penalty"
    return f"{loss.title()}, {penalized}"


@dataclass(frozen=True)
class WithoutOffset:
    """The change that takes offsets away."""

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        return replace(block, offset=None)
