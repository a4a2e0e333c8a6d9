"""Tests between models, of terms and of hypotheses: against statsmodels, R's figures and refits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lineal
from lineal.errors import InputError
from lineal.inference.linear_hypothesis import read
from tests.references.statsmodels_cases import fitted, repeated, rows, statsmodels
from tests.references.test_saheart import ABSENT, FILE
from tests.references.test_saheart import fit as heart

anova = pytest.importorskip("statsmodels.stats.anova")
formula_api = pytest.importorskip("statsmodels.formula.api")


def frame(seed=0, n=120):
    rng = np.random.default_rng(seed)
    sex, job = rng.choice(["f", "m"], n, p=[0.6, 0.4]), rng.choice(["a", "b", "c"], n, p=[0.5, 0.2, 0.3])
    x = rng.normal(size=n)
    eta = 0.5 * x + (job == "b") - 0.7 * (sex == "m") * x + 0.3
    y, died = eta + rng.normal(size=n), (eta + rng.logistic(size=n) > 0).astype(int)
    return pd.DataFrame({"x": x, "sex": sex, "job": job, "y": y, "died": died, "n": rng.poisson(np.exp(0.4 * eta))})


@pytest.mark.parametrize("model", ["logistic", "poisson"])
def test_nested_models_as_statsmodels(model):
    data = frame()
    target, family = {"logistic": ("died", "Binomial"), "poisson": ("n", "Poisson")}[model]
    words, smaller = f"{target} ~ x + sex + job + x:sex", f"{target} ~ x + sex"
    known = {"model": model, "penalty": "none", "tol": 1e-13}
    large, small = (lineal.fit(data, formula=text, **known) for text in (words, smaller))
    family = getattr(statsmodels.families, family)()
    theirs = [formula_api.glm(text, data, family=family).fit(tol=1e-14) for text in (words, smaller)]
    tests = lineal.nested_tests(small, large, data)
    assert tests["Likelihood ratio"].statistic == pytest.approx(2 * (theirs[0].llf - theirs[1].llf), rel=1e-8)
    further = [name for name in theirs[0].params.index if name not in theirs[1].params.index]
    wald = theirs[0].wald_test(
        np.eye(len(theirs[0].params))[[list(theirs[0].params.index).index(f) for f in further]], scalar=True
    )
    assert tests["Wald"].statistic == pytest.approx(float(wald.statistic), rel=1e-6)
    exog = theirs[0].model.exog
    columns = [list(theirs[0].params.index).index(name) for name in further]
    score = theirs[1].score_test(exog_extra=exog[:, columns])
    assert (tests["Score"].statistic, tests["Score"].p) == pytest.approx(tuple(np.ravel(score)[:2]), rel=1e-6)
    assert {test.freedom for test in tests.tests} == {3.0}


def test_nested_least_squares_with_weights_and_offset():
    X, y, weight, offset, _ = rows(1, "linear")
    roles = {"weight": weight, "offset": offset}
    tests = lineal.nested_tests(fitted("linear", X[:, :1], y, **roles), fitted("linear", X, y, **roles), X, y, **roles)
    X, y, offset = repeated(weight, X, y, offset)
    large = statsmodels.OLS(y - offset, statsmodels.add_constant(X)).fit()
    small = statsmodels.OLS(y - offset, statsmodels.add_constant(X[:, :1])).fit()
    for name, theirs in (
        ("Likelihood ratio", large.compare_lr_test(small)),
        ("F", large.compare_f_test(small)),
        ("Score", large.compare_lm_test(small)),
    ):
        assert (tests[name].statistic, tests[name].p) == pytest.approx((theirs[0], theirs[1]), rel=1e-7), name


def test_polynomials_are_nested_and_far_columns_too():
    rng = np.random.default_rng(3)
    x = 1e7 + rng.normal(size=60)
    data = {"x": x, "y": 2.0 * (x - 1e7) + rng.normal(size=60)}
    known = {"model": "linear", "penalty": "none"}
    small, large = (lineal.fit(data, formula=f"y ~ poly(x, {k})", **known) for k in (1, 3))
    tests = lineal.nested_tests(small, large, data)
    t = x - 1e7
    few, many = (statsmodels.OLS(data["y"], np.vander(t, k + 1)).fit() for k in (1, 3))
    for name, theirs in (("F", many.compare_f_test(few)), ("Score", many.compare_lm_test(few))):
        assert tests[name].statistic == pytest.approx(theirs[0], rel=1e-6)


def test_several_classes_by_refits():
    """Wald's statistic does not depend on which class is left out; the degrees are those of all but one."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 2))
    y = np.array(["a", "b", "c"])[np.argmax(X @ rng.normal(size=(2, 3)) + rng.gumbel(size=(200, 3)), axis=1)]
    known = {"model": "logistic", "penalty": "none", "tol": 1e-12}
    small, large = lineal.fit(X[:, :1], y, **known), lineal.fit(X, y, **known)
    tests = lineal.nested_tests(small, large, X, y)
    theirs = statsmodels.MNLogit(pd.Categorical(y).codes, statsmodels.add_constant(X)).fit(disp=0, method="newton")
    less = statsmodels.MNLogit(pd.Categorical(y).codes, statsmodels.add_constant(X[:, :1])).fit(disp=0, method="newton")
    assert tests["Likelihood ratio"].statistic == pytest.approx(2 * (theirs.llf - less.llf), rel=1e-7)
    further = theirs.params[2]  # the last column, for classes b and c
    spread = np.asarray(theirs.cov_params())[np.ix_([2, 5], [2, 5])]
    assert tests["Wald"].statistic == pytest.approx(further @ np.linalg.solve(spread, further), rel=1e-6)
    here = np.vstack([less.params, np.zeros((1, 2))])
    slope = theirs.model.score(here.T.reshape(-1))
    hessian = theirs.model.hessian(here.T.reshape(-1))
    assert tests["Score"].statistic == pytest.approx(-slope @ np.linalg.solve(hessian, slope), rel=1e-6)
    assert {test.freedom for test in tests.tests} == {2.0}


