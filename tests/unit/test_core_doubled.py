"""Double-double sums, factors and solves of the compiled core against exact fractions and 60 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from lineal import _core

Array = npt.NDArray[np.float64]


def exact_gram(x: Array, weight: Array | None) -> list[list[Fraction]]:
    columns = [[Fraction(float(v)) for v in column] for column in x.T]
    s = [Fraction(1)] * len(x) if weight is None else [Fraction(float(w)) for w in weight]
    return [[sum((w * u * v for w, u, v in zip(s, a, b, strict=True)), Fraction(0)) for b in columns] for a in columns]


def sizes(x: Array, weight: Array | None) -> Array:
    s = np.ones(len(x)) if weight is None else np.abs(weight)
    return np.asarray(np.abs(x).T @ (s[:, None] * np.abs(x)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "codes", "wide"])
def test_gram_dd_is_right_to_thirty_digits(kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(1)
    n = 400
    y = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-8, 8, (n, 1))
    x = rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-8, 8, (n, 1))
    weight = np.where(np.arange(n) % 4 == 0, 0.0, rng.random(n)) if weighted else None
    parts: list[_core.Part] = [_core.Ones(n)]
    if kind == "float32":
        x = x.astype(np.float32).astype(float)
        parts.append(_core.Dense(x.astype(np.float32)))
    elif kind == "sparse":
        x = x * (rng.random(x.shape) < 0.5)
        m = sparse.csr_array(x)
        parts.append(_core.Sparse(m.indptr, m.indices, m.data, 3))
    elif kind == "codes":
        codes = rng.integers(-1, 3, n).astype(np.int32)
        x = (codes[:, None] == np.arange(3)).astype(float)
        parts.append(_core.Codes(codes, 3))
    else:
        x = np.hstack([x] * 4) * np.arange(1.0, 13.0) / 3.0 if kind == "wide" else x
        parts.append(_core.Dense(x))
    full = np.hstack([np.ones((n, 1)), x, y])
    high, low = _core.Rows(parts).gram_dd(weight, y)
    wanted, scale = exact_gram(full, weight), sizes(full, weight)
    for a in range(full.shape[1]):
        for b in range(full.shape[1]):
            error = abs(Fraction(high[a, b]) + Fraction(low[a, b]) - wanted[a][b])
            assert error <= Fraction(1e-29) * Fraction(scale[a, b])
            assert abs(low[a, b]) <= np.spacing(abs(high[a, b]))


def test_gram_dd_without_targets_or_rows() -> None:
    rows = _core.Rows([_core.Dense(np.array([[3.0], [4.0]]))])
    np.testing.assert_array_equal(rows.gram_dd(None, np.zeros((2, 0)))[0], [[25.0]])
    empty = _core.Rows([_core.Ones(0)])
    np.testing.assert_array_equal(empty.gram_dd(None, np.zeros((0, 1))), np.zeros((2, 2, 2)))


def test_dependence_against_fractions() -> None:
    rng = np.random.default_rng(2)
    n = 50
    x = rng.normal(size=(n, 4))
    x[7] = 0.0
    codes = rng.integers(-1, 2, n).astype(np.int32)
    m = sparse.csr_array(x[:, :1] * (rng.random((n, 1)) < 0.5))
    rows = _core.Rows([_core.Dense(x), _core.Codes(codes, 2), _core.Sparse(m.indptr, m.indices, m.data, 1)])
    full = np.hstack([x, (codes[:, None] == np.arange(2)).astype(float), m.toarray()])
    high = rng.normal(size=7)
    low = high * 1e-17 * rng.normal(size=7)
    d = [Fraction(h) + Fraction(v) for h, v in zip(high, low, strict=True)]
    worst = Fraction(0)
    for row in full:
        terms = [Fraction(v) * e for v, e in zip(row, d, strict=True)]
        total = sum((abs(t) for t in terms), Fraction(0))
        worst = max(worst, abs(sum(terms, Fraction(0))) / total if total else Fraction(0))
    assert rows.dependence(high, low) == pytest.approx(float(worst), rel=1e-12)


def test_dependence_sees_through_cancellation() -> None:
    # x_3 is the double nearest to x_1 + x_2: the residual is a rounding error, known to double-double accuracy
    rng = np.random.default_rng(3)
    x = rng.normal(size=(100, 2))
    x = np.column_stack([x, x.sum(axis=1)])
    d = np.array([1.0, 1.0, -1.0])
    worst = max(
        abs(sum((Fraction(v) * Fraction(e) for v, e in zip(row, d, strict=True)), Fraction(0)))
        / sum((abs(Fraction(v)) for v in row), Fraction(0))
        for row in x
    )
    assert 0.0 < worst < 2.3e-16
    assert _core.Rows([_core.Dense(x)]).dependence(d, np.zeros(3)) == pytest.approx(float(worst), rel=1e-12)
    np.testing.assert_array_equal(_core.Rows([_core.Dense(np.zeros((3, 3)))]).dependence(d, np.zeros(3)), 0.0)


def hilbert(n: int) -> tuple[Array, Array, mpmath.matrix]:
    """The Hilbert matrix rounded to double-double, and that same matrix in mpmath."""
    high, low = np.zeros((n, n)), np.zeros((n, n))
    held = mpmath.matrix(n, n)
    for i in range(n):
        for j in range(n):
            value = mpmath.mpf(1) / (i + j + 1)
            high[i, j] = float(value)
            low[i, j] = float(value - mpmath.mpf(float(value)))
            held[i, j] = mpmath.mpf(high[i, j]) + mpmath.mpf(low[i, j])
    return high, low, held


def test_factor_and_solve_of_an_ill_conditioned_matrix() -> None:
    with mpmath.workdps(60):
        n = 12  # condition number 1.7e16: a double factor would hardly exist
        high, low, matrix = hilbert(n)
        lower, lower_low, order, rank = _core.factor_dd(high, low, 1e-25, 0)
        assert rank == n
        assert sorted(order) == list(range(n))
        np.testing.assert_array_equal(np.triu(lower, 1), 0.0)
        factor = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                factor[i, j] = mpmath.mpf(lower[i, j]) + mpmath.mpf(lower_low[i, j])
        product = factor * factor.T
        for i in range(n):
            for j in range(n):
                assert abs(product[i, j] - matrix[int(order[i]), int(order[j])]) < mpmath.mpf("1e-30")
        right = np.column_stack([np.ones(n), np.arange(n) * 1.0, -np.ones(n)])
        half = _core.solve_dd(lower, lower_low, n, False, right[order], np.zeros_like(right))
        top, rest = _core.solve_dd(lower, lower_low, n, True, *half)
        for c in range(3):
            wanted = mpmath.lu_solve(matrix, mpmath.matrix([float(v) for v in right[:, c]]))
            for i in range(n):
                got = mpmath.mpf(top[i, c]) + mpmath.mpf(rest[i, c])
                assert abs(got / wanted[int(order[i])] - 1) < mpmath.mpf("1e-13")


def test_factor_finds_the_rank_and_keeps_the_fixed_columns_last() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(-9, 10, (40, 4)).astype(float)
    x = np.column_stack([x, x[:, 0] - 2 * x[:, 3], np.zeros(40)]) * [1.0, 1e6, 1.0, 1e-6, 1.0, 1.0]
    x[:, 4] = x[:, 0] - 2e6 * x[:, 3]
    y = rng.normal(size=(40, 2))
    full = np.hstack([x, y])
    high, low = _core.Rows([_core.Dense(x)]).gram_dd(None, y)
    lower, lower_low, order, rank = _core.factor_dd(high, low, 1e-27, 2)
    assert rank == 4
    assert list(order[-2:]) == [6, 7]
    assert 5 not in order[:4]
    kept = x[:, order[:4]]
    np.testing.assert_allclose(lower[:4, :4] @ lower[:4, :4].T, kept.T @ kept, rtol=1e-12)
    # behind the factor: what the pivots do not explain
    residual = full[:, order[4:]] - kept @ np.linalg.lstsq(kept, full[:, order[4:]], rcond=None)[0]
    np.testing.assert_allclose(lower[6:, 6:], (residual.T @ residual)[2:, 2:], rtol=1e-9)
    coef = _core.solve_dd(lower, lower_low, 4, True, lower[6:, :4].T.copy(), lower_low[6:, :4].T.copy())[0]
    np.testing.assert_allclose(coef, np.linalg.lstsq(kept, y, rcond=None)[0], rtol=1e-6)


def test_pivots_do_not_depend_on_units() -> None:
    x = np.random.default_rng(5).normal(size=(30, 5)) @ np.random.default_rng(6).normal(size=(5, 5))
    scale = 2.0 ** np.array([0, 30, -30, 7, -12])
    none = np.zeros((30, 0))
    first = _core.factor_dd(*_core.Rows([_core.Dense(x)]).gram_dd(None, none), 0.0)
    second = _core.factor_dd(*_core.Rows([_core.Dense(x * scale)]).gram_dd(None, none), 0.0)
    np.testing.assert_array_equal(first[2], second[2])


def test_refusals() -> None:
    with pytest.raises(ValueError, match="fixed"):
        _core.factor_dd(np.eye(2), np.zeros((2, 2)), 0.0, 3)
    with pytest.raises(ValueError, match="square"):
        _core.factor_dd(np.ones((2, 3)), np.zeros((2, 2)), 0.0)
    with pytest.raises(ValueError, match="rank"):
        _core.solve_dd(np.eye(2), np.zeros((2, 2)), 3, False, np.ones((3, 1)), np.ones((3, 1)))


@pytest.mark.parametrize(("n", "p", "m"), [(1, 1, 1), (4, 7, 1), (5, 3, 6), (9, 20, 11), (2, 0, 3)])
def test_times_dd_is_right_to_thirty_digits(n: int, p: int, m: int) -> None:
    rng = np.random.default_rng(n + p + m)
    left, right = (rng.normal(size=shape) * 10.0 ** rng.integers(-8, 8, shape) for shape in ((n, p), (p, m)))
    left_low, right_low = (2.0**-55 * rng.normal(size=part.shape) * part for part in (left, right))
    high, low = _core.times_dd(left, left_low, right, right_low)
    assert high.shape == low.shape == (n, m)
    for i in range(n):
        for c in range(m):
            terms = [
                (Fraction(left[i, j]) + Fraction(left_low[i, j])) * (Fraction(right[j, c]) + Fraction(right_low[j, c]))
                for j in range(p)
            ]
            size = sum(map(abs, terms), Fraction(0))
            assert abs(Fraction(high[i, c]) + Fraction(low[i, c]) - sum(terms, Fraction(0))) <= Fraction(1e-29) * size
    with pytest.raises(ValueError, match="right_high must have shape"):
        _core.times_dd(left, left_low, np.ones((p + 1, m)), right_low)
