"""What the core refuses, and what it does at the ends of the range."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from lineal import _core
from tests.unit.core_cases import case, close


def test_kept_curvatures_are_checked() -> None:
    c = case("dense", 1, 1)
    given = (1, c.y, c.weight, c.offset, c.coef, c.coef, 0.0)
    with pytest.raises(ValueError, match="known curvatures must be given"):
        c.rows.curve(*given, 1, 0, None, known=True)
    with pytest.raises(ValueError, match="kept must have"):
        c.rows.curve(*given, 1, 0, np.empty((3, 1)))
    with pytest.raises(ValueError, match="sample must be at least 1"):
        c.rows.curve(*given, 0)
    with pytest.raises(ValueError, match="sample must be at least 1"):
        c.rows.blocks(1, c.weight, np.empty((1, len(c.x))), 0)
    with pytest.raises(ValueError, match="kept must have"):
        c.rows.blocks(1, c.weight, np.empty((3, 1)))
    with pytest.raises(ValueError, match="kept must have"):
        c.rows.blocks(1, c.weight, np.empty(len(c.x)))


@pytest.mark.parametrize("loss", [0, 1, 2])
def test_weight_zero_is_absent_to_the_bit(loss: int) -> None:
    c = case("mixed", loss, 3, 100)
    assert c.weight is not None
    assert c.offset is not None
    gone = c.weight == 0
    y, offset = c.y.copy(), c.offset.copy()
    y[gone], offset[gone] = np.nan, np.inf
    shift = 0.01 * np.ones_like(c.coef)
    for run in (
        lambda y, o: c.rows.evaluate(loss, y, c.weight, o, c.coef, 4),
        lambda y, o: c.rows.dual(loss, y, c.weight, o, c.coef, shift),
        lambda y, o: c.rows.curve(loss, y, c.weight, o, c.coef, shift),
    ):
        for clean, dirty in zip(run(c.y, c.offset), run(y, offset), strict=True):
            np.testing.assert_array_equal(clean, dirty)


@pytest.mark.parametrize("loss", [1, 2])
@pytest.mark.parametrize("size", [40.0, 700.0, 1e6])
def test_large_scores_stay_finite_and_right(loss: int, size: float) -> None:
    k = 1 if loss == 1 else 3
    c = case("dense", loss, k, size=size)
    high, low, _, slope_sum, gradient, second = c.rows.evaluate(loss, c.y, c.weight, c.offset, c.coef, 13)
    value, slope, _ = c.truth(c.eta)
    close(high + low, np.sum(c.s * value), 1e-10)
    close(gradient, c.x.T @ (c.s[:, None] * slope), 1e-9)
    assert second is not None
    assert np.all(np.isfinite(second))
    assert np.all(np.isfinite(slope_sum))


def test_tails_keep_their_relative_accuracy() -> None:
    eta = np.array([[-700.0], [-40.0], [40.0], [700.0]])
    value, slope, curvature, _ = _core.loss_rows(1, np.array([[0.0], [0.0], [1.0], [1.0]]), eta)
    tiny = np.exp(-np.abs(eta[:, 0]))
    np.testing.assert_allclose(value, tiny, rtol=1e-14)
    np.testing.assert_allclose(slope[:, 0], np.array([1, 1, -1, -1]) * tiny, rtol=1e-14)
    np.testing.assert_allclose(curvature[:, 0], tiny, rtol=1e-14)
    value, slope, _, _ = _core.loss_rows(2, np.array([[0.0]]), np.array([[50.0, 0.0, -1.0]]))
    rest = np.exp(-50.0) + np.exp(-51.0)
    np.testing.assert_allclose(value, rest, rtol=1e-14)
    np.testing.assert_allclose(slope[0], [-rest, np.exp(-50.0), np.exp(-51.0)], rtol=1e-14)


def test_the_value_is_summed_with_its_rounding_errors() -> None:
    # squares 1, 2^-80 and 2^-80: a plain sum loses the small ones
    y = np.array([[1.0], [2.0**-40], [2.0**-40]] * 100)
    high, low, *_ = _core.Rows([_core.Ones(300)]).evaluate(0, y, None, None, np.zeros((1, 1)))
    assert high == 50.0
    assert low == 100 * 2.0**-80


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda r: r.times(np.zeros(3)), ValueError, r"coef must have shape \(3, -1\)"),
        (lambda r: r.times(np.zeros((3, 1), dtype=np.float32)), TypeError, "coef must be float64"),
        (lambda r: r.times([[1.0]] * 3), TypeError, "coef must be a float64 array, got list"),
        (lambda r: r.times(None), TypeError, "coef"),
        (lambda r: r.transpose_times(np.zeros((5, 1))), ValueError, r"values must have shape \(4, -1\)"),
        (lambda r: r.gram(np.zeros(5)), ValueError, "weight"),
        (lambda r: r.evaluate(9, np.zeros((4, 1)), None, None, np.zeros((3, 1))), ValueError, "loss 9"),
        (lambda r: r.evaluate(0, None, None, None, np.zeros((3, 1))), TypeError, "y must be"),
        (lambda r: r.evaluate(0, np.zeros((4, 2)), None, None, np.zeros((3, 1))), ValueError, "y must have shape"),
        (lambda r: r.evaluate(0, np.zeros((4, 1)), None, None, np.zeros((3, 1)), 4), ValueError, "hessian"),
        (lambda r: r.evaluate(0, np.zeros((4, 1)), None, None, np.zeros((3, 1)), 0, 0), ValueError, "sample"),
        (lambda r: r.dual(0, np.zeros((4, 1)), None, None, np.zeros((3, 1)), np.zeros((3, 2))), ValueError, "shift"),
        (lambda r: r.means(0, np.zeros((3, 1)), np.zeros((4, 2))), ValueError, "offset"),
        (lambda r: r.gram_dd(None, np.zeros(4)), ValueError, "y must have shape"),
        (lambda r: r.dependence(np.zeros(2), np.zeros(3)), ValueError, "high must have shape"),
        (lambda _: _core.Rows([]), ValueError, "at least one part"),
        (lambda _: _core.Rows([3]), TypeError, "got int"),
        (lambda _: _core.Rows([_core.Ones(2), _core.Ones(3)]), ValueError, "2 and 3"),
        (lambda _: _core.Ones(-1), ValueError, "-1"),
        (lambda _: _core.Dense(np.zeros((2, 2), dtype=int)), TypeError, "float32 or float64"),
        (lambda _: _core.Dense(np.zeros((2, 2), dtype=">f8")), TypeError, "float32 or float64"),
        (lambda _: _core.Dense(np.zeros(2)), ValueError, "2 dimensions"),
        (lambda _: _core.Codes(np.array([0, 5], dtype=np.int32), 5), ValueError, "code 5 in row 1"),
        (lambda _: _core.Codes(np.array([0, 5]), 5), TypeError, "int32"),
    ],
)
def test_refusals(call: Callable[[_core.Rows], object], error: type[Exception], message: str) -> None:
    rows = _core.Rows([_core.Dense(np.ones((4, 3)))])
    with pytest.raises(error, match=message):
        call(rows)


@pytest.mark.parametrize(
    ("starts", "columns", "n", "message"),
    [
        ([0, 1], [3], 3, "outside 0 .. 2"),
        ([0, 1], [-1], 3, "outside"),
        ([0, 2], [1, 1], 3, "must increase"),
        ([0, 2], [1, 0], 3, "must increase"),
        ([0, 2], [1], 3, "only 1"),
        ([1, 0], [1], 3, "decreases"),
        ([-1, 0], [1], 3, "negative"),
        ([], [1], 3, "one entry more"),
    ],
)
def test_broken_sparse_rows_are_refused(starts: list[int], columns: list[int], n: int, message: str) -> None:
    for dtype in (np.int32, np.int64):
        indptr, indices = np.array(starts, dtype=dtype), np.array(columns, dtype=dtype)
        with pytest.raises(ValueError, match=message):
            _core.Sparse(indptr, indices, np.ones(len(columns)), n)


def test_arrays_outlive_their_names() -> None:
    def make() -> _core.Rows:
        return _core.Rows([_core.Dense(np.arange(200000.0).reshape(-1, 2)), _core.Codes(np.zeros(100000, np.int32), 1)])

    rows = make()
    np.full((400, 1000), np.nan)
    assert rows.times(np.ones((3, 1))).sum() == 199999 * 100000 + 100000


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
def test_picked_columns_are_those_of_scipy(index: type, value: type, threads: int) -> None:
    """Also of rows that begin in the middle of their arrays, of no columns at all, and where several threads work."""
    x = sparse.random_array((9000, 60), density=0.6, format="csr", dtype=np.float64, rng=np.random.default_rng(5))
    indptr, indices, data = x.indptr.astype(index), x.indices.astype(index), x.data.astype(value)
    _core.set_threads(threads)
    try:
        for first, columns in [
            (0, np.arange(60)),
            (0, np.array([0, 7, 8, 59])),
            (11, np.array([30])),
            (0, np.array([], int)),
        ]:
            part = _core.Sparse(indptr[first:], indices, data, 60)
            starts, places, values = part.pick(columns)
            truth = x[first:][:, columns].tocsr()
            assert np.array_equal(starts, truth.indptr)
            assert starts.dtype == index
            assert np.array_equal(places, truth.indices)
            assert places.dtype == index
            assert np.array_equal(values, truth.data.astype(value))
            assert values.dtype == value
    finally:
        _core.set_threads(0)


@pytest.mark.parametrize("columns", [[3], [-1], [1, 1], [2, 0]])
def test_columns_that_are_not_there_or_do_not_increase_are_not_picked(columns: list[int]) -> None:
    part = _core.Sparse(np.array([0, 1], np.int32), np.array([2], np.int32), np.ones(1), 3)
    with pytest.raises(ValueError, match="columns must increase"):
        part.pick(np.array(columns))
