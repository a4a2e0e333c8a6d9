"""Diagnostics against statsmodels, refits without a row, and hand computation; weights count rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lineal
from lineal.errors import InputError
from lineal.inference import observations
from lineal.losses import Logistic, Poisson
from tests.references.statsmodels_cases import SEEDS, fitted, repeated, rows, statsmodels

influence = pytest.importorskip("statsmodels.stats.outliers_influence")
diagnostic = pytest.importorskip("statsmodels.stats.diagnostic")


def first(weight, values):
    """Return what repeated rows have, once for each row that is there."""
    count = weight.astype(int)
    return np.asarray(values)[(np.cumsum(count) - count)[count > 0]]


@pytest.mark.parametrize("seed", SEEDS)
def test_least_squares(seed):
    X, y, weight, offset, _ = rows(seed, "linear")
    found = fitted("linear", X, y, weight=weight, offset=offset).diagnostics(X, y, weight=weight, offset=offset)
    ours, present = found.arrays(), weight > 0.0
    X, y, offset = repeated(weight, X, y, offset)
    theirs = influence.OLSInfluence(statsmodels.OLS(y - offset, statsmodels.add_constant(X)).fit())
    expected = {
        "raw": theirs.resid,
        "leverage": theirs.hat_matrix_diag,
        "standardized": theirs.resid_studentized_internal,
        "studentized": theirs.resid_studentized_external,
        "cooks_distance": theirs.cooks_distance[0],
        "dffits": theirs.dffits[0],
    }
    changes = dict(zip(("(intercept)", "x0", "x1", "x2"), theirs.dfbetas.T, strict=True))
    for name, values in (expected | {f"dfbetas={name}": change for name, change in changes.items()}).items():
        np.testing.assert_allclose(ours[name][present], first(weight, values), rtol=1e-8, atol=1e-10, err_msg=name)
        assert np.isnan(ours[name][~present]).all()
    assert found.parameters == pytest.approx(4.0, rel=1e-12)
    assert found.dispersion == pytest.approx(theirs.results.scale, rel=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_heteroscedasticity(seed):
    X, y, weight, offset, _ = rows(seed, "linear")
    found = fitted("linear", X, y, weight=weight, offset=offset).diagnostics(X, y, weight=weight, offset=offset)
    X, y, offset = repeated(weight, X, y, offset)
    constant = statsmodels.add_constant(X)
    residuals = statsmodels.OLS(y - offset, constant).fit().resid
    tests = {test.name: test for test in found.tests}
    for name, theirs in (
        ("Breusch-Pagan", diagnostic.het_breuschpagan(residuals, constant)),
        ("White", diagnostic.het_white(residuals, constant)),
    ):
        assert tests[name].statistic == pytest.approx(theirs[0], rel=1e-8)
        assert tests[name].p == pytest.approx(theirs[1], rel=1e-6)
    assert (tests["Breusch-Pagan"].freedom, tests["White"].freedom) == (3, 9)


def test_white_of_a_category():
    """Squares of indicators are the indicators: the degrees of freedom are those of the columns that remain."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=90), "job": rng.choice(["x", "y", "z"], 90)})
    frame["t"] = frame["a"] + rng.normal(size=90) * (1 + (frame["job"] == "y"))
    found = lineal.fit(frame, "t", model="linear", penalty="none", test_size=0).diagnostics(frame)
    levels = pd.get_dummies(frame["job"], drop_first=True, dtype=float).to_numpy()
    a = frame["a"].to_numpy()
    design = np.column_stack([np.ones(90), a, levels])
    residual = frame["t"] - design @ np.linalg.lstsq(design, frame["t"], rcond=None)[0]
    wide = np.column_stack([design, a**2, a[:, None] * levels])
    squares = residual.to_numpy() ** 2
    rest = squares - wide @ np.linalg.lstsq(wide, squares, rcond=None)[0]
    white = next(test for test in found.tests if test.name == "White")
    assert white.freedom == 6
    assert white.statistic == pytest.approx(90 * (1 - rest @ rest / ((squares - squares.mean()) ** 2).sum()), rel=1e-9)


