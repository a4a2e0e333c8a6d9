"""`lineal diagnose`, end to end."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import lineal
from tests.doors.test_cli_summary import call, table

__all__ = ["table"]


@pytest.fixture
def fitted(table, capsys):
    words = ("--target", "y", "--penalty", "none", "--drop", "town", "--test-size", "0.25", "-o", "m.lineal")
    assert call(capsys, "fit", table, *words)[0] == 0
    return table


def test_a_page_and_every_row(fitted, capsys):
    code, out, err = call(capsys, "diagnose", "m.lineal", fitted, "-o", "every.csv", "--largest", "3")
    assert (code, err) == (0, "")
    assert "Variance inflation" in out
    with open("every.csv", newline="") as stream:  # noqa: PTH123
        written = list(csv.DictReader(stream))
    model = lineal.load("m.lineal")
    arrays = model.diagnostics(fitted).arrays()
    assert list(written[0]) == list(arrays)
    for name, values in arrays.items():
        np.testing.assert_array_equal([float(row[name]) for row in written], values)
    assert len(written) == model.training["rows"] < 200
    worst = max(written, key=lambda row: float(row["cooks_distance"]))
    assert f"\n{int(worst['row_index']) + 1} " in out  # people count from one


def test_json_and_parquet(fitted, capsys):
    code, out, err = call(capsys, "diagnose", "m.lineal", fitted, "--json", "-o", "every.parquet", "--seed", "4")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["seed"] == 4
    assert len(found["influential"]) == 10
    assert found["columns"] == pq.read_table("every.parquet").column_names
    by_distance = np.argsort(-pq.read_table("every.parquet")["cooks_distance"].to_numpy(), kind="stable")
    places = pq.read_table("every.parquet")["row_index"].to_numpy()[by_distance[:10]]
    assert [row["row_index"] for row in found["influential"]] == places.tolist()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["m.lineal", "other.csv"], "not the rows"),
        (["m.lineal", "rows.csv", "-o", "rows.csv"], "is one of the inputs"),
        (["m.lineal", "rows.csv", "-o", "out.txt"], "must end in"),
        (["median.lineal", "rows.csv"], "not the likelihood"),
        (["m.lineal"], "DATA"),
    ],
)
def test_what_it_refuses(fitted, capsys, words, said):
    fitted.with_name("other.csv").write_text("\n".join(fitted.read_text().splitlines()[:100]) + "\n")
    command = ("fit", fitted, "--target", "a", "--model", "median", "--drop", "town", "-o", "median.lineal")
    assert call(capsys, *command)[0] == 0
    code, out, err = call(capsys, "diagnose", *words)
    assert (code, out) == (2, "")
    assert said in err
