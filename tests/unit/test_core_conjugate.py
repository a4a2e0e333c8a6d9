"""Systems of Newton steps in one native call, against plain numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from lineal import _core

LOSSES = [(1, 1), (1, 3), (2, 4)]


def system(loss: int, k: int, n: int = 700, p: int = 9, *, weighted: bool = True):  # type: ignore[no-untyped-def]
    """Return rows, what belongs to them, and the dense second derivative of the centred and scaled problem."""
    rng = np.random.default_rng(loss + 10 * k)
    x = rng.normal(size=(n, p - 1)) * rng.uniform(0.1, 10.0, p - 1) + rng.normal(size=p - 1)
    weight = rng.integers(0, 3, n).astype(float) if weighted else None
    rows = _core.Rows([_core.Ones(n), _core.Dense(x)])
    y = rng.integers(0, k, (n, 1)).astype(float) if loss == 2 else rng.integers(0, 2, (n, k)).astype(float)
    coef, kept = 0.1 * rng.normal(size=(p, k)), np.zeros((k, n))
    rows.evaluate(loss, y, weight, None, coef, 0, 1, 0.0, kept)
    shift, scale = np.append(0.0, x.mean(axis=0)), np.append(1.0, x.std(axis=0))
    penalty_factors = np.append(0.0, rng.uniform(0.01, 0.1, p - 1))
    s = np.ones(n) if weight is None else weight
    z = (np.hstack([np.ones((n, 1)), x]) - shift) / scale
    eta = (np.hstack([np.ones((n, 1)), x])) @ coef
    hessian = np.zeros((p, k, p, k))
    if loss == 2:
        chance = np.exp(eta - eta.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        bend = np.einsum("na,ab->nab", chance, np.eye(k)) - np.einsum("na,nb->nab", chance, chance)
        hessian = np.einsum("n,ni,nab,nj->iajb", s / s.sum(), z, bend, z)
    else:
        chance = 1.0 / (1.0 + np.exp(-eta))
        for c in range(k):
            hessian[:, c, :, c] = (z.T * (s / s.sum() * chance[:, c] * (1.0 - chance[:, c]))) @ z
    for c in range(k):
        hessian[:, c, :, c] += np.diag(penalty_factors)
    return rows, weight, kept, shift, scale, penalty_factors, hessian.reshape(p * k, p * k)


@pytest.mark.parametrize(("loss", "k"), LOSSES)
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_system_is_solved(loss: int, k: int, blocks: bool, weighted: bool) -> None:
    rows, weight, kept, shift, scale, penalty_factors, hessian = system(loss, k, weighted=weighted)
    p = len(shift)
    rng = np.random.default_rng(5)
    gradient = rng.normal(size=(p, k))
    if loss == 2:
        gradient -= gradient.mean(axis=1, keepdims=True)  # scores that move together move nothing
    half = 0.2 * rng.normal(size=(k if blocks else 1, p, p))
    square = half @ half.transpose(0, 2, 1) + np.eye(p) * rng.uniform(1.0, 2.0, p)
    square = square if blocks else square[0]
    eased = np.stack([(square[c] if blocks else square) @ gradient[:, c] for c in range(k)], axis=1)
    rho = float(np.vdot(gradient, eased))
    solution, residual, direction = np.zeros((p, k)), gradient.copy(), eased.copy()
    given = (loss, weight, kept, shift, scale, penalty_factors, square, solution, residual, direction)
    count, rest, bend, stuck, closed, far = rows.conjugate(*given, rho, 1e-22 * rho, 500)
    assert (stuck, closed, far) == (False, False, False)
    assert 0 < count < 500
    assert rest <= 1e-22 * rho
    np.testing.assert_allclose(bend, eased.ravel() @ hessian @ eased.ravel(), rtol=1e-10)
    np.testing.assert_allclose(hessian @ solution.ravel(), gradient.ravel(), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(residual, gradient - (hessian @ solution.ravel()).reshape(p, k), atol=1e-8)


@pytest.mark.parametrize(("loss", "k"), LOSSES)
def test_a_preconditioner_may_be_a_diagonal(loss: int, k: int) -> None:
    """The same products as with the matrix that has it and zeros elsewhere."""
    rows, weight, kept, shift, scale, penalty_factors, hessian = system(loss, k)
    p = len(shift)
    rng = np.random.default_rng(6)
    gradient, own = rng.normal(size=(p, k)), rng.uniform(0.5, 2.0, (p, 1))
    found = []
    for inverse in (own, np.diag(own[:, 0])):
        place = np.zeros((p, k)), gradient.copy(), own * gradient
        given = (loss, weight, kept, shift, scale, penalty_factors, inverse, *place)
        count, rho, *_ = rows.conjugate(*given, float(np.vdot(gradient, own * gradient)), 0.0, 4)
        assert count == 4
        np.testing.assert_allclose(place[1], gradient - (hessian @ place[0].ravel()).reshape(p, k), atol=1e-10)
        found.append((*place, rho))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_products_can_be_taken_in_pieces_and_by_any_number_of_threads() -> None:
    rows, weight, kept, shift, scale, penalty_factors, _ = system(2, 4, n=30_000)
    p, found = len(shift), []
    gradient = np.random.default_rng(6).normal(size=(p, 4))
    try:
        for threads, pieces in ((1, (7,)), (2, (7,)), (3, (3, 4)), (2, (1,) * 7)):
            _core.set_threads(threads)
            place = np.zeros((p, 4)), gradient.copy(), gradient.copy()
            rho = float(np.vdot(gradient, gradient))
            for most in pieces:
                given = (2, weight, kept, shift, scale, penalty_factors, np.eye(p), *place, rho, 0.0, most)
                count, rho, *_ = rows.conjugate(*given)
                assert count == most
            found.append([part.tobytes() for part in place])
    finally:
        _core.set_threads(0)
    assert all(other == found[0] for other in found)


def test_a_direction_without_curvature_is_said() -> None:
    rows, weight, kept, shift, scale, penalty_factors, _ = system(2, 4)
    p = len(shift)
    for wrong in (np.zeros((p, 4)), np.full((p, 4), np.nan)):
        place = np.zeros((p, 4)), np.ones((p, 4)), wrong
        found = rows.conjugate(2, weight, kept, shift, scale, penalty_factors, np.eye(p), *place, 1.0, 0.0, 9)
        assert found == (0, 1.0, 0.0, True, False, False)
        assert not np.any(place[0])


def test_shapes_are_checked() -> None:
    rows, weight, kept, shift, scale, penalty_factors, _ = system(2, 4)
    p = len(shift)
    place = [np.zeros((p, 4)) for _ in range(3)]
    with pytest.raises(ValueError, match="inverse must have 81 entries, got 64"):
        rows.conjugate(2, weight, kept, shift, scale, penalty_factors, np.eye(p - 1), *place, 1.0, 0.0, 9)
    with pytest.raises(ValueError, match="kept must have"):
        rows.conjugate(2, weight, kept[:, 5:].copy(), shift, scale, penalty_factors, np.eye(p), *place, 1.0, 0.0, 9)
    with pytest.raises(ValueError, match="sample must be at least 1"):
        rows.conjugate(2, weight, kept, shift, scale, penalty_factors, np.eye(p), *place, 1.0, 0.0, 9, 0)
    with pytest.raises(ValueError, match="shape"):
        _core.invert(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="closing step"):
        rows.conjugate(2, weight, kept, shift, scale, penalty_factors, np.eye(p), *place, 1.0, 0.0, 9, cost=np.ones(p))


@pytest.mark.parametrize(("loss", "k"), LOSSES)
def test_a_closing_step_ends_with_the_residual_asked_for(loss: int, k: int) -> None:
    rows, weight, kept, shift, scale, penalty_factors, hessian = system(loss, k)
    p = len(shift)
    rng = np.random.default_rng(9)
    gradient, cost = rng.normal(size=(p, k)), rng.uniform(0.1, 10.0, p)
    gradient -= gradient.mean(axis=1, keepdims=True) if loss == 2 else 0.0
    size = float(np.sum(cost[:, None] * gradient**2))
    exact = 0.5 * float(gradient.ravel() @ np.linalg.pinv(hessian) @ gradient.ravel())
    for share, near in itertools.product((0.3, 1e-3, 1e-8), (np.inf, 1e-12)):
        place = np.zeros((p, k)), gradient.copy(), gradient.copy()
        smooth, rest = np.zeros((p, k)), gradient.copy()
        given = (
            loss,
            weight,
            kept,
            shift,
            scale,
            penalty_factors,
            np.eye(p),
            *place,
            float(np.vdot(gradient, gradient)),
            0.0,
            200,
            1,
            0,
            False,
        )
        count, rho, _, stuck, closed, far = rows.conjugate(
            *given, cost, gradient, smooth, rest, within=share * size, far=2.0 * share * size, near=near
        )
        assert not stuck
        assert closed != far
        assert count > 0
        # given up only where the optimum is farther than twice the goal
        assert exact > 2.0 * share * size or closed
        np.testing.assert_allclose(rest, gradient - (hessian @ smooth.ravel()).reshape(p, k), atol=1e-8)
        left = float(np.sum(cost[:, None] * rest**2))
        assert left <= size
        assert (left <= share * size and rho <= near) == closed


@pytest.mark.parametrize("share", [0.0, 0.05, 0.4, 1.0])
@pytest.mark.parametrize("single", [False, True])
def test_rows_without_curvature_add_nothing_to_a_product(share: float, single: bool) -> None:
    rng = np.random.default_rng(8)
    n, p = 3000, 40
    m = sparse.random_array((n, p), density=0.1, format="csr", rng=rng)
    m = m.astype(np.float32) if single else m
    codes, x = rng.integers(-1, 6, n).astype(np.int32), rng.normal(size=(n, 3))
    parts = [_core.Ones(n), _core.Sparse(m.indptr, m.indices, m.data, p), _core.Codes(codes, 6), _core.Dense(x)]
    whole = np.hstack([np.ones((n, 1)), m.toarray(), codes[:, None] == np.arange(6), x])
    weight = rng.integers(0, 3, n).astype(float)
    kept = np.where(rng.random((1, n)) < share, 0.0, rng.random((1, n)))
    direction = rng.normal(size=(whole.shape[1], 1))
    given = (5, np.ones((n, 1)), weight, None, np.zeros_like(direction), direction, 0.0, 1, 0, kept)
    found, total = _core.Rows(parts).curve(*given, known=True)
    present = np.where(weight[:, None] > 0.0, kept.T, 0.0)
    np.testing.assert_allclose(found, whole.T @ (present * (whole @ direction)), rtol=1e-10, atol=1e-9)
    assert total == weight.sum()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11, 17, 24, 25, 65, 130, 197])
def test_inverses(n: int) -> None:
    rng = np.random.default_rng(n)
    half = rng.normal(size=(7, n, n + 3))
    matrices = half @ half.transpose(0, 2, 1) + 0.1 * np.eye(n)
    found = matrices.copy()
    assert _core.invert(found)
    np.testing.assert_allclose(found @ matrices, np.broadcast_to(np.eye(n), found.shape), atol=1e-9)
    one = matrices[0].copy()
    assert _core.invert(one)
    np.testing.assert_array_equal(one, found[0])


def test_what_has_no_inverse_is_said() -> None:
    for wrong in ([[1.0, 2.0], [2.0, 1.0]], [[0.0]], [[np.nan]], [[np.inf]]):
        assert not _core.invert(np.stack([np.eye(len(wrong)), np.array(wrong)]))
    for n in (30, 197):  # not positive definite in one direction that only the last rows show
        wrong = np.eye(n)
        wrong[0, -1] = wrong[-1, 0] = 1.5
        assert not _core.invert(wrong)


def test_passes_over_many_loose_columns_give_the_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(2)
    n, p = 20_000, 6000
    m = sparse.random_array((n, p), density=0.002, format="csr", rng=rng)
    rows = _core.Rows([_core.Ones(n), _core.Sparse(m.indptr, m.indices, m.data, p)])
    y, coef, shift = rng.integers(0, 2, (n, 1)).astype(float), rng.normal(size=(p + 1, 1)), rng.normal(size=(p + 1, 1))
    kept = np.empty((1, n))
    before, found = _core.threads(), []
    try:
        for count in (1, 2, 3):
            _core.set_threads(count)
            sums = rows.evaluate(1, y, None, None, coef, 0, 1, 0.0, kept)
            curve = rows.curve(1, y, None, None, coef, shift, 0.0, 1, 0, kept, known=True)
            dual = rows.dual(1, y, None, None, coef, 1e-3 * shift, 0.0, 1.0, True)
            found.append([*sums[:5], *curve, *dual, rows.transpose_times(y)])
    finally:
        _core.set_threads(before)
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
    x = sparse.hstack([np.ones((n, 1)), m]).tocsr()
    chance = 1.0 / (1.0 + np.exp(-(x @ coef)))
    np.testing.assert_allclose(found[0][4], x.T @ (chance - y), atol=1e-9)
    np.testing.assert_allclose(found[0][5], x.T @ (chance * (1.0 - chance) * (x @ shift)), atol=1e-9)
