"""The passes of the compiled core against plain numpy and scipy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse, special

from lineal import _core

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """A small problem: a compiled design, its dense self, targets, weights, offsets and coefficients."""

    rows: _core.Rows
    x: Array
    loss: int
    y: Array
    weight: Array | None
    offset: Array | None
    coef: Array

    @property
    def s(self) -> Array:
        return np.ones(len(self.x)) if self.weight is None else self.weight

    @property
    def eta(self) -> Array:
        eta = self.x @ self.coef
        return eta if self.offset is None else eta + self.offset

    def truth(self, eta: Array) -> tuple[Array, Array, Array]:
        """Value [n], slope [n, k] and curvature [n, k, k] by the textbook."""
        if self.loss == 0:
            r = eta - self.y
            return np.sum(r**2, axis=1) / 2, r, np.broadcast_to(np.eye(eta.shape[1]), (*eta.shape, eta.shape[1]))
        if self.loss == 1:
            p = special.expit(eta)
            value = np.sum(np.logaddexp(0, eta) - self.y * eta, axis=1)
            return value, p - self.y, (p * (1 - p))[:, :, None] * np.eye(eta.shape[1])
        hot = np.eye(eta.shape[1])[self.y[:, 0].astype(int)]
        p = special.softmax(eta, axis=1)
        bent = p[:, :, None] * np.eye(eta.shape[1]) - p[:, :, None] * p[:, None, :]
        return special.logsumexp(eta, axis=1) - np.sum(hot * eta, axis=1), p - hot, bent


def parts(kind: str, n: int, rng: np.random.Generator) -> tuple[_core.Rows, Array]:
    x = rng.normal(size=(n, 12))
    matrix = sparse.csr_array(x[:, :7] * (rng.random((n, 7)) < 0.4))
    codes = rng.integers(-1, 3, n).astype(np.int32)
    other = rng.integers(0, 5, n).astype(np.int32)
    ones = np.ones((n, 1))
    if kind == "dense":
        return _core.Rows([_core.Ones(n), _core.Dense(x)]), np.hstack([ones, x])
    if kind == "float32":
        single = x.astype(np.float32)
        return _core.Rows([_core.Dense(single)]), single.astype(float)
    held = _core.Sparse(matrix.indptr, matrix.indices, matrix.data, 7)
    if kind == "sparse":
        return _core.Rows([_core.Ones(n), held]), np.hstack([ones, matrix.toarray()])
    hot = [(c[:, None] == np.arange(m)).astype(float) for c, m in ((codes, 3), (other, 5))]
    if kind == "codes":
        return _core.Rows([_core.Ones(n), _core.Codes(codes, 3), _core.Codes(other, 5)]), np.hstack([ones, *hot])
    design = [_core.Ones(n), _core.Codes(codes, 3), _core.Dense(x[:, :10]), held, _core.Codes(other, 5)]
    return _core.Rows(design), np.hstack([ones, hot[0], x[:, :10], matrix.toarray(), hot[1]])


def case(kind: str, loss: int, k: int, n: int = 300, weighted: bool = True, size: float = 0.5) -> Case:
    rng = np.random.default_rng(n + k)
    rows, x = parts(kind, n, rng)
    y = (rng.normal(size=(n, k)), rng.random((n, k)), rng.integers(0, k, (n, 1)).astype(float))[loss]
    weight = np.where(np.arange(n) % 5 == 3, 0.0, rng.random(n)) if weighted else None
    offset = rng.normal(size=(n, k)) if weighted else None
    return Case(rows, x, loss, y, weight, offset, size * rng.normal(size=(x.shape[1], k)))


def close(got: npt.ArrayLike, wanted: npt.ArrayLike, tol: float = 1e-12) -> None:
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=tol, atol=tol * max(1.0, np.abs(wanted).max(initial=0.0)))


KINDS = ["dense", "float32", "sparse", "codes", "mixed"]
LOSSES = [(0, 1), (0, 3), (1, 1), (1, 2), (2, 2), (2, 3), (2, 10)]
over_cases = pytest.mark.parametrize(("kind", "loss", "k"), [(kind, *loss) for kind in KINDS for loss in LOSSES])


def hessian(c: Case, h: int) -> Array:
    bent = c.s[:, None, None] * c.truth(c.eta)[2]
    x, k = c.x[:, :h], c.coef.shape[1]
    if c.loss == 0:
        return np.asarray((x.T @ (c.s[:, None] * x))[None])
    if c.loss == 1:
        return np.stack([x.T @ (bent[:, a, a, None] * x) for a in range(k)])
    return np.asarray(np.einsum("nab,ni,nj->aibj", bent, x, x).reshape(1, k * h, k * h))


@over_cases
@pytest.mark.parametrize("n", [1, 7, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_evaluate(kind: str, loss: int, k: int, n: int, weighted: bool) -> None:
    c = case(kind, loss, k, n, weighted)
    value, slope, _ = c.truth(c.eta)
    p = c.x.shape[1]
    for h in {0, 1, 4, p - 1, p}:
        high, low, total, slope_sum, gradient, second = c.rows.evaluate(c.loss, c.y, c.weight, c.offset, c.coef, h)
        close(high + low, np.sum(c.s * value))
        assert abs(low) <= np.spacing(abs(high))
        close(total, c.s.sum())
        close(slope_sum, np.sum(c.s[:, None] * np.abs(slope), axis=0))
        close(gradient, c.x.T @ (c.s[:, None] * slope))
        if h == 0:
            assert second is None
        else:
            close(second, hessian(c, h))


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("loss", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_second_derivative_of_the_first_column_alone(first: bool, second: bool, loss: int, weighted: bool) -> None:
    """A column of ones is summed where the rows lie; any other first column is multiplied out; curvatures are kept either way."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(1003, 21))
    ones = np.ones((1003, 1))
    stacked = [part for part, wanted in ((ones, first), (x, True), (ones, second)) if wanted]
    kinds = [_core.Ones(1003) if part is ones else _core.Dense(x) for part in stacked]
    weight = rng.choice([0.0, 1.0, 2.5], size=1003) if weighted else None
    coef = rng.normal(size=(sum(part.shape[1] for part in stacked), 1))
    y = (rng.random((1003, 1)) < 0.5).astype(float)
    case = Case(_core.Rows(kinds), np.hstack(stacked), loss, y, weight, None, coef)
    value, slope, curvature = case.truth(case.eta)
    kept = np.full((1, 1003), np.nan)
    high, low, total, slopes, gradient, hessian = case.rows.evaluate(loss, y, weight, None, coef, 1, 1, 0.0, kept)
    np.testing.assert_allclose(hessian[0, 0, 0], np.sum(case.s * curvature[:, 0, 0] * case.x[:, 0] ** 2), rtol=1e-12)
    np.testing.assert_allclose(high + low, case.s @ value, rtol=1e-12)
    np.testing.assert_allclose(gradient, case.x.T @ (case.s[:, None] * slope), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose([total, slopes[0]], [case.s.sum(), case.s @ np.abs(slope[:, 0])], rtol=1e-12)
    present = case.s > 0.0
    bent = (case.s * curvature[:, 0, 0])[present]
    np.testing.assert_allclose(kept[0, present], bent, rtol=1e-12, atol=1e-15)  # p (1 - p) cancels in the textbook


@pytest.mark.parametrize("threads", [1, 2])
def test_the_second_derivative_of_many_levels(threads: int) -> None:
    rng = np.random.default_rng(7)
    n, levels = 4000, (40, 600, 9)
    codes = [rng.integers(-1, m, n).astype(np.int32) for m in levels]
    x = rng.normal(size=(n, 3))
    held = sparse.csr_array(rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.3))
    hot = [(c[:, None] == np.arange(m)).astype(float) for c, m in zip(codes, levels, strict=True)]
    design = [_core.Codes(codes[0], 40), _core.Dense(x), _core.Sparse(held.indptr, held.indices, held.data, 5)]
    rows = _core.Rows([*design, _core.Codes(codes[1], 600), _core.Codes(codes[2], 9)])
    dense = np.hstack([hot[0], x, held.toarray(), *hot[1:]])
    c = Case(rows, dense, 1, rng.random((n, 1)), rng.random(n), None, 0.3 * rng.normal(size=(dense.shape[1], 1)))
    _core.set_threads(threads)
    try:
        for h in (dense.shape[1], 500):
            close(c.rows.evaluate(1, c.y, c.weight, None, c.coef, h)[-1], hessian(c, h))
    finally:
        _core.set_threads(0)


