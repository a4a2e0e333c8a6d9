"""A column term that lineal does not have, in one file: formula, fit, model file, prediction, words; the checker says no."""

from __future__ import annotations

import numpy as np
import pytest

import lineal
from lineal.cli.plain_model import summary
from lineal.errors import InputError, ModelFileError
from lineal.features import terms
from lineal.verify import verify
from tests.extensions.sign import Sign

X = [-3.0, -1.0, None, 2.0, 5.0, -2.0, 4.0]
Y = [1.0, 1.5, 2.0, 4.0, 4.5, 1.0, 4.25]


@pytest.fixture
def extended(monkeypatch):
    monkeypatch.setattr(terms, "ALL", (*terms.ALL, Sign))


@pytest.fixture
def model(extended):
    return lineal.fit({"x": X, "y": Y}, formula="y ~ sign(x)", model="linear", penalty="none")


def test_it_is_fitted_by_its_name_in_a_formula(model):
    assert model.columns == ("(intercept)", "sign(x)", "x is missing")
    assert model.verdict.kind == "optimal"
    signs = np.sign([-3.0, -1.0, np.mean([x for x in X if x is not None]), 2.0, 5.0, -2.0, 4.0])
    design = np.column_stack([np.ones(7), signs, [x is None for x in X]])
    np.testing.assert_allclose(model.coef[:, 0], np.linalg.lstsq(design, Y)[0], atol=1e-9)


def test_it_is_multiplied_as_other_terms_are(extended):
    table = {"x": [x or 0.5 for x in X], "z": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 6.0], "y": Y}
    found = lineal.fit(table, formula="y ~ sign(x):z", model="linear", penalty="none")
    assert found.columns == ("(intercept)", "sign(x):z")


def test_it_survives_its_model_file(model, tmp_path):
    model.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert again.encoder == model.encoder
    new = {"x": [-7.0, 0.0, 7.0]}
    assert again.predict(new).tolist() == model.predict(new).tolist()
    assert len(set(again.predict(new).tolist())) == 3


def test_pages_have_its_words(model):
    (column,) = summary(model)["data"]["columns"]
    assert column["use"].startswith("sign(x); empty cells count as")


def test_whoever_does_not_have_it_says_so(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m.lineal")
    monkeypatch.setattr(terms, "ALL", terms.ALL[:-1])
    with pytest.raises(ModelFileError, match="a term of unknown kind 'sign'"):
        lineal.load(tmp_path / "m.lineal")
    with pytest.raises(InputError, match="there is no function 'sign'"):
        lineal.fit({"x": X, "y": Y}, formula="y ~ sign(x)")


def test_the_checker_refuses_it_by_name(model, tmp_path):
    model.save(tmp_path / "m.lineal")
    lines = ["x,y", *(f"{'' if x is None else x},{y}" for x, y in zip(X, Y, strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    with pytest.raises(ModelFileError, match="this checker does not know terms of kind 'sign'"):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")
