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
import scipy.sparse

import lineal
from lineal import container
from lineal.cli import run
from lineal.verify import Refused, verify
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


@pytest.mark.parametrize("units", [(1e-6, 1.0, 1e6), (1e-3, 1.0, 1.0), (1e8, 1.0, 1e-8)])
@pytest.mark.parametrize("params", [{}, {"fit_intercept": False}])
def test_the_evidence_has_no_slope_in_columns_of_any_units(units: tuple[float, ...], params: dict) -> None:
    """Eigenvalues below 1e-13 of the largest were taken for zero, whatever their column: a false ``stationary``."""
    draw = np.random.default_rng(3)
    x = draw.normal(size=(25, 3)) * units
    case = Case("BayesianRidge", params, x, x @ (1.0 / np.array(units)) + draw.normal(size=25))
    outcomes = stationary.ask(case)
    assert outcomes[0].kind == "stationary"
    assert refuted(outcomes) == [], case.code


def test_the_evidence_of_whole_numbers_far_from_zero() -> None:
    """Their scatter has two digits in double-double: the determinant, and the stated evidence, had no more."""
    draw = np.random.default_rng(4)
    x = np.column_stack([4e15 + draw.permutation(25.0 * np.arange(20)), draw.normal(size=20)])
    case = Case("BayesianRidge", {}, x, x[:, 1] + draw.normal(size=20))
    assert refuted(stationary.ask(case)[:1]) == [], case.code


