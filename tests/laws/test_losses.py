"""Laws every loss obeys: derivatives, convexity, conjugates, and the native twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from lineal import _core, losses
from lineal.errors import InputError
from lineal.losses import (
    CURVES,
    Absolute,
    CrammerSinger,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Poisson,
    Quantile,
    Softmax,
    Sparsemax,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from tests.laws.catalogue import convex, ids


def drawn(loss, rows, rng):
    if loss.targets == "numbers":
        return rng.normal(size=(rows, loss.outputs)) * 3
    if loss.targets == "counts":
        return rng.poisson(2.0, size=(rows, 1)).astype(float)
    if loss.logit:
        return rng.choice([0.0, 1.0, 0.3], size=(rows, 1))
    return rng.integers(0, max(loss.outputs, 2), size=(rows, 1)).astype(float)


@pytest.fixture(params=convex(), ids=ids)
def loss(request):
    return request.param


@pytest.fixture
def sample(loss):
    rng = np.random.default_rng(5)
    y = drawn(loss, 40, rng)
    eta = rng.normal(size=(40, loss.outputs)) * rng.choice([0.1, 1.0, 5.0], size=(40, 1))
    return y, eta, rng


def where(condition):
    """Run a law for the losses of which a condition holds, and let it say so to who has other losses."""

    def marked(law):
        law.concerns = condition
        return pytest.mark.parametrize("loss", [loss for loss in convex() if condition(loss)], ids=ids)(law)

    return marked


def has_a_box(loss):
    return loss.box(drawn(loss, 4, np.random.default_rng(0))) is not None


def has_a_lean(loss):
    y = drawn(loss, 4, np.random.default_rng(0))
    return loss.lean(y, loss.slope(y, np.zeros((4, loss.outputs)))) is not None


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
    assert np.all(np.linalg.eigvalsh(curvature) <= loss.curvature_bound + 1e-12)


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
            method="BFGS" if loss.smooth else "Nelder-Mead",
        )
        assert loss.conjugate(target, row)[0] == pytest.approx(-found.fun, abs=1e-6)


def test_conjugate_is_infinite_outside_its_domain(loss, sample):
    y, eta, _ = sample
    theta = loss.slope(y, eta)
    box = loss.box(y)
    if box is not None:
        low, high = box
        assert np.all((theta >= low) & (theta <= high))
        for side, far in ((low, low - 1e-6), (high, high + 1e-6)):
            bounded = np.isfinite(side[:, 0])
            with np.errstate(invalid="ignore"):
                assert np.all(np.isinf(loss.conjugate(y, far)[bounded]))
                assert np.all(np.isinf(loss.mismatch(y, eta, far)[bounded]))
            assert np.all(np.isfinite(loss.conjugate(y, np.where(np.isfinite(side), side, theta))))
    elif loss.targets == "counts":
        assert np.all(np.isinf(loss.conjugate(y, -y - 1e-6)))
    elif loss.of_classes():
        assert np.all(np.isinf(loss.conjugate(y, theta + 5.0)))
        if not loss.multinomial:  # whose dual points have zero sum by construction
            assert np.all(np.isinf(loss.mismatch(y, eta, theta + 5.0)))


def test_kinks_add_up_to_the_loss(loss, sample):
    y, eta, _ = sample
    kinks = loss.kinks(y)
    assert bool(kinks) == (not loss.smooth and not loss.coupled)
    if kinks:
        total = sum(np.maximum(low * (eta - at), high * (eta - at)) for at, low, high in kinks)
        np.testing.assert_allclose(loss.value(y, eta), total[:, 0], atol=1e-12)


@where(has_a_box)
def test_mismatch_bounds_every_dual_point_of_the_box(loss, sample):
    """Also for dual points that are nobody's slope: corners, the boundary, the far side."""
    y, eta, rng = sample
    low, high = (np.clip(side, -9.0, 9.0) for side in loss.box(y))
    for share in (0.0, 1.0, rng.uniform(size=eta.shape)):
        theta = low + share * (high - low)
        expected = loss.value(y, eta) + loss.conjugate(y, theta) - np.sum(theta * eta, axis=1)
        np.testing.assert_allclose(loss.mismatch(y, eta, theta), expected, atol=1e-10)
        assert np.all(loss.mismatch(y, eta, theta) >= 0.0)


def test_slope_at_a_corner_is_one_of_its_slopes(loss):
    """The value never falls below the line that the slope draws, also from the corner itself."""
    rng = np.random.default_rng(3)
    y = drawn(loss, 30, rng)
    kinks = loss.kinks(y)
    corners = [kink.at for kink in kinks] or [np.zeros((30, loss.outputs))]
    for eta in corners:
        slope = loss.slope(y, eta)
        for _ in range(10):
            move = rng.normal(size=eta.shape)
            line = loss.value(y, eta) + np.sum(slope * move, axis=1)
            assert np.all(loss.value(y, eta + move) >= line - 1e-12)


