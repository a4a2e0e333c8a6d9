"""Summaries above a fit: standard errors, classical or robust, from another look at the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from lineal.errors import InputError, near
from lineal.fitting import covariance
from lineal.fitting.firth import firth, profile
from lineal.ground.records import dataclass
from lineal.inference.profiles import profiled
from lineal.inference.rows import about, fitted_rows, same_rows
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.summary import Summary
from lineal.penalties import NoPenalty
from lineal.problem.problem import Problem
from lineal.sources.source import Block, Source

PROFILE: Final = "profile"
"""The ``errors`` that ask for intervals from the profile of the likelihood."""


def summarise(
    model: Model,
    data: Any,
    y: Any = None,
    *,
    weight: Any = None,
    offset: Any = None,
    errors: str = "classical",
    cluster: Any = None,
    level: float = 0.95,
    against: str | None = None,
) -> Summary:
    """Return the summary of a fit from another look at the rows it was fitted on, with the standard errors asked for.

    ``errors`` is "classical", "HC0", "HC1", "HC2" or "HC3"; or "profile": intervals and tests are those of the profile of
    the likelihood, which hold where standard errors are poor guides. ``cluster`` names a column of the table (or is an
    array, one value per row) whose rows depend on each other. A fit with Firth's penalty has profile intervals only.
    ``data`` is the table the model was fitted on, whole; a model fitted on arrays takes those, with ``y``, ``weight``,
    ``offset``.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> model = lineal.fit(table, target="effect", model="linear")
    >>> round(summarise(model, table, errors="HC1").rows[1].error, 4)
    0.0328
    """
    if model.solver == "firth":
        if errors != "classical" or cluster is not None or against is not None:
            raise InputError(
                "a fit with Firth's penalty has profile intervals only; leave errors, cluster and against out."
            )
        return _profiled(model, about(fitted_rows(model, data, y, weight, offset).source, model.center), level)
    if model.variances is not None:
        raise InputError("the posterior of model bayes is in the model itself, without data: use its summary.")
    model.refuse_summary()
    if cluster is not None and errors != "classical":
        raise InputError(f"errors={errors!r} and cluster exclude each other: clustered errors are robust already.")
    accepted = ("classical", *covariance.ROBUST, PROFILE)
    if errors not in accepted:
        raise InputError(
            f"the standard errors are {errors!r}; known are {', '.join(accepted)}.{near(errors, accepted)}"
        )
    rows = fitted_rows(model, data, y, weight, offset)
    source = about(rows.source, model.center)
    problem = Problem.of(source, model.loss, NoPenalty(len(model.columns)))
    same_rows(model, problem)
    likelihood = model.likelihood(_base(source, model.loss) if model.loss.has_base else None)
    words, freedom = errors, None
    if cluster is not None:
        spread, count = covariance.clustered(problem, model.coef, rows.clusters(cluster))
        name = f" by {cluster}" if isinstance(cluster, str) else ""
        words, freedom = f"clustered{name} ({count} clusters)", float(count - 1)
    elif errors in ("classical", PROFILE):
        classical = covariance.covariance(problem, model.coef)
        if classical is None:
            raise InputError("there are too many coefficients, or too few rows, for standard errors.")
        spread = classical
    else:
        spread = covariance.robust(problem, model.coef, errors)
    if errors == PROFILE:
        summary = model.summarised(likelihood, spread, "classical", level=level, against=against)
        shown = "Intervals and p-values are from the profile of the likelihood, not from standard errors."
        rows_of = profiled(model, problem, spread, level)
        return replace(summary, rows=rows_of, test="likelihood ratio", notes=(*summary.notes, shown))
    freedom = freedom if likelihood.freedom is not None else None
    return model.summarised(likelihood, spread, words, level=level, against=against, freedom=freedom)


def _profiled(model: Model, source: Source, level: float) -> Summary:
    """Return the profile of a model with Firth's penalty, refusing rows on which it is not where it says it is."""
    refit = firth(source, start=model.coef)
    error = np.sqrt(np.diagonal(refit.arrays["covariance"]))
    if not np.all(np.abs(refit.coef - model.coef)[:, 0] <= 1e-3 * error):
        raise InputError("these are not the rows the model was fitted on: Firth's penalty has another optimum on them.")
    summary = profile(refit, level=level)
    return replace(summary, title=f"{summary.title} of {model.target.name}")


def _base(source: Source, loss: Loss) -> float:
    """Return the part of the log-likelihood that depends on the targets alone."""
    return source.sum(OfTargets(loss))


@dataclass(frozen=True)
class OfTargets:
    """The task that sums the part of the log-likelihood that depends on the targets alone."""

    loss: Loss

    def __call__(self, block: Block) -> float:
        """Sum over one block."""
        present = block.weights > 0.0
        return self.loss.base(block.y[present], block.weights[present])