@pytest.mark.parametrize("kind", ["II", "III"])
def test_terms_of_least_squares_as_statsmodels(kind):
    data = frame(1)
    words = "y ~ x + sex + job + x:sex + sex:job"
    model = lineal.fit(data, formula=words, model="linear", penalty="none")
    theirs = anova.anova_lm(formula_api.ols(words, data).fit(), typ=len(kind))
    for test in lineal.term_tests(model, kind).tests:
        line = theirs.loc[test.name]
        assert (test.freedom, test.left) == (line["df"], theirs.loc["Residual", "df"])
        assert (test.statistic, test.p) == pytest.approx((line["F"], line["PR(>F)"]), rel=1e-7), test.name


def test_terms_of_a_likelihood_as_statsmodels():
    data = frame(2)
    words = "died ~ x + sex + job + x:job"
    model = lineal.fit(data, formula=words, model="logistic", penalty="none", tol=1e-13)
    theirs = formula_api.glm(words, data, family=statsmodels.families.Binomial()).fit(tol=1e-14)
    table = theirs.wald_test_terms(scalar=True).table
    for test in lineal.term_tests(model, "III").tests:
        line = table.loc[test.name]
        assert (test.statistic, test.p) == pytest.approx((line["statistic"], line["pvalue"]), rel=1e-6)
    # type II of x: the part of Wald's distance that x:job does not explain, by the projection that defines it
    names, V, b = list(theirs.params.index), np.asarray(theirs.cov_params()), np.asarray(theirs.params)
    both = [k for k, name in enumerate(names) if name == "x" or name.startswith("x:")]
    above = [k for k in both if names[k] != "x"]
    x = names.index("x")
    share = np.linalg.solve(V[np.ix_(above, above)], V[above, x])
    rest, spread = b[x] - share @ b[above], V[x, x] - share @ V[above, x]
    assert lineal.term_tests(model)["x"].statistic == pytest.approx(rest**2 / spread, rel=1e-6)


@pytest.mark.skipif(not FILE.exists(), reason=ABSENT)
def test_terms_of_south_african_heart_disease():
    """Of one column Wald's chi-squared is the square of R's z."""
    tests = lineal.term_tests(heart())
    assert tests["famhist"].statistic == pytest.approx(4.1766**2, rel=1e-3)
    assert tests["tobacco"].statistic == pytest.approx(3.0336**2, rel=1e-3)


