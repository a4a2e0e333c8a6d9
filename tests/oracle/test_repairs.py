"""What the attack found and was repaired, each as small as it gets; the oracle says what is true."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import flint
import numpy as np
import numpy.typing as npt
import pytest

import lineal
from lineal.cli import run
from lineal.verify.losses import BY_NAME
from lineal.verify.problem.formulas import Problem
from lineal.verify.problem.penalties import Penalty
from lineal.verify.proof.baseline import baseline_objective

from . import boundaries, chosen, doors, several, stationary
from .doors import Case
from .losses import ZERO
from .minimum import minimise
from .outcome import of_claims
from .problem import BITS


def refuted(outcomes: list) -> list:
    """Return everything that is false in what a case ended with."""
    return [violation for outcome in outcomes for violation in outcome.judge()]


def test_a_path_whose_products_underflow_ends() -> None:
    """Both targets are within epsilon of a constant: the interior point met them exactly and divided by zero."""
    x = np.array([[-0.2976665794849396, 0.9301523566246033], [-1.195794701576233, 0.4903726279735565]])
    x = np.column_stack([x, [-1.4634597301483154, -0.1148022711277008], [-1.4634597301483154, -0.1148022711277008]])
    model = lineal.LinearSVR(C=31.284683632320466, epsilon=1.0).fit(x.astype(np.float32), np.array([3.0, 3.0]))
    assert model.verdict_.kind == "optimal"
    assert model.objective_ == 0.0


@pytest.mark.parametrize("twist", ["far", "units", "zeros"])
def test_left_out_errors_are_those_of_fits_without_the_row(twist: str) -> None:
    """The mean of a column near 4e15 is rounded, and eigenvalues of small columns were taken for zero."""
    draw = np.random.default_rng(5)
    x = draw.normal(size=(20, 3))
    weight = np.r_[np.zeros(3), draw.uniform(0.5, 2.0, size=17)] if twist == "zeros" else None
    if twist == "far":
        x[:, 0] = 4e15 + draw.permutation(np.r_[3.0, np.arange(1.0, 20.0)])  # whose mean is no double
    elif twist == "units":
        x *= (1e-7, 1.0, 1e7)
    y = np.arange(20.0) % 7 + draw.normal(size=20)
    case = Case("RidgeCV", {"alphas": [1e-3, 10.0], "store_cv_results": True}, x, y, weight)
    assert refuted(chosen.ask(case)[1:2]) == [], case.code


@pytest.mark.parametrize("model", ["logistic", "svm", "sparsemax"])
@pytest.mark.parametrize("table", [True, False])
def test_one_offset_a_row_is_that_of_every_class(model: str, table: bool) -> None:
    """The scores of all classes move alike, so the fit is that without it; softmax ended in an exception from the core."""
    draw = np.random.default_rng(6)
    x, y, offset = draw.normal(size=(30, 2)), draw.integers(0, 3, size=30), draw.normal(size=30)
    given = {"model": model, "penalty": "ridge:0.1"}
    columns = {"a": x[:, 0], "b": x[:, 1], "o": offset, "y": [f"class {k}" for k in y]}
    moved = lineal.fit(columns, "y", offset="o", **given) if table else lineal.fit(x, y, offset=offset, **given)
    plain = lineal.fit(columns, "y", drop=["o"], **given) if table else lineal.fit(x, y, **given)
    assert moved.verdict.kind == plain.verdict.kind == "optimal"
    first, second = (found.verdict.evidence["objective"] for found in (moved, plain))
    assert first == pytest.approx(second, abs=moved.verdict.gap + plain.verdict.gap + 1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 7, 13])
def test_the_null_fit_of_sparsemax_with_offsets_far_apart(seed: int) -> None:
    """Where no row bends, steps were as short as if all did, and two hundred of them were not enough: 0.3 % short."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(20, 40))
    y = draw.integers(0, 3, size=rows)
    offset = draw.uniform(-1000.0, 1000.0, size=(rows, 3))
    case = Case("SparsemaxClassifier", {}, draw.normal(size=(rows, 1)), y, None, offset)
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code