@over_cases
def test_dual(kind: str, loss: int, k: int) -> None:
    c = case(kind, loss, k)
    shift = 0.05 * np.random.default_rng(1).normal(size=c.coef.shape)
    move = c.x @ shift
    value, slope, bent = c.truth(c.eta)
    theta = slope - np.einsum("nab,nb->na", bent, move)
    if loss == 0:
        conjugate = np.sum(theta**2 / 2 + theta * c.y, axis=1)
    else:
        target = c.y if loss == 1 else np.eye(k)[c.y[:, 0].astype(int)]
        q = theta + target
        conjugate = np.sum(special.xlogy(q, q) + (special.xlogy(1 - q, 1 - q) if loss == 1 else 0), axis=1)
    mismatch = np.sum(c.s * (value + conjugate - np.sum(theta * c.eta, axis=1)))
    high, low, gradient, reach, slope_sum = c.rows.dual(c.loss, c.y, c.weight, c.offset, c.coef, shift)
    assert high + low == pytest.approx(mismatch, rel=1e-9, abs=1e-11)
    close(gradient, c.x.T @ (c.s[:, None] * theta))
    assert reach == pytest.approx(np.abs(move[c.s > 0]).max(), rel=1e-12)
    close(slope_sum, np.sum(c.s[:, None] * np.abs(theta), axis=0))


