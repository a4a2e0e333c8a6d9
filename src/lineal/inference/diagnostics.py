"""Diagnostics of a fit: how it disagrees with its rows, which rows hold it, and whether its assumptions stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.fitting.covariance import COVARIANCE_MAX_COLUMNS
from lineal.ground.arrays import Array, Index
from lineal.inference.hypothesis import HypothesisTest, cameron_trivedi, outlier, pearson_fit, spread
from lineal.inference.influence import Influence
from lineal.inference.observations import Curved, Observing, Squares, Summing, Sums
from lineal.inference.record import Diagnostics, Inflation, Influential
from lineal.inference.rows import FittedRows, about, fitted_rows, same_rows
from lineal.inference.triangle import Inverse, inflation, regression
from lineal.losses import likelihoods
from lineal.model.model import Model
from lineal.problem.problem import Problem
from lineal.sources.rowwise import Count

MAX_PAIRS: Final = 500
"""Products of columns up to which White's test takes all pairs; beyond, squares alone."""
MAX_SQUARES: Final = 250
"""Columns up to which it takes squares."""


def diagnostics(
    model: Model,
    data: Any,
    y: Any = None,
    *,
    weight: Any = None,
    offset: Any = None,
    seed: int = 0,
    largest: int = 10,
) -> Diagnostics:
    """Return how a fit disagrees with the rows it was fitted on, and which of them it hangs on.

    Residuals of every kind, leverage, Cook's distance, DFFITS and DFBETAS for each row (``arrays()``, or ``blocks()`` part
    by part), the ``largest`` of them, variance inflation and condition of the columns, and tests of what the model assumes.
    ``data`` and what follows it are the rows of the fit, as for ``summarise``; ``seed`` draws the randomized quantile
    residuals of targets that jump.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.0, 9.0], "effect": [0.1, 1.1, 1.9, 3.2, 5.0]}
    >>> model = lineal.fit(table, target="effect", model="linear", penalty="none", test_size=0)
    >>> found = diagnostics(model, table)
    >>> found.arrays()["leverage"].round(2).tolist()
    [0.38, 0.28, 0.22, 0.2, 0.92]
    >>> found.influential[0].row_index
    4
    """
    refuse(model)
    rows = fitted_rows(model, data, y, weight, offset)
    source = about(rows.source, model.center)
    problem = Problem.of(source, model.loss, model.penalty)
    observing = Observing(model.loss, model.coef, paired="counts" in model.training)
    triangle = source.sum(Curved(observing)).factor
    same_rows(model, problem, _jeffreys(triangle) / problem.moments.weight_sum if model.solver == "firth" else 0.0)
    sums = source.sum(Summing(observing, counts=model.loss.targets == "counts"))
    influence = _influence(model, rows, problem, observing, triangle, sums, seed)
    found, farthest = _largest(influence, sums.observations, largest)
    freedom, dispersion = influence.left, sums.pearson / influence.left if influence.left > 0.0 else math.nan
    return Diagnostics(
        title=f"{model.loss.summary_title()} of {model.target.name}",
        observations=sums.observations,
        parameters=influence.parameters,
        freedom=freedom,
        deviance=sums.deviance,
        pearson=sums.pearson,
        dispersion=dispersion,
        condition=Inverse.of(triangle).condition,
        inflation=_inflation(model, triangle),
        tests=(*_tests(model, problem, observing, sums, freedom), *farthest),
        influential=found,
        seed=seed,
        notes=_notes(model, influence, sums),
        influence=influence,
    )


