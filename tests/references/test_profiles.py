"""Profile intervals and ratios: against refits by statsmodels with a coefficient held, and against glm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

import lineal
from lineal.errors import InputError
from tests.references.statsmodels_cases import columns, fitted, repeated, rows, statsmodels


def held(y, X, j, value, family, offset):
    """Return the best log-likelihood with one coefficient held, by statsmodels."""
    rest = np.delete(X, j, axis=1)
    return statsmodels.GLM(y, rest, family, offset=offset + value * X[:, j]).fit(tol=1e-14, maxiter=200).llf


@pytest.mark.parametrize("kind", ["logistic", "poisson"])
def test_profiles_as_refits(kind):
    X, y, weight, offset, _ = rows(2, "logistic", n=60)
    family = {"logistic": statsmodels.families.Binomial(), "poisson": statsmodels.families.Poisson()}[kind]
    ours = lineal.summarise(
        fitted(kind, X, y, weight=weight, offset=offset),
        X,
        y,
        weight=weight,
        offset=offset,
        errors="profile",
        level=0.9,
    )
    X, y, offset = repeated(weight, X, y, offset)
    X = statsmodels.add_constant(X)
    best = statsmodels.GLM(y, X, family, offset=offset).fit(tol=1e-14)
    reach = stats.chi2.ppf(0.9, 1)
    for j, row in enumerate(ours.rows):
        drop = 2 * (best.llf - held(y, X, j, 0.0, family, offset))
        assert (row.statistic, row.p) == pytest.approx((drop, stats.chi2.sf(drop, 1)), rel=1e-6)

        def height(value, j=j):
            return 2 * (best.llf - held(y, X, j, value, family, offset)) - reach

        for end, side in ((row.lower, -1), (row.upper, 1)):
            found = optimize.brentq(height, best.params[j], best.params[j] + side * 4 * best.bse[j], xtol=1e-12)
            assert end == pytest.approx(found, rel=1e-6)


def test_profiles_of_powers():
    """Coefficients of a polynomial are profiled as they are read: those of x and x^2."""
    data = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": ["n", "n", "y", "n", "y", "y"]}
    model = lineal.fit(data, formula="y ~ poly(x, 2)", model="logistic", penalty="none", tol=1e-12)
    ours = lineal.summarise(model, data, errors="profile")
    x, y = np.array(data["x"]), np.array([label == "y" for label in data["y"]], float)
    family, none = statsmodels.families.Binomial(), np.zeros(6)
    X = np.column_stack([np.ones(6), x, x**2])
    best = statsmodels.GLM(y, X, family).fit(tol=1e-14)
    for j, row in enumerate(ours.rows):
        assert row.statistic == pytest.approx(2 * (best.llf - held(y, X, j, 0.0, family, none)), rel=1e-6)
    for end in (ours.rows[2].lower, ours.rows[2].upper):
        height = 2 * (best.llf - held(y, X, 2, end, family, none))
        assert height == pytest.approx(stats.chi2.ppf(0.95, 1), rel=1e-6)


@pytest.mark.parametrize("kind", ["logistic", "poisson"])
def test_ratios(kind):
    X, y, *_ = rows(1, "logistic")
    summary = fitted(kind, X, y).summary()
    ratios = summary.ratios()
    assert ratios.headings[0] == {"logistic": "odds ratio", "poisson": "rate ratio"}[kind]
    np.testing.assert_allclose(columns(ratios, "estimate"), np.exp(columns(summary, "estimate")), rtol=1e-14)
    np.testing.assert_allclose(columns(ratios, "upper"), np.exp(columns(summary, "upper")), rtol=1e-14)
    step = 1e-6  # the delta method, by finite differences
    slope = (np.exp(columns(summary, "estimate") + step) - np.exp(columns(summary, "estimate") - step)) / (2 * step)
    np.testing.assert_allclose(columns(ratios, "error"), slope * columns(summary, "error"), rtol=1e-8)
    np.testing.assert_array_equal(columns(ratios, "p"), columns(summary, "p"))
    with pytest.raises(InputError, match="ratios already"):
        ratios.ratios()


def test_what_has_no_profile_or_ratio():
    X, y, *_ = rows(1, "linear")
    model = fitted("linear", X, y)
    with pytest.raises(InputError, match="intervals of t"):
        lineal.summarise(model, X, y, errors="profile")
    with pytest.raises(InputError, match="logarithms"):
        model.summary().ratios()
