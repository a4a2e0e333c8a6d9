"""What is decided about columns and targets, and how bad cells are named."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lineal.errors import InputError, ModelFileError
from lineal.features.encoded import Encoded
from lineal.features.encoder import Encoder
from lineal.features.learning import learn
from lineal.features.terms import Boolean, Category, Number
from lineal.features.types.choices import Choices
from lineal.features.types.survey import exact_sum
from lineal.tables.table import as_table, split
from tests.unit.learning_cases import learned


def term(cells, **options):
    return {t.column: t for t in learned({"a": cells, "also": [1.0, 2.0, 4.0, 8.0]}, **options).encoder.terms}.get("a")


def why(cells, n: int = 4) -> str:
    table = {"y": np.linspace(0.5, 1.7, n), "a": cells, "also": np.arange(n) ** 2}
    found = learn(as_table(table), target="y").report["dropped"]
    assert [entry["column"] for entry in found] == ["a"]
    return found[0]["why"]


def csv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(text)
    return path


def test_numbers():
    assert term([1, 2, 3, 6]) == Number("a", 3.0, indicator=False)
    assert term([1.0, None, float("nan"), 3.0]) == Number("a", 2.0, indicator=True)
    assert term(["1", " 2 ", "NA", "+3e0"]) == Number("a", 2.0, indicator=True)
    assert term(np.array([1, 2, 3, 6], dtype=np.float32)) == Number("a", 3.0, indicator=False)
    decimals = [decimal.Decimal(text) for text in ("1.00", "2.00", "3.50", "5.50")]
    assert term(pa.array(decimals, pa.decimal128(10, 2))) == Number("a", 3.0, indicator=False)


def test_booleans():
    assert term([True, False, None, True]) == Boolean("a", ("true",), ("false",), 2 / 3, indicator=True)
    assert term(["Yes", "no", "YES", "N"]) == Boolean("a", ("YES", "Yes"), ("N", "no"), 0.5, indicator=False)
    assert isinstance(term(["f", "m", "f", "f"]), Category)


def test_categories():
    assert term(["b", "a", "b", "c"]) == Category("a", ("a", "b", "c"), "b", missing=False)
    assert term(["b", "a", None, "?"]) == Category("a", ("a", "b"), "a", missing=True)  # a tie: first in order
    assert term(pa.array(["1", "2", "2", "2"]).dictionary_encode()) == Category("a", ("1", "2"), "2", missing=False)
    assert term(pa.array([10, 20, 20, 20]).dictionary_encode()) == Category("a", ("10", "20"), "20", missing=False)


def test_only_the_absence_of_a_constant_tells_anything():
    assert term(["x", "x", None, "x"]) == Category("a", ("x",), "x", missing=True)
    assert term([5.0, 5.0, None, 5.0]) == Category("a", ("5",), "5", missing=True)
    assert term(["yes", "yes", None, "yes"]) == Category("a", ("yes",), "yes", missing=True)
    assert why(["5", "5.0", None, "5"]) == "it is 5 wherever it is present"
    encoded = Encoder(intercept=True, terms=(Category("a", ("5",), "5", missing=True),)).encode({"a": [5.0, None]})
    assert encoded.dense().tolist() == [[1.0, 0.0], [1.0, 1.0]]


def test_columns_that_say_nothing_are_left_out():
    assert why([None] * 4) == "every cell is missing"
    assert why(["NA", "?", "", None]) == "every cell is missing"
    assert why([7, 7, 7, 7]) == "it is 7 in every row"
    assert why(["x"] * 4) == "it is 'x' in every row"
    assert why([dt.date(2020, 1, 1)] * 4) == "it is the same date in every row"
    assert why(["2020-01-01", "2020-01-01", "2020-01-01", None]) == "it is the same date wherever it is present"
    assert why(["7 %"] * 4) == "it is 7 in every row"
    assert why([b"1", b"2", b"3", b"4"]) == "it holds lists or bytes, not cells"


ROW_NUMBERS = ("ID", "row_no", "PassengerId", "customerid", "Unnamed: 0", "case number")


TRENDS = ("x", "t", "week", "humidity", "dose")


def test_identifiers_are_left_out():
    n = 200
    assert "looks like an identifier" in why([f"id{i}" for i in range(n)], n)
    assert "101 different values in 200 cells" in why([f"id{i % 101}" for i in range(n)], n)
    text = learn(as_table({"y": np.arange(n) % 7, "a": [f"this is sentence number {i}" for i in range(n)]}), target="y")
    assert [term.kind for term in text.encoder.terms] == ["text"]
    table = {"y": np.linspace(0, 1, n), "id": np.arange(n), "also": np.arange(n) ** 2}
    train, _ = split(as_table(table), 0, 0.3)  # a running number stays one in a part of the rows
    found = learn(train, target="y")
    assert [entry["column"] for entry in found.report["dropped"]] == ["id"]
    named = {"y": np.linspace(0, 1, n), **{name: np.arange(n) + 5 for name in (*ROW_NUMBERS, *TRENDS)}}
    report = learn(as_table(named), target="y").report
    assert [entry["column"] for entry in report["dropped"]] == list(ROW_NUMBERS)
    assert all("it counts the rows (5, 6, ...)" in entry["why"] for entry in report["dropped"])
    few = {"y": np.linspace(0, 1, 19), "id": np.arange(19), "k": [f"k{i}" for i in range(19)]}
    assert {t.column for t in learn(as_table(few), target="y").encoder.terms} == {"id", "k"}


def test_a_category_may_have_more_than_ten_thousand_levels(tmp_path):
    n = 25_000
    rows = "".join(f"{i / 7},v{i % 12_000},{i % 3}\n" for i in range(n))
    found = learn(as_table(csv(tmp_path, "y,a,b\n" + rows)), target="y")
    assert found.report["dropped"] == []
    (words,) = found.encoder.categories
    assert words.reference is None  # each with its own score
    assert set(words.levels) == {f"v{i}" for i in range(12_000)}
    capped = learn(as_table(csv(tmp_path, "y,a,b\n" + rows)), target="y", choices=Choices(max_levels=1000))
    (words,) = capped.encoder.categories
    assert len(words.columns) == 1000  # one is the reference, one that of the others
    assert set(words.levels) == {f"v{i}" for i in sorted(range(1000), key=str)}  # (v0 to v999 occur three times)


def test_text_in_a_number_column_is_named_with_its_row(tmp_path):
    rows = [f"{i}.5,{i * i % 17}" for i in range(100)]
    rows[41] = "41.5,oops"
    path = csv(tmp_path, "y,a\n\n" + "\n".join(rows) + "\n")
    with pytest.raises(
        InputError, match=r"column 'a' is a number, but row 42 \(line 44\) of t.csv holds 'oops'; .*--drop a"
    ):
        learn(as_table(path), target="y")
    rows[41] = "41.5,inf"
    with pytest.raises(InputError, match=r"'a' is infinite in row 42 \(line 44\)"):
        learn(as_table(csv(tmp_path, "y,a\n\n" + "\n".join(rows) + "\n")), target="y")
    for odd in ("0x1", "1,5,5", "nan(1)", "1d5", "5 %", "2020-01-01"):
        rows[41] = f'41.5,"{odd}"'
        with pytest.raises(InputError, match="row 42"):
            learn(as_table(csv(tmp_path, "y,a\n\n" + "\n".join(rows) + "\n")), target="y")


@pytest.mark.parametrize("odd", ["nan(1)", "oops", "inf", "-Infinity", "1e999"])
def test_a_bad_cell_beyond_the_rows_that_were_looked_at_is_named(tmp_path, odd):
    rows = [f"{i}.5,{i * i % 17}" for i in range(3000)]
    rows[2500] = f"2500.5,{odd}"
    table = as_table(csv(tmp_path, "y,a\n" + "\n".join(rows) + "\n"))
    assert "a" in table.guess()
    with pytest.raises(InputError, match=r"row 2501 \(line 2502\)"):
        learn(table, target="y")


def test_a_missing_or_padded_cell_beyond_those_rows_is_understood(tmp_path):
    rows = [f"{i}.5,{i % 2}" for i in range(3000)]
    rows[2500], rows[2600] = "2500.5, NA ", "2600.5, +1e0 "
    table = as_table(csv(tmp_path, "y,a\n" + "\n".join(rows) + "\n"))
    found = learn(table, target="y")
    assert found.encoder.terms == (Number("a", 1501 / 2999, indicator=True),)
    dense = np.concatenate([block.design.dense() for block in Encoded(table, found).blocks()])
    assert dense[2500].tolist() == [1.0, 1501 / 2999, 1.0]
    assert dense[2600].tolist() == [1.0, 1.0, 0.0]


def test_decimal_commas_of_a_target_are_refused(tmp_path):
    path = csv(tmp_path, "y;a\n1.5;1,5\n2.5;2\n3.5;1.234,5\n4.5;NA\n")
    with pytest.raises(
        InputError, match=r"the target 'a' holds numbers with a comma, such as '1,5' in row 1 \(line 2\)"
    ):
        learn(as_table(path), target="a")
    assert isinstance(term(["1,2,3", "1,2", "1,2", "x"]), Category)


def test_columns_named_like_their_cells_are_no_repeated_header(tmp_path):
    rows = [f"{'red' if k % 2 else ''},{'' if k % 2 else 'blue'},{'y' if k % 3 else 'n'}" for k in range(30)]
    found = learn(as_table(csv(tmp_path, "red,blue,y\n" + "\n".join(rows) + "\n"), header=True), target="y")
    assert {t.column for t in found.encoder.terms} == {"red", "blue"}
    repeated = csv(tmp_path, "red,blue,y\n" + "\n".join([*rows, "red,blue,y"]) + "\n")
    with pytest.raises(InputError, match=r"row 31 \(line 32\) of t.csv holds the names"):
        learn(as_table(repeated, header=True), target="y")


def test_ninety_five_in_a_hundred_make_a_number(tmp_path):
    def text(bad: int) -> str:
        return "y,a,b\n" + "".join(f"{i}.5,{'x' if i >= 100 - bad else i % 9},{i * i % 19}\n" for i in range(100))

    with pytest.raises(InputError, match=r"holds 'x' \(5 such cells\)"):
        learn(as_table(csv(tmp_path, text(5))), target="y")
    found = learn(as_table(csv(tmp_path, text(6))), target="y")
    assert {t.column: t.kind for t in found.encoder.terms} == {"a": "category", "b": "number"}


def test_a_column_that_looks_like_numbers_at_first_is_read_again_as_text(tmp_path):
    """The first thousand cells are numbers written as 007: their text must survive the second thought."""
    rows = [f"{i}.5,{i % 3:03d}" for i in range(2000)] + [f"{i}.5,x{i % 4}" for i in range(2000, 4000)]
    table = as_table(csv(tmp_path, "y,a\n" + "\n".join(rows) + "\n"))
    assert "a" in table.guess()
    found = learn(table, target="y")
    assert found.encoder.terms == (Category("a", ("000", "001", "002", "x0", "x1", "x2", "x3"), "000", missing=False),)
    y = next(iter(Encoded(table, found).blocks())).y
    assert y[:2].tolist() == [[0.5], [1.5]]


def test_sentences_are_said():
    found = learned({"a": [1.0, None, 2.0, 3.0], "b": ["u", "v", "u", "u"], "c": [1, 1, 1, 1]})
    assert found.report["sentences"] == [
        "The target 'y' is a number from 0.5 to 3.5 (its values are not all whole).",
        "'a' is a number: 1 missing cell is replaced by the mean 2 and marked.",
        "'b' is a category: 2 levels, compared with 'u'.",
        "'c' is left out: it is 1 in every row.",
    ]
    json.dumps(found.report, allow_nan=False)


def test_new_data_is_read_by_name():
    encoder = learned(
        {"age": [1.0, None, 2.0, 3.0], "kind": ["u", "v", "u", "u"], "member": ["yes", "no", "no", "no"]}
    ).encoder
    assert encoder.columns == ("(intercept)", "age", "age is missing", "member", "kind=v")
    new = {"more": [1, 2, 3], "member": ["Yes", "perhaps", None], "kind": ["v", "w", None], "age": [7, None, 8]}
    design, unknown = encoder.encode_counted(new)
    expected = [[1, 7, 0, 1, 1], [1, 2, 1, 0.25, 0], [1, 8, 0, 0.25, 0]]
    assert design.dense().tolist() == expected
    assert unknown == {"member": 1, "kind": 1}
    batch = pa.RecordBatch.from_pydict(new)
    assert encoder.encode(batch).dense().tolist() == expected
    with pytest.raises(InputError, match=r"no column 'age'.* Did you mean 'agee'\?"):
        encoder.encode({"agee": [1.0], "kind": ["u"], "member": ["no"]})
    with pytest.raises(InputError, match="row 2 of the table holds 'x' in column 'age', which needs a number"):
        encoder.encode({"age": ["1", "x"], "kind": ["u", "u"], "member": ["no", "no"]})
    with pytest.raises(InputError, match="needs a finite number"):
        encoder.encode({"age": [1.0, -np.inf], "kind": ["u", "u"], "member": ["no", "no"]})


GOOD = {
    "intercept": True,
    "terms": [
        {"kind": "number", "column": "a", "fill": 1.5, "indicator": True},
        {"kind": "boolean", "column": "b", "true": ["yes"], "false": ["no"], "fill": 0.5, "indicator": False},
        {"kind": "category", "column": "c", "levels": ["u", "v"], "reference": "u", "missing": True},
    ],
}


def test_an_encoder_is_plain_data():
    encoder = Encoder.from_dict(json.loads(json.dumps(GOOD)))
    assert encoder.to_dict() == GOOD
    assert encoder.columns == ("(intercept)", "a", "a is missing", "b", "c=v", "c is missing")


def changed(path: list, value) -> dict:
    data = json.loads(json.dumps(GOOD))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    if value is KeyError:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["intercept"], 1),
        (["intercept"], KeyError),
        (["more"], 1),
        (["terms"], {}),
        (["terms", 0], 3),
        (["terms", 0, "kind"], "text"),
        (["terms", 0, "kind"], []),
        (["terms", 0, "column"], ""),
        (["terms", 0, "column"], "c"),
        (["terms", 0, "fill"], None),
        (["terms", 0, "fill"], True),
        (["terms", 0, "fill"], float("nan")),
        (["terms", 0, "indicator"], 1),
        (["terms", 0, "indicator"], KeyError),
        (["terms", 0, "more"], 1),
        (["terms", 1, "true"], []),
        (["terms", 1, "true"], "yes"),
        (["terms", 1, "true"], ["NO"]),
        (["terms", 2, "levels"], ["u", "u"]),
        (["terms", 2, "levels"], ["u", 3]),
        (["terms", 2, "reference"], "w"),
        (["terms", 2, "reference"], ["u"]),
        (["terms", 2, "missing"], None),
        (["terms"], GOOD["terms"][::-1]),
        (["terms", 1, "column"], "a is missing"),
    ],
)
def test_a_hostile_encoder_is_refused(path, value):
    with pytest.raises(ModelFileError, match="encoder in the model file"):
        Encoder.from_dict(changed(path, value))


def test_sums_are_exact():
    rng = np.random.default_rng(0)
    for size in (0, 1, 63, 64, 65, 1000, 4097):
        values = rng.normal(size=size) * 10.0 ** rng.integers(-20, 20, size)
        total, error = exact_sum(values, (0.25, 1e-30))
        assert total == math.fsum([*values, 0.25, 1e-30])
        assert abs(error) <= abs(total) * 2.0**-53


def test_numbers_too_large_to_add_are_refused():
    with pytest.raises(InputError, match="too large to add up"):
        learned({"a": [1.7e308, 1.7e308, 1.6e308, 1.0]})


def test_read_only_and_float32_columns():
    column = np.array([1.0, 2.0, 4.0, 8.0], dtype=np.float32)
    column.flags.writeable = False
    found = learned({"a": column})
    assert found.encoder.encode({"a": column}).dense()[:, 1].tolist() == [1.0, 2.0, 4.0, 8.0]
