"""Fits with a method of their own: Firth's penalty, the posterior of model bayes, the fewest mistakes of zero-one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lineal.api.dataset import Dataset
from lineal.api.request import Estimate, Ready, Request, Run
from lineal.errors import InputError
from lineal.fitting import fitting
from lineal.fitting.covariance import COVARIANCE_MAX_COLUMNS
from lineal.fitting.evidence import evidence
from lineal.fitting.firth import firth
from lineal.ground.arrays import Array
from lineal.model.trace import Record
from lineal.paths.selection import FALLBACK
from lineal.penalties import Ridge
from lineal.perceptron.mistakes import mistaking
from lineal.sources.source import Source


def fit_its_own(dataset: Dataset, request: Request, ready: Ready, level: Array, run: Run) -> Estimate:
    """Fit what has a method of its own: Firth's penalty, model bayes or zero-one."""
    source, loss, moments, report = dataset.train, ready.loss, ready.moments, ready.report
    if request.model.name == "bayes":
        return _bayes(source, ready, level, run, {key: float(value) for key, value in request.model.options})
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


def _bayes(source: Source, ready: Ready, level: Array, run: Run, given: Mapping[str, float]) -> Estimate:
    """Find the posterior; variances that are not given maximise the evidence.

    Interrupted before they are known, stop a plain ridge at its start.
    """
    try:
        posterior = evidence(
            source,
            noise=given.get("noise"),
            prior=given.get("prior"),
            penalty_factors=ready.units.squares,
            tol=run.tol,
            time_limit=run.deadline,
            moments=ready.moments,
            progress=run.progress,
        )
    except KeyboardInterrupt:
        if run.interrupt == "raise":
            raise
        plain = Ridge(FALLBACK, ready.units.squares)
        fitted = fitting.fit(
            source, ready.loss, plain, moments=ready.moments, progress=stop_at_once, interrupt="budget"
        )
        return Estimate(
            fitted, ready, "ridge", level, penalty_factors=ready.units.stated("variance"), report=ready.report
        )
    if posterior.late:
        return Estimate(
            posterior.fit, ready, "ridge", level, penalty_factors=ready.units.stated("variance"), report=ready.report
        )
    reason = "one eigendecomposition of the gram, then a search for the two variances"
    if len(given) == 2:
        reason = "both variances are given: a ridge in closed form"
    arrays = dict(posterior.fit.arrays)
    if len(posterior.covariance) <= COVARIANCE_MAX_COLUMNS and np.all(np.isfinite(posterior.covariance)):
        arrays["covariance"] = posterior.covariance
    fitted = replace(
        posterior.fit, verdict=posterior.verdict, trace=posterior.trace, solver="evidence", reason=reason, arrays=arrays
    )
    names = ("noise", "prior", "degrees", "log_evidence")
    variances = {name: float(getattr(posterior, name)) for name in names}
    report = {**ready.report, "bayes": {**variances, "given": sorted(given)}}
    return Estimate(fitted, ready, "bayes", level, penalty_factors=ready.units.stated("variance"), report=report)


def stop_at_once(_record: Record) -> None:
    """Pass on a Ctrl-C that came while the strength was picked: the fit ends at its first step, with a verdict."""
    raise KeyboardInterrupt
