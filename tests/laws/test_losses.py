"""Laws every loss obeys: derivatives, convexity, conjugates, and the native twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from lineal import _core
from lineal.errors import InputError
from lineal.losses import BY_NAME, Logistic, Softmax, Squared

LOSSES = [Squared(1), Squared(3), Logistic(), Softmax(2), Softmax(5)]
IDS = [f"{loss.name}-{loss.outputs}" for loss in LOSSES]


def targets(loss, rows, rng):
    if loss.name == "squared":
        return rng.normal(size=(rows, loss.outputs)) * 3
    if loss.name == "logistic":
        return rng.choice([0.0, 1.0, 0.3], size=(rows, 1))
    return rng.integers(0, loss.outputs, size=(rows, 1)).astype(float)


@pytest.fixture(params=LOSSES, ids=IDS)
def loss(request):
    return request.param


@pytest.fixture
def sample(loss):
    rng = np.random.default_rng(5)
    y = targets(loss, 40, rng)
    eta = rng.normal(size=(40, loss.outputs)) * rng.choice([0.1, 1.0, 5.0], size=(40, 1))
    return y, eta, rng


def test_slope_is_the_derivative_of_the_value(loss, sample):
    y, eta, _ = sample
    h = 1e-6
    for k in range(loss.outputs):
        step = np.zeros(loss.outputs)
        step[k] = h
        numeric = (loss.value(y, eta + step) - loss.value(y, eta - step)) / (2 * h)
        np.testing.assert_allclose(loss.slope(y, eta)[:, k], numeric, atol=2e-8)


def test_curvature_is_the_derivative_of_the_slope(loss, sample):
    y, eta, _ = sample
    h = 1e-6
    curvature = loss.curvature(y, eta)
    if not loss.coupled:
        curvature = np.einsum("nk,kl->nkl", curvature, np.eye(loss.outputs))
    for k in range(loss.outputs):
        step = np.zeros(loss.outputs)
        step[k] = h
        numeric = (loss.slope(y, eta + step) - loss.slope(y, eta - step)) / (2 * h)
        np.testing.assert_allclose(curvature[:, :, k], numeric, atol=2e-8)
    assert np.all(np.linalg.eigvalsh(curvature) >= -1e-12)
    assert np.all(np.linalg.eigvalsh(curvature) <= loss.steepest + 1e-12)


def test_fenchel_young_holds_with_equality_at_the_slope(loss, sample):
    y, eta, rng = sample
    other = eta + rng.normal(size=eta.shape)
    theta = loss.slope(y, other)
    mismatch = loss.value(y, eta) + loss.conjugate(y, theta) - np.sum(theta * eta, axis=1)
    assert np.all(mismatch >= -1e-12)
    np.testing.assert_allclose(loss.mismatch(y, eta, theta), mismatch, atol=1e-12)
    here = loss.slope(y, eta)
    np.testing.assert_allclose(loss.mismatch(y, eta, here), 0.0, atol=1e-15)
    equal = loss.value(y, eta) + loss.conjugate(y, here) - np.sum(here * eta, axis=1)
    np.testing.assert_allclose(equal, 0.0, atol=1e-12)


def test_conjugate_is_the_supremum(loss, sample):
    """Against a numerical maximiser on a few rows; outside the domain the conjugate is infinite."""
    y, eta, _ = sample
    theta = loss.slope(y, eta)
    for i in range(4):
        row, target = theta[i : i + 1], y[i : i + 1]
        found = optimize.minimize(
            lambda e, row=row, target=target: float(loss.value(target, e[None])[0] - row[0] @ e),
            np.zeros(loss.outputs),
            tol=1e-10,
        )
        assert loss.conjugate(target, row)[0] == pytest.approx(-found.fun, abs=1e-6)
    if loss.name != "squared":
        far = theta + 5.0
        assert np.all(np.isinf(loss.conjugate(y, far)))


def test_value_is_convex_along_segments(loss, sample):
    y, eta, rng = sample
    other = rng.normal(size=eta.shape) * 4
    middle = loss.value(y, 0.5 * (eta + other))
    assert np.all(middle <= 0.5 * (loss.value(y, eta) + loss.value(y, other)) + 1e-12)


@pytest.mark.parametrize("size", [700.0, -700.0, 1e5])
def test_everything_is_finite_far_out(loss, size):
    rng = np.random.default_rng(1)
    y = targets(loss, 8, rng)
    eta = rng.choice([-1.0, 1.0], size=(8, loss.outputs)) * size
    for value in (loss.value(y, eta), loss.slope(y, eta), loss.curvature(y, eta), loss.mean(eta)):
        assert np.all(np.isfinite(value))


def test_best_constant_minimises(loss, sample):
    y, _, rng = sample
    weight = rng.uniform(0.5, 2.0, size=len(y))
    best = loss.constant(loss.statistic(y, weight) / weight.sum())

    def total(constant):
        return float(weight @ loss.value(y, np.broadcast_to(constant, (len(y), loss.outputs))))

    for _ in range(20):
        assert total(best) <= total(best + 0.1 * rng.normal(size=loss.outputs)) + 1e-9


def test_native_rows_equal_the_numpy_twin(loss, sample):
    y, eta, rng = sample
    theta = loss.slope(y, eta + 0.1 * rng.normal(size=eta.shape))
    value, slope, curvature, mismatch = _core.loss_rows(loss.native, y, eta, theta)
    np.testing.assert_allclose(value, loss.value(y, eta), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(slope, loss.slope(y, eta), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curvature.reshape(-1), loss.curvature(y, eta).reshape(-1), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(mismatch, loss.mismatch(y, eta, theta), rtol=1e-9, atol=1e-14)


def test_names_lead_back_to_the_loss(loss):
    again = BY_NAME[loss.to_dict()["name"]](loss.outputs)
    assert again == loss


@pytest.mark.parametrize(
    ("loss", "bad"),
    [
        (Squared(1), np.nan),
        (Squared(1), np.inf),
        (Logistic(), 1.5),
        (Logistic(), np.nan),
        (Softmax(3), 3.0),
        (Softmax(3), 0.5),
    ],
)
def test_targets_outside_the_domain_are_refused(loss, bad):
    with pytest.raises(InputError):
        loss.check(np.array([[bad]]))
