"""`lineal.fit`: the objective it states is the one it minimises, and everything it reports is what happened."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from sklearn import metrics as peer

import lineal
from lineal.api import dataset as rows_module
from lineal.api import picking
from lineal.api.training import evaluate
from lineal.errors import InputError
from lineal.paths import selection
from lineal.paths.selection import FALLBACK, GRID
from lineal.tables.table import uniform
from lineal.verify import verify

RNG = np.random.default_rng(3)
X = RNG.normal(size=(240, 4)) * [1.0, 30.0, 0.01, 5.0] + [0.0, 100.0, 0.0, -7.0]
SCORE = X @ [0.8, -0.03, 40.0, 0.0] + 3.0 + RNG.logistic(size=240)
TWO = np.where(SCORE > 0, "yes", "no")
THREE = np.digitize(SCORE, [-1.0, 1.5])
NUMBER = SCORE * 2.5 + 10.0
WEIGHT = RNG.integers(0, 4, 240).astype(float)
TABLE = {**{f"v{j}": X[:, j] for j in range(4)}, "two": TWO, "three": THREE, "number": NUMBER, "w": WEIGHT}


def table(target: str, *more: str) -> dict[str, Any]:
    return {name: TABLE[name] for name in ("v0", "v1", "v2", "v3", target, *more)}


def gradient(model: lineal.Model, y: np.ndarray, s: np.ndarray, strength: float) -> np.ndarray:
    """Return dF/db of the stated objective by its textbook formula."""
    design = np.column_stack([np.ones(len(X)), X])
    mean = s @ design / s.sum()
    variance = s @ (design - mean) ** 2 / s.sum()
    variance[0] = 0.0
    eta = design @ model.coef
    if model.loss.name == "squared":
        slope = eta - y
    elif model.loss.name == "logistic":
        slope = 1 / (1 + np.exp(-eta)) - y
    else:
        proba = np.exp(eta - eta.max(axis=1, keepdims=True))
        slope = proba / proba.sum(axis=1, keepdims=True) - y
    found: np.ndarray = design.T @ (s[:, None] * slope) / s.sum() + strength * variance[:, None] * model.coef
    scale = np.sqrt(np.maximum(variance, mean**2))
    return found / scale[:, None]  # per standard deviation, so that one bound serves all columns


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("target", "penalty"),
    [("number", 0.1), ("number", "none"), ("two", "ridge:0.02"), ("three", 0.003), ("two", "none")],
)
def test_the_stated_objective_is_minimised(target: str, penalty: Any, weighted: bool) -> None:
    roles = {"weight": "w"} if weighted else {}
    model = lineal.fit(table(target, *roles.values()), target, penalty=penalty, tol=1e-10, **roles)
    assert model.verdict.kind == "optimal"
    y: np.ndarray = {"number": NUMBER[:, None], "two": (TWO == "yes")[:, None] * 1.0, "three": np.eye(3)[THREE]}[target]
    strength = {"none": 0.0, "ridge:0.02": 0.02}.get(penalty, penalty)
    s = WEIGHT if weighted else np.ones(len(X))
    assert np.max(np.abs(gradient(model, y, s, strength))) < 1e-4
    assert model.training["weight_sum"] == s.sum()
    assert model.training["rows"] == np.count_nonzero(s)
    assert ("charges" in model.report) == (penalty != "none")


@pytest.mark.parametrize("folds", [1, 5])
def test_the_strength_is_the_one_that_brute_force_picks(folds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 12)) * np.arange(1, 13)  # many columns of noise, so that a penalty pays
    y = np.where(2 * x[:, 0] + x[:, 1] + rng.logistic(size=90) > 0, 1.0, -1.0)
    if folds == 1:
        monkeypatch.setattr(picking, "CROSS_VALIDATED_MAX_CELLS", 0)  # as if the table were large
    model = lineal.fit(x, y, seed=5)
    fold = np.floor(uniform(6, np.arange(90)) * 5)
    z = np.column_stack([np.ones(90), (x - x.mean(axis=0)) / x.std(axis=0)])
    losses = []
    for strength in GRID:
        surprise = np.full(90, np.nan)
        for k in range(folds):
            left_out = fold == k

            def objective(
                b: np.ndarray, strength: float = strength, seen: np.ndarray = ~left_out
            ) -> tuple[float, np.ndarray]:
                margin = (y * (z @ b))[seen]
                slope = -(y[seen] / (1 + np.exp(margin))) @ z[seen] / len(margin)
                ridge = strength * np.r_[0.0, b[1:]]
                return float(np.mean(np.logaddexp(0, -margin)) + ridge @ b / 2), slope + ridge

            best = scipy.optimize.minimize(objective, np.zeros(13), jac=True, method="BFGS", options={"gtol": 1e-9}).x
            surprise[left_out] = np.logaddexp(0, -(y * (z @ best))[left_out])
        losses.append(float(np.nanmean(surprise)))
    chosen = model.report["selection"]
    place = int(np.argmin(losses))
    assert 0 < place < len(GRID) - 1, "the data of this test should ask for a strength inside the grid"
    assert chosen["strength"] == GRID[place] == model.penalty.to_dict()["strength"]
    assert chosen["validation_rows"] == (90 if folds == 5 else (fold == 0).sum())
    assert chosen["folds"] == folds
    assert ("validation rows" if folds == 1 else "in 5 folds") in chosen["reason"]
    tried = [trial["strength"] for trial in chosen["trials"]]
    losses = [trial["log_loss"] for trial in chosen["trials"]]
    far = folds == 1 and losses[-1] > 1.1 * min(losses)  # of a large table one is enough that is a tenth worse
    assert tried == list(GRID[: len(tried)])
    assert len(tried) == place + 3 or (far and len(tried) == place + 2), "two worse ones end the grid"
    assert [trial["log_loss"] for trial in chosen["trials"]] == pytest.approx(losses[: place + 3], rel=1e-2)


def test_too_few_rows_to_validate_is_said() -> None:
    model = lineal.fit({"x": [1.0, 2.0, 4.0], "y": ["a", "b", "a"]}, "y")
    assert model.report["selection"]["strength"] == FALLBACK
    assert "too few rows" in model.report["selection"]["reason"]


def test_held_out_rows_are_measured_and_never_fitted() -> None:
    model = lineal.fit(table("three"), "three", test_size=0.3, seed=9, penalty=0.01)
    held = uniform(9, np.arange(len(X))) < 0.3
    alone = lineal.fit({name: column[~held] for name, column in table("three").items()}, "three", penalty=0.01)
    assert model.coef.tobytes() == alone.coef.tobytes()
    assert model.training["rows"] == (~held).sum()
    assert model.report["data"]["held_out"] == held.sum()
    rest = {name: column[held] for name, column in table("three").items()}
    found = model.report["metrics"]["test"]
    proba = model.predict_proba(rest)
    assert found["log_loss"] == pytest.approx(peer.log_loss(THREE[held], proba))
    assert found["accuracy"] == pytest.approx(np.mean(model.predict(rest) == THREE[held]))
    shares = np.bincount(THREE[~held]) / (~held).sum()
    baseline = model.report["metrics"]["baseline"]
    assert baseline["log_loss"] == pytest.approx(-np.mean(np.log(shares[THREE[held]])))
    assert baseline["accuracy"] == pytest.approx(np.mean(THREE[held] == np.argmax(shares)))
    close = evaluate(model, rest)["metrics"]  # precision, recall and F1 beside what a fit reports
    assert {name: {key: close[name][key] for key in part} for name, part in model.report["metrics"].items()} == (
        model.report["metrics"]
    )
    other = lineal.fit(
        {name: column[~held] for name, column in table("three").items()}, "three", penalty=0.01, test=rest
    )
    assert other.report["metrics"] == model.report["metrics"]
    assert other.training["split"] is None


def test_without_held_out_rows_the_training_rows_are_measured_and_called_so() -> None:
    model = lineal.fit(table("number"), "number", model="linear")
    assert set(model.report["metrics"]) == {"train", "baseline"}
    predicted = model.predict(table("number"))
    assert model.report["metrics"]["train"]["rmse"] == pytest.approx(math.sqrt(np.mean((predicted - NUMBER) ** 2)))
    assert model.report["metrics"]["baseline"]["mae"] == pytest.approx(np.mean(np.abs(NUMBER - NUMBER.mean())))


def test_a_class_that_only_test_rows_have_is_said_and_not_measured() -> None:
    held = np.flatnonzero(uniform(0, np.arange(len(X))) < 0.2)
    y = TWO.astype(object).copy()
    y[held[:2]] = "rare"
    model = lineal.fit({**table("two"), "two": y}, "two", test_size=0.2)
    assert model.target.classes == ("no", "yes")
    assert model.report["data"]["held_out"] == len(held) - 2
    assert "2 rows are not measured" in model.report["data"]["notes"][0]


def test_what_only_test_rows_hold_is_not_learned(tmp_path: Path) -> None:
    held = np.flatnonzero(uniform(0, np.arange(len(X))) < 0.2)
    town = np.where(np.arange(len(X)) % 2, "a", "b").astype(object)
    town[held[0]] = "rare"
    with (tmp_path / "t.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["v0", "town", "two"])
        writer.writerows(zip(X[:, 0].tolist(), town, TWO, strict=True))
    model = lineal.fit(tmp_path / "t.csv", "two", test_size=0.2)
    assert model.columns == ("(intercept)", "v0", "town=a" if "town=a" in model.columns else "town=b")
    model.save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", tmp_path / "t.csv").passed


@pytest.mark.parametrize("target", ["two", "three", "number"])
def test_arrays_tables_and_streams_give_the_same_model(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    y = TABLE[target]
    first = lineal.fit(table(target), target, penalty=0.01)
    readonly = X.copy()
    readonly.flags.writeable = False
    for data in (X, np.asfortranarray(X), readonly, scipy.sparse.csr_array(X), scipy.sparse.csc_matrix(X)):
        model = lineal.fit(data, y, penalty=0.01)
        assert model.coef == pytest.approx(first.coef, rel=1e-6, abs=1e-9)
        assert (
            list(model.predict(data)) == pytest.approx(list(first.predict(table(target))), rel=1e-6)
            if target == "number"
            else True
        )
        assert model.target.classes == first.target.classes
    small = lineal.fit(X.astype(np.float32), y, penalty=0.01)
    assert small.coef == pytest.approx(first.coef, rel=1e-3, abs=1e-4)
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table(target))
        writer.writerows(zip(*(column.tolist() for column in table(target).values()), strict=True))
    held = lineal.fit(path, target, penalty=0.01)
    assert held.coef.tobytes() == first.coef.tobytes()
    monkeypatch.setattr(rows_module, "MAX_MEMORY_BYTES", 0)
    streamed = lineal.fit(path, target, penalty=0.01, test_size=0.1)
    monkeypatch.undo()
    again = lineal.fit(path, target, penalty=0.01, test_size=0.1)
    assert streamed.coef == pytest.approx(again.coef, rel=1e-9)
    assert streamed.training == again.training
    assert streamed.report["metrics"]["test"] == pytest.approx(again.report["metrics"]["test"])


@pytest.mark.parametrize("target", ["two", "three", "number"])
def test_a_model_of_arrays_can_be_saved_and_verified(target: str, tmp_path: Path) -> None:
    lineal.fit(X, TABLE[target], test_size=0.25, seed=2).save(tmp_path / "m.lineal")
    with (tmp_path / "t.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["x0", "x1", "x2", "x3", "y"])
        writer.writerows([*x, y] for x, y in zip(X.tolist(), TABLE[target].tolist(), strict=True))
    assert verify(tmp_path / "m.lineal", tmp_path / "t.csv").passed
    loaded = lineal.load(tmp_path / "m.lineal")
    assert loaded.predict(X).tolist() == lineal.fit(X, TABLE[target], test_size=0.25, seed=2).predict(X).tolist()


def test_several_number_targets() -> None:
    y = np.column_stack([NUMBER, SCORE])
    both = lineal.fit(X, y, model="linear")
    for k in range(2):
        one = lineal.fit(X, y[:, k], model="linear")
        assert both.coef[:, k] == pytest.approx(one.coef[:, 0], rel=1e-9)
    named = lineal.fit({**table("number"), "score": SCORE}, ["number", "score"], model="linear")
    assert named.coef == pytest.approx(both.coef, rel=1e-9)


def test_weights_and_offsets_of_arrays() -> None:
    base = lineal.fit(np.repeat(X, WEIGHT.astype(int), axis=0), np.repeat(TWO, WEIGHT.astype(int)), penalty=0.1)
    weighted = lineal.fit(X, TWO, weight=WEIGHT, penalty=0.1)
    assert weighted.coef == pytest.approx(base.coef, rel=1e-5)
    assert weighted.training["fingerprint"] is None
    shifted = lineal.fit(X, NUMBER, offset=0.5 * X[:, 0], model="linear")
    plain = lineal.fit(X, NUMBER, model="linear")
    assert shifted.coef[1] + 0.5 == pytest.approx(plain.coef[1], rel=1e-9)


def test_a_time_limit_gives_a_verdict_and_a_usable_model() -> None:
    model = lineal.fit(table("three"), "three", time_limit=1e-9, tol=1e-12)
    assert model.verdict.kind == "budget"
    assert np.all(np.isfinite(model.predict_proba(table("three"))))


@pytest.mark.parametrize("penalty", ["auto", 0.01])
def test_an_interrupt_is_raised_or_becomes_a_verdict(penalty: Any) -> None:
    def interrupt(_record: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lineal.fit(table("two"), "two", penalty=penalty, progress=interrupt)
    model = lineal.fit(table("two"), "two", penalty=penalty, progress=interrupt, interrupt="budget")
    assert model.verdict.kind == "budget"
    assert "interrupted" in str(model.verdict.reason)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "tree"}, "known are auto"),
        ({"model": "logistc"}, "Did you mean 'logistic'"),
        ({"penalty": "lasso"}, "accepted are none"),
        ({"penalty": -1.0}, "accepted are none"),
        ({"penalty": math.nan}, "accepted are none"),
        ({"test_size": 1.0}, "below 1"),
        ({"test_size": -0.1}, "below 1"),
        ({"test_size": 0.2, "test": {"v0": [1.0]}}, "exclude each other"),
        ({"solver": "simplex"}, "unknown solver"),
        ({"solver": "l-bfgs"}, "Did you mean 'quasi-newton'?"),
        ({"seed": -1}, "whole number"),
        ({"seed": 0.5}, "whole number"),
        ({"tol": 0.0}, "above 0"),
        ({"tol": math.nan}, "above 0"),
        ({"time_limit": 0.0}, "above 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        lineal.fit(table("two"), "two", **options)


def test_a_split_that_leaves_one_class_is_blamed() -> None:
    held = np.flatnonzero(uniform(0, np.arange(len(X))) < 0.2)
    y = np.where(np.arange(len(X)) == held[0], "rare", "often")
    with pytest.raises(InputError, match="hold out fewer"):
        lineal.fit({**table("two"), "two": y}, "two", test_size=0.2)
    with pytest.raises(InputError, match="Did you mean 'two'") as refused:
        lineal.fit(table("two"), "tow", test_size=0.2)
    assert "hold out" not in str(refused.value)


@pytest.mark.parametrize(
    ("data", "target", "options", "said"),
    [
        (X, None, {}, "one value per row"),
        (X, "y", {}, "one value per row"),
        (X, TWO[:-1], {}, "240 rows"),
        (X[:, 0], TWO, {}, "two dimensions"),
        (X, TWO, {"weight": WEIGHT[:-1]}, "240 rows"),
        (X, TWO, {"drop": ["x0"]}, "no names"),
        (X, np.ones(240), {}, "nothing to predict"),
        (X, np.where(SCORE > 0, np.nan, 1.0), {}, "NaN"),
        (X, TWO, {"model": "linear"}, "not a number"),
        (np.where(X > 100, np.nan, X), TWO, {}, "NaN"),
        (X[:0], TWO[:0], {}, "no training rows"),
    ],
)
def test_arrays_that_cannot_be_fitted_are_refused(data: Any, target: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        lineal.fit(data, target, **options)


@pytest.mark.parametrize("penalty", ["none", "ridge:0.1"])
def test_without_an_intercept_scores_go_through_the_origin(penalty: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(1.0, 1.0, (60, 2)), rng.normal(3.0, 1.0, 60)
    model = lineal.fit(x, y, model="linear", penalty=penalty, intercept=False)
    assert model.columns == ("x0", "x1")
    penalty_factor = 0.0 if penalty == "none" else 0.1 * np.diag(x.var(axis=0))
    np.testing.assert_allclose(
        model.coef[:, 0], np.linalg.solve(x.T @ x / 60 + penalty_factor, x.T @ y / 60), rtol=1e-9
    )
    named = lineal.fit(
        {"a": x[:, 0], "b": x[:, 1], "y": y}, target="y", model="linear", penalty=penalty, intercept=False
    )
    np.testing.assert_allclose(named.coef, model.coef, rtol=1e-12)
    named.save(tmp_path / "m.lineal")
    assert not lineal.load(tmp_path / "m.lineal").has_intercept


@pytest.mark.parametrize("intercept", [True, False])
def test_the_intercept_of_a_model_is_what_it_predicts_at_zero(intercept: bool) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(60, 2))
    for y in (x @ [1.0, -2.0] + 3.0, rng.integers(0, 3, size=60)):
        model = lineal.fit(x, y, model="linear" if y.dtype.kind == "f" else "logistic", intercept=intercept)
        at_zero = model.scores(np.zeros((1, 2)))[0]
        np.testing.assert_array_equal(np.atleast_1d(model.intercept), at_zero)
        assert model.has_intercept is intercept
        assert isinstance(model.intercept, float) is (len(at_zero) == 1)


def test_a_notebook_sees_the_verdict_first_and_nothing_of_the_data_is_markup() -> None:
    table = {"<b>dose</b>": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    model = lineal.fit(table, target="effect", model="linear")
    shown = model._repr_html_()
    assert shown.index("Optimal") < shown.index("&lt;b&gt;dose&lt;/b&gt;")
    assert "<b>dose" not in shown


@pytest.mark.parametrize("loss", ["linear", "logistic"])
def test_folds_that_keep_their_rows_are_those_drawn_in_every_pass(monkeypatch, loss):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 3))
    y = x @ [1.0, -1.0, 0.0] + rng.normal(size=300)
    table = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "w": rng.choice([0.0, 1.0, 2.0], 300)}
    table["y"] = y if loss == "linear" else np.where(y > 0, "yes", "no")
    found = []
    for most in (selection.KEPT_MAX_ROWS, 0):
        monkeypatch.setattr(selection, "KEPT_MAX_ROWS", most)
        found.append(lineal.fit(table, target="y", weight="w").report["selection"])
    kept, drawn = found
    assert kept["strength"] == drawn["strength"]
    assert kept["validation_rows"] == drawn["validation_rows"] < 300
    for one, other in zip(kept["trials"], drawn["trials"], strict=True):
        assert one == pytest.approx(other, rel=1e-6)  # the same steps, sums in another order
