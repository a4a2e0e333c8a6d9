"""Targets, weights and offsets of a table: what they are read as, and what is refused."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

import lineal
from lineal.errors import InputError
from lineal.features.encoded import Encoded
from lineal.features.learning import learn
from lineal.features.terms import Category, Number
from lineal.tables.table import as_table
from tests.unit.learning_cases import Y, learned


def test_targets():
    def target(cells, **options):
        table = {"t": cells * 3, "a": [1.0, 2.0, 4.0, 8.0] * 3}
        return learn(as_table(table), target="t", **options).target

    assert target(["b", "a", "b", "a"]).classes == ("a", "b")
    assert target([2, 1, 10, 1]).classes == (1, 2, 10)
    assert [type(c) for c in target([2.0, 1.0, 10.0, 1.0]).classes] == [int] * 3
    assert target(["2", "1", "10", "+1.0"]).classes == (1, 2, 10)
    assert target([True, False, True, True]).classes == (False, True)
    assert target(["no", "yes", "no", "no"]).classes == ("no", "yes")
    assert target([0.5, 1.5, 0.5, 0.5]).kind == "number"
    assert target([1, 2, 3, 3], model="number").kind == "number"
    assert target([0.5, 10.5, 2.5, 0.5], model="classes").classes == ("0.5", "2.5", "10.5")
    assert learn(as_table({"t": range(11), "a": np.arange(11) ** 2}), target="t").target.kind == "number"
    assert (
        learn(as_table({"t": [i % 10 for i in range(30)], "a": np.arange(30) ** 2}), target="t").target.kind
        == "classes"
    )
    # values that hardly repeat are numbers, unless there are only two of them
    assert learn(as_table({"t": [3, 4, 6, 7, 9, 8], "a": [1, 2, 4, 3, 9, 7]}), target="t").target.kind == "number"
    assert learn(as_table({"t": [0, 1, 1], "a": [1, 2, 4]}), target="t").target.kind == "classes"


BAD_TARGETS = {
    "constant": ([3.0] * 4, "auto", "is 3 in every row"),
    "constant number": ([3.0] * 4, "number", "is 3 in every row"),
    "one class": (["a"] * 4, "auto", "is 'a' in every row"),
    "missing": ([None, "NA", "", None], "auto", "no row of the table has a target"),
    "text as number": (["a", "b", "a", "b"], "number", "not a number: row 1 of the table holds 'a'"),
    "infinite": ([1.0, float("inf"), 2.0, 3.5], "auto", "infinite in row 2"),
    "date": ([dt.date(2020, 1, d) for d in (1, 2, 3, 4)], "auto", "neither a number nor a class"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_targets_are_refused(case):
    cells, model, sentence = BAD_TARGETS[case]
    with pytest.raises(InputError, match=sentence):
        learn(as_table({"t": cells, "a": [1.0, 2.0, 4.0, 8.0]}), target="t", model=model)


def test_too_many_classes_are_refused():
    with pytest.raises(InputError, match="more than 1000 classes"):
        learn(as_table({"t": [f"c{i}" for i in range(1001)], "a": np.arange(1001) ** 2}), target="t")
    with pytest.raises(InputError, match="more than 1000 classes"):
        learn(as_table({"t": range(1001), "a": np.arange(1001) ** 2}), target="t", model="classes")


def test_rows_without_a_target_teach_nothing():
    table = as_table({"t": [1.5, None, 2.5, 4.5], "a": [1.0, 100.0, None, 2.0], "b": ["u", "w", "v", "u"]})
    found = learn(table, target="t")
    assert found.report["without_target"] == 1
    assert found.report["rows"] == 3
    assert found.encoder.terms == (Number("a", 1.5, indicator=True), Category("b", ("u", "v"), "u", missing=False))
    encoded = Encoded(table, found)
    (block,) = encoded.blocks()
    assert block.y.tolist() == [[1.5], [2.5], [4.5]]
    assert encoded.without_target == 1


def test_several_targets_are_numbers():
    table = as_table({"t": [1, 2, 3, 4], "u": [1.5, None, 3.0, 1.0], "a": [1.0, 2.0, 4.0, 8.0]})
    found = learn(table, target=["t", "u"])
    assert found.target.names == ("t", "u")
    (block,) = Encoded(table, found).blocks()
    assert block.y.tolist() == [[1.0, 1.5], [3.0, 3.0], [4.0, 1.0]]
    with pytest.raises(InputError, match="only be numbers"):
        learn(table, target=["t", "u"], model="classes")


def test_names_are_checked():
    table = as_table({"species": ["a", "b"], "island": ["u", "v"], "w": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"no target column 'speces'. Did you mean 'species'\?"):
        learn(table, target="speces")
    with pytest.raises(InputError, match="no weight column 'x'"):
        learn(table, target="species", weight="x")
    with pytest.raises(InputError, match=r"no column to drop, 'iland'\. Did you mean 'island'"):
        learn(table, target="species", drop=["iland"])
    for options in (
        {"weight": "species"},
        {"drop": ["species"]},
        {"weight": "w", "offset": "w"},
        {"weight": "w", "drop": ["w"]},
        {"model": "x"},
    ):
        with pytest.raises(InputError):
            learn(table, target="species", **options)
    with pytest.raises(InputError, match="no target was given"):
        learn(table)
    with pytest.raises(InputError, match="left to predict from"):
        learn(table, target="species", drop=["island", "w"])
    assert learn(table, target="species", drop=["island"]).report["dropped"] == [
        {"column": "island", "why": "as asked"}
    ]
    clash = as_table({"y": Y, "a": [1.0, None, 2.0, 3.0], "a is missing": [1.0, 2.0, 4.0, 4.0]})
    with pytest.raises(InputError, match="two columns of the model would be called 'a is missing'"):
        learn(clash, target="y")


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([1, 2, None, 3], "no value"),
        ([1, -1, 2, 3], "'-1'"),
        ([1, float("inf"), 1, 1], "'inf'"),
        (["1", "x", "1", "1"], "'x'"),
        ([0, 0, 0, 0], "all zero"),
    ],
)
def test_bad_weights_are_refused(cells, found):
    with pytest.raises(InputError, match=found):
        learned({"a": [1.0, 2.0, 4.0, 8.0], "w": cells}, weight="w")


def test_weights_and_offsets_stand_beside_their_rows():
    table = as_table(
        {"t": [1.5, None, 2.5, 4.5], "a": [1.0, 9.0, 4.0, 2.0], "w": [1, 2, 0, 3], "o": ["0.5", "x", "-1", "2"]}
    )
    with pytest.raises(InputError, match="holds 'x' in column 'o'"):
        learn(table.where(lambda rows: rows < 3).where(lambda rows: rows != 0), target="a", offset="o", drop=["t"])
    found = learn(table, target="t", weight="w", offset="o")  # the row with 'x' has no target
    assert found.encoder.columns == ("(intercept)", "a")
    for source in (Encoded(table, found), Encoded(table, found).in_memory(10**6)):
        (block,) = source.blocks()
        assert block.weight.tolist() == [1.0, 0.0, 3.0]
        assert block.offset.tolist() == [[0.5], [-1.0], [2.0]]
        assert block.design.dense()[:, 1].tolist() == [1.0, 4.0, 2.0]


def test_bad_offsets_are_refused():
    with pytest.raises(InputError, match="row 3 of the table holds no value in column 'o'"):
        learned({"a": [1.0, 2.0, 4.0, 8.0], "o": [1, -2, None, 3]}, offset="o")
    found = learned({"a": [1.0, 2.0, 4.0, 8.0], "o": [1, -2, 0, 3]}, offset="o")
    assert found.encoder.offset({"o": ["1", "2"]}, "o").tolist() == [[1.0], [2.0]]
    assert found.encoder.columns == ("(intercept)", "a")
    with pytest.raises(InputError, match="no offset column 'o'"):
        found.encoder.offset({"p": [1]}, "o")


def test_an_unknown_class_is_named():
    found = learn(as_table({"t": ["a", "b"], "x": [1.0, 2.0]}), target="t")
    with pytest.raises(
        InputError,
        match=r"row 2 of the table holds 'c' in column 't', which needs one of the model's classes \['a', 'b'\]",
    ):
        list(Encoded(as_table({"t": ["a", "c"], "x": [1.0, 2.0]}), found).blocks())


@pytest.mark.parametrize(
    ("draw", "model", "said"),
    [
        (lambda rng: rng.poisson(6, 400), "auto", True),
        (lambda rng: rng.poisson(6, 400), "linear", False),
        (lambda rng: rng.poisson(6, 400), "poisson", False),
        (lambda rng: rng.poisson(6, 400) + 0.5, "auto", False),
        (lambda rng: rng.poisson(6, 400) - 3, "auto", False),
        (lambda rng: rng.integers(0, 1000, 400), "auto", False),
        (lambda rng: rng.integers(0, 3, 400), "auto", False),  # classes
    ],
)
def test_counts_are_named_where_nobody_said_what_they_are(draw, model, said):
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=400), "y": draw(rng)}
    notes = lineal.fit(table, "y", model=model, penalty=0.1).report["data"]["notes"]
    assert any("if they are counts, --model poisson" in note for note in notes) == said
