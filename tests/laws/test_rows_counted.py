"""Rows in are rows used plus rows dropped, in every format, and the dropped ones are said; a damaged line is named."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
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
import lineal.tables.file
from lineal.cli import run
from lineal.errors import InputError
from lineal.tables.table import as_table
from lineal.verify.reading.tables import kept
from lineal.verify.reading.tables import read as checker

Rows = list[tuple[float, str, str | None]]


def delimited(mark: str, end: str = "\n") -> Callable[[Rows, Path], None]:
    """Return what writes delimited text, here and there a blank line."""

    def write(rows: Rows, path: Path) -> None:
        lines = [f"{x}{mark}{k}{mark}{y or ''}{end}{end if x > 0.9 else ''}" for x, k, y in rows]
        data = (f"x{mark}k{mark}y{end}" + "".join(lines)).encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)

    return write


def json_lines(rows: Rows, path: Path) -> None:
    lines = [json.dumps({"x": x, "k": k, "y": y} if y or x > 0.5 else {"x": x, "k": k}) for x, k, y in rows]
    data = "\n\n".join(lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def columns(rows: Rows, missing: str | None = None) -> dict[str, list[Any]]:
    return {name: [missing if row[j] is None else row[j] for row in rows] for j, name in enumerate("xky")}


def arrow(rows: Rows) -> pa.Table:
    return pa.table(columns(rows))


FORMATS: dict[str, Callable[[Rows, Path], None]] = {
    "t.csv": delimited(","),
    "t.csv.gz": delimited(","),
    "t.tsv": delimited("\t", "\r\n"),
    "t.txt": delimited(";"),
    "t.tab": delimited("|"),
    "t.jsonl": json_lines,
    "t.jsonl.gz": json_lines,
    "t.parquet": lambda rows, path: pq.write_table(arrow(rows), path, row_group_size=7),
    "t.arrow": lambda rows, path: feather.write_feather(arrow(rows), path, chunksize=7),
    "t.npz": lambda rows, path: np.savez(path, **{name: np.array(cells) for name, cells in columns(rows, "").items()}),
    "t.feather": lambda rows, path: feather.write_feather(arrow(rows), path, chunksize=7),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(3))
def test_rows_in_are_rows_used_and_rows_dropped(name, seed, tmp_path, capsys):
    chance = random.Random(seed)
    tokens = ['"', "a", "b"] if "." + name.split(".")[1] in (".csv", ".tsv", ".txt", ".tab") else ["a", "b", "c"]
    count = chance.randrange(100, 400)
    rows = [
        (round(chance.random(), 3), chance.choice(tokens), chance.choice(["u", "v", "v", None])) for _ in range(count)
    ]
    path = tmp_path / name
    FORMATS[name](rows, path)
    words = ["fit", str(path), "--target", "y", "--penalty", "ridge:0.1", "--json", "-o", str(tmp_path / "m.lineal")]
    assert run([*words, "--test-size", "0"]) == 0
    told = json.loads(capsys.readouterr().out)["data"]
    missing = sum(y is None for _, _, y in rows)
    assert told["training"]["without_target"] == missing > 0
    assert told["training"]["rows"] == count - missing
    assert run(["verify", str(tmp_path / "m.lineal"), str(path)]) == 0
    capsys.readouterr()
    assert run(["predict", str(tmp_path / "m.lineal"), str(path), "-o", str(tmp_path / "p.csv")]) == 0
    assert len((tmp_path / "p.csv").read_text().splitlines()) == count + 1
    assert run([*words, "--test-size", "0.3"]) == 0
    told = json.loads(capsys.readouterr().out)["data"]
    said = [int(note.split()[0]) for note in told["notes"] if "not measured: held out" in note]
    assert told["training"]["rows"] + told["training"]["without_target"] + told["held_out"] + sum(said) == count


FRAMES: dict[str, Callable[[Rows], Any]] = {
    "pandas": lambda rows: pd.DataFrame(columns(rows)),
    "pandas, other index": lambda rows: pd.DataFrame(columns(rows), index=range(7, 7 + len(rows))),
    "polars": lambda rows: pl.DataFrame(columns(rows)),
    "Arrow": arrow,
    "Arrow, in chunks": lambda rows: pa.concat_tables([arrow(rows[:31]), arrow(rows[31:])]),
    "a dictionary": columns,
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_frames_are_used_or_dropped(name, seed):
    chance = random.Random(seed)
    count = chance.randrange(100, 400)
    rows = [(chance.random(), chance.choice("abc"), chance.choice(["u", "v", "v", None])) for _ in range(count)]
    missing = sum(y is None for _, _, y in rows)
    for share in (0.0, 0.3):
        found = lineal.fit(FRAMES[name](rows), "y", penalty=0.1, test_size=share)
        told = found.report["data"]
        said = [int(note.split()[0]) for note in told["notes"] if "not measured: held out" in note]
        assert told["without_target"] + sum(said) == missing > 0
        assert found.training["rows"] + told["held_out"] == count - missing
        assert len(found.predict(FRAMES[name](rows))) == count


@pytest.mark.parametrize("name", ["t.npy", "t.svm", "t.svm.gz"])
@pytest.mark.parametrize("seed", range(3))
def test_rows_of_numbers_are_used_or_held_out(name, seed, tmp_path, capsys):
    """Formats whose every row has a target: none is lost between fitted and held out, and each is predicted."""
    chance = random.Random(seed)
    count = chance.randrange(100, 400)
    rows = [[chance.random(), chance.random(), chance.choice([0.0, 1.0])] for _ in range(count)]
    path = tmp_path / name
    if name == "t.npy":
        np.save(path, np.array(rows))
    else:
        lines = [f"{int(y)} 1:{a} 3:{b}{chance.choice(['', ' # note', chr(13)])}\n# between\n\n" for a, b, y in rows]
        path.write_bytes(gzip.compress("".join(lines).encode()) if name.endswith("gz") else "".join(lines).encode())
    words = ["fit", str(path), "--penalty", "ridge:0.1", "--json", "-o", str(tmp_path / "m.lineal")]
    words += ["--target", "t[2]"] if name == "t.npy" else []
    for share in ("0", "0.3"):
        assert run([*words, "--test-size", share]) == 0
        told = json.loads(capsys.readouterr().out)["data"]
        assert (told["training"]["rows"] + told["held_out"], told["training"]["without_target"]) == (count, 0)
        assert run(["verify", str(tmp_path / "m.lineal"), str(path)]) == 0
        assert run(["predict", str(tmp_path / "m.lineal"), str(path), "-o", str(tmp_path / "p.csv")]) == 0
        assert len((tmp_path / "p.csv").read_text().splitlines()) == count + 1
        capsys.readouterr()


def test_rows_of_svmlight_are_lines_that_are_not_comments(tmp_path):
    chance = random.Random(4)
    lines = [
        chance.choice(["+1 1:2 7:0.5", "-1", "# a comment", "", "-1 3:1 # one", "1 qid:3 2:1"]) for _ in range(500)
    ]
    path = tmp_path / "t.svm"
    path.write_text("\n".join(lines))
    wanted = sum(bool(line) and not line.startswith("#") for line in lines)
    assert sum(rows.num_rows for rows in as_table(path).batches()) == wanted
    assert kept(checker(path, ["y", "1"]), ["y", "1"]).rows == wanted


LATE = {
    "two objects": ("j.jsonl", b'{"a": 1}{"a": 2}', "line 40001 of j.jsonl is not JSON"),
    "an object of two lines": ("j.jsonl", b'{"a":\n1}', "line 40001 of j.jsonl is not JSON"),
    "as many rows as lines": ("j.jsonl", b'{"a": 1}{"a": 2}\n{"a":\n1}', "line 40001 of j.jsonl is not JSON"),
    "null": ("j.jsonl", b"null", "line 40001 of j.jsonl is not a JSON object"),
    "a list": ("j.jsonl", b"[1]", "line 40001 of j.jsonl is not a JSON object"),
    "commas": ("j.jsonl", b'{"a": 1},', "line 40001 of j.jsonl is not JSON"),
    "NUL in JSON": ("j.jsonl", b"\0", "line 40001 of j.jsonl is not JSON"),
    "open": ("j.jsonl", b'{"a": 1', "line 40001 of j.jsonl is not JSON"),
    "a letter": ("s.svm", b"# one\n1 1:a", r"row 40001 \(line 40002\) of s.svm is not"),
    "NUL in SVMlight": ("s.svm", b"\n1 1:2\0", r"row 40001 \(line 40002\) of s.svm holds a NUL byte"),
    "a label between": ("s.svm", b"1 1:2\r1 1:3", r"row 40001 \(line 40001\) of s.svm is not"),
    "a short row": ("t.csv", b"1", r"row 40000 \(line 40001\) of t.csv has 1 cell"),
    "a comment": ("t.csv", b"# by me", r"row 40000 \(line 40001\) of t.csv has 1 cell"),
    "NUL": ("t.csv", b"1,\0", r"row 40000 \(line 40001\) of t.csv holds a NUL byte"),
}
GOOD = {"j.jsonl": b'{"a": 1234567890123456789}\n', "s.svm": b"1 1:2\n", "t.csv": b"1,2\n"}


@pytest.mark.parametrize("case", LATE)
def test_a_bad_line_far_down_is_named(case, tmp_path, monkeypatch):
    name, line, sentence = LATE[case]
    monkeypatch.setattr(lineal.tables.file, "SAMPLE_BYTES", 2000)
    monkeypatch.setattr(lineal.tables.file, "CHUNK_BYTES", 50_000)
    path = tmp_path / name
    first = b"a,b\n" if name == "t.csv" else GOOD[name]
    path.write_bytes(first + GOOD[name] * 39_999 + line + b"\n" + GOOD[name] * 10)
    with pytest.raises(InputError, match=sentence):
        list(as_table(path).batches())
    if name == "j.jsonl":
        with pytest.raises(InputError, match="line 40001 "):
            kept(checker(path, ["a"]), ["a"])


OBJECTS = [
    ['{"a": 3}', '{"a": 2.5} ', ' {"a": null}'],
    ['{"a": {"b": 1}}', '{"a": {}}'],
    ['{"a": "}{"}', '{"a": "\\n"}', '{"a": "\\"}{"}', '{"a": "x"}'],
]
BROKEN = [
    "null",
    "7",
    '{"a": 1} {"a": 2}',
    '{"a":\n1}',
    "{",
    "}",
    '{"a": 1}}',
    "\ufeff{}",
    '{"a": 1}\r{"a": 2}',
    "[{}]",
]


@pytest.mark.parametrize("seed", range(60))
def test_objects_cut_anywhere_are_rows_or_refused(seed, tmp_path, monkeypatch):
    """A plain reader, line by line, says what the rows are."""
    chance = random.Random(seed)
    monkeypatch.setattr(lineal.tables.file, "CHUNK_BYTES", chance.choice([1, 20, 200]))
    monkeypatch.setattr(lineal.tables.file, "SAMPLE_BYTES", chance.choice([20, 2000]))
    first, *others = chance.choice(OBJECTS)
    lines = [first, *(chance.choice([first, *others, "", "  ", "{}"]) for _ in range(chance.randrange(10, 60)))]
    if seed % 3 == 0:
        lines.insert(chance.randrange(10, len(lines)), chance.choice(BROKEN))
    path = tmp_path / "j.jsonl"
    text = chance.choice(["\n", "\r\n"]).join(lines)
    path.write_bytes(text.encode())
    try:
        expected = [json.loads(line) for line in text.split("\n") if line.strip()]
        fine = all(isinstance(row, dict) for row in expected)
    except ValueError:
        fine = False
    if fine:
        assert sum(batch.num_rows for batch in as_table(path).batches()) == len(expected)
        assert kept(checker(path, ["a"]), ["a"]).rows == len(expected)
    else:
        with pytest.raises(InputError, match=r"line \d+ of j\.jsonl"):
            list(as_table(path).batches())
        with pytest.raises(InputError, match=r"line \d+ "):
            kept(checker(path, ["a"]), ["a"])
