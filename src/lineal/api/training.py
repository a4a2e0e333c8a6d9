"""`lineal.fit`: from a table or an array to a Model, with everything that was decided on the way written down."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from lineal.api.arrays import gather
from lineal.api.dataset import Dataset, Roles
from lineal.api.estimate import estimate, name
from lineal.api.known_classes import over_all
from lineal.api.measured_rows import to_measure
from lineal.api.methods.method import MapFit
from lineal.api.multilabel import SHARING, check_labels, fit_labels, levels, share_labels
from lineal.api.options import Limits
from lineal.api.penalizing import Penalized
from lineal.api.reductions import coded, committee, compared, questions, reduce, words_of
from lineal.api.request import Estimate, Request, Run
from lineal.errors import InputError
from lineal.features.splitting import read as read_split
from lineal.features.text_options import TextOptions
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, Limit, beforehand, shared
from lineal.losses.loss import Loss
from lineal.metrics.decision import Costs
from lineal.metrics.evaluation import evaluate as closely
from lineal.metrics.evaluation import per_class
from lineal.metrics.labels import LabelScore
from lineal.metrics.scoring import Score
from lineal.metrics.thresholds import AtThresholds, lines
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.trace import Record
from lineal.model.verdict import TOLERANCE
from lineal.multiclass.codes import Scheme, read_multiclass
from lineal.problem.blas import one_thread
from lineal.problem.moments import survey
from lineal.solvers.solver import Solver
from lineal.sources.source import Source
from lineal.tables.marked import Said


def fit(
    data: object,
    target: Any = None,
    *,
    model: str = "auto",
    penalty: str | float = "auto",
    penalize: Penalized | None = None,
    bounds: Limits | None = None,
    weight: Any = None,
    offset: Any = None,
    drop: Sequence[str] = (),
    intercept: bool = True,
    formula: str | None = None,
    poly: int = 1,
    types: Mapping[str, str] | None = None,
    text: TextOptions = (),
    max_levels: int | None = None,
    missing: str = "mark",
    positive: str | None = None,
    na: Said = None,
    labels_by: str | None = None,
    test_size: float = 0.0,
    test: object = None,
    split: str | None = None,
    validation_size: float = 0.0,
    seed: int = 0,
    tol: float = TOLERANCE,
    time_limit: Limit = None,
    solver: Solver | str = "auto",
    steps: int | None = None,
    start: object = None,
    iterates: bool = False,
    progress: Callable[[Record], None] | None = None,
    multiclass: str = "direct",
    interrupt: Literal["raise", "budget"] = "raise",
) -> Model:
    """Fit a linear model to a table or an array and return it with its verdict.

    ``F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b)``; penalties see ``sd_j b_j`` (words of a text: ``b_j``), and not
    the intercept, unless ``penalize`` says "raw", for all columns (``b_j``, as scikit-learn and the lecture notes) or some:
    "raw,age=standardized".

    ``data`` is a path, a data frame, an Arrow table, a dict of columns or a list of dicts, and ``target``, ``weight``,
    ``offset`` name columns, or hold a value for every row; or ``data`` is an array, a list of rows or a sparse matrix of
    numbers, and they are arrays. ``model`` names the loss: "auto" (looks at the target), "linear", "ridge", "logistic",
    "huber", "huber:T", "quantile:Q", "median" (quantile:0.5), "absolute", "poisson", "svm", "squared-hinge", "sparsemax",
    "bayes", "zero-one", "knn:K" (docs/neighbors.md), "naive-bayes", "lda", "qda" (docs/generative.md), "kernel-svm:KERNEL",
    "gp:KERNEL", ... (docs/kernel-machines.md) or "perceptron:VARIANT" (docs/perceptron.md). ``penalty`` is "none",
    "ridge:S", "l1:S",
    "elastic:S,R", "group:S" (S a number, or the word auto), "firth", a number (ridge), or "auto": a ridge whose strength
    is picked on rows the fit does not see (none for linear).
    ``bounds`` maps design columns to (least, largest) coefficients, None for no bound. ``solver`` is a name with options,
    such as "gradient-descent:step=0.1"; ``steps`` limits its steps, ``start`` is where they begin: "zero", or a number for
    every design column, and ``iterates`` keeps the coefficients of every step in ``model.trace.iterates``.
    ``formula`` (docs/formulas.md) names the terms, and the target if none is given;
    without one, ``poly`` adds every product of up to that many columns. ``types`` maps columns to what they are:
    "number", "category", "date:DMY", ... (docs/data.md); ``text`` says how columns of free text are read (docs/text.md):
    ``{"note": "ngrams=2,max=5000"}``. ``max_levels`` is how many levels of a category have a column of their own, the
    most frequent ones; the others share one. ``missing`` says what missing cells become: "mark" (the mean, marked in a
    column; a level of a category), "mean" or "median" (unmarked), "drop" (the row is not fitted). ``na`` says which
    cells are missing, beside empty ones: ["NA", "?"], or {"age": ["default", -999], "word": []} by column, "*" for all
    others. ``positive`` is the class of two that is modelled. Without ``intercept`` the scores go through the origin.
    Several yes-or-no columns, or one whose cells are lists, are labels, of which a row has any number (docs/multilabel.md);
    ``labels_by`` is what parts them in a text: ";". Each has a model of its own, but for "sparsemax".
    ``test_size`` is the share of rows held out for ``report["metrics"]``, ``test`` another table for it;
    ``validation_size`` that of rows on which a strength is picked (without it: by cross-validation). ``split`` says by
    what rows are parted: "stratified", "group:COL", "time:COL", or "column:COL", whose cells say train, validation, test.
    ``multiclass`` is "direct" (one model of all classes), or "ovr", "ovo", "ecoc", "ecoc:BITS,sparse": one-vs-rest, one-vs-one
    or an output code over binary models, a Committee. ``interrupt="budget"`` makes Ctrl-C a verdict.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> model = lineal.fit(table, target="effect", model="linear")
    >>> model.verdict.kind, model.predict({"dose": [2.0]}).round(3)
    ('optimal', array([2.046]))
    """
    request = Request.of(model, penalty, bounds, solver, penalize)
    scheme = read_multiclass(multiclass)
    if request.model.method is not None and scheme.name != "direct":
        raise InputError(request.model.method.without_code(multiclass))
    deadline = Deadline.of(time_limit)
    run = Run(seed, tol, deadline, progress, interrupt, first=deadline if scheme.name == "direct" else None)
    run = replace(run, steps=steps, start=start, iterates=iterates)
    _check_steps(request, run, scheme.name)
    _check(test_size, test, seed, tol)
    parts = read_split(split, seed, test_size, validation_size)
    if test is not None and parts.by != "row":
        raise InputError("test and split exclude each other: the table holds the test rows; give one of them.")
    roles = Roles.of(
        target,
        formula,
        poly,
        intercept=intercept,
        weight=weight,
        offset=offset,
        drop=drop,
        types=types,
        text=text,
        max_levels=max_levels,
        missing=missing,
        positive=positive,
        na=na,
        labels_by=labels_by,
    )
    roles = roles.read_by(request.model.method)
    dataset = beforehand(run.deadline, lambda: gather(data, roles, request.wanted, parts, test))
    if dataset.target.kind == "labels":
        check_labels(request.model, scheme.name, run.start, iterates=run.iterates)
        return _labeled(dataset, request, run)
    return finish(dataset, request, run) if scheme.name == "direct" else _reduced(dataset, request, run, scheme)


def finish(dataset: Dataset, request: Request, run: Run, *, measured: bool = True, ranked: bool = False) -> Model:
    """Fit a dataset, and return the model; ``measured`` on its rows unless the caller measures several models as one.

    Where models are ``ranked`` on the validation rows, no strength is picked on them: folds of the training rows do that.
    """
    fitted = replace(dataset, validation=None) if ranked else dataset
    with one_thread(dataset.train, 1, squares=request.model.method is not None):
        return _model(dataset, request, estimate(fitted, request, run), run.tol, measured=measured)


def evaluate(
    model: Model,
    data: object,
    *,
    threshold: float | None = None,
    costs: Costs | None = None,
    rows: str = "held-out",
    thresholds: bool = False,
) -> dict[str, Any]:
    """Measure a model on a table that holds the target, beside the baseline of its training rows.

    With a ``threshold`` or ``costs`` (see ``Model.decide``) the decisions are measured, and what they cost on average.
    ``intervals`` hold 95 % of every figure by bootstrap; classes have a ``confusion`` and a ``calibration`` table, too, and
    precision, recall and F1 each (``classes``). Rows of a class that training did not have are not measured but counted
    (``unknown_classes``), and ``accuracy_of_all`` takes them for wrong. Of the table that the model was fitted to (by the
    split and the fingerprint of its file) only the ``rows`` held out are measured, unless "all"; ``training_rows`` says how
    many were fitted, and is None for another table. ``thresholds`` adds precision, recall, lift and more where the second of
    two classes is decided above 0.05, 0.1, ..., 0.95, and at what cost, the ``best`` line marked.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> evaluate(lineal.fit(table, target="effect", model="linear"), table)["rows"]
    4
    """
    rule = None if threshold is None and costs is None else model.rule(threshold, costs)
    if thresholds:
        model.rule(0.5)  # refused in words where there are no two classes with probabilities
    chosen = to_measure(model, data, rows)
    source, notes = chosen.source, chosen.notes
    level = model.report.get("baseline_score")
    constant = None if level is None else np.asarray(level, float)
    score = model.measure(rule, closely=True)
    count, metrics = measure(source, score, constant)
    if not count:
        raise InputError(f"no row can be measured: {' '.join(chosen.lost) or 'all have weight 0.'}")
    answer: dict[str, Any] = {
        "rows": count,
        "training_rows": chosen.training_rows,
        "metrics": {"test": metrics[0], "baseline": metrics[1]},
        "notes": notes,
    }
    answer |= closely(source, score, model.target.kinds)
    if chosen.strangers.counts:
        answer |= over_all(chosen.strangers, count, None if model.roles.get("weight") else metrics[0]["accuracy"])
    if "confusion" in answer:
        answer["classes"] = per_class(answer["confusion"])
    if thresholds and isinstance(score, Score):
        answer["thresholds"] = lines(
            source.sum(AtThresholds(score)), rule.costs if rule and costs is not None else None
        )
    return answer if rule is None else {**answer, "decision": rule.to_dict()}


def _check(test_size: float, test: object, seed: int, tol: float) -> None:
    if not 0 <= test_size < 1:
        raise InputError(f"test_size is {test_size}; it must be a share of the rows, at least 0 and below 1.")
    if test is not None and test_size > 0:
        raise InputError("test and test_size exclude each other: give another table, or a share of the rows.")
    if not (isinstance(seed, int) and 0 <= seed < 2**63):
        raise InputError(f"the seed is {seed!r}; it must be a whole number from 0 to 2^63 - 1.")
    if not (math.isfinite(tol) and tol > 0):
        raise InputError(f"tol is {tol}; it is a relative gap and must be a number above 0, such as 1e-6.")


def _check_steps(request: Request, run: Run, scheme: str) -> None:
    """Refuse what says how steps are taken where there are none, or several fits would share it."""
    if run.steps is not None and not (isinstance(run.steps, int) and run.steps >= 1):
        raise InputError(f"steps is {run.steps!r}; it must be a whole number of at least 1.")
    given = [word for word, value in (("steps", run.steps), ("start", run.start)) if value is not None]
    if given == ["start"] and request.model.name == "perceptron":
        given = []
    if given and (request.model.own_method or request.penalty.name == "firth"):
        own = f"model {request.model.name}" if request.model.own_method else "Firth's penalty"
        raise InputError(f"{given[0]} has no effect: {own} has a method of its own; leave it out.")
    if run.start is not None and scheme != "direct":
        raise InputError("a start is for one fit, and multiclass makes several; leave one of them out.")


def _model(dataset: Dataset, request: Request, estimated: Estimate, tol: float, *, measured: bool) -> Model:
    """Put together what remains of a fit."""
    loss, fitted, moments = estimated.ready.loss, estimated.fit, estimated.ready.moments
    feature_map = fitted.feature_map if isinstance(fitted, MapFit) else None
    columns = tuple(dataset.train.columns)
    variance = estimated.ready.units.variance if feature_map is None else None
    if feature_map is not None:
        columns = (*columns[: int(columns[:1] == ("(intercept)",))], *feature_map.columns)
    report: dict[str, Any] = {
        "model": name(loss, estimated.penalty),
        "chosen": _reason(dataset.target) if request.model.name == "auto" else None,
        "selection": None if estimated.choice is None else estimated.choice.to_dict(),
        "baseline_score": _plain(estimated.level),
        **(_measured(dataset, _score(dataset, loss, fitted), estimated.level, variance) if measured else {}),
        **({"mean": [float(value) for value in moments.mean]} if measured and variance is not None else {}),
        **estimated.report,
    }
    if estimated.penalty_factors is not None:
        report["charges"] = estimated.penalty_factors
    return Model.of_rows(
        moments.rows,
        moments.weight_sum,
        dataset.training,
        coef=fitted.coef,
        columns=columns,
        loss=loss,
        penalty=fitted.penalty,
        target=dataset.target,
        verdict=fitted.verdict,
        encoder=dataset.encoder,
        solver=fitted.solver,
        reason=fitted.reason,
        tol=tol,
        roles=dataset.roles,
        report=report,
        arrays=fitted.arrays,
        feature_map=feature_map,
        trace=fitted.trace,
    )


def _labeled(dataset: Dataset, request: Request, run: Run) -> Model:
    """Fit a model of labels, measured as one."""
    own = replace(run, first=None)
    make = share_labels if request.model.name == SHARING else fit_labels
    whole, score, variance = make(dataset, own, lambda part, run: finish(part, request, run, measured=False))
    report = _measured(dataset, score, levels(whole), variance)
    return replace(whole, report={**report, **whole.report})


def _score(dataset: Dataset, loss: Loss, fitted: Fit | MapFit) -> Score:
    """Return how the coefficients of a fit are measured."""
    feature_map = fitted.feature_map if isinstance(fitted, MapFit) else None
    through = None if feature_map is None else feature_map.scores
    classes = dataset.target.kind == "classes"
    return Score(loss, fitted.coef, classes, center=fitted.arrays.get("center"), through=through)


def _reduced(dataset: Dataset, request: Request, run: Run, scheme: Scheme) -> Model:
    """Fit the binary models of a code, and return their committee, measured as one; a code beside direct softmax."""
    words = words_of(dataset, scheme, run.seed)
    beside = scheme.name == "ecoc"
    own = replace(run, deadline=shared(run.deadline, 2)) if beside and run.deadline is not None else run
    members = reduce(
        dataset, questions(dataset, words), own, lambda part, run: finish(part, request, run, measured=False)
    )
    loss = coded(scheme, words, members[0])
    moments = survey(dataset.train, loss)
    variance = moments.scatter / moments.weight_sum
    variance[: int(dataset.train.columns[:1] == ("(intercept)",))] = 0.0
    training = {"rows": moments.rows, "weight_sum": moments.weight_sum, **dataset.training}
    whole = committee(dataset, scheme, words, members, training)
    report = {**_measured(dataset, whole.measure(), loss.constant(moments.statistic), variance), **whole.report}
    if beside and "interrupt" not in (whole.verdict.reason or ""):
        report["multiclass"] = {**report["multiclass"], "direct": _direct(dataset, run, report["metrics"])}
    return replace(whole, report=report)


def _direct(dataset: Dataset, run: Run, metrics: Mapping[str, Figures]) -> dict[str, Any]:
    """Return how many of the rows that measured a code direct softmax has right."""
    softmax = finish(dataset, Request.of("logistic", "auto", None, "auto"), run)
    where = next(name for name in ("test", "train") if name in metrics)
    rows = "held-out rows" if where == "test" else "training rows"
    return compared(metrics[where]["accuracy"] or 0.0, softmax.report["metrics"][where]["accuracy"], rows)


def _measured(dataset: Dataset, score: Score | LabelScore, level: Array, variance: Array | None) -> dict[str, Any]:
    """Return what is measured: on test rows, where there are some, else on training rows; beside the best constant."""
    measured, (got, baseline) = measure(dataset.test or dataset.train, score, level)
    where = "train" if dataset.test is None else "test"
    if not measured:
        where, (_, (got, baseline)) = "train", measure(dataset.train, score, level)
    report: dict[str, Any] = {
        **({} if variance is None else {"sd": [float(value) for value in np.sqrt(variance)]}),
        "baseline_score": _plain(level),
        "data": {**dataset.about, "held_out": measured if dataset.test is not None else 0},
        "metrics": {where: got, "baseline": baseline},
    }
    if dataset.validation is not None:
        report["metrics"]["validation"] = measure(dataset.validation, score, None)[1][0]
    if dataset.test is not None and measured:
        report["evaluation"] = closely(dataset.test, score, dataset.target.kinds)
    return report


Figures = dict[str, float | None]


def measure(source: Source, score: Score | LabelScore, level: Array | None) -> tuple[int, tuple[Figures, Figures]]:
    """Return the number of rows, the metrics of the coefficients, and those of the training rows' best constant."""
    with np.errstate(over="ignore", invalid="ignore"):  # a solver may have left for infinity: that is in the verdict
        sums = source.sum(score)
        figures = _figures(sums.figures())
        constant: Figures = {}
        if level is not None:
            constant = _figures(source.sum(replace(score, coef=None, level=level)).figures())
    return sums.rows, (figures, constant)


def _figures(figures: dict[str, float]) -> Figures:
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def _plain(level: Array) -> list[float] | None:
    return [float(value) for value in level] if bool(np.all(np.isfinite(level))) else None


def _reason(target: Target) -> str:
    if target.kind == "number":
        return f"chosen because {target.name} is a number"
    return f"chosen because {target.name} has {len(target.classes or ())} classes"
