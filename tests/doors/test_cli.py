"""The command line end to end: fit, show, predict, evaluate, verify, as text and as JSON."""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

Lineal = Callable[..., tuple[int, str, str]]
PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


def told(answer: tuple[int, str, str]) -> dict[str, Any]:
    code, out, err = answer
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert isinstance(data, dict)
    return data


def records(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def table(path: Path, rows: int = 300, seed: int = 0, kind: str = "number") -> Path:
    """Write a table with two numbers, a category, missing cells, a weight and an offset."""
    rng = np.random.default_rng(seed)
    a, b, town = rng.normal(50, 10, rows), rng.normal(size=rows), rng.choice(["Ulm", "Bern", "Graz"], rows)
    eta = 0.08 * (a - 50) - b + (town == "Graz") + rng.normal(size=rows)
    y: Any = eta * 3 + 20 if kind == "number" else np.where(eta > 0.2, "yes", "no")
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["a", "b", "town", "w", "o", "y"])
        for i in range(rows):
            writer.writerow(
                [round(a[i], 3) if i % 17 else "", round(b[i], 4), town[i], 1 + i % 3, round(b[i] / 7, 3), y[i]]
            )
    return path


def test_fit_prints_the_verdict_first_and_everything_else_after(folder: Path, lineal: Lineal) -> None:
    code, out, err = lineal("fit", PENGUINS, "--target", "species")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Optimal")
    words = " ".join(out.split())
    assert "F(b) = mean log-loss + " in words
    assert "/2 * sum (sd_j b_jk)^2, intercept not charged" in words
    assert "3 classes: Adelie" in words
    for expected in (
        "log loss",
        "accuracy",
        "Baseline",
        "flipper_length_mm",
        "penguins.lineal",
        "lineal verify penguins.lineal",
    ):
        assert expected in words
    assert "\x1b[" not in out, "no colours in a pipe"
    assert (folder / "penguins.lineal").is_file()


def test_the_json_of_fit(folder: Path, lineal: Lineal) -> None:
    data = told(lineal("fit", PENGUINS, "--target", "species", "--json"))
    verdict = data["verdict"]
    assert verdict["kind"] == "optimal"
    assert verdict["sentence"]
    assert 0 <= verdict["relative_gap"] <= 1e-6
    assert verdict["gap"] >= 0
    assert set(data["metrics"]) == {"test", "baseline"}
    for part in data["metrics"].values():
        assert {"accuracy", "balanced_accuracy", "log_loss", "brier"} <= set(part)
    assert data["metrics"]["test"]["accuracy"] > 0.9
    assert data["metrics"]["baseline"]["accuracy"] < 0.6
    assert data["model"]["penalty"]["name"] == "ridge"
    trials = data["model"]["selection"]["trials"]
    best = min(trials, key=lambda trial: trial["log_loss"])
    assert best["strength"] == data["model"]["penalty"]["strength"]
    rows = len(PENGUINS.read_text().splitlines()) - 1
    assert (
        data["data"]["training"]["rows"] + data["data"]["held_out"] + data["data"]["training"]["without_target"] <= rows
    )
    entries = data["coefficients"]
    assert {entry["output"] for entry in entries} == {"Adelie", "Chinstrap", "Gentoo"}
    assert entries[-1]["column"] == "(intercept)"
    peaks: dict[str, float] = {}
    for entry in entries:
        peaks[entry["column"]] = max(peaks.get(entry["column"], 0.0), entry["effect"])
    order = [peaks[column] for column in dict.fromkeys(entry["column"] for entry in entries)]
    # equal effects stay in the order of the table, whatever their last digits
    assert order[:-1] == pytest.approx(sorted(order[:-1], reverse=True), rel=1e-8)


