"""Laws of the encoder: every format teaches the same, and a plain-Python twin agrees cell by cell."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from lineal.errors import InputError
from lineal.features.cells.cells import numbers, texts
from lineal.features.encoded import Encoded, fingerprint
from lineal.features.encoder import Encoder
from lineal.features.learning import learn
from lineal.tables.table import as_table, split
from lineal.verify import terms
from lineal.verify.reading import cells as twin_cells
from lineal.verify.reading import fingerprint as twin_fingerprint
from lineal.verify.reading.split import uniform
from lineal.verify.terms import BY_KIND

LAW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# carriage returns are left out because universal line ends are not ours to test; surrogates are no text
WORDS = st.text(st.characters(exclude_characters="\r\0", exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6).map(lambda x: x + 0.0), st.just(None))  # no -0.0


@st.composite
def tables(draw):
    """A number target, two number columns, categories from few words, Booleans; cells missing here and there."""
    n = draw(st.integers(2, 30))

    def column(cells):
        return draw(st.lists(cells, min_size=n, max_size=n))

    words = draw(st.lists(WORDS, min_size=1, max_size=4))
    return {
        "y": column(st.floats(-1e3, 1e3).map(lambda x: x + 0.0)),
        "a": column(NUMBERS),
        'b, "quoted"': column(st.floats(-1.0, 1.0).map(lambda x: x + 0.0)),
        "kind": column(st.sampled_from([*words, None])),
        "member": column(st.sampled_from([True, False, None])),
    }


def as_floats(table):
    return {
        name: [float(x) if isinstance(x, int) and not isinstance(x, bool) else x for x in cells]
        for name, cells in table.items()
    }


def text(cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    # where a number is read as text, 3.0 in a typed table is 3, so it is written like that
    return str(cell).lower() if isinstance(cell, bool) else str(int(cell)) if cell == int(cell) else repr(cell)


def write_delimited(path: Path, table, delimiter: str) -> Path:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(table)
    writer.writerows(zip(*([text(cell) for cell in cells] for cells in table.values()), strict=True))
    data = out.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def forms(table, folder: Path):
    """Return the same table in every form we read."""
    typed = as_floats(table)
    arrow = pa.table(
        {name: pa.array(cells, type=pa.float64() if name in ("y", "a") else None) for name, cells in typed.items()}
    )
    pyarrow.parquet.write_table(arrow, folder / "t.parquet")
    pyarrow.feather.write_feather(arrow, folder / "t.feather")
    lines = [json.dumps(dict(zip(typed, row, strict=True))) for row in zip(*typed.values(), strict=True)]
    (folder / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return {
        "csv": write_delimited(folder / "t.csv", table, ","),
        "csv.gz": write_delimited(folder / "t.csv.gz", table, ";"),
        "tsv": write_delimited(folder / "t.tsv", table, "\t"),
        "parquet": folder / "t.parquet",
        "feather": folder / "t.feather",
        "jsonl": folder / "t.jsonl",
        "arrow": arrow,
        "pandas": pd.DataFrame(
            {
                name: pd.Series(cells, dtype=object if name in ("kind", "member") else None)
                for name, cells in typed.items()
            }
        ),
        "polars": pl.from_arrow(arrow),
        "dictionary": typed,
    }


def whole(source):
    blocks = list(source.blocks())
    return np.concatenate([block.design.dense() for block in blocks]), np.concatenate([block.y for block in blocks])


@pytest.mark.slow
@LAW
@given(tables())
def test_every_form_of_a_table_teaches_and_encodes_the_same(table):
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, data in forms(table, Path(folder)).items():
            opened = as_table(data, header=True) if name in ("csv", "csv.gz", "tsv") else as_table(data)
            try:
                learned = learn(opened, target="y", model="number")
            except InputError as refused:
                found[name] = (
                    "refused",
                    str(refused).split(" of ")[0] if "row" in str(refused) else type(refused).__name__,
                )
                continue
            design, y = whole(Encoded(opened, learned))
            found[name] = (
                learned.encoder,
                design.tolist(),
                y.tolist(),
                fingerprint(opened, learned),
                learned.report["dropped"],
            )
        outcomes = {name: outcome[0] == "refused" for name, outcome in found.items()}
        assert len(set(outcomes.values())) == 1, outcomes
        if not outcomes["csv"]:
            for name, outcome in found.items():
                assert outcome == found["arrow"], name


def taught(table):
    """Return what is learned; a table with nothing to predict, or to predict from, is no example."""
    try:
        return learn(table, target="y", model="number")
    except InputError:
        reject()


@LAW
@given(tables(), st.integers(0, 3), st.sampled_from([0.0, 0.3]))
def test_the_plain_twin_agrees(table, seed, test_size):
    """The twin of lineal.verify, written by others from the same text, cell by cell."""
    train, _ = split(as_table(as_floats(table)), seed, test_size)
    learned = taught(train)
    n = len(table["y"])
    rows = np.flatnonzero(uniform(seed, n) >= test_size)
    columns = {name: [cells[row] for row in rows] for name, cells in as_floats(table).items()}
    expected = [[1.0] * len(rows)]
    names = ["(intercept)"]
    for term in learned.encoder.terms:
        data = term.to_dict()
        names += BY_KIND[term.kind].names(data)
        expected += [found.tolist() for found in BY_KIND[term.kind].values(data, columns[term.column])]
        assert terms.learned(data, columns) is None
    design, y = whole(Encoded(train, learned))
    assert learned.encoder.columns == tuple(names)
    assert design.T.tolist() == expected
    assert y[:, 0].tolist() == columns["y"]
    used = [("y", "n", columns["y"])] + [
        (t.column, BY_KIND[t.kind].TYPE, columns[t.column]) for t in learned.encoder.terms
    ]
    assert fingerprint(train, learned) == twin_fingerprint.fingerprint(used)


@LAW
@given(tables(), st.randoms())
def test_columns_are_found_by_name(table, random):
    data = as_floats(table)
    learned = taught(as_table(data))
    names = [*data, "more"]
    random.shuffle(names)
    shuffled = {name: data.get(name, [0.0] * len(data["y"])) for name in names if name != "y"}
    assert learned.encoder.encode(shuffled).dense().tolist() == learned.encoder.encode(data).dense().tolist()
    for term in learned.encoder.terms:
        with pytest.raises(InputError, match="which the model needs"):
            learned.encoder.encode({name: cells for name, cells in shuffled.items() if name != term.column})


@LAW
@given(tables())
def test_an_encoder_survives_its_file(table):
    encoder = taught(as_table(as_floats(table))).encoder
    again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict(), allow_nan=False)))
    assert again == encoder
    assert again.columns == encoder.columns


CELLS = st.one_of(
    WORDS,
    st.sampled_from(
        [
            " NA ",
            "?",
            "nan",
            "NAN",
            "1_0",
            "+5",
            "5.",
            ".5",
            "-",
            "1e400",
            "inf",
            "-Infinity",
            "٣",
            "0x1",
            " 7 ",
            "1e-400",
            "00",
        ]
    ),
    st.floats().map(repr),
)


@LAW
@given(st.lists(CELLS, min_size=1, max_size=12))
def test_text_cells_mean_what_the_twin_says(words):
    for array in (pa.array(words), pa.array(words).dictionary_encode(), pa.array(words, pa.large_string())):
        values, bad = numbers(array)
        codes, levels = texts(array)
        for i, word in enumerate(words):
            assert (codes[i] < 0) == twin_cells.missing(word)
            if twin_cells.missing(word):
                assert np.isnan(values[i])
                assert i not in bad
                continue
            assert levels[codes[i]] == twin_cells.text(word)
            try:
                expected = twin_cells.number(word)
            except ValueError:
                assert i in bad or np.isinf(values[i])
            else:
                assert values[i] == expected
                assert i not in bad


TYPED = [
    pa.array([1, None, -3]),
    pa.array([2**40, 5, None]),
    pa.array([7, None, 9], pa.uint8()),
    pa.array([1.5, 2.0, float("nan")]),
    pa.array([1.5, -0.0, 1e300]),
    pa.array([0.1, 0.25, None], pa.float32()),
    pa.array([True, None, False]),
    pa.nulls(3),
    pa.array(["a", None, " b "]),
    pa.array(["x", None, "x"]).dictionary_encode(),
    pa.array([3, 4, None]).dictionary_encode(),
]


@pytest.mark.parametrize("array", TYPED, ids=lambda array: str(array.type))
def test_typed_cells_mean_what_the_twin_says(array):
    codes, levels = texts(array)
    values, bad = numbers(array)
    for i, cell in enumerate(array.to_pylist()):
        assert (codes[i] < 0) == twin_cells.missing(cell)
        if not twin_cells.missing(cell):
            assert levels[codes[i]] == twin_cells.text(cell)
            if not isinstance(cell, str):
                assert values[i] == twin_cells.number(cell)
                assert i not in bad
    sliced_codes, sliced_levels = texts(array.slice(1))
    assert [None if c < 0 else sliced_levels[c] for c in sliced_codes] == [
        None if c < 0 else levels[c] for c in codes[1:]
    ]
    assert np.array_equal(numbers(array.slice(1))[0], values[1:], equal_nan=True)
