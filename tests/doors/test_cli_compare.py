"""`lineal compare`: the same rows, one table, best first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lineal
from lineal.cli import run
from lineal.errors import InputError

PENGUINS = str(Path(__file__).resolve().parents[2] / "examples" / "penguins.csv")


@pytest.mark.slow
@pytest.mark.parametrize(("target", "metric", "sign"), [("sex", "accuracy", -1), ("body_mass_g", "rmse", 1)])
def test_models_come_best_first_and_are_those_of_fit(target, metric, sign, tmp_path, capsys):
    assert run(["compare", PENGUINS, "--target", target, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["metric"] == metric
    assert len(told["models"]) >= 4
    values = [sign * entry["metrics"][metric] for entry in told["models"]]
    assert values == sorted(values)
    best = told["models"][0]
    name, _, penalty = best["model"].partition(" ")
    words = ["fit", PENGUINS, "--target", target, "--model", name, "-o", str(tmp_path / "m.lineal"), "--json"]
    assert run([*words, "--penalty", penalty] if penalty else words) == 0
    alone = json.loads(capsys.readouterr().out)
    assert alone["metrics"]["test"] == best["metrics"]
    assert alone["metrics"]["baseline"][metric] == told["baseline"][metric]


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