@pytest.mark.parametrize("kind", ["logistic", "poisson"])
@pytest.mark.parametrize("seed", SEEDS)
def test_generalized(kind, seed):
    X, y, weight, offset, _ = rows(seed, "logistic")
    if kind == "poisson":
        X, offset = X / 4.0, offset / 4.0
        y = np.random.default_rng(seed).poisson(np.exp(X @ [1.0, -0.1, 4.0] - 1.0 + offset))
    found = fitted(kind, X, y, weight=weight, offset=offset).diagnostics(X, y, weight=weight, offset=offset)
    ours, present = found.arrays(), weight > 0.0
    X, y, offset = repeated(weight, X, y, offset)
    family = statsmodels.families.Binomial() if kind == "logistic" else statsmodels.families.Poisson()
    fit = statsmodels.GLM(y, statsmodels.add_constant(X), family, offset=offset).fit(tol=1e-14)
    theirs = fit.get_influence(observed=False)
    expected = {
        "pearson": fit.resid_pearson,
        "deviance": fit.resid_deviance,
        "raw": fit.resid_response,
        "leverage": theirs.hat_matrix_diag,
        "standardized": theirs.resid_studentized,
        "cooks_distance": theirs.cooks_distance[0],
    }
    changes = dict(zip(("(intercept)", "x0", "x1", "x2"), theirs.dfbetas.T, strict=True))
    for name, values in (expected | {f"dfbetas={name}": change for name, change in changes.items()}).items():
        np.testing.assert_allclose(ours[name][present], first(weight, values), rtol=2e-6, atol=1e-8, err_msg=name)
    assert found.deviance == pytest.approx(fit.deviance, rel=1e-9)
    assert found.pearson == pytest.approx(fit.pearson_chi2, rel=1e-7)
    # R's rstudent of a glm: sign(d) sqrt(d^2 + h p^2 / (1 - h))
    h, p, d = (ours[name][present] for name in ("leverage", "pearson", "deviance"))
    np.testing.assert_allclose(ours["studentized"][present], np.sign(d) * np.sqrt(d**2 + h * p**2 / (1 - h)), rtol=1e-9)


def test_counts_of_two_things():
    """Successes and failures are one observation a row, as in R and statsmodels."""
    rng = np.random.default_rng(3)
    a, trials = rng.normal(size=40), rng.integers(1, 12, 40)
    won = rng.binomial(trials, 1 / (1 + np.exp(-a)))
    frame = pd.DataFrame({"a": a, "won": won, "lost": trials - won})
    found = lineal.fit(frame, ["won", "lost"], penalty="none", test_size=0, tol=1e-13).diagnostics(frame)
    ours = found.arrays()
    binomial = statsmodels.families.Binomial()
    fit = statsmodels.GLM(np.column_stack([won, trials - won]), statsmodels.add_constant(a), binomial).fit(tol=1e-14)
    theirs = fit.get_influence(observed=False)
    for name, values in (
        ("pearson", fit.resid_pearson),
        ("deviance", fit.resid_deviance),
        ("leverage", theirs.hat_matrix_diag),
        ("cooks_distance", theirs.cooks_distance[0]),
    ):
        np.testing.assert_allclose(ours[name], values, rtol=1e-6, atol=1e-9, err_msg=name)
    assert ours["row_index"].tolist() == list(range(40))
    test = next(test for test in found.tests if test.name == "Pearson")
    assert test.p == pytest.approx(stats.chi2.sf(fit.pearson_chi2, 38), rel=1e-6)
    # a quantile residual lies between those of one success less and of the same
    mean = fit.fittedvalues
    low, high = stats.binom.cdf(won - 1, trials, mean), stats.binom.cdf(won, trials, mean)
    chance = stats.norm.cdf(ours["quantile"])
    assert np.all((chance >= low - 1e-9) & (chance <= high + 1e-9))


