"""Fits of R (lm, glm, brglm2) on data that every clone has; data/r/figures.R makes the figures.

Penguins are in this repository; scikit-learn brings iris, breast cancer and diabetes, statsmodels the visits to doctors.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import datasets

import lineal
from lineal.api import dialects
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.evidence import evidence
from lineal.fitting.fitting import fit
from lineal.inference import firth
from lineal.losses import Poisson, Squared
from lineal.penalties import NoPenalty, Ridge
from lineal.sources.memory import Memory

HERE = Path(__file__).resolve().parent
PENGUINS = HERE.parents[1] / "examples" / "penguins.csv"
SIZES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def figures(name):
    """Return R's terms, estimates and standard errors, and the figures in brackets, of one fit."""
    with (HERE / "data" / "r" / "figures.csv").open() as stream:
        lines = [line for line in csv.DictReader(stream) if line["fit"] == name]
    terms = [line for line in lines if not line["term"].startswith("[")]
    estimates = np.array([float(line["estimate"]) for line in terms])
    errors = np.array([float(line["error"] or "nan") for line in terms])
    single = {line["term"].strip("[]"): float(line["estimate"]) for line in lines if line not in terms}
    return [line["term"] for line in terms], estimates, errors, single


def agrees(model, name, rtol=1e-7):
    """Compare a summary with R's, term by term: by name where the columns have R's names, otherwise in order."""
    terms, estimates, errors, single = figures(name)
    summary = model.summary()
    rows = {row.column.replace("(intercept)", "Intercept").replace("=", ""): row for row in summary.rows}
    rows = [rows[term] for term in terms] if set(rows) == set(terms) else list(rows.values())
    np.testing.assert_allclose([row.estimate for row in rows], estimates, rtol=rtol)
    np.testing.assert_allclose([row.error for row in rows], errors, rtol=rtol)
    np.testing.assert_allclose([row.statistic for row in rows], estimates / errors, rtol=2 * rtol)
    if "log-likelihood" in single:
        assert summary.figures["log_likelihood"] == pytest.approx(single["log-likelihood"], rel=1e-9)


@pytest.fixture(scope="module")
def penguins():
    """The 333 penguins of which everything is known."""
    table = pd.read_csv(PENGUINS).dropna().reset_index(drop=True)
    assert len(table) == 333
    return table


def test_a_line():
    """With R's treatment of missing cells: the row is left out."""
    table = pd.read_csv(PENGUINS)[["flipper_length_mm", "body_mass_g"]].dropna()
    agrees(lineal.fit(table, target="body_mass_g", model="linear"), "penguins-line", rtol=1e-10)


def test_least_squares_with_categories(penguins):
    formula = "body_mass_g ~ C(species, ref='Adelie') + C(sex, ref='female') + bill_length_mm + flipper_length_mm"
    model = lineal.fit(penguins, formula=formula, model="linear")
    agrees(model, "penguins-linear", rtol=1e-10)


def test_logistic(penguins):
    model = lineal.fit(penguins[[*SIZES, "sex"]], target="sex", model="logistic", penalty="none", tol=1e-13)
    assert model.target.classes == ("female", "male")
    agrees(model, "penguins-logistic")


def test_firth_without_separation(penguins):
    found = lineal.fit(penguins[[*SIZES, "sex"]], target="sex", model="logistic", penalty="firth")
    _, estimates, errors, _ = figures("penguins-firth")
    assert found.verdict.kind == "stationary"
    np.testing.assert_allclose(found.coef[:, 0], estimates, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(found.arrays["covariance"])), errors, rtol=1e-6)


