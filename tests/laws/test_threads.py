"""The law of bits: coefficients and gaps do not depend on how many threads the core or BLAS may use."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from lineal import _core
from lineal import estimators as doors

THREADS = ((1, 1), (2, 2), (3, 1), (5, 2))
"""Of the core, of BLAS."""

NUMBERS = [
    doors.LinearRegression(),
    doors.Ridge(alpha=0.1),
    doors.RidgeCV(),
    doors.Lasso(alpha=0.01),
    doors.LassoCV(cv=2, alphas=5),
    doors.ElasticNet(alpha=0.01),
    doors.BayesianRidge(),
    doors.HuberRegressor(),
    doors.QuantileRegressor(alpha=0.01),
    doors.LinearSVR(C=0.1),
    doors.SGDRegressor(max_iter=3, tol=None, random_state=0),
]
CLASSES = [
    doors.LogisticRegression(),
    doors.LogisticRegression(penalty="l1", C=0.05, solver="saga"),
    doors.LogisticRegressionCV(cv=2, Cs=2),
    doors.LinearSVC(),
    doors.LinearSVC(loss="hinge", C=0.01),
    doors.Perceptron(max_iter=2),
    doors.SGDClassifier(max_iter=3, tol=None, random_state=0),
]


def stored(x, kind):
    """Return the rows in one of the ways they may lie in memory."""
    if kind == "sparse":
        return sparse.csr_array(x * (np.abs(x) > 1.0))
    return x.astype(np.float32) if kind == "float32" else np.asfortranarray(x) if kind == "Fortran" else x


@pytest.fixture
def every():
    """Hand the threads back."""
    before = _core.threads()
    yield THREADS
    _core.set_threads(before)


@pytest.mark.slow
@pytest.mark.parametrize("model", [*NUMBERS, *CLASSES, doors.PoissonRegressor()], ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_any_number_of_threads_gives_the_same_bits(model, seed, every):
    rng = np.random.default_rng([seed, *str(model).encode()])
    n, p = int(rng.integers(5_000, 12_000)), int(rng.choice([2, 7, 30]))
    x = rng.normal(size=(n, p))
    score = x @ rng.normal(size=p) / np.sqrt(p) + rng.standard_t(4, size=n)
    x, classes = stored(x, rng.choice(["dense", "float32", "Fortran", "sparse"])), int(rng.choice([2, 3]))
    if type(model) is doors.PoissonRegressor:
        y = rng.poisson(np.exp(np.clip(score, -3.0, 3.0))).astype(float)
    else:
        y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) if model in CLASSES else score
    weight = rng.integers(0, 3, size=n).astype(float) if seed else None
    found = []
    for core, blas in every:
        _core.set_threads(core)
        with threadpool_limits(blas, user_api="blas"):
            fitted = clone(model).fit(x, y, sample_weight=weight)
        found.append((fitted.coef_.tobytes(), np.asarray(fitted.intercept_).tobytes(), fitted.verdict_.gap))
    assert found == found[:1] * len(every)


@pytest.mark.parametrize("kind", ["dense", "float32", "Fortran"])
def test_many_columns_in_single_precision_have_the_same_bits(kind, every):
    rng = np.random.default_rng(11)
    x = stored(rng.normal(size=(6_000, 400)), kind)
    y = x @ rng.normal(size=400) + rng.normal(size=6_000)
    found = []
    for core, blas in every:
        _core.set_threads(core)
        with threadpool_limits(blas, user_api="blas"):
            fitted = doors.Ridge().fit(x, y)
        found.append((fitted.coef_.tobytes(), np.asarray(fitted.intercept_).tobytes(), fitted.verdict_.gap))
    assert fitted.solver_.startswith("refined")
    assert found == found[:1] * len(every)
