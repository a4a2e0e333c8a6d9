"""What compare and summary print is also a table in a file."""

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


@pytest.fixture
def rows(folder: Path) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 2))
    y = x @ [1.0, -2.0] + rng.normal(size=120)
    (folder / "t.csv").write_text(
        "a,b,y\n" + "".join(f"{a},{b},{c}\n" for (a, b), c in zip(x, y, strict=True)), encoding="utf-8"
    )


@pytest.mark.usefixtures("rows")
def test_a_summary_is_a_table(folder: Path, lineal: Lineal) -> None:
    fit = ("fit", "t.csv", "--target", "y", "--model", "linear", "--test-size", 0, "-o", "m.lineal")
    assert lineal(*fit)[0] == 0
    code, out, err = lineal("summary", "m.lineal", "-o", "s.csv")
    assert code == 0, err
    assert "std. error" in out
    lines = list(csv.DictReader((folder / "s.csv").read_text().splitlines()))
    data = np.loadtxt(folder / "t.csv", delimiter=",", skiprows=1)
    design = np.column_stack([np.ones(120), data[:, :2]])
    coef, squares, *_ = np.linalg.lstsq(design, data[:, 2], rcond=None)
    errors = np.sqrt(squares[0] / 117 * np.diag(np.linalg.inv(design.T @ design)))
    assert [line["column"] for line in lines] == ["(intercept)", "a", "b"]
    assert [float(line["estimate"]) for line in lines] == pytest.approx(list(coef), rel=1e-10)
    assert [float(line["error"]) for line in lines] == pytest.approx(list(errors), rel=1e-10)


@pytest.mark.usefixtures("rows")
def test_a_comparison_is_a_table(folder: Path, lineal: Lineal) -> None:
    words = ("compare", "t.csv", "--target", "y", "--model", "linear", "--model", "ridge ridge:10", "--json")
    code, out, err = lineal(*words, "-o", "c.parquet")
    assert code == 0, err
    answer = json.loads(out)
    table = pq.read_table(folder / "c.parquet").to_pylist()
    assert [line["model"] for line in table] == [*(one["model"] for one in answer["models"]), "baseline"]
    for line, one in zip(table, answer["models"], strict=False):
        assert {name: line[name] for name in one["metrics"]} == one["metrics"]
        assert line["test_rmse"] == one["test"]["rmse"]
        assert line["verdict"] == one["verdict"]["kind"] == "optimal"
    assert table[-1]["rmse"] == answer["baseline"]["rmse"]


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize("place", ["c.pdf", "t.csv", "nowhere/c.csv"])
def test_places_that_cannot_hold_it_are_refused_before_any_work(
    place: str, folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_args: object, **_options: object) -> None:
        raise AssertionError("it was worked on")

    before = (folder / "t.csv").read_bytes()
    monkeypatch.setattr("lineal.cli.compare.compare", work)
    code, _, err = lineal("compare", "t.csv", "--target", "y", "-o", place)
    assert (code, f"-o {place}" in err) == (2, True)
    assert (folder / "t.csv").read_bytes() == before
    monkeypatch.setattr("lineal.cli.summary.load", work)
    assert library.fit(str(folder / "t.csv"), "y", model="linear").save("t.lineal") is None
    code, _, err = lineal("summary", "t.lineal", "t.csv", "-o", place)
    assert (code, f"-o {place}" in err) == (2, True)
