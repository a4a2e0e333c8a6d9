"""`lineal compare`: the same rows, one table, best first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import lineal
from lineal.cli import run
from lineal.errors import InputError
from lineal.tables.tabular import uniform

PENGUINS = str(Path(__file__).resolve().parents[2] / "examples" / "penguins.csv")


@pytest.mark.slow
@pytest.mark.parametrize(("target", "metric", "sign"), [("sex", "accuracy", -1), ("body_mass_g", "rmse", 1)])
def test_models_come_best_first_on_validation_rows_and_are_those_of_fit(target, metric, sign, tmp_path, capsys):
    names = ["logistic ridge:0.001", "logistic l1:0.01", "svm ridge:0.01"]
    if target == "body_mass_g":
        names = ["linear none", "ridge ridge:0.1", "huber:300 ridge:0.01"]
    words = [word for name in names for word in ("--model", name)]
    assert run(["compare", PENGUINS, "--target", target, *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["metric"] == metric
    assert told["where"] == "validation"
    values = [sign * entry["metrics"][metric] for entry in told["models"]]
    assert values == sorted(values)
    best = told["models"][0]
    name, _, penalty = best["model"].partition(" ")
    words = ["fit", PENGUINS, "--target", target, "--model", name, "--penalty", penalty, "--validation-size", "0.2"]
    assert run([*words, "-o", str(tmp_path / "m.lineal"), "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone["metrics"]["test"] == best["test"]
    assert alone["metrics"]["validation"] == best["metrics"]


def test_without_names_a_handful_is_compared(capsys):
    assert run(["compare", PENGUINS, "--target", "sex", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["models"]) >= 4
    assert 0.4 < told["baseline"]["accuracy"] < 0.6


def table(rows: int = 200) -> dict[str, list[float]]:
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1, 1, size=(2, rows))
    return {"x": x.tolist(), "z": z.tolist(), "y": (x**2 + 0.3 * z + 0.1 * rng.normal(size=rows)).tolist()}


def test_test_rows_decide_nothing():
    """Wild targets in the test rows change their own figures, and neither order nor figures of validation rows."""
    honest = table()
    held = uniform(0, np.arange(200)) < 0.2
    wild = {**honest, "y": np.where(held, 1e6 * np.sign(np.sin(np.arange(200.0))), honest["y"]).tolist()}
    found = [lineal.compare(one, "y", models=["linear", "ridge", "median"], poly=[1, 2]) for one in (honest, wild)]
    assert [entry.name for entry in found[0].entries] == [entry.name for entry in found[1].entries]
    assert found[0].figures(found[0].entries[0]) == found[1].figures(found[1].entries[0])
    assert found[0].entries[0].test["rmse"] < 1.0
    assert found[1].entries[0].test["rmse"] > 1e5
    picked = [entry.model.report["selection"] for entry in found[0].entries if entry.name.startswith("ridge")]
    assert [choice["folds"] for choice in picked] == [5, 5]  # within the training rows, not on those that rank


def test_degrees_and_formulas_by_hand():
    """numpy's least squares on the same rows, 0.2 to 0.4 of the hash validating."""
    data = table()
    u = uniform(0, np.arange(200))
    seen, held = u >= 0.4, (u >= 0.2) & (u < 0.4)
    x, z, y = (np.array(data[name]) for name in ("x", "z", "y"))
    terms = {
        "linear, y ~ x": [x],
        "linear, y ~ poly(x, 2)": [x, x**2],
        "linear, y ~ poly(x, 2) + z": [x, x**2, z],
    }
    expected = {}
    for name, columns in terms.items():
        X = np.column_stack([np.ones(200), *columns])
        b = np.linalg.lstsq(X[seen], y[seen], rcond=None)[0]
        expected[name] = np.sqrt(np.mean((X[held] @ b - y[held]) ** 2))
    found = lineal.compare(data, models=["linear"], formula=["y ~ x", "y ~ poly(x, 2)", "y ~ poly(x, 2) + z"])
    assert [entry.name for entry in found.entries] == sorted(expected, key=expected.get)
    for entry in found.entries:
        assert found.figures(entry)["rmse"] == pytest.approx(expected[entry.name], rel=1e-8)
    assert found.how == f"{held.sum()} validation rows"
    constant = np.sqrt(np.mean((y[held] - y[seen].mean()) ** 2))
    assert found.baseline["rmse"] == pytest.approx(constant, rel=1e-9)