def test_least_squares_agrees_with_lapack(folder: Path, lineal: Lineal) -> None:
    table(folder / "t.csv")
    data = told(
        lineal(
            "fit",
            "t.csv",
            "--target",
            "y",
            "--model",
            "linear",
            "--test-size",
            "0",
            "--drop",
            "w",
            "--drop",
            "o",
            "--json",
        )
    )
    rows = records(folder / "t.csv")
    mean = np.mean([float(row["a"]) for row in rows if row["a"]])
    design = np.array(
        [
            [
                1,
                float(r["a"] or mean),
                r["a"] == "",
                float(r["b"]),
                *(r["town"] == town for town in ("Bern", "Graz", "Ulm")),
            ]
            for r in rows
        ],
        float,
    )
    names = ["(intercept)", "a", "a is missing", "b", "town=Bern", "town=Graz", "town=Ulm"]
    found = {entry["column"]: entry["value"] for entry in data["coefficients"]}
    keep = [j for j, name in enumerate(names) if name in found]
    assert len(keep) == len(names) - 1 == len(found), "one level is the reference"
    y = np.array([float(r["y"]) for r in rows])
    truth = np.linalg.lstsq(design[:, keep], y, rcond=None)[0]
    assert [found[names[j]] for j in keep] == pytest.approx(truth, rel=1e-9)
    residual = y - design[:, keep] @ truth
    assert set(data["metrics"]) == {"train", "baseline"}
    assert data["metrics"]["train"]["rmse"] == pytest.approx(math.sqrt(np.mean(residual**2)))
    assert data["metrics"]["train"]["r2"] == pytest.approx(1 - np.sum(residual**2) / np.sum((y - y.mean()) ** 2))
    assert data["metrics"]["baseline"]["r2"] == pytest.approx(0, abs=1e-12)
    assert data["model"]["penalty"] == {"name": "none"}
    assert "no penalty" in data["model"]["objective"]


def test_predict_evaluate_and_verify_follow_fit(folder: Path, lineal: Lineal) -> None:
    table(folder / "t.csv", kind="classes")
    table(folder / "new.csv", rows=150, seed=1, kind="classes")
    fitted = told(
        lineal("fit", "t.csv", "--target", "y", "--weight", "w", "--offset", "o", "--test-file", "new.csv", "--json")
    )
    measured = told(lineal("evaluate", "t.lineal", "new.csv", "--json"))
    for where, figures in fitted["metrics"].items():  # evaluate tells more
        assert {name: measured["metrics"][where][name] for name in figures} == figures
    assert measured["rows"] == 150 == fitted["data"]["held_out"]
    code, out, err = lineal("predict", "t.lineal", "new.csv", "--proba")
    assert (code, err) == (0, "")
    predicted = list(csv.DictReader(out.splitlines()))
    assert list(predicted[0]) == ["prediction", "probability=no", "probability=yes"]
    rows = records(folder / "new.csv")
    weight = np.array([float(row["w"]) for row in rows])
    right = np.array([p["prediction"] == row["y"] for p, row in zip(predicted, rows, strict=True)])
    assert measured["metrics"]["test"]["accuracy"] == pytest.approx(weight @ right / weight.sum())
    chance = np.array([float(p[f"probability={row['y']}"]) for p, row in zip(predicted, rows, strict=True)])
    assert measured["metrics"]["test"]["log_loss"] == pytest.approx(weight @ -np.log(chance) / weight.sum())
    report = told(lineal("verify", "t.lineal", "t.csv", "--json"))
    assert report["passed"] is True
    shown = told(lineal("show", "t.lineal", "--json"))
    assert shown["verdict"] == fitted["verdict"]
    assert shown["coefficients"] == fitted["coefficients"]
    for words in (["show", "t.lineal"], ["evaluate", "t.lineal", "new.csv"], ["verify", "t.lineal", "t.csv"]):
        code, out, err = lineal(*words)
        assert (code, err) == (0, "")
        assert out


def test_predictions_are_the_same_in_every_format(folder: Path, lineal: Lineal) -> None:
    table(folder / "t.csv", kind="classes")
    assert lineal("fit", "t.csv", "--target", "y")[0] == 0
    assert lineal("predict", "t.lineal", "t.csv", "--proba", "-o", "p.csv") == (0, "", "")
    assert lineal("predict", "t.lineal", "t.csv", "--proba", "-o", "p.parquet") == (0, "", "")
    data = told(lineal("predict", "t.lineal", "t.csv", "--proba", "--json"))
    said = told(lineal("predict", "t.lineal", "t.csv", "-o", "again.csv", "--json"))
    assert (said["rows"], said["output"]) == (300, "again.csv")
    arrow = pyarrow.parquet.read_table("p.parquet").to_pylist()
    assert arrow == data["predictions"]
    assert data["rows"] == len(arrow) == 300
    text = records(folder / "p.csv")
    assert [{key: str(value) for key, value in row.items()} for row in arrow] == [
        {key: value if key == "prediction" else str(float(value)) for key, value in row.items()} for row in text
    ]
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]


