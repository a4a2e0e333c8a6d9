"""Held-out rows looked at closely, against scikit-learn and what is known of a bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

import lineal
from lineal.losses import Hinge, Logistic, Squared
from lineal.metrics.scoring import Score


@pytest.fixture(scope="module")
def measured():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1200, 2))
    y = np.where(rng.random(1200) < 1 / (1 + np.exp(-x @ [1.0, -2.0])), "yes", "no")
    table = {"a": x[:, 0], "b": x[:, 1], "y": y}
    model = lineal.fit({name: column[:400] for name, column in table.items()}, target="y")
    rest = {name: column[400:] for name, column in table.items()}
    return model, rest, lineal.evaluate(model, rest)


def test_the_confusion_matrix_is_scikit_learns(measured):
    model, rest, found = measured
    expected = theirs.confusion_matrix(rest["y"], model.predict(rest), labels=["no", "yes"])
    assert found["confusion"] == {"classes": ["no", "yes"], "counts": expected.tolist()}


def test_calibration_is_by_tenths_and_loses_no_row(measured):
    model, rest, found = measured
    p, happened = model.predict_proba(rest)[:, 1], rest["y"] == "yes"
    assert sum(line["weight"] for line in found["calibration"]) == len(p)
    for line in found["calibration"]:
        held = (p >= line["from"]) & ((p < line["to"]) | (line["to"] == 1.0))
        assert line["predicted"] == pytest.approx(p[held].mean())
        assert line["happened"] == pytest.approx(happened[held].mean())


def test_intervals_are_as_wide_as_theory_says(measured):
    _, rest, found = measured
    n = len(rest["y"])
    share = found["metrics"]["test"]["accuracy"]
    low, high = found["intervals"]["accuracy"]
    # 400 draws know the ends of a normal interval to about 15 % of its width
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(share * (1 - share) / n), rel=0.3)
    for name, (low, high) in found["intervals"].items():
        assert low <= found["metrics"]["test"][name] <= high


def test_the_same_rows_have_the_same_intervals(measured):
    model, rest, found = measured
    assert lineal.evaluate(model, rest)["intervals"] == found["intervals"]


def test_numbers_have_intervals_and_no_confusion():
    rng = np.random.default_rng(4)
    table = {"a": rng.normal(size=300), "y": rng.normal(size=300)}
    model = lineal.fit(table, target="y", test_size=0.5, model="linear")
    assert set(model.report["evaluation"]) == {"intervals"}
    assert set(model.report["evaluation"]["intervals"]) == {"rmse", "mae", "r2"}


def test_one_held_out_row_has_no_interval():
    model = lineal.fit({"a": [0.0, 1.0, 2.0], "y": [0.0, 1.0, 2.5]}, target="y", model="linear")
    assert lineal.evaluate(model, {"a": [1.0], "y": [1.0]})["intervals"] == {}


@pytest.mark.parametrize("loss", [Logistic(), Hinge(), Squared()], ids=lambda loss: loss.name)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_many_weights_of_the_same_rows_are_the_same_rows_taken_many_times(loss, rows):
    """What an interval is made of: figures by weight, of rows in order of their score, are those of rows that repeat."""
    y, score, count = (np.array(part, float) for part in zip(*rows, strict=True))
    order, task = np.argsort(score), Score(loss, np.zeros((1, 1)), loss.name != "squared")
    found = task.rows(y[order, None], score[order, None])(count[order]).figures()
    taken = np.repeat(np.arange(len(y)), count.astype(int))
    if not len(taken):
        assert np.isnan(list(found.values())).all()
        return
    again = task.of(y[taken, None], score[taken, None], np.ones(len(taken))).figures()
    assert found == pytest.approx(again, nan_ok=True)
    if loss.name != "squared" and 0 < y[taken].sum() < len(taken):
        assert found["auc"] == pytest.approx(theirs.roc_auc_score(y[taken], score[taken]))
        assert found["average_precision"] == pytest.approx(theirs.average_precision_score(y[taken], score[taken]))
