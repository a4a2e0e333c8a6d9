"""The checker's own formulas of losses and penalties, and the gaps it proves, against plain definitions."""

from __future__ import annotations

from dataclasses import replace
from inspect import isabstract

import numpy as np
import pytest

from lineal import losses
from lineal.verify import verify
from lineal.verify.losses import ALL, BY_NAME
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Point, Problem
from lineal.verify.problem.penalties import Penalty
from lineal.verify.proof.baseline import baseline_objective
from lineal.verify.proof.bound import bound
from tests.laws.mutations import engine

KNOWN = [loss.name for loss in ALL if not isabstract(loss)]
"""Losses that the checker has formulas for; it counts the mistakes of the others."""


def rows_of(loss: str, seed: int, n: int = 60):
    """Return the specification, targets by number, targets as the checker has them, and scores with many ties."""
    draw = np.random.default_rng(seed)
    example = losses.by_name()[loss].examples()[0]
    spec, k = {"name": loss, **example.parameters()}, example.outputs
    eta = np.where(draw.random((n, k)) < 0.5, draw.normal(size=(n, k)) * 2, draw.integers(-2, 3, size=(n, k)) * 0.5)
    if example.of_classes():
        y = draw.integers(0, max(k, 2), size=(n, 1)).astype(float)
        return spec, y, np.eye(k)[y[:, 0].astype(int)] if k > 1 else y, eta
    y = (
        draw.integers(0, 4, size=(n, 1)).astype(float)
        if example.targets == "counts"
        else draw.integers(-3, 4, (n, 1)) * 0.5
    )
    return spec, y, y, eta


def problem_of(loss: str, y: np.ndarray) -> Problem:
    n = len(y)
    parameter = next(iter(losses.by_name()[loss].examples()[0].parameters().values()), 0.0)
    none = Penalty.ridge(np.zeros(1))
    return Problem(
        BY_NAME[loss], np.ones((n, 1)), y, np.full(n, 1 / n), np.zeros((n, 1)), none, True, np.arange(n), parameter
    )


