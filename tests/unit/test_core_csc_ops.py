"""Kernels that look at columns stored one after the other, and at all columns of a path, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from lineal import _core
from lineal.designs import ColumnMajor, HStack, Ones, Sparse


def columns(rng, n, p, dtype=np.float64, index=np.int32):
    """A sparse matrix by columns, one of them empty and one full, with its dense self."""
    x = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.3)
    x[:, 0], x[:, p - 1] = 0.0, 1e3 + rng.normal(size=n)
    found = sparse.csc_array(x.astype(dtype))
    found.indices, found.indptr = found.indices.astype(index), found.indptr.astype(index)
    return found, found.toarray().astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_out_of_columns(dtype, index, weighted):
    rng = np.random.default_rng(1)
    matrix, x = columns(rng, 3000, 7, dtype, index)
    weight = rng.uniform(size=3000) * (rng.random(3000) < 0.7) if weighted else None
    design = Sparse(matrix)
    s = np.ones(3000) if weight is None else weight
    total, mean, scatter, largest = design.moments(weight)
    assert design.upright
    assert total == pytest.approx(s.sum(), rel=1e-14)
    np.testing.assert_allclose(mean, s @ x / s.sum(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(scatter, s @ (x - s @ x / s.sum()) ** 2, rtol=1e-9)
    np.testing.assert_array_equal(largest, np.abs(x[s > 0.0]).max(axis=0))
    # the same out of the rows, and beside an intercept
    for one, other in zip(design.moments(weight), design.rows.moments(weight), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    beside = HStack([Ones(3000), Sparse(matrix)])
    for one, other in zip(beside.moments(weight), beside.rows.moments(weight), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_entries_in_rows_without_weight_do_not_count():
    matrix = sparse.csc_array(np.array([[np.nan, 1.0], [2.0, 0.0], [4.0, 5.0]]))
    total, mean, scatter, largest = Sparse(matrix).moments(np.array([0.0, 1.0, 1.0]))
    assert (total, mean.tolist(), scatter.tolist(), largest.tolist()) == (2.0, [3.0, 2.5], [2.0, 12.5], [4.0, 5.0])
    assert np.isnan(Sparse(matrix).moments(None)[3]).tolist() == [True, False]


@pytest.mark.parametrize("points", [1, 2, 5, 8, 9, 24, 33])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_columns(points, dtype):
    rng = np.random.default_rng(points)
    matrix, x = columns(rng, 700, 31, dtype)
    turned = ColumnMajor.of(Sparse(matrix))
    values, coef = rng.normal(size=(700, points)), rng.normal(size=(31, points))
    np.testing.assert_allclose(turned.transpose_times(values), x.T @ values, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(turned.times(coef), x @ coef, rtol=1e-12, atol=1e-10)
    some = np.array([0, 3, 30])
    np.testing.assert_allclose(turned.take(some).times(coef[some]), x[:, some] @ coef[some], rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(turned.take(some).transpose_times(values), x[:, some].T @ values, rtol=1e-12, atol=1e-10)


def test_products_have_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    part = Sparse(sparse.random_array((4000, 3000), density=0.05, format="csc", rng=rng)).csc_part
    values, coef = rng.normal(size=(4000, 6)), rng.normal(size=(3000, 6))
    found = []
    try:
        for threads in (1, 2, 3):
            _core.set_threads(threads)
            found.append(
                (part.times_columns(values), part.spread_columns(coef), *part.column_moments(values[:, 0] ** 2))
            )
    finally:
        _core.set_threads(0)
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_rows_of_columns_are_made_when_asked_for():
    rng = np.random.default_rng(0)
    matrix, x = columns(rng, 20, 5)
    design = Sparse(matrix)
    assert design.upright
    np.testing.assert_allclose(design.times(np.eye(5)), x)
    assert not design.upright
    np.testing.assert_array_equal(design.slice(3, 9).dense(), x[3:9])
    again = Sparse(matrix)
    np.testing.assert_array_equal(again.slice(3, 9).dense(), x[3:9])
    assert (again.indices == design.indices).all()


def test_shapes_that_do_not_fit_are_refused():
    part = Sparse(sparse.csc_array(np.eye(3))).csc_part
    for call, given in (
        (part.column_moments, np.ones(4)),
        (part.times_columns, np.ones((4, 1))),
        (part.spread_columns, np.ones((4, 1))),
    ):
        with pytest.raises(ValueError, match="for every"):
            call(given)
    with pytest.raises(ValueError, match="do not fit"):
        _core.beyond(np.ones((4, 2)), np.ones((3, 5)), np.ones((4, 1)), np.ones((1, 5)))


@pytest.mark.parametrize("points", [1, 7, 8, 24])
def test_columns_beyond_their_penalty_factor(points):
    rng = np.random.default_rng(points)
    slopes, turns = rng.normal(size=(50, 3)), rng.normal(size=(3, points))
    sizes, margins = rng.normal(size=(50, 2)), rng.normal(size=(2, points)) - 1.0
    sizes[7, 1] = np.nan
    expected = ~(np.abs(slopes @ turns) + sizes @ margins <= 0.0)
    assert np.array_equal(_core.beyond(slopes, turns, sizes, margins), expected.any(axis=1))


def test_when_columns_are_due():
    rng = np.random.default_rng(0)
    g, before, linear = rng.normal(size=40), rng.normal(size=40), rng.uniform(0.1, 2.0, size=40)
    least, most = np.where(np.arange(40) % 4 == 0, 0.0, -np.inf), np.where(np.arange(40) % 4 == 1, 0.0, np.inf)
    linear[5] = 0.0
    found = _core.due(g, before, linear, least, most, 3.0, 0.5, 0.2)
    trend = (before - g) / 0.5
    for j in range(40):
        times = [np.inf]
        for sign, free in ((1.0, least[j] < 0.0), (-1.0, most[j] > 0.0)):
            speed = 1.2 * linear[j] - sign * trend[j]
            if free and speed > 0.0 and linear[j] > 0.0:
                times.append(max(linear[j] * 3.0 - sign * g[j], 0.0) / speed)
        assert found[j] == pytest.approx(3.0 - min(times), rel=1e-13)