@pytest.mark.parametrize("door", ["Ridge", "BayesianRidge", "LogisticRegression"])
@pytest.mark.parametrize("offset", [-1.0, 30.0, 0.1])
@pytest.mark.parametrize("mean", [0.0, 1e6, 1e10, 1e13])
def test_a_gap_counts_every_rounding_of_the_intercept(door: str, offset: float, mean: float) -> None:
    """The intercept was rounded twice, about a center and beside offsets, and the second rounding not counted."""
    for seed in range(6):
        draw = np.random.default_rng([seed, round(mean)])
        x = np.column_stack([mean + draw.permutation(np.arange(12.0)), draw.normal(size=(12, 2))])
        y = (1e-8 if seed % 2 else 1.0) * draw.normal(size=12)
        y = (y > 0.0) * 1.0 if door == "LogisticRegression" else y
        case = Case(door, {}, x, y, offset=np.full(12, offset))
        asked = stationary.ask(case) if door == "BayesianRidge" else of_claims(case, doors.ask(case)[0])
        assert refuted(asked) == [], case.code


def far_integers(base: float, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return whole numbers far from zero beside a column of noise, classes split between two of them."""
    draw = np.random.default_rng(seed)
    whole = draw.permutation(np.arange(22))
    return np.column_stack([base + whole.astype(np.float64), draw.normal(size=22)]), (whole > 10).astype(np.int64)


def test_no_margin_is_stated_that_is_below_zero() -> None:
    """Integers at 4e15: the rounded separator of length one mistakes rows, and gamma = -1e-14 was called the maximum."""
    x, y = far_integers(4e15, 2)
    with pytest.raises(lineal.InputError, match="Subtract a constant"):
        lineal.maximum_margin(x, y)
    assert lineal.Perceptron().fit(x, y).verdict_.kind == "separated"
    assert lineal.maximum_margin(x - [4e15, 0.0], y).gamma > 0.0


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_margin_that_is_stated_far_from_zero_is_reached(seed: int) -> None:
    """In fractions: no row is nearer to the boundary than gamma."""
    x, y = far_integers(1.5e15, seed)
    found = lineal.maximum_margin(x, y)
    w = [Fraction(float(value)) for value in np.ravel(found.coef)]
    rows = [[1, *map(Fraction, map(float, row))] for row in x]
    least = min(
        (1 if k else -1) * sum(a * b for a, b in zip(w, row, strict=True)) for row, k in zip(rows, y, strict=True)
    )
    squared = sum(a * a for a in w[1:])
    assert 0 < found.gamma <= found.upper
    assert Fraction(found.gamma) ** 2 * squared <= least**2
    assert least > 0


@pytest.mark.parametrize("seed", range(4))
def test_whoever_states_no_margin_is_not_refused_one(seed: int) -> None:
    """The fewest mistakes and the oracle's weights look for wide margins on the way: a poor one is theirs to judge."""
    draw = np.random.default_rng(seed)
    x = np.column_stack([1.5e15 + draw.permutation(np.arange(14.0)), draw.normal(size=14)])
    y = (x[:, 0] > 1.5e15 + 6.0).astype(int)
    for door, params in (("zero_one", {"intercept": True}), ("Perceptron", {"fit_intercept": True})):
        y = np.where(np.arange(14) == seed, 1 - y, y) if door == "zero_one" else (x[:, 0] > 1.5e15 + 6.0).astype(int)
        case = Case(door, params, x, y)
        assert refuted(boundaries.ask(case)) == [], case.code


def test_the_margin_of_far_columns_is_refused_in_a_sentence_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x, y = far_integers(4e15, 2)
    rows = [f"{row[0]:.0f},{row[1]!r},{'ab'[k]}\n" for row, k in zip(x.tolist(), y, strict=True)]
    (tmp_path / "t.csv").write_text("t,z,y\n" + "".join(rows))
    assert run(["separable", str(tmp_path / "t.csv"), "--target", "y"]) == 0
    assert run(["separable", str(tmp_path / "t.csv"), "--target", "y", "--bound"]) == 2
    assert "Subtract a constant from the columns" in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("classes", [3, 4, 5])
def test_the_null_fit_hears_rows_of_hardly_any_weight(seed: int, classes: int) -> None:
    """A row of weight 1e-10 pulls less than the last digit of F shows, and was not followed to where others object."""
    draw = np.random.default_rng([seed, classes])
    x = np.repeat(draw.normal(size=(1, 2)), classes, axis=0)
    weight, offset = 10.0 ** draw.uniform(-6, 10, size=classes), 30.0 * draw.uniform(-1.0, 1.0, size=(classes, 1))
    offset = offset * (0.5 + np.arange(classes))
    case = Case("SparsemaxClassifier", {"C": 1e3}, x, np.arange(classes), weight, offset)
    (claim,), _ = doors.ask(case)
    with flint.ctx.workprec(BITS):
        null = claim.problem.only(claim.problem.null_columns())
        true = float(minimise(null, [[ZERO] * classes for _ in range(null.columns)], fine=1e-24, seconds=20.0).value)
    assert claim.verdict.evidence["null_objective"] == pytest.approx(true, rel=1e-9, abs=0.0), case.code
    rows = Problem(
        BY_NAME["sparsemax"], np.column_stack([np.ones(classes), x]), np.eye(classes), weight / weight.sum(), offset,
        Penalty.ridge(np.array([0.0, 1.0, 1.0])), intercept=True, numbers=np.arange(classes), weight=weight,
    )  # fmt: skip
    assert baseline_objective(rows) == pytest.approx(true, rel=1e-9, abs=0.0), case.code


def test_nothing_to_gain_is_measured_by_what_the_weights_leave() -> None:
    """Weights of 1e-11 beside 1e10 leave a loss of 1e-15, and errors of scores that count by their weight as well."""
    x = np.repeat([[-506068999.607166, -49577.13937441504]], 3, axis=0)
    weight = np.array([4.844885110565039e-07, 20943460280.860825, 6.643977704255982e-11])
    params = {"loss": "log_loss", "alpha": 0.00032931058717576843, "max_iter": 20}
    case = Case("SGDClassifier", params, x, np.arange(3), weight)
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code


@pytest.mark.parametrize("ratio", [1e3, 1e5, 1e7, 1e9])
@pytest.mark.parametrize("shape", [(4, 4), (12, 5), (30, 3)])
@pytest.mark.parametrize("dependent", [False, True])
def test_huber_far_below_its_residuals_is_proven(ratio: float, shape: tuple[int, int], *, dependent: bool) -> None:
    """No row bends: thousands of Newton steps led nowhere, where thresholds that fall and walks along slopes do."""
    draw = np.random.default_rng([shape[0], dependent])
    x = np.round(8.0 * draw.normal(size=shape)) / 8.0
    x[:, 0] = x[:, 1] + x[:, 2] if dependent else x[:, 0]
    y = ratio * (x @ draw.normal(size=shape[1]) + draw.standard_t(2.0, size=shape[0]))
    case = Case("HuberRegressor", {"alpha": 0.0, "scale": 1.0, "max_iter": None}, x, y)
    ((claim,), _) = doors.ask(case)
    assert claim.verdict.kind in ("optimal", "not_unique"), claim.verdict.sentence
    assert refuted(of_claims(case, [claim])) == [], case.code


def test_a_margin_is_known_where_rounding_is_not_small_beside_it() -> None:
    """Scores of time stamps: their rounding was taken off the margin, half a percent of it, and is not in it."""
    x = 1.7e18 + 1e6 * np.array([34.0, 40.0, 57.0, 96.0, 104.0, 132.0, 143.0, 190.0])[:, None]
    y = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    case = Case("Perceptron", {"variant": "pocket", "bound": True, "tie": "positive", "fit_intercept": True}, x, y)
    assert refuted(boundaries.ask(case)) == [], case.code
    found = lineal.maximum_margin(x, y, augmented=True)
    middle = Fraction(float(x[3, 0] + x[4, 0])) / 2
    assert abs(found.gamma * float(middle) / 4e6 - 1.0) < 1e-4  # the weights of length 1 are doubles, and so few digits
    assert found.gamma <= found.upper


def test_every_ending_has_its_reason() -> None:
    """A fit that was proven before its coefficients were made those of least norm ended with no reason at all."""
    near = np.array(
        [
            [0.6417251262159712, -0.14221964929354905],
            [0.11999430001778152, 0.08964797587748637],
            [0.6417251262159712, -0.14221964929354905],
            [0.6417251262159712, -0.14221964929354905],
            [0.6417251262159712, -0.14221964929354905],
            [0.6417251262159712, -0.14221964929354905],
            [0.6417251262159712, -0.14221964929354905],
        ]
    )
    stamps = 1.7e18 + np.array([24999936.0, 22000128.0, *[24999936.0] * 5])
    y = np.array(
        [
            3.5043918442560877,
            -0.4739168246727523,
            1.6312098328027815,
            0.3295086890754588,
            0.5152063369725772,
            -0.7227542191082704,
            0.8364490168606701,
        ]
    )
    case = Case("fit", {"model": "huber:1.0", "penalty": "none"}, np.column_stack([near, stamps]), y)
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code


@pytest.mark.parametrize("seed", range(12))
def test_a_frame_says_what_it_takes_off_after_rounding(seed: int) -> None:
    """Center and multiple were added and rounded, and scores in the frame were a constant of 1e-10 from those of the columns."""
    draw = np.random.default_rng(seed)
    x = np.array([12371568.0, 17632.0, 2049727.0]) + draw.normal(size=(3, 3))
    case = Case(
        "fit", {"model": "quantile:0.2", "penalty": "none", "bounds": {"x0": (0.05, 0.2)}}, x, draw.normal(size=3)
    )
    case = replace(case, weight=np.array([2.7e6, 2.1e7, 3.1e-6]))
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code


@pytest.mark.parametrize("loss", ["squared", "logistic", "hinge"])
@pytest.mark.parametrize("far", [3e14, 2.1e15, 3.3e18])
def test_a_path_of_columns_far_from_zero_keeps_a_center(loss: str, far: float) -> None:
    """Coefficients of the columns as they are have no digits left: nearly every point ended in ``budget``."""
    draw = np.random.default_rng(9)
    unit = 2.0 ** max(math.ceil(math.log2(far)) - 52, 0)
    x = np.column_stack([far + unit * draw.permutation(20), draw.normal(size=20)])
    score = (x[:, 0] - x[:, 0].mean()) / unit / 5.0 + x[:, 1] + draw.normal(size=20)
    y = score if loss == "squared" else (score > 0.0).astype(int)
    case = Case("path", {"loss": loss, "penalty": "l1", "strengths": 4, "ratio": 0.01}, x, y)
    outcomes = several.ask(case)
    assert {outcome.kind for outcome in outcomes} == {"optimal", "walked"}
    assert refuted(outcomes) == [], case.code


@pytest.mark.parametrize("door", ["LassoCV", "ElasticNetCV", "RidgeCV", "LogisticRegressionCV"])
@pytest.mark.parametrize("far", [1e12, 4e15])
def test_choices_of_a_strength_keep_a_center(door: str, far: float) -> None:
    """Refit and trials had too few digits in coefficients of columns far from zero, and ended in ``budget``."""
    draw = np.random.default_rng(12)
    x = np.column_stack([far + draw.permutation(24), draw.normal(size=24)])
    y = (x[:, 0] - far) / 4.0 + x[:, 1] + draw.normal(size=24)
    folds = [
        (np.arange(0, 24, 2).tolist(), np.arange(1, 24, 2).tolist()),
        (np.arange(1, 24, 2).tolist(), np.arange(0, 24, 2).tolist()),
    ]
    params = {"Cs": [0.01, 1.0], "l1_ratios": (0.0,)} if door == "LogisticRegressionCV" else {"alphas": [0.3, 0.01]}
    params |= {"l1_ratio": 0.5} if door == "ElasticNetCV" else {}
    y = (y > np.median(y)).astype(int) if door == "LogisticRegressionCV" else y
    case = Case(door, {**params, "cv": folds}, x, y)
    outcomes = chosen.ask(case)
    assert outcomes[0].kind == "optimal", outcomes[0].sentence
    if door != "LogisticRegressionCV":  # whose coefficients of every trial are there to be read
        assert {outcome.kind for outcome in outcomes} == {"optimal", "chosen"}
    assert refuted(outcomes) == [], case.code
    near = getattr(lineal, door)(**case.params).fit(x - np.array([far, 0.0]), y)
    there = getattr(lineal, door)(**case.params).fit(x, y)
    np.testing.assert_allclose(there.predict(x), near.predict(x - np.array([far, 0.0])), rtol=1e-5)


@pytest.mark.parametrize("rare", [1e-14, 1e-16, 1e-18])
@pytest.mark.parametrize("classes", [2, 3])
def test_nothing_to_gain_by_an_l1_penalty_is_measured_by_the_null_loss(rare: float, classes: int) -> None:
    """Of a null loss of 1e-15 a gap of half a percent counted as zero: rounding of scores was taken for loss in full."""
    draw = np.random.default_rng([classes, 3])
    x, y = draw.normal(size=(24, 2)) * [1.0, 50.0], np.arange(24) % classes
    weight = np.where(y == 0, 1.0, rare)
    offset = 100.0 * draw.uniform(-1.0, 1.0, size=24 if classes == 2 else (24, classes))
    case = Case("LogisticRegression", {"C": 1e-3, "l1_ratio": 0.5}, x, y, weight, offset)
    assert refuted(of_claims(case, doors.ask(case)[0])) == [], case.code