def test_unknown_levels_are_counted_and_said(folder: Path, lineal: Lineal) -> None:
    table(folder / "t.csv")
    assert lineal("fit", "t.csv", "--target", "y")[0] == 0
    (folder / "new.csv").write_text("town,extra,b,o,w,a\nOslo,1,0,0,1,50\nRome,2,0,0,1,50\nUlm,3,0,0,1,50\n")
    code, out, err = lineal("predict", "t.lineal", "new.csv")
    assert code == 0
    assert len(out.splitlines()) == 4
    assert "'town'" in err
    assert "2 cells" in err


def test_an_infinite_optimum_exits_with_three_unless_accepted(folder: Path, lineal: Lineal) -> None:
    (folder / "s.csv").write_text(
        "x,y\n" + "".join(f"{i * 0.7:.1f},{'high' if i >= 20 else 'low'}\n" for i in range(40))
    )
    words = ("fit", "s.csv", "--target", "y", "--penalty", "none", "--test-size", "0")
    code, out, err = lineal(*words, "--json")
    assert (code, err) == (3, "")
    assert json.loads(out)["verdict"]["kind"] == "at_infinity"
    assert (folder / "s.lineal").is_file(), "the model is still written"
    code, out, _ = lineal(*words, "--accept")
    assert code == 0
    assert "--penalty firth, or --penalty ridge:0.001" in out, "the remedies as they are asked for here"
    assert "--" not in json.loads(lineal(*words, "--json")[1])["verdict"]["sentence"], "the sentence is for every door"
    assert lineal("verify", "s.lineal", "s.csv")[0] == 0


def test_a_separated_class_is_called_by_its_name(folder: Path, lineal: Lineal) -> None:
    classes = ("low", "mid", "high")
    (folder / "s.csv").write_text("x,y\n" + "".join(f"{i * 0.7:.1f},{classes[i // 20]}\n" for i in range(60)))
    code, out, _ = lineal("fit", "s.csv", "--target", "y", "--penalty", "none", "--test-size", "0", "--json")
    assert code == 3
    evidence = json.loads(out)["verdict"]["evidence"]
    assert set(evidence["plus"] + evidence["minus"]) <= {f"{c} / {k}" for c in ("(intercept)", "x") for k in classes}
    assert lineal("verify", "s.lineal", "s.csv")[0] == 0


@pytest.mark.parametrize(
    ("kind", "options"),
    [("classes", ()), ("classes", ("--penalty", "firth")), ("numbers", ("--model", "bayes"))],
)
def test_control_c_in_a_fit_ends_with_a_budget_verdict(
    kind: str, options: tuple[str, ...], folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_args: object) -> None:
        raise KeyboardInterrupt

    table(folder / "t.csv", **({"kind": kind} if kind == "classes" else {}))
    monkeypatch.setattr("lineal.cli.progress.Watch.step", interrupt)
    words = ("fit", "t.csv", "--target", "y", "--json", *options)
    code, out, err = lineal(*words)
    assert (code, err) == (3, "")
    assert json.loads(out)["verdict"]["kind"] == "budget"
    assert (folder / "t.lineal").is_file()
    assert lineal(*words, "--accept")[0] == 0
    assert lineal("verify", "t.lineal", "t.csv")[0] == 0
    assert lineal("predict", "t.lineal", "t.csv", "-o", "p.csv")[0] == 0


