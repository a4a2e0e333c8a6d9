"""Ridge of many dense columns: products in single precision, corrected from the rows, proven by the ridge alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import lineal
from lineal import _core
from lineal.designs import Dense, HStack, Ones, as_design
from lineal.fitting.fitting import fit, pose
from lineal.losses import Logistic, Squared
from lineal.penalties import L1, NoPenalty, Ridge
from lineal.solvers import BY_NAME, choose
from lineal.solvers import mixed_precision as refined
from lineal.solvers.mixed_precision import MIN_COLUMNS_BY_ITEMSIZE, Float32Gram, refines, unsuited
from lineal.sources.memory import Memory

Array = npt.NDArray[np.float64]


def rows(n: int = 900, p: int = 300, k: int = 1, far: float = 3.0) -> tuple[Array, Array]:
    rng = np.random.default_rng([n, p, k])
    x = (rng.normal(size=(n, p)) + far * rng.normal(size=p)) * 10.0 ** rng.integers(-3, 4, size=p)
    return x, x @ (rng.normal(size=(p, k)) / x.std(axis=0)[:, None]) + rng.normal(size=(n, k))


def penalty_factors(p: int, intercept: bool = True) -> Array:
    return np.r_[0.0, np.ones(p)] if intercept else np.ones(p)


def truth(x: Array, y: Array, strength: float, weight: Array | None = None, intercept: bool = True) -> Array:
    """Return the ridge solution by QR in long doubles' stead: centred columns, an augmented matrix, corrected once."""
    s = np.ones(len(x)) if weight is None else weight
    on = s > 0.0
    x, y, s = x[on].astype(np.longdouble), y[on].astype(np.longdouble), s[on].astype(np.longdouble)
    mean = (s @ x / s.sum(), s @ y / s.sum()) if intercept else (np.zeros(x.shape[1]), np.zeros(y.shape[1]))
    root = np.sqrt(s)[:, None]
    scale = np.sqrt(np.sum((root * (x - mean[0])) ** 2, axis=0))
    a = np.vstack([root * (x - mean[0]) / scale, np.diag(np.sqrt(strength * s.sum()) / scale)])
    b = np.vstack([root * (y - mean[1]), np.zeros((x.shape[1], y.shape[1]))])
    q, r = np.linalg.qr(a.astype(np.float64))
    coef = np.zeros((x.shape[1], y.shape[1]), dtype=np.longdouble)
    for _ in range(4):
        coef = coef + np.linalg.solve(r, q.T @ (b - a @ coef).astype(np.float64))
    coef = coef / scale[:, None]
    return np.asarray(np.vstack([mean[1] - mean[0] @ coef, coef]) if intercept else coef, dtype=np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_it_has_the_digits_of_doubles(k: int, weighted: bool, intercept: bool) -> None:
    x, y = rows(k=k, far=3.0 if intercept else 0.0)
    weight = None
    if weighted:
        weight = np.random.default_rng(1).choice([0.0, 1e-6, 3e-6], size=len(x))
        x[weight == 0.0], y[weight == 0.0] = np.nan, np.nan  # absent
    design = as_design(x) if intercept else Dense(x)
    source = Memory(design, y, weight)
    strength = 1e-3 * float(np.nanvar(x, axis=0).mean())
    found = fit(source, Squared(k), Ridge(strength, penalty_factors(300, intercept)))
    assert (found.solver, found.verdict.kind) == ("refined", "optimal")
    assert "single precision" in found.reason
    assert "corrected" in found.trace.records[-1].note  # doubles were not needed
    assert found.problem.passes <= 6
    wanted = truth(x, y, strength, weight, intercept)
    spread = np.nanstd(x, axis=0)[:, None]
    first = int(intercept)
    np.testing.assert_allclose(spread * found.coef[first:], spread * wanted[first:], rtol=1e-9, atol=1e-10)
    if intercept:
        np.testing.assert_allclose(found.coef[0], wanted[0], rtol=1e-8)
    assert found.verdict.relative_gap is not None
    assert found.verdict.relative_gap < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float32", "fortran", "strided", "read-only"])
def test_any_dense_array(kind: str) -> None:
    x, y = rows()
    single = x.astype(np.float32)
    wide = np.zeros((len(x), 2 * x.shape[1] + 1))
    wide[:, 1::2] = x
    stored = {"float32": single, "fortran": np.asfortranarray(x), "strided": wide[:, 1::2], "read-only": x.copy()}[kind]
    stored.flags.writeable = kind != "read-only"
    penalty = Ridge(1e-2, penalty_factors(300))
    found = fit(Memory(HStack([Ones(len(x)), Dense(stored)]), y), Squared(1), penalty)
    assert (found.solver, found.verdict.kind) == ("refined", "optimal")
    wanted = truth(stored.astype(np.float64), y, 1e-2)
    spread = x.std(axis=0)[:, None]
    np.testing.assert_allclose(spread * found.coef[1:], spread * wanted[1:], rtol=1e-8, atol=1e-9)


def test_columns_too_near_for_single_precision_are_left_to_doubles() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(800, 300))
    x[:, 150:] = x[:, :150] + 1e-5 * rng.normal(size=(800, 150))
    y = x @ rng.normal(size=(300, 1)) + rng.normal(size=(800, 1))
    found = fit(Memory(as_design(x), y), Squared(1), Ridge(1e-13, penalty_factors(300)), tol=1e-8)
    assert (found.solver, found.verdict.kind) == ("refined", "optimal")
    assert "single" not in found.trace.records[-1].note
    direct = fit(Memory(as_design(x), y), Squared(1), Ridge(1e-13, penalty_factors(300)), tol=1e-8, solver="direct")
    assert abs(found.objective - direct.objective) <= found.verdict.gap + direct.verdict.gap + 1e-14 * direct.objective


