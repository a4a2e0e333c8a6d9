"""Marginal effects and predicted means: against statsmodels, and by hand with slopes by finite differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats

import lineal
from lineal.errors import InputError
from tests.references.statsmodels_cases import statsmodels
from tests.references.test_tests import frame

formula_api = pytest.importorskip("statsmodels.formula.api")
TOL = 1e-13


def column(found, name):
    return np.array([getattr(row, name) for row in found.rows])


def by_hand(average, params, covariance):
    """Return an average of predictions as a function of coefficients, and its standard error by finite differences."""
    steps = 1e-5 * np.sqrt(np.diag(covariance))
    slope = [
        (average(params + step) - average(params - step)) / (2 * size)
        for size, step in zip(steps, np.diag(steps), strict=True)
    ]
    return average(params), float(np.sqrt(slope @ covariance @ np.array(slope)))


@pytest.mark.parametrize(("model", "target"), [("logistic", "died"), ("poisson", "n")])
def test_slopes_as_statsmodels(model, target):
    data = frame(7)
    data["z"] = np.random.default_rng(0).normal(size=len(data)) ** 2
    kind = {"logistic": formula_api.logit, "poisson": formula_api.poisson}[model]
    theirs = kind(f"{target} ~ x + z", data).fit(disp=0, method="newton", tol=1e-12).get_margeff().summary_frame()
    ours = lineal.marginal_effects(
        lineal.fit(data, formula=f"{target} ~ x + z", model=model, penalty="none", tol=TOL), data
    )
    assert [row.column for row in ours.rows] == ["x", "z"]
    np.testing.assert_allclose(column(ours, "estimate"), theirs["dy/dx"], rtol=1e-7)
    np.testing.assert_allclose(column(ours, "error"), theirs["Std. Err."], rtol=1e-6)
    np.testing.assert_allclose(column(ours, "p"), theirs["Pr(>|z|)"], rtol=1e-5)
    np.testing.assert_allclose(column(ours, "upper"), theirs["Cont. Int. Hi."], rtol=1e-6)


def test_a_formula_by_hand():
    """Products, logarithms and powers change with their column; levels are compared with the reference."""
    data = frame(8, n=200)
    data["z"] = np.exp(np.random.default_rng(1).normal(size=len(data)))
    ours = lineal.fit(data, formula="died ~ log(z)*sex + poly(x, 2)", model="logistic", penalty="none", tol=TOL)
    fit = formula_api.logit("died ~ np.log(z)*sex + x + I(x**2)", data).fit(disp=0, method="newton", tol=1e-12)
    names, covariance, params = list(fit.params.index), np.asarray(fit.cov_params()), np.asarray(fit.params)
    place = {name: names.index(name) for name in names}
    male, z, x = (data["sex"] == "m").to_numpy(float), data["z"].to_numpy(), data["x"].to_numpy()

    def chance(b, male):
        X = {"Intercept": 1.0, "sex[T.m]": male, "np.log(z)": np.log(z), "np.log(z):sex[T.m]": np.log(z) * male}
        X |= {"x": x, "I(x ** 2)": x**2}
        return 1 / (1 + np.exp(-sum(b[place[name]] * values for name, values in X.items())))

    def spread(b):
        return chance(b, male) * (1 - chance(b, male))

    averages = {
        "z": lambda b: np.mean(spread(b) * (b[place["np.log(z)"]] + b[place["np.log(z):sex[T.m]"]] * male) / z),
        "x": lambda b: np.mean(spread(b) * (b[place["x"]] + 2 * b[place["I(x ** 2)"]] * x)),
        "sex: m - f": lambda b: np.mean(chance(b, 1.0) - chance(b, 0.0)),
    }
    found = {row.column: row for row in lineal.marginal_effects(ours, data).rows}
    assert set(found) == set(averages)
    for name, average in averages.items():
        estimate, error = by_hand(average, params, covariance)
        assert found[name].estimate == pytest.approx(estimate, rel=1e-6), name
        assert found[name].error == pytest.approx(error, rel=1e-5), name
    means = lineal.predicted_means(ours, data, {"sex": None}, level=0.9)
    for row, sex in zip(means.rows, (0.0, 1.0), strict=True):
        estimate, error = by_hand(lambda b, sex=sex: np.mean(chance(b, sex)), params, covariance)
        assert (row.estimate, row.error) == pytest.approx((estimate, error), rel=1e-5)
        assert row.upper - row.estimate == pytest.approx(stats.norm.ppf(0.95) * row.error, rel=1e-10)


def test_least_squares_means_as_statsmodels():
    """With nothing else in the model, a mean at a value is statsmodels' prediction there, with its interval of t."""
    data = frame(9)
    model = lineal.fit(data, formula="y ~ poly(x, 2)", model="linear", penalty="none")
    found = lineal.predicted_means(model, data, {"x": [-1, 0.5]})
    theirs = formula_api.ols("y ~ x + I(x**2)", data).fit().get_prediction(pd.DataFrame({"x": [-1, 0.5]}))
    frame_of = theirs.summary_frame(alpha=0.05)
    np.testing.assert_allclose(column(found, "estimate"), frame_of["mean"], rtol=1e-9)
    np.testing.assert_allclose(column(found, "error"), frame_of["mean_se"], rtol=1e-8)
    np.testing.assert_allclose(column(found, "lower"), frame_of["mean_ci_lower"], rtol=1e-8)


