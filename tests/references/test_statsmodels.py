"""Summaries, robust standard errors and ratio tests against statsmodels on random cases; weights count rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lineal
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.inference import summarise
from lineal.losses import Softmax
from lineal.penalties import NoPenalty
from lineal.sources.memory import Memory
from tests.references.statsmodels_cases import SEEDS, TOL, agrees, columns, fitted, repeated, rows, statsmodels


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


def test_complete_cases(tmp_path):
    """A fit to complete rows alone finds them again in its table."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    frame["y"] = frame["a"] - frame["b"] + rng.normal(size=80)
    frame.loc[[3, 11, 40], "a"] = np.nan
    frame.loc[[11, 60], "b"] = np.nan
    model = lineal.fit(frame, "y", model="linear", penalty="none", missing="drop", test_size=0)
    whole = frame.dropna()
    theirs = statsmodels.OLS(whole["y"], statsmodels.add_constant(whole[["a", "b"]])).fit()
    agrees(summarise(model, frame), theirs)
    assert len(whole) == 76
