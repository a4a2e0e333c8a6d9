"""TableClassifier and TableRegressor: lineal.fit inside scikit-learn's pipelines, folds and searches."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline

import lineal
from lineal.errors import InputError

RNG = np.random.default_rng(0)
N = 90
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(20, 70, N).astype(float),
        "job": RNG.choice(["cook", "clerk", "smith"], N),
        "since": pd.date_range("2024-01-01", periods=N),
    }
)
FRAME.loc[[3, 50], "age"] = np.nan
SCORE = FRAME["age"].fillna(45.0).to_numpy() / 10 + (FRAME["job"] == "cook") + RNG.normal(size=N)
CLASSES = np.where(SCORE > 5.0, "yes", "no")


def test_what_is_fitted_is_what_lineal_fit_fits():
    plain = lineal.fit(FRAME, CLASSES, model="logistic", penalty="ridge:0.01")
    model = lineal.TableClassifier(penalty="ridge:0.01").fit(FRAME, CLASSES)
    np.testing.assert_array_equal(model.model_.coef, plain.coef)
    np.testing.assert_array_equal(model.predict(FRAME), plain.predict(FRAME))
    np.testing.assert_array_equal(model.predict_proba(FRAME), plain.predict_proba(FRAME))
    assert model.verdict_.kind == "optimal"
    assert model.feature_names_in_.tolist() == ["age", "job", "since"]
    weight = np.arange(1.0, N + 1.0)
    plain = lineal.fit(FRAME, SCORE, model="ridge", penalty="ridge:0.01", weight=weight)
    model = lineal.TableRegressor(penalty="ridge:0.01").fit(FRAME, SCORE, weight)
    np.testing.assert_array_equal(model.predict(FRAME), plain.predict(FRAME))


@pytest.mark.parametrize("form", [pl.from_pandas, lambda frame: frame.to_dict("list"), lambda frame: frame])
def test_tables_of_every_kind(form):
    table = form(FRAME[["age", "job"]])
    model = lineal.TableClassifier(penalty="ridge:0.01").fit(table, CLASSES)
    first = lineal.TableClassifier(penalty="ridge:0.01").fit(FRAME[["age", "job"]], CLASSES)
    np.testing.assert_allclose(model.predict_proba(table), first.predict_proba(FRAME[["age", "job"]]), rtol=1e-12)


def test_rows_of_objects_and_of_numbers():
    objects = FRAME[["age", "job"]].to_numpy(dtype=object)
    assert lineal.TableClassifier(penalty="ridge:0.01").fit(objects, CLASSES).score(objects, CLASSES) > 0.7
    X = RNG.normal(size=(40, 2))
    assert lineal.TableRegressor("linear").fit(X, X @ [1.0, 2.0]).score(X, X @ [1.0, 2.0]) == pytest.approx(1.0)


LABELS = [
    SCORE > 5.0,
    (SCORE > 5.0).astype(int),
    np.where(SCORE > 5.0, 10.0, 2.0),
    np.where(SCORE > 5.0, "10", "2"),
    np.digitize(SCORE, [4.0, 6.0]),
    np.array(["10", "9", "8"])[np.digitize(SCORE, [4.0, 6.0])],
]


@pytest.mark.parametrize("y", LABELS, ids=lambda y: str(np.unique(y)))
@pytest.mark.parametrize("form", [np.asarray, pd.Series, list])
def test_classes_keep_their_kind_and_order(y, form):
    model = lineal.TableClassifier(penalty="ridge:0.01").fit(FRAME, form(y))
    assert model.classes_.dtype in (y.dtype, object)
    assert model.classes_.tolist() == np.unique(y).tolist()
    said = model.predict(FRAME)
    assert said.dtype == model.classes_.dtype
    assert np.mean(said == y) > 0.6
    assert model.classes_[model.predict_proba(FRAME).argmax(axis=1)].tolist() == said.tolist()
    score = model.decision_function(FRAME)
    place = score.argmax(axis=1) if score.ndim == 2 else (score > 0.0).astype(int)
    assert model.classes_[place].tolist() == said.tolist()


def test_folds_hold_out_what_is_measured():
    folds = KFold(4)
    out = cross_val_predict(lineal.TableRegressor("linear"), FRAME, SCORE, cv=folds)
    for seen, held in folds.split(FRAME):
        alone = lineal.fit(FRAME.iloc[seen], SCORE[seen], model="linear")
        np.testing.assert_allclose(out[held], alone.predict(FRAME.iloc[held]), rtol=1e-9)
    assert cross_validate(lineal.TableClassifier(), FRAME, CLASSES, cv=3)["test_score"].min() > 0.6


def test_searches_pipelines_and_calibration_take_them():
    grid = {"penalty": ["ridge:0.001", "ridge:10"], "poly": [1, 2]}
    search = GridSearchCV(lineal.TableClassifier(), grid, cv=3, error_score="raise").fit(FRAME[["age", "job"]], CLASSES)
    chosen = lineal.TableClassifier(**search.best_params_).fit(FRAME[["age", "job"]], CLASSES)
    np.testing.assert_array_equal(search.predict(FRAME[["age", "job"]]), chosen.predict(FRAME[["age", "job"]]))
    X = RNG.normal(size=(60, 5))
    line = make_pipeline(SelectKBest(k=2), lineal.TableClassifier(penalty="ridge:0.01")).fit(X, X[:, 1] > 0.0)
    assert line.score(X, X[:, 1] > 0.0) > 0.9
    base = lineal.TableClassifier(penalty="ridge:0.01")
    assert CalibratedClassifierCV(base, cv=3).fit(X, X[:, 1] > 0.0).predict_proba(X).shape == (60, 2)


def test_copies():
    model = lineal.TableClassifier(penalty="ridge:0.01", types={"age": "category"}, max_levels=4)
    assert clone(model).get_params() == model.get_params()
    fitted = model.fit(FRAME, CLASSES)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    np.testing.assert_array_equal(again.predict(FRAME), fitted.predict(FRAME))
    assert is_classifier(model)
    assert not is_classifier(lineal.TableRegressor())


def test_a_target_of_the_other_kind_is_refused():
    with pytest.raises(InputError, match="use TableRegressor"):
        lineal.TableClassifier("linear").fit(FRAME, SCORE)
    with pytest.raises(InputError, match="use TableClassifier"):
        lineal.TableRegressor("logistic").fit(FRAME, CLASSES)
    with pytest.raises(InputError, match="y is None"):
        lineal.TableRegressor().fit(FRAME, None)
    with pytest.raises(InputError, match="ridg"):
        lineal.TableRegressor("ridg").fit(FRAME, SCORE)
