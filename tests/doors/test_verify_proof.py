"""The part of the checker that proves, against exact arithmetic and against optima known to many digits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lineal.verify.arithmetic import EPS, signs, sums, times
from lineal.verify.evidence.covariance import covariance
from lineal.verify.losses import BY_NAME
from lineal.verify.losses.smooth import excess
from lineal.verify.problem.dependence import DEPENDENCE_SHARE, NotProvenError, dependence, spanning
from lineal.verify.problem.formulas import Problem
from lineal.verify.problem.penalties import Penalty
from lineal.verify.proof.baseline import baseline_objective
from lineal.verify.proof.bound import bound, newton_step, prove
from lineal.verify.proof.plan import Plan
from lineal.verify.proof.witnesses import independent, strict_rows

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False).filter(lambda v: v == 0 or abs(v) > 1e-6)


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(float, (4, 3), elements=NUMBERS), hnp.arrays(float, (3, 2), elements=NUMBERS))
def test_times_is_exact_to_its_stated_error(x, b):
    found = times(x, b)
    for i in range(4):
        for k in range(2):
            exact = sum(Fraction(x[i, j]) * Fraction(b[j, k]) for j in range(3))
            size = sum(abs(Fraction(x[i, j]) * Fraction(b[j, k])) for j in range(3))
            assert abs(Fraction(found[i, k]) - exact) <= Fraction(EPS) * abs(exact) + Fraction(3 * EPS) ** 2 * size


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(float, (5, 2), elements=NUMBERS), hnp.arrays(float, (5, 1), elements=NUMBERS))
def test_sums_are_correctly_rounded(x, v):
    for j in range(2):
        assert sums(x, v)[j, 0] == float(sum(Fraction(x[i, j]) * Fraction(v[i, 0]) for i in range(5)))


@settings(max_examples=200, deadline=None)
@given(
    hnp.arrays(float, (6, 3), elements=st.sampled_from([0.1, 0.2, 0.3, -0.3, 1.0, -1.0, 0.0, 1e-30, 3e15, -0.7])),
    hnp.arrays(float, 3, elements=st.sampled_from([0.1, 1.0, -1.0, 0.0, 3.0, -1e-30, 1e20, 5e-324])),
)
def test_signs_are_exact(x, d):
    exact = [sum(Fraction(x[i, j]) * Fraction(d[j]) for j in range(3)) for i in range(6)]
    assert signs(x, d).tolist() == [(value > 0) - (value < 0) for value in exact]


@pytest.mark.parametrize("v", [-0.5, -0.3, -0.021, -0.0199, -1e-5, -1e-12, 1e-300, 1e-9, 0.0199, 0.0201, 0.5, 3.0, 1e6])
def test_excess_to_many_digits(v):
    with mpmath.workdps(60):
        exact = (1 + mpmath.mpf(v)) * mpmath.log1p(mpmath.mpf(v)) - mpmath.mpf(v)
        assert abs(excess(np.array([v]))[0] - exact) <= 1e-12 * abs(exact)


LOSSES = ["squared", "squared 2", "logistic", "softmax"]


def problem_of(loss: str, seed: int, *, ridge: float = 0.0, n: int = 60, p: int = 4, offset: bool = False) -> Problem:
    draw = np.random.default_rng(seed)
    plain = draw.normal(size=(n, p - 1)) * np.exp(draw.normal(size=p - 1) * 2) + draw.normal(size=p - 1)
    x = np.column_stack([np.ones(n), plain])
    score = 0.7 * x @ (draw.normal(size=(p, 3)) / np.abs(x).max(axis=0)[:, None])
    score -= score.mean(axis=0)  # every class gets its share of the rows
    if loss.startswith("squared"):
        y = score[:, : 2 if loss == "squared 2" else 1] + draw.normal(size=(n, 1))
    elif loss == "logistic":
        y = (score[:, :1] + draw.logistic(size=(n, 1)) > 0).astype(float)
    else:
        y = np.eye(3)[np.argmax(score + draw.gumbel(size=(n, 3)), axis=1)]
    s = draw.choice([0.5, 1.0, 2.0], size=n)
    penalty_factors = x.var(axis=0)
    penalty_factors[0] = 0.0
    shift = draw.normal(size=(n, 1)) if offset else np.zeros((n, 1))
    return Problem(
        BY_NAME[loss.split(maxsplit=1)[0]],
        x,
        y,
        s / s.sum(),
        shift,
        Penalty.ridge(ridge * penalty_factors),
        True,
        np.arange(n),
    )


def optimum(problem: Problem) -> tuple[np.ndarray, mpmath.mpf]:
    """Minimise by Newton in floats, then take F there to 40 digits: it is above F* by about the square of rounding."""
    x, y, q, k, p = problem.x, problem.y, problem.q, problem.y.shape[1], problem.x.shape[1]
    b = np.zeros((p, k))
    for _ in range(200):
        eta = x @ b + problem.offset
        if problem.loss.name == "squared":
            slope, curvature = eta - y, np.tile(np.eye(k), (len(x), 1, 1))
        elif problem.loss.name == "logistic":
            mean = 1 / (1 + np.exp(-eta))
            slope, curvature = mean - y, (mean * (1 - mean))[:, :, None]
        else:
            mean = np.exp(eta - eta.max(1, keepdims=True))
            mean /= mean.sum(1, keepdims=True)
            slope, curvature = mean - y, mean[:, :, None] * np.eye(k) - mean[:, :, None] * mean[:, None, :]
        gradient = x.T @ (q[:, None] * slope) + problem.penalty.square[:, None] * b
        h = np.einsum("n,nab,ni,nj->aibj", q, curvature, x, x).reshape(p * k, p * k) + np.diag(
            np.tile(problem.penalty.square, k)
        )
        step = (np.linalg.pinv(h, rcond=1e-13) @ gradient.T.ravel()).reshape(k, p).T
        size = float(np.max(np.abs(x @ step)))
        b = b - min(1.0, 2.0 / size if size > 0 else 1.0) * step
    return b, objective(problem, b)


def objective(problem: Problem, b: np.ndarray) -> mpmath.mpf:
    """Return F(b) in 30 digits, by the definitions."""
    with mpmath.workdps(30):
        total = mpmath.mpf(0)
        for i in range(len(problem.x)):
            row = [mpmath.mpf(float(v)) for v in problem.x[i]]
            eta = [mpmath.fdot(row, map(float, b[:, k])) + float(problem.offset[i, 0]) for k in range(b.shape[1])]
            y = [float(v) for v in problem.y[i]]
            if problem.loss.name == "squared":
                loss = sum((e - t) ** 2 for e, t in zip(eta, y, strict=True)) / 2
            elif problem.loss.name == "logistic":
                loss = mpmath.log1p(mpmath.exp(eta[0])) - y[0] * eta[0]
            else:
                loss = mpmath.log(sum(map(mpmath.exp, eta))) - sum(e * t for e, t in zip(eta, y, strict=True))
            total += float(problem.q[i]) * loss
        for j in range(len(b)):
            total += mpmath.mpf(float(problem.penalty.square[j])) / 2 * sum(mpmath.mpf(float(v)) ** 2 for v in b[j])
        return total


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ridge", [0.0, 1e-6, 0.1])
@pytest.mark.parametrize("offset", [False, True])
def test_the_gap_is_never_below_the_true_distance(loss, ridge, offset):
    problem = problem_of(loss, 7, ridge=ridge, offset=offset, n=40)
    best, least = optimum(problem)
    draw = np.random.default_rng(1)
    for size in (0.0, 1e-9, 1e-6, 1e-3, 0.1):
        coef = best * (1 + size * draw.normal(size=best.shape))
        point = problem.at(coef)
        found = bound(point, problem.unpenalized).gap
        true = float(objective(problem, coef) - least)
        assert found >= true - 1e-25
        assert found <= 3.0 * true + 1e-20 * (1 + abs(point.objective)) + (point.allowance if size == 0.1 else 0.0)
        assert abs(point.objective - float(objective(problem, coef))) <= point.allowance


def here(point, columns, plain: bool) -> float:
    """Return the gap proven without moving; infinite where nothing is proven, which is always sound."""
    try:
        return prove(Plan(point, None if plain else newton_step(point)), columns, both=True).gap
    except NotProvenError:
        return np.inf


@pytest.mark.parametrize("loss", LOSSES)
def test_far_away_points_get_a_sound_bound_or_none(loss):
    problem = problem_of(loss, 3, ridge=0.01, n=40)
    _, least = optimum(problem)
    draw = np.random.default_rng(2)
    for size in (1.0, 30.0, 300.0):
        coef = size * draw.normal(size=(problem.x.shape[1], problem.outputs)) / np.abs(problem.x).max(axis=0)[:, None]
        true = float(objective(problem, coef) - least)
        for plain in (False, True):
            assert here(problem.at(coef), problem.unpenalized, plain) >= true * (1 - 1e-12)
        assert bound(problem.at(coef), problem.unpenalized).gap >= true * (1 - 1e-12)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_separated_classes_have_no_provable_gap(loss):
    problem = problem_of(loss, 5)
    x, order = problem.x, np.argsort(problem.x[:, 1])
    y = np.zeros_like(problem.y)
    if loss == "logistic":
        y[order[30:]] = 1.0
    else:
        y[order[:20], 0] = y[order[20:40], 1] = y[order[40:], 2] = 1.0
    separated = Problem(problem.loss, x, y, problem.q, problem.offset, problem.penalty, True, problem.numbers)
    coef = np.zeros((x.shape[1], y.shape[1]))
    for size in (0.0, 1.0, 100.0, 1e5):
        coef[1] = size * np.linspace(-1, 1, y.shape[1]) if loss == "softmax" else size
        coef[0] = -coef[1] * x[order[30], 1]
        with pytest.raises(NotProvenError):
            bound(separated.at(coef), separated.unpenalized)


@pytest.mark.parametrize("loss", LOSSES)
def test_dependent_columns_have_no_provable_gap_until_one_is_set_aside(loss):
    base = problem_of(loss, 11)
    base = replace(base, x=np.round(base.x * 2.0**20) / 2.0**20)  # so that the difference is exact
    x = np.column_stack([base.x, base.x[:, 1] - base.x[:, 2]])
    problem = Problem(base.loss, x, base.y, base.q, base.offset, Penalty.ridge(np.zeros(5)), True, base.numbers)
    best, _ = optimum(base)
    coef = np.vstack([best, np.zeros((1, best.shape[1]))])
    with pytest.raises(NotProvenError):
        bound(problem.at(coef), problem.unpenalized)
    direction = np.array([0.0, 1.0, -1.0, 0.0, -1.0])
    assert dependence(x, direction) <= DEPENDENCE_SHARE
    assert dependence(x, direction + 1e-12) > DEPENDENCE_SHARE
    kept = independent(direction[:, None], np.abs(x).max(axis=0), problem.unpenalized)
    for columns in (kept, spanning(problem, problem.unpenalized)):
        assert len(columns) == 4
        assert bound(problem.at(coef), columns).gap <= 1e-20 * max(1.0, base.at(best).objective)


def test_powers_are_ill_conditioned_and_not_dependent():
    t = np.linspace(0.01, 1, 200)
    x = np.column_stack([t**k for k in range(15)])
    y = np.cos(5 * t)[:, None]
    problem = Problem(
        BY_NAME["squared"],
        x,
        y,
        np.full(200, 1 / 200),
        np.zeros((200, 1)),
        Penalty.ridge(np.zeros(15)),
        True,
        np.arange(200),
    )
    assert len(spanning(problem, problem.unpenalized)) == 15
    exact = mpmath_least_squares(x, y)
    assert bound(problem.at(exact), problem.unpenalized).gap < 1e-20
    assert bound(problem.at(exact * (1 + 1e-6)), problem.unpenalized).gap > 1e-18


def mpmath_least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    with mpmath.workdps(80):
        a = mpmath.matrix(x.tolist())
        found = mpmath.lu_solve(a.T * a, a.T * mpmath.matrix(y.tolist()))
        return np.array([[float(v)] for v in found])


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_null_fit_against_a_plain_optimum(loss, ridge):
    problem = problem_of(loss, 23, ridge=ridge, offset=True, n=30)
    small = Problem(
        BY_NAME[loss],
        problem.x[:, :1],
        problem.y,
        problem.q,
        problem.offset,
        Penalty.ridge(np.zeros(1)),
        True,
        problem.numbers,
    )
    _, least = optimum(small)
    assert baseline_objective(problem) == pytest.approx(float(least), rel=1e-13)
    penalized = Penalty.ridge(problem.penalty.square[1:])
    without = replace(problem, x=problem.x[:, 1:], penalty=penalized, intercept=False)
    zero = np.zeros((problem.x.shape[1] - 1, problem.outputs))
    assert baseline_objective(without) == pytest.approx(float(objective(without, zero)), rel=1e-13)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_covariance_against_statsmodels(loss):
    api = pytest.importorskip("statsmodels.api")
    problem = problem_of(loss, 31, n=80)
    best, _ = optimum(problem)
    rounds = np.rint(problem.q / problem.q.min()).astype(int)
    x, y = np.repeat(problem.x, rounds, axis=0), np.repeat(problem.y[:, 0], rounds)
    fitted = api.OLS(y, x).fit() if loss == "squared" else api.Logit(y, x).fit(disp=0, tol=1e-14, maxiter=200)
    found = covariance(problem.at(best), float(rounds.sum()))
    scale = np.sqrt(np.outer(np.diag(found), np.diag(found)))
    np.testing.assert_allclose(found / scale, fitted.cov_params() / scale, atol=1e-7)


def test_strict_rows_are_exact_where_floats_are_not():
    x = np.array([[1.0, 0.1, 0.2, 0.3], [1.0, 0.5, 0.25, 0.75], [1.0, -1.0, 0.0, 0.0]])
    y = np.array([[1.0], [0.0], [0.0]])
    problem = Problem(
        BY_NAME["logistic"], x, y, np.full(3, 1 / 3), np.zeros((3, 1)), Penalty.ridge(np.zeros(4)), True, np.arange(3)
    )
    d = np.array([[0.0], [1.0], [1.0], [-1.0]])  # 0.1 + 0.2 - 0.3 > 0 in doubles, exactly 2.8e-17
    assert strict_rows(problem, d).tolist() == [True, False, True]
    flipped = replace(problem, y=np.zeros((3, 1)))
    with pytest.raises(NotProvenError, match="1 rows grows"):
        strict_rows(flipped, d)
