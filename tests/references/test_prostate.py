"""Prostate cancer: the least-squares and ridge columns of Tables 3.2 and 3.3 of The Elements of Statistical Learning.

The data is under the GPL and so not in this repository: it is `prostate` of the R package ElemStatLearn, from which
data/r/outside.R writes it where these tests look, and makes the figures again. (`Prostate` of the package lasso2 will not
do: row 32 has another lweight there, and the book's split is missing.)
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from lineal.api import dialects
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.inference import evidence
from lineal.losses import Squared
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.penalties import NoPenalty, Ridge
from lineal.sources.memory import Memory

FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "prostate.csv"

ABSENT = "../shared/data/prostate.csv (GPL, from the R package ElemStatLearn by references/data/r/outside.R) is absent"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason=ABSENT)

NAMES = ("(intercept)", "lcavol", "lweight", "age", "lbph", "svi", "lcp", "gleason", "pgg45")
LEAST_SQUARES = (2.465, 0.680, 0.263, -0.141, 0.210, 0.305, -0.288, -0.021, 0.267)
ERRORS = (0.0893150, 0.1266290, 0.0956282, 0.1013424, 0.1022190, 0.1236003, 0.1545293, 0.1452472, 0.1536136)
RIDGE = (2.464, 0.421, 0.239, -0.048, 0.162, 0.227, -0.000, 0.041, 0.132)


@pytest.fixture(scope="module")
def rows():
    """The 8 predictors standardised over all 97 rows, with ddof = 1; fitted on the 67, tested on the 30."""
    with FILE.open() as stream:
        cells = list(csv.DictReader(stream))
    X = np.array([[float(row[name]) for name in NAMES[1:]] for row in cells])
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    y = np.array([float(row["lpsa"]) for row in cells])
    train = np.array([row["train"] == "T" for row in cells])
    assert (train.sum(), (~train).sum()) == (67, 30)
    return X, y, train


def source(rows):
    X, y, train = rows
    return Memory(as_design(X[train]), y[train], columns=NAMES)


def errors(rows, coef):
    """Return the test error and its standard error."""
    X, y, train = rows
    squares = (y[~train] - coef[0, 0] - X[~train] @ coef[1:, 0]) ** 2
    return squares.mean(), squares.std(ddof=1) / np.sqrt(len(squares))


def test_least_squares(rows):
    result = fit(source(rows), Squared(1), NoPenalty(9))
    np.testing.assert_allclose(result.coef[:, 0], LEAST_SQUARES, atol=5.01e-4)
    training = {"rows": 67, "weight_sum": 67.0}
    model = Model(
        result.coef,
        NAMES,
        Squared(1),
        result.problem.penalty,
        Target("lpsa", "number"),
        result.verdict,
        training=training,
        arrays=result.arrays,
    )
    summary = model.summary()
    np.testing.assert_allclose([row.error for row in summary.rows], ERRORS, atol=5.01e-8)
    assert errors(rows, result.coef) == pytest.approx((0.521, 0.179), abs=5.01e-4)


def test_ridge_of_five_degrees(rows):
    """df = 5, i.e. lambda = 24.00 in |y - X b|^2 + lambda |b|^2; that lambda is sigma^2 / tau^2."""
    found = evidence(source(rows), noise=1.0, prior=1.0 / 24.0)
    assert found.degrees == pytest.approx(5.0, abs=5e-4)
    np.testing.assert_allclose(found.coef[:, 0], RIDGE, atol=5.01e-4)
    assert errors(rows, found.coef) == pytest.approx((0.490, 0.162), abs=1e-3)
    assert found.verdict.kind == "optimal"
    penalty_factors = np.ones(9)
    penalty_factors[0] = 0.0
    strength = dialects.strength_of_alpha(24.0, 67)
    same = fit(source(rows), Squared(1), Ridge(strength, penalty_factors))
    np.testing.assert_allclose(same.coef, found.coef, atol=1e-8)
    assert found.strength == pytest.approx(strength, rel=1e-12)


def test_the_posterior_of_the_ridge(rows):
    """By definition: sigma^2 (X'X + (sigma^2/tau^2) D)^-1 and sigma^2 + x' V x, written out."""
    X, _, train = rows
    found = evidence(source(rows), noise=0.5, prior=0.02)
    Z = np.column_stack([np.ones(67), X[train]])
    D = np.diag([0.0, *np.ones(8)])
    V = 0.5 * np.linalg.inv(Z.T @ Z + 0.5 / 0.02 * D)
    np.testing.assert_allclose(found.covariance, V, rtol=1e-9, atol=1e-14)
    new = np.column_stack([np.ones(30), X[~train]])
    expected = 0.5 + np.einsum("ni,ij,nj->n", new, V, new)
    np.testing.assert_allclose(found.variance(as_design(X[~train])), expected, rtol=1e-10)
