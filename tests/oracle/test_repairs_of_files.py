"""Honest files of nasty data that the checker refused, or that were not as honest as they looked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import lineal
from lineal.designs import as_design
from lineal.fitting.stopping import gauged
from lineal.losses import Softmax
from lineal.penalties import NoPenalty
from lineal.problem import problem as core
from lineal.sources.memory import Memory
from lineal.verify.proof.basis import Basis, Part

from . import checked, doors
from .checked import CheckedCase
from .doors import Case
from .outcome import of_claims
from .test_repairs import refuted

LEVELS = np.eye(5)[np.arange(25) % 5][:, :4] + [0.0, -1e6, -4e9, 2e13]
"""Four levels of five, three of them counted from far away."""


def assert_honest(columns: dict[str, Any], params: dict[str, Any], kinds: tuple[str, ...] = ("optimal",)) -> None:
    """The verdict of a table is true, and the checker confirms it."""
    table = {name: np.asarray(values).tolist() for name, values in columns.items()}
    types = {name: "number" for name in table if name.startswith("x")}
    more = {role: name for role, name in (("weight", "w"), ("offset", "o")) if name in table}
    case = CheckedCase("checked", {**params, "types": types, **more}, table, "y")
    outcomes = checked.ask(case)
    assert outcomes[0].kind in kinds, (outcomes[0].sentence, case.code)
    assert refuted(outcomes) == [], case.code


def named(x: np.ndarray, y: Any, **more: Any) -> dict[str, Any]:
    """Return columns by name."""
    return {**{f"x{j}": column for j, column in enumerate(x.T)}, "y": y, **more}


@pytest.mark.slow
def test_a_null_fit_that_is_the_optimum_is_kept_about_a_center() -> None:
    """No coefficients of the columns as they are come near it: it was rounded three times, then the center given up."""
    y = np.random.default_rng(1).normal(size=25) + LEVELS[:, 0]
    assert_honest(named(LEVELS, y), {"model": "huber:1.0", "penalty": "none", "bounds": {"x0": (None, 0.0)}})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "solver"),
    [("huber:1.0", "auto"), ("huber:1.0", "prox-newton"), ("quantile:0.3", "auto"), ("quantile:0.3", "interior-point")],
)
def test_the_null_fit_of_far_columns_is_the_best_one(model: str, solver: str) -> None:
    """Several unpenalized columns far from zero: F of the null fit was twice the least one, in the fit or in the checker."""
    draw = np.random.default_rng(4)
    x = np.column_stack([1e13 + draw.permutation(30), 3e12 + draw.permutation(30), draw.normal(size=30)])
    y = x[:, 0] - 1e13 + 5.0 * draw.normal(size=30) - x[:, 2]
    given = {"model": model, "penalty": "none", "bounds": {"x2": (0.0, None)}}
    case = Case("fit", {**given, "solver": solver}, x, y)
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code
    if solver == "auto":
        assert_honest(named(x, y), given)


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", ["l1:3e-6", "group:3e-6"])
@pytest.mark.parametrize("seed", range(3))
def test_a_weak_kink_beside_large_offsets(penalty: str, intercept: bool, seed: int) -> None:
    """The checker scaled its dual point down for gradients on the edge of what l1 allows, known to 1e-13 of the scores."""
    draw = np.random.default_rng([seed, 19])
    x, offset = draw.normal(size=(22, 3)), draw.uniform(-1000.0, 1000.0, size=22)
    params = {"model": "huber:1.0", "penalty": penalty, "intercept": intercept}
    assert_honest(named(x, np.round(8.0 * x[:, 0]) / 8.0, o=offset), params)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["sparsemax", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_what_every_class_has_of_an_offset_moves_no_intercept(model: str, classes: int) -> None:
    """The level of the offsets, the same for all, came back in every intercept, and the file was refused for their sum."""
    draw = np.random.default_rng(classes)
    x, y = draw.normal(size=(40, 2)), draw.integers(0, classes, size=40)
    columns = named(x, [f"class {k}" for k in y], o=np.full(40, -100.0))
    assert_honest(columns, {"model": model, "penalty": "l1:0.002"})
    if model == "sparsemax" or classes > 2:
        found = lineal.fit(x, y, model=model, penalty="l1:0.002", offset=np.full(40, -100.0))
        assert abs(float(found.coef[0].sum())) < 1e-9


@pytest.mark.slow
def test_an_offset_by_class_moves_intercepts_by_what_they_do_not_share() -> None:
    draw = np.random.default_rng(8)
    x, y = draw.normal(size=(40, 2)), draw.integers(0, 3, size=40)
    offset = np.tile([100.0, 100.1, -57.3], (40, 1))
    case = Case("SparsemaxClassifier", {"C": 2.0}, x, y, None, offset)
    ((claim,), _) = doors.ask(case)
    assert abs(float(claim.coef[0].sum())) < 1e-9
    assert refuted(of_claims(case, [claim])) == [], case.code


def test_coefficients_sum_to_zero_in_columns_of_any_units() -> None:
    """Sums below the last digit of the largest coefficient of another column were left as they are."""
    draw = np.random.default_rng(5)
    x, y = draw.normal(size=(30, 2)) * [1e-7, 1e7], draw.integers(0, 3, size=(30, 1)).astype(float)
    problem = core.Problem.of(Memory(as_design(x, intercept=True), y), Softmax(3), NoPenalty(3))
    coef = gauged(problem, np.array([[1.0, -1.0, 0.0], [1e7, -2e7, 1e7], [3e-8, -1e-8, 1e-8]]))
    assert np.all(np.abs(coef.sum(axis=1)) <= 1e-12 * np.abs(coef).max(axis=1))


@pytest.mark.parametrize("penalty", ["none", "ridge:1e-5", "l1:0.5", "group:0.5"])
def test_rates_far_below_the_last_digit_of_their_counts(penalty: str) -> None:
    """A count of 97 where e^-50 is expected: its dual point is no double, and the checker proved nothing."""
    draw = np.random.default_rng(2)
    x, offset = draw.normal(size=(26, 2)), draw.uniform(-45.0, 15.0, size=26)
    offset[0] = -60.0
    columns = named(x, 50.0 + draw.poisson(40.0, size=26), o=offset)
    assert_honest(columns, {"model": "poisson", "penalty": penalty})


@pytest.mark.slow
@pytest.mark.parametrize("model", ["squared-hinge", "huber:1.0", "quantile:0.5"])
@pytest.mark.parametrize("seed", range(2))
def test_a_fit_that_meets_every_row(model: str, seed: int) -> None:
    """Nothing is left of F, and a gap of rounding alone was refused where the checker's own was smaller."""
    draw = np.random.default_rng([seed, 7])
    x, offset = draw.normal(size=(12, 3)), draw.uniform(-1000.0, 1000.0, size=12)
    score = x[:, 0] - 2.0 * x[:, 1]
    y = np.where(score > 0.0, "yes", "no") if model == "squared-hinge" else 1e6 + score
    params = {"model": model, "penalty": "none", "bounds": {"x2": (0.0, None)}}
    offsets = {"o": offset} if model == "squared-hinge" else {}
    assert_honest(named(x, y, **offsets), params, ("optimal", "not_unique"))