def refuse(model: Model) -> None:
    """Raise InputError for a fit that has no diagnostics, with what to do instead."""
    if model.feature_map is not None:
        raise InputError(
            "the coefficients of this model multiply columns that are made of training rows, so no row has a leverage of "
            "its own; measure it on other rows: lineal evaluate."
        )
    if len(model.outputs) > 1 or model.coef.shape[1] > 1:
        raise InputError(
            f"diagnostics are for fits with one score a row, and this one has {len(model.outputs)}: "
            f"{', '.join(model.outputs[:5])}. Fit one class against the others "
            f"(target '{model.target.name} == {model.outputs[0]}'), or the targets one by one."
        )
    if not model.loss.likelihood:
        names = ", ".join(dict.fromkeys(loss.name for loss in likelihoods()))
        raise InputError(
            f"{model.loss.name} loss is not the likelihood of anything, so its rows have no Pearson or deviance residuals "
            f"and no leverage; lineal predict gives what it predicts, and diagnostics are for fits of {names}."
        )
    kind = model.verdict.kind
    if kind in ("at_infinity", "not_unique", "infeasible"):
        remedy = {
            "at_infinity": "a coefficient is infinite: drop the column, or fit with --penalty firth, and ask again",
            "not_unique": "the coefficients are not unique: drop the columns the verdict names, and ask again",
        }.get(kind, "there are no coefficients to ask about")
        raise InputError(f"{remedy}. {model.verdict.sentence}")
    if len(model.columns) > COVARIANCE_MAX_COLUMNS:
        raise InputError(
            f"diagnostics need a matrix of columns by columns, and the model has {len(model.columns):,} of them; "
            f"{COVARIANCE_MAX_COLUMNS:,} are the most. Drop columns, or ask how it predicts: lineal evaluate."
        )


def _jeffreys(triangle: Array) -> float:
    """Return half the log of the determinant of the information: what Firth's penalty adds to the log-likelihood."""
    return float(np.log(np.abs(np.diagonal(triangle))).sum())


def _influence(
    model: Model, rows: FittedRows, problem: Problem, observing: Observing, triangle: Array, sums: Sums, seed: int
) -> Influence:
    """Return what makes the numbers of every row."""
    moving = model.penalty.moving(model.coef)[:, 0]
    penalty = np.sqrt(problem.moments.weight_sum * model.penalty.curvature())
    inner = np.where(moving, triangle, 0.0)
    inverse = Inverse.of(np.concatenate([inner, np.diag(np.where(moving, penalty, 0.0))]))
    hat = float(((inner @ inverse.half) ** 2).sum())
    parameters = hat if penalty[moving].any() else float(inverse.half.shape[1])  # the trace of the hat matrix
    left = sums.observations - parameters
    estimated = model.loss.estimates_noise
    numbers = rows.numbers()
    return Influence(
        source=problem.source,
        observing=observing,
        columns=model.columns,
        numbers=numbers[::2] if observing.paired else numbers,
        inverse=inverse,
        parameters=parameters,
        left=left,
        square=sums.deviance,
        dispersion=(sums.deviance / left if left > 0.0 else math.nan) if estimated else 1.0,
        seed=seed,
    )


def _inflation(model: Model, triangle: Array) -> tuple[Inflation, ...]:
    """Return the variance inflation of every term; the intercept, where there is one, is taken off the columns."""
    first = int(model.has_intercept)
    names = model.columns[first:]
    terms = [(name, 1) for name in names]
    if isinstance(model.encoder, Encoder):
        terms = [(term.column, len(term.columns)) for term in model.encoder.terms if term.columns]
    edges = np.cumsum([0, *(width for _, width in terms)])
    groups = [np.arange(a, b) for a, b in pairwise(edges.tolist())]
    values = inflation(triangle[first:, first:], groups) if len(names) else []
    return tuple(
        Inflation(name, names[group[0] : group[-1] + 1], value)
        for (name, _), group, value in zip(terms, groups, values, strict=True)
    )