def test_several_classes_and_arrays():
    rng = np.random.default_rng(4)
    X = rng.normal(loc=[0.0, 50.0], size=(150, 2))
    y = np.array(["a", "b", "c"])[
        np.argmax((X - [0, 50]) @ rng.normal(size=(2, 3)) + rng.gumbel(size=(150, 3)), axis=1)
    ]
    found = lineal.marginal_effects(lineal.fit(X, y, model="logistic", penalty="none", tol=TOL), X)
    fit = statsmodels.MNLogit(pd.Categorical(y).codes, statsmodels.add_constant(X)).fit(
        disp=0, method="newton", tol=1e-12
    )
    theirs = fit.get_margeff()
    np.testing.assert_allclose(column(found, "estimate").reshape(2, 3), theirs.margeff, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(column(found, "error").reshape(2, 3), theirs.margeff_se, rtol=1e-4)


def test_weights_count_rows_and_missing_cells_do_not():
    data = frame(10)
    data["w"] = np.random.default_rng(2).integers(0, 3, size=len(data))
    known = {"formula": "died ~ x + sex", "model": "logistic", "penalty": "none", "tol": TOL}
    ours = lineal.marginal_effects(lineal.fit(data, weight="w", **known), data)
    repeated = data.loc[data.index.repeat(data["w"])].drop(columns="w")
    theirs = lineal.marginal_effects(lineal.fit(repeated, **known), repeated)
    np.testing.assert_allclose(column(ours, "estimate"), column(theirs, "estimate"), rtol=1e-9)
    np.testing.assert_allclose(column(ours, "error"), column(theirs, "error"), rtol=1e-7)
    gaps = data.drop(columns="w")
    gaps.loc[::7, "x"] = np.nan
    whole = lineal.fit(gaps, missing="drop", **known)
    np.testing.assert_allclose(
        column(lineal.marginal_effects(whole, gaps), "estimate"),
        column(lineal.marginal_effects(whole, gaps.dropna()), "estimate"),
        rtol=1e-12,
    )


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda m, d: lineal.marginal_effects(m, d, ["y"]), "no column that the model predicts from"),
        (lambda m, d: lineal.predicted_means(m, d, {"x": None}), "say which values"),
        (lambda m, d: lineal.predicted_means(m, d, {"x": ["a"]}), "give numbers"),
        (lambda m, d: lineal.predicted_means(m, d, {"sex": ["M"]}), "no level 'M'. Did you mean 'm'"),
        (lambda m, d: lineal.predicted_means(m, d, {"six": [1]}), "Did you mean 'sex'"),
        (lambda m, d: lineal.predicted_means(m, d, {"x": range(2000)}), "combinations"),
        (lambda m, d: lineal.marginal_effects(m, d.iloc[:0]), "no rows"),
    ],
)
def test_what_they_refuse(ask, said):
    data = frame()
    model = lineal.fit(data, formula="y ~ x + sex", model="linear", penalty="none")
    with pytest.raises(InputError, match=said):
        ask(model, data)
    with pytest.raises(InputError, match="penalty"):
        ask(lineal.fit(data, formula="y ~ x + sex", model="ridge", penalty=0.1), data)


def test_arrays_are_checked_and_may_be_sparse_or_read_only():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)).astype(np.float32)
    X.setflags(write=False)
    y = X[:, 0] + rng.normal(size=30)
    model = lineal.fit(X, y, model="linear", penalty="none")
    found = lineal.marginal_effects(model, X)
    np.testing.assert_allclose(column(found, "estimate"), model.coef[1:, 0], rtol=1e-9)  # slopes of least squares
    np.testing.assert_allclose(column(found, "error"), [row.error for row in model.summary().rows[1:]], rtol=1e-9)
    again = lineal.marginal_effects(model, sparse.csr_array(X))
    np.testing.assert_array_equal(column(again, "estimate"), column(found, "estimate"))
    with pytest.raises(InputError, match="30 x 2, and the model was fitted on 3 columns"):
        lineal.marginal_effects(model, X[:, :2])
