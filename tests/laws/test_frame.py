"""Columns with too few digits of their own: nearly combinations of others, or so far from zero that scores lose theirs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import lineal
from lineal.designs import as_design
from lineal.fitting.fitting import fit
from lineal.losses import (
    Absolute,
    CrammerSinger,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    Softmax,
    Sparsemax,
    Squared,
    SquaredHinge,
)
from lineal.penalties import NoPenalty
from lineal.problem.frame import _projected, projected
from lineal.problem.problem import Problem
from lineal.sources.memory import Memory
from tests.laws.drawn import name, target
from tests.laws.exact import Exact, number

SMOOTH = [Squared(1), Logistic(), Poisson(), Huber(1.0), SquaredHinge(), Softmax(3)]
CORNERED = [Absolute(), Quantile(0.3), Hinge(), Sparsemax(3), CrammerSinger(3)]


def close_columns(apart, seed, loss):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 2))
    x = np.column_stack([x, x[:, 0] + apart * rng.normal(size=40)])
    return x, target(loss, rng, np.column_stack([x[:, :2], rng.normal(size=40)]))


@pytest.mark.parametrize("loss", SMOOTH, ids=name)
@pytest.mark.parametrize("apart", [1e-6, 1e-8, 1e-10, 1e-12])
def test_columns_close_to_each_other_are_proven_without_a_penalty(loss, apart):
    for seed in range(2):
        x, y = close_columns(apart, seed, loss)
        result = fit(Memory(as_design(x), y), loss, NoPenalty(4))
        if result.verdict.kind == "at_infinity":
            continue
        assert result.verdict.kind == "optimal", result.verdict.sentence
        exact = Exact(loss, as_design(x).dense(), y, None, None, 0.0, np.zeros(4))
        best = exact.optimum(result.coef)
        assert best is not None
        here = exact.value([[number(v) for v in row] for row in result.coef])
        assert float((here - best).mid()) <= result.verdict.gap
        # what is stated is F at the coefficients as they are given, but for the rounding of its scores
        error = 8 * np.finfo(float).eps * (1.0 + float(np.max(np.abs(x) @ np.abs(result.coef[1:]))))
        assert result.objective == pytest.approx(float(here.mid()), abs=error, rel=1e-13)


@pytest.mark.parametrize("loss", CORNERED, ids=name)
@pytest.mark.parametrize("apart", [1e-6, 1e-8, 1e-10])
def test_so_they_are_at_corners(loss, apart):
    """The same span in columns that are far apart has the same optimum: the difference of near doubles is exact."""
    for seed in range(2):
        x, y = close_columns(apart, seed, loss)
        result = fit(Memory(as_design(x), y), loss, NoPenalty(4))
        wide = x.copy()
        wide[:, 2] = [
            float((Fraction(b) - Fraction(a)) / Fraction(apart)) for a, b in zip(x[:, 0], x[:, 2], strict=True)
        ]
        other = fit(Memory(as_design(wide), y), loss, NoPenalty(4))
        if other.verdict.kind == "at_infinity":
            continue
        assert result.verdict.kind == "optimal", result.verdict.sentence
        assert result.objective - other.objective <= result.verdict.gap + 1e-10
        assert other.objective - result.objective <= other.verdict.gap + 1e-10


ENOUGH = {4, 10, 13, 16, 19}
"""Seeds of columns that have digits enough; of three more their means alone take them."""


@pytest.mark.parametrize(
    ("seed", "centered"),
    [
        (seed, centered)
        for centered in (False, True)
        for seed in sorted({*range(20)} - ENOUGH - ({1, 7, 8} if centered else set()))
    ],
)
def test_a_frame_has_the_scores_of_the_columns_as_they_are(seed, centered):
    """Z c = X b in fractions, but for half a unit of every entry of Z; and back again."""
    rng = np.random.default_rng(seed)
    n, p = 12, 4
    x = np.column_stack([np.ones(n), rng.normal(size=(n, p - 1)) + 10.0 ** rng.integers(0, 7)])
    x[:, 3] = x[:, 1] * (1.0 + 1e-9 * rng.normal(size=n))
    free = np.array([[0, 1, 3], [0], [0, 1]][seed % 3])
    center = np.zeros(p)
    if centered:  # a whole number near every mean, so that taking it off rounds nothing
        center[1:] = np.round(x[:, 1:].mean(axis=0))
        x[:, 1:] = np.round((x[:, 1:] - center[1:]) * 2.0**26) * 2.0**-26 + center[1:]
    z, multiples = _projected(x - center, np.full(n, np.sqrt(1.0 / n)), free, center)
    assert np.all(np.delete(multiples, free, axis=0) == 0.0)
    untouched = ~(multiples - center * np.eye(p, 1)).any(axis=0)
    assert np.array_equal(z[:, untouched], (x - center)[:, untouched])
    assert not np.any(multiples[~untouched])
    for i in range(n):
        for j in range(p):
            sum_ = Fraction(z[i, j]) + sum(Fraction(z[i, k]) * Fraction(multiples[k, j]) for k in range(p))
            assert abs(sum_ - Fraction(x[i, j])) <= Fraction(2.0**-52) * abs(Fraction(z[i, j])) + Fraction(
                2.0**-90
            ) * abs(Fraction(x[i, j]))
    penalty = NoPenalty(p)
    frame = projected(Problem.of(Memory(as_design(x[:, 1:]), rng.normal(size=(n, 1))), Squared(1), penalty))
    if frame is not None:
        coef = rng.normal(size=(p, 2))
        np.testing.assert_allclose(frame.inward(frame.outward(coef)), coef, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_gaps_count_what_rounding_the_coefficients_costs(seed):
    """With y around 1e6 half a unit of the intercept is 6e-11, and the gap only a few squares of that."""
    rng = np.random.default_rng(seed)
    x = np.column_stack([1.7e18 + 4096.0 * rng.integers(0, 50, size=25), rng.normal(size=25)])
    y, offset = 1e6 + rng.normal(size=(25, 1)), 30.0 * rng.uniform(-1.0, 1.0, size=(25, 1))
    result = fit(Memory(as_design(x), y, None, offset), Squared(1), NoPenalty(3))
    exact = Exact(Squared(1), as_design(x).dense(), y, None, offset, 0.0, np.zeros(3))
    here = exact.value([[number(v) for v in row] for row in result.coef])
    assert float((here - exact.optimum(result.coef)).mid()) <= result.verdict.gap


FAR = {
    "Ridge": {},
    "Lasso": {"alpha": 0.1},
    "ElasticNet": {"alpha": 0.1},
    "LinearRegression": {},
    "PoissonRegressor": {},
    "QuantileRegressor": {"alpha": 0.01},
    "LogisticRegression": {},
    "LinearSVC": {},
    "SparsemaxClassifier": {},
}


@pytest.mark.parametrize("estimator", FAR)
@pytest.mark.parametrize("center", [1.5e15, 4e15, 1.7e18, -3e16])
def test_estimators_far_from_zero_are_those_near_it(estimator, center, tmp_path):
    """Moving a column by an exact constant changes the intercept and nothing else, neither verdict nor predictions."""
    rng = np.random.default_rng(1)
    step = 2.0 * np.spacing(abs(center))
    near = np.column_stack([np.arange(30.0) * step, step * rng.integers(-40, 40, size=30)])
    x = near + center
    assert np.array_equal(x - center, near)
    truth = near[:, 0] / step / 10.0 - near[:, 1] / step / 40.0
    kind = getattr(lineal, estimator)
    y = rng.poisson(np.exp(0.3 * truth)) if estimator == "PoissonRegressor" else truth + rng.normal(size=30)
    y = (y > np.median(y)).astype(int) if hasattr(kind, "decision_function") else y
    far, here = kind(**FAR[estimator]).fit(x, y), kind(**FAR[estimator]).fit(near, y)
    assert here.verdict_.kind == far.verdict_.kind == "optimal", far.verdict_.sentence
    assert far.objective_ == pytest.approx(here.objective_, abs=here.verdict_.gap + far.verdict_.gap + 1e-12)
    assert far.verdict_.gap <= 1e-6 * (far.verdict_.evidence["null_objective"] - far.objective_)
    scores = [model._scores(part, None) for model, part in ((far, x), (here, near))]
    size = float(np.max(np.abs(scores[1]))) + 1.0
    # both are within 1e-6 of the gain, and scores within the root of that, of each other
    np.testing.assert_allclose(scores[0], scores[1], atol=2e-3 * size)
    far.model_.save(tmp_path / "far.lineal")
    again = lineal.load(tmp_path / "far.lineal")
    np.testing.assert_array_equal(again.scores(x), far.model_.scores(x))
    np.testing.assert_allclose(far.model_.scorer()(x)[:, 0], far.model_.means(x)[:, 0])
    if far._centered is not None:
        # whoever edits the coefficients means what was written
        far.coef_ = np.zeros_like(far.coef_)
        far.intercept_ = far.intercept_ * 0.0 + 2.0
        np.testing.assert_array_equal(far._scores(x, None), 2.0)