def test_dual_leaves_the_domain() -> None:
    for loss, k in ((1, 1), (2, 3)):
        c = case("dense", loss, k)
        shift = np.full_like(c.coef, 100.0) * np.arange(1, k + 1)
        high, low, *_ = c.rows.dual(c.loss, c.y, c.weight, c.offset, c.coef, shift)
        assert high == np.inf
        assert low == 0.0


def test_dual_of_a_tiny_step_does_not_cancel() -> None:
    # KL(p + d | p) ~ d^2 / (2 p (1 - p)) with d = p (1 - p) u: p (1 - p) u^2 / 2, far below one ulp of the loss
    c = case("dense", 1, 1, weighted=False)
    shift = np.full_like(c.coef, 1e-12)
    high, low, *_ = c.rows.dual(1, c.y, None, None, c.coef, shift)
    p, u = special.expit(c.eta), c.x @ shift
    assert high + low == pytest.approx(np.sum(p * (1 - p) * u**2) / 2, rel=1e-9)


@over_cases
def test_curve(kind: str, loss: int, k: int) -> None:
    c = case(kind, loss, k)
    direction = np.random.default_rng(2).normal(size=c.coef.shape)
    bent = np.einsum("nab,nb->na", c.truth(c.eta)[2], c.x @ direction)
    product, total = c.rows.curve(c.loss, c.y, c.weight, c.offset, c.coef, direction)
    close(product, c.x.T @ (c.s[:, None] * bent))
    close(total, c.s.sum())


@over_cases
@pytest.mark.parametrize(("sample", "turn"), [(1, 0), (3, 0), (3, 7)])
def test_kept_curvatures_give_the_same_product(kind: str, loss: int, k: int, sample: int, turn: int) -> None:
    c = case(kind, loss, k)
    direction = np.random.default_rng(2).normal(size=c.coef.shape)
    kept = np.full((k, len(c.x)), np.nan)
    given = (c.loss, c.y, c.weight, c.offset, c.coef, direction, 0.0, sample, turn)
    plain, total = c.rows.curve(*given)
    fresh, _ = c.rows.curve(*given, kept)
    known, _ = c.rows.curve(*given, kept, known=True)
    np.testing.assert_array_equal(plain, fresh)
    np.testing.assert_array_equal(plain, known)
    # the rows that were looked at have curvatures now: they are the sample
    seen = ~np.isnan(kept).any(axis=0)
    assert total == pytest.approx(np.sum(c.s[seen]))
    bent = np.einsum("nab,nb->na", c.truth(c.eta)[2], c.x @ direction)
    close(known, c.x[seen].T @ (c.s[:, None] * bent)[seen])


