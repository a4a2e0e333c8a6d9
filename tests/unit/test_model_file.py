"""Loading model files: what was saved comes back, and every field is checked."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal import container, losses
from lineal.api.model_file import load, model
from lineal.errors import InputError, LinealError, ModelFileError
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.verdict import Verdict
from lineal.penalties import ALL, L1, Bounds, ElasticNet, NoPenalty
from tests.json_places import every_place

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
    "charges below zero": (array("charges", -np.ones(5)), "penalty factors"),
    "charges of another shape": (array("charges", np.ones((5, 1))), "array 'charges'"),
    "an array of another kind": (array("direction", np.zeros((5, 1))), "'direction', which a verdict 'optimal'"),
    "an array unknown": (array("phi", np.zeros(3)), "'phi'"),
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
    refused, paths = 0, list(every_place(meta))
    for path in paths:
        for value in (None, "x", -1, 0.5, [], {}, True, [1], {"a": 1}):
            changed = copy.deepcopy(meta)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            try:
                model(changed, arrays)
            except LinealError:
                refused += 1
    assert refused > len(paths)


def test_a_damaged_file_and_no_file(ridge, tmp_path):
    ridge.save(tmp_path / "m.lineal")
    data = (tmp_path / "m.lineal").read_bytes()
    (tmp_path / "m.lineal").write_bytes(data[:-3])
    with pytest.raises(ModelFileError, match="truncated"):
        load(tmp_path / "m.lineal")
    with pytest.raises(InputError, match="there is no model file"):
        load(tmp_path / "n.lineal")


LOSSES = [kind.examples()[0] for kind in losses.ALL]
CHARGES = np.array([0.0, 1.0, 2.5])
INF = np.inf
PENALTIES = {
    **{kind.name: kind.example(CHARGES) for kind in ALL},
    "bounds on none": Bounds(np.array([-INF, 0.0, -1.0]), np.array([INF, INF, 1.0]), NoPenalty(3)),
    "bounds on l1": Bounds(np.array([-INF, 0.0, -1.0]), np.array([INF, 2.0, 1.0]), L1(0.1, CHARGES)),
    "bounds on elastic": Bounds(np.array([-INF, 0.0, 0.5]), np.array([INF, 2.0, 0.5]), ElasticNet(0.1, 0.3, CHARGES)),
}


def built(loss, penalty) -> Model:
    """Return a model that nobody fitted: the file does not care."""
    draw = np.random.default_rng(3)
    classes = None if not loss.of_classes() else ("a", "b", "c")[: max(loss.outputs, 2)]
    return Model(
        coef=draw.normal(size=(3, loss.outputs)),
        columns=("(intercept)", "x0", "x1"),
        loss=loss,
        penalty=penalty,
        target=Target("y", "number" if classes is None else "classes", classes=classes),
        verdict=Verdict("budget", "Stopped without a proof: never begun.", None, None, {}, "never begun"),
        arrays={} if loss.smooth else {"theta": draw.normal(size=(7, loss.outputs))},
    )


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_loss_and_penalty_comes_back(loss, penalty, tmp_path):
    saved = built(loss, PENALTIES[penalty])
    saved.save(tmp_path / "a.lineal")
    loaded = load(tmp_path / "a.lineal")
    assert loaded.loss == loss
    assert loaded.penalty.name == saved.penalty.name
    np.testing.assert_equal(loaded.penalty.to_dict(), saved.penalty.to_dict())
    data = np.random.default_rng(4).normal(size=(9, 2))
    np.testing.assert_array_equal(loaded.means(data), saved.means(data))
    np.testing.assert_array_equal(loaded.predict(data), saved.predict(data))
    for name, array in saved.arrays.items():
        np.testing.assert_array_equal(loaded.arrays[name], array)
    loaded.save(tmp_path / "b.lineal")
    assert (tmp_path / "a.lineal").read_bytes() == (tmp_path / "b.lineal").read_bytes()


WRONG_NEW = {
    "quantile of one": ("quantile", "none", change("loss.q", 1.0), "between 0 and 1"),
    "quantile left out": ("quantile", "none", change("loss.q", ...), "loss lacks the field 'q'"),
    "quantile a text": ("quantile", "none", change("loss.q", "half"), "loss.q must be a number"),
    "threshold zero": ("huber", "none", change("loss.threshold", 0.0), "threshold"),
    "epsilon below zero": ("epsilon-insensitive", "none", change("loss.epsilon", -0.1), "epsilon"),
    "a parameter of another loss": ("absolute", "none", change("loss.q", 0.5), "loss has a field 'q'"),
    "l1_ratio above one": ("squared", "elastic", change("penalty.l1_ratio", 1.5), "l1_ratio"),
    "l1_ratio left out": ("squared", "elastic", change("penalty.l1_ratio", ...), "'l1_ratio'"),
    "l1_ratio for l1": ("squared", "l1", change("penalty.l1_ratio", 0.5), "penalty has a field 'l1_ratio'"),
    "penalty misspelt": ("squared", "elastic", change("penalty.name", "elastik"), "Did you mean 'elastic'"),
    "bounds within bounds": ("squared", "bounds on l1", change("penalty.inner.name", "bounds"), "penalty.inner.name"),
    "bounds on groups": ("squared", "bounds on l1", change("penalty.inner.name", "group"), "no joint prox"),
    "no inner penalty": ("squared", "bounds on l1", change("penalty.inner", ...), "penalty lacks the field 'inner'"),
    "inner strength below zero": ("squared", "bounds on l1", change("penalty.inner.strength", -1.0), "strength"),
    "no lower bounds": ("squared", "bounds on l1", array("lower", ...), "lacks the array 'lower'"),
    "bounds that are no numbers": ("squared", "bounds on l1", array("lower", np.full(3, np.nan)), "must be numbers"),
    "lower bounds of plus infinity": ("squared", "bounds on l1", array("lower", np.full(3, INF)), "must be numbers"),
    "bounds too few": ("squared", "bounds on l1", array("upper", np.ones(2)), "array 'upper'"),
    "bounds without a penalty of bounds": ("squared", "l1", array("upper", np.ones(3)), "'upper' but no bounds"),
    "theta of a smooth loss": ("huber", "none", array("theta", np.ones((7, 1))), "'theta', which huber loss"),
    "theta of too many outputs": ("absolute", "none", array("theta", np.ones((7, 2))), "array 'theta'"),
    "theta not finite": ("absolute", "none", array("theta", np.full((7, 1), INF)), "'theta' holds NaN"),
    "theta a number": ("absolute", "none", array("theta", np.array(1.0)), "array 'theta'"),
    "three classes for a hinge": ("hinge", "none", change("target.classes", ["a", "b", "c"]), "target.classes"),
    "classes for counts": ("poisson", "none", change("target.kind", "classes"), "target.kind"),
}


@pytest.mark.parametrize("name", WRONG_NEW)
def test_a_wrong_field_of_a_loss_or_penalty_is_named(name, tmp_path):
    loss, penalty, apply, message = WRONG_NEW[name]
    built(next(one for one in LOSSES if one.name == loss), PENALTIES[penalty]).save(tmp_path / "m.lineal")
    meta, arrays = container.read(tmp_path / "m.lineal")
    apply(meta, arrays)
    container.write(tmp_path / "m.lineal", meta, arrays)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.lineal")