def test_bounds_that_hold_a_time_stamp_off_zero() -> None:
    """The null fit's scores are 1e11 in size: nothing is to gain that is more than their rounding."""
    draw = np.random.default_rng(3)
    x = np.column_stack([1.7e18 + np.cumsum(draw.integers(1, 50, size=20)) * 60e9, draw.normal(size=20)])
    y = np.where(np.arange(20) > 9, "late", "early")
    assert_honest(named(x, y), {"model": "svm", "penalty": "none", "bounds": {"x0": (0.02, 0.06)}})


@pytest.mark.slow
@pytest.mark.parametrize("copies", [1.0, 3.0, -0.25])
@pytest.mark.parametrize("model", ["linear", "huber:1.0", "logistic"])
def test_a_dependency_of_columns_that_are_zero_in_some_rows(copies: float, model: str) -> None:
    """In such a row the checker saw only what rounding left of the weights, and called the columns nearly dependent."""
    draw = np.random.default_rng(6)
    x = np.round(8.0 * draw.normal(size=(24, 4))) / 8.0
    x[::5, 0] = 0.0
    x[:, 3] = copies * x[:, 0]
    y = x[:, 1] + draw.normal(size=24)
    label = np.where(y > 0.0, "yes", "no") if model == "logistic" else y
    assert_honest(named(x, label), {"model": model, "penalty": "none", "intercept": False}, ("not_unique",))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_bounded_column_near_another_leaves_sums_of_zero(seed: int) -> None:
    """The frame took multiples of it off the other one, whose coefficients then summed to what those of the first do."""
    draw = np.random.default_rng([seed, 11])
    x = draw.normal(size=(20, 3))
    x[:, 2] = x[:, 1] + 1e-9 * draw.normal(size=20)
    y = np.argmax(
        np.column_stack([np.zeros(20), x[:, 0], (x[:, 2] - x[:, 1]) * 1e9]) + draw.gumbel(size=(20, 3)), axis=1
    )
    params = {"model": "sparsemax", "penalty": "none", "bounds": {"x1": (0.0, None)}}
    assert_honest(named(x, [f"class {k}" for k in y]), params)


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_rows_that_are_sure_of_their_class_cost_little(scale: float) -> None:
    """What rounding may move in a row of three classes was counted in full, however sure of its class the row is."""
    draw = np.random.default_rng([3, 83])
    x, y = draw.normal(size=(24, 2)) * [scale, 1.0], draw.integers(0, 3, size=24)
    columns = named(x, [f"class {k}" for k in y], w=10.0 ** draw.uniform(-12.0, 10.0, size=24))
    params = {"model": "logistic", "penalty": "none", "bounds": {"x0": (None, 0.0)}, "intercept": False}
    assert_honest(columns, params)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_scores_of_an_intercept_are_hardly_rounded(seed: int) -> None:
    """The checker counted sixteen roundings of a score where there are four, and more than the fit had stated in all."""
    draw = np.random.default_rng([seed, 116])
    x, y = draw.normal(size=(5, 3)), ["c", "b", "b", "a", "c"]
    weight = np.array([3e-5, 1e-3, 3e-9, 1.5e11, 0.65]) * draw.uniform(0.5, 2.0, size=5)
    assert_honest(named(x, y, w=weight), {"model": "svm", "penalty": "l1:3.5"})


