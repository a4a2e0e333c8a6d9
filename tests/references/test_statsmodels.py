"""Summaries, robust standard errors and ratio tests against statsmodels on random cases; weights count rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.inference.summaries import likelihood_ratio, summarise
from lineal.losses import Poisson, Softmax
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties import NoPenalty
from lineal.sources.memory import Memory

statsmodels = pytest.importorskip("statsmodels.api")

SEEDS = range(3)
TOL = 1e-13


def rows(seed, kind, n=150):
    """Return X, y, whole weights (some zero), an offset and clusters."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + 1.0
    weight = rng.integers(0, 4, size=n).astype(float)
    offset = rng.normal(size=n)
    group = rng.integers(0, 12, size=n)
    eta = X @ [1.0, -0.1, 4.0] - 1.0 + offset + 0.5 * rng.normal(size=12)[group]
    y = (
        eta + rng.normal(size=n) * (1 + X[:, 0] ** 2)
        if kind == "linear"
        else (eta + rng.logistic(size=n) > 0).astype(int)
    )
    return X, y, weight, offset, group


def fitted(kind, X, y, **roles):
    return lineal.fit(X, y, model=kind, penalty="none", tol=TOL, **roles)


def repeated(weight, *arrays):
    """Return the rows as often as their weights say: what weights mean."""
    index = np.repeat(np.arange(len(weight)), weight.astype(int))
    return [array[index] for array in arrays]


def columns(summary, name):
    return np.array([getattr(row, name) for row in summary.rows])


