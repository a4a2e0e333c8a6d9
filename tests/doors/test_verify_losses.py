"""The checker's own formulas of losses and penalties, and the gaps it proves, against plain definitions."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lineal.verify import verify
from lineal.verify.charges import Charges
from lineal.verify.dependence import NotProvenError
from lineal.verify.formulas import CORNERED, FLAT, Point, Problem
from lineal.verify.null import null_objective
from lineal.verify.proof import bound

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from mutations import engine

ONE = ["absolute", "quantile", "huber", "epsilon-insensitive", "squared-epsilon-insensitive", "poisson", "logistic",
       "hinge", "squared-hinge"]  # fmt: skip
MANY = ["softmax", "crammer-singer", "sparsemax"]
PARAMETERS = {"quantile": ("q", 0.3), "huber": ("threshold", 0.7), "epsilon-insensitive": ("epsilon", 0.3),
              "squared-epsilon-insensitive": ("epsilon", 0.3)}  # fmt: skip


def rows_of(loss: str, seed: int, n: int = 60):
    """Return the specification, targets by number, targets as the checker has them, and scores with many ties."""
    draw = np.random.default_rng(seed)
    spec = {"name": loss, **dict([PARAMETERS[loss]] if loss in PARAMETERS else [])}
    k = 3 if loss in MANY else 1
    eta = np.where(draw.random((n, k)) < 0.5, draw.normal(size=(n, k)) * 2, draw.integers(-2, 3, size=(n, k)) * 0.5)
    if loss in MANY:
        y = draw.integers(0, 3, size=(n, 1)).astype(float)
        return spec, y, np.eye(3)[y[:, 0].astype(int)], eta
    if loss in ("logistic", "hinge", "squared-hinge"):
        y = draw.integers(0, 2, size=(n, 1)).astype(float)
    else:
        y = draw.integers(0, 4, size=(n, 1)).astype(float) if loss == "poisson" else draw.integers(-3, 4, (n, 1)) * 0.5
    return spec, y, y, eta


def problem_of(loss: str, y: np.ndarray) -> Problem:
    n = len(y)
    parameter = PARAMETERS.get(loss, ("", 0.0))[1]
    none = Charges.ridge(np.zeros(1))
    return Problem(loss, np.ones((n, 1)), y, np.full(n, 1 / n), np.zeros((n, 1)), none, True, np.arange(n), parameter)


@pytest.mark.parametrize("loss", [*ONE, *MANY])
def test_values_are_those_of_the_document(loss):
    spec, plain, y, eta = rows_of(loss, 1)
    found = problem_of(loss, y).at_scores(eta).value
    expected = [engine.loss_of(spec, target, row.tolist()) for target, row in zip(plain, eta, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("loss", [*ONE, *MANY])
def test_slopes_and_curvatures_are_derivatives(loss):
    _, _, y, eta = rows_of(loss, 2)
    eta = eta + 0.01 * np.random.default_rng(0).normal(size=eta.shape)  # away from the corners
    problem, step = problem_of(loss, y), 1e-6
    rows = problem.at_scores(eta)
    for k in range(eta.shape[1]):
        move = step * np.eye(eta.shape[1])[k]
        up, down = problem.at_scores(eta + move), problem.at_scores(eta - move)
        np.testing.assert_allclose(rows.slope[:, k], (up.value - down.value) / (2 * step), atol=1e-7)
        if loss not in CORNERED:
            unit = np.tile(np.eye(eta.shape[1])[k], (len(eta), 1))
            np.testing.assert_allclose(rows.curved(unit), (up.slope - down.slope) / (2 * step), atol=1e-7)
            np.testing.assert_allclose(rows.curved(unit)[:, k], rows.weight[:, k], atol=1e-12)


@pytest.mark.parametrize("loss", [*ONE, *MANY])
@pytest.mark.parametrize("kappa", [0.0, 1e-3, 0.2])
def test_the_cost_of_a_dual_point_is_what_weak_duality_needs(loss, kappa):
    """loss(c) - theta.c >= loss(eta) - theta.eta - cost for all scores c, and for every theta within kappa; and no less."""
    _, _, y, eta = rows_of(loss, 3, n=40)
    draw = np.random.default_rng(4)
    problem = problem_of(loss, y)
    rows = problem.at_scores(eta)
    step = 0.3 * draw.normal(size=eta.shape)
    duals = rows.duals([0.0 * step, step])
    if loss in CORNERED:
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
        if kappa == 0.0 and loss in ONE:  # scores were tried densely enough to see that no more is charged than needed
            assert np.median(cost[inside] - worst[inside]) <= 0.05


def charges_of(kind: str) -> Charges:
    inf = np.inf
    linear, square = np.array([0.3, 0.0, 0.5, 0.0, 0.2]), np.array([0.0, 0.7, 0.2, 0.0, 0.1])
    none = np.zeros(5)
    return {
        "l1": Charges(np.array([0.3, 0.6, 0.5, 0.4, 0.2]), none, none - inf, none + inf),
        "elastic": Charges(linear + 0.1, square, none - inf, none + inf),
        "group": Charges(np.array([0.3, 0.6, 0.5, 0.4, 0.2]), none, none - inf, none + inf, group=True),
        "bounds": Charges(linear, square, np.array([0.0, -1.0, -inf, -2.0, 0.5]), np.array([inf, inf, 1.0, 2.0, 0.5])),
    }[kind]


@pytest.mark.parametrize("kind", ["l1", "elastic", "group", "bounds"])
def test_the_cost_of_a_penalty_is_what_weak_duality_needs(kind):
    """penalty(c) + g.c >= penalty(b) + g.b - mismatch for all c within bounds, and for every g within e; and no less."""
    charges, draw = charges_of(kind), np.random.default_rng(7)
    every = np.ones((5, 2), dtype=bool)
    finite = 0
    for size in (0.0, 1e-3, 0.05):
        for _ in range(200):
            b = np.clip(draw.normal(size=(5, 2)) * draw.choice([0.0, 1.0], size=(5, 2)), *edges(charges))
            g, e = draw.normal(size=(5, 2)) * 0.4, np.full((5, 2), size)
            scale = charges.shrink(g, e, every)
            g = g * scale * (1 - 1e-12)
            found = charges.mismatch(b, g, e, every)
            assert found >= 0.0
            if not np.isfinite(found):
                assert charges.open(g, e).any() or scale == 0.0 or size > 0.0
                continue
            finite += 1
            worst = -np.inf
            for _ in range(60):
                off = g + size * np.sign(draw.normal(size=g.shape))
                c = np.clip(draw.normal(size=(5, 2)) * draw.choice([0.0, 1.0, 3.0], size=(5, 2)), *edges(charges))
                worst = max(worst, cost(charges, b) + np.sum(off * b) - cost(charges, c) - np.sum(off * c))
            assert found >= worst - 1e-12
    assert finite > 100


def edges(charges: Charges) -> tuple[np.ndarray, np.ndarray]:
    return charges.lower[:, None], charges.upper[:, None]


def cost(charges: Charges, b: np.ndarray) -> float:
    size = np.sqrt(np.sum(b**2, axis=1)) if charges.group else np.abs(b).sum(axis=1)
    return float(charges.linear @ size + 0.5 * charges.square @ (b**2).sum(axis=1))


def test_the_cost_of_a_coefficient_at_its_best_is_zero():
    charges = charges_of("l1")
    b = np.array([[1.0], [-2.0], [0.0], [0.5], [0.0]])
    g = -charges.linear[:, None] * np.array([[1.0], [-1.0], [0.3], [1.0], [-1.0]])
    assert charges.mismatch(b, g, np.zeros_like(g), np.ones_like(g, dtype=bool)) == 0.0
    assert charges.mismatch(b, 1.01 * g, np.zeros_like(g), np.ones_like(g, dtype=bool)) == np.inf


def point_of(case: engine.Case) -> Point:
    """Return what the checker makes of a case, by its own parser of claims."""
    from lineal.verify.claims import take_apart

    claims = take_apart(case.meta, case.arrays)
    x, y, q, o = engine.table_of(case)
    y = np.eye(claims.outputs)[y[:, 0].astype(int)] if claims.loss in MANY else y
    seen = q > 0
    theta = claims.arrays.get("theta")
    problem = Problem(claims.loss, x[seen], y[seen], q[seen], o[seen][:, None], claims.charges, True, np.flatnonzero(seen),
                      claims.parameter, None if theta is None else theta[seen])  # fmt: skip
    return problem.at(claims.coef)


PAIRS = [(loss, penalty) for loss in engine.LOSSES for penalty in engine.PENALTIES if loss != "crammer-singer"
         and (loss not in CORNERED or penalty in ("none", "ridge", "l1", "l1 with free columns", "elastic"))]  # fmt: skip


@pytest.mark.parametrize(("loss", "penalty"), PAIRS)
def test_fits_of_the_engine_are_confirmed_and_gaps_are_sound(loss, penalty, tmp_path):
    """For all coefficients b and c, F(b) - F(c) <= gap(b): also for altered b and altered dual points."""
    weighted = (len(loss) + len(penalty)) % 2 == 0
    case = engine.fitted(loss, penalty, weighted=weighted, seed=len(penalty))
    assert verify(*case.write(tmp_path)).passed
    point = point_of(case)
    best = engine.objective_of(case, point.coef)
    assert abs(point.objective - best) <= point.allowance
    assert bound(point, point.problem.uncharged).gap <= 2e-6 * abs(best)
    draw = np.random.default_rng(1)
    charges, proven = point.problem.charges, 0
    for size in (1e-4, 1e-2, 0.5):
        coef = np.clip(point.coef + size * draw.normal(size=point.coef.shape), *edges(charges))
        theta = point.problem.theta
        theta = None if theta is None else theta + size * draw.normal(size=theta.shape)
        there = replace(point.problem, theta=theta).at(coef)
        try:
            found = bound(there, point.problem.uncharged).gap
        except NotProvenError:
            continue
        proven += 1
        assert found >= engine.objective_of(case, coef) - best - 1e-14 * abs(best)
    assert proven >= 1


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
    found = null_objective(problem)
    rest = np.zeros((5, problem.outputs)) if loss in CORNERED else np.clip(case.arrays["coef"], *edges(problem.charges))
    columns = problem.uncharged if len(problem.uncharged) < 5 and loss not in CORNERED else np.array([0])
    if problem.charges.within(rest):
        for _ in range(50):
            other = rest.copy()
            other[columns] = draw.normal(size=(len(columns), problem.outputs)) * draw.choice([0.1, 1.0])
            if loss != "crammer-singer":
                assert engine.objective_of(case, other) >= found - 1e-9 * abs(found)


def test_losses_without_bends_are_listed_once():
    assert set(CORNERED) < set(FLAT)
    assert not {"squared", "logistic", "softmax", "poisson"} & set(FLAT)