@pytest.mark.parametrize("far", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("apart", [1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-14])
@pytest.mark.parametrize("params", [{}, {"fit_intercept": False}])
def test_the_evidence_has_no_slope_in_columns_near_multiples(far: float, apart: float, params: dict) -> None:
    """The gram was rounded to doubles: its least eigenvalue lost its digits, or was zero and least squares used it."""
    draw = np.random.default_rng([int(far), round(-10 * np.log10(apart))])
    one = far + draw.normal(size=15)
    x = np.column_stack([one, -3.0 * one * (1.0 + apart * draw.normal(size=15)), draw.normal(size=15)])
    case = Case("BayesianRidge", params, x, x[:, 2] + draw.normal(size=15))
    outcomes = stationary.ask(case)
    assert outcomes[0].kind == "stationary" or apart * far > 1e-3 > 10 * apart, outcomes[0].sentence
    assert refuted(outcomes[:1]) == [], case.code


def test_a_slope_below_rounding_is_not_claimed() -> None:
    """The target is met exactly, at a precision that makes any error of its residuals large."""
    draw = np.random.default_rng(7)
    x = draw.normal(size=(5, 4))
    case = Case("BayesianRidge", {}, x, 1e9 * draw.normal(size=5))
    outcomes = stationary.ask(case)
    assert outcomes[0].kind == "budget"
    assert "rounding hides how small the slope is" in outcomes[0].sentence
    assert refuted(outcomes[:1]) == [], case.code


def _table(folder: Path, apart: float, weight: float) -> Path:
    draw = np.random.default_rng(8)
    one = draw.normal(size=15)
    x = np.column_stack([one, -3.0 * one * (1.0 + apart * draw.normal(size=15)), draw.normal(size=15)])
    rows = np.column_stack([x, x[:, 2] + draw.normal(size=15), np.full(15, weight)]).tolist()
    path = folder / "d.csv"
    path.write_text("\n".join(["a,b,c,y,w", *(",".join(map(repr, row)) for row in rows)]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("apart", [1e-1, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_checker_confirms_the_evidence_of_near_columns(apart: float, intercept: bool, tmp_path: Path) -> None:
    """Fit and checker find the slope with digits of their own, and agree."""
    path = _table(tmp_path, apart, 1.0)
    model = lineal.fit(path, "y", model="bayes", drop=["w"], intercept=intercept)
    model.save(tmp_path / "m.lineal")
    assert model.verdict.kind == "stationary"
    assert verify(tmp_path / "m.lineal", path).passed


def test_the_checker_refuses_a_slope_that_hides_behind_the_weights(tmp_path: Path) -> None:
    """It allowed 1e-11 of the sum of the weights, here ten times the tolerance, and confirmed a slope of 5e-6."""
    path = _table(tmp_path, 0.1, 1e6 / 15)
    model = lineal.fit(path, "y", model="bayes", weight="w")
    assert model.verdict.kind == "stationary"
    model.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", path).passed
    meta, arrays = container.read(tmp_path / "m.lineal")
    found = meta["verdict"]["evidence"]
    for name in (
        "noise",
        "prior",
    ):  # the ridge stays; the slope by the noise grows by half the sum of the weights times that
        found[name] *= 1.0 + 1e-11
    container.write(tmp_path / "m.lineal", meta, arrays)
    with pytest.raises(Refused, match="the slope is within the tolerance, rounding included"):
        verify(tmp_path / "m.lineal", path)


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


def test_a_slope_that_rounding_hides_is_a_bound() -> None:
    """Weights of 1e10 on two rows of four: the residual of an exact fit is rounding, and the slope was stated without it."""
    draw = np.random.default_rng(7)
    weight = np.array([1e-3, 0.1, 7e9, 6e10])
    case = Case("fit", {"model": "bayes"}, draw.normal(size=(4, 5)), 3e8 * draw.normal(size=4), weight=weight)
    outcomes = stationary.ask(case)
    assert outcomes[0].kind == "budget"
    assert refuted(outcomes) == [], case.code


@pytest.mark.parametrize("far", [1e5, 1e10, 1.7e18])
def test_the_slope_of_a_firth_fit_far_from_zero(far: float) -> None:
    """Time stamps: the information was singular but for rounding, and the stated slope some percent off."""
    draw = np.random.default_rng(5)
    x = np.column_stack([far + max(far * 1e-5, 1.0) * np.arange(40.0), draw.normal(size=40)])
    y = (0.1 * np.arange(40.0) - 2.0 + x[:, 1] + draw.logistic(size=40) > 0.0).astype(int)
    case = Case("fit", {"model": "logistic", "penalty": "firth"}, x, y)
    outcomes = stationary.ask(case)
    assert outcomes[0].kind == "stationary"
    assert refuted(outcomes) == [], case.code


def test_the_profiles_of_a_firth_fit_do_not_depend_on_the_origin(tmp_path: Path) -> None:
    draw = np.random.default_rng(6)
    x = np.column_stack([np.arange(30.0), draw.integers(-3, 4, size=30)])
    y = (0.2 * x[:, 0] - 3.0 + x[:, 1] + 2.0 * draw.logistic(size=30) > 0.0).astype(int)
    rows = []
    for far in (0.0, 2.0**30):
        table = {"a": x[:, 0] + far, "b": x[:, 1], "y": y}
        model = lineal.fit(table, "y", penalty="firth", test=None)
        rows.append(lineal.summarise(model, table).rows)
        path = tmp_path / "t.csv"
        np.savetxt(path, np.column_stack(list(table.values())), "%.17g", ",", header="a,b,y", comments="")
        model.save(tmp_path / "m.lineal")
        assert verify(tmp_path / "m.lineal", path).passed
    for one, other in zip(rows[0][1:], rows[1][1:], strict=True):
        assert (other.estimate, other.error, other.p) == pytest.approx((one.estimate, one.error, one.p), rel=1e-5)
        assert (other.lower, other.upper) == pytest.approx((one.lower, one.upper), rel=1e-5)


def test_an_offset_below_a_unit_of_the_intercept_is_counted() -> None:
    """An intercept of 1.7e18 has steps of 256, so that an offset of 30 is lost in it: 450 more than the stated gap."""
    stamps = 1.7e18 + 6e10 * np.array([0.0, 5.0, 41.0, 90.0, 108.0, 130.0, 140.0, 147.0, 170.0, 199.0])
    case = Case(
        "fit",
        {"model": "bayes"},
        scipy.sparse.csr_array(stamps[:, None]),
        stamps - stamps[0],
        offset=np.full(10, -30.0),
    )
    assert refuted(stationary.ask(case)) == [], case.code


def test_a_column_with_an_unseen_charge_may_spare_the_penalty_factors_of_others() -> None:
    """Three rows, and a column of 7e19 whose penalty factor is below the last digit of its square: it meets them at no cost."""
    x = [[1914548.6614163276, 7.104691942271105e19, -22.877260611298556]]
    x += [[1357933.9856901364, 7.104691942367226e19, 8.321263945470779]]
    x += [[252171.3409410356, 7.10469194256365e19, 29.47363121781878]]
    y, offset = np.array([-2.55344, -1.46883, 2.14164]), np.array([0.58909, 0.27617, -0.78502])
    params = {"alpha_1": 0.01215, "lambda_2": 0.0034}
    case = Case("BayesianRidge", params, scipy.sparse.csr_array(np.array(x)), y, offset=offset)
    assert refuted(stationary.ask(case)) == [], case.code


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


@pytest.mark.parametrize("apart", [1e-10, 1e-11, 1e-12, 1e-13])
@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_of_as_many_near_columns_as_rows(apart: float, seed: int) -> None:
    """Residuals of least squares that came out at -300 were made 0, and what the columns explain was not: 1e-8 of all."""
    draw = np.random.default_rng([seed, round(-math.log10(apart))])
    x = draw.normal(size=(4, 4))
    x[:, 2] = x[:, 0] + apart * draw.normal(size=4)
    case = Case("fit", {"model": "bayes", "intercept": False}, x, 1e6 + 3.0 * draw.normal(size=4))
    assert refuted(stationary.ask(case)[:1]) == [], case.code


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


@pytest.mark.parametrize("params", [{}, {"fit_intercept": False}])
@pytest.mark.parametrize("seed", range(4))
def test_the_evidence_of_wild_weights(params: dict, seed: int) -> None:
    """Weights that sum to 1e12: rounding the noise to a double makes a slope of 1e-4, which counts per 1e7 of weight."""
    draw = np.random.default_rng([seed, 12])
    x = draw.normal(size=(20, 3))
    weight = 10.0 ** draw.uniform(-12.0, 12.0, size=20)
    case = Case("BayesianRidge", params, x, x[:, 0] + draw.normal(size=20), weight)
    outcomes = stationary.ask(case)
    assert outcomes[0].kind == "stationary", outcomes[0].sentence
    assert refuted(outcomes) == [], case.code


def test_the_evidence_of_wild_weights_is_verified(tmp_path: Path) -> None:
    """And a noise off by 1e-6, for which every figure was made again, is not."""
    draw = np.random.default_rng(5)
    x, weight = draw.normal(size=(30, 2)), 10.0 ** draw.uniform(-8.0, 12.0, size=30)
    rows = np.column_stack([x, x[:, 0] + draw.normal(size=30), weight])
    lines = [",".join(repr(float(v)) for v in row) for row in rows]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y,w", *lines]) + "\n")
    model = lineal.fit(tmp_path / "t.csv", target="y", model="bayes", weight="w", test_size=0)
    assert model.verdict.kind == "stationary"
    model.save(tmp_path / "m.lineal")
    verify(tmp_path / "m.lineal", tmp_path / "t.csv")
    meta, arrays = container.read(tmp_path / "m.lineal")
    evidence = meta["verdict"]["evidence"]
    evidence["noise"], evidence["prior"] = evidence["noise"] * (1 + 1e-6), evidence["prior"] * (1 + 1e-6)
    container.write(tmp_path / "forged.lineal", meta, arrays)
    with pytest.raises(Refused):
        verify(tmp_path / "forged.lineal", tmp_path / "t.csv")


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