@pytest.mark.parametrize("outputs", [2, 3, 5])
def test_how_far_a_dual_point_moves_is_bounded(outputs: int) -> None:
    """By brute force: for gradients at the corners of their bounds that sum to zero over the classes, and reached by some."""
    draw = np.random.default_rng(outputs)
    n = 2
    root = np.kron(np.eye(outputs) - 1.0 / outputs, np.eye(n)) @ draw.normal(size=(outputs * n, outputs * n))
    inverse, size = root @ root.T, 10.0 ** draw.uniform(-6.0, 0.0, size=outputs * n)
    # an inverse that does not see the sum over the outputs
    basis = Basis([], np.zeros((0, 0)), inverse, (n, outputs))
    plain, part = basis.farthest(size), Part(np.arange(n), np.eye(n))
    bound = Basis([part] * outputs, np.zeros((0, 0)), inverse, (n, outputs), balanced=True).farthest(size)
    assert np.all(bound <= plain)
    most = np.zeros(outputs * n)
    for row in range(outputs * n):
        for j in range(n):  # the largest inverse g over the box and the plane, a linear program for each column
            own = inverse[row].reshape(outputs, n)[:, j]
            box = [(-s, s) for s in size.reshape(outputs, n)[:, j]]
            most[row] -= scipy.optimize.linprog(-own, A_eq=np.ones((1, outputs)), b_eq=[0.0], bounds=box).fun
    assert bound == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_variance_of_residuals_that_are_rounding(seed: int) -> None:
    """As many rows as columns: the fit knew that nothing is left, the checker saw what rounded coefficients leave."""
    draw = np.random.default_rng([seed, 54])
    x = draw.integers(-6, 7, size=(6, 5)) + np.array([0.0, 0.0, 1e9, 0.0, 0.0])
    columns = named(x, draw.normal(size=6), w=draw.integers(2, 6, size=6).astype(float))
    assert_honest(columns, {"model": "linear", "penalty": "none"})


