"""The Mercer test: its three answers against exact arithmetic and matrices whose answer is known."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lineal import kernels
from lineal.errors import InputError

PSD, NOT = "positive semi-definite", "not positive semi-definite"
PRECOMPUTED = kernels.Precomputed()


def drawn(n, p, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p))


def form(K, test):
    """v'Kv in fractions."""
    entries = [[Fraction(float(K[i, j])) for j in test.rows] for i in test.rows]
    return sum(
        m * e * v for m, row in zip(test.vector, entries, strict=True) for e, v in zip(row, test.vector, strict=True)
    )


def refused(K, test):
    """Check a witness by itself."""
    assert test.answer == NOT
    assert test.value == float(form(K, test))
    assert form(K, test) < -Fraction(test.rounding) <= 0
    return True


@pytest.mark.parametrize(
    "kernel", [k for kind in kernels.ALL for k in kind.examples() if k.takes == "rows" and k.mercer], ids=repr
)
def test_catalogue_kernels_are_mercers_and_so_are_their_matrices(kernel):
    X = drawn(40, 3)
    test = kernel.check(X)
    assert test.answer == PSD
    assert test.by_construction
    assert PRECOMPUTED.check(kernel.gram(X)).answer == PSD


def test_gaussian_matrices_that_are_exactly_indefinite_are_no_finding():
    K = kernels.Gaussian(1e-4).gram(drawn(60, 3))
    assert np.linalg.eigvalsh(K)[0] < 0.0
    assert PRECOMPUTED.check(K).answer == PSD


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_matrices_below_zero_are_refused_with_a_witness(n, size):
    X = drawn(n, 2) * np.sqrt(size)
    K = -(X @ X.T)
    assert refused(K, PRECOMPUTED.check(K))


@pytest.mark.parametrize("seed", range(6))
def test_a_negative_eigenvalue_is_found_wherever_it_is(seed):
    random = np.random.default_rng(seed)
    Q = np.linalg.qr(random.standard_normal((30, 30)))[0]
    values = np.concatenate([[-(10.0 ** -(seed + 5))], random.random(29) + 0.1])
    K = Q * values @ Q.T
    K = 0.5 * (K + K.T)
    assert refused(K, PRECOMPUTED.check(K))


def test_rows_of_very_different_size_are_judged_each_by_its_own_rounding():
    scale = np.diag([1e-12, 1.0, 1e12])
    good = scale @ (np.eye(3) + 0.5) @ scale
    bad = scale @ np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) @ scale
    assert PRECOMPUTED.check(good).answer == PSD
    assert refused(bad, PRECOMPUTED.check(bad))


def test_a_peers_matrix_with_an_eigenvalue_of_minus_45():
    X = drawn(60, 3)
    K = np.tanh(X @ X.T - 1.0)
    assert np.linalg.eigvalsh(K)[0] < -10.0
    assert refused(K, PRECOMPUTED.check(K))
    assert refused(K, kernels.Sigmoid(1.0, -1.0).check(X))


def test_what_is_too_near_to_zero_is_undecided_or_a_finding_never_accepted():
    for tiny in np.geomspace(1e-17, 1e-12, 30):
        K = np.array([[1.0, 1.0], [1.0, 1.0]])
        K[0, 1] = K[1, 0] = 1.0 + tiny
        test, exact = PRECOMPUTED.check(K), 2 - 2 * Fraction(float(K[0, 1]))
        if test.answer == NOT:
            assert refused(K, test)
        elif test.answer == PSD:
            assert exact >= -2 * Fraction(test.bound)
    assert PRECOMPUTED.check(np.array([[1.0, 1.0 + 1e-12], [1.0 + 1e-12, 1.0]])).answer == NOT


def test_functions_are_judged_by_their_entries():
    X = drawn(25, 2)
    assert kernels.FromFunction(lambda x, z: float(np.exp(-np.sum((x - z) ** 2)))).check(X).answer == PSD
    distance = kernels.FromFunction(lambda x, z: float(np.abs(x - z).sum()))
    assert refused(distance.gram(X), distance.check(X))
    assert kernels.FromFunction(lambda x, z: len(set(x) & set(z))).check(["abc", "bcd", "", "xyz"]).answer == PSD


def test_functions_that_are_not_symmetric_or_no_numbers_are_refused():
    for function, words in (
        (lambda x, z: x - 2.0 * z, "not symmetric"),
        (lambda *_: np.nan, "finite"),
        (lambda *_: "one", "no number"),
    ):
        with pytest.raises(InputError, match=words):
            kernels.FromFunction(function).check([1.0, 2.0])
    with pytest.raises(InputError, match="hold no code"):
        kernels.FromFunction(min).to_dict()


@pytest.mark.parametrize("K", [np.zeros((0, 0)), np.zeros((3, 3)), np.eye(1), np.full((5, 5), 2.0)])
def test_matrices_without_rank_are_semi_definite(K):
    assert PRECOMPUTED.check(K).answer == PSD


@pytest.mark.slow
def test_many_points():
    X = drawn(1500, 3)
    K = kernels.Gaussian(0.05).gram(X)
    assert PRECOMPUTED.check(K).answer == PSD
    X = drawn(1500, 3)
    K = kernels.Sigmoid(0.1, 0.0).gram(X)
    assert refused(K, PRECOMPUTED.check(K))
