"""A table of thresholds: each line as scikit-learn has it, weights respected, the best line marked."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

import lineal
from lineal.cli import run
from lineal.errors import InputError
from lineal.metrics.thresholds import THRESHOLDS


def table(rows: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=rows), rng.integers(0, 4, size=rows).astype(float)
    ill = np.where(x + rng.normal(size=rows) > 0.8, "yes", "no")
    return {"x": x, "w": w, "ill": ill}


@pytest.mark.parametrize("weight", [None, "w"])
def test_every_line_is_that_of_scikit_learn(weight):
    train, test = table(300, 0), table(200, 1)
    if weight is None:
        del train["w"], test["w"]
    model = lineal.fit(train, "ill", weight=weight, penalty=0.01)
    costs = np.array([[0.0, 1.0], [5.0, 0.5]])
    lines = lineal.evaluate(model, test, thresholds=True, costs=costs)["thresholds"]
    assert [line["threshold"] for line in lines] == pytest.approx(list(THRESHOLDS))
    happened, proba = test["ill"] == "yes", model.predict_proba(test)[:, 1]
    s = test.get("w", np.ones(200))
    for line in lines:
        decided = proba > line["threshold"]
        kept = {"sample_weight": s, "zero_division": np.nan}
        assert line["accuracy"] == pytest.approx(accuracy_score(happened, decided, sample_weight=s))
        assert line["recall"] == pytest.approx(recall_score(happened, decided, **kept))
        assert line["f1"] == pytest.approx(f1_score(happened, decided, **kept))
        assert line["decided"] == pytest.approx(np.average(decided, weights=s))
        assert line["cost"] == pytest.approx(np.average(costs[happened.astype(int), decided.astype(int)], weights=s))
        precision = precision_score(happened, decided, **kept)
        if np.isnan(precision):
            assert line["precision"] is None
            assert line["lift"] is None
        else:
            assert line["precision"] == pytest.approx(precision)
            assert line["lift"] == pytest.approx(precision / np.average(happened, weights=s))
    best = [line for line in lines if line["best"]]
    assert len(best) == 1
    assert best[0]["cost"] == min(line["cost"] for line in lines)


def test_without_costs_the_largest_f1_is_best(folder, capsys):
    for name, rows in (("train.csv", table(300, 2)), ("test.csv", table(100, 3))):
        lines = [f"{x},{y}" for x, y in zip(rows["x"], rows["ill"], strict=True)]
        (folder / name).write_text("\n".join(["x,ill", *lines]) + "\n")
    assert run(["fit", "train.csv", "--target", "ill", "--penalty", "ridge:0.1", "-o", "m.lineal"]) == 0
    capsys.readouterr()
    assert run(["evaluate", "m.lineal", "test.csv", "--thresholds", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["thresholds"]
    best = max(lines, key=lambda line: -1.0 if line["f1"] is None else line["f1"])
    assert best["best"]
    assert run(["evaluate", "m.lineal", "test.csv", "--thresholds"]) == 0
    marked = [line for line in capsys.readouterr().out.splitlines() if "largest F1" in line]
    assert [line.split()[0] for line in marked] == [f"{best['threshold']:.2f}"]


def test_thresholds_are_for_two_classes():
    three = {"x": np.arange(30.0), "y": ["a", "b", "c"] * 10}
    model = lineal.fit(three, "y", penalty=0.1)
    with pytest.raises(InputError, match="a threshold is for two classes"):
        lineal.evaluate(model, three, thresholds=True)
