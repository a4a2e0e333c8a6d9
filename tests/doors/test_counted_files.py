"""Files of the generative estimators: each is proven from a table of the same rows, or refused before it is written."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.covariance import ShrunkCovariance
from sklearn.datasets import load_iris

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError, LinealError
from lineal.verify import verify

SMOOTHED = [
    {},
    {"alpha": 0.3, "fit_prior": False},
    {"class_prior": True},
    {"alpha": [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]},
]
LDA, QDA = lineal.LinearDiscriminantAnalysis, lineal.QuadraticDiscriminantAnalysis


def written(folder, model, cells, y):
    """Save a model, and the rows under the names of its inputs; return both paths."""
    names = model.feature_map.inputs if model.feature_map is not None else model.columns[1:]
    model.save(folder / "m.lineal")
    with (folder / "d.csv").open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow([*names, "y"])
        rows.writerows([*map(repr, row), label] for row, label in zip(cells.tolist(), y.tolist(), strict=True))
    return folder / "m.lineal", folder / "d.csv"


def events(classes):
    rng = np.random.default_rng(classes)
    return rng.poisson(0.7, size=(40, 6)).astype(float), np.array(["u", "v", "w"])[np.arange(40) % classes]


def cells_of(model, x):
    """Return the columns of the Model of an estimator of counts."""
    if isinstance(model, lineal.CategoricalNB):
        return np.column_stack([x[:, j] == c for j, size in enumerate(model.n_categories_) for c in range(size)]) * 1.0
    return (x > 0.0) * 1.0 if isinstance(model, lineal.BernoulliNB) else x


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", SMOOTHED)
@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
def test_counts_are_proven(tmp_path, name, options, classes):
    x, y = events(classes)
    options = {**options, "class_prior": [0.2] * classes} if "class_prior" in options else options
    for more in ({}, {"norm": True}) if name == "ComplementNB" else ({},):
        fitted = getattr(lineal, name)(**options, **more).fit(x, y)
        paths = written(tmp_path, fitted.model_, cells_of(fitted, x), y)
        assert any("coefficients are those of the counts" in line["check"] for line in verify(*paths))
        np.testing.assert_allclose(
            lineal.load(paths[0]).predict_proba(cells_of(fitted, x)), fitted.predict_proba(x), rtol=1e-9
        )


GAUSSIAN = [
    (lineal.GaussianNB, {}),
    (lineal.GaussianNB, {"var_smoothing": 0.1}),
    *((LDA, options) for options in ({}, {"solver": "lsqr"}, {"solver": "eigen", "shrinkage": "auto"}, {"tol": 0.3})),
    *((QDA, options) for options in ({}, {"solver": "eigen", "shrinkage": 0.3}, {"reg_param": 0.2})),
]


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(("make", "options"), GAUSSIAN)
def test_densities_are_proven(tmp_path, make, options, classes, prior):
    x, y = load_iris(return_X_y=True)
    x, y = x[y < classes] + 1e6, y[y < classes]
    priors = [0.5, 0.2, 0.3][:classes] if classes == 3 else [0.7, 0.3]
    fitted = make(**options, priors=priors if prior else None).fit(x, y)
    paths = written(tmp_path, fitted.model_, x, y)
    assert any("the verdict is exact" in line["check"] for line in verify(*paths))
    np.testing.assert_allclose(lineal.load(paths[0]).predict_proba(x), fitted.predict_proba(x), rtol=1e-6, atol=1e-12)


def test_columns_that_repeat_each_other_are_left_out_and_proven(tmp_path):
    x, y = load_iris(return_X_y=True)
    x = np.column_stack([x, x[:, 0]])
    model = LDA().fit(x, y).model_
    assert "1 direction without variance" in model.verdict.sentence
    verify(*written(tmp_path, model, x, y))


def test_what_is_above_a_threshold_has_a_name_of_its_own(tmp_path):
    x, y = events(2)
    assert lineal.BernoulliNB(binarize=0.5).fit(x, y).model_.columns[1] == "x0 > 0.5"
    assert lineal.BernoulliNB(binarize=None).fit((x > 0) * 1.0, y).model_.columns[1] == "x0"
    model = lineal.BernoulliNB().partial_fit((x > 0) * 1.0, y, classes=["u", "v"])
    assert model.model_.columns[1] == "x0"
    assert model.partial_fit(x, y).model_.columns[1] == "x0 > 0"


LIES = {
    "a coefficient": lambda _, arrays: arrays["coef"].__setitem__((1, 0), arrays["coef"][1, 0] + 1e-6),
    "the method": lambda said, _: said.update(method="complement"),
    "no method": lambda said, _: said.pop("method"),
    "a map's method": lambda said, _: said.update(method="gaussian", variance=1e-9),
    "alpha": lambda said, _: said.update(alpha=2.0),
    "alphas": lambda said, _: said.update(alpha=[1.0] * 5),
    "a prior": lambda said, _: said.update(prior=[0.5, 0.5]),
    "a prior of one class": lambda said, _: said.update(prior=[1.0]),
    "a weight": lambda said, _: said.update(class_weight=[20.0, 21.0]),
    "an array": lambda _, arrays: arrays.update(center=np.zeros(len(arrays["coef"]))),
    "more": lambda said, _: said.update(tokens=3),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_about_counts_are_refused(tmp_path, lie):
    x, y = events(2)
    x, y = x[:-3], y[:-3]
    model, data = written(tmp_path, lineal.MultinomialNB().fit(x, y).model_, x, y)
    verify(model, data)
    meta, arrays = container.read(model)
    meta, arrays = json.loads(json.dumps(meta)), {name: array.copy() for name, array in arrays.items()}
    LIES[lie](meta["verdict"]["evidence"], arrays)
    container.write(model, {**meta, "encoding": container.encoding(meta)}, arrays)
    with pytest.raises(LinealError):
        verify(model, data)


def test_other_counts_are_refused(tmp_path):
    x, y = events(3)
    for name in ("MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"):
        fitted = getattr(lineal, name)().fit(x, y)
        cells = cells_of(fitted, x)
        model, data = written(tmp_path, fitted.model_, cells, y)
        verify(model, data)
        cells[0, 1] = 1.0 - min(cells[0, 1], 1.0)
        _, data = written(tmp_path, fitted.model_, cells, y)
        with pytest.raises(LinealError, match="coefficients"):
            verify(model, data)


def test_what_nobody_could_check_is_no_model():
    x, y = load_iris(return_X_y=True)
    for make, solver in ((LDA, "lsqr"), (QDA, "eigen")):
        with pytest.raises(InputError, match="covariance is that of ShrunkCovariance"):
            _ = make(solver=solver, covariance_estimator=ShrunkCovariance()).fit(x, y).model_
    edited = lineal.MultinomialNB().fit(x, y)
    edited.feature_log_prob_ = edited.feature_log_prob_ + 1.0
    with pytest.raises(InputError, match="feature_log_prob_ was changed"):
        _ = edited.model_
    edited = lineal.GaussianNB().fit(x, y)
    edited.var_[0] *= 2.0
    with pytest.raises(InputError, match="var_ was changed"):
        _ = edited.model_
    with pytest.raises(InputError, match="there is one class"):
        _ = lineal.MultinomialNB().fit(x[:9], y[:9]).model_
    waiting = lineal.MultinomialNB(fit_prior=False).partial_fit(x[:10], y[:10], classes=[0, 1])
    with pytest.raises(InputError, match="class 1 has no row yet"):
        _ = waiting.model_


@pytest.mark.parametrize("model", ["lda", "naive-bayes"])
def test_labels_are_refused_since_each_has_rows_of_its_own(model):
    table = {"c": list("pqpqqpqp"), "a": [0, 1, 0, 1, 1, 0, 1, 1], "b": [1, 1, 0, 1, 0, 0, 1, 0]}
    with pytest.raises(InputError, match="fit one label"):
        lineal.fit(table, ["a", "b"], model=model)


def test_a_linear_one_has_a_table_of_coefficients(tmp_path, capsys):
    x, y = load_iris(return_X_y=True)
    table = {f"c{j}": x[:, j] for j in range(4)} | {"y": [f"k{label}" for label in y]}
    model = lineal.fit(table, "y", model="lda")
    expected = LDA().fit(x, y).model_
    assert model.feature_map is None
    assert model.columns == ("(intercept)", "c0", "c1", "c2", "c3")
    np.testing.assert_allclose(model.coef, expected.coef, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.center, expected.center)
    levels = {"a": ["p", "q", "p", "r", "q", "p"], "b": ["yes", "no", "no", "yes", "no", "yes"], "y": list("uvuvuv")}
    counted = lineal.fit(levels, "y", model="naive-bayes")
    assert counted.feature_map is None
    assert counted.columns[1:] == ("b", "a=q", "a=r")
    for number, one in enumerate((model, counted)):
        path = str(tmp_path / f"{number}.lineal")
        one.save(path)
        assert run(["show", path]) == 0
        shown = capsys.readouterr().out
        assert all(name in shown for name in one.columns[1:])
        assert "nothing is minimized" in shown
        assert run(["summary", path]) != 0
        assert "counted or looked up and minimizes nothing" in capsys.readouterr().err
