"""The gate: every format gives the same named columns, and bad files are refused in a sentence."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import lineal
from lineal.errors import InputError
from lineal.tables.table import as_table, split, uniform
from lineal.verify.reading.text_files import TextFile
from tests.unit.table_cases import written

COLUMNS = {"age": [41.5, None, 7.0], "name": ["Ada", "Tim, Jr.", None], "member": [True, False, None]}


DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def cells(table) -> dict[str, list]:
    found: dict[str, list] = {name: [] for name in table.names}
    for batch in table.batches():
        for name in table.names:
            found[name] += batch.column(name).to_pylist()
    return found


def formats(folder: Path):
    arrow = pa.table(COLUMNS)
    pyarrow.parquet.write_table(arrow, folder / "t.parquet")
    pyarrow.feather.write_feather(arrow, folder / "t.feather")
    with pa.OSFile(str(folder / "t.arrow"), "wb") as out, pa.ipc.new_stream(out, arrow.schema) as writer:
        writer.write_table(arrow)
    lines = [{name: cells[i] for name, cells in COLUMNS.items()} for i in range(3)]
    written(folder / "t.jsonl", "\n".join(map(json.dumps, lines)))
    written(folder / "t.ndjson.gz", gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    written(folder / "unknown.data", (folder / "t.parquet").read_bytes())
    return [
        *(folder / name for name in ("t.parquet", "t.feather", "t.arrow", "t.jsonl", "t.ndjson.gz", "unknown.data")),
        str(folder / "t.parquet"),
        arrow,
        arrow.to_batches()[0],
        arrow.to_reader(),
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        narwhals.from_native(pl.DataFrame(COLUMNS)),
    ]


def test_typed_formats_hold_the_same_cells(tmp_path):
    for data in formats(tmp_path):
        table = as_table(data)
        assert table.names == ("age", "name", "member"), data
        found = cells(table)
        assert [None if cell is None or np.isnan(cell) else cell for cell in found["age"]] == COLUMNS["age"]
        assert found["name"] == COLUMNS["name"]
        assert found["member"] == COLUMNS["member"]
        assert str(cells(table)) == str(found)  # a second pass starts again; as text, since nan != nan


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow", "t.jsonl"])
def test_readers_load_what_they_need_themselves(tmp_path, name):
    formats(tmp_path)
    data = str(tmp_path / name)
    code = f"from lineal.tables.table import as_table; print(sum(batch.num_rows for batch in as_table({data!r}).batches()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["3"], done.stderr


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_delimiters_line_ends_and_marks_are_found(tmp_path, delimiter, end, bom, last):
    lines = ["a,b,c", "1,x,2.5", "", '3,"y,z""w\nv",4']
    text = bom + end.join(line.replace(",", delimiter) for line in lines) + (end if last else "")
    table = as_table(written(tmp_path / "t.csv", text))
    odd = f'y{delimiter}z"w\nv'
    assert cells(table) == {"a": ["1", "3"], "b": ["x", odd], "c": ["2.5", "4"]}


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv", "t.txt", "t.unknown", "noextension"])
def test_names_of_files_do_not_matter(tmp_path, name):
    data = b"a\tb c\n1\tx y\n2\tz w\n"
    table = as_table(written(tmp_path / name, gzip.compress(data) if name.endswith("gz") else data))
    assert cells(table) == {"a": ["1", "2"], "b c": ["x y", "z w"]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n", ("c1", "c2")),
        ("a,b\n3,4\n", ("a", "b")),
        ("name,2019\nx,3\ny,4\n", ("c1", "c2")),  # a number in the first row, nothing that says header
        ("red,small\nblue,large\nred,large\n", ("c1", "c2")),  # 'red' comes again: it is data
        ("colour,size\nblue,large\nred,large\n", ("colour", "size")),
        ("a,b\n", None),
    ],
)
def test_headers_are_recognised(tmp_path, text, names):
    path = written(tmp_path / "t.csv", text)
    if names is None:
        with pytest.raises(InputError, match="header but no rows"):
            as_table(path)
    else:
        assert as_table(path).names == names


@pytest.mark.slow
def test_a_header_may_be_longer_than_the_sample(tmp_path):
    names = [f"a_rather_long_name_of_a_column_{j}" for j in range(40_000)]
    path = written(
        tmp_path / "t.csv", ",".join(names) + "\n" + ",".join(["1"] * 40_000) + "\n" + ",".join(["2"] * 40_000)
    )
    table = as_table(path)
    assert table.names == tuple(names)
    assert sum(batch.num_rows for batch in table.batches()) == 2


def test_what_is_declared_is_not_guessed(tmp_path):
    path = written(tmp_path / "t.csv", "name;2019\n'x';3\n")
    assert as_table(path, header=True, quote="'").names == ("name", "2019")
    assert cells(as_table(path, header=True, quote="'"))["name"] == ["x"]
    assert cells(as_table(path, header=True))["name"] == ["'x'"]
    assert as_table(path, header=False).names == ("c1", "c2")
    assert cells(as_table(written(tmp_path / "q.csv", 'a,b\n"x",2\n'), quote=""))["a"] == ['"x"']
    with pytest.raises(InputError, match=r"no '\|' .* looks like ';'"):
        as_table(path, delimiter="|")
    with pytest.raises(InputError, match="delimiter can be given for delimited text only"):
        as_table({"a": [1]}, delimiter=";")
    with pytest.raises(InputError, match="one character"):
        as_table(path, delimiter="::")
    with pytest.raises(InputError, match="quote character"):
        as_table(path, quote="x")


def test_quotes_that_do_not_quote_are_text(tmp_path):
    table = as_table(written(tmp_path / "t.tsv", 'label\ttext\nham\t"Hello you\nspam\t5" pipe\nham\tfine\n'))
    assert cells(table)["text"] == ['"Hello you', '5" pipe', "fine"]


ENCODED = {
    "utf-8": "utf-8",
    "utf-8 with a mark": "utf-8-sig",
    "utf-16": "utf-16",
    "utf-16 without a mark": "utf-16-le",
    "utf-16 big-endian without a mark": "utf-16-be",
    "latin-1": "latin-1",
    "windows-1252": "cp1252",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODED)
@pytest.mark.parametrize("rows", [3, 300_000])
def test_encodings_are_found(tmp_path, name, rows):
    """The odd characters stand in the last row only, beyond the first megabyte where there is more."""
    odd = "naïve café" + (" — 5 €" if name != "latin-1" else "")
    size = "größe" if rows == 3 else "groesse"
    text = f"{size},b\n" + "1,plain\n" * rows + f"2,{odd}\n"
    path = written(tmp_path / "t.csv", text.encode(ENCODED[name]))
    table = as_table(path)
    assert table.names[0] == size
    found = cells(table)
    assert found["b"][-1] == odd
    assert len(found["b"]) == rows + 1
    assert bool(table.notes) == (not name.startswith("utf-8"))
    assert "".join(TextFile(path).pieces()) == text


def test_bytes_without_a_character_are_kept(tmp_path):
    path = written(tmp_path / "t.csv", b"a,b\n1,\x81\x80\n")
    assert cells(as_table(path))["b"] == ["\x81€"]
    assert "".join(TextFile(path).pieces()).endswith("\x81€\n")


def test_a_key_that_comes_late_is_a_column(tmp_path):
    lines = ['{"a": 1}'] * 200_000 + ['{"a": 2, "late": 3}', '{"later": "x"}']
    table = as_table(written(tmp_path / "t.jsonl", "\n".join(lines)))
    assert table.names == ("a", "late", "later")
    rows = pa.Table.from_batches([batch.cast(LATE) for batch in table.batches()]).to_pylist()
    assert rows[:1] == [{"a": 1, "late": None, "later": None}]
    assert rows[-2:] == [{"a": 2, "late": 3, "later": None}, {"a": None, "late": None, "later": "x"}]


LATE = pa.schema({"a": pa.int64(), "late": pa.int64(), "later": pa.string()})


def test_cells_of_different_kinds_are_read_as_text(tmp_path):
    rows = [{"a": 1, "b": 0.5}, {"a": "x"}, {"a": True, "b": 2**60}, {"a": 2.0}, {"a": None}]
    path = written(tmp_path / "t.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    for data in (rows, path):
        (batch,) = as_table(data).batches()
        assert batch.column(0).to_pylist() == ["1", "x", "true", "2", None]
        assert batch.column(1).to_pylist() == ["0.5", None, str(2**60), None, None]  # (in all digits)


def test_a_list_of_dictionaries_is_a_table_like_its_lines(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {"y": float(v), **({"a": int(v * 9)} if k % 3 else {}), **({"b": "uvw"[k % 7 % 3]} if k % 4 else {})}
        for k, v in enumerate(rng.normal(size=80))
    ]
    path = written(tmp_path / "t.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    columns = {key: [row.get(key) for row in rows] for key in ("y", "a", "b")}
    fits = [lineal.fit(data, target="y", penalty="none", test_size=0.0) for data in (rows, path, columns)]
    assert fits[0].columns == ("(intercept)", "a", "a is missing", "b=v", "b=w", "b is missing")
    for one in fits[1:]:
        np.testing.assert_array_equal(one.coef, fits[0].coef)
        np.testing.assert_array_equal(one.predict(rows[:9]), fits[0].predict(path)[:9])
    assert lineal.evaluate(fits[0], rows)["rows"] == len(rows)
    assert lineal.inspect(rows).types == lineal.inspect(columns).types
    for wrong, sentence in (
        ([{"a": 1}, [2]], "row 2 of the list is"),
        ([{}, {}], "have no keys"),
        ([{"1": 1}, {1: 2}], "the same name once written as text"),
    ):
        with pytest.raises(InputError, match=sentence):
            lineal.inspect(wrong)


def test_the_index_of_a_frame_is_no_column():
    frame = pd.DataFrame({"a": [1.0, None, 3.0], "b": ["u", "v", "w"]}).dropna()
    table = as_table(frame)
    assert list(table.names) == ["a", "b"]
    assert sum(batch.num_rows for _, batch in table.numbered()) == 2


def test_uniform_is_the_hash_of_the_model_file():
    mask = 2**64 - 1

    def mix(z: int) -> int:
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    for seed in (0, 1, 12345, 2**64 - 1):
        expected = [(mix(mix(seed) ^ i) >> 11) * 2.0**-53 for i in range(50)]
        assert uniform(seed, np.arange(50)).tolist() == expected
        assert uniform(seed, np.arange(7, 20)).tolist() == expected[7:20]


def test_split_keeps_row_numbers_and_loses_no_row():
    table = as_table({"a": list(range(1000))})
    train, test = split(table, 3, 0.25)
    rows = {
        name: np.concatenate([numbers for numbers, _ in part.numbered()])
        for name, part in (("train", train), ("test", test))
    }
    assert sorted([*rows["train"], *rows["test"]]) == list(range(1000))
    assert cells(test)["a"] == rows["test"].tolist()
    assert 200 < len(rows["test"]) < 300
    nested = train.where(lambda rows: rows % 2 == 0)
    assert cells(nested)["a"] == [row for row in rows["train"].tolist() if row % 2 == 0]
    with pytest.raises(InputError, match="at least 0 and below 1"):
        split(table, 0, 1.0)


def test_the_shared_files_have_the_rows_their_readme_states():
    stated = {
        "credit_approval.csv": (690, 16),
        "sms_spam.tsv": (5574, 2),
        "khan_srbct.csv.gz": (83, 2310),
        "fakenews_es_train.csv.gz": (676, 7),
        "trec_qc_trees_train.tsv.gz": (5452, 3),
        "reuters40.tsv": (40, 2),
        "wmt12_qe.csv": (2254, 19),
        "naturalstories_rt.csv": (10256, 6),
        "agaricus_train.svm": (6513, None),
        "wmt12_qe_text.jsonl.gz": (2254, None),
    }
    if not all((DATA / name).exists() for name in stated):
        pytest.skip("../shared/data is not there, or not whole")
    for name, (rows, columns) in stated.items():
        table = as_table(DATA / name)
        assert sum(batch.num_rows for batch in table.batches()) == rows, name
        if columns is not None:
            assert len(table.names) == columns, name


@pytest.mark.parametrize("repeats", [1, 2, 3, 30])
def test_a_header_may_name_a_rare_cell_of_its_column(tmp_path, repeats):
    """A table of words: `word` is one of them; the first row of a table without a header comes again more often."""
    rows = [f"w{k},{'NV'[k % 2]}" for k in range(200 - repeats)] + ["word,N"] * repeats
    (tmp_path / "words.csv").write_text("\n".join(["word,tag", *rows]) + "\n")
    headed = repeats <= 2  # one in a hundred cells
    assert as_table(tmp_path / "words.csv").names == (("word", "tag") if headed else ("c1", "c2"))
