"""Targets that are questions about a column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lineal
from lineal.errors import InputError
from lineal.tables.derived import SIGNS, derived
from lineal.tables.table import as_table
from lineal.verify.reading import questions


@given(
    st.lists(st.one_of(st.integers(-3, 3), st.none()), min_size=1, max_size=20),
    st.sampled_from(sorted(SIGNS)),
    st.integers(-3, 3),
)
def test_answers_are_those_of_python_and_of_the_checker(cells, sign, value):
    name = f"a {sign} {value}"
    table = derived(as_table({"a": cells, "b": cells}), name)
    found = [answer for _, batch in table.numbered() for answer in batch[name].to_pylist()]
    expected = [None if cell is None else "yes" if SIGNS[sign](cell, value) else "no" for cell in cells]
    assert found == expected
    assert questions.answers(name, cells) == expected
    assert "a" not in table.names


def test_the_column_asked_about_is_no_feature(tmp_path):
    rng = np.random.default_rng(0)
    data = {"num": rng.integers(0, 4, 60), "x": rng.normal(size=60)}
    model = lineal.fit(data, target="num > 1")
    assert model.columns == ("(intercept)", "x")
    assert model.target.classes == ("no", "yes")
    same = lineal.fit({"y": np.where(data["num"] > 1, "yes", "no"), "x": data["x"]}, target="y")
    np.testing.assert_array_equal(model.coef, same.coef)
    assert lineal.evaluate(model, data)["rows"] == 60


def test_words_are_compared_as_words_and_a_column_of_that_name_wins():
    table = derived(as_table({"kind": ["a", "b", None]}), "kind != 'a'")
    assert next(table.numbered())[1]["kind != 'a'"].to_pylist() == ["no", "yes", None]
    named = as_table({"kind > 1": ["a"], "kind": [1]})
    assert derived(named, "kind > 1") is named


@pytest.mark.parametrize(
    ("target", "said"), [("kind > a", "no number"), ("kind > 0", "needs numbers"), ("knd > 0", "kind")]
)
def test_questions_without_a_meaning_are_refused(target, said):
    with pytest.raises(InputError, match=said):
        lineal.fit({"kind": ["u", "v"] * 20, "x": [float(k) for k in range(40)]}, target=target)