def test_overdispersion():
    rng = np.random.default_rng(4)
    x = rng.normal(size=300)
    y = rng.negative_binomial(2.0, 2.0 / (2.0 + np.exp(0.5 + 0.5 * x)))
    found = lineal.fit(x[:, None], y, model="poisson", penalty="none", tol=1e-13).diagnostics(x[:, None], y)
    fit = statsmodels.Poisson(y, statsmodels.add_constant(x)).fit(disp=False, tol=1e-14)
    linear, square = (test for test in found.tests if test.name == "Cameron-Trivedi")
    mean = fit.predict()
    z = ((y - mean) ** 2 - y) / mean
    for ours, design in ((square, mean), (linear, np.ones(300))):
        regression = statsmodels.OLS(z, design).fit()
        assert ours.statistic == pytest.approx(regression.tvalues[0], rel=1e-6)
        assert ours.p == pytest.approx(regression.pvalues[0] / 2, rel=1e-5)
    pearson = next(test for test in found.tests if test.name == "Pearson")
    assert pearson.p == pytest.approx(stats.chi2.sf(fit.resid_pearson @ fit.resid_pearson, 298), rel=1e-5)
    assert pearson.p < 1e-6


def test_inflation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4)) + 7.0
    y = X @ np.ones(4) + rng.normal(size=80)
    found = lineal.fit(X, y, model="linear", penalty="none").diagnostics(X, y)
    constant = statsmodels.add_constant(X)
    expected = [influence.variance_inflation_factor(constant, k) for k in range(1, 5)]
    np.testing.assert_allclose([one.vif for one in found.inflation], expected, rtol=1e-8)
    unit = constant / np.linalg.norm(constant, axis=0)
    assert found.condition == pytest.approx(np.linalg.cond(unit), rel=1e-8)


def test_generalized_inflation():
    """Of a factor: det(R_T) det(R_rest) / det(R) of the correlations of the coefficients (Fox and Monette 1992)."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"job": rng.choice(["x", "y", "z"], 120)})
    frame["a"] = rng.normal(size=120) + (frame["job"] == "y")
    frame["t"] = (frame["a"] + rng.logistic(size=120) > 0).map({True: "yes", False: "no"})
    model = lineal.fit(frame, "t", model="logistic", penalty="none", test_size=0, tol=1e-13)
    spread = model.covariance()[1:, 1:]
    size = np.sqrt(np.diagonal(spread))
    R = spread / size[:, None] / size
    place = {name: k for k, name in enumerate(model.columns[1:])}
    for one in model.diagnostics(frame).inflation:
        mine = [place[name] for name in one.columns]
        rest = [k for k in range(len(R)) if k not in mine]
        expected = np.linalg.det(R[np.ix_(mine, mine)]) * np.linalg.det(R[np.ix_(rest, rest)]) / np.linalg.det(R)
        assert one.vif == pytest.approx(expected, rel=1e-7)
    assert max(one.vif for one in model.diagnostics(frame).inflation) > 1.05


def test_a_ridge_hangs_on_rows_as_its_fitted_values_say():
    """Leverage is how far the fitted value follows the target: of a ridge it is less than of least squares."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(25, 3))
    y = X @ [1.0, 2.0, 0.0] + rng.normal(size=25)
    ridge = lineal.fit(X, y, model="ridge", penalty="ridge:0.3", tol=1e-14)
    found = ridge.diagnostics(X, y)
    for row in (0, 7, 24):
        moved = y.copy()
        moved[row] += 1.0
        other = lineal.fit(X, moved, model="ridge", penalty=ridge.penalty.to_dict()["name"] + ":0.3", tol=1e-14)
        change = other.predict(X)[row] - ridge.predict(X)[row]
        assert found.arrays()["leverage"][row] == pytest.approx(change, rel=1e-6)
    assert 1.0 < found.parameters < 4.0
    assert found.parameters == pytest.approx(found.arrays()["leverage"].sum(), rel=1e-9)
    assert any("penalized" in note for note in found.notes)