def test_a_dual_point_on_equations_that_differ_in_their_last_digits_is_found() -> None:
    """Interior rows hold one number in two columns and 4e15 to 4e15 + 6 in the third: in floats that is one equation."""
    low, high = -0.8203979677492912, -0.3274691969913925
    x = np.column_stack(
        [np.where(np.isin(np.arange(8), (2, 3, 7)), low, high)] * 2 + [4e15 + np.array([1, 5, 3, 4, 6, 2, 0, 7])]
    )
    x[:, 1] *= -1.0397
    y = [0.0, 0.0, -0.3601265491616649, -0.727932213190677, 0.0, 1.6517800506023543, 0.0, 0.0]
    given = {"model": "quantile:0.2", "penalty": "none", "bounds": {"x1": (0.0, None)}, "intercept": False}
    assert_honest(named(x, y, w=[2.0, 4.0, 2.0, 3.0, 4.0, 1.0, 3.0, 1.0]), given)


@pytest.mark.parametrize("labels", [[1, 2, 3], [1.0, 2.0, 3.0], ["a", "b", "c"], [2, 0, 1]])
def test_coefficients_at_infinity_are_called_by_their_class(labels: list[Any], tmp_path: Path) -> None:
    """Estimators counted classes from 0: "x0 / 1" was that of class 2 where classes are called 1, 2 and 3."""
    x = np.arange(12.0)[:, None]
    y = np.array(labels)[np.arange(12) // 4]
    model = lineal.LogisticRegression(C=np.inf).fit(x, y)
    evidence = model.verdict_.evidence
    assert f"x0 / {labels[2]}" in evidence["plus"]
    assert f"x0 / {labels[0]}" in evidence["minus"]
    (tmp_path / "t.csv").write_text("x0,y\n" + "".join(f"{row[0]},{label}\n" for row, label in zip(x, y, strict=True)))
    model.model_.save(tmp_path / "m.lineal")
    assert checked.refusal(tmp_path / "m.lineal", tmp_path / "t.csv") is None


def test_a_gap_of_no_loss_at_all_is_not_held_against_its_last_digit() -> None:
    """F is zero but for rounding: the checker widened its proof by 1e-12 of it, and had no slack but that of F."""
    x = np.array([[1.0, 5.0, 3.0, -1.0], [1.0, 4.0, 3.0, -2.0], [1.0, -2.0, 3.0, -3.0], [-2.0, 2.0, 3.0, 4.0]])
    weight = [1.0, 2.710953060095179, 0.0, 0.5860462198288747]
    given = {"model": "squared-hinge", "penalty": "elastic:0.000159,0.4"}
    y = ["class 1", "class 1", "class 0", "class 1"]
    assert_honest(named(x, y, w=weight, o=[-100.0] * 4), given)


def test_a_newton_step_in_far_columns_without_an_intercept() -> None:
    """Two columns nearly multiples of each other: the checker's dual point had few digits, and it proved four times the gap."""
    near = [1697741.88655975, 1697740.8868564381, 1697742.4373271223, 1697741.9178642854, 1697741.9304585536]
    near += [1697741.8229524442, 1697740.3246456746, 1697739.7560380949, 1697741.7247906898, 1697741.4439070078]
    near += [1697740.4406327312]
    far = [-692857920.8029896, -692857919.4923263, -692857920.8553927, -692857921.1625798, -692857921.2284052]
    far += [-692857920.3332825, -692857919.588444, -692857920.6938889, -692857918.5098768, -692857920.9434803]
    far += [-692857919.9321256]
    third = [0.7657917460624142, 0.9564390986379222, -0.40844366381724057, -0.2960134216690257, 0.5812723864868854]
    third += [-0.7960839226025442, 0.10123612157568106, -0.7888473368987287, 1.300023607531585, 0.48741573719318293]
    third += [1.0117334972793721]
    weight = [2161807193.784143, 8.844702900990159e-09, 81293.70990376006, 8.217678293418704, 29443.260333004353]
    weight += [88796.3041407426, 201227573.38883266, 2437.2929513098456, 36.04903959539554, 4.4387626040694085e-05]
    weight += [48020830.955006495]
    counts = [2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 5.0, 0.0, 1.0]
    columns = named(np.column_stack([near, far, third]), counts, w=weight, o=np.full(11, -100.0))
    assert_honest(columns, {"model": "poisson", "penalty": "group:0.557", "intercept": False})


@pytest.mark.slow
@pytest.mark.parametrize(("model", "classes", "seed"), [("svm", 3, 5), ("svm", 2, 2), ("quantile:0.3", 0, 0)])
def test_the_null_fit_of_near_columns_with_weights_far_apart(model: str, classes: int, seed: int) -> None:
    """It was up to fifteen times too large, in the fit or in the checker; the span of x1 and x1 + d is that of x1 and d."""
    draw = np.random.default_rng([seed, 22])
    x, d = np.round(1024.0 * draw.normal(size=(40, 2))) / 1024.0, np.round(8.0 * draw.normal(size=40)) * 2.0**-23
    weight = 10.0 ** draw.uniform(-10.0, 12.0, size=40)
    if classes:
        y: Any = [f"class {k}" for k in draw.integers(0, classes, size=40)]
    else:
        y = np.round(4.0 * x[:, 1] + 3.0 * draw.normal(size=40))
    params = {"model": model, "penalty": "none", "bounds": {"x0": (0.0, None)}}
    least = []
    for last in (x[:, 1] + d, d):
        columns = named(np.column_stack([x, last]), y, w=weight)
        assert_honest(columns, params, ("optimal", "budget"))
        found = lineal.fit(columns, "y", weight="w", types=dict.fromkeys(("x0", "x1", "x2"), "number"), **params)
        least.append(found.verdict.evidence["null_objective"])
    assert least[0] == pytest.approx(least[1], rel=1e-6)


@pytest.mark.parametrize("seed", [1, 3])
def test_an_unfinished_fit_may_know_no_more_than_that_no_loss_is_below_zero(seed: int) -> None:
    """Far columns without an intercept left softmax a dual point of next to nothing; the checker found a better one."""
    draw = np.random.default_rng([seed, 23])
    x, y = draw.normal(size=(37, 3)) + np.array([0.0, -8e13, -8.9e6]), draw.integers(0, 2, size=37)
    y[2] = 2
    weight = np.where(draw.random(37) < 0.35, 0.0, draw.uniform(0.2, 3.0, size=37))
    weight[2] = 1.8
    columns = named(x, [f"class {k}" for k in y], w=weight)
    assert_honest(columns, {"model": "logistic", "penalty": "group:4e-5", "intercept": False}, ("budget",))


@pytest.mark.parametrize("seed", [3, 28])
def test_rows_beyond_their_corner_lose_nothing_by_rounding(seed: int) -> None:
    """Weights far apart left nothing to gain: optimal, with a gap a hundred times what rounding does to rows at a corner."""
    draw = np.random.default_rng([seed, 24])
    x = draw.normal(size=(9, 3))[draw.integers(0, 9, size=40)]
    y, weight = draw.integers(0, 2, size=40), 10.0 ** draw.uniform(-12.0, 12.0, size=40)
    params = {"model": "svm", "penalty": "none", "bounds": {"x0": (0.0, None)}}
    assert_honest(named(x, [f"class {k}" for k in y], w=weight), params)
    assert lineal.fit(x, y, weight=weight, **params).verdict.gap <= 1e-15
