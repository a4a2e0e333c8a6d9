"""Ratio tests, counts and the display of a summary, against statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.inference import likelihood_ratio, summarise
from lineal.losses import Poisson
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties import NoPenalty
from lineal.sources.memory import Memory
from tests.references.statsmodels_cases import SEEDS, agrees, columns, fitted, repeated, rows, statsmodels


@pytest.mark.parametrize("seed", SEEDS)
def test_likelihood_ratio(seed):
    X, y, weight, offset, _ = rows(seed, "logistic")
    roles = {"weight": weight, "offset": offset}
    ours = likelihood_ratio(fitted("logistic", X[:, :1], y, **roles), fitted("logistic", X, y, **roles))
    family = statsmodels.families.Binomial()
    fits = [
        statsmodels.GLM(y, statsmodels.add_constant(part), family, freq_weights=weight, offset=offset).fit(tol=1e-14)
        for part in (X[:, :1], X)
    ]
    assert ours.statistic == pytest.approx(2 * (fits[1].llf - fits[0].llf), rel=1e-8)
    assert ours.more == 2
    from scipy import stats

    assert ours.p == pytest.approx(stats.chi2.sf(ours.statistic, 2), rel=1e-10)


def test_likelihood_ratio_of_least_squares():
    X, y, weight, *_ = rows(0, "linear")
    ours = likelihood_ratio(fitted("linear", X[:, :1], y, weight=weight), fitted("linear", X, y, weight=weight))
    X, y = repeated(weight, X, y)
    large = statsmodels.OLS(y, statsmodels.add_constant(X)).fit()
    small = statsmodels.OLS(y, statsmodels.add_constant(X[:, :1])).fit()
    statistic, p, more = large.compare_lr_test(small)
    assert (ours.statistic, ours.p, ours.more) == pytest.approx((statistic, p, more), rel=1e-8)
    f, f_p, _ = large.compare_f_test(small)
    assert (ours.f, ours.f_p) == pytest.approx((f, f_p), rel=1e-8)
    assert "F = " in str(ours)


def test_ratio_test_of_a_model_that_repeats_a_column():
    """Dependent columns are not counted: the optimum is the same, only its coefficients are not unique."""
    X, y, *_ = rows(0, "logistic")
    X = np.round(2.0**20 * X) / 2.0**20  # so that the sum below is exact
    small, large = fitted("logistic", X[:, :1], y), fitted("logistic", X, y)
    twice = fitted("logistic", np.column_stack([X, X[:, 0] + X[:, 1]]), y)
    assert twice.verdict.kind == "not_unique"
    ours, theirs = likelihood_ratio(small, twice), likelihood_ratio(small, large)
    assert (ours.more, ours.statistic) == (2, pytest.approx(theirs.statistic, rel=1e-8))
    with pytest.raises(InputError, match="no column"):
        likelihood_ratio(large, twice)


def test_one_cluster_per_row_is_for_sampling_weights():
    X, y, weight, *_ = rows(0, "linear")
    weight = weight + 0.5
    model = fitted("linear", X, y, weight=weight)
    ours = summarise(model, X, y, weight=weight, cluster=np.arange(len(y)))
    theirs = statsmodels.WLS(y, statsmodels.add_constant(X), weight).fit(cov_type="HC0")
    S, n = weight.sum(), len(y)
    factor = n / (n - 1) * (S - 1) / (S - 4)
    np.testing.assert_allclose(columns(ours, "error"), theirs.bse * np.sqrt(factor), rtol=1e-8)


def test_models_that_cannot_be_compared():
    X, y, *_ = rows(0, "linear")
    large = fitted("linear", X, y)
    with pytest.raises(InputError, match="same rows"):
        likelihood_ratio(fitted("linear", X[:-1, :1], y[:-1]), large)
    with pytest.raises(InputError, match="same rows"):
        likelihood_ratio(fitted("linear", X[:, :1], y[::-1] * 2), large)
    with pytest.raises(InputError, match="no column"):
        likelihood_ratio(large, large)
    with pytest.raises(InputError, match="ridge"):
        likelihood_ratio(lineal.fit(X[:, :1], y, model="ridge", penalty=0.1), large)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    whole = lineal.fit(table, target="y", model="linear", drop=["c"])
    with pytest.raises(InputError, match="nested"):
        likelihood_ratio(lineal.fit(table, target="y", model="linear", drop=["a", "b"]), whole)


def test_what_has_no_standard_errors_says_what_to_do():
    X, y, *_ = rows(0, "linear")
    with pytest.raises(InputError, match="posterior"):
        lineal.fit(X, y, model="ridge", penalty=0.1).summary()
    with pytest.raises(InputError, match="not unique"):
        fitted("linear", np.column_stack([X, X[:, 0]]), y).summary()
    with pytest.raises(InputError, match="Firth"):
        fitted("logistic", X, (X[:, 0] > 1).astype(int)).summary()
    with pytest.raises(InputError, match="level"):
        fitted("linear", X, y).summary(level=95)
    with pytest.raises(InputError, match="one score"):
        fitted("linear", X, y).summary(against="low")
    with pytest.raises(InputError, match="exclude"):
        summarise(fitted("linear", X, y), X, y, errors="HC1", cluster=np.arange(len(y)))
    with pytest.raises(InputError, match="HC3"):
        summarise(fitted("linear", X, y), X, y, errors="HC4")
    with pytest.raises(InputError, match="no covariance"):
        fitted("linear", X[:4], y[:4]).summary()


def test_several_targets():
    X, y, weight, *_ = rows(0, "linear")
    both = np.column_stack([y, X[:, 0] - 0.1 * y**2])
    ours = lineal.fit(X, both, model="linear", weight=weight)
    summary = ours.summary()
    X, both = repeated(weight, X, both)
    theirs = [statsmodels.OLS(both[:, k], statsmodels.add_constant(X)).fit() for k in range(2)]
    errors = columns(summary, "error").reshape(4, 2)
    for k in range(2):
        np.testing.assert_allclose(errors[:, k], theirs[k].bse, rtol=1e-8)
    assert summary.figures["log_likelihood"] == pytest.approx(theirs[0].llf + theirs[1].llf, rel=1e-9)
    assert summary.rows[0].output != summary.rows[1].output


def test_the_display_holds_every_figure():
    X, y, *_ = rows(0, "linear")
    summary = fitted("linear", X, y).summary()
    words, page = str(summary), summary._repr_html_()
    for row in summary.rows:
        assert f"{row.estimate:.5g}" in words
        assert f"<td>{row.error:.5g}</td>" in page
    assert summary.to_dict()["rows"][0]["estimate"] == summary.rows[0].estimate
    from rich.console import Console

    console = Console(width=200)
    with console.capture() as captured:
        console.print(summary)
    assert f"{summary.figures['aic']:.5g}" in captured.get()


@pytest.mark.parametrize("seed", SEEDS)
def test_counts(seed):
    """Poisson: the log-likelihood needs log y!, which a model does not keep, so its summary says where to get it."""
    X, y, weight, offset, group = rows(seed, "linear")
    rng = np.random.default_rng(seed)
    y = rng.poisson(np.exp(0.2 * X[:, 0] - 0.02 * X[:, 1] + 0.3 * offset)).astype(float)
    result = fit(Memory(as_design(X), y, weight, 0.3 * offset), Poisson(), NoPenalty(4), tol=1e-12)
    assert result.verdict.kind == "optimal"
    model = Model(
        result.coef,
        result.problem.source.columns,
        Poisson(),
        result.problem.penalty,
        Target("y", "number"),
        result.verdict,
        training={"rows": result.problem.moments.rows, "weight_sum": weight.sum()},
        arrays=result.arrays,
    )
    family = statsmodels.families.Poisson()
    design = statsmodels.add_constant(X)
    theirs = statsmodels.GLM(y, design, family, freq_weights=weight, offset=0.3 * offset).fit(tol=1e-14)
    stored = model.summary()
    agrees(stored, theirs)
    assert stored.figures["log_likelihood"] is None
    assert "lineal.summarise" in str(stored)
    ours = summarise(model, X, y, weight=weight, offset=0.3 * offset)
    assert ours.figures["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-10)
    assert ours.figures["aic"] == pytest.approx(theirs.aic, rel=1e-10)
    clustered = summarise(model, X, y, weight=weight, offset=0.3 * offset, cluster=group)
    X, y, offset, group = repeated(weight, X, y, offset, group)
    theirs = statsmodels.GLM(y, statsmodels.add_constant(X), family, offset=0.3 * offset)
    agrees(clustered, theirs.fit(tol=1e-14, cov_type="cluster", cov_kwds={"groups": group}))