def test_without_a_row():
    """DFBETAS and Cook's distance of least squares are what a fit without the row says."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 2))
    y = X @ [1.0, -1.0] + rng.standard_t(2, size=20)
    model = lineal.fit(X, y, model="linear", penalty="none", tol=1e-14)
    found = model.diagnostics(X, y, largest=1).influential[0]
    k = found.row_index
    other = lineal.fit(np.delete(X, k, 0), np.delete(y, k), model="linear", penalty="none", tol=1e-14)
    change = model.predict(X) - other.predict(X)
    rest = y - model.predict(X)
    assert found.cooks_distance == pytest.approx(change @ change / 3 / (rest @ rest / 17), rel=1e-8)
    left = np.delete(y, k) - other.predict(np.delete(X, k, 0))
    design = np.column_stack([np.ones(20), X])
    size = np.sqrt(np.diagonal(np.linalg.inv(design.T @ design)) * (left @ left / 16))
    expected = (model.coef - other.coef)[:, 0] / size
    np.testing.assert_allclose(list(found.dfbetas.values()), expected, rtol=1e-7)


@pytest.mark.parametrize("kind", ["linear", "logistic", "poisson"])
def test_quantile_residuals_are_normal_where_the_model_holds(kind):
    rng = np.random.default_rng(11)
    x = rng.normal(size=4000)
    y = {
        "linear": lambda: 1 + x + rng.normal(size=4000),
        "logistic": lambda: (x + rng.logistic(size=4000) > 0).astype(int),
        "poisson": lambda: rng.poisson(np.exp(0.3 * x)),
    }[kind]()
    model = lineal.fit(x[:, None], y, model=kind, penalty="none")
    first, again, other = (model.diagnostics(x[:, None], y, seed=seed) for seed in (5, 5, 6))
    residual = first.arrays()["quantile"]
    assert stats.kstest(residual, "norm").pvalue > 0.01
    assert (first.seed, first.to_dict()["seed"]) == (5, 5)
    np.testing.assert_array_equal(residual, again.arrays()["quantile"])
    assert np.array_equal(residual, other.arrays()["quantile"]) == (kind == "linear")
    if kind == "poisson":  # the normal number of a chance between those of one count less and of the same
        mean = model.predict(x[:, None])
        chance = stats.norm.cdf(residual)
        assert np.all(
            (chance >= stats.poisson.cdf(y - 1, mean) - 1e-12) & (chance <= stats.poisson.cdf(y, mean) + 1e-12)
        )


def test_rows_in_pieces(monkeypatch):
    X, y, weight, offset, _ = rows(0, "linear")
    model = fitted("linear", X, y, weight=weight, offset=offset)
    whole = model.diagnostics(X, y, weight=weight, offset=offset)
    monkeypatch.setattr(observations, "PIECE_CELLS", 28)
    parts = model.diagnostics(X, y, weight=weight, offset=offset)
    assert len(list(parts.blocks())) > 20
    for name, values in whole.arrays().items():
        np.testing.assert_allclose(parts.arrays()[name], values, rtol=1e-9, atol=1e-12)
    assert [row.row_index for row in parts.influential] == [row.row_index for row in whole.influential]


def test_held_out_and_targetless_rows_keep_their_numbers():
    rng = np.random.default_rng(9)
    frame = pd.DataFrame({"a": rng.normal(size=60)})
    frame["y"] = frame["a"] + rng.normal(size=60)
    frame.loc[[4, 20], "y"] = np.nan
    model = lineal.fit(frame, "y", model="linear", penalty="none", test_size=0.3)
    found = model.diagnostics(frame).arrays()
    assert len(found["row_index"]) == model.training["rows"] < 45
    np.testing.assert_array_equal(found["target"], frame["y"].to_numpy()[found["row_index"].astype(int)])


def test_a_bayesian_ridge_and_a_firth_fit_have_diagnostics():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=30)
    found = lineal.fit(X, y, model="bayes").diagnostics(X, y)
    assert found.parameters < 3.0
    apart = (X[:, 0] > 0).astype(int)
    found = lineal.fit(X, apart, model="logistic", penalty="firth").diagnostics(X, apart)
    assert np.isfinite(found.arrays()["leverage"]).all()
    assert any("penalized" in note for note in found.notes)


def test_a_lasso_counts_the_columns_it_keeps():
    rng = np.random.default_rng(12)
    X = rng.normal(size=(50, 5))
    y = 3 * X[:, 0] + 0.1 * rng.normal(size=50)
    model = lineal.fit(X, y, model="linear", penalty="l1:0.5")
    kept = int((model.coef != 0.0).sum())
    found = model.diagnostics(X, y)
    assert found.parameters == pytest.approx(kept, rel=1e-9)
    assert kept < 6


def test_refusals():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    classes = rng.integers(0, 3, 40)
    with pytest.raises(InputError, match="one score a row"):
        lineal.fit(X, classes, model="logistic", penalty="none").diagnostics(X, classes)
    with pytest.raises(InputError, match="not the likelihood"):
        lineal.fit(X, X[:, 0] + classes, model="huber", penalty="none").diagnostics(X, X[:, 0] + classes)
    apart = (X[:, 0] > 0).astype(int)
    with pytest.raises(InputError, match="a coefficient is infinite"):
        lineal.fit(X, apart, model="logistic", penalty="none").diagnostics(X, apart)
    twice = np.column_stack([X, X[:, 0]])
    with pytest.raises(InputError, match="not unique"):
        lineal.fit(twice, X[:, 1], model="linear", penalty="none").diagnostics(twice, X[:, 1])
    y = X[:, 0] + rng.normal(size=40)
    model = lineal.fit(X, y, model="linear", penalty="none")
    with pytest.raises(InputError, match="not the rows"):
        model.diagnostics(X, y + 1e-3)
    with pytest.raises(InputError, match="not the rows"):
        model.diagnostics(X[:20], y[:20])


def test_no_freedom_left():
    X = np.array([[0.0], [1.0]])
    y = np.array([1.0, 3.0])
    found = lineal.fit(X, y, model="linear", penalty="none").diagnostics(X, y)
    assert any("nothing is left" in note for note in found.notes)
    assert found.influential == ()
    assert found.to_dict()["dispersion"] is None
    np.testing.assert_allclose(found.arrays()["leverage"], 1.0)


@pytest.mark.parametrize(("loss", "mean"), [(Logistic(), 0.3), (Poisson(), 2.5)])
def test_information_and_chances_are_those_of_the_distribution(loss, mean):
    """The expected squared slope of a likelihood is its information; what is below, the same and above is all there is."""
    eta = np.full((30, 1), np.log(mean / (1 - mean)) if loss.logit else np.log(mean))
    y = np.arange(30.0)[:, None] % (2 if loss.logit else 30)
    law = stats.bernoulli(mean) if loss.logit else stats.poisson(mean)
    chance = law.pmf(y[:, 0]) / (15 if loss.logit else 1)
    assert chance @ loss.slope(y, eta)[:, 0] ** 2 == pytest.approx(loss.information(y, eta)[0, 0], rel=1e-9)
    below, same, above = loss.chances(y, eta, 1.0, np.ones(30))
    np.testing.assert_allclose(below, law.cdf(y[:, 0] - 1), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(same, law.pmf(y[:, 0]), rtol=1e-9)
    np.testing.assert_allclose(above, law.sf(y[:, 0]), rtol=1e-9, atol=1e-300)