def test_folds_put_models_in_order():
    data = table()
    found = lineal.compare(data, "y", models=["linear", "ridge ridge:10"], folds=4, test_size=0.0)
    for entry in found.entries:
        model, _, penalty = entry.name.partition(" ")
        alone = lineal.cross_validate(data, "y", folds=4, model=model, penalty=penalty or "auto")
        assert entry.validation["rmse"] == alone.metrics["rmse"]
    assert found.how == "200 rows in 4 folds"
    assert found.entries[0].test is None


def test_a_test_file_has_the_last_figure(tmp_path, capsys):
    for name, rows in (("train.csv", slice(0, 150)), ("test.csv", slice(150, 200))):
        columns = {key: values[rows] for key, values in table().items()}
        lines = [",".join(map(repr, row)) for row in zip(*columns.values(), strict=True)]
        (tmp_path / name).write_text("x,z,y\n" + "\n".join(lines) + "\n")
    words = ["compare", str(tmp_path / "train.csv"), "--target", "y", "--model", "linear", "--model", "ridge ridge:1"]
    assert run([*words, "--test-file", str(tmp_path / "test.csv"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    linear = next(entry for entry in told["models"] if entry["model"] == "linear")
    model = lineal.fit(str(tmp_path / "train.csv"), "y", model="linear", validation_size=0.2)
    measured = lineal.evaluate(model, str(tmp_path / "test.csv"))
    assert linear["test"] == {name: measured["metrics"]["test"][name] for name in linear["test"]}
    assert {"rmse", "mae", "r2"} <= set(linear["test"])
    assert run([*words, "--test-file", str(tmp_path / "test.csv"), "--test-size", "0.3"]) == 2
    assert "exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_arrays_have_validation_rows(kind):
    data = table()
    X = np.column_stack([data["x"], data["z"]])
    found = lineal.compare(X if kind == "dense" else scipy.sparse.csr_array(X), np.array(data["y"]), models=["linear"])
    named = lineal.compare(data, "y", models=["linear"])
    assert found.figures(found.entries[0]) == pytest.approx(named.figures(named.entries[0]), rel=1e-9)


def test_the_page_shows_time_verdict_and_baseline(capsys):
    words = [
        "compare",
        PENGUINS,
        "--target",
        "species",
        "--model",
        "svm",
        "--model",
        "logistic none",
        "--split",
        "stratified",
    ]
    run(words)
    said = capsys.readouterr().out
    assert "Seconds" in said
    assert "at_infinity" in said  # the penguins are separable
    assert "baseline" in said


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (["linear", "logistic"], "some of the models predict classes"),
        (["svm", "svm"], "named twice"),
        (["lojistic"], "logistic"),
    ],
)
def test_what_cannot_be_compared_is_refused(models, said):
    with pytest.raises(InputError, match=said):
        lineal.compare(PENGUINS, "sex", models=models)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"formula": ["y ~ x", "y ~ x"]}, "named twice"),
        ({"poly": [2, 2]}, "named twice"),
        ({"formula": ["y ~ x", "z ~ x"]}, "different targets"),
        ({"formula": ["y ~ x", "y ~ z"], "poly": [1, 2]}, "too many ways"),
        ({"folds": 5, "validation_size": 0.2}, "exclude each other"),
        ({"validation_size": 1e-9}, "no row became a validation row"),
    ],
)
def test_alternatives_that_are_none_are_refused(options, said):
    target = None if "formula" in options else "y"
    with pytest.raises(InputError, match=said):
        lineal.compare(table(), target, models=["linear"], **options)


def test_a_model_that_the_rows_do_not_allow_does_not_end_the_others(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    table = {"x": x, "y": x + rng.normal(size=60)}  # negative numbers are no counts
    found = lineal.compare(table, "y", models=["linear", "poisson"], folds=3)
    assert [entry.name for entry in found.entries] == ["linear"]
    assert list(found.refused) == ["poisson"]
    assert "targets >= 0" in found.refused["poisson"]
    with pytest.raises(InputError, match=re.escape(found.refused["poisson"])):
        lineal.compare(table, "y", models=["poisson"], folds=3)
    path = tmp_path / "t.csv"
    np.savetxt(path, np.column_stack([table["x"], table["y"]]), delimiter=",", header="x,y", comments="")
    words = ["compare", str(path), "--target", "y", "--model", "linear", "--model", "poisson", "--folds", "3"]
    assert run(words) == 0
    assert "Not fitted poisson: " in " ".join(capsys.readouterr().out.split())
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refused"].keys() == {"poisson"}
