"""Texts as they are: to code points and back, one column of a table, refused where nothing compares texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lineal
from lineal.api import feature_maps, methods
from lineal.api.methods.method import Method
from lineal.api.request import MapFit
from lineal.errors import InputError, ModelFileError
from lineal.features.encoder import Encoder
from lineal.features.terms import Verbatim
from lineal.features.terms.verbatim import MAX_CHARACTERS
from lineal.ground.records import dataclass
from lineal.losses import Squared
from lineal.model.feature_map import FeatureMap, inputs, texts
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty
from lineal.verify.terms import verbatim as twin

TEXTS = st.lists(st.text(max_size=12), min_size=1, max_size=6)


@given(TEXTS)
def test_texts_come_back_to_the_letter(cells):
    design = Encoder(intercept=True, terms=(Verbatim("t", 12),)).encode({"t": pa.array(cells, pa.string())})
    assert texts(inputs(design)) == cells
    assert texts(design.dense()[:, 1:]) == cells
    assert design.shape == (len(cells), 13)


@given(TEXTS)
def test_the_checker_reads_them_alike(cells):
    design = Encoder(intercept=False, terms=(Verbatim("t", 12),)).encode({"t": pa.array(cells, pa.string())})
    assert np.array_equal(design.dense(), twin.values({"column": "t", "width": 12}, cells).T)
    assert twin.texts(design.dense()) == cells


def test_a_text_that_is_too_long_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="has 32,769 characters; texts that are kept as they are have at most 32,768"):
        Encoder(intercept=False, terms=(Verbatim("t"),)).encode({"t": pa.array(["a" * (MAX_CHARACTERS + 1)])})


@dataclass(frozen=True)
class Length(FeatureMap):
    """The number of characters, for these tests."""

    name = "length"
    width = MAX_CHARACTERS
    columns = ("length",)

    def phi(self, inputs: Any) -> Any:
        return np.array([[float(len(text))] for text in texts(inputs)])

    def parameters(self) -> dict[str, object]:
        return {}

    def arrays(self) -> dict[str, Any]:
        return {}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, Any]) -> Self:
        return cls()

    def facts(self) -> list[tuple[str, str]]:
        return []


@dataclass(frozen=True)
class Lengths(Method):
    """Predict the number of characters."""

    name = "lengths"
    spellings = ("lengths",)
    wanted = "number"
    verbatim = True

    @classmethod
    def read(cls, text: str, rest: str | None) -> Self:
        return cls()

    def fit(self, dataset: Any, run: Any) -> tuple[MapFit, Any, Mapping[str, Any]]:
        coef = np.array([[0.0], [1.0]])
        verdict = Verdict("exact", "Exact.", None, None)
        return MapFit(Length(), coef, verdict, "counted", "", NoPenalty(2)), Squared(1), {"model": "lengths"}


@pytest.fixture
def extended(monkeypatch):
    monkeypatch.setattr(methods, "ALL", (*methods.ALL, Lengths))
    monkeypatch.setattr(feature_maps, "ALL", (*feature_maps.ALL, Length))


TABLE = {"t": ["a b", "é", "NA", "abcd"], "n": [1.0, 2.0, 3.0, 4.0], "y": [3.0, 1.0, 2.0, 4.0]}


def test_the_only_column_is_kept_as_it_is(extended, tmp_path):
    model = lineal.fit({"t": TABLE["t"], "y": TABLE["y"]}, target="y", model="lengths")
    assert model.predict({"t": ["", "xyz"]}).tolist() == [0.0, 3.0]
    assert model.report["metrics"]["train"]["rmse"] == 0.0
    model.save(tmp_path / "m.lineal")
    assert lineal.load(tmp_path / "m.lineal").predict({"t": ["xyz"]}).tolist() == [3.0]


def test_of_several_columns_one_is_named(extended):
    with pytest.raises(InputError, match="name it with --types COLUMN=verbatim"):
        lineal.fit(TABLE, target="y", model="lengths")
    model = lineal.fit(TABLE, target="y", model="lengths", types={"t": "verbatim"})
    assert model.encoder.text_columns == {"t"}
    assert not model.encoder.number_columns
    with pytest.raises(InputError, match="compares the texts of one column"):
        lineal.fit({**TABLE, "u": TABLE["t"]}, target="y", model="lengths", types={"t": "verbatim", "u": "verbatim"})


def test_it_is_refused_where_nothing_compares_texts():
    with pytest.raises(InputError, match="only kernels of texts and trees read"):
        lineal.fit(TABLE, target="y", model="linear", types={"t": "verbatim"})


def test_an_odd_width_in_a_file_is_refused():
    for width in (0, 2**15 + 1, "8", True):
        with pytest.raises(ModelFileError, match="odd width"):
            Encoder.from_dict({"intercept": True, "terms": [{"kind": "verbatim", "column": "t", "width": width}]})
