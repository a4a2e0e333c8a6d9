"""A method whose columns are made of training rows, in one file: typed, fitted, measured, compared, kept in a file, on pages."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import lineal
from lineal import container
from lineal.api import feature_maps, methods
from lineal.cli import run
from lineal.cli.plain_model import summary
from lineal.errors import InputError, ModelFileError
from lineal.verify import verify
from tests.extensions.centers import Centers, NearestCenter

TABLE = {
    "x": [0.0, 1.0, 0.5, 4.0, 5.0, 6.0, 9.0, 8.0],
    "z": [1.0, 0.0, 2.0, 5.0, 4.0, 6.0, 0.0, 1.0],
    "hue": ["red", "red", "blue", "blue", "red", "blue", "red", "blue"],
    "y": ["a", "a", "a", "b", "b", "b", "c", "c"],
}


@pytest.fixture
def extended(monkeypatch):
    monkeypatch.setattr(methods, "ALL", (*methods.ALL, NearestCenter))
    monkeypatch.setattr(feature_maps, "ALL", (*feature_maps.ALL, Centers))


@pytest.fixture
def model(extended):
    return lineal.fit(TABLE, target="y", model="nearest-center")


def by_hand(x: np.ndarray) -> np.ndarray:
    """Return minus half the squared distance to every class mean, of x, z and whether hue is red (blue is the reference)."""
    rows = np.column_stack([TABLE["x"], TABLE["z"], [hue == "red" for hue in TABLE["hue"]]]).astype(float)
    means = [rows[[k for k, label in enumerate(TABLE["y"]) if label == one]].mean(axis=0) for one in "abc"]
    return np.array([[-0.5 * np.sum((row - mean) ** 2) for mean in means] for row in x])


NEW = {"x": [0.0, 7.0], "z": [0.0, 2.0], "hue": ["red", "blue"]}
NEW_ROWS = np.array([[0.0, 0.0, 1.0], [7.0, 2.0, 0.0]])


def test_it_is_fitted_by_its_name_and_predicts(model):
    assert model.columns == ("(intercept)", "nearness to a", "nearness to b", "nearness to c")
    by_class = by_hand(NEW_ROWS)
    np.testing.assert_allclose(model.scores(NEW), by_class, rtol=1e-12)
    e = np.exp(by_class - by_class.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(NEW), e / e.sum(axis=1, keepdims=True), rtol=1e-12)
    assert model.predict(NEW).tolist() == ["a", "c"]


def test_it_is_measured_and_compared_as_others_are(model, extended):
    assert model.report["metrics"]["train"]["accuracy"] == 1.0
    assert lineal.evaluate(model, TABLE)["metrics"]["test"]["accuracy"] == 1.0
    more = {name: values * 5 for name, values in TABLE.items()}
    found = lineal.compare(more, "y", models=["nearest-center", "logistic ridge:0.1"], folds=2)
    assert [entry.name for entry in found.entries if entry.test["accuracy"] == 1.0 and "nearest" in entry.name]
    swept = lineal.sweep(more, "y", model="nearest-center", over="columns=1:2", folds=2)
    assert [point.columns for point in swept.points] == [4, 4]
    folds = lineal.cross_validate(more, "y", model="nearest-center", folds=2)
    assert folds.metrics["accuracy"].mean == 1.0
    with pytest.raises(InputError, match="made of training rows, so they have no standard errors"):
        model.summary()


def test_an_offset_is_added_to_its_scores(extended):
    table = {**TABLE, "o": [0.5] * 8}
    found = lineal.fit(table, target="y", model="nearest-center", offset="o")
    np.testing.assert_allclose(
        found.scores({**NEW, "o": [0.0, 2.0]}), by_hand(NEW_ROWS) + np.array([[0.0], [2.0]]), rtol=1e-12
    )


def test_it_survives_its_model_file(model, tmp_path):
    model.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert np.array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert pickle.loads(pickle.dumps(model)).predict(NEW).tolist() == ["a", "c"]  # noqa: S301  (our own bytes)
    assert model.scorer()([0.0, 0.0, 1.0])[0, 0] == pytest.approx(model.predict_proba(NEW)[0, 0], rel=1e-12)


def test_a_model_of_arrays_has_one_too(extended):
    x = np.column_stack([TABLE["x"], TABLE["z"]])
    found = lineal.fit(x, np.array(TABLE["y"]), model="nearest-center")
    assert found.predict([[0.0, 0.0], [8.5, 0.0]]).tolist() == ["a", "c"]
    with pytest.raises(InputError, match="the model was fitted on 2"):
        found.predict([[0.0]])


def test_pages_have_its_words(model, tmp_path, capsys):
    said = summary(model)
    assert said["model"]["name"] == "nearest class mean"
    assert said["model"]["feature_map"]["facts"] == [["Columns", "nearness to the means of 3 classes"]]
    model.save(tmp_path / "m.lineal")
    assert run(["show", str(tmp_path / "m.lineal")]) == 0
    out = capsys.readouterr().out
    assert "nearness to the means of 3 classes" in out
    assert "nothing is minimized" in out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "nearest-center:3"}, "takes nothing after a colon"),
        ({"model": "nearest-centre"}, "nearest-center"),
        ({"model": "nearest-center", "penalty": "ridge:1"}, "penalty has no effect on model nearest-center"),
        ({"model": "nearest-center", "solver": "newton"}, "solver has no effect: model nearest-center"),
        ({"model": "nearest-center", "bounds": ["x:0:1"]}, "bounds cannot be put on the coefficients of model"),
        ({"model": "nearest-center", "multiclass": "ovr"}, "takes several classes at once"),
        ({"model": "nearest-center", "steps": 5}, "steps has no effect"),
    ],
)
def test_what_has_no_effect_is_refused(extended, given, words):
    with pytest.raises(InputError, match=words):
        lineal.fit(TABLE, target="y", **given)


def test_files_that_contradict_themselves_are_refused(model, tmp_path):
    path = tmp_path / "m.lineal"
    model.save(path)
    meta, arrays = container.read(path)
    assert meta["encoding"] == container.encoding(meta)

    def refused(words: str, arrays=arrays, **changed) -> None:
        other = {**meta, **changed}
        container.write(path, {**other, "encoding": container.encoding(other)}, arrays)
        with pytest.raises(ModelFileError, match=words):
            lineal.load(path)

    refused("known are .*centers", feature_map={"name": "rings"})
    refused("an object with a name", feature_map=[])
    refused("not the columns its feature map makes", feature_map={**meta["feature_map"], "classes": ["a", "b", "d"]})
    refused("not those its feature map takes", arrays={**arrays, "map.means": arrays["map.means"][:, :2].copy()})
    plain = {key: value for key, value in meta.items() if key != "feature_map"}
    container.write(path, {**plain, "encoding": container.encoding(plain)}, arrays)
    with pytest.raises(ModelFileError, match="but no feature map"):
        lineal.load(path)


def test_whoever_does_not_have_it_says_so(model, tmp_path, monkeypatch):
    model.save(tmp_path / "m.lineal")
    (tmp_path / "d.csv").write_text("x,z,hue,y\n0,0,red,a\n")
    with pytest.raises(ModelFileError, match="this checker does not know the feature map 'centers'"):
        verify(tmp_path / "m.lineal", tmp_path / "d.csv")
    monkeypatch.setattr(feature_maps, "ALL", feature_maps.ALL[:-1])
    with pytest.raises(ModelFileError, match=r"feature_map\.name is 'centers'"):
        lineal.load(tmp_path / "m.lineal")
