"""The oracle itself: its optima against other means, and that it refutes what is false."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import lineal

from . import chosen, stationary, tables
from .boundaries import better, nearest
from .doors import Case, ask, claim_of
from .halves import ask as ask_halves
from .infinity import falls_for_ever, largest
from .judge import judge, truth
from .losses import VALUES, Loss
from .minimum import minimise
from .problem import Penalty, exact, pose

FREE = Penalty.of("none", 3, {}, None)


def rows(seed: int, n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, 2)).round(2)
    return x, x @ [1.0, -0.5] + draw.standard_t(3, size=n).round(2)


def start(columns: int = 3, outputs: int = 1) -> list:
    return exact(np.zeros((columns, outputs)))


def solved(a: list[list[Fraction]], b: list[Fraction]) -> list[Fraction] | None:
    """Solve three equations by Cramer's rule."""

    def det(m: list[list[Fraction]]) -> Fraction:
        (a, b, c), (d, e, f), (g, h, i) = m
        return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)

    whole = det(a)
    if whole == 0:
        return None
    return [det([[b[i] if k == j else a[i][k] for k in range(3)] for i in range(3)]) / whole for j in range(3)]


def fractions(x: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(1), *(Fraction(float(v)) for v in row)] for row in x]


@pytest.mark.parametrize("far", [0.0, 1.5e15])
def test_least_squares_agree_with_fractions(far: float) -> None:
    x, y = rows(0)
    x = x + far
    whole, targets = fractions(x), [Fraction(float(v)) for v in y]
    normal = [[sum(row[i] * row[j] for row in whole) for j in range(3)] for i in range(3)]
    b = solved(normal, [sum(row[i] * t for row, t in zip(whole, targets, strict=True)) for i in range(3)])
    assert b is not None
    best = sum(
        (sum(v * w for v, w in zip(row, b, strict=True)) - t) ** 2 for row, t in zip(whole, targets, strict=True)
    )
    found = minimise(pose(x, y, Loss("squared", 1), FREE, intercept=True), start())
    assert found.settled
    assert float(found.value) == pytest.approx(float(best / (2 * len(y))), rel=1e-15)


@pytest.mark.parametrize("q", [0.5, 0.2])
def test_quantiles_agree_with_every_vertex(q: float) -> None:
    x, y = rows(1, 9)
    whole, targets = fractions(x), [Fraction(float(v)) for v in y]
    share, values = Fraction(q), []
    for three in itertools.combinations(range(len(y)), 3):
        b = solved([whole[i] for i in three], [targets[i] for i in three])
        if b is not None:
            r = [sum(v * w for v, w in zip(row, b, strict=True)) - t for row, t in zip(whole, targets, strict=True)]
            values.append(sum(max(-share * v, (1 - share) * v) for v in r) / len(y))
    found = minimise(pose(x, y, Loss("quantile", 1, q=q), FREE, intercept=True), start())
    assert float(found.value) - float(min(values)) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "penalty"),
    [(name, "elastic") for name in sorted(set(VALUES) - {"huber-scale"})]
    + [(name, penalty) for name in ("logistic", "quantile") for penalty in ("none", "ridge", "l1", "group", "bounds")],
)
def test_no_step_away_from_the_minimum_is_lower(name: str, penalty: str) -> None:
    draw = np.random.default_rng(2)
    k = 3 if name in ("softmax", "crammer-singer", "sparsemax") else 1
    x, y = rows(2)
    y = np.abs(y.round()) if name == "poisson" else y
    y = np.arange(12) * 5 % 7 % (3 if k == 3 else 2) if name in CLASSES else y
    fields = {"strength": 0.1, "l1_ratio": 0.4}
    bounds = ([-math.inf, -0.1, 0.0], [math.inf, 0.2, math.inf]) if penalty == "bounds" else (None, None)
    cost = Penalty.of("none" if penalty == "bounds" else penalty, 3, fields, [0.0, 1.0, 0.5], *bounds)
    problem = pose(x, y, Loss(name, k, q=0.3, epsilon=0.2), cost, intercept=True)
    found = minimise(problem, start(3, k), fine=1e-20, seconds=600)
    assert found.settled
    b = np.array([[float(v) for v in row] for row in found.coef])
    for size in (1e-1, 1e-3, 1e-6):
        for _ in range(4):
            other = b + size * draw.normal(size=b.shape)
            if bounds[0] is not None:
                other = np.clip(other, np.array(bounds[0])[:, None], np.array(bounds[1])[:, None])
            assert float(problem.value(exact(other)) - found.value) >= -1e-19


CLASSES = ("logistic", "hinge", "squared-hinge", "softmax", "crammer-singer", "sparsemax")


def test_the_simplex_method_knows_a_corner() -> None:
    assert largest([[1, 1], [-1, 2]], [0, 1], [1, 1]) is False  # only the origin
    assert largest([[1, -1], [-1, 2]], [0, 1], [1, 1]) is True


def test_a_recession_is_seen() -> None:
    x = (4e15 + np.arange(8.0))[:, None]
    two = Penalty.of("none", 2, {}, None)
    for y, truth_ in ((np.arange(8) > 3, True), (np.arange(8) % 2, False)):
        assert falls_for_ever(pose(x, np.asarray(y, int), Loss("logistic", 1), two, intercept=True)) is truth_


# ---------------------------------------------------------------- a false claim is refuted