def agrees(summary, theirs, rtol=1e-6):
    np.testing.assert_allclose(columns(summary, "estimate"), theirs.params, rtol=rtol)
    np.testing.assert_allclose(columns(summary, "error"), theirs.bse, rtol=rtol)
    np.testing.assert_allclose(columns(summary, "statistic"), theirs.tvalues, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(columns(summary, "p"), theirs.pvalues, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(
        np.column_stack([columns(summary, "lower"), columns(summary, "upper")]), theirs.conf_int(), rtol=rtol, atol=1e-9
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_least_squares(seed):
    X, y, weight, offset, _ = rows(seed, "linear")
    ours = fitted("linear", X, y, weight=weight, offset=offset).summary()
    X, y, offset = repeated(weight, X, y, offset)
    theirs = statsmodels.OLS(y - offset, statsmodels.add_constant(X)).fit()
    agrees(ours, theirs)
    assert ours.test == "t"
    assert ours.freedom == theirs.df_resid
    figures = ours.figures
    assert figures["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-10)
    assert figures["aic"] == pytest.approx(theirs.aic + 2, rel=1e-10)  # the noise variance counts here, as in R
    assert figures["bic"] == pytest.approx(theirs.bic + np.log(len(y)), rel=1e-10)
    assert figures["sigma"] == pytest.approx(np.sqrt(theirs.scale), rel=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_shares_of_variance(intercept):
    X, y, *_ = rows(0, "linear")
    estimator = lineal.LinearRegression(fit_intercept=intercept).fit(X, y)
    figures = estimator.model_.summary().figures
    theirs = statsmodels.OLS(y, statsmodels.add_constant(X) if intercept else X).fit()
    assert figures["r2"] == pytest.approx(theirs.rsquared, rel=1e-9)
    assert figures["adjusted_r2"] == pytest.approx(theirs.rsquared_adj, rel=1e-9)
    assert figures["f_statistic"] == pytest.approx(theirs.fvalue, rel=1e-9)
    assert figures["f_p"] == pytest.approx(theirs.f_pvalue, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_logistic(seed):
    X, y, weight, offset, _ = rows(seed, "logistic")
    ours = fitted("logistic", X, y, weight=weight, offset=offset).summary(level=0.9)
    family = statsmodels.families.Binomial()
    model = statsmodels.GLM(y, statsmodels.add_constant(X), family, freq_weights=weight, offset=offset)
    theirs = model.fit(tol=1e-14)
    agrees(lineal_at(ours, 0.9, theirs), theirs)
    assert ours.test == "z"
    assert ours.figures["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-10)
    assert ours.figures["aic"] == pytest.approx(theirs.aic, rel=1e-10)
    assert ours.figures["observations"] == weight.sum()


def lineal_at(summary, level, theirs):
    """Check the interval at another level, then return the same rows with 95 % intervals for the common comparison."""
    found = np.column_stack([columns(summary, "lower"), columns(summary, "upper")])
    np.testing.assert_allclose(found, theirs.conf_int(alpha=1 - level), rtol=1e-6, atol=1e-9)
    from dataclasses import replace

    wide = theirs.conf_int()
    return replace(
        summary, rows=tuple(replace(row, lower=lo, upper=up) for row, (lo, up) in zip(summary.rows, wide, strict=True))
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_null_and_mcfadden(seed):
    X, y, *_ = rows(seed, "logistic")
    figures = fitted("logistic", X, y).summary().figures
    theirs = statsmodels.Logit(y, statsmodels.add_constant(X)).fit(disp=False, tol=1e-12)
    assert figures["null_log_likelihood"] == pytest.approx(theirs.llnull, rel=1e-9)
    assert figures["mcfadden"] == pytest.approx(theirs.prsquared, rel=1e-8)
    assert figures["bic"] == pytest.approx(theirs.bic, rel=1e-10)
    assert figures["ratio_statistic"] == pytest.approx(theirs.llr, rel=1e-8)
    assert figures["ratio_p"] == pytest.approx(theirs.llr_pvalue, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3"])
def test_robust_least_squares(seed, kind):
    X, y, weight, offset, _ = rows(seed, "linear")
    model = fitted("linear", X, y, weight=weight, offset=offset)
    ours = summarise(model, X, y, weight=weight, offset=offset, errors=kind)
    X, y, offset = repeated(weight, X, y, offset)
    agrees(ours, statsmodels.OLS(y - offset, statsmodels.add_constant(X)).fit(cov_type=kind, use_t=True))
    assert kind in str(ours)


@pytest.mark.parametrize("seed", SEEDS)
def test_robust_logistic(seed):
    X, y, weight, offset, _ = rows(seed, "logistic")
    model = fitted("logistic", X, y, weight=weight, offset=offset)
    ours = [summarise(model, X, y, weight=weight, offset=offset, errors=kind) for kind in ("HC0", "HC1")]
    X, y, offset = repeated(weight, X, y, offset)
    design = statsmodels.GLM(y, statsmodels.add_constant(X), statsmodels.families.Binomial(), offset=offset)
    theirs = design.fit(tol=1e-14, cov_type="HC0")
    agrees(ours[0], theirs)
    # for a GLM statsmodels takes HC1 for HC0; the factor is that of least squares
    np.testing.assert_allclose(columns(ours[1], "error"), theirs.bse * np.sqrt(len(y) / (len(y) - 4)), rtol=1e-6)


@pytest.mark.parametrize("power", [1, 2])
def test_robust_logistic_with_leverages(power):
    """statsmodels has no HC2 and HC3 for GLMs; the definition, written out."""
    X, y, weight, offset, _ = rows(1, "logistic")
    model = fitted("logistic", X, y, weight=weight, offset=offset)
    ours = summarise(model, X, y, weight=weight, offset=offset, errors=f"HC{power + 1}")
    X, y, offset = repeated(weight, X, y, offset)
    Z = np.column_stack([np.ones(len(X)), X])
    p = 1 / (1 + np.exp(-(Z @ model.coef[:, 0] + offset)))
    bread = np.linalg.inv(Z.T @ (Z * (p * (1 - p))[:, None]))
    h = p * (1 - p) * np.einsum("ni,ij,nj->n", Z, bread, Z)
    meat = Z.T @ (Z * ((y - p) ** 2 / (1 - h) ** power)[:, None])
    np.testing.assert_allclose(columns(ours, "error"), np.sqrt(np.diag(bread @ meat @ bread)), rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_clusters(seed, kind):
    X, y, weight, offset, group = rows(seed, kind)
    model = fitted(kind, X, y, weight=weight, offset=offset)
    ours = summarise(model, X, y, weight=weight, offset=offset, cluster=group)
    X, y, offset, group = repeated(weight, X, y, offset, group)
    Z = statsmodels.add_constant(X)
    if kind == "linear":
        theirs = statsmodels.OLS(y - offset, Z).fit(cov_type="cluster", cov_kwds={"groups": group}, use_t=True)
    else:
        family = statsmodels.families.Binomial()
        theirs = statsmodels.GLM(y, Z, family, offset=offset).fit(
            tol=1e-14, cov_type="cluster", cov_kwds={"groups": group}
        )
    agrees(ours, theirs)
    assert "12 clusters" in ours.errors


def test_clusters_are_a_column_of_the_table():
    X, y, weight, _, group = rows(2, "logistic")
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.where(y, "yes", "no"), w=weight, town=group)
    table.loc[7, "y"] = None  # no target: left out, with its cluster
    model = lineal.fit(table, target="y", weight="w", drop=["town"], model="logistic", penalty="none", tol=TOL)
    ours = summarise(model, table, cluster="town")
    assert "by town" in ours.errors
    weight[7] = 0
    X, y, group = repeated(weight, X, y, group)
    theirs = statsmodels.GLM(y, statsmodels.add_constant(X), statsmodels.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": group}
    )
    agrees(ours, theirs)
    with pytest.raises(InputError, match="towns"):
        summarise(model, table, cluster="towns")
    with pytest.raises(InputError, match="empty in row 4"):
        summarise(model, table.assign(town=table["town"].where(table.index != 3)), cluster="town")
    with pytest.raises(InputError, match="not the rows"):
        summarise(model, table.iloc[:-1], errors="HC1")
    changed = table.assign(a=table["a"].where(table.index != 5, 3.0))
    with pytest.raises(InputError, match="not the rows"):
        summarise(model, changed, errors="HC1")


def test_held_out_rows_are_left_out():
    X, y, *_ = rows(2, "linear")
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    model = lineal.fit(table, target="y", model="linear", test_size=0.3, seed=5)
    here = summarise(model, table)
    np.testing.assert_allclose(columns(here, "error"), columns(model.summary(), "error"), rtol=1e-10)
    arrays = lineal.fit(X, y, model="linear", test_size=0.3, seed=5)
    np.testing.assert_allclose(columns(summarise(arrays, X, y), "error"), columns(here, "error"), rtol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_multinomial_contrasts(seed):
    X, y, *_ = rows(seed, "linear")
    labels = np.array(["low", "mid", "top"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    model = lineal.fit(X, labels, model="logistic", penalty="none", tol=TOL)
    theirs = statsmodels.MNLogit(np.searchsorted(["low", "mid", "top"], labels), statsmodels.add_constant(X))
    theirs = theirs.fit(method="newton", tol=1e-14, disp=False)
    ours = model.summary(against="low")
    np.testing.assert_allclose(columns(ours, "estimate"), theirs.params.ravel(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(columns(ours, "error"), theirs.bse.ravel(), rtol=1e-5)
    assert ours.figures["parameters"] == 8
    assert ours.figures["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-9)
    assert ours.figures["mcfadden"] == pytest.approx(theirs.prsquared, rel=1e-8)
    assert "class low" in str(ours)
    # against the mean of all classes: the contrast 2/3 b_mid - 1/3 b_top of statsmodels' coefficients, and its variance
    mean = model.summary()
    contrast = np.kron(np.array([[2.0, -1.0]]) / 3.0, np.eye(4))
    spread = contrast @ theirs.cov_params() @ contrast.T
    found = columns(mean, "error").reshape(4, 3)[:, 1]
    np.testing.assert_allclose(found, np.sqrt(np.diag(spread)), rtol=1e-5)
    assert "mean of all classes" in str(mean)


def test_multinomial_robust():
    X, y, weight, _, group = rows(4, "linear")
    codes = np.digitize(y, np.quantile(y, [0.3, 0.7])).astype(float)
    result = fit(Memory(as_design(X), codes, weight), Softmax(3), NoPenalty(4), tol=TOL)
    from lineal.fitting.covariance import clustered, robust

    contrast = np.kron(np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]), np.eye(4))
    ours = contrast @ robust(result.problem, result.coef, "HC0") @ contrast.T
    X, codes, group_ = repeated(weight, X, codes, group)
    model = statsmodels.MNLogit(codes, statsmodels.add_constant(X))
    theirs = model.fit(method="newton", tol=1e-14, disp=False, cov_type="HC0")
    np.testing.assert_allclose(ours, theirs.cov_params(), rtol=1e-5, atol=1e-9)
    spread, count = clustered(result.problem, result.coef, group)
    params = {"groups": group_, "use_correction": False}
    theirs = model.fit(method="newton", tol=1e-14, disp=False, cov_type="cluster", cov_kwds=params)
    factor = count / (count - 1) * (len(codes) - 1) / (len(codes) - 8)
    np.testing.assert_allclose(contrast @ spread @ contrast.T, factor * theirs.cov_params(), rtol=1e-5, atol=1e-9)
    with pytest.raises(InputError, match="HC0, HC1"):
        robust(result.problem, result.coef, "HC3")


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
