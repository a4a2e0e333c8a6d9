"""The passes of the compiled core against plain numpy and scipy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse, special

from lineal import _core
from tests.unit.core_cases import Array, Case, case, close, over_cases


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
