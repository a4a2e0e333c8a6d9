"""Laws every penalty obeys: prox, Moreau, conjugate, mismatch and its error, gradient, critical strength, change of units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from lineal.errors import InputError
from lineal.penalties import ALL, L1, Bounds, ElasticNet, Group, NoPenalty, by_name

INF = np.inf
CHARGES = np.array([0.0, 1.0, 2.5])
BOX = (np.array([-INF, -0.5, 0.0]), np.array([INF, 0.3, INF]))
STRONG = [kind for kind in ALL if "strength" in kind.parameters]
"""Those that have a strength of their own."""

PENALTIES = {
    **{kind.name: kind.example(CHARGES) for kind in ALL},
    **{f"{kind.name} scaled": kind.example(np.array([8.0, 0.125, 1.0])).at(0.01) for kind in STRONG},
    **{f"{kind.name} zero": kind.example(CHARGES).at(0.0) for kind in STRONG},
    **{
        f"bounds on {kind.name}": Bounds(*BOX, kind.example(CHARGES))
        for kind in by_name().values()
        if kind.example(CHARGES).costs(2) is not None
    },
    "elastic as ridge": ElasticNet(0.7, 0.0, CHARGES),
    "elastic as lasso": ElasticNet(0.7, 1.0, CHARGES),
    "non-negative": Bounds(np.zeros(3), np.full(3, INF), NoPenalty(3)),
    "non-positive": Bounds(np.full(3, -INF), np.zeros(3), NoPenalty(3)),
    "fixed": Bounds(np.array([-INF, 0.2, -0.3]), np.array([INF, 0.2, -0.3]), NoPenalty(3)),
    "away from zero": Bounds(np.array([0.5, -INF, -2.0]), np.array([INF, -0.1, 2.0]), L1(0.3, np.ones(3))),
}


@pytest.fixture(params=PENALTIES.values(), ids=PENALTIES.keys())
def penalty(request):
    return request.param


def where(condition):
    """Run a test for the penalties of which a condition holds."""
    some = {name: penalty for name, penalty in PENALTIES.items() if condition(penalty)}

    def over(law):
        law.concerns = condition
        return pytest.mark.parametrize("penalty", some.values(), ids=some.keys())(law)

    return over


def has_a_strength(penalty):
    return bool(penalty.without_bounds().parameters)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def allowed(penalty, coef):
    """Project onto the penalty's domain."""
    return penalty.prox(coef, np.zeros(len(coef)))


def feasible(penalty, rng, coef):
    """Return a gradient whose conjugate is finite: scaled into the ball, zero where the penalty is open."""
    gradient = rng.normal(size=coef.shape) * penalty.penalized[:, None]
    gradient[penalty.unbounded_dual(coef, gradient)] = 0.0
    return penalty.shrink(gradient) * (1.0 - 1e-12) * gradient


def test_gradient_is_the_derivative_where_the_penalty_is_smooth(penalty, rng):
    coef = allowed(penalty, rng.normal(size=(3, 2)))
    for j, k in np.argwhere(penalty.moving(coef)):
        step = np.zeros((3, 2))
        step[j, k] = 1e-5
        numeric = (penalty.value(coef + step) - penalty.value(coef - step)) / 2e-5
        assert penalty.gradient(coef)[j, k] == pytest.approx(numeric, abs=1e-8, rel=1e-6)


def test_moving_coefficients_are_away_from_kinks_and_bounds(penalty):
    if penalty.smooth:
        assert np.all(penalty.moving(np.zeros((3, 2))))
    if penalty.bounds is None:
        np.testing.assert_array_equal(penalty.moving(np.zeros((3, 2))).all(axis=1), penalty.linear == 0.0)
    coef = allowed(penalty, np.full((3, 2), 100.0))
    edge = coef != 100.0
    assert not np.any(penalty.moving(coef) & edge)


def test_prox_beats_random_rivals(penalty, rng):
    for _ in range(10):
        coef, step = rng.normal(size=(3, 2)), rng.uniform(0.1, 2.0, size=3)
        best = penalty.prox(coef, step)

        def cost(z, coef=coef, step=step):
            return penalty.value(z) + float(np.sum((z - coef) ** 2 / (2 * step[:, None])))

        assert np.isfinite(cost(best))
        for size in (1e-3, 0.1, 1.0):
            for _ in range(10):
                rival = allowed(penalty, best + size * rng.normal(size=coef.shape))
                assert cost(best) <= cost(rival) + 1e-12


