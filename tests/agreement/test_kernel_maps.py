"""Nystroem and RBFSampler against scikit-learn's, and what they say they lose against what they lose."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import kernel_approximation
from sklearn.base import clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import lineal
from lineal import kernels
from lineal.errors import InputError


@parametrize_with_checks(
    [lineal.Nystroem(n_components=5, random_state=0), lineal.RBFSampler(n_components=5, random_state=0)]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def drawn(n, p, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


SETTINGS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf"},
    {"kernel": "laplacian", "gamma": 0.2},
    {"kernel": "poly", "degree": 2, "gamma": 0.5},
    {"kernel": "poly"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_nystroem_is_scikit_learns(settings, sparse):
    X, Z = drawn(60, 4), drawn(9, 4, seed=1)
    given = csr_array if sparse else np.asarray
    ours = lineal.Nystroem(n_components=12, random_state=3, **settings).fit(given(X))
    theirs = kernel_approximation.Nystroem(n_components=12, random_state=3, **settings).fit(given(X))
    assert np.array_equal(ours.component_indices_, theirs.component_indices_)
    np.testing.assert_allclose(ours.transform(given(Z)), theirs.transform(given(Z)), rtol=1e-7, atol=1e-8)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    named = {"gamma": 0.25, "degree": 3, "coef0": 1} | settings
    K = pairwise_kernels(X, metric=named.pop("kernel"), filter_params=True, **named)
    phi = ours.transform(given(X))
    lost = np.linalg.svd(K - phi @ phi.T, compute_uv=False).sum() / np.trace(K)
    assert ours.approximation_error_ == pytest.approx(lost, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("gamma", [0.3, "scale"])
@pytest.mark.parametrize("sparse", [False, True])
def test_random_features_are_scikit_learns(gamma, sparse):
    X, Z = drawn(60, 4), drawn(9, 4, seed=1)
    given = csr_array if sparse else np.asarray
    ours = lineal.RBFSampler(gamma=gamma, n_components=30, random_state=3).fit(given(X))
    theirs = kernel_approximation.RBFSampler(gamma=gamma, n_components=30, random_state=3).fit(given(X))
    np.testing.assert_allclose(ours.transform(given(Z)), theirs.transform(given(Z)), rtol=1e-12, atol=1e-13)
    K = pairwise_kernels(X, metric="rbf", gamma=0.3 if gamma == 0.3 else 1 / (4 * X.var()))
    phi = theirs.transform(given(X))
    assert ours.approximation_error_ == pytest.approx(np.sqrt(np.mean((phi @ phi.T - K) ** 2)), rel=1e-8)


def test_all_points_lose_nothing_and_more_features_lose_less():
    X = drawn(40, 2)
    whole = lineal.Nystroem(gamma=0.5, n_components=100, random_state=0).fit(X)
    assert whole.approximation_error_ < 1e-12
    np.testing.assert_allclose(whole.transform(X) @ whole.transform(X).T, kernels.Gaussian(0.5).gram(X), atol=1e-12)
    lost = [
        lineal.RBFSampler(gamma=0.5, n_components=m, random_state=0).fit(X).approximation_error_
        for m in (10, 1000, 100_000)
    ]
    assert lost[0] > 3 * lost[1] > 9 * lost[2]


def test_points_that_are_alike_are_no_trouble():
    X = np.repeat(drawn(3, 2), 10, axis=0)
    columns = lineal.Nystroem(gamma=0.5, n_components=20, random_state=0).fit(X)
    np.testing.assert_allclose(columns.transform(X) @ columns.transform(X).T, kernels.Gaussian(0.5).gram(X), atol=1e-10)


@pytest.mark.parametrize("kernel", ["normalized(spectrum:2)", kernels.Normalized(kernels.Subsequence(2, 0.5))])
def test_texts_become_columns_of_a_linear_model(kernel):
    texts = ["banana", "ananas", "bandana", "zebra", "zeppelin", "maze"] * 4
    y = np.array([1, 1, 1, 0, 0, 0] * 4)
    model = make_pipeline(lineal.Nystroem(kernel, n_components=6, random_state=0), lineal.LogisticRegression())
    model.fit(texts, y)
    assert (model.predict(texts) == y).all()
    copy = pickle.loads(pickle.dumps(model[0]))  # noqa: S301
    assert np.array_equal(copy.transform(texts), model[0].transform(texts))
    assert clone(model[0]).n_components == 6


def test_a_function_of_two_rows_is_a_kernel():
    X = drawn(20, 3)
    ours = lineal.Nystroem(
        lambda x, z, power=1: float((x @ z + 1) ** power), kernel_params={"power": 2}, n_components=10
    )
    phi = ours.fit_transform(X)
    np.testing.assert_allclose(phi @ phi.T, (X @ X.T + 1) ** 2, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (lineal.Nystroem(n_components=0), "whole number"),
        (lineal.Nystroem("precomputed"), "precomputed"),
        (lineal.Nystroem("rbg"), "Did you mean 'rbf'"),
        (lineal.Nystroem("linear", kernel_params={"a": 1}), "leave them out"),
        (lineal.RBFSampler(gamma=0.0), "gamma"),
        (lineal.RBFSampler(gamma="auto"), "gamma"),
        (lineal.RBFSampler(n_components=True), "whole number"),
    ],
)
def test_parameters_that_cannot_be_are_refused(estimator, words):
    with pytest.raises(InputError, match=words):
        estimator.fit(drawn(4, 4))
