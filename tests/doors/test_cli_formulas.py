"""`--formula` and `--poly`: fitted, saved, applied to new rows, and confirmed by the checker."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import lineal
from lineal.cli import run


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(3)
    lines = ["age,dose,t,job,good,y"]
    for _ in range(150):
        age, dose, t = (float(value) for value in (rng.normal(40, 10), rng.uniform(0.5, 5), rng.exponential(1)))
        job, good = rng.choice(["none", "cook", ""]), rng.choice(["yes", "no"])
        lines.append(f"{age!r},{dose!r},{t!r},{job},{good},{float(0.1 * age + np.sin(t) + rng.normal())!r}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ age + C(job, ref='none') + poly(dose, 3) + age:dose + log(dose) + spline(t, 5) - 1",
        "good ~ job*age + poly(dose, 2):age",
        "job ~ spline(t, 4) + sqrt(dose)",
        "y ~ . - t",
        "y ~ 1",
    ],
)
def test_fit_predict_and_verify(formula, data, tmp_path, capsys):
    model, out = tmp_path / "m.lineal", tmp_path / "out.csv"
    assert run(["fit", str(data), "--formula", formula, "-o", str(model), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"]["kind"] == "optimal"
    assert run(["verify", str(model), str(data)]) == 0, capsys.readouterr().out
    assert run(["predict", str(model), str(data), "-o", str(out)]) == 0
    with out.open() as file:
        found = [next(iter(row.values())) for row in csv.DictReader(file)]
    expected = lineal.load(model).predict(str(data))
    assert found == [str(value) for value in expected] or np.allclose(np.array(found, float), expected)


def test_coefficients_of_a_polynomial_are_those_of_its_powers(data, tmp_path, capsys):
    words = ["fit", str(data), "--formula", "y ~ poly(dose, 2)", "--model", "linear", "-o", str(tmp_path / "m.lineal")]
    assert run([*words, "--test-size", "0", "--json"]) == 0
    told = {entry["column"]: entry["value"] for entry in json.loads(capsys.readouterr().out)["coefficients"]}
    with data.open() as file:
        rows = [(float(row["dose"]), float(row["y"])) for row in csv.DictReader(file)]
    x, y = np.array(rows).T
    np.testing.assert_allclose([told["dose^2"], told["dose"], told["(intercept)"]], np.polyfit(x, y, 2), rtol=1e-9)


def test_a_bad_formula_shows_its_place_and_writes_nothing(data, tmp_path, capsys):
    model = tmp_path / "m.lineal"
    assert run(["fit", str(data), "--formula", "y ~ age + lgo(dose)", "-o", str(model)]) == 2
    said = capsys.readouterr().err
    assert "did you mean log" in said
    assert said.rstrip().endswith("            ^")
    assert not model.exists()


def test_a_formula_without_a_left_side_takes_the_target_beside_it(data, tmp_path, capsys):
    model = tmp_path / "m.lineal"
    assert run(["fit", str(data), "--target", "y", "--formula", "~ age + log(dose)", "-o", str(model), "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert run(["verify", str(model), str(data)]) == 0
    capsys.readouterr()
    assert run(["fit", str(data), "--formula", "y ~ age + log(dose)", "-o", str(model), "--json"]) == 0
    assert one["coefficients"] == json.loads(capsys.readouterr().out)["coefficients"]
    assert run(["fit", str(data), "--formula", "~ age", "-o", str(model)]) == 2
    assert "no target was given" in capsys.readouterr().err


def test_products_make_xor_separable(tmp_path, capsys):
    gates = tmp_path / "xor.csv"
    gates.write_text("a,b,xor\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n")
    assert run(["separable", str(gates), "--target", "xor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "overlap"
    file = tmp_path / "answer.lineal"
    assert run(["separable", str(gates), "--target", "xor", "--poly", "2", "-o", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "complete"
    assert run(["verify", str(file), str(gates)]) == 0
    capsys.readouterr()
    assert run(["separable", str(gates), "--formula", "xor ~ a*b", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "complete"
