"""Counts of successes and failures: the fit is that of the rows written out, and of statsmodels' binomial family."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal.cli import run
from lineal.errors import InputError


def table(n: int = 80, seed: int = 2):
    rng = np.random.default_rng(seed)
    dose, sex = rng.normal(size=n).round(3), rng.choice(["f", "m"], n)
    size = rng.integers(0, 9, n)
    won = rng.binomial(size, 1 / (1 + np.exp(-(0.4 + 0.8 * dose + 0.5 * (sex == "m")))))
    return {"dose": dose, "sex": sex, "won": won, "lost": size - won}


def written_out(data, weight=None):
    rows = {"dose": [], "sex": [], "y": [], "w": []}
    for k in range(len(data["dose"])):
        for name, label in (("won", "b"), ("lost", "a")):
            rows["dose"].append(data["dose"][k])
            rows["sex"].append(data["sex"][k])
            rows["y"].append(label)
            rows["w"].append(float(data[name][k]) * (1.0 if weight is None else weight[k]))
    return rows


def test_the_fit_is_that_of_the_rows_written_out():
    data = table()
    found = lineal.fit(data, target=["won", "lost"], model="logistic", penalty="ridge:0.01")
    plain = lineal.fit(written_out(data), target="y", weight="w", model="logistic", penalty="ridge:0.01")
    assert found.columns == plain.columns
    np.testing.assert_allclose(found.coef, plain.coef, rtol=1e-9)
    assert found.target.classes == ("lost", "won")
    assert found.training["weight_sum"] == data["won"].sum() + data["lost"].sum()


def test_the_fit_is_that_of_the_binomial_family():
    sm = pytest.importorskip("statsmodels.api")
    data = table(200)
    found = lineal.fit(data, target="won,lost", penalty="none", tol=1e-12)  # auto: both are counts
    x = np.column_stack([np.ones(200), data["dose"], data["sex"] == next(c[-1] for c in found.columns if "sex=" in c)])
    seen = data["won"] + data["lost"] > 0
    y = np.column_stack([data["won"], data["lost"]])
    expected = sm.GLM(y[seen], x[seen].astype(float), family=sm.families.Binomial()).fit(tol=1e-12)
    np.testing.assert_allclose(found.coef[:, 0], expected.params, rtol=1e-6)
    assert "counts" in found.report["data"]["sentences"][0]
    figures = lineal.evaluate(found, data)
    assert figures["metrics"]["test"]["log_loss"] == pytest.approx(found.report["metrics"]["train"]["log_loss"])


def test_numbers_that_are_no_counts_stay_two_targets():
    data = table()
    assert lineal.fit({**data, "won": data["won"] + 0.5}, target=["won", "lost"]).target.kind == "number"
    assert lineal.fit(data, target=["won", "lost"], model="linear").target.names == ("won", "lost")
    with pytest.raises(InputError, match=r"row 1 holds '0.5'.*needs a count|row 1 .*a count"):
        lineal.fit({**data, "won": data["won"] * 0 + 0.5}, target=["won", "lost"], model="logistic")
    with pytest.raises(InputError, match="has no target column 'woon'"):
        lineal.fit(data, target="woon,lost", model="logistic")


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("test_size", ["0", "0.3"])
def test_a_file_of_counts_is_fitted_verified_and_predicted(tmp_path, monkeypatch, capsys, weight, test_size):
    monkeypatch.chdir(tmp_path)
    data = table(150)
    lines = ["dose,sex,won,lost,w"]
    for k in range(150):
        won = "" if k % 31 == 7 else data["won"][k]
        lines.append(f"{data['dose'][k]},{data['sex'][k]},{won},{data['lost'][k]},{1 + k % 3}")
    Path("t.csv").write_text("\n".join(lines) + "\n")
    roles = ["--drop", "w"] if weight is None else ["--weight", weight]
    words = ["fit", "t.csv", "--target", "won,lost", "--penalty", "ridge:0.01", "--test-size", test_size, *roles]
    assert run(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert run(["verify", "t.lineal", "t.csv"]) == 0, capsys.readouterr()
    assert run(["predict", "t.lineal", "t.csv", "--proba"]) == 0
    assert run(["evaluate", "t.lineal", "t.csv"]) == 0
    capsys.readouterr()
    changed = Path("t.csv").read_text().splitlines()
    position = next(k for k in range(1, 150) if changed[k].split(",")[2] == "1")
    cells = changed[position].split(",")
    Path("forged.csv").write_text(
        "\n".join([*changed[:position], ",".join([*cells[:2], "2", *cells[3:]]), *changed[position + 1 :]])
    )
    if test_size == "0":
        assert run(["verify", "t.lineal", "forged.csv"]) == 1
    assert lineal.load("t.lineal").training["counts"] == ["won", "lost"]