def test_counts_as_weights(penguins):
    """`cbind(male, female) ~ .`: every cell of the table is two rows whose weights are the counts.

    The log-likelihoods differ by the binomial coefficients, which R counts.
    """
    counts = penguins.groupby(["species", "year", "sex"]).size().rename("count").reset_index()
    table = {
        "chinstrap": (counts["species"] == "Chinstrap") * 1.0,
        "gentoo": (counts["species"] == "Gentoo") * 1.0,
        "years": counts["year"] - 2007.0,
        "sex": counts["sex"],
        "count": counts["count"],
    }
    model = lineal.fit(table, target="sex", weight="count", model="logistic", penalty="none", tol=1e-14)
    _, estimates, errors, single = figures("penguins-counts")
    summary = model.summary()
    np.testing.assert_allclose([row.estimate for row in summary.rows], estimates, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose([row.error for row in summary.rows], errors, rtol=1e-7)
    cells = counts.pivot_table(index=["species", "year"], columns="sex", values="count", aggfunc="sum").to_numpy()
    p = stats.binom(cells.sum(axis=1), cells[:, 1] / cells.sum(axis=1)).logpmf(cells[:, 1])
    plain = (cells * np.log(cells / cells.sum(axis=1, keepdims=True))).sum()
    ways = p.sum() - plain
    assert summary.figures["log_likelihood"] + ways == pytest.approx(single["log-likelihood"], rel=1e-9)
    assert summary.figures["observations"] == 333


def test_a_coefficient_at_infinity_and_firth(penguins):
    """On Torgersen all penguins are Adelie: like endometrial, but on data that is free."""
    names = ("torgersen", "depth", "mass")
    island = (penguins["island"] == "Torgersen").to_numpy()
    X = np.column_stack([island * 1.0, penguins["bill_depth_mm"], penguins["body_mass_g"] / 1000])
    y = (penguins["species"] == "Adelie").to_numpy()
    table = {**{name: X[:, j] for j, name in enumerate(names)}, "adelie": y.astype(int)}
    model = lineal.fit(table, target="adelie", model="logistic", penalty="none")
    assert model.verdict.kind == "at_infinity"
    assert model.verdict.evidence["plus"] == ["torgersen"]
    assert set(model.verdict.evidence["finite"]) == {"(intercept)", "depth", "mass"}
    with pytest.raises(InputError, match="Firth"):
        model.summary()
    rest = lineal.fit(X[~island, 1:], y[~island].astype(int), model="logistic", penalty="none", tol=1e-13)
    agrees(rest, "islands-finite")
    found = firth(Memory(as_design(X), y * 1.0, columns=("(intercept)", *names)))
    _, estimates, errors, _ = figures("islands-firth")
    assert found.verdict.kind == "stationary"
    np.testing.assert_allclose(found.coef[:, 0], estimates, rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(found.arrays["covariance"])), errors, rtol=1e-6)


def test_iris():
    X, y = datasets.load_iris(return_X_y=True)
    model = lineal.fit(X[y > 0], y[y > 0], model="logistic", penalty="none", tol=1e-14)
    agrees(model, "iris-logistic", rtol=1e-6)


def test_breast_cancer_and_the_test_between_two_models():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    full = lineal.fit(X[:, [0, 1, 4, 5, 7]], y, model="logistic", penalty="none", tol=1e-13)
    reduced = lineal.fit(X[:, [0, 1, 7]], y, model="logistic", penalty="none", tol=1e-13)
    agrees(full, "cancer-full", rtol=1e-6)
    agrees(reduced, "cancer-reduced", rtol=1e-6)
    large, small = (figures(name)[3]["log-likelihood"] for name in ("cancer-full", "cancer-reduced"))
    named = [
        lineal.fit(
            {**{str(j): X[:, j] for j in columns}, "y": y}, target="y", model="logistic", penalty="none", tol=1e-13
        )
        for columns in ([0, 1, 7], [0, 1, 4, 5, 7])
    ]
    ratio = lineal.likelihood_ratio(*named)
    assert ratio.more == 2
    assert ratio.statistic == pytest.approx(2 * (large - small), rel=1e-8)
    assert ratio.p == pytest.approx(stats.chi2.sf(2 * (large - small), 2), rel=1e-8)


@pytest.fixture(scope="module")
def diabetes():
    X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), y


def test_diabetes(diabetes):
    agrees(lineal.fit(*diabetes, model="linear"), "diabetes-linear", rtol=1e-9)


def test_ridge_of_five_degrees(diabetes):
    """Lambda of R is in |y - X b|^2 + lambda |b|^2; it is sigma^2 / tau^2."""
    X, y = diabetes
    terms, estimates, _, single = figures("diabetes-ridge")
    assert len(terms) == 11
    source = Memory(as_design(X), y)
    found = evidence(source, noise=1.0, prior=1.0 / single["lambda"])
    assert found.degrees == pytest.approx(5.0, rel=1e-9)
    np.testing.assert_allclose(found.coef[:, 0], estimates, rtol=1e-7)
    penalty_factors = np.r_[0.0, np.ones(10)]
    same = fit(source, Squared(1), Ridge(dialects.strength_of_alpha(single["lambda"], len(y)), penalty_factors))
    np.testing.assert_allclose(same.coef[:, 0], estimates, rtol=1e-7)


def test_visits_to_a_doctor():
    """Counts of 20,190 people (RAND health insurance experiment, in the public domain)."""
    randhie = pytest.importorskip("statsmodels.datasets").randhie
    table = randhie.load_pandas().data
    terms, estimates, errors, _ = figures("visits-poisson")
    y = table["mdvis"].to_numpy(dtype=float)
    design = as_design(table[terms[1:]].to_numpy(dtype=float))
    result = fit(Memory(design, y), Poisson(), NoPenalty(10), tol=1e-13)
    assert result.verdict.kind == "optimal"
    np.testing.assert_allclose(result.coef[:, 0], estimates, rtol=1e-7)
    np.testing.assert_allclose(np.sqrt(np.diagonal(result.arrays["covariance"])), errors, rtol=1e-6)
