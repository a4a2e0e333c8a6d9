"""Rows to measure whose class training did not have: named, counted, and never left out of what is called all."""

import numpy as np
import pytest

import lineal
from lineal.cli import run
from lineal.errors import InputError


def table(rows: int, seed: int) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    return {"x": list(x), "y": ["Fake" if a + b > 0 else "True" for a, b in zip(x, rng.normal(size=rows), strict=True)]}


MODEL = lineal.fit(table(200, 0), target="y", penalty=0.01)


def test_figures_of_some_rows_say_how_many_there_are():
    new = table(90, 1)
    right = int(np.sum(MODEL.predict(new) == np.array(new["y"])))  # of all rows, by brute force
    for k in (3, 40, 41):
        right -= int(MODEL.predict(new)[k] == new["y"][k])
        new["y"][k] = "Satire"
    new["y"][50], right = "fake.", right - int(MODEL.predict(new)[50] == new["y"][50])
    answer = lineal.evaluate(MODEL, new)
    assert answer["rows"] == 86
    assert answer["unknown_classes"] == {"Satire": 3, "fake.": 1}
    assert answer["accuracy_of_all"] == pytest.approx(right / 90, rel=1e-12)
    note = "4 rows are not measured: the training rows have no class of 'y' such as 'Satire' (3), 'fake.' (1)."
    assert f"{note} Did you mean 'Fake'?" in answer["notes"]


def test_weighted_rows_have_no_accuracy_of_all():
    weighted = {**table(60, 2), "w": [1, 2, 3] * 20}
    model = lineal.fit(weighted, target="y", weight="w", penalty=0.01)
    assert lineal.evaluate(model, {**weighted, "y": ["?!", *weighted["y"][1:]]})["accuracy_of_all"] is None


@pytest.mark.parametrize("spelled", ["true", " TRUE", "True."])
def test_no_usable_row_is_refused(spelled):
    new = {**table(20, 3), "y": [spelled] * 20}
    with pytest.raises(InputError, match=r"no row can be measured: 20 rows .*Did you mean 'True'\?"):
        lineal.evaluate(MODEL, new)
    with pytest.raises(InputError, match=r"no row of .* can be measured: 20 rows .*Did you mean 'True'\?"):
        lineal.fit(table(200, 0), target="y", penalty=0.01, test=new)


def test_rows_without_a_target_are_refused_where_there_are_no_others():
    with pytest.raises(InputError, match="3 rows are left out because the target is missing"):
        lineal.evaluate(MODEL, {"x": [1.0, 2.0, 3.0], "y": [None, "", "NA"]})


def test_pages_count_the_rows_behind_their_figures(folder, capsys):
    train, test = table(60, 4), table(40, 5)
    test["y"][:10] = ["Satire"] * 10
    for name, rows in (("train.csv", train), ("test.csv", test), ("odd.csv", {**test, "y": ["Satire"] * 40})):
        lines = [f"{x},{y}" for x, y in zip(rows["x"], rows["y"], strict=True)]
        (folder / name).write_text("\n".join(["x,y", *lines]) + "\n")
    fit = ["fit", "train.csv", "--target", "y", "--penalty", "ridge:0.1", "-o", "m.lineal", "--test-file"]
    assert run([*fit, "test.csv"]) == 0
    assert "30 of 40 held out" in capsys.readouterr().out
    assert run(["evaluate", "m.lineal", "test.csv"]) == 0
    page = capsys.readouterr().out
    assert "30 of 40 rows measured" in page
    assert "Metric             30 of 40 rows" in page
    assert "is the accuracy, with those not measured as wrong" in page
    for words in (["evaluate", "m.lineal", "odd.csv"], [*fit, "odd.csv"]):
        assert run(words) == 2
        assert "40 rows are not measured: the training rows have no class 'Satire'" in capsys.readouterr().err
