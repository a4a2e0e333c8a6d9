"""Means, moments and products of columns in the core, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special

from lineal import _core
from tests.unit.core_cases import KINDS, case, close, over_cases


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 2, 7, 8, 9, 16, 17, 50])
def test_chances_of_rows_read_in_place(p: int, dtype: type) -> None:
    rng = np.random.default_rng(p)
    for n in (1, 5, 8, 131, 3001):
        wide = np.full((n, p + 3), np.nan, dtype)  # what stands between the rows does not matter
        wide[:, :p] = rng.normal(size=(n, p))
        x, coef, offset = wide[:, :p], rng.normal(size=(p + 1, 1)), rng.normal(size=(n, 1))
        rows = _core.Rows([_core.Ones(n), _core.Dense(x)])
        wanted = special.expit(x.astype(float) @ coef[1:] + coef[0] + offset)
        both, inside = rows.chances(coef, offset)
        assert inside
        close(both[:, 1:], wanted)
        assert np.array_equal(both[:, 0], 1.0 - both[:, 1])
        assert np.array_equal(both[:, 1:], rows.means(1, coef, offset))
        close(rows.times(coef), x.astype(float) @ coef[1:] + coef[0])
        # the bits of a row do not depend on its place, nor on how its numbers are stored
        alone = _core.Rows([_core.Ones(1), _core.Dense(x[n // 2 : n // 2 + 1].astype(float))])
        assert np.array_equal(alone.means(1, coef, offset[n // 2 : n // 2 + 1])[0], both[n // 2, 1:])


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("n", [1, 8, 300])
def test_chances_tell_what_is_not_finite(n: int, value: float) -> None:
    for place in {0, n // 2, n - 1}:
        x = np.zeros((n, 3))
        x[place, 1] = value
        assert not _core.Rows([_core.Dense(x)]).chances(np.ones((3, 1)))[1]
    assert not _core.Rows([_core.Dense(np.full((n, 3), 1e3))]).chances(np.ones((3, 1)))[1]


def test_chances_are_of_one_output() -> None:
    with pytest.raises(ValueError, match="coef must have 1 column, got 2"):
        _core.Rows([_core.Ones(3)]).chances(np.ones((1, 2)))


@over_cases
def test_means(kind: str, loss: int, k: int) -> None:
    c = case(kind, loss, k)
    wanted = (lambda eta: eta, special.expit, lambda eta: special.softmax(eta, axis=1))[loss]
    close(c.rows.means(loss, c.coef, c.offset), wanted(c.eta))
    close(c.rows.means(loss, c.coef), wanted(c.x @ c.coef))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 40, 20000])
def test_moments(kind: str, weighted: bool, n: int) -> None:
    c = case(kind, 0, 1, n, weighted)
    far = 1e6 if kind == "dense" else 0.0  # large means must not spoil the scatter
    x = c.x + far
    rows = _core.Rows([_core.Dense(x)]) if far else c.rows
    total, mean, scatter, largest = rows.moments(c.weight)
    kept = x[c.s > 0]
    s = c.s[c.s > 0]
    close(total, s.sum())
    wide = kept.astype(np.longdouble)
    center = np.sum(s[:, None] * wide, axis=0) / s.sum()
    close(mean, center.astype(float), 1e-14)
    wanted = np.sum(s[:, None] * (wide - center) ** 2, axis=0).astype(float)
    np.testing.assert_allclose(scatter, wanted, rtol=1e-9, atol=1e-9 * s.sum() * 1e-9)
    np.testing.assert_array_equal(largest, np.abs(kept).max(axis=0))


def test_a_constant_column_has_no_scatter() -> None:
    x = np.full((5000, 3), 0.1)
    weight = np.random.default_rng(0).random(5000)
    _, mean, scatter, largest = _core.Rows([_core.Ones(5000), _core.Dense(x)]).moments(weight)
    np.testing.assert_array_equal(scatter, 0.0)
    np.testing.assert_array_equal(mean, [1.0, 0.1, 0.1, 0.1])
    np.testing.assert_array_equal(largest, mean)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 40, 20000])
@pytest.mark.parametrize("far", [0.0, 1e5])
def test_products(kind: str, weighted: bool, n: int, far: float) -> None:
    """Products of columns and targets; a mean far from zero, of a target or a column, must not spoil the scatter."""
    c = case(kind, 0, 2, n, weighted)
    rows, x, y = c.rows, c.x, c.y + far
    if kind == "dense":
        x = c.x + far
        rows = _core.Rows([_core.Dense(x)])
    total, mean, scatter, largest, gram = rows.products(c.weight, y)
    kept, s = np.hstack([x, y])[c.s > 0].astype(np.longdouble), c.s[c.s > 0]
    close(total, s.sum())
    centre = np.sum(s[:, None] * kept, axis=0) / s.sum()
    close(mean, centre.astype(float), 1e-13)
    np.testing.assert_allclose(
        scatter, np.sum(s[:, None] * (kept - centre) ** 2, axis=0).astype(float), rtol=1e-8, atol=1e-8 * s.sum() * 1e-8
    )
    np.testing.assert_array_equal(largest, np.abs(kept).max(axis=0).astype(float))
    close(gram, (kept.T @ (s[:, None] * kept)).astype(float))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p", [1, 7, 8, 23, 24, 25, 47, 49, 70, 301])
def test_products_of_any_width(p: int, weighted: bool) -> None:
    """A gram's tiles meet its borders at every width; the widest part need not come first."""
    rng = np.random.default_rng(p)
    n = 1003
    x, few, y = rng.normal(size=(n, p)), rng.normal(size=(n, 2)).astype(np.float32), rng.normal(size=(n, 1))
    matrix = sparse.csr_array(rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.4))
    weight = rng.integers(0, 4, n) / 2.0 if weighted else None
    s = np.ones(n) if weight is None else weight
    held = _core.Sparse(matrix.indptr, matrix.indices, matrix.data, 3)
    for other in (x, np.asfortranarray(x)):
        rows = _core.Rows([_core.Ones(n), _core.Dense(few), held, _core.Dense(other)])
        whole = np.hstack([np.ones((n, 1)), few, matrix.toarray(), x, y])
        total, mean, _, largest, gram = rows.products(weight, y)
        close(total, s.sum())
        close(mean, s @ whole / s.sum(), 1e-13)
        np.testing.assert_array_equal(largest, np.abs(whole[s > 0]).max(axis=0))
        close(gram, whole.T @ (s[:, None] * whole))
        close(rows.gram(weight), (whole.T @ (s[:, None] * whole))[:-1, :-1])
        np.testing.assert_array_equal(gram, gram.T)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 119, 122, 247, 1001])
