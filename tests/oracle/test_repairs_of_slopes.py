"""The evidence of a ridge and Firth's likelihood where their slopes were not what the attack found them to be."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import lineal
from lineal import container
from lineal.verify import Refused, verify

from . import stationary
from .doors import Case
from .test_repairs import refuted


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


@pytest.mark.parametrize("apart", [1e-10, 1e-11, 1e-12, 1e-13])
@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_of_as_many_near_columns_as_rows(apart: float, seed: int) -> None:
    """Residuals of least squares that came out at -300 were made 0, and what the columns explain was not: 1e-8 of all."""
    draw = np.random.default_rng([seed, round(-math.log10(apart))])
    x = draw.normal(size=(4, 4))
    x[:, 2] = x[:, 0] + apart * draw.normal(size=4)
    case = Case("fit", {"model": "bayes", "intercept": False}, x, 1e6 + 3.0 * draw.normal(size=4))
    assert refuted(stationary.ask(case)[:1]) == [], case.code


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
