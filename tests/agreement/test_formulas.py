"""Formulas against patsy's: the same curves are fitted, whatever the coding of columns."""

from __future__ import annotations

import csv
from fractions import Fraction

import numpy as np
import pandas as pd
import patsy
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.interpolate import BSpline as BSplineOfScipy

import lineal
from lineal.errors import InputError
from lineal.features.terms import BSpline, Spline
from lineal.features.terms.contrast import matrix
from lineal.features.terms.poly import Poly as Powers
from lineal.plots.subject import subject_of
from lineal.verify import verify
from tests.references.test_nist import FOLDER, digits, load


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    n = 240
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "dose": rng.uniform(0.5, 5, n),
            "t": rng.exponential(1.0, n),
            "job": rng.choice(["none", "nurse", "cook"], n),
            "sex": rng.choice(["f", "m"], n),
            "kids": rng.integers(0, 4, n),
        }
    )
    frame["y"] = 0.1 * frame.age + np.log(frame.dose) + np.sin(frame.t) + rng.normal(size=n)
    return frame


# ours, and the same in patsy's words
PAIRS = [
    ("age + job", "age + job"),
    ("age + C(job, ref='none')", "age + C(job, Treatment('none'))"),
    ("C(kids) + age", "C(kids) + age"),
    ("age*job", "age*job"),
    ("age:job", "age:job"),
    ("age + age:job", "age + age:job"),
    ("job - 1", "job - 1"),
    ("job + sex - 1", "job + sex - 1"),
    ("job:sex", "job:sex"),
    ("job*sex + age:sex", "job*sex + age:sex"),
    ("(age + job + sex)^2", "(age + job + sex)**2"),
    ("age - 1", "age - 1"),
    ("log(dose) + sqrt(dose) + square(age) + log1p(t)", "np.log(dose) + np.sqrt(dose) + I(age**2) + np.log1p(t)"),
    ("poly(dose, 3) + job", "dose + I(dose**2) + I(dose**3) + job"),
    ("poly(dose, 3) - 1", "dose + I(dose**2) + I(dose**3) - 1"),
    ("poly(log(dose), 2)", "np.log(dose) + I(np.log(dose)**2)"),
    ("age:poly(dose, 2)", "age:dose + age:I(dose**2)"),
    ("job:poly(dose, 2) + job", "job:dose + job:I(dose**2) + job"),
    ("1", "1"),
    ("age/job", "age/job"),
    ("job/age", "job/age"),
    ("(age + job)/sex", "(age + job)/sex"),
    ("sex + age %in% sex", "sex + age:sex"),
    ("factor(kids) + I(age^2) + I(dose > 2)", "C(kids) + I(age**2) + I(1.0 * (dose > 2))"),
    ("I(1/dose):job + log(2*dose + 1)", "I(1/dose):job + np.log(2*dose + 1)"),
    ("poly(I(age/10 - 4), 2) + I((age - 40)^3)", "I(age/10 - 4) + I((age/10 - 4)**2) + I((age - 40)**3)"),
    ("bs(t, 3) + bs(dose, df=6)", "bs(t, df=3) + bs(dose, df=6)"),
    ("scale(log(dose)):job", "standardize(np.log(dose), ddof=1):job"),
    ("cut(age, c(30, 40.5)) + sex", "C(np.digitize(age, [30, 40.5], right=True)) + sex"),
    ("cut(age, c(30, 40.5)):dose - 1", "C(np.digitize(age, [30, 40.5], right=True)):dose - 1"),
    ("C(job, sum)*sex + C(kids, poly):age", "C(job, Sum)*sex + C(kids, Poly):age"),
    ("C(kids, helmert) - 1", "C(kids, Helmert) - 1"),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_the_same_curves_as_patsy(table, ours, theirs):
    model = lineal.fit(table, formula=f"y ~ {ours}", model="linear")
    expected = smf.ols(f"y ~ {theirs}", table).fit()
    np.testing.assert_allclose(model.predict(table), expected.fittedvalues, rtol=1e-7, atol=1e-7)
    rank = np.linalg.matrix_rank(patsy.dmatrix(theirs, table))
    assert model.coef.shape[0] == rank or model.verdict.kind == "not_unique"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("C(job, sum) + age", "C(job, Sum) + age"),
        ("C(kids, contr.helmert) + age", "C(kids, Helmert) + age"),
        ("C(kids, poly) + C(job, helmert)", "C(kids, Poly) + C(job, Helmert)"),
        ("scale(age) + bs(t, 5)", "standardize(age, ddof=1) + bs(t, df=5)"),
        ("C(job, sum):C(sex, sum) + C(job, sum) + C(sex, sum)", "C(job, Sum):C(sex, Sum) + C(job, Sum) + C(sex, Sum)"),
    ],
)
def test_the_same_coefficients_as_patsy(table, ours, theirs):
    """Contrasts and bases are those of R, which patsy has."""
    model = lineal.fit(table, formula=f"y ~ {ours}", model="linear", penalty="none")
    expected = sorted(smf.ols(f"y ~ {theirs}", table).fit().params)
    np.testing.assert_allclose(sorted(model.coef[:, 0]), expected, rtol=1e-8, atol=1e-10)


