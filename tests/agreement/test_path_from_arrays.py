"""lineal.path from arrays, beside scikit-learn's lasso_path and single fits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import lineal
from lineal.errors import InputError
from lineal.losses import Huber, Quantile
from lineal.penalties import L1, Bounds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) + RNG.normal(size=5)
Y = X @ [1.0, 0.0, -2.0, 0.0, 0.5] + RNG.normal(size=60)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("penalty", [{"penalty": "l1"}, {"penalty": "elastic", "l1_ratio": 0.4}])
def test_squared_as_in_scikit_learn(form, penalty):
    found = lineal.path(form(X), Y, strengths=15, tol=1e-11, **penalty)
    ratio = penalty.get("l1_ratio", 1.0)
    for point in found.points:
        theirs = sklearn.linear_model.ElasticNet(alpha=point.strength, l1_ratio=ratio, tol=1e-14, max_iter=100000)
        theirs.fit(X, Y)
        np.testing.assert_allclose(point.coef[1:, 0], theirs.coef_, atol=1e-6)
        assert point.verdict.kind == "optimal"
    assert found.points[0].used == 1
    assert found.strengths[0] == pytest.approx(found.critical)
    assert found.strengths[-1] == pytest.approx(1e-3 * found.critical)


def test_weights_offsets_and_no_intercept():
    weight, offset = RNG.integers(0, 3, size=60), RNG.normal(size=60)
    found = lineal.path(
        X, Y + offset, sample_weight=weight, offset=offset, strengths=[0.5, 0.05], fit_intercept=False, tol=1e-11
    )
    for point in found.points:
        theirs = sklearn.linear_model.Lasso(alpha=point.strength, fit_intercept=False, tol=1e-14, max_iter=100000)
        theirs.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight))
        np.testing.assert_allclose(point.coef[:, 0], theirs.coef_, atol=1e-6)


@pytest.mark.parametrize(
    ("loss", "target"),
    [
        ("poisson", np.round(np.exp(0.3 * (Y - Y.mean())))),
        ("logistic", np.where(Y > 0, "b", "a")),
        ("squared-hinge", Y > 0),
        ("softmax", np.digitize(Y, [-3.0, 1.0])),
        ("sparsemax", np.digitize(Y, [-3.0, 1.0])),
        (Huber(1.0), Y),
        (Quantile(0.3), Y),
    ],
)
@pytest.mark.parametrize("penalty", ["l1", "ridge"])
def test_any_loss(loss, target, penalty):
    found = lineal.path(X, target, loss=loss, penalty=penalty, strengths=[0.1, 0.05, 0.02])
    assert [point.verdict.kind for point in found.points] == ["optimal"] * 3
    assert all(np.diff([point.objective for point in found.points]) < 0.0)


def test_a_penalty_of_ones_own():
    penalty_factors = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    lower = np.array([-np.inf, -np.inf, 0.0, 0.0, 0.0, 0.0])
    bounds = Bounds(lower, np.full(6, np.inf), L1(1.0, penalty_factors))
    found = lineal.path(X, Y, penalty=bounds, strengths=4)
    assert np.all(found.coef[:, 2:] >= 0.0)
    assert found.points[0].used == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "squred"}, "Did you mean 'squared'"),
        ({"loss": "quantile"}, "needs q"),
        ({"penalty": "l2"}, "choose one of l1, elastic"),
        ({"penalty": "elastic"}, "give both or neither"),
        ({"l1_ratio": 0.5}, "give both or neither"),
        ({"penalty": "ridge"}, "give the strengths as numbers"),
        ({"loss": "logistic"}, "60 classes"),
    ],
)
def test_refused(options, words):
    with pytest.raises(InputError) as error:
        lineal.path(X, Y, **options)
    assert words in str(error.value)
