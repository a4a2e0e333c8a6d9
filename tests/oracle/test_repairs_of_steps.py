"""Repairs of fits that lost their way: centers that are kept, steps that crept."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal.problem import problem
from lineal.solvers.solver import Goal

from . import doors, stationary
from .doors import Case
from .outcome import of_claims
from .test_repairs import refuted


@pytest.mark.parametrize("far", [1e9, 1e12, 4e15])
def test_bayesian_ridge_keeps_a_center(far: float) -> None:
    """Its coefficients had too few digits beside columns far from zero; spread and mean are those of the columns near it."""
    draw = np.random.default_rng(6)
    near = np.column_stack([draw.permutation(20.0 * np.arange(20)), np.round(16.0 * draw.normal(size=20)) / 16.0])
    y = 0.1 * near[:, 0] + near[:, 1] + draw.normal(size=20)
    case = Case("BayesianRidge", {}, near + np.array([far, 0.0]), y)
    outcomes = stationary.ask(case)
    assert outcomes[0].kind == "stationary", outcomes[0].sentence
    assert refuted(outcomes) == [], case.code
    there, here = lineal.BayesianRidge().fit(case.X, y), lineal.BayesianRidge().fit(near, y)
    for mine, plain in zip(there.predict(case.X, return_std=True), here.predict(near, return_std=True), strict=True):
        assert mine == pytest.approx(plain, rel=1e-6)


SEPARABLE = [
    ("SparsemaxClassifier", {"C": float("inf")}),
    ("SparsemaxClassifier", {"C": float("inf"), "l1_ratio": 1.0}),
    ("LinearSVC", {"C": float("inf"), "multi_class": "crammer_singer", "loss": "hinge"}),
    ("fit", {"model": "squared-hinge", "penalty": "none"}),
    ("fit", {"model": "svm", "penalty": "none"}),
]


@pytest.mark.parametrize(("door", "params"), SEPARABLE)
@pytest.mark.parametrize("seed", range(4))
def test_separated_classes_of_wild_weights_are_fitted_without_loss(door: str, params: dict, seed: int) -> None:
    """Two thousand Newton steps took 20 s to get nowhere: rows of weight 1e-10 pull no harder than rounding does."""
    draw = np.random.default_rng([seed, 44])
    x, weight = draw.normal(size=(30, 2)) * np.array([1e3, 0.3]), 10.0 ** draw.uniform(-12.0, 12.0, size=30)
    number = np.argsort(np.argsort(x[:, 0]))
    case = Case(door, params, x, number // (15 if "hinge" in str(params.get("model")) else 10), weight)
    (claim,), _ = doors.ask(case)
    assert claim.verdict.kind == "optimal", claim.verdict.sentence
    assert claim.verdict.evidence["objective"] <= claim.verdict.gap  # far out, there is no loss
    if door != "fit":
        steps = len(getattr(lineal, door)(**params).fit(x, case.y, sample_weight=weight).trace_)
        assert steps <= 66


def test_a_weak_lasso_of_separated_classes_comes_to_its_end() -> None:
    """Sweeps ended on a slope that the penalty alone makes, five hundred times, each as far again as the one before."""
    case = doors.drawn(33, 103)
    model = lineal.LinearSVC(**case.params).fit(case.X, case.y, sample_weight=case.weight)
    assert model.verdict_.kind == "optimal", model.verdict_.sentence
    assert len(model.trace_) < 100


@pytest.mark.parametrize("index", [654, 2, 7])
def test_a_climb_of_a_penalized_likelihood_that_creeps_is_ended(index: int) -> None:
    """A thousand steps of forty halvings each: weights of 1e12 beside 1e-9 hide what the light rows ask for."""
    case = stationary.drawn(42, index, None if index == 654 else "firth")
    model = lineal.fit(case.X, case.y, weight=case.weight, offset=case.offset, **case.params)
    assert len(model.trace) < 100


def test_a_null_fit_in_the_dust_of_far_columns_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred walks, to and fro, since rounding of scores lets F rise as often as fall: 17,000 passes over four rows."""
    case = doors.drawn(3301, 104)
    passes = 0

    def counted(self: object, *args: object, **more: object) -> object:
        nonlocal passes
        passes += 1
        return evaluate(self, *args, **more)

    evaluate = problem.Problem.evaluate
    monkeypatch.setattr(problem.Problem, "evaluate", counted)
    lineal.fit(case.X, case.y, **case.params)
    assert passes < 4000


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1.0, float("inf")])
@pytest.mark.parametrize("far", [1e12, 3e15])
def test_every_member_of_several_classes_keeps_its_center(loss: str, C: float, far: float) -> None:
    """Only two classes did: the coefficients of members had too few digits beside columns far from zero."""
    draw = np.random.default_rng(7)
    near = np.column_stack([draw.permutation(np.arange(30.0)) / 2.0, np.round(8.0 * draw.normal(size=30)) / 8.0])
    y = np.digitize(near[:, 0] + 4.0 * draw.normal(size=30), [5.0, 10.0])
    there = lineal.LinearSVC(loss=loss, C=C).fit(near + np.array([far, 0.0]), y)
    here = lineal.LinearSVC(loss=loss, C=C).fit(near, y)
    assert [verdict.kind for verdict in there.verdicts_] == ["optimal"] * 3, there.verdict_.sentence
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-6)
    scores = there.decision_function(near + np.array([far, 0.0]))
    if loss == "squared_hinge":  # whose optimum is one point
        assert scores == pytest.approx(here.decision_function(near), abs=1e-3)
    side = 2.0 * (y[:, None] == np.arange(3)) - 1.0
    lost = np.maximum(0.0, 1.0 - side * scores) ** (2 if loss == "squared_hinge" else 1) / (2 if "sq" in loss else 1)
    ridge = sum(model.penalty.value(model.coef) for model in there.models_)
    assert float(np.sum(np.mean(lost, axis=0))) + ridge == pytest.approx(there.objective_, rel=1e-9)
    assert np.array_equal(there.predict(near + np.array([far, 0.0])), np.argmax(scores, axis=1))


