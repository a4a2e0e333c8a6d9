"""Predictions one can use: beside the columns of the table, explained, and for tables with rows that cannot be read."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import lineal as library

Lineal = Callable[..., tuple[int, str, str]]
TOWNS = ("Bonn", "Rome", "Oslo, N")


@pytest.fixture
def rows(folder: Path, lineal: Lineal) -> list[dict[str, str]]:
    """Write a table of 300 rows and a model of it; return the rows as they stand in the file."""
    rng = np.random.default_rng(4)
    lines = []
    for k in range(300):
        dose, town = rng.normal(), TOWNS[rng.integers(3)]
        ill = dose + (town == "Rome") + rng.normal() > 0.5
        lines.append({"id": f"{k:05d}", "dose": f"{dose:.3f}0", "town": town, "ill": "yes" if ill else "no"})
    write(folder / "t.csv", lines)
    code, _, err = lineal(
        "fit", "t.csv", "--target", "ill", "--drop", "id", "--penalty", "ridge:0.01", "-o", "m.lineal"
    )
    assert code == 0, err
    return lines


def write(path: Path, lines: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def read(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(out.splitlines()))


@pytest.mark.parametrize("keep", ["all", "id, town"])
def test_kept_columns_stand_as_they_are_in_the_file(rows: list[dict[str, str]], lineal: Lineal, keep: str) -> None:
    names = list(rows[0]) if keep == "all" else ["id", "town"]
    code, out, err = lineal("predict", "m.lineal", "t.csv", "--keep", keep)
    assert code == 0, err
    predicted = read(out)
    assert list(predicted[0]) == [*names, "prediction"]
    assert [{name: line[name] for name in names} for line in predicted] == [
        {name: line[name] for name in names} for line in rows
    ]
    assert [line["prediction"] for line in predicted] == list(library.load("m.lineal").predict("t.csv"))


def test_kept_columns_of_many_pieces_stay_beside_their_rows(
    folder: Path, lineal: Lineal, rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineal.tables.delimited.BATCH_ROWS", 7)
    assert lineal("predict", "m.lineal", "t.csv", "--keep", "id", "--score", "-o", "out.parquet")[0] == 0
    table = pq.read_table(folder / "out.parquet")
    assert table["id"].to_pylist() == [line["id"] for line in rows]
    assert table["score"].to_pylist() == pytest.approx(library.load("m.lineal").scores("t.csv")[:, 0].tolist())


def test_what_cannot_be_kept_is_refused(folder: Path, lineal: Lineal, rows: list[dict[str, str]]) -> None:
    assert "Did you mean 'town'?" in lineal("predict", "m.lineal", "t.csv", "--keep", "Town")[2]
    write(folder / "again.csv", [{**line, "prediction": "x"} for line in rows])
    code, _, err = lineal("predict", "m.lineal", "again.csv", "--keep", "all")
    assert (code, "--rename prediction=NAME" in err) == (2, True)


def test_contributions_add_up_to_the_score(rows: list[dict[str, str]], lineal: Lineal) -> None:
    """Against the mean of the training rows: by hand, from the coefficients that the model names."""
    code, out, err = lineal("predict", "m.lineal", "t.csv", "--score", "--explain", 3)
    assert code == 0, err
    model = library.load("m.lineal")
    coef = dict(zip(model.columns, model.coef[:, 0], strict=True))
    mean = dict(zip(model.columns, model.report["mean"], strict=True))
    for line, row in zip(read(out), rows, strict=True):
        town = sum(
            coef.get(f"town={name}", 0.0) * ((row["town"] == name) - mean.get(f"town={name}", 0.0)) for name in TOWNS
        )
        parts = {"dose": coef["dose"] * (float(row["dose"]) - mean["dose"]), "town": town}
        first, second = sorted(parts, key=lambda name: -abs(parts[name]))
        assert [line["reason_1"], line["reason_2"], line["reason_3"]] == [first, second, ""]
        assert float(line["contribution_1"]) == pytest.approx(parts[first], abs=1e-12)
        level = sum(coef[name] * mean[name] for name in coef)  # the score of the mean row
        assert float(line["score"]) - level == pytest.approx(sum(parts.values()), abs=1e-12)


def test_means_are_those_of_the_training_rows() -> None:
    table = {"a": [1.0, 2.0, 6.0, 7.0], "w": [1.0, 1.0, 2.0, 4.0], "y": [0.0, 1.0, 1.0, 3.0]}
    model = library.fit(table, "y", model="linear", weight="w")
    assert model.report["mean"] == pytest.approx([1.0, np.average(table["a"], weights=table["w"])], rel=1e-15)


def test_of_several_classes_the_predicted_one_is_explained() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    table = {
        "a": x[:, 0],
        "b": x[:, 1],
        "y": np.array(["p", "q", "r"])[np.argmax(x @ [[1, 0, -1], [0, 2, -1]], axis=1)],
    }
    model = library.fit(table, "y", penalty=0.01)
    why = model.explain(table, 2)
    eta = model.scores(table) - model.scores({"a": [x[:, 0].mean()], "b": [x[:, 1].mean()]})
    eta -= eta.mean(axis=1, keepdims=True)
    chosen = np.argmax(model.scores(table), axis=1)
    assert np.nansum(why.moves, axis=1) == pytest.approx(eta[np.arange(90), chosen], abs=1e-12)


@pytest.mark.parametrize("bad", [[0], [299], [3, 4, 150], list(range(300))])
def test_rows_that_cannot_be_read(folder: Path, lineal: Lineal, rows: list[dict[str, str]], bad: list[int]) -> None:
    odd = [{**line, "dose": "much"} if k in bad else line for k, line in enumerate(rows)]
    write(folder / "odd.csv", odd)
    good = [line["prediction"] for line in read(lineal("predict", "m.lineal", "t.csv")[1])]
    code, _, err = lineal("predict", "m.lineal", "odd.csv")
    assert (code, f"row {bad[0] + 1} (line {bad[0] + 2})" in err) == (2, True)
    code, out, err = lineal("predict", "m.lineal", "odd.csv", "--on-error", "blank", "--keep", "id")
    assert code == 0
    assert [line["prediction"] for line in read(out)] == ["" if k in bad else good[k] for k in range(300)]
    assert [line["id"] for line in read(out)] == [line["id"] for line in rows]
    count = "1 row cannot be read and has" if len(bad) == 1 else f"{len(bad)} rows cannot be read and have"
    assert f"{count} no prediction; the first: row {bad[0] + 1} (line {bad[0] + 2}) of odd.csv holds 'much'" in err
    code, out, _ = lineal("predict", "m.lineal", "odd.csv", "--on-error", "skip", "--keep", "id", "--json")
    answer = json.loads(out)
    assert code == 0
    assert [line["id"] for line in answer["predictions"]] == [line["id"] for k, line in enumerate(rows) if k not in bad]
    assert (answer["rows"], answer["unreadable_rows"]) == (300 - len(bad), len(bad))