@pytest.mark.parametrize("loss", KNOWN)
def test_values_are_those_of_the_document(loss):
    spec, plain, y, eta = rows_of(loss, 1)
    found = problem_of(loss, y).at_scores(eta).value
    expected = [engine.loss_of(spec, target, row.tolist()) for target, row in zip(plain, eta, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("loss", KNOWN)
def test_slopes_and_curvatures_are_derivatives(loss):
    _, _, y, eta = rows_of(loss, 2)
    eta = eta + 0.01 * np.random.default_rng(0).normal(size=eta.shape)  # away from the corners
    problem, step = problem_of(loss, y), 1e-6
    rows = problem.at_scores(eta)
    for k in range(eta.shape[1]):
        move = step * np.eye(eta.shape[1])[k]
        up, down = problem.at_scores(eta + move), problem.at_scores(eta - move)
        np.testing.assert_allclose(rows.slope[:, k], (up.value - down.value) / (2 * step), atol=1e-7)
        if not BY_NAME[loss].cornered:
            unit = np.tile(np.eye(eta.shape[1])[k], (len(eta), 1))
            np.testing.assert_allclose(rows.curved(unit), (up.slope - down.slope) / (2 * step), atol=1e-7)
            np.testing.assert_allclose(rows.curved(unit)[:, k], rows.weight[:, k], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("loss", KNOWN)
@pytest.mark.parametrize("kappa", [0.0, 1e-3, 0.2])
def test_the_cost_of_a_dual_point_is_what_weak_duality_needs(loss, kappa):
    """loss(c) - theta.c >= loss(eta) - theta.eta - cost for all scores c, and for every theta within kappa; and no less."""
    _, _, y, eta = rows_of(loss, 3, n=40)
    draw = np.random.default_rng(4)
    problem = problem_of(loss, y)
    rows = problem.at_scores(eta)
    step = 0.3 * draw.normal(size=eta.shape)
    duals = rows.duals([0.0 * step, step])
    if BY_NAME[loss].cornered:
        duals += rows.duals([step], draw.normal(size=eta.shape))
    duals += [dual.shrunk(0.6) for dual in duals]
    duals += [eased for dual in duals[:1] for eased in dual.eased()]
    others = [eta + size * draw.normal(size=eta.shape) for size in (1e-3, 0.1, 1.0, 10.0) for _ in range(60)]
    others += [y + 0.25 * j + 0.0 * eta for j in range(-12, 13)]
    values = [problem.at_scores(other).value for other in others]
    assert len(duals) >= 4
    for dual in duals:
        cost = dual.cost(kappa)
        inside = np.isfinite(cost)
        assert inside.any()
        assert np.all(cost >= 0.0)
        worst = np.full(len(eta), -np.inf)
        for _ in range(1 if kappa == 0.0 else 6):
            theta = dual.theta - dual.bend(kappa * np.sign(draw.normal(size=eta.shape)))
            moved = np.abs(theta - dual.theta)
            assert np.all(moved[inside] <= (kappa * dual.sway + 1e-15)[inside])
            here = rows.value - np.sum(theta * eta, axis=1)
            for other, value in zip(others, values, strict=True):
                worst = np.maximum(worst, here - (value - np.sum(theta * other, axis=1)))
        assert np.all(worst[inside] <= cost[inside] + 1e-12)
        if (
            kappa == 0.0 and eta.shape[1] == 1
        ):  # scores were tried densely enough to see that no more is penalized than needed
            assert np.median(cost[inside] - worst[inside]) <= 0.05


def penalty_of(kind: str) -> Penalty:
    inf = np.inf
    linear, square = np.array([0.3, 0.0, 0.5, 0.0, 0.2]), np.array([0.0, 0.7, 0.2, 0.0, 0.1])
    none = np.zeros(5)
    return {
        "l1": Penalty(np.array([0.3, 0.6, 0.5, 0.4, 0.2]), none, none - inf, none + inf),
        "elastic": Penalty(linear + 0.1, square, none - inf, none + inf),
        "group": Penalty(np.array([0.3, 0.6, 0.5, 0.4, 0.2]), none, none - inf, none + inf, group=True),
        "bounds": Penalty(linear, square, np.array([0.0, -1.0, -inf, -2.0, 0.5]), np.array([inf, inf, 1.0, 2.0, 0.5])),
    }[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["l1", "elastic", "group", "bounds"])
def test_the_cost_of_a_penalty_is_what_weak_duality_needs(kind):
    """penalty(c) + g.c >= penalty(b) + g.b - mismatch for all c within bounds, and for every g within e; and no less."""
    penalty_factors, draw = penalty_of(kind), np.random.default_rng(7)
    every = np.ones((5, 2), dtype=bool)
    finite = 0
    for size in (0.0, 1e-3, 0.05):
        for _ in range(200):
            b = np.clip(draw.normal(size=(5, 2)) * draw.choice([0.0, 1.0], size=(5, 2)), *edges(penalty_factors))
            g, e = draw.normal(size=(5, 2)) * 0.4, np.full((5, 2), size)
            scale = penalty_factors.shrink(g, e, every)
            g = g * scale * (1 - 1e-12)
            found = penalty_factors.mismatch(b, g, e, every)
            assert found >= 0.0
            if not np.isfinite(found):
                assert penalty_factors.open(g, e).any() or scale == 0.0 or size > 0.0
                continue
            finite += 1
            worst = -np.inf
            for _ in range(60):
                off = g + size * np.sign(draw.normal(size=g.shape))
                c = np.clip(
                    draw.normal(size=(5, 2)) * draw.choice([0.0, 1.0, 3.0], size=(5, 2)), *edges(penalty_factors)
                )
                worst = max(
                    worst, cost(penalty_factors, b) + np.sum(off * b) - cost(penalty_factors, c) - np.sum(off * c)
                )
            assert found >= worst - 1e-12
    assert finite > 100


def edges(penalty_factors: Penalty) -> tuple[np.ndarray, np.ndarray]:
    return penalty_factors.lower[:, None], penalty_factors.upper[:, None]


def cost(penalty_factors: Penalty, b: np.ndarray) -> float:
    size = np.sqrt(np.sum(b**2, axis=1)) if penalty_factors.group else np.abs(b).sum(axis=1)
    return float(penalty_factors.linear @ size + 0.5 * penalty_factors.square @ (b**2).sum(axis=1))


def test_the_cost_of_a_coefficient_at_its_best_is_zero():
    penalty_factors = penalty_of("l1")
    b = np.array([[1.0], [-2.0], [0.0], [0.5], [0.0]])
    g = -penalty_factors.linear[:, None] * np.array([[1.0], [-1.0], [0.3], [1.0], [-1.0]])
    assert penalty_factors.mismatch(b, g, np.zeros_like(g), np.ones_like(g, dtype=bool)) == 0.0
    assert penalty_factors.mismatch(b, 1.01 * g, np.zeros_like(g), np.ones_like(g, dtype=bool)) == np.inf


def point_of(case: engine.Case) -> Point:
    """Return what the checker makes of a case, by its own parser of claims."""
    from lineal.verify.claims.model import take_apart

    claims = take_apart(case.meta, case.arrays)
    x, y, q, o = engine.table_of(case)
    y = np.eye(claims.outputs)[y[:, 0].astype(int)] if claims.loss.coupled else y
    seen = q > 0
    theta = claims.arrays.get("theta")
    problem = Problem(claims.loss, x[seen], y[seen], q[seen], o[seen][:, None], claims.penalty, True,
    np.flatnonzero(seen),
                      claims.parameter, None if theta is None else theta[seen])  # fmt: skip
    return problem.at(claims.coef)


def cornered(loss: str) -> bool:
    return BY_NAME[engine.LOSSES[loss].name].cornered


PAIRS = [(loss, penalty) for loss in engine.LOSSES for penalty in engine.PENALTIES if loss != "crammer-singer"
         and (not cornered(loss) or penalty in ("none", "ridge", "l1", "l1 with free columns", "elastic"))]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "penalty"), PAIRS)
def test_fits_of_the_engine_are_confirmed_and_gaps_are_sound(loss, penalty, tmp_path):
    """For all coefficients b and c, F(b) - F(c) <= gap(b): also for altered b and altered dual points."""
    weighted = (len(loss) + len(penalty)) % 2 == 0
    case = engine.fitted(loss, penalty, weighted=weighted, seed=len(penalty))
    assert verify(*case.write(tmp_path)).passed
    point = point_of(case)
    best = engine.objective_of(case, point.coef)
    assert abs(point.objective - best) <= point.allowance
    assert bound(point, point.problem.unpenalized).gap <= 2e-6 * abs(best)
    draw = np.random.default_rng(1)
    penalty_factors, proven = point.problem.penalty, 0
    for size in (1e-4, 1e-2, 0.5):
        coef = np.clip(point.coef + size * draw.normal(size=point.coef.shape), *edges(penalty_factors))
        theta = point.problem.theta
        theta = None if theta is None else theta + size * draw.normal(size=theta.shape)
        there = replace(point.problem, theta=theta).at(coef)
        try:
            found = bound(there, point.problem.unpenalized).gap
        except NotProvenError:
            continue
        proven += 1
        assert found >= engine.objective_of(case, coef) - best - 1e-14 * abs(best)
    assert proven >= 1


@pytest.mark.slow
@pytest.mark.parametrize("loss", engine.LOSSES)
@pytest.mark.parametrize("penalty", ["none", "l1", "bounds that exclude zero"])
def test_the_null_fit_cannot_be_improved_by_its_columns(loss, penalty):
    """Best over the intercept: no other constant is better, and F there is what is stated."""
    case = engine.fitted("squared" if loss not in engine.NUMBERS else loss, "ridge", weighted=True)  # for its rows only
    draw = np.random.default_rng(0)
    case.meta["loss"] = engine.LOSSES[loss].to_dict()
    engine.retarget(case, draw)
    spec, arrays = engine.spelled(engine.PENALTIES[penalty])
    case.meta["penalty"], case.arrays = spec, {"coef": np.zeros((5, engine.LOSSES[loss].outputs)), **arrays}
    problem = point_of(case).problem
    found = baseline_objective(problem)
    rest = np.zeros((5, problem.outputs)) if cornered(loss) else np.clip(case.arrays["coef"], *edges(problem.penalty))
    columns = problem.unpenalized if len(problem.unpenalized) < 5 and not cornered(loss) else np.array([0])
    if problem.penalty.within(rest):
        for _ in range(50):
            other = rest.copy()
            other[columns] = draw.normal(size=(len(columns), problem.outputs)) * draw.choice([0.1, 1.0])
            if loss != "crammer-singer":
                assert engine.objective_of(case, other) >= found - 1e-9 * abs(found)


def test_a_loss_without_slopes_has_flat_parts():
    for loss in ALL:
        assert loss.flat or not loss.cornered
        assert not (loss.flat and loss.likelihood)


def test_the_checker_and_the_losses_say_the_same():
    """The checker's catalogue is written once more; what both state has to agree."""
    for loss in ALL:
        twin = losses.by_name()[loss.name]
        assert twin.parameter_names() == (() if loss.field is None else (loss.field,))
        assert twin.targets.replace("counts", "numbers") == loss.targets
        assert (twin.unbounded, twin.likelihood, twin.logit) == (loss.unbounded, loss.likelihood, loss.logit)
        assert twin.remedies == loss.remedies
        for columns, strict in ((1, 3), (2, 3), (1, 5), (2, 5)):
            if loss.unbounded:
                assert twin.examples()[0].at_infinity(columns, strict, 5) == loss.escape(columns, strict, 5)
        for classes in (2, 3):
            assert twin.outputs_for(classes) in (0, loss.outputs_for(classes) if twin.of_classes() else 0)