def test_products_of_whole_numbers_are_exact_for_any_number_of_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.integers(-9, 10, size=(n, 61)).astype(float), rng.integers(-9, 10, size=(n, 1)).astype(float)
    both = np.hstack([x, y])
    for weight in (None, rng.integers(0, 2, size=n).astype(float) + (np.arange(n) == 0)):
        gram = _core.Rows([_core.Dense(x)]).products(weight, y)[-1]
        np.testing.assert_array_equal(gram, both.T @ (both if weight is None else both * weight[:, None]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 40, 5003])
def test_moments_of_many_columns_stored_by_columns(n: int, dtype: type) -> None:
    """Read column by column, without panels: the numbers in long double, and a constant column has no scatter."""
    x = (np.random.default_rng(n).normal(size=(1100, n)) + 1e3 * np.arange(1100)[:, None] / 1100).astype(dtype).T
    x[:, 5] = 0.1
    total, mean, scatter, largest = _core.Rows([_core.Ones(n), _core.Dense(x)]).moments(None)
    wide = x.astype(np.longdouble)
    assert total == n
    assert (mean[0], scatter[0], largest[0]) == (1.0, 0.0, 1.0)
    np.testing.assert_allclose(mean[1:], wide.mean(axis=0).astype(float), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(scatter[1:], ((wide - wide.mean(axis=0)) ** 2).sum(axis=0).astype(float), rtol=1e-11)
    assert scatter[6] == 0.0
    np.testing.assert_array_equal(largest[1:], np.abs(x).max(axis=0).astype(float))


@pytest.mark.parametrize("columns", [863, 870, 1000])
def test_products_of_more_columns_than_a_cache_holds(columns: int) -> None:
    rng = np.random.default_rng(columns)
    n = 700
    X, y, weight = rng.normal(size=(n, columns)), rng.normal(size=(n, 1)), rng.random(n)
    rows = _core.Rows([_core.Ones(n), _core.Dense(X)])
    whole = np.column_stack([np.ones(n), X, y])
    total, mean, _, largest, gram = rows.products(weight, y)
    np.testing.assert_allclose(gram, whole.T @ (weight[:, None] * whole), rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(mean, weight @ whole / weight.sum(), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(largest, np.abs(whole).max(axis=0))
    assert total == pytest.approx(weight.sum())
    plain = rows.products(None, y)
    np.testing.assert_allclose(plain[4], whole.T @ whole, rtol=1e-12, atol=1e-11)
    for threads in (1, 3):
        _core.set_threads(threads)
        again = rows.products(None, y)
        _core.set_threads(0)
        assert all(np.array_equal(a, b) for a, b in zip(again, plain, strict=True))