@over_cases
@pytest.mark.parametrize(("sample", "turn"), [(1, 0), (3, 0), (3, 7)])
def test_blocks_of_the_second_derivative_from_kept_curvatures(
    kind: str, loss: int, k: int, sample: int, turn: int
) -> None:
    c = case(kind, loss, k)
    kept, seen = np.full((2, k, len(c.x)), np.nan)
    c.rows.evaluate(c.loss, c.y, c.weight, c.offset, c.coef, 0, 1, 0.0, kept)
    c.rows.curve(c.loss, c.y, c.weight, c.offset, c.coef, c.coef, 0.0, sample, turn, seen)
    blocks, total = c.rows.blocks(c.loss, c.weight, kept, sample, turn)
    rows = ~np.isnan(seen).any(axis=0)
    bend = (c.s[:, None, None] * c.truth(c.eta)[2])[rows]
    assert total == pytest.approx(np.sum(c.s[rows]))
    for a in range(k):
        close(blocks[a], c.x[rows].T @ (bend[:, a, a, None] * c.x[rows]))
    gram, total = c.rows.blocks(c.loss, c.weight, None, sample, turn)
    assert gram.shape == (1, *blocks.shape[1:])
    assert total == pytest.approx(np.sum(c.s[rows]))
    close(gram[0], c.x[rows].T @ (c.s[rows, None] * c.x[rows]))


@pytest.mark.parametrize("n", [3, 40, 5000])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_blocks_of_centred_and_scaled_columns_by_any_number_of_threads(n: int, k: int) -> None:
    rng = np.random.default_rng([n, k])
    p = 30
    x = np.hstack([np.ones((n, 1)), rng.normal(size=(n, p - 1)) + 2.0])
    chance = rng.dirichlet(np.ones(k), n) if k > 1 else rng.random((n, 1))
    shift, scale = np.append(0.0, x[:, 1:].mean(axis=0)), np.append(1.0, rng.uniform(0.5, 2.0, p - 1))
    rows, view, found = _core.Rows([_core.Ones(n), _core.Dense(x[:, 1:])]), (x - shift) / scale, []
    try:
        for threads in (1, 2, 3):
            _core.set_threads(threads)
            found.append(rows.blocks(2, None, chance.T.copy(), 1, 0, shift, scale))
    finally:
        _core.set_threads(0)
    for blocks, total in found:
        assert total == n
        np.testing.assert_array_equal(blocks, found[0][0])
        for a in range(k):
            close(blocks[a], view.T @ ((chance * (1.0 - chance))[:, a, None] * view))
    with pytest.raises(ValueError, match="given together"):
        rows.blocks(2, None, chance.T.copy(), 1, 0, shift)


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


def splitmix64(x: int) -> int:
    mask = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


