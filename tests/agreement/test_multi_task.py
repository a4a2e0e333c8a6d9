"""MultiTaskLasso and MultiTaskLassoCV against scikit-learn: columns are used for all targets or for none."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model

import lineal
from lineal.errors import InputError

RNG = np.random.default_rng(4)
X = RNG.normal(size=(70, 8)) + 2.0
Y = X[:, :2] @ [[1.0, -2.0, 0.5], [0.3, 0.0, 1.0]] + RNG.normal(size=(70, 3))


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, np.asfortranarray])
@pytest.mark.parametrize("options", [{"alpha": 0.3}, {"alpha": 0.3, "fit_intercept": False}, {"alpha": 50.0}])
def test_columns_are_kept_or_lost_together(options, form):
    theirs = sklearn.linear_model.MultiTaskLasso(**options, tol=1e-12, max_iter=100_000).fit(X, Y)
    ours = lineal.MultiTaskLasso(**options, tol=1e-12).fit(form(X), Y)
    assert ours.verdict_.kind == "optimal"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(ours.predict(form(X)), theirs.predict(X), atol=1e-5)
    assert ours.sparse_coef_.nnz == np.count_nonzero(theirs.coef_)


def test_one_target_is_the_lasso():
    alone = lineal.Lasso(0.2, tol=1e-12).fit(X, Y[:, 0])
    one = lineal.MultiTaskLasso(0.2, tol=1e-12).fit(X, Y[:, :1])
    np.testing.assert_allclose(one.coef_[0], alone.coef_, atol=1e-7)
    with pytest.raises(InputError, match="mono-task outputs use Lasso"):
        lineal.MultiTaskLasso().fit(X, Y[:, 0])
    with pytest.raises(InputError, match="mono-task outputs use LassoCV"):
        lineal.MultiTaskLassoCV().fit(X, Y[:, 0])


def test_weights_are_repetitions():
    weight = np.arange(70) % 3
    weighted = lineal.MultiTaskLasso(0.3, tol=1e-12).fit(X, Y, weight)
    repeated = lineal.MultiTaskLasso(0.3, tol=1e-12).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)


@pytest.mark.parametrize("alphas", [12, [0.01, 0.1, 1.0]])
def test_alpha_is_the_one_scikit_learn_takes(alphas):
    options = {"alphas": alphas, "cv": 4}
    theirs = sklearn.linear_model.MultiTaskLassoCV(**options, tol=1e-9, max_iter=100_000).fit(X, Y)
    ours = lineal.MultiTaskLassoCV(**options, tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-5)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
