"""Types that are told hold, or the first cell against them is named; recipes say the same in a file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import lineal
from lineal.cli.roles import pairs
from lineal.errors import InputError
from lineal.features.learning import learn
from lineal.features.recipe import Recipe
from lineal.features.terms import Boolean, Category, Merged, Number
from lineal.features.terms.written import Ordinal, Written
from lineal.features.types import declared_types
from lineal.tables.table import as_table
from lineal.verify import terms
from lineal.verify.terms import BY_KIND

N = 24
Y = np.linspace(0.5, 3.7, N)


def term(cells, spelling):
    found = learn(as_table({"y": Y, "a": cells, "b": np.arange(N) ** 2.0}), target="y", types={"a": spelling})
    (one,) = [term for term in found.encoder.terms if term.column == "a"]
    data = one.to_dict()
    twin = BY_KIND[one.kind]
    if one.kind in ("number", "boolean", "ordinal", "written", "category"):
        assert terms.learned(data, {one.column: cells}) is None
        places = [found.encoder.columns.index(name) for name in twin.names(data)]
        dense = found.encoder.encode({"a": cells, "b": Y}).dense()
        assert dense[:, places].T.tolist() == [column.tolist() for column in twin.values(data, cells)]
    return one


def refused(cells, spelling, words):
    with pytest.raises(InputError, match=words):
        learn(as_table({"y": Y, "a": cells, "b": np.arange(N) ** 2.0}), target="y", types={"a": spelling})


def test_numbers_can_be_categories():
    found = term([k % 3 for k in range(N)], "category")
    assert found == Category("a", ("0", "1", "2"), "0", missing=False)
    assert isinstance(term([f"id{k}" for k in range(N)], "category"), Category)  # told, so no identifier


def test_texts_keep_their_zeros_as_a_category(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("y,zip\n" + "".join(f"{k}.5,{k % 3:05d}\n" for k in range(N)))
    found = learn(as_table(path), target="y", types={"zip": "category"})
    assert found.encoder.terms == (Category("zip", ("00000", "00001", "00002"), "00000", missing=False),)


def test_a_row_number_can_be_a_number():
    found = learn(as_table({"y": Y, "id": np.arange(N)}), target="y", types={"id": "number"})
    assert found.encoder.terms == (Number("id", 11.5, indicator=False),)


def test_numbers_are_declared_by_an_example():
    cells = [f"{k},125" for k in range(N)]
    assert isinstance(term(cells, "number"), Written)
    assert term(cells, "number").notation.group == ","  # a thousand, by default
    assert term(cells, "number:1234,5").fill == pytest.approx(11.625)
    refused([*cells[1:], "x"], "number:1234,5", "row 24 .*holds 'x'")
    refused(["x", *cells[1:]], "number", "was declared a number, but row 1")
    refused(cells, "number:five", "no way to write numbers")


def test_orders_are_declared():
    cells = ["low", "high", "middle", None] * (N // 4)
    found = term(cells, "ordinal:low<middle<high")
    assert found == Ordinal("a", ("low", "middle", "high"), 1.0, indicator=True)
    refused(cells, "ordinal:low<high", "'middle' in row 3")
    refused(cells, "ordinal", "order of column 'a' is not known")
    refused(cells, "ordinal:low<low", "each once")
    assert term([k % 4 for k in range(N)], "ordinal").levels == ("0", "1", "2", "3")


def test_an_unknown_level_of_an_order_is_filled_and_counted():
    found = term(["low", "high"] * (N // 2), "ordinal:low<high")
    out = np.empty((3, 1))
    assert found.write(out, pa.array(["high", "odd", None])) == 1
    assert out[:, 0].tolist() == [1.0, 0.5, 0.5]


def test_booleans_are_declared():
    cells = ["ja", "nein"] * (N // 2)
    assert term(cells, "boolean:ja") == Boolean("a", ("ja",), ("nein",), 0.5, indicator=False)
    assert term([0, 1] * (N // 2), "boolean") == Boolean("a", ("1",), ("0",), 0.5, indicator=False)
    refused(cells, "boolean", "say which word means true")


def test_dates_are_declared():
    cells = [f"{1 + k % 12}/{1 + k % 11}/2020" for k in range(N)]
    month = learn(as_table({"y": Y, "a": cells}), target="y")
    day = learn(as_table({"y": Y, "a": cells}), target="y", types={"a": "date:DMY"})
    assert [found.encoder.terms[0].calendar.order for found in (month, day)] == ["MDY", "DMY"]
    refused([*cells[1:], "2020-01-01"], "date", "not all written as dates in one way")
    refused(cells, "date:YMD", "in the order YMD")
    refused(cells, "date:DYM", "YMD, DMY or MDY")


def test_columns_can_be_dropped_and_mistakes_are_named():
    table = as_table({"y": Y, "a": Y**2, "b": Y**3})
    assert learn(table, target="y", types={"a": "drop"}).encoder.columns == ("(intercept)", "b")
    for types, words in (
        ({"c": "number"}, "has no column 'c'"),
        ({"a": "nubmer"}, "Did you mean 'number'"),
        ({"y": "number"}, "no column to predict from"),
        ({"a": "category:x"}, "takes max=N and hash=2"),
        ({"a": "drop:x"}, "takes nothing after it"),
    ):
        with pytest.raises(InputError, match=words):
            learn(table, target="y", types=types)
    with pytest.raises(InputError, match="has no effect"):
        learn(table, target="y", types={"a": "number"}, drop=["a"])
    with pytest.raises(InputError, match="array"):
        lineal.fit(np.ones((4, 2)), np.arange(4.0), types={"x0": "number"})


def test_rare_levels_are_merged():
    rng = np.random.default_rng(0)
    cells = [f"c{int(k)}" for k in np.minimum(rng.geometric(0.05, 900), 400)]
    y = rng.normal(size=900)
    found = learn(as_table({"y": y, "city": cells}), target="y")
    (one,) = found.encoder.terms
    counts = {level: cells.count(level) for level in set(cells)}
    assert isinstance(one, Merged)
    assert set(one.levels) == {level for level, count in counts.items() if count >= 5}
    merged = sum(count < 5 for count in counts.values())
    assert f"{merged} levels with fewer than 5 rows are merged" in found.report["sentences"][1]
    assert terms.learned(one.to_dict(), {one.column: cells}) is None
    fresh = ["c1", "never seen", None, *sorted(set(cells))]
    dense = found.encoder.encode({"city": fresh}).dense().T
    assert dense[1:].tolist() == [column.tolist() for column in BY_KIND["merged"].values(one.to_dict(), fresh)]
    assert found.encoder.encode_counted({"city": fresh})[1] == {}  # what was never seen is rare, not unknown


def test_types_are_typed():
    assert pairs(("a=number:1.234,5 €", "b = c=category")) == {"a": "number:1.234,5 €", "b = c": "category"}
    with pytest.raises(InputError, match="age=number"):
        pairs(("age",))
    with pytest.raises(InputError, match="twice"):
        pairs(("age=number", "age=date"))


def test_a_recipe_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "r.toml"
    wide = Recipe(("y", 'a "b"\\'), "w", None, ("tab\there", "\x7f"), {"é ü": "ordinal:a<b", "x.y": "number:1.234,5 €"})
    for recipe in (Recipe(), wide, Recipe("y", types={"a": "category"})):
        path.write_text(recipe.text(), encoding="utf-8")
        assert Recipe.read(path) == recipe


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("target = 5", "target.*one column"),
        ("tragte = 'y'", "Did you mean 'target'"),
        ("[types]\na = 5", "types.*table"),
        ("drop = 'a'", "list of columns"),
        ("target =", "not TOML"),
        (b"\xff", "UTF-8"),
    ],
)
def test_bad_recipes_are_refused(tmp_path, text, words):
    path = tmp_path / "r.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=words):
        Recipe.read(path)


def leaky(n: int = 400):
    rng = np.random.default_rng(4)
    x = rng.normal(size=n)
    late = x + rng.normal(size=n) > 0
    return {
        "y": np.where(late, "yes", "no"),
        "x": x,
        "status": np.where(late, "closed", "open"),
        "paid": late * 2.0 + rng.random(n),
        "paid text": [f"{value:.2f} €" for value in late * 2.0 + rng.random(n)],
        "city": rng.choice(list("abc"), n),
    }


def test_columns_that_tell_the_target_are_suspected_and_kept():
    table = leaky()
    found = learn(as_table(table), target="y")
    told = [sentence.split("'")[1] for sentence in found.report["suspicions"]]
    assert told == ["status", "paid", "paid text"]
    assert {term.column for term in found.encoder.terms} == {"x", "status", "paid", "paid text", "city"}
    model = lineal.fit(table, target="y", penalty="ridge:1")
    assert "--drop status" in model.report["data"]["notes"][0]
    x = table["x"]
    line = {"y": 3 * x - 2, "x": x, "z": np.cos(9 * x), "class": np.where(x > 0, "u", "v")}
    assert [s.split("'")[1] for s in learn(as_table(line), target="y").report["suspicions"]] == ["x"]
    few = {name: cells[:40] for name, cells in table.items()}
    assert learn(as_table(few), target="y").report["suspicions"] == []


def test_a_table_is_inspected():
    table = leaky()
    table["x"] = np.where(np.arange(400) % 4 == 0, np.nan, table["x"])
    found = lineal.inspect(table, target="y")
    columns = {column["column"]: column for column in found.report["columns"]}
    x = columns["x"]
    present = table["x"][~np.isnan(table["x"])]
    assert (x["missing"], x["missing_share"], x["role"]) == (100, 0.25, "feature")
    assert (x["low"], x["high"]) == (present.min(), present.max())
    assert x["histogram"] == np.histogram(present, bins=12)[0].tolist()
    assert columns["city"]["levels"][0]["count"] == max(table["city"].tolist().count(level) for level in "abc")
    assert columns["y"]["role"] == "target"
    assert len([note for note in found.report["notes"] if "alone tells" in note]) == 3
    bare = lineal.inspect(table)
    assert [column["type"] for column in bare.report["columns"]][:3] == ["boolean", "number", "category"]
    assert bare.types["paid text"] == "number:1234.5 €"


def test_dates_and_odd_columns_are_inspected():
    table = {
        "day": [f"2020-01-{1 + k % 28:02d}" for k in range(40)],
        "one": ["x"] * 40,
        "gone": [None] * 40,
        "id": np.arange(40),
        "raw": [b"x"] * 40,
    }
    found = lineal.inspect(table, drop=["raw"])
    columns = {column["column"]: column for column in found.report["columns"]}
    assert (columns["day"]["low"], columns["day"]["high"]) == ("2020-01-01", "2020-01-28")
    assert [name for name, column in columns.items() if column.get("used") is False] == ["one", "gone", "id"]
    assert found.types == {"day": "date:YMD", "one": "drop", "gone": "drop", "id": "drop"}


def test_what_is_inspected_can_be_declared():
    """The types that inspection finds, told to a fit, give the fit that finds them itself."""
    table = leaky()
    table["paid text"][3] = "-"
    found = lineal.inspect(table, target="y")
    plain = learn(as_table(table), target="y")
    told = learn(as_table(table), target="y", types=found.types)
    assert told.encoder == plain.encoder


@pytest.mark.parametrize("kind", declared_types.ALL, ids=lambda kind: kind.name)
def test_every_declared_type_is_read_by_its_name(kind):
    found = declared_types.parse("a", kind.name)
    assert type(found) is kind
    assert pairs((f"a={kind.name}",)) == {"a": kind.name}
    assert kind.name in kind.__name__.lower()