def test_prox_is_where_the_slack_vanishes(penalty, rng):
    """The minimiser of penalty(z) + |z - b|^2 / (2 step) has -(z - b) / step in the subdifferential."""
    for _ in range(10):
        coef, step = rng.normal(size=(3, 2)), rng.uniform(0.1, 2.0, size=3)
        best = penalty.prox(coef, step)
        gradient = (best - coef) / step[:, None]
        np.testing.assert_allclose(penalty.slack(best, gradient), 0.0, atol=1e-12)


def conjugate_prox(penalty, point, step):
    """Return prox of the conjugate by brute force: min over slopes of penalty*(s) + step |s - point|^2 / 2."""

    def cost(flat):
        slope = flat.reshape(point.shape)
        value = penalty.conjugate(slope)
        return value + 0.5 * step * float(np.sum((slope - point) ** 2)) if np.isfinite(value) else 1e10

    start = penalty.shrink(point) * point
    start[penalty.unbounded_dual(np.zeros_like(point), -start) | ~penalty.penalized[:, None]] = 0.0
    found = optimize.minimize(cost, start.ravel(), method="Nelder-Mead", options={"maxiter": 20000, "fatol": 1e-14})
    return found.x.reshape(point.shape), found.fun


@pytest.mark.slow
def test_moreau(penalty, rng):
    """b = prox(b) + step prox*(b / step): the second part minimises the conjugate's problem."""
    for _ in range(3):
        coef, step = rng.normal(size=(3, 1)), 0.7
        dual = (coef - penalty.prox(coef, np.full(3, step))) / step
        dual[~penalty.penalized] = 0.0
        coef[~penalty.penalized] = 0.0
        assert penalty.shrink(-dual) > 1.0 - 1e-9  # the subtraction above rounds
        inside = dual * (penalty.shrink(-dual) - 1e-14)
        value = penalty.conjugate(inside) + 0.5 * step * float(np.sum((inside - coef / step) ** 2))
        assert np.isfinite(value)
        _, rival = conjugate_prox(penalty, coef / step, step)
        assert value <= rival + 1e-9 * (1.0 + abs(rival))


def test_fenchel_young(penalty, rng):
    for _ in range(20):
        coef = allowed(penalty, rng.normal(size=(3, 2)))
        slope = feasible(penalty, rng, coef)
        difference = penalty.value(coef) + penalty.conjugate(-slope) + float(np.sum(coef * slope))
        assert np.isfinite(difference)
        assert penalty.mismatch(coef, slope) == pytest.approx(difference, rel=1e-9, abs=1e-12)
        assert penalty.mismatch(coef, slope) >= 0.0


def test_mismatch_vanishes_at_a_subgradient(penalty, rng):
    for _ in range(20):
        coef, step = rng.normal(size=(3, 2)), rng.uniform(0.1, 2.0, size=3)
        best = penalty.prox(coef, step)
        slope = (best - coef) / step[:, None] * penalty.penalized[:, None]
        slope[penalty.unbounded_dual(best, slope)] = 0.0
        slope *= penalty.shrink(slope) * (1.0 - 1e-14)  # the product rounds, and beyond the ball all is infinite
        assert penalty.mismatch(best, slope) == pytest.approx(0.0, abs=1e-9)


def test_outside_the_bounds_everything_is_infinite():
    penalty = PENALTIES["bounds on l1"]
    coef = np.array([[0.0], [0.0], [-1.0]])
    assert penalty.value(coef) == INF
    assert penalty.mismatch(coef, np.zeros((3, 1))) == INF


def test_shrink_brings_into_the_domain_and_no_further(penalty, rng):
    for _ in range(20):
        gradient = 3.0 * rng.normal(size=(3, 2)) * penalty.penalized[:, None]
        gradient[penalty.unbounded_dual(np.zeros((3, 2)), gradient)] = 0.0
        scale = penalty.shrink(gradient)
        assert 0.0 <= scale <= 1.0
        assert np.isfinite(penalty.conjugate(-scale * (1.0 - 1e-12) * gradient))
        if scale < 1.0:
            assert penalty.conjugate(-scale * (1.0 + 1e-9) * gradient) == INF


def test_open_coefficients_are_those_that_scaling_cannot_help(penalty, rng):
    for _ in range(20):
        coef = allowed(penalty, rng.normal(size=(3, 1)))
        gradient = rng.normal(size=(3, 1)) * penalty.penalized[:, None]
        hopeless = penalty.unbounded_dual(coef, gradient)
        for j in range(3):
            alone = np.zeros((3, 1))
            alone[j] = gradient[j] * 1e-9
            if penalty.penalized[j] and penalty.conjugate(-alone) == INF:
                assert hopeless[j]


