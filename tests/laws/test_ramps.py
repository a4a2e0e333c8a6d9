"""Laws of the sums a proof makes of losses with one corner: the compiled pass and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal import _core
from tests.laws.catalogue import minimised

LOSSES = [loss for loss in minimised() if len(loss.kinks(np.zeros((1, 1)))) == 1]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@given(rows=st.integers(1, 200), seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_sums_of_a_corner_are_those_of_the_loss(loss, rows, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size=(rows, 1)).astype(float)
    eta = rng.choice([-1.0, 0.0, 1.0, 0.3, 7.0], size=(rows, 1)) * rng.choice([1.0, rng.normal()], size=(rows, 1))
    low, high = loss.box(y)
    theta = low + rng.choice([0.0, 1.0, 0.5, rng.random()], size=(rows, 1)) * (high - low)
    weight = rng.choice([0.0, 1.0, 0.25], size=rows)
    found = _core.ramp_sums(eta, *loss.kinks(y)[0], weight, theta)
    v = (theta - low) * (high - theta) / (high - low)
    own = loss.mismatch(y, eta, theta)
    ends = [loss.mismatch(y, eta, np.clip(theta + side * v, low, high)) for side in (-1.0, 1.0)]
    more = np.maximum(np.maximum(*ends) - own, 0.0)
    inner = v[:, 0] > 0.0
    by_hand = (
        weight @ own,
        weight @ loss.value(y, eta),
        weight @ np.abs(theta[:, 0]),
        weight @ np.abs(loss.slope(y, eta) - theta)[:, 0],
        weight[inner] @ (more[inner] ** 2 / v[inner, 0]),
        weight @ v[:, 0],
        float(np.max(v[weight > 0.0], initial=0.0)),
    )
    assert found == pytest.approx(by_hand, rel=1e-12, abs=1e-12)


def test_long_sums_keep_their_digits():
    """A million equal terms that a plain loop adds up with an error of ten thousand roundings and more."""
    rows = 1_000_003
    one, zero = np.ones((rows, 1)), np.zeros((rows, 1))
    weight = np.full(rows, 0.1)
    found = _core.ramp_sums(0.9 * one, one, -one, zero, weight, zero)
    assert abs(found[0] / (rows * (0.1 * (1.0 - 0.9))) - 1.0) <= 64 * np.finfo(float).eps
