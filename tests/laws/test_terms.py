"""Laws of terms, over the whole catalogue: names, values, model file, pickles, and the twin of the checker."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

from lineal.errors import ModelFileError
from lineal.features import terms
from lineal.features.encoder import Encoder
from lineal.features.formula import Formula
from lineal.features.terms import Curve
from lineal.verify import terms as twins
from lineal.verify.claims import ground
from tests.extensions.sign import Sign

EVERY = pytest.mark.parametrize("kind", [*terms.ALL, Sign], ids=lambda kind: kind.kind)
OURS = pytest.mark.parametrize("kind", terms.ALL, ids=lambda kind: kind.kind)


@pytest.fixture(autouse=True)
def extended(monkeypatch):
    """The laws hold of a term in a file of its own as well."""
    monkeypatch.setattr(terms, "ALL", (*terms.ALL, Sign))


def table(term, cells):
    return {name: pa.array(list(column), pa.string()) for name, column in zip(term.inputs, cells, strict=True)}


def dense(term, cells):
    return Encoder(intercept=False, terms=(term,)).encode(table(term, cells)).dense()


def test_no_two_terms_share_a_kind_or_a_name_in_formulas():
    assert len({term.kind for term in terms.ALL}) == len(terms.ALL)
    assert len(terms.called()) == sum(1 + len(term.also) for term in terms.ALL if term.usage)


@EVERY
def test_it_makes_the_columns_that_it_names(kind):
    term, cells = kind.example()
    assert type(term) is kind
    design = dense(term, cells)
    assert design.shape == (len(cells[0]), len(term.columns))
    assert np.isfinite(design).all()
    assert len(set(term.columns)) == len(term.columns)
    assert len(term.inputs) == len(term.as_text) == len(cells)


@EVERY
def test_it_survives_its_file(kind):
    term, _ = kind.example()
    data = json.loads(json.dumps(term.to_dict(), allow_nan=False))
    assert terms.read(data) == term
    assert set(data) == {"kind", *kind.members()}


@EVERY
def test_a_file_with_other_members_is_refused(kind):
    data = kind.example()[0].to_dict()
    for wrong in ({**data, "more": 1}, *({k: v for k, v in data.items() if k != member} for member in kind.members())):
        with pytest.raises(ModelFileError, match="other members than"):
            terms.read(wrong)


@EVERY
def test_a_member_of_another_type_is_refused(kind):
    data = kind.example()[0].to_dict()
    for member in kind.members():
        with pytest.raises(ModelFileError, match="the encoder in the model file"):
            terms.read({**data, member: {"odd": True}})


@EVERY
def test_it_pickles_before_and_after_use(kind):
    term, cells = kind.example()
    fresh = pickle.loads(pickle.dumps(term))  # noqa: S301
    expected = dense(term, cells).tolist()
    used = pickle.loads(pickle.dumps(term))  # noqa: S301
    assert fresh == used == term
    assert dense(fresh, cells).tolist() == dense(used, cells).tolist() == expected


@EVERY
def test_a_product_takes_what_says_that_it_is_a_factor(kind):
    term, _ = kind.example()
    data = {"kind": "product", "factors": [term.to_dict(), terms.Number("other", 0.0, False).to_dict()]}
    if kind.is_factor:
        assert terms.read(data).inputs == (*term.inputs, "other")
    else:
        with pytest.raises(ModelFileError, match=r"cannot be multiplied|product within a product"):
            terms.read(data)


@pytest.mark.parametrize("kind", [kind for kind in (*terms.ALL, Sign) if issubclass(kind, Curve)])
def test_a_formula_reads_it_as_it_is_spelled(kind):
    term, _ = kind.example()
    ((factor,),) = Formula.read(f"y ~ {term.spelled}").products
    assert factor.spelled == term.spelled
    assert kind.usage.startswith(factor.basis)


@OURS
def test_the_twin_agrees(kind):
    term, cells = kind.example()
    data, columns = term.to_dict(), dict(zip(term.inputs, map(list, cells), strict=True))
    assert twins.names(data) == list(term.columns)
    assert twins.learned(data, columns) is None
    assert [kind for _, kind in twins.inputs(data)] == ["t" if text else "n" for text in term.as_text]
    np.testing.assert_allclose(np.array(twins.values(data, columns)).T, dense(term, cells), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("I(x^2)", lambda x: x * x),
        ("I(x^-1)", lambda x: 1 / x),
        ("I(((x - 3)*-2) + 0.5)", lambda x: (x - 3) * -2 + 0.5),
        ("I(1/(x + 1))", lambda x: 1 / (x + 1)),
        ("I(2 - (x/1e-09))", lambda x: 2 - x / 1e-9),
        ("log(I(x >= 2) + 1)", lambda x: np.log((x >= 2) + 1)),
        ("I(sqrt(x) < 2)", lambda x: np.sqrt(x) < 2),
    ],
)
def test_arithmetic_and_its_twin(words, value):
    x, cells = np.array([1.0, 2.0, 4.0, 2.5]), ["1", "2", "4", "2.5"]
    ((factor,),) = Formula.read(words).products
    term = Curve("x", factor.functions, 2.5, False)
    assert Formula.read(term.spelled).products == ((factor,),)
    assert terms.read(json.loads(json.dumps(term.to_dict()))) == term
    np.testing.assert_allclose(dense(term, (cells,))[:, 0], value(x), rtol=1e-14)
    assert twins.names(term.to_dict()) == list(term.columns)
    np.testing.assert_array_equal(twins.values(term.to_dict(), {"x": cells})[0], dense(term, (cells,))[:, 0])


@pytest.mark.parametrize(
    "kind", [kind for kind in terms.ALL if not issubclass(kind, terms.Product)], ids=lambda kind: kind.kind
)
def test_the_checker_refuses_a_member_of_another_type(kind):
    data = kind.example()[0].to_dict()
    ground._check_term(data)
    odd = {"degree": 21, "knots": [1.0, "two", 3.0], "functions": [1]}
    for member in kind.members():
        with pytest.raises(ModelFileError):
            ground._check_term({**data, member: odd.get(member, {"odd": True})})