def test_contrasts_of_r():
    """The matrices that R prints for contr.sum(3), contr.helmert(4) and contr.poly(3)."""
    np.testing.assert_array_equal(matrix("sum", 3), [[1, 0], [0, 1], [-1, -1]])
    np.testing.assert_array_equal(matrix("helmert", 4), [[-1, -1, -1], [1, -1, -1], [0, 2, -1], [0, 0, 3]])
    half, sixth = 0.5**0.5, 6**-0.5
    np.testing.assert_allclose(matrix("poly", 3), [[-half, sixth], [0, -2 * sixth], [half, sixth]], atol=1e-15)
    thirty = matrix("poly", 30)
    np.testing.assert_allclose(thirty.T @ thirty, np.eye(29), atol=1e-13)


def test_b_splines_go_on_as_scipy_does(table):
    (term,) = lineal.fit(table, formula="y ~ bs(t, 6)", model="linear", penalty="none").encoder.terms
    assert isinstance(term, BSpline)
    knots = np.array([term.knots[0]] * 3 + list(term.knots) + [term.knots[-1]] * 3)
    x = np.concatenate([table.t, term.knots, [term.knots[0] - 1.0, term.knots[-1] + 2.0]])
    out = np.empty((len(x), 6))
    term.basis(x, out)
    theirs = BSplineOfScipy(knots, np.eye(7), 3, extrapolate=True)(x)[:, 1:]
    np.testing.assert_allclose(out, theirs, rtol=1e-10, atol=1e-10)


def test_levels_in_an_order_and_levels_that_are_new(table):
    words = "y ~ C(job, poly, levels='nurse, none, cook')"
    model = lineal.fit(table, formula=words, model="linear", penalty="none")
    means = [table.y[table.job == job].mean() for job in ("nurse", "none", "cook")]
    assert model.columns == ("(intercept)", "job[linear]", "job[quadratic]")
    trend = (means[2] - means[0]) / 2**0.5
    assert model.coef[1, 0] == pytest.approx(trend, rel=1e-9)
    assert model.predict({"job": ["pilot"]})[0] == pytest.approx(np.mean(means), rel=1e-9)
    pieces = lineal.fit(table, formula="y ~ cut(age, 4)", model="linear", penalty="none")
    widths = pd.cut(table.age, 4).groupby(pd.cut(table.age, 4), observed=False).size()
    design = pieces.encoder.encode(table).dense()
    assert design[:, 1:].sum(axis=0).tolist() == widths.tolist()[1:]


def test_a_spline_is_the_natural_one(table):
    model = lineal.fit(table, formula="y ~ spline(t, 5)", model="linear")
    (term,) = model.encoder.terms
    assert isinstance(term, Spline)
    np.testing.assert_allclose(term.knots, np.quantile(table.t, np.arange(6) / 5))
    inner, (low, high) = term.knots[1:-1], (term.knots[0], term.knots[-1])
    given = {"t": table.t, "inner": inner, "low": low, "high": high}
    basis = patsy.dmatrix("cr(t, knots=inner, lower_bound=low, upper_bound=high) - 1", given)
    coef = np.linalg.lstsq(np.asarray(basis), table.y.to_numpy(), rcond=None)[0]
    np.testing.assert_allclose(model.predict(table), np.asarray(basis) @ coef, rtol=1e-8, atol=1e-8)
    far = model.predict({"t": [high + 1.0, high + 2.0, high + 3.0]})
    assert far[2] - far[1] == pytest.approx(far[1] - far[0], rel=1e-9)