def test_hypotheses_as_statsmodels():
    data = frame(5)
    words = "y ~ x + sex + job"
    model = lineal.fit(data, formula=words, model="linear", penalty="none")
    theirs = formula_api.ols(words, data).fit()
    tests = lineal.hypothesis_test(model, "job=b - 2 job=c = 0.5, x = `sex=m` + 1")
    one = theirs.f_test("job[T.b] - 2*job[T.c] = 0.5")
    both = theirs.f_test("job[T.b] - 2*job[T.c] = 0.5, x = sex[T.m] + 1")
    assert (tests.tests[0].statistic, tests.tests[0].p) == pytest.approx((one.fvalue, one.pvalue), rel=1e-8)
    assert tests.tests[2].statistic == pytest.approx(both.fvalue, rel=1e-8)
    assert tests.tests[2].freedom == 2.0


def test_hypotheses_about_powers():
    """Coefficients of polynomials are those on the powers, as the summary has them."""
    data = frame(6)
    model = lineal.fit(data, formula="y ~ poly(x, 2)", model="linear", penalty="none")
    theirs = formula_api.ols("y ~ x + I(x**2)", data).fit()
    assert lineal.hypothesis_test(model, "x^2 = x").tests[0].statistic == pytest.approx(
        theirs.f_test("I(x ** 2) = x").fvalue, rel=1e-8
    )


@pytest.mark.parametrize(
    ("text", "shares", "value"),
    [
        ("a", {"a": 1.0}, 0.0),
        ("2a - a/4 = 3", {"a": 1.75}, 3.0),
        ("1.5e1*a + 1 = b-c - 2", {"a": 15.0, "b-c": -1.0}, -3.0),
        ("- a == -1", {"a": -1.0}, -1.0),
        ("a*3 = `b-c`", {"a": 3.0, "b-c": -1.0}, 0.0),
    ],
)
def test_reading_hypotheses(text, shares, value):
    (equation,) = read(text, ["a", "b-c", "a b"])
    assert (equation.shares, equation.value) == (shares, value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("heigt = 0", "Did you mean 'x'|cannot be read"),
        ("x = x", "about no coefficient"),
        ("x = 0, 2 x = 0", "repeat each other"),
        ("x = 0, x = 1", "exclude each other"),
        ("x = 0 1", "cannot be read"),
        ("x / 0 = 1", "divides by zero"),
        ("", "a coefficient or a number"),
        ("`z` = 0", "no coefficient 'z'"),
    ],
)
def test_what_hypotheses_refuse(text, said):
    model = lineal.fit(frame(), formula="y ~ x + sex", model="linear", penalty="none")
    with pytest.raises(InputError, match=said):
        lineal.hypothesis_test(model, text)


def test_fits_without_standard_errors_have_no_tests():
    data = frame()
    ridge = lineal.fit(data, formula="y ~ x + sex", model="ridge", penalty=0.1)
    for ask in (lineal.term_tests, lambda model: lineal.hypothesis_test(model, "x = 0")):
        with pytest.raises(InputError, match="penalty"):
            ask(ridge)
    with pytest.raises(InputError, match="'II' and 'III'"):
        lineal.term_tests(lineal.fit(data, formula="y ~ x", model="linear", penalty="none"), "I")


def test_filled_cells_are_said_and_complete_cases_are_those_of_statsmodels():
    data = frame(11)
    data.loc[3:8, "x"] = np.nan
    data.loc[20, "job"] = None  # a level of its own, which fills nothing in
    known = {"formula": "y ~ x + sex", "model": "linear", "penalty": "none"}
    filled, whole = lineal.fit(data, **known), lineal.fit(data, missing="drop", **known)
    said = "take 6 missing cells of 'x', which were filled in, for measured"
    for result in (filled.summary(), lineal.term_tests(filled), lineal.marginal_effects(filled, data)):
        assert any(said in note for note in result.notes)
    assert not any("measured" in note for note in whole.summary().notes)
    theirs = formula_api.ols("y ~ x + sex", data).fit()  # statsmodels drops rows with gaps
    np.testing.assert_allclose([row.p for row in whole.summary().rows], theirs.pvalues[["Intercept", "x", "sex[T.m]"]])
    levels = lineal.fit(data, formula="y ~ job", model="linear", penalty="none")
    assert not any("measured" in note for note in levels.summary().notes)