def test_a_fit_that_is_cut_short_replaces_no_finished_model(
    folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_args: object) -> None:
        raise KeyboardInterrupt

    table(folder / "t.csv", kind="classes")
    words = ("fit", "t.csv", "--target", "y", "--penalty", "ridge:0.1")
    assert lineal(*words)[0] == 0
    good = (folder / "t.lineal").read_bytes()
    monkeypatch.setattr("lineal.cli.progress.Watch.step", interrupt)
    for _ in range(2):  # an unfinished one is replaced by the next
        code, out, _ = lineal(*words)
        assert code == 3
        assert "Written to t.unfinished.lineal. The model t.lineal, whose fit was finished, stays as it is." in out
        assert (folder / "t.lineal").read_bytes() == good
    assert json.loads(lineal("show", "t.unfinished.lineal", "--json")[1])["verdict"]["kind"] == "budget"
    assert json.loads(lineal(*words, "--json")[1])["file"] == "t.unfinished.lineal"


def test_verify_refuses_other_data_with_exit_code_one(folder: Path, lineal: Lineal) -> None:
    table(folder / "t.csv")
    table(folder / "other.csv", seed=5)
    assert lineal("fit", "t.csv", "--target", "y")[0] == 0
    code, out, err = lineal("verify", "t.lineal", "other.csv")
    assert code == 1
    assert "not confirmed" in err
    assert err.count("\n") == 1
    assert out
    code, out, err = lineal("verify", "t.lineal", "other.csv", "--json")
    assert code == 1
    assert json.loads(out)["passed"] is False


def test_the_same_fit_writes_the_same_bytes_and_a_model_may_be_overwritten(folder: Path, lineal: Lineal) -> None:
    table(folder / "t.csv")
    assert lineal("fit", "t.csv", "--target", "y", "--seed", "4")[0] == 0
    first = (folder / "t.lineal").read_bytes()
    assert lineal("fit", "t.csv", "--target", "y", "--seed", "4")[0] == 0
    assert (folder / "t.lineal").read_bytes() == first
    assert lineal("fit", "t.csv", "--target", "y", "--seed", "5")[0] == 0
    assert (folder / "t.lineal").read_bytes() != first


def test_delimiter_and_header_can_be_forced(folder: Path, lineal: Lineal) -> None:
    (folder / "t.txt").write_text("".join(f"{i % 7}|{(i * 5) % 11}|{i * 0.31 + i % 7}\n" for i in range(60)))
    data = told(lineal("fit", "t.txt", "--target", "c3", "--delimiter", "|", "--no-header", "--json"))
    assert {entry["column"] for entry in data["coefficients"]} == {"(intercept)", "c1", "c2"}
    assert data["verify"] == "lineal verify t.lineal t.txt --delimiter '|' --no-header"
    assert lineal(*data["verify"].replace("'", "").split()[1:])[0] == 0


@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_no_line_is_wider_than_the_terminal(
    width: str, folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    code, out, _ = lineal("fit", PENGUINS, "--target", "species")
    assert code == 0
    page, command = out.split("\nWritten to ")
    assert max(map(len, page.splitlines())) <= int(width)
    assert command.splitlines()[1] == f"lineal verify penguins.lineal {PENGUINS}", "a command is never wrapped"
    for name in ("bill_length_mm", "Chinstrap", "balanced accuracy") if width != "40" else ():
        assert name in out, "nothing is cut off"
    assert "…" not in out


def test_a_dumb_pipe_in_another_encoding_still_works(folder: Path) -> None:
    table(folder / "t.csv")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "NO_COLOR": "1", "TERM": "dumb"}
    for words in (["fit", "t.csv", "--target", "y"], ["verify", "t.lineal", "t.csv"]):
        done = subprocess.run(
            [sys.executable, "-m", "lineal", *words], env=environment, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
        done.stdout.decode("ascii")


def test_equal_effects_stay_in_the_order_of_the_table(folder: Path, lineal: Lineal) -> None:
    """Where the same two birds lack all four measures, rounding must not order the four columns that say so."""
    shown = lineal("fit", str(PENGUINS), "--target", "species")[1]
    lacks = [line.split(" is missing")[0] for line in shown.splitlines() if " is missing  " in line]
    assert [name for name in lacks if name != "sex"] == [
        "bill_length_mm",
        "bill_depth_mm",
        "flipper_length_mm",
        "body_mass_g",
    ]
