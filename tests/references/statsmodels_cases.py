"""Rows and comparisons for the tests against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest

import lineal

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
