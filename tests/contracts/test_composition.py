"""Estimators inside scikit-learn's machinery, on disk and in notebooks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lineal
from lineal.estimators import LinearRegression, LogisticRegression, Ridge
from lineal.fitting import small_fit
from lineal.problem.problem import Problem

ESTIMATORS = [LinearRegression(), Ridge(), LogisticRegression()]


def data(estimator):
    return (
        load_breast_cancer(return_X_y=True)
        if isinstance(estimator, LogisticRegression)
        else load_diabetes(return_X_y=True)
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pipeline_and_cross_validation(estimator):
    X, y = data(estimator)
    pipe = make_pipeline(StandardScaler(), clone(estimator))
    scores = cross_val_score(pipe, X, y, cv=3)
    assert scores.min() > (0.95 if isinstance(estimator, LogisticRegression) else 0.4)
    assert cross_val_predict(pipe, X, y, cv=3).shape == y.shape
    assert pipe.fit(X, y)[-1].verdict_.kind == "optimal"


def test_grid_search_finds_what_scikit_learn_finds():
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": np.logspace(-3, 2, 6)}
    ours = GridSearchCV(Ridge(), grid, cv=4).fit(X, y)
    theirs = GridSearchCV(sklearn.linear_model.Ridge(), grid, cv=4).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-8)
    assert ours.best_estimator_.verdict_.kind == "optimal"


def test_cross_val_predict_proba():
    X, y = load_iris(return_X_y=True)
    proba = cross_val_predict(LogisticRegression(), X, y, cv=3, method="predict_proba")
    assert proba.shape == (150, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert OneVsRestClassifier(LogisticRegression()).fit(X, y).score(X, y) > 0.9


def test_metadata_routing_of_weights_and_offsets():
    X, y = load_diabetes(return_X_y=True)
    weight, offset = np.arange(1.0, len(y) + 1.0), np.linspace(0.0, 50.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        inner = Ridge().set_fit_request(sample_weight=True, offset=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner)
        pipe.fit(X, y, sample_weight=weight, offset=offset)
    direct = Ridge().fit(StandardScaler().fit_transform(X), y, sample_weight=weight, offset=offset)
    np.testing.assert_allclose(pipe[-1].coef_, direct.coef_, rtol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_hands_over_names(library):
    pytest.importorskip(library)
    bunch = load_breast_cancer()
    pipe = make_pipeline(StandardScaler(), LogisticRegression()).set_output(transform=library)
    pipe.fit(bunch.data, bunch.target)
    names = pipe[-1].feature_names_in_
    assert names[0] == "x0"
    assert pipe[-1].model_.columns == ("(intercept)", *names)


def test_feature_names_of_a_frame_are_kept_and_checked():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(load_diabetes(as_frame=True).data)
    y = load_diabetes().target
    model = LinearRegression().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.model_.columns == ("(intercept)", *frame.columns)
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    assert not hasattr(model.fit(frame.to_numpy(), y), "feature_names_in_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_clone_forgets_the_fit_and_keeps_the_parameters(estimator):
    X, y = data(estimator)
    fitted = clone(estimator).set_params(tol=1e-8).fit(X, y)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "verdict_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pickle_is_plain_and_small(estimator):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    written = pickle.dumps(fitted)
    assert len(written) < X.nbytes / 4  # the rows are not in it
    back = pickle.loads(written)  # noqa: S301
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))
    assert back.verdict_ == fitted.verdict_
    assert back.trace_.to_dict() == fitted.trace_.to_dict()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_model_predicts_and_saves_the_same(estimator, tmp_path):
    X, y = data(estimator)
    fitted = clone(estimator).fit(X, y)
    np.testing.assert_allclose(fitted.model_.predict(X), fitted.predict(X), rtol=1e-12)
    fitted.model_.save(tmp_path / "model.lineal")
    back = lineal.load(tmp_path / "model.lineal")
    np.testing.assert_allclose(back.predict(X), fitted.predict(X), rtol=1e-12)
    assert back.verdict.sentence == fitted.verdict_.sentence
    assert back.columns == fitted.model_.columns
    if isinstance(estimator, LogisticRegression):
        np.testing.assert_allclose(fitted.model_.predict_proba(X), fitted.predict_proba(X), rtol=1e-12)


def test_display_says_the_verdict_first_and_repr_stays():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(C=2.0)
    before = model._repr_html_()
    assert "lineal-verdict" not in before
    model.fit(X, y)
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert shown.startswith('<p class="lineal-verdict lineal-optimal"><b>Optimal: the loss cannot be improved')
        assert "sk-top-container" in shown
    assert repr(model) == "LogisticRegression(C=2.0)"
    assert model._repr_mimebundle_()["text/plain"] == repr(model)
    with sklearn.config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_display_escapes_names_of_columns():
    pandas = pytest.importorskip("pandas")
    column = np.arange(10.0)
    frame = pandas.DataFrame({"<script>": column, "b": 2 * column})
    model = LinearRegression().fit(frame, column**2)
    assert model.verdict_.kind == "not_unique"
    assert "<script>" in model.verdict_.sentence
    first = model._repr_html_().split("</p>")[0]
    assert "&lt;script&gt;" in first
    assert "<script>" not in first


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_ctrl_c_is_raised(estimator, monkeypatch):
    X, y = data(estimator)

    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(Problem, "evaluate", interrupted)
    monkeypatch.setattr(
        small_fit, "declines", lambda *_: "the long way is asked for"
    )  # a short ridge would need no evaluation
    with pytest.raises(KeyboardInterrupt):
        clone(estimator).fit(X, y)