@pytest.mark.parametrize("mean", [0.0, 1e13])
@pytest.mark.parametrize("seed", range(3))
def test_a_scale_of_a_constant_is_not_sought(mean: float, seed: int) -> None:
    """An intercept that meets y but for rounding: twenty-four fits of 2,000 steps each, that moved coefficients by 1e-28."""
    draw = np.random.default_rng([seed, 12])
    x = draw.normal(size=(21, 3)) * [1e-5, 1e-4, 1e8] + [mean, 0.0, 0.0]
    weight, offset = draw.integers(1, 5, size=21).astype(float), np.full(21, -30.0)
    case = Case("HuberRegressor", {"alpha": 0.47, "scale": None}, x, np.full(21, 0.1), weight, offset)
    found = lineal.HuberRegressor(**case.params).fit(x, case.y, sample_weight=weight, offset=offset)
    assert found.verdict_.kind == "optimal"
    assert found.n_iter_ < 300
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code


def test_steps_that_bring_nothing_end_where_nothing_is_to_gain() -> None:
    """The stop rule measured a hundred steps by what there is to gain, and beside nothing any fall of F is large."""
    nothing = Goal(1e-8, 1e-6, baseline=0.0)
    assert nothing.negligible(1e-30) == pytest.approx(1e-34)
    assert nothing.negligible(-1e-30) > 0.0
    assert Goal(1e-8, 1e-6, baseline=3.0).negligible(1.0) == pytest.approx(2e-9)


@pytest.mark.parametrize("size", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("classes", [2, 3])
def test_steps_do_not_grow_with_offsets(size: float, classes: int) -> None:
    """Without an intercept and with hardly a penalty no row bends, and steps moved scores by 50: 2000 of them ended nowhere."""
    x, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([0, 1, 0, classes - 1])
    y = np.append(y, 1)
    x = np.vstack([x, [1.0, 1.0]])
    offset = np.full(5, -size) if classes == 2 else size * np.array([[1.0, -0.5, 0.25]] * 5)
    case = Case("LogisticRegression", {"C": 1e8, "fit_intercept": False}, x, y, offset=offset)
    ((claim,), _) = doors.ask(case)
    assert claim.verdict.kind == "optimal", claim.verdict.sentence
    assert refuted(of_claims(case, [claim])) == [], case.code
    assert len(lineal.LogisticRegression(**case.params).fit(x, y, offset=offset).trace_) <= 60


@pytest.mark.parametrize("alpha", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("far", [1e6, 1e9])
def test_a_gap_of_huber_with_scale_counts_as_nothing_only_beside_what_there_is_to_gain(
    alpha: float, far: float
) -> None:
    """Up to 64 last digits of the objective it did whatever there was to gain, and the sentence blamed the scores."""
    draw = np.random.default_rng(8)
    x = draw.normal(size=(18, 5))
    y = far + x @ np.arange(5.0) + draw.normal(size=18)
    model = lineal.HuberRegressor(alpha=alpha, fit_intercept=False).fit(x, y)
    verdict = model.verdict_
    gain = verdict.evidence["null_objective"] - verdict.evidence["lower_bound"]
    if verdict.kind == "optimal":
        assert verdict.gap <= 1e-6 * gain or gain <= 256 * np.finfo(float).eps * verdict.evidence["null_objective"]
    else:
        assert "the columns gain at most" in verdict.reason


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_a_start_that_overflows_is_left_for_the_null_fit(seed: int) -> None:
    """Exponentials of an offset of 1e4 beside a weight of 1e12: the second derivative was infinite, and LAPACK gave up."""
    draw = np.random.default_rng(seed)
    x, y = draw.normal(size=(12, 2)), draw.poisson(2.0, size=12).astype(float)
    weight, offset = np.ones(12), np.zeros(12)
    weight[draw.integers(12)], offset[0] = 1e12, 1e4
    case = Case("PoissonRegressor", {"alpha": 0.0}, x, y, weight, offset)
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code