@pytest.mark.parametrize("origin", [False, True])
def test_powers_are_unfolded_exactly(origin):
    term = Powers("x", (), 0.0, False, 6, -2.5, 1.75, origin, 2.0, 4.0)
    x = np.array([-4.0, -3.125, -1.0, 0.5])
    out = np.empty((4, 6))
    term.basis(x, out)
    for k, row in enumerate(term.unfolded()):
        exact = [float(sum((c * Fraction(v) ** d for d, c in enumerate(row)), Fraction(0))) for v in x]
        np.testing.assert_allclose(out[:, k], exact, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", ["Pontius", "Wampler1", "Wampler2", "Wampler3", "Wampler4", "Wampler5"])
def test_polynomials_of_nist_keep_13_digits(name):
    certified, _, y = load(name)
    with (FOLDER / f"{name}.csv").open() as file:
        x = np.array([float(row["x"]) for row in csv.DictReader(file)])
    parameters = certified["parameters"].values()
    model = lineal.fit({"x": x, "y": y[:, 0]}, formula=f"y ~ poly(x, {len(parameters) - 1})", model="linear")
    _, coef = model.readable()
    assert min(digits(b, p["estimate"]) for b, p in zip(coef[:, 0], parameters, strict=True)) >= 13


def test_filip_as_a_polynomial_keeps_its_digits():
    certified, _, y = load("Filip")
    with (FOLDER / "Filip.csv").open() as file:
        x = np.array([float(row["x"]) for row in csv.DictReader(file)])
    model = lineal.fit({"x": x, "y": y[:, 0]}, formula="y ~ poly(x, 10)", model="linear")
    names, coef = model.readable()
    assert names == ("(intercept)", "x", *(f"x^{d}" for d in range(2, 11)))
    parameters = certified["parameters"].values()
    assert min(digits(b, p["estimate"]) for b, p in zip(coef[:, 0], parameters, strict=True)) >= 12
    assert min(digits(row.error, p["sd"]) for row, p in zip(model.summary().rows, parameters, strict=True)) >= 12


def test_classical_errors_of_a_polynomial_are_those_of_its_powers(table):
    model = lineal.fit(table, formula="y ~ poly(dose, 2) + job", model="linear")
    expected = smf.ols("y ~ dose + I(dose**2) + job", table).fit()
    errors = {row.column: row.error for row in model.summary().rows}
    for ours, theirs in (("dose", "dose"), ("dose^2", "I(dose ** 2)"), ("(intercept)", "Intercept")):
        assert errors[ours] == pytest.approx(expected.bse[theirs], rel=1e-9)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("y ~ agee", "names 'agee'.*age"),
        ("y ~ log(job)", "needs a column of numbers"),
        ("y ~ C(job, ref='non')", "has no level 'non'.*none"),
        ("y ~ log(age_0)", "row 3"),
        ("y ~ y", "no column to predict from"),
        ("y ~ poly(one, 2)", "needs a column that varies"),
        ("y ~ one", "it is 1 in every row"),
        ("y ~ spline(sex01, 4)", "at least 3 different knots"),
        ("y ~ scale(one)", "needs a column that varies"),
        ("y ~ bs(one, 4)", "needs a column that varies"),
        ("y ~ cut(one, 4)", "needs a column that varies"),
        ("y ~ C(job, sum, levels='cook,none')", "differs at 'nurse'"),
    ],
)
def test_a_formula_that_does_not_fit_the_table_is_refused(table, formula, said):
    given = table.assign(
        one=1.0, age_0=np.where(np.arange(len(table)) == 2, 0.0, table.age), sex01=(table.sex == "f") * 1.0
    )
    with pytest.raises(InputError, match=said):
        lineal.fit(given, formula=formula, model="linear")


def test_missing_cells_count_as_the_mean_and_are_marked_once(table):
    given = table.copy()
    given.loc[[1, 5], "dose"] = np.nan
    model = lineal.fit(given, formula="y ~ log(dose) + poly(dose, 2) + age", model="linear")
    assert sum("is missing" in name for name in model.columns) == 1
    filled = given.assign(gone=given.dose.isna() * 1.0, dose=given.dose.fillna(given.dose.mean()))
    expected = smf.ols("y ~ np.log(dose) + dose + I(dose**2) + age + gone", filled).fit()
    np.testing.assert_allclose(model.predict(given), expected.fittedvalues, rtol=1e-8)