@pytest.mark.parametrize("n", [1, 5, 1003, 30000])
@pytest.mark.parametrize("g", [1, 2, 7, 64])
def test_sample_takes_one_row_of_every_group(n: int, g: int) -> None:
    rng = np.random.default_rng(3)
    x, y, weight = rng.normal(size=(n, 3)), rng.normal(size=(n, 1)), rng.random(n) * (rng.random(n) < 0.9)
    taken = [start + splitmix64(start // g) % min(g, n - start) for start in range(0, n, g)]
    coef = rng.normal(size=(3, 1))
    whole = _core.Rows([_core.Dense(x)]).evaluate(0, y, weight, None, coef, 3, g)
    part = _core.Rows([_core.Dense(x[taken])]).evaluate(0, y[taken], weight[taken], None, coef, 3)
    for got, wanted in zip(whole[2:], part[2:], strict=True):
        close(got, wanted)
    close(whole[0], part[0])


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


@pytest.mark.parametrize("loss", [1, 2])
def test_curvatures_kept_by_an_evaluation_serve_products(loss: int) -> None:
    rng = np.random.default_rng(8)
    x, k = rng.normal(size=(700, 9)) * (rng.random((700, 9)) < 0.4), 1 if loss == 1 else 3
    rows = _core.Rows([_core.Ones(700), _core.Sparse(*_parts(x), 9)])
    y, weight = rng.integers(0, 2, (700, 1)).astype(float), rng.integers(0, 3, 700).astype(float)
    coef, direction = rng.normal(size=(10, k)), rng.normal(size=(10, k))
    kept = np.full((k, 700), np.nan)
    found = rows.evaluate(loss, y, weight, None, coef, kept=kept)
    plain = rows.evaluate(loss, y, weight, None, coef)
    assert found[:3] == plain[:3]
    assert np.array_equal(found[4], plain[4])
    for sample, turn in [(1, 0), (4, 2)]:
        known, _ = rows.curve(loss, y, weight, None, coef, direction, 0.0, sample, turn, kept, known=True)
        truth, _ = rows.curve(loss, y, weight, None, coef, direction, 0.0, sample, turn)
        assert np.array_equal(known, truth)
    with pytest.raises(ValueError, match="sample must be 1"):
        rows.evaluate(loss, y, weight, None, coef, sample=2, kept=kept)


def _parts(x: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Array]:
    made = sparse.csr_array(x)
    return made.indptr, made.indices, made.data


def test_zero_coefficients_of_sparse_columns_leave_the_scores_to_the_others() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(300, 5)) * (rng.random((300, 5)) < 0.5), rng.integers(0, 2, (300, 1)).astype(float)
    rows = _core.Rows([_core.Ones(300), _core.Sparse(*_parts(x), 5)])
    coef = np.zeros((6, 1))
    coef[0] = 0.3
    found = rows.evaluate(1, y, None, None, coef)
    slope = special.expit(0.3) - y
    assert np.allclose(found[4][1:], x.T @ slope, rtol=1e-13, atol=1e-13)
    shift = np.zeros((6, 1))
    shift[0] = 0.1
    bent = slope - special.expit(0.3) * special.expit(-0.3) * 0.1
    assert np.allclose(rows.dual(1, y, None, None, coef, shift)[2][1:], x.T @ bent, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("scale", [0.2, 0.9, 1.0 - 1e-9])
@pytest.mark.parametrize("soft", [False, True])
def test_scaled_dual_points_pay_what_the_textbook_says(scale: float, soft: bool) -> None:
    """Kullback-Leibler for logistic loss, half a square for squared loss; near scale 1 without cancellation."""
    rng = np.random.default_rng(10)
    x, coef, shift = 2.0 * rng.normal(size=(400, 3)), rng.normal(size=(3, 1)), 0.05 * rng.normal(size=(3, 1))
    y = rng.random((400, 1)) if soft else rng.integers(0, 2, (400, 1)).astype(float)
    weight, rows = rng.integers(0, 3, 400).astype(float), _core.Rows([_core.Dense(x)])
    s, p = weight[:, None], special.expit(x @ coef)
    for step in [np.zeros((3, 1)), shift]:
        theta = scale * (p - y - p * (1 - p) * (x @ step))
        high, low, gradient, _, sums = rows.dual(1, y, weight, None, coef, step, 0.0, scale)
        truth = float(np.sum(s * (special.rel_entr(y + theta, p) + special.rel_entr(1 - y - theta, 1 - p))))
        if scale > 0.99 and not step.any():
            # the first term of the series in 1 - scale; the next is smaller by (1 - scale) / p, here 1e-5
            truth = float(np.sum(s * ((1 - scale) * (p - y)) ** 2 / (2 * p * (1 - p))))
        assert high + low == pytest.approx(truth, rel=1e-5 if scale > 0.99 else 1e-10, abs=1e-13 if step.any() else 0.0)
        assert np.allclose(gradient, x.T @ (s * theta), rtol=1e-11, atol=1e-11)
        assert sums[0] == pytest.approx(float(np.sum(s * np.abs(theta))), rel=1e-12)
        short = rows.dual(1, y, weight, None, coef, step, 0.0, scale, gradient=False)
        assert (short[0], short[1], short[2].shape) == (high, low, (0, 1))
        r = x @ coef - y
        high, low, *_ = rows.dual(0, y, weight, None, coef, step, 0.0, scale)
        apart = r - scale * (r - x @ step)
        assert high + low == pytest.approx(float(np.sum(s * apart**2)) / 2, rel=1e-6 if scale > 0.99 else 1e-12)
    with pytest.raises(ValueError, match="squared and logistic"):
        rows.dual(2, np.zeros((400, 1)), None, None, np.zeros((3, 2)), np.zeros((3, 2)), 0.0, scale)


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
