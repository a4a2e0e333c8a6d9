"""Tests between nested models: likelihood ratio, Wald and score, which agree where there are many rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.fitting import covariance
from lineal.ground.arrays import Array
from lineal.inference.hypotheses import Tests
from lineal.inference.hypothesis import HypothesisTest
from lineal.inference.ratios import keys, likelihood_ratio
from lineal.inference.rows import about, fitted_rows, same_rows
from lineal.inference.wald import Estimates
from lineal.model.model import Model
from lineal.penalties import NoPenalty
from lineal.problem.problem import Problem


def nested_tests(
    small: Model, large: Model, data: Any = None, y: Any = None, *, weight: Any = None, offset: Any = None
) -> Tests:
    """Return the tests whether the columns that ``large`` has and ``small`` lacks are worth having.

    Likelihood ratio ``2 (log L_large - log L_small)``; Wald's, the distance of their coefficients from zero; with the rows
    of the fits (``data`` and what follows, as for ``summarise``) also the score test, ``u' I^-1 u``: u and I are slope and
    information of the log-likelihood of ``large`` at the coefficients of ``small``. All are chi-squared; for least squares
    F is the exact test, and the score test is ``S R^2`` of the residuals of ``small`` on the columns of ``large``.

    >>> import lineal
    >>> table = {"a": [0.0, 1.0, 2.0, 3.5], "b": [1.0, 0.5, 1.0, 0.0], "y": [0.1, 1.1, 1.9, 3.6]}
    >>> large = lineal.fit(table, target="y", model="linear", penalty="none")
    >>> small = lineal.fit(table, target="y", model="linear", penalty="none", drop=["b"])
    >>> [test.name for test in nested_tests(small, large, table).tests]
    ['Likelihood ratio', 'F', 'Score']
    """
    ratio = likelihood_ratio(small, large)
    shared = set(keys(small))
    further = [name for name, key in zip(large.columns, keys(large), strict=True) if key not in shared]
    null = f"{_listed(further)} add{'s' if len(further) == 1 else ''} nothing"
    tests = [HypothesisTest.chi_squared("Likelihood ratio", null, ratio.statistic, ratio.more)]
    notes = list(large.filled_notes)
    if ratio.f is not None and ratio.left is not None:
        tests.append(HypothesisTest.f("F", null, ratio.f, ratio.more, ratio.left))
    if large.verdict.kind != "optimal":
        notes.append("Wald's test and the score test need unique coefficients: drop the columns the verdict names.")
    else:
        if ratio.f is None:
            estimates = Estimates.of(large)
            places = [large.columns.index(name) for name in further]
            picked = estimates.picked(places, len(large.columns))
            tests.append(HypothesisTest.chi_squared("Wald", null, *estimates.distance(picked)))
        if data is None:
            notes.append("The score test needs the rows: give the data of the fits.")
        else:
            tests.append(_score(small, large, null, ratio.more, fitted_rows(large, data, y, weight, offset).source))
    words = f"{len(small.columns)} against {len(large.columns)} columns"
    return Tests(f"{large.loss.summary_title()} of {large.target.name}; {words}", tuple(tests), notes=tuple(notes))


def _listed(names: list[str]) -> str:
    """Return some names as words."""
    shown = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _score(small: Model, large: Model, null: str, more: int, source: Any) -> HypothesisTest:
    """Return the score test: of the slope of the larger log-likelihood at the coefficients of the smaller model."""
    problem = Problem.of(about(source, large.center), large.loss, NoPenalty(len(large.columns)))
    same_rows(large, problem)
    here = _embedded(small, large)
    if not np.all(np.isfinite(here)):
        raise InputError("the smaller model has coefficients that are not finite, at which there is no score.")
    slope = problem.moments.weight_sum * problem.evaluate(here).gradient.T.reshape(-1)
    spread, squares = covariance.inverse(problem, here)
    noise = 1.0 if squares is None else 2.0 * problem.evaluate(here).value
    return HypothesisTest.chi_squared("Score", null, float(slope @ spread @ slope) / noise, more)


def _embedded(small: Model, large: Model) -> Array:
    """Return the coefficients of the smaller model on the columns of the larger one."""
    places = {key: place for place, key in enumerate(keys(large))}
    here = np.zeros_like(large.coef)
    here[[places[key] for key in keys(small)]] = small.coef
    if large.has_intercept and small.has_intercept:
        for sign, model in ((-1.0, small), (1.0, large)):  # scores are (X - center) b in each
            if model.center is not None:
                own = here[[places[key] for key in keys(model)]]
                here[0] += sign * (model.center[1:] @ own[1:])
    return here
