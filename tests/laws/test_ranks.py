"""Figures of order and of single classes, held against scipy, scikit-learn, the definition written out, and WMT 2012."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as theirs

import lineal
from lineal.metrics.evaluation import per_class
from lineal.metrics.metrics import ClassFigures
from lineal.metrics.ranks import delta_avg, spearman

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
rows = st.integers(4, 40).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 6), min_size=n, max_size=n) for _ in range(3)))
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(rows)
def test_spearman_is_that_of_scipy_and_weights_are_repeats(table):
    y, p, weight = (np.array(part, dtype=float) for part in table)
    weight[0] += 1
    repeated = [np.repeat(part, weight.astype(int)) for part in (y, p)]
    expected = stats.spearmanr(*repeated).statistic if all(len(set(part)) > 1 for part in repeated) else np.nan
    assert spearman(y, p, weight) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(4, 60), st.integers(0, 10**6))
def test_delta_avg_by_its_definition(n, seed):
    """n parts of floor(|S| / n) rows, the last with the rest; predictions without ties, rows in any order."""
    rng = np.random.default_rng(seed)
    y, p = rng.integers(1, 6, n).astype(float), rng.permutation(n).astype(float)
    ordered = y[np.argsort(-p)]
    parts = []
    for count in range(2, n // 2 + 1):
        heads = [ordered[: k * (n // count)].mean() for k in range(1, count)]
        parts.append(np.mean(heads) - y.mean())
    assert delta_avg(y, p, np.ones(n)) == pytest.approx(np.mean(parts), abs=1e-12)
    twice = [np.repeat(part, 2) for part in (y, p)]
    assert delta_avg(y, p, np.full(n, 2.0)) == pytest.approx(delta_avg(*twice, np.ones(2 * n)), abs=1e-12)
    assert delta_avg(y, np.zeros(n), np.ones(n)) == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(delta_avg(y[:3], p[:3], np.ones(3)))


def test_quality_estimation_of_wmt_2012():
    """The official sheet: SVM with an RBF kernel on these features: DeltaAvg 0.55, Spearman 0.58; least squares 0.5305."""
    path = SHARED / "wmt12_qe.csv"
    if not path.exists():
        pytest.skip("the shared data is not beside the project")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    model = lineal.fit(path, "effort", model="linear", split="column:split")
    answer = lineal.evaluate(model, path)
    assert (answer["rows"], answer["training_rows"]) == (422, 1832)
    figures = answer["metrics"]["test"]
    assert [round(figures[name], 4) for name in ("mae", "rmse", "spearman")] == [0.7091, 0.8508, 0.5305]
    table = np.genfromtxt(path, delimiter=",", names=True, dtype=None, encoding="utf-8")
    x = np.column_stack([table[name] for name in table.dtype.names if name.startswith("f")])
    y, train = table["effort"].astype(float), table["split"] == "train"
    machine = make_pipeline(StandardScaler(), SVR(C=1.0, gamma=0.05, epsilon=0.2)).fit(x[train], y[train])
    guess = machine.predict(x[~train])
    assert spearman(y[~train], guess, np.ones(422)) == pytest.approx(0.58, abs=0.02)
    assert delta_avg(y[~train], guess, np.ones(422)) == pytest.approx(0.55, abs=0.02)


@pytest.mark.parametrize("kinds", [2, 4])
def test_precision_recall_and_f1_are_those_of_scikit_learn(kinds):
    rng = np.random.default_rng(kinds)
    y, p, s = rng.integers(0, kinds, 60), rng.integers(0, max(kinds - 1, 2), 60), rng.integers(0, 3, 60).astype(float)
    sums = ClassFigures.of(y[:20], p[:20], s[:20], kinds, closely=True)
    figures = (sums + ClassFigures.of(y[20:], p[20:], s[20:], kinds, closely=True)).figures()
    average = "binary" if kinds == 2 else "macro"
    for name, theirs_of in (
        ("precision", theirs.precision_score), ("recall", theirs.recall_score), ("f1", theirs.f1_score),
    ):  # fmt: skip
        expected = theirs_of(y, p, sample_weight=s, average=average, zero_division=0)
        assert figures[name] == pytest.approx(expected, rel=1e-12)
    table = theirs.confusion_matrix(y, p, sample_weight=s, labels=range(kinds))
    lines = per_class({"classes": list("abcd")[:kinds], "counts": table.tolist()})
    expected = theirs.classification_report(
        y, p, sample_weight=s, labels=range(kinds), target_names=list("abcd")[:kinds], output_dict=True, zero_division=0
    )
    for line in lines[:-2]:
        for ours, name in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score"), ("weight", "support")):
            assert line[ours] == pytest.approx(expected[line["class"]][name], rel=1e-12)
    assert lines[-2]["f1"] == pytest.approx(expected["macro avg"]["f1-score"], rel=1e-12)
    assert lines[-1]["f1"] == pytest.approx(theirs.f1_score(y, p, sample_weight=s, average="micro"), rel=1e-12)


@pytest.mark.parametrize("split", [None, "stratified", "group:g", "time:t", "column:part"])
def test_a_training_table_is_recognized(split):
    rng = np.random.default_rng(1)
    n = 120
    x = rng.normal(size=n)
    table = {
        "x": x.tolist(),
        "y": ["yes" if value + rng.normal() > 0 else "no" for value in x],
        "g": [f"g{k % 11}" for k in range(n)],
        "t": list(range(n)),
        "part": ["test" if k % 5 == 0 else "train" for k in range(n)],
    }
    held = 0.0 if split == "column:part" else 0.25
    model = lineal.fit(table, formula="y ~ x", test_size=held, split=split)
    answer = lineal.evaluate(model, table)
    assert answer["training_rows"] == model.training["rows"] == n - answer["rows"]
    assert answer["metrics"]["test"]["accuracy"] == model.report["metrics"]["test"]["accuracy"]
    assert f"{answer['training_rows']} rows of this table were fitted" in answer["notes"][-1]
    whole = lineal.evaluate(model, table, rows="all", threshold=0.4)
    assert (whole["rows"], whole["training_rows"]) == (n, answer["training_rows"])
    other = {name: [*cells[1:], cells[0]] for name, cells in table.items()}
    other["x"][3] += 1.0
    assert lineal.evaluate(model, other)["training_rows"] is None
    assert lineal.evaluate(model, {name: table[name] for name in "xy"})["training_rows"] == (
        answer["training_rows"] if split in (None, "stratified") else None
    )
    every = lineal.fit(table, formula="y ~ x")
    answer = lineal.evaluate(every, table)
    assert (answer["rows"], answer["training_rows"]) == (n, n)
    assert "none held out" in answer["notes"][-1]
    with pytest.raises(lineal.InputError, match="held-out or all"):
        lineal.evaluate(model, table, rows="some")
