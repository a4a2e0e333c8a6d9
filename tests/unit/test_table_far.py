"""Whole numbers beyond 2^53: in no format do different ones become the same without a word."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import lineal
from lineal.api.dataset import beside
from lineal.cli import run
from lineal.errors import InputError

FAR = 2**53
N = 40
RNG = np.random.default_rng(53)
Z, Y = RNG.normal(size=N).tolist(), RNG.normal(size=N).tolist()
FORMS = (
    "csv",
    "tsv",
    "jsonl",
    "parquet",
    "feather",
    "npz",
    "arrow",
    "pandas",
    "nullable",
    "polars",
    "uint64",
    "decimal",
    "dict",
)
FILES = ("csv", "tsv", "jsonl", "parquet", "feather", "npz")


def form(name: str, columns: dict[str, list[Any]], folder: Path) -> Any:
    """Return the columns as a file, a data frame or a table."""
    path = folder / f"t.{name}"
    table = pa.table(columns)
    if name in ("csv", "tsv"):
        mark = "," if name == "csv" else "\t"
        lines = [mark.join(columns), *(mark.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        path.write_text("\n".join(lines))
    elif name == "jsonl":
        rows = zip(*columns.values(), strict=True)
        path.write_text("\n".join(json.dumps(dict(zip(columns, row, strict=True))) for row in rows))
    elif name == "parquet":
        pq.write_table(table, path)
    elif name == "feather":
        feather.write_feather(table, path)
    elif name == "npz":
        np.savez(path, **{key: np.array(cells) for key, cells in columns.items()})
    else:
        whole = {key: isinstance(cells[0], int) for key, cells in columns.items()}
        kinds = {"uint64": pa.uint64(), "decimal": pa.decimal256(40, 3)}
        return {
            "arrow": lambda: table,
            "pandas": lambda: pd.DataFrame(columns),
            "nullable": lambda: pd.DataFrame(columns).convert_dtypes(),
            "polars": lambda: pl.DataFrame(columns),
            "dict": lambda: columns,
        }.get(name, lambda: pa.table({k: _cast(c, kinds[name]) if whole[k] else c for k, c in columns.items()}))()
    return path


def _cast(cells: list[int], kind: Any) -> Any:
    return pa.array([Decimal(cell) for cell in cells] if pa.types.is_decimal(kind) else cells, kind)


@pytest.mark.parametrize("name", FORMS)
def test_a_column_of_numbers_is_refused_or_taken_as_declared(name, tmp_path):
    data = form(name, {"z": Z, "t": [FAR + k for k in range(N)], "y": Y}, tmp_path)
    with pytest.raises(
        InputError, match=r"column 't' holds whole numbers beyond 2\^53 .* 9007199254740993(\.000)? in row 2 .*--drop t"
    ):
        lineal.fit(data, "y", model="linear")
    told = lineal.fit(data, "y", model="linear", types={"t": "number"})
    assert "Of 't', whole numbers beyond 2^53" in told.report["data"]["notes"][0]
    assert lineal.fit(data, "y", model="linear", drop=["t"]).columns == ("(intercept)", "z")


@pytest.mark.parametrize("name", FORMS)
def test_numbers_that_doubles_are_pass(name, tmp_path):
    data = form(name, {"t": [FAR + 2 * k * k for k in range(N)], "y": Y}, tmp_path)
    fitted = lineal.fit(data, "y", model="linear", penalty=0.1)
    assert fitted.columns == ("(intercept)", "t")
    assert fitted.report["data"]["notes"] == []


@pytest.mark.parametrize("name", FORMS)
def test_a_column_called_an_identifier_is_left_out(name, tmp_path):
    data = form(name, {"tweet_id": [FAR + 3 * k for k in range(N)], "z": Z, "y": Y}, tmp_path)
    fitted = lineal.fit(data, "y", model="linear")
    assert fitted.report["data"]["dropped"] == [
        {"column": "tweet_id", "why": "it holds whole numbers beyond 2^53, so it looks like an identifier"}
    ]


@pytest.mark.parametrize("name", FORMS)
def test_levels_and_classes_stay_apart(name, tmp_path):
    """The rows of two levels that are one double have different means, which a model of them gives back."""
    level = [FAR + k % 2 for k in range(N)]
    data = form(name, {"a": level, "y": [k % 2 + 0.25 * (k // 2 % 2) for k in range(N)]}, tmp_path)
    fitted = lineal.fit(data, "y", model="linear", penalty="none", types={"a": "category"})
    assert fitted.columns == ("(intercept)", "a=9007199254740993")
    np.testing.assert_allclose(fitted.coef[:, 0], [0.125, 1.0], atol=1e-12)
    data = form(name, {"z": [k % 2 + 0.25 * z for k, z in enumerate(Z)], "y": level}, tmp_path)
    fitted = lineal.fit(data, "y", model="logistic", penalty=0.1)
    assert fitted.target.classes == ("9007199254740992", "9007199254740993")
    assert np.mean([str(b) == str(a) for a, b in zip(level, fitted.predict(data), strict=True)]) > 0.9


@pytest.mark.parametrize("name", FORMS)
def test_a_target_that_no_double_is_is_refused(name, tmp_path):
    data = form(name, {"z": Z, "y": [FAR + k for k in range(N)]}, tmp_path)
    with pytest.raises(InputError, match=r"the target 'y' holds whole numbers beyond 2\^53"):
        lineal.fit(data, "y")
    with pytest.raises(InputError, match=r"the target 'y' holds whole numbers beyond 2\^53"):
        lineal.fit(data, "y", model="linear")


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("rule", ["group:t", "time:t"])
def test_splits_see_every_digit(name, rule, tmp_path):
    """As many groups as rows, and an order in time, both of which doubles lose; the cells may come in any order."""
    order = np.random.default_rng(1).permutation(N)
    moments = [1_700_000_000_000_000_000 + int(k) for k in order]
    assert len({float(moment) for moment in moments}) == 1
    data = form(name, {"t": moments, "z": Z, "y": Y}, tmp_path)
    # the column of groups is no feature; that of times is one, unless it is dropped
    fitted = lineal.fit(data, "y", model="linear", split=rule, test_size=0.3, drop=["t"] if rule == "time:t" else [])
    rows = (
        fitted.report["data"]["training"]["rows"]
        if "training" in fitted.report["data"]
        else fitted.report["data"]["rows"]
    )
    assert rows == 28 if rule == "time:t" else 20 <= rows < N
    if name in FILES:
        fitted.save(tmp_path / "m.lineal")
        assert run(["verify", str(tmp_path / "m.lineal"), str(data)]) == 0


@pytest.mark.parametrize("name", [form for form in FILES if form != "npz"])
def test_the_checker_reads_the_same_classes(name, tmp_path):
    level = [FAR + k % 2 for k in range(N)]
    data = form(name, {"z": Z, "t": [FAR + k for k in range(N)], "y": level}, tmp_path)
    model = str(tmp_path / "m.lineal")
    words = ["fit", str(data), "--target", "y", "--penalty", "ridge:0.1", "-o", model, "--test-size", "0"]
    assert run([*words, "--types", "t=number", "--accept"]) == 0  # (so far from zero without a proof)
    assert run(["verify", model, str(data)]) == 0


@pytest.mark.parametrize("name", ["arrow", "pandas", "parquet", "jsonl", "polars"])
def test_keys_stay_apart(name, tmp_path):
    keys = [FAR + k for k in range(N)]
    other = form(name, {"key": keys[::-1], "x": [float(k) for k in range(N)]}, tmp_path)
    found = beside({"key": keys, "y": Y}, other, key="key")
    assert [x for batch in found.batches() for x in batch["x"].to_pylist()] == [float(N - 1 - k) for k in range(N)]


@pytest.mark.parametrize("name", ["arrow", "parquet", "uint64", "dict", "jsonl", "decimal"])
@pytest.mark.parametrize("role", ["weight", "offset"])
def test_roles_are_refused(name, role, tmp_path):
    data = form(name, {"w": [FAR + k for k in range(N)], "z": Z, "y": Y}, tmp_path)
    with pytest.raises(InputError, match=r"row 2 .* holds '9007199254740993.*' in column 'w', which needs"):
        lineal.fit(data, "y", model="linear", **{role: "w"})


def test_numbers_with_marks_are_read_in_every_digit(tmp_path):
    """Written 9,007,199,254,740,993: refused, or the nearest doubles as asked for."""
    path = tmp_path / "t.tsv"
    path.write_text("t\ty\n" + "".join(f"{FAR + k:,}\t{Y[k]}\n" for k in range(N)))
    with pytest.raises(InputError, match="9,007,199,254,740,993 in row 2"):
        lineal.fit(path, "y", model="linear")
    told = lineal.fit(path, "y", model="linear", types={"t": "number"})
    assert "taken as the nearest doubles" in told.report["data"]["notes"][0]


def test_a_large_number_with_an_exponent_or_a_point_is_a_decimal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t,y\n" + "".join(f"{k + 1}.1e23,{Y[k]}\n" for k in range(N)))
    assert lineal.fit(path, "y", model="linear", penalty=0.1).columns == ("(intercept)", "t")


def test_whole_numbers_of_json_beyond_64_bits_stay_apart(tmp_path):
    path = tmp_path / "t.jsonl"
    for far, words in ((2**64, "18446744073709551617 in row 2"), (10**400, "infinite in row 1")):
        path.write_text("\n".join(json.dumps({"a": far + k % 2, "y": Y[k]}) for k in range(N)))
        with pytest.raises(InputError, match=words):
            lineal.fit(path, "y", model="linear")
        fitted = lineal.fit(path, "y", model="linear", types={"a": "category"})
        assert fitted.columns == ("(intercept)", f"a={far + 1}")


def test_vectors_of_whole_numbers(tmp_path):
    whole = [[k, FAR + k] for k in range(N)]
    lists = pa.table({"v": pa.array(whole), "y": Y})
    with pytest.raises(InputError, match=r"row 2 of the table holds 9007199254740993 in 'v\[1\]'"):
        lineal.fit(lists, "y")
    with pytest.raises(InputError, match="column 'v' holds 9007199254740993"):
        lineal.fit({"v": np.array(whole), "y": Y}, "y")
    np.savez(tmp_path / "v.npz", v=np.array(whole), y=Y)
    with pytest.raises(InputError, match=r"column 'v\[1\]' holds whole numbers beyond"):
        lineal.fit(tmp_path / "v.npz", "y")


def test_labels_of_svmlight_beyond_doubles_are_no_classes(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("\n".join(f"{FAR + k % 2} 1:{Z[k]}" for k in range(N)))
    with pytest.raises(InputError, match=r"from 9007199254740992 to 9007199254740992: .* cannot be classes"):
        lineal.fit(path)


def test_times_finer_than_a_microsecond_are_said_and_durations_named(tmp_path):
    start = 1_700_000_000_000_000_000
    for step, said in ((1500, 1), (2000, 0)):
        table = pa.table({"t": pa.array([start + step * k for k in range(N)], pa.timestamp("ns")), "z": Z, "y": Y})
        pq.write_table(table, tmp_path / "t.parquet")
        fitted = lineal.fit(tmp_path / "t.parquet", "y", model="linear", penalty=0.1)
        assert "t (days)" in fitted.columns
        assert ["microsecond" in note for note in fitted.report["data"]["notes"]] == [True] * said
        fitted.save(tmp_path / "m.lineal")
        assert run(["verify", str(tmp_path / "m.lineal"), str(tmp_path / "t.parquet")]) == 0
        split = lineal.fit(tmp_path / "t.parquet", "y", model="linear", drop=["t"], split="time:t", test_size=0.25)
        assert split.report["data"]["rows"] == 30
        split.save(tmp_path / "m.lineal")
        assert run(["verify", str(tmp_path / "m.lineal"), str(tmp_path / "t.parquet")]) == 0
    for kind, word in ((pa.duration("ns"), "durations"), (pa.time64("ns"), "times of day")):
        fitted = lineal.fit(pa.table({"t": pa.array(range(N), kind), "z": Z, "y": Y}), "y", model="linear")
        assert f"it holds {word}" in fitted.report["data"]["dropped"][0]["why"]