def _largest(
    influence: Influence, observations: float, count: int
) -> tuple[tuple[Influential, ...], tuple[HypothesisTest, ...]]:
    """Return the rows with the largest Cook's distances, and the test whether the farthest residual is an outlier."""
    kept: list[Influential] = []
    farthest = 0.0
    for block in influence:
        distance = np.nan_to_num(block["cooks_distance"], nan=-1.0)
        best = np.argsort(-distance, kind="stable")[: max(count, 0)]
        kept += [_row(influence.columns, block, int(k)) for k in best if distance[k] >= 0.0]
        kept = sorted(kept, key=lambda row: -row.cooks_distance)[:count]
        farthest = max(farthest, float(np.max(np.abs(np.nan_to_num(block["studentized"])), initial=0.0)))
    if not farthest > 0.0 or not influence.left > 1.0:
        return tuple(kept), ()
    test = outlier(farthest, observations, influence.left - 1.0 if influence.loss.estimates_noise else None)
    return tuple(kept), (test,)


def _row(columns: Sequence[str], block: dict[str, Array], k: int) -> Influential:
    """Return one row of the table of influence."""
    changes = {name: float(block[f"dfbetas={name}"][k]) for name in columns}
    known = {name: float(block[name][k]) for name in ("target", "mean", "studentized", "leverage", "cooks_distance")}
    return Influential(row_index=int(block["row_index"][k]), dfbetas=changes, **known)


def _tests(
    model: Model, problem: Problem, observing: Observing, sums: Sums, freedom: float
) -> tuple[HypothesisTest, ...]:
    """Return the tests of what this likelihood assumes."""
    if model.loss.estimates_noise:
        return _spread(problem, observing, sums.observations, first=int(model.has_intercept))
    if model.loss.targets == "counts":
        return (pearson_fit(sums.pearson, freedom), *cameron_trivedi(sums.observations, sums.dispersion))
    return (pearson_fit(sums.pearson, freedom),) if observing.paired else ()


def _spread(problem: Problem, observing: Observing, observations: float, first: int) -> tuple[HypothesisTest, ...]:
    """Return the tests of Breusch and Pagan (in Koenker's form) and of White: ``S R^2`` of squared residuals on columns."""
    moments = problem.moments
    flat = moments.sd <= 1e-12 * np.sqrt(moments.square)
    flat[:first] = True
    live = np.flatnonzero(~flat)
    if not len(live):
        return ()
    left, right = _pairs(len(live))
    factor = problem.source.sum(Squares(observing, moments.mean, moments.sd, live, left, right)).factor
    share, more = regression(factor, 1 + len(live))
    tests = [spread("Breusch-Pagan", "columns", observations * share, more)]
    if len(left):
        share, wide = regression(factor, factor.shape[1] - 1)
        words = "columns, squares, products" if len(left) > len(live) else "columns, squares"
        tests += [spread("White", words, observations * share, wide)] if more < wide < observations - 1 else []
    return tuple(tests)


def _pairs(columns: int) -> tuple[Index, Index]:
    """Return which products of columns White's test takes."""
    left, right = np.triu_indices(columns)
    if len(left) <= MAX_PAIRS:
        return left, right
    squares = np.arange(columns if columns <= MAX_SQUARES else 0)
    return squares, squares


def _notes(model: Model, influence: Influence, sums: Sums) -> tuple[str, ...]:
    """Return what a reader has to know."""
    notes = []
    if model.penalty.penalized.any() or model.solver == "firth":
        notes.append(
            "The fit is penalized: leverages are those of the penalized fit, parameters the trace of its hat matrix, and "
            "p-values are approximate."
        )
    if model.verdict.kind == "budget":
        notes.append(f"The fit was stopped before its optimum was proven: {model.verdict.sentence}")
    if not influence.left > 0.0:
        notes.append("There are no more observations than parameters: nothing is left to judge residuals by.")
    if model.loss.logit and not influence.observing.paired:
        notes.append(
            "Of two classes, one row at a time, no residual can show overdispersion; read the quantile residuals, which "
            "are normal where the model holds."
        )
    if model.loss.logit:
        classes = model.target.classes or ("0", "1")
        notes.append(f"Targets and means are for {classes[1]}, against {classes[0]}.")
    if sums.observations != influence.source.sum(Count()) and not influence.observing.paired:
        notes.append("Weights count rows: every figure of a row is that of one of the rows it stands for.")
    return tuple(notes)