def test_products_of_every_pair_are_those_of_a_formula(table):
    part = table[["age", "dose", "job", "y"]]
    model = lineal.fit(part, target="y", model="linear", poly=2)
    other = smf.ols("y ~ (age + dose + job)**2 + I(age**2) + I(dose**2)", part).fit()
    np.testing.assert_allclose(model.predict(part), other.fittedvalues, rtol=1e-7, atol=1e-7)
    with pytest.raises(InputError, match="says itself which products"):
        lineal.fit(part, formula="y ~ age", poly=2)


def test_targets_come_from_one_place(table):
    assert lineal.fit(table, "y", formula="age", model="linear").target.name == "y"
    with pytest.raises(InputError, match="the formula says y"):
        lineal.fit(table, "age", formula="y ~ job")
    with pytest.raises(InputError, match="no target was given"):
        lineal.fit(table, formula="age + job")
    with pytest.raises(InputError, match="columns of an array have no names"):
        lineal.fit(np.eye(3), [1.0, 2.0, 3.0], formula="x0")


@pytest.fixture
def counts(table):
    rng = np.random.default_rng(3)
    given = table[["age", "dose", "sex"]].assign(n=rng.uniform(1.0, 9.0, len(table)).round(2))
    return given.assign(k=rng.poisson(given.n * np.exp(0.02 * given.age)), z=np.exp(rng.normal(size=len(table))))


def test_offsets_as_statsmodels(counts, tmp_path):
    """`offset(log(n))` is an offset in fits, predictions, summaries, effects and files; n is no column to predict from."""
    path = tmp_path / "counts.csv"
    counts.to_csv(path, index=False)
    known = {"model": "poisson", "penalty": "none", "tol": 1e-12}
    theirs = smf.glm("k ~ age + sex", counts, family=sm.families.Poisson(), offset=np.log(counts.n)).fit(tol=1e-14)
    model = lineal.fit(path, formula="k ~ age + sex + offset(log(n))", **known)
    assert model.roles["offset"] == "log(n)"
    np.testing.assert_allclose(model.predict(counts), theirs.fittedvalues, rtol=1e-8)
    robust = lineal.summarise(model, counts, errors="HC0")
    assert robust.figures["log_likelihood"] == pytest.approx(theirs.llf, rel=1e-9)
    average = np.mean(theirs.fittedvalues) * theirs.params["age"]
    assert lineal.marginal_effects(model, counts, ["age"]).rows[0].estimate == pytest.approx(average, rel=1e-7)
    assert lineal.evaluate(model, counts)["rows"] == len(counts)
    np.testing.assert_array_equal(subject_of(model, path).offset[:, 0], np.log(counts.n))
    model.save(tmp_path / "m.lineal")
    assert all(line["passed"] for line in verify(tmp_path / "m.lineal", path).lines)
    plain = lineal.fit(counts.drop(columns=["dose", "z"]), "k", offset="log(n)", **known)
    np.testing.assert_allclose(plain.predict(counts), theirs.fittedvalues, rtol=1e-8)
    both = lineal.fit(counts, formula="k ~ log(n) + offset(log(n))", **known)
    assert both.columns == ("(intercept)", "log(n)")
    with pytest.raises(InputError, match="another is given"):
        lineal.fit(counts, formula="k ~ age + offset(log(n))", offset="n", **known)


def test_the_logarithm_of_the_target(counts, tmp_path):
    path = tmp_path / "counts.csv"
    counts.to_csv(path, index=False)
    theirs = smf.ols("np.log(z) ~ age + dose", counts).fit()
    model = lineal.fit(path, formula="log(z) ~ . - n - k - sex", model="linear", penalty="none")
    np.testing.assert_allclose(model.coef[:, 0], theirs.params, rtol=1e-9)
    assert model.target.name == "log(z)"
    assert model.diagnostics(path).dispersion == pytest.approx(theirs.scale, rel=1e-9)
    model.save(tmp_path / "m.lineal")
    assert all(line["passed"] for line in verify(tmp_path / "m.lineal", path).lines)
    assert "z" not in lineal.fit(counts, "log(z)", model="linear", penalty="none").encoder.number_columns
    with pytest.raises(InputError, match=r"row 4 of .* holds '-1' in column 'z', which needs a number that log\(z\)"):
        lineal.fit(counts.assign(z=np.where(np.arange(len(counts)) == 3, -1.0, 1.0)), "log(z)", model="linear")
    named = counts.rename(columns={"age": "log(z)"})  # a column of that name is itself
    assert "z" in lineal.fit(named, "log(z)", model="linear", penalty="none").columns
