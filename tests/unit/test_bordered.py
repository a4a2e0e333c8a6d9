"""Factors that eliminate a category first, against numpy's inverse and LAPACK's estimate of the condition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import lapack

from lineal import _core
from lineal.algebra.cholesky import BORDERED_MIN_COLUMNS, Bordered, Cholesky


def gram(sizes: list[int], rows: int, order: int, penalty_factor: float = 1e-3) -> np.ndarray:
    rng = np.random.default_rng(rows)
    parts = [rng.normal(size=(rows, 4))]
    for size in sizes:
        codes = rng.integers(-1, size, rows)
        parts.append((codes[:, None] == np.arange(size)).astype(float))
    columns = np.hstack(parts[order:] + parts[:order])
    return (columns * rng.random((rows, 1))).T @ columns / rows + penalty_factor * np.eye(columns.shape[1])


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[300], [5, 40, 300], [300, 40, 5], [40, 300, 5]])
@pytest.mark.parametrize("rows", [500, 5000])
@pytest.mark.parametrize("order", [0, 1])
def test_a_category_is_eliminated_first(sizes, rows, order):
    matrix = gram(sizes, rows, order)
    factor = Cholesky.of(matrix)
    assert isinstance(factor, Bordered)
    assert factor.levels.stop - factor.levels.start >= 300
    inverse = np.linalg.inv(matrix)
    right = np.random.default_rng(0).normal(size=(len(matrix), 3))
    scale = np.abs(inverse).max()
    assert np.allclose(factor.solve(right), inverse @ right, rtol=1e-9, atol=1e-10 * scale)
    assert np.allclose(factor.solve(right[:, 0]), inverse @ right[:, 0], rtol=1e-9, atol=1e-10 * scale)
    assert np.allclose(factor.solve(right[:, :1]), inverse @ right[:, :1], rtol=1e-9, atol=1e-10 * scale)
    assert np.allclose(factor.inverse(), inverse, rtol=1e-9, atol=1e-10 * scale)
    assert np.allclose(factor.inverse_diagonal(), np.diagonal(inverse), rtol=1e-9)
    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-10)
    even = matrix / np.sqrt(np.outer(np.diagonal(matrix), np.diagonal(matrix)))
    upper, _ = lapack.dpotrf(even, lower=0)
    estimate, _ = lapack.dpocon(upper, np.abs(even).sum(axis=0).max(), uplo="U")
    assert estimate / 3 <= factor.condition <= 3 * estimate


def test_dense_and_short_matrices_are_factored_as_before():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(600, BORDERED_MIN_COLUMNS + 10))
    assert not isinstance(Cholesky.of(columns.T @ columns), Bordered)
    assert not isinstance(Cholesky.of(gram([BORDERED_MIN_COLUMNS - 10], 500, 0)), Bordered)


def test_what_is_singular_is_left_to_the_other_factor():
    matrix = gram([300], 5000, 0, penalty_factor=0.0)
    matrix[0] = matrix[:, 0] = matrix[1]
    matrix[0, 0] = matrix[1, 0] = matrix[0, 1] = matrix[1, 1]
    assert Cholesky.of(matrix).singular
    matrix = gram([300], 5000, 0)
    matrix[50] = matrix[:, 50] = 0.0  # a level that does not occur and is not penalized
    assert Cholesky.of(matrix).singular


def test_a_diagonal_matrix_of_many_columns():
    diagonal = np.random.default_rng(1).uniform(0.5, 2.0, BORDERED_MIN_COLUMNS + 50)
    factor = Cholesky.of(np.diag(diagonal))
    assert not factor.singular
    np.testing.assert_allclose(factor.solve(np.ones((BORDERED_MIN_COLUMNS + 50, 1)))[:, 0], 1.0 / diagonal, rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40, 90])
@pytest.mark.parametrize("links", [0, 1, 5, 60])
def test_the_longest_stretch_of_columns_that_do_not_touch(n, links):
    rng = np.random.default_rng(100 * n + links)
    matrix = np.eye(n)
    for i, j in rng.integers(0, n, size=(links, 2)) if n else ():
        matrix[i, j] = matrix[j, i] = rng.normal()

    def good(first, last):
        block = matrix[first:last, first:last]
        return np.count_nonzero(block - np.diag(np.diagonal(block))) == 0

    longest = max((b - a for a in range(n) for b in range(a + 1, n + 1) if good(a, b)), default=0)
    for given in (matrix, matrix.T, np.asfortranarray(matrix), np.kron(matrix, np.ones((2, 2)))[::2, ::2]):
        first, last = _core.apart(given)
        assert last - first == longest
        assert good(first, last)