def test_a_ridge_too_weak_to_prove_anything_is_proven_by_doubles() -> None:
    x, y = rows(n=2000)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    found = fit(Memory(as_design(x), y), Squared(1), Ridge(1e-30, penalty_factors(300)))
    assert (found.solver, found.verdict.kind) == ("refined", "optimal")
    np.testing.assert_allclose(found.coef[1:], truth(x, y, 0.0)[1:], rtol=1e-8, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [0.0, 0.3, 3.0, np.nan])
def test_a_wrong_product_never_reaches_the_answer(fault: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Corrections and proof come from the rows: products that are off cost time, or are given up, and change nothing."""
    x, y = rows()
    plain = Float32Gram.__init__

    def spoilt(self: Float32Gram, *given: object) -> None:
        plain(self, *given)  # type: ignore[arg-type]
        size = np.sqrt(np.diagonal(self.second))
        noise = np.random.default_rng(0).normal(size=self.second.shape)
        self.second = self.second + fault * np.outer(size, size) * (noise + noise.T) / 50.0

    monkeypatch.setattr(Float32Gram, "__init__", spoilt)
    found = fit(Memory(as_design(x), y), Squared(1), Ridge(1.0, penalty_factors(300)))
    assert (found.solver, found.verdict.kind) == ("refined", "optimal")
    assert ("single" in found.trace.records[-1].note) == (fault == 0.0)
    spread = x.std(axis=0)[:, None]
    np.testing.assert_allclose(spread * found.coef[1:], spread * truth(x, y, 1.0)[1:], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "y", [np.zeros((900, 1)), np.full((900, 1), 7.0), np.full((900, 1), 1e80), np.full((900, 1), -1e-80)]
)
def test_targets_without_anything_to_gain(y: Array) -> None:
    x = np.random.default_rng(4).normal(size=(900, 300))
    found = fit(Memory(as_design(x), y), Squared(1), Ridge(1.0, penalty_factors(300)))
    assert found.verdict.kind == "optimal"
    np.testing.assert_allclose(found.coef[0], y[0], rtol=1e-12)


@pytest.mark.parametrize("size", [1e-60, 1e60])
def test_targets_and_columns_of_any_size(size: float) -> None:
    x, y = rows()
    found = fit(Memory(as_design(x * size), y / size), Squared(1), Ridge(size**2, penalty_factors(300)))
    plain = fit(Memory(as_design(x), y), Squared(1), Ridge(1.0, penalty_factors(300)))
    assert (found.solver, found.verdict.kind) == ("refined", "optimal")
    np.testing.assert_allclose(
        found.coef[1:] * size**2, plain.coef[1:], rtol=1e-6, atol=1e-9 * np.abs(plain.coef[1:]).max()
    )


def test_columns_that_never_change() -> None:
    x, y = rows()
    x[:, 7], x[:, 8] = 3.0, 0.0
    found = fit(Memory(as_design(x), y), Squared(1), Ridge(1.0, penalty_factors(300)))
    assert (found.solver, found.verdict.kind) == ("refined", "optimal")
    np.testing.assert_allclose(found.coef[8:10], 0.0, atol=1e-12)


@pytest.mark.parametrize("solver", ["refined", "direct"])
def test_columns_that_never_meet(solver: str) -> None:
    """A gram that is a diagonal: indicators without an intercept, or a single row, whose centred columns are zero."""
    x, y = np.tile(np.eye(300), (3, 1)), np.arange(900.0)[:, None]
    found = fit(Memory(Dense(x), y), Squared(1), Ridge(0.5 / 900, np.ones(300)), solver=solver)
    assert found.verdict.kind == "optimal"
    np.testing.assert_allclose(found.coef[:, 0], y.reshape(3, 300).sum(axis=0) / 3.5, rtol=1e-10)
    one = fit(Memory(as_design(x[:1] + 1.0), y[5:6]), Squared(1), Ridge(1.0, penalty_factors(300)), solver=solver)
    assert one.verdict.kind == "optimal"
    np.testing.assert_allclose(one.coef, np.r_[5.0, np.zeros(300)][:, None], atol=1e-9)


def test_when_it_is_chosen() -> None:
    x, y = rows()
    ridge, loss = Ridge(1.0, penalty_factors(300)), Squared(1)
    source = Memory(as_design(x), y)
    assert refines(source, loss, ridge)
    assert not refines(Memory(as_design(x[:500]), y[:500]), loss, ridge)  # fewer than two rows for a column
    narrow = MIN_COLUMNS_BY_ITEMSIZE[8] - 1
    assert not refines(Memory(as_design(x[:, :narrow]), y), loss, Ridge(1.0, penalty_factors(narrow)))
    assert refines(
        Memory(HStack([Ones(900), Dense(x[:, :narrow].astype(np.float32))]), y),
        loss,
        Ridge(1.0, penalty_factors(narrow)),
    )
    problem = pose(source, loss, ridge)
    assert choose(problem)[0].name == "refined"
    assert choose(problem.at(Ridge(2.0, penalty_factors(300))))[0].name == "direct"  # products of all strengths
    assert choose(pose(source, loss, ridge, "direct"))[0].name == "direct"  # products that are there


def test_what_it_declines() -> None:
    x, y = rows(n=40, p=4)
    ridge, source = Ridge(1.0, penalty_factors(4)), Memory(as_design(x), y)
    codes = lineal.designs.Categorical(np.zeros(40, dtype=np.int32), 1)
    assert unsuited(source, Squared(1), ridge) is None
    assert "no closed form" in (unsuited(source, Logistic(), ridge) or "")
    for penalty in (
        NoPenalty(5),
        L1(1.0, penalty_factors(4)),
        Ridge(1.0, np.ones(5)),
        Ridge(1.0, np.r_[0.0, 0.0, np.ones(3)]),
    ):
        assert "every column but the intercept" in (unsuited(source, Squared(1), penalty) or "")
    assert "offset" in (unsuited(Memory(as_design(x), y, None, y), Squared(1), ridge) or "")
    mixed = HStack([Ones(40), Dense(x[:, :3]), codes])
    assert "one dense array" in (unsuited(Memory(mixed, y), Squared(1), ridge) or "")
    with pytest.raises(lineal.errors.InputError, match="'refined' cannot be used here: it needs a ridge"):
        fit(source, Squared(1), NoPenalty(5), solver="refined")
    assert BY_NAME["refined"]().name == refined.MixedPrecision.name


def test_products_are_within_the_rounding_of_their_terms() -> None:
    """Entries of ``z z'`` are off by at most 2^-24 of the terms' sizes a rounding: three of a term, and a chain of sums."""
    rng = np.random.default_rng(5)
    x, y, weight = rng.standard_t(3, size=(30_000, 70)), rng.normal(size=(30_000, 2)), rng.uniform(size=30_000)
    z = np.hstack([x, y])
    found = _core.Rows([_core.Ones(len(x)), _core.Dense(x)]).float32_gram(weight, 0.5, y, np.zeros(72), np.ones(72))
    terms = (np.abs(z) * (weight / 0.5)[:, None]).T @ np.abs(z)
    assert np.all(np.abs(found - (z * (weight / 0.5)[:, None]).T @ z) <= 600 * 2.0**-24 * terms)
    assert np.array_equal(found, found.T)


def test_the_core_refuses_what_it_cannot_multiply() -> None:
    x, y = rows(n=40, p=4)
    one, many = np.ones(5), _core.Rows([_core.Dense(x), _core.Dense(x)])
    assert many.lone == (0, 0)
    assert _core.Rows([_core.Ones(40), _core.Dense(x.astype(np.float32))]).lone == (4, 4)
    with pytest.raises(ValueError, match="need one dense array"):
        many.float32_gram(None, 1.0, y, np.ones(9), np.ones(9))
    plain = _core.Rows([_core.Dense(x)])
    with pytest.raises(ValueError, match="unit must be above 0"):
        plain.float32_gram(None, 0.0, y, one, one)
    with pytest.raises(ValueError, match="factor"):
        plain.float32_gram(None, 1.0, y, one, np.ones(4))
    with pytest.raises(ValueError, match="y"):
        plain.float32_gram(None, 1.0, y[:3], one, one)