def logistic() -> Case:
    x, y = rows(3, 30)
    return Case("LogisticRegression", {}, x, (y > 0.3).astype(int))


def families(claim: object) -> set[str]:
    return {violation.family for violation in judge(claim)}


def test_an_honest_claim_is_left_alone() -> None:
    (claim,), _ = ask(logistic())
    assert families(claim) == set()


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6])
def test_moved_coefficients_are_refuted(size: float) -> None:
    (claim,), _ = ask(logistic())
    assert "gap" in families(replace(claim, coef=claim.coef + size))


@pytest.mark.parametrize(
    ("change", "family"),
    [
        ({"objective": 0.1}, "objective"),
        ({"null_objective": 9.0}, "null"),
        ({"lower_bound": 2.0}, "lower bound"),
        ({"radius": 0.0}, "radius"),
    ],
)
def test_false_figures_are_refuted(change: dict, family: str) -> None:
    (claim,), _ = ask(logistic())
    verdict = replace(claim.verdict, evidence={**claim.verdict.evidence, **change})
    assert family in families(replace(claim, verdict=verdict))


def test_a_wide_gap_is_not_optimal() -> None:
    (claim,), _ = ask(logistic())
    assert "cap" in families(replace(claim, verdict=replace(claim.verdict, gap=0.5)))
    moved = replace(claim, coef=claim.coef + 0.5, verdict=replace(claim.verdict, gap=9.0))
    assert "tolerance" in families(moved)


def test_a_false_dependency_and_a_false_direction_are_refuted() -> None:
    (claim,), _ = ask(logistic())
    stated = {**claim.verdict.evidence, "dependencies": [{"x0": 1.0, "x1": -1.0}]}
    assert "dependency" in families(replace(claim, verdict=replace(claim.verdict, kind="not_unique", evidence=stated)))
    away = replace(claim.verdict, kind="at_infinity", gap=None, evidence={"direction": {"x0": 1}})
    assert "direction" in families(replace(claim, verdict=away))


def test_truth_is_the_same_from_any_start() -> None:
    (claim,), _ = ask(logistic())
    a, b = truth(claim), truth(replace(claim, coef=claim.coef * -3.0))
    assert float(a.best.value - b.best.value) == pytest.approx(0.0, abs=1e-60)


def test_a_false_answer_about_separability_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case("separability", {}, np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]))
    answer, violations = ask_halves(case)
    assert not violations
    monkeypatch.setattr(lineal, "separability", lambda *_, **__: replace(answer, kind="quasi"))
    assert [violation.family for violation in ask_halves(case)[1]] == ["separability"]


def test_only_places_that_may_move_are_put_inside_bounds() -> None:
    """The scale has a bound; the score has no coefficient on its column, where one would be an intercept."""
    x, y = rows(4)
    claim = ask(Case("HuberRegressor", {"alpha": 0.1, "fit_intercept": False}, x, y))[0][0]
    found = truth(claim)
    assert [float(row[0]) for row in found.best.coef][-1] == 0.0
    assert judge(claim, found) == []


def test_the_null_fit_of_corners_moves_all_unpenalized_columns() -> None:
    x, y = rows(5)
    penalty = Penalty.of("ridge", 3, {"strength": 0.1}, [0.0, 0.0, 1.0])
    assert pose(x, y, Loss("absolute", 1), penalty, intercept=True).null_columns() == [0, 1]


# ---------------------------------------------------------------- the fronts beside the doors


def test_the_least_number_of_mistakes_is_that_of_every_choice_of_rows() -> None:
    z = [[1, 0], [1, 1], [-1, -2], [-1, -3]]  # x = 0 and 1 of the second class, 2 and 3 of the first
    assert better(z, [True] * 4, [Fraction(1)] * 4, Fraction(5)) == 0
    crossed = [[1, 0], [-1, -1], [1, 2], [-1, -3]]  # the classes alternate
    assert better(crossed, [True] * 4, [Fraction(1)] * 4, Fraction(5)) == 1
    assert better(crossed, [True] * 4, [Fraction(1)] * 4, Fraction(1)) is None


def test_the_nearest_point_of_a_hull() -> None:
    assert nearest([[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]]) == 2  # between two points
    assert nearest([[Fraction(1), Fraction(1)], [Fraction(3), Fraction(1)]]) == 2  # a corner
    assert nearest([[Fraction(1), Fraction(0)], [Fraction(-1), Fraction(0)]]) == 0  # through the origin


def test_a_false_slope_is_refuted() -> None:
    case = stationary.drawn(1, 0, "firth", plain=True)
    model = lineal.fit(case.X, case.y, weight=case.weight, offset=case.offset, **case.params)
    claim = claim_of(model, case, model.verdict, None)
    total = stationary._total(case)
    assert stationary._firth(claim, total) == []
    moved = replace(claim, coef=claim.coef + 1e-3)
    assert {violation.family for violation in stationary._firth(moved, total)} >= {"slope", "stationary"}


def test_a_false_choice_is_refuted() -> None:
    assert chosen._least("alpha_", np.array([1.0, 2.0, 0.5]), 0.5) == []
    assert [violation.family for violation in chosen._least("alpha_", np.array([1.0, 2.0, 0.5]), 1.0)] == ["choice"]


def test_a_file_is_read_in_several_blocks_from_the_disk() -> None:
    case = tables.drawn(1, 0, "file", plain=True)
    tables.ask(case)
    assert case.blocks
    assert min(case.blocks) > 1
