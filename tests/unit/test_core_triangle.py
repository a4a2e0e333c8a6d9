"""Cholesky factors and inverses of triangles in strips, beside numpy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from lineal import _core


@pytest.fixture(autouse=True)
def all_threads_afterwards() -> Iterator[None]:
    yield
    _core.set_threads(0)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 24, 25, 48, 49, 100, 257, 300])
def test_factor_and_inverse_are_those_of_numpy(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(2 * n + 3, n))
    matrix = x.T @ x
    found = _core.cholesky(matrix)
    assert found is not None
    np.testing.assert_allclose(found, np.linalg.cholesky(matrix), rtol=1e-10, atol=1e-12 * (n + 1))
    np.testing.assert_array_equal(np.triu(found, 1), 0.0)
    truth = np.diagonal(np.linalg.inv(matrix)) if n else np.empty(0)
    np.testing.assert_allclose(_core.inverse_squares(found), truth, rtol=1e-9)


@pytest.mark.parametrize("n", [100, 401])
def test_the_factor_gives_the_matrix_back_and_threads_change_no_bit(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(n + 5, n))
    matrix = x.T @ x
    _core.set_threads(1)
    found = _core.cholesky(matrix)
    assert found is not None
    squares = _core.inverse_squares(found)
    size = np.sqrt(np.outer(np.diagonal(matrix), np.diagonal(matrix)))
    assert np.max(np.abs(found @ found.T - matrix) / size) <= (n + 1) * np.finfo(float).eps
    for threads in (2, 3, 8):
        _core.set_threads(threads)
        again = _core.cholesky(matrix)
        assert again is not None
        np.testing.assert_array_equal(again, found)
        np.testing.assert_array_equal(_core.inverse_squares(again), squares)


def test_what_has_no_factor_has_none() -> None:
    for at in (0, 5, 30, 77):
        matrix = np.eye(80)
        matrix[at, at] = 0.0
        assert _core.cholesky(matrix) is None
        matrix[at, at] = np.nan
        assert _core.cholesky(matrix) is None
    assert _core.cholesky(-np.ones((1, 1))) is None
    assert _core.cholesky(np.ones((50, 50))) is None


def test_other_shapes_are_refused() -> None:
    for call in (_core.cholesky, _core.inverse_squares):
        with pytest.raises(ValueError, match="square"):
            call(np.ones((2, 3)))
        with pytest.raises(ValueError, match="contiguous"):
            call(np.asfortranarray(np.arange(4.0).reshape(2, 2)))