def test_value_is_convex_along_segments(loss, sample):
    y, eta, rng = sample
    other = rng.normal(size=eta.shape) * 4
    middle = loss.value(y, 0.5 * (eta + other))
    assert np.all(middle <= 0.5 * (loss.value(y, eta) + loss.value(y, other)) + 1e-12)


@pytest.mark.parametrize(
    ("loss", "size"),
    [
        pytest.param(loss, size, id=f"{ids(loss)} {size}")
        for loss in convex()
        for size in (700.0, -700.0, 1e5)
        if loss.curvature_bound < np.inf or size <= 700  # e^1e5 is infinite indeed
    ],
)
def test_everything_is_finite_far_out(loss, size):
    rng = np.random.default_rng(1)
    y = drawn(loss, 8, rng)
    eta = rng.choice([-1.0, 1.0], size=(8, loss.outputs)) * size
    for value in (loss.value(y, eta), loss.slope(y, eta), loss.curvature(y, eta), loss.mean(eta)):
        assert np.all(np.isfinite(value))


@where(lambda loss: loss.has_mean_statistic)  # others need the rows: see test_null_fit_*
def test_best_constant_minimises(loss, sample):
    y, _, rng = sample
    weight = rng.uniform(0.5, 2.0, size=len(y))
    best = loss.constant(loss.statistic(y, weight) / weight.sum())

    def total(constant):
        return float(weight @ loss.value(y, np.broadcast_to(constant, (len(y), loss.outputs))))

    for _ in range(20):
        assert total(best) <= total(best + 0.1 * rng.normal(size=loss.outputs)) + 1e-9


@where(lambda loss: loss.level(np.zeros(loss.outputs), np.zeros(loss.outputs)) is not None)
def test_level_of_a_constant_is_what_the_rows_say(loss, sample):
    y, _, rng = sample
    weight = rng.uniform(0.5, 2.0, size=len(y))
    mean = loss.statistic(y, weight) / weight.sum() if loss.has_mean_statistic else np.zeros(loss.outputs)
    for constant in (*rng.normal(size=(5, loss.outputs)), *np.outer([-1.0, 0.0, 1.0, 3.0], np.ones(loss.outputs))):
        level = loss.level(mean, constant)
        eta = np.tile(constant, (len(y), 1))
        np.testing.assert_allclose(level[0], weight @ loss.value(y, eta) / weight.sum(), rtol=1e-12)
        slope = weight @ np.abs(loss.slope(y, eta)) / weight.sum()
        assert np.all(slope <= level[1] + 1e-12)
        if np.all((y == 0.0) | (y == 1.0)):
            np.testing.assert_allclose(level[1], slope, rtol=1e-12, atol=1e-15)


