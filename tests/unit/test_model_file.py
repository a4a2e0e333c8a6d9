"""Loading model files: what was saved comes back, and every field is checked."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal import container
from lineal.errors import InputError, LinealError, ModelFileError
from lineal.model_file import load, model

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


def table(n: int = 60) -> dict[str, list]:
    draw = np.random.default_rng(5)
    x = draw.normal(size=n)
    colour = draw.choice(["red", "green", "blue"], size=n)
    y = 2 * x + (colour == "red") + draw.normal(size=n)
    yes = y + draw.normal(size=n) > 0
    kind = np.where(y + draw.normal(size=n) > 1, "c", np.where(draw.normal(size=n) > 0, "a", "b"))
    holes = [None if i % 7 == 3 else float(value) for i, value in enumerate(x)]
    return {
        "x": holes, "colour": colour.tolist(), "y": y.tolist(), "z": (y + x).tolist(), "yes": yes.tolist(),
        "kind": kind.tolist(), "w": draw.choice([0.0, 1.0, 2.0], size=n).tolist(), "o": draw.normal(size=n).tolist(),
    }  # fmt: skip


FITS = {
    "linear": {"target": "y", "model": "linear", "drop": ("z", "yes", "kind", "w", "o")},
    "two outputs": {"target": ["y", "z"], "model": "linear", "drop": ("yes", "kind", "w", "o")},
    "ridge": {"target": "y", "penalty": "ridge:0.1", "weight": "w", "drop": ("z", "yes", "kind", "o")},
    "logistic": {"target": "yes", "penalty": 0.01, "weight": "w", "offset": "o", "drop": ("y", "z", "kind")},
    "softmax": {"target": "kind", "penalty": 0.01, "test_size": 0.2, "drop": ("y", "z", "yes", "w", "o")},
}


@pytest.fixture(scope="module", params=FITS)
def fitted(request):
    return lineal.fit(table(), **FITS[request.param])


@pytest.fixture(scope="module")
def ridge():
    return lineal.fit(table(), **FITS["ridge"])


def test_saved_and_loaded_predicts_the_same(fitted, tmp_path):
    path = tmp_path / "m.lineal"
    fitted.save(path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.predict(table()), fitted.predict(table()))
    if fitted.target.kind == "classes":
        np.testing.assert_array_equal(loaded.predict_proba(table()), fitted.predict_proba(table()))
    assert loaded.columns == fitted.columns
    assert loaded.target == fitted.target
    assert loaded.verdict.to_dict() == fitted.verdict.to_dict()
    assert loaded.loss == fitted.loss
    assert set(loaded.arrays) == set(fitted.arrays)


def test_saved_loaded_and_saved_again_is_the_same_bytes(fitted, tmp_path):
    fitted.save(tmp_path / "a.lineal")
    load(tmp_path / "a.lineal").save(tmp_path / "b.lineal")
    assert (tmp_path / "a.lineal").read_bytes() == (tmp_path / "b.lineal").read_bytes()


def test_a_model_of_arrays(tmp_path):
    draw = np.random.default_rng(1)
    x = draw.normal(size=(40, 3))
    found = lineal.fit(x, x @ [1.0, 2.0, 3.0] + draw.normal(size=40), model="linear")
    found.save(tmp_path / "m.lineal")
    np.testing.assert_array_equal(load(tmp_path / "m.lineal").predict(x), found.predict(x))


def test_lineal_load_is_this_one():
    assert lineal.load is load


def change(path: str, value: object):
    def apply(meta: dict, _arrays: dict) -> None:
        *inner, last = path.split(".")
        for key in inner:
            meta = meta[key]
        if value is ...:
            del meta[last]
        else:
            meta[last] = value

    return apply


def array(name: str, value: object):
    def apply(_meta: dict, arrays: dict) -> None:
        if value is ...:
            del arrays[name]
        else:
            arrays[name] = value

    return apply


WRONG = {
    "a field too few": (change("tol", ...), "'tol'"),
    "a field too many": (change("pickle", "x"), "'pickle'"),
    "a misspelt field": (change("colums", []), "Did you mean 'columns'"),
    "loss unknown": (change("loss.name", "square"), "loss.name is 'square'.*Did you mean 'squared'"),
    "loss of another type": (change("loss.name", 3), "loss.name must be a text"),
    "outputs zero": (change("loss.outputs", 0), "loss.outputs"),
    "outputs true": (change("loss.outputs", True), "loss.outputs"),
    "outputs and names": (change("loss.outputs", 2), "does not fit target.names"),
    "loss and target": (change("loss.name", "logistic"), "target.kind"),
    "classes for a number": (change("target.classes", ["a", "b"]), "target.kind"),
    "names twice": (change("target.names", ["y", "y"]), "target.names names something twice"),
    "target is a list": (change("target", []), "target must be an object"),
    "columns twice": (change("columns", ["a", "a"]), "columns names something twice"),
    "columns of numbers": (change("columns", [1, 2]), "columns must be a list of texts"),
    "columns of another encoder": (change("columns.1", "xx"), "encoder"),
    "penalty unknown": (change("penalty.name", "lasso"), "penalty.name"),
    "strength a text": (change("penalty.strength", "1"), "penalty.strength must be a number"),
    "strength below zero": (change("penalty.strength", -1.0), "strength"),
    "no strength": (change("penalty.strength", ...), "penalty lacks the field 'strength'"),
    "penalty none with charges": (change("penalty", {"name": "none"}), "'charges' but no penalty"),
    "role a number": (change("roles.weight", 3), "roles.weight"),
    "role unknown": (change("roles.group", "g"), "roles has a field 'group'"),
    "training unknown": (change("training.row", 3), "training has a field 'row'.*Did you mean 'rows'"),
    "rows below zero": (change("training.rows", -1), "training.rows"),
    "weight sum below zero": (change("training.weight_sum", -1.0), "training.weight_sum"),
    "split without seed": (change("training.split", {"test_size": 0.2}), "training.split lacks the field 'seed'"),
    "split of one": (change("training.split", {"seed": 0, "test_size": 1.0}), "test_size"),
    "fingerprint a number": (change("training.fingerprint", 5), "training.fingerprint"),
    "tol below zero": (change("tol", -1e-6), "tol"),
    "tol a text": (change("tol", "small"), "tol must be a number"),
    "kind unknown": (change("verdict.kind", "optimum"), "verdict.kind is 'optimum'.*Did you mean 'optimal'"),
    "gap below zero": (change("verdict.gap", -1.0), "verdict.gap"),
    "gap a text": (change("verdict.gap", "0"), "verdict.gap"),
    "evidence a list": (change("verdict.evidence", []), "verdict.evidence"),
    "reason a number": (change("verdict.reason", 1), "verdict.reason"),
    "sentence null": (change("verdict.sentence", None), "verdict.sentence"),
    "solver without reason": (change("solver.reason", ...), "solver lacks the field 'reason'"),
    "report a list": (change("report", []), "report must be an object"),
    "made by null": (change("made_by", None), "made_by"),
    "encoder a list": (change("encoder", []), "encoder must be an object"),
    "encoder without terms": (change("encoder.terms", ...), "terms"),
    "no coefficients": (array("coef", ...), "lacks the array 'coef'"),
    "float32 coefficients": (array("coef", np.zeros((5, 1), np.float32)), "array 'coef' is float32"),
    "too few coefficients": (array("coef", np.zeros((1, 1))), "array 'coef'"),
    "NaN coefficients": (array("coef", np.full((5, 1), np.nan)), "'coef' holds NaN"),
    "no charges": (array("charges", ...), "lacks the array 'charges'"),
    "charges below zero": (array("charges", -np.ones(5)), "charges"),
    "charges of another shape": (array("charges", np.ones((5, 1))), "array 'charges'"),
    "an array of another kind": (array("direction", np.zeros((5, 1))), "'direction', which a verdict 'optimal'"),
    "an array unknown": (array("theta", np.zeros(3)), "'theta'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field_is_named(name, ridge, tmp_path):
    ridge.save(tmp_path / "m.lineal")
    meta, arrays = container.read(tmp_path / "m.lineal")
    assert arrays["coef"].shape == (5, 1)
    apply, message = WRONG[name]
    if name == "columns of another encoder":
        meta["columns"][1] = "xx"
    else:
        apply(meta, arrays)
    container.write(tmp_path / "m.lineal", meta, arrays)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.lineal")


def test_no_field_of_any_type_raises_another_error(ridge, tmp_path):
    ridge.save(tmp_path / "m.lineal")
    meta, arrays = container.read(tmp_path / "m.lineal")
    for path in list(walk(meta)):
        for value in (None, "x", -1, 0.5, [], {}, True, [1], {"a": 1}):
            changed = copy.deepcopy(meta)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            try:
                model(changed, arrays)
            except LinealError:
                continue


def walk(node, path=()):
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from walk(inner, (*path, key))


def test_a_damaged_file_and_no_file(ridge, tmp_path):
    ridge.save(tmp_path / "m.lineal")
    data = (tmp_path / "m.lineal").read_bytes()
    (tmp_path / "m.lineal").write_bytes(data[:-3])
    with pytest.raises(ModelFileError, match="truncated"):
        load(tmp_path / "m.lineal")
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "n.lineal")