def test_blur_bounds_what_an_error_in_the_gradient_can_do(penalty, rng):
    for _ in range(10):
        coef = allowed(penalty, rng.normal(size=(3, 2)))
        slope = 0.5 * feasible(penalty, rng, coef)
        error = 10.0 ** rng.uniform(-8, -1, size=(3, 2)) * penalty.penalized[:, None]
        bound = penalty.mismatch_error(coef, slope, error)
        for _ in range(20):
            wrong = slope + error * rng.uniform(-1, 1, size=(3, 2))
            grown = penalty.mismatch(coef, wrong) - penalty.mismatch(coef, slope)
            assert grown <= bound * (1 + 1e-9) + 1e-12


def test_no_error_is_no_blur(penalty, rng):
    coef = allowed(penalty, rng.normal(size=(3, 2)))
    assert penalty.mismatch_error(coef, feasible(penalty, rng, coef), np.zeros((3, 2))) == 0.0


def test_conjugate_is_infinite_where_an_unpenalized_column_has_a_slope(penalty):
    if not np.all(penalty.penalized):
        assert penalty.conjugate(np.ones((3, 1))) == INF


def test_slack_vanishes_at_the_gradient_of_moving_columns(penalty, rng):
    coef = allowed(penalty, rng.normal(size=(3, 2)))
    slack = penalty.slack(coef, -penalty.gradient(coef))
    np.testing.assert_allclose(slack[penalty.moving(coef)], 0.0, atol=1e-15)


def test_slack_is_the_distance_to_the_nearest_subgradient(penalty, rng):
    """|g - s| for the nearest s: found by bisection over what makes the prox stay where it is."""
    coef = allowed(penalty, rng.normal(size=(3, 1)))
    gradient = rng.normal(size=(3, 1))
    slack = penalty.slack(coef, gradient)
    for sign in (-1.0, 1.0):
        stays = penalty.prox(coef - (gradient + sign * slack), np.ones(3))
        touched = np.isclose(stays, coef, atol=1e-12)
        other = np.isclose(penalty.prox(coef - (gradient - sign * slack), np.ones(3)), coef, atol=1e-12)
        assert np.all(touched | other)
    short = (
        penalty.prox(coef - (gradient + 0.9 * slack), np.ones(3)),
        penalty.prox(coef - (gradient - 0.9 * slack), np.ones(3)),
    )
    moved = ~np.isclose(short[0], coef, atol=1e-12) & ~np.isclose(short[1], coef, atol=1e-12)
    assert np.all(moved | (slack < 1e-9))


def test_rescaled_costs_the_same(penalty, rng):
    coef, scale = allowed(penalty, rng.normal(size=(3, 2))), np.array([2.0, 0.125, 32.0])
    other = penalty.rescaled(scale)
    assert other.value(coef * scale[:, None]) == pytest.approx(penalty.value(coef))
    np.testing.assert_array_equal(other.penalized, penalty.penalized)


@where(lambda penalty: not has_a_strength(penalty))
def test_what_has_no_strength_cannot_change_it(penalty):
    with pytest.raises(InputError, match="strength"):
        penalty.at(1.0)


@where(has_a_strength)
def test_critical_strength_is_where_zero_begins_to_be_optimal(penalty, rng):
    """Zero minimises g.b + penalty(b) iff -g is in the subdifferential at zero."""
    for _ in range(20):
        gradient = rng.normal(size=(3, 2))
        critical = penalty.critical(gradient)
        zero = np.zeros((3, 2))
        if np.isfinite(critical):
            enough = penalty.at(critical * (1.0 + 1e-12))
            seen = enough.penalized
            np.testing.assert_array_equal(enough.slack(zero, gradient)[seen], 0.0)
            less = penalty.at(critical * (1.0 - 1e-9))
            assert critical == 0.0 or np.any(less.slack(zero, gradient)[seen] > 0.0)
        else:
            strong = penalty.at(1e12)
            outside = strong.value(zero) == INF
            assert outside or np.any(strong.slack(zero, gradient)[strong.penalized] > 0.0)


@where(lambda penalty: has_a_strength(penalty) and not penalty.smooth)
def test_columns_enter_below_their_own_strength(penalty, rng):
    """The largest of the strengths at which columns may stay zero is the critical one, where there is one."""
    for _ in range(20):
        gradient = rng.normal(size=(3, 2)) * (penalty.rate > 0.0)[:, None]
        critical = penalty.critical(gradient)
        if np.isfinite(critical):
            assert np.max(penalty.entry_strengths(gradient)) == pytest.approx(critical, rel=1e-14)


