"""Laws every penalty obeys: prox, conjugate, mismatch, gradient."""

from __future__ import annotations

import numpy as np
import pytest

from lineal.errors import InputError
from lineal.penalties import NoPenalty, Ridge

PENALTIES = [
    NoPenalty(3),
    Ridge(0.0, np.ones(3)),
    Ridge(0.7, np.array([0.0, 1.0, 2.5])),
    Ridge(1e-6, np.array([1.0, 1e6, 1e-6])),
]


@pytest.fixture(params=PENALTIES, ids=["none", "zero", "ridge", "scaled"])
def penalty(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_gradient_is_the_derivative(penalty, rng):
    coef = rng.normal(size=(3, 2))
    for j in range(3):
        for k in range(2):
            step = np.zeros((3, 2))
            step[j, k] = 1e-5
            numeric = (penalty.value(coef + step) - penalty.value(coef - step)) / 2e-5
            assert penalty.gradient(coef)[j, k] == pytest.approx(numeric, abs=1e-8, rel=1e-6)


def test_prox_beats_random_rivals(penalty, rng):
    coef, step = rng.normal(size=(3, 2)), rng.uniform(0.1, 2.0, size=3)
    best = penalty.prox(coef, step)

    def cost(z):
        return penalty.value(z) + float(np.sum((z - coef) ** 2 / (2 * step[:, None])))

    for size in (1e-3, 0.1, 1.0):
        for _ in range(20):
            assert cost(best) <= cost(best + size * rng.normal(size=coef.shape)) + 1e-12


def test_fenchel_young(penalty, rng):
    coef = rng.normal(size=(3, 2))
    slope = rng.normal(size=(3, 2)) * penalty.charged[:, None]
    difference = penalty.value(coef) + penalty.conjugate(-slope) + float(np.sum(coef * slope))
    assert penalty.mismatch(coef, slope) == pytest.approx(difference, rel=1e-9, abs=1e-12)
    assert penalty.mismatch(coef, -penalty.gradient(coef)) == pytest.approx(0.0, abs=1e-12)


def test_blur_bounds_what_an_error_in_the_gradient_can_do(penalty, rng):
    coef = rng.normal(size=(3, 2))
    slope = -penalty.gradient(coef) + 0.1 * rng.normal(size=(3, 2)) * penalty.charged[:, None]
    error = 10.0 ** rng.uniform(-8, -1, size=(3, 2))
    for _ in range(50):
        wrong = slope + error * rng.uniform(-1, 1, size=(3, 2)) * penalty.charged[:, None]
        grown = penalty.mismatch(coef, wrong) - penalty.mismatch(coef, slope)
        assert grown <= penalty.blur(coef, slope, error) * (1 + 1e-9) + 1e-12


def test_conjugate_is_infinite_where_an_uncharged_column_has_a_slope(penalty):
    if not np.all(penalty.charged):
        assert penalty.conjugate(np.ones((3, 1))) == np.inf


def test_slack_vanishes_at_the_gradient(penalty, rng):
    coef = rng.normal(size=(3, 2))
    np.testing.assert_array_equal(penalty.slack(coef, -penalty.gradient(coef)), 0.0)


def test_rescaled_costs_the_same(penalty, rng):
    coef, scale = rng.normal(size=(3, 2)), np.array([2.0, 0.1, 30.0])
    assert penalty.rescaled(scale).value(coef * scale[:, None]) == pytest.approx(penalty.value(coef))


@pytest.mark.parametrize("strength", [-1.0, np.nan, np.inf])
def test_strengths_must_be_finite_and_not_negative(strength):
    with pytest.raises(InputError):
        Ridge(strength, np.ones(2))


def test_charges_must_be_finite_and_not_negative():
    with pytest.raises(InputError):
        Ridge(1.0, np.array([1.0, -1.0]))