@where(lambda loss: loss.native is not None)
def test_native_rows_equal_the_numpy_twin(loss, sample):
    y, eta, rng = sample
    bent, move = loss.curvature(y, eta), 0.1 * rng.normal(size=eta.shape)
    theta = loss.slope(y, eta) - (np.einsum("nab,nb->na", bent, move) if loss.coupled else bent * move)
    value, slope, curvature, mismatch = _core.loss_rows(loss.native, y, eta, theta, loss.parameter)
    np.testing.assert_allclose(value, loss.value(y, eta), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(slope, loss.slope(y, eta), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curvature.reshape(-1), loss.curvature(y, eta).reshape(-1), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(mismatch, loss.mismatch(y, eta, theta), rtol=1e-9, atol=1e-14)


def test_names_lead_back_to_the_loss(loss):
    data = loss.to_dict()
    assert set(data) == {"name", "outputs", *loss.parameter_names()}
    again = losses.by_name()[data["name"]].make(loss.outputs, **loss.parameters())
    assert again == loss
    assert type(again) is type(loss)


def test_words_of_a_loss_are_words(loss):
    for text in (loss.title(), loss.summary_title(), loss.formula()):
        assert text
        assert text == text.strip()
        assert "{" not in text
    assert loss.procedure() or loss.formula() != loss.name


@where(lambda loss: not loss.of_classes())
def test_losses_of_numbers_have_no_scores_of_classes(loss):
    assert [type(loss).outputs_for(classes) for classes in (2, 3)] == [0, 0]


@where(lambda loss: loss.of_classes())
def test_number_of_scores_suits_the_classes(loss):
    kind = type(loss)
    for classes in (2, 3, 7):
        outputs = kind.outputs_for(classes)
        assert outputs == 0 or kind.make(outputs, **loss.parameters()).outputs == outputs
        if outputs:
            kind.make(outputs, **loss.parameters()).check(np.arange(classes, dtype=float)[:, None])
    assert kind.outputs_for(2) > 0


@where(lambda loss: loss.coupled)
def test_only_probabilities_of_several_classes_fall_for_ever(loss):
    assert loss.unbounded == loss.multinomial


@where(lambda loss: loss.unbounded and loss.outputs == 1)
def test_where_a_loss_falls_for_ever_it_falls(loss, sample):
    """A target that pulls a score up or down for ever is fitted ever better; one that holds it has a best score."""
    y, eta, _ = sample
    up, held = loss.recession(y)
    way = np.where(up, 1.0, -1.0)
    before, after = loss.value(y, eta), loss.value(y, eta + 3.0 * way)
    assert np.all(after[~held[:, 0]] < before[~held[:, 0]])
    for far in (-60.0, 60.0):
        assert np.all(loss.value(y, np.full_like(y, far))[held[:, 0]] > loss.value(y, np.zeros_like(y))[held[:, 0]])


@where(lambda loss: loss.dual_step() is not None and not has_a_box(loss))
def test_a_dual_step_without_a_box_is_of_several_classes(loss):
    assert loss.coupled


@where(lambda loss: loss.dual_step() is not None and has_a_box(loss))
def test_dual_step_is_the_conjugate(loss, sample):
    """``at theta + epsilon |theta| + bend theta^2 / 2`` on the interval of a row."""
    y, eta, _ = sample
    step = loss.dual_step()
    theta = loss.slope(y, eta)
    at = np.where(y > 0.5, 1.0, -1.0) if step.margin else y
    expected = at * theta + step.epsilon * np.abs(theta) + 0.5 * step.bend * theta**2
    np.testing.assert_allclose(loss.conjugate(y, theta), expected[:, 0], atol=1e-12)


@where(has_a_lean)
def test_lean_is_the_slope_of_the_conjugate_on_the_simplex(loss, sample):
    y, eta, _ = sample
    inside = 0.5 * (loss.slope(y, eta) + loss.slope(y, -eta))  # the domain is convex
    lean = loss.lean(y, inside)
    move = loss.slope(y, 0.3 * eta[::-1]) - inside  # towards another point of it
    h = 1e-6
    numeric = (loss.conjugate(y, inside + h * move) - loss.conjugate(y, inside)) / h
    np.testing.assert_allclose(np.sum(lean * move, axis=1), numeric, atol=1e-5)


def test_names_and_kernels_of_the_catalogue_are_its_own():
    names = [kind.name for kind in losses.ALL]
    kernels = [kind.native for kind in losses.ALL if kind.native is not None]
    assert len(set(names)) == len(names)
    assert len(set(kernels)) == len(kernels)


def test_sparsemax_probabilities_are_the_nearest_point_of_the_simplex():
    """Against scipy's projection by SLSQP; and the zeros are exact."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 4)) * 1.5
    p = Sparsemax(4).mean(scores)
    assert np.any(p == 0.0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-15)
    for row, found in zip(scores, p, strict=True):
        nearest = optimize.minimize(
            lambda q, row=row: 0.5 * float(np.sum((q - row) ** 2)),
            np.full(4, 0.25),
            jac=lambda q, row=row: q - row,
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda q: q.sum() - 1.0},
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(found, nearest.x, atol=1e-6)


def test_curves_beside_the_losses():
    y, eta = np.array([[1.0], [0.0]]), np.array([[0.5], [0.5]])
    np.testing.assert_allclose(CURVES["exponential"]().value(y, eta), np.exp([-0.5, 0.5]))
    np.testing.assert_array_equal(CURVES["zero-one"]().value(y, eta), [0.0, 1.0])
    assert not hasattr(CURVES["exponential"](), "slope")
    zero_one = CURVES["zero-one"]()
    assert losses.by_name()["zero-one"].make(1) == zero_one
    assert zero_one.mismatch(y, eta, np.zeros((2, 1))).tolist() == [0.0, 1.0]
    assert zero_one.mean(np.array([[0.0], [1.0]])).tolist() == [[0.0], [1.0]], "a score of zero speaks for class 0"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Quantile(0.0),
        lambda: Quantile(1.0),
        lambda: Quantile(np.nan),
        lambda: Huber(0.0),
        lambda: Huber(np.inf),
        lambda: EpsilonInsensitive(-0.1),
        lambda: SquaredEpsilonInsensitive(np.nan),
    ],
)
def test_parameters_outside_their_range_are_refused(make):
    with pytest.raises(InputError):
        make()


@pytest.mark.parametrize(
    ("loss", "bad"),
    [
        (Squared(1), np.nan),
        (Squared(1), np.inf),
        (Logistic(), 1.5),
        (Logistic(), np.nan),
        (Softmax(3), 3.0),
        (Softmax(3), 0.5),
        (Absolute(), np.nan),
        (Huber(1.0), np.inf),
        (Poisson(), -1.0),
        (Poisson(), np.inf),
        (Hinge(), 0.5),
        (SquaredHinge(), -1.0),
        (CrammerSinger(3), 3.0),
        (Sparsemax(3), 1.5),
    ],
)
def test_targets_outside_the_domain_are_refused(loss, bad):
    with pytest.raises(InputError):
        loss.check(np.array([[bad]]))