def test_costs_per_coefficient_say_what_the_penalty_says(penalty, rng):
    """The form that sweeps take is the penalty itself: value, mismatch, its error, and where no derivative exists."""
    for outputs in (1, 2):
        if (costs := penalty.costs(outputs)) is None:
            continue
        seen = penalty.penalized
        coef = allowed(penalty, rng.normal(size=(3, outputs)))
        slope = feasible(penalty, rng, coef)
        error = 1e-3 * np.abs(slope)
        own = costs.columns(seen)
        assert costs.columns().inside(coef)
        np.testing.assert_array_equal(costs.columns().resting(coef), ~penalty.moving(coef))
        assert own.value(coef[seen]).sum() == pytest.approx(penalty.value(coef), rel=1e-14)
        assert own.mismatch(coef[seen], slope[seen]).sum() == pytest.approx(
            penalty.mismatch(coef, slope), rel=1e-12, abs=1e-14
        )
        if np.isfinite(bound := penalty.mismatch_error(coef, slope, error)):
            assert own.mismatch_error(coef[seen], slope[seen], error[seen]).sum() >= bound * (1.0 - 1e-12)


def test_a_part_costs_what_its_columns_cost(penalty, rng):
    coef, few = allowed(penalty, rng.normal(size=(3, 2))), np.array([0, 2])
    rest = np.where(np.isin(np.arange(3), few)[:, None], coef, 0.0)
    if np.isfinite(whole := penalty.value(rest)):
        assert penalty.take(few).value(coef[few]) == pytest.approx(whole)


def test_without_a_column_nothing_costs_more(penalty, rng):
    coef, weak = allowed(penalty, rng.normal(size=(3, 2))), np.array([False, True, False])
    lighter = penalty.without(weak)
    assert lighter.value(coef) <= penalty.value(coef)
    assert lighter.bounds == penalty.bounds or lighter.penalized[1] or not penalty.penalized[1]
    assert lighter.without_bounds().penalized[1] == False  # noqa: E712  (a numpy bool)


@where(has_a_strength)
def test_at_changes_the_strength_and_nothing_else(penalty):
    plain = penalty.without_bounds()
    again = penalty.at(plain.strength).to_dict()
    np.testing.assert_equal(again, penalty.to_dict())
    coef = allowed(penalty, np.full((3, 1), 0.1))
    assert penalty.at(2.0 * plain.strength).value(coef) == pytest.approx(2.0 * penalty.value(coef))


def test_group_with_one_output_is_the_lasso(rng):
    group, lasso = Group(0.7, CHARGES), L1(0.7, CHARGES)
    coef, step, gradient = rng.normal(size=(3, 1)), rng.uniform(0.1, 2.0, size=3), 0.3 * rng.normal(size=(3, 1))
    gradient[0] = 0.0
    np.testing.assert_allclose(group.prox(coef, step), lasso.prox(coef, step), atol=1e-15)
    assert group.value(coef) == pytest.approx(lasso.value(coef))
    assert group.mismatch(coef, gradient) == pytest.approx(lasso.mismatch(coef, gradient))
    assert group.critical(gradient) == pytest.approx(lasso.critical(gradient))
    np.testing.assert_allclose(group.slack(coef, gradient), lasso.slack(coef, gradient), atol=1e-15)


@pytest.mark.parametrize("strength", [-1.0, np.nan, INF])
@pytest.mark.parametrize("kind", STRONG)
def test_strengths_must_be_finite_and_not_negative(kind, strength):
    with pytest.raises(InputError, match="strength"):
        kind.example(np.ones(2)).at(strength)


@pytest.mark.parametrize("kind", STRONG)
@pytest.mark.parametrize("factor", [-1.0, np.nan, INF])
def test_penalty_factors_must_be_finite_and_not_negative(kind, factor):
    with pytest.raises(InputError, match="penalty factors"):
        kind.example(np.array([1.0, factor]))


@pytest.mark.parametrize("ratio", [-0.1, 1.1, np.nan])
def test_the_ratio_lies_between_ridge_and_lasso(ratio):
    with pytest.raises(InputError, match="l1_ratio"):
        ElasticNet(1.0, ratio, np.ones(2))


def test_bounds_decline_in_words():
    with pytest.raises(InputError, match="joint prox"):
        Bounds(np.zeros(2), np.ones(2), Group(1.0, np.ones(2)))
    with pytest.raises(InputError, match="shape"):
        Bounds(np.zeros(3), np.ones(2), NoPenalty(2))
    with pytest.raises(InputError, match="lower"):
        Bounds(np.array([np.nan, 0.0]), np.ones(2), NoPenalty(2))
    with pytest.raises(InputError, match="upper"):
        Bounds(np.zeros(2), np.array([1.0, -INF]), NoPenalty(2))


def test_bounds_that_exclude_each_other_are_named():
    assert Bounds(np.array([0.0, 2.0]), np.array([1.0, 1.0]), NoPenalty(2)).conflicts().tolist() == [1]
