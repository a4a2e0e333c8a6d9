"""LogisticRegressionCV as scikit-learn has it: attributes of both kinds, no refit, folds that lack classes, metadata."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from sklearn import config_context
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold

import lineal
from lineal.errors import InputError


def problem(classes):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 3))
    score = X[:, 0] + rng.normal(size=90)
    return X, np.array(["a", "b", "c"])[np.digitize(score, [0.0] if classes == 2 else [-0.6, 0.6])]


def both(X, y, weight=None, **options):
    given = {"Cs": [3.0, 0.3, 1.0], "cv": 3, "scoring": "neg_log_loss", "use_legacy_attributes": True, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = "saga" if any(options.get("l1_ratios") or [0]) else "lbfgs"
        theirs = sklearn.linear_model.LogisticRegressionCV(**given, solver=solver, tol=1e-7, max_iter=20000)
        theirs.fit(X, y, weight)
    return lineal.LogisticRegressionCV(**given, tol=1e-12).fit(X, y, weight), theirs


@pytest.mark.parametrize("l1_ratios", [None, [0.0], [0.0, 0.9]])
@pytest.mark.parametrize("classes", [2, 3])
def test_dicts_by_class(classes, l1_ratios):
    ours, theirs = both(*problem(classes), l1_ratios=l1_ratios)
    for name in ("C_", "Cs_", *(() if l1_ratios is None else ("l1_ratio_",))):  # None there, 0 here
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    for name in ("scores_", "coefs_paths_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.keys() == other.keys()
        for label in other:
            np.testing.assert_allclose(mine[label], other[label], atol=3e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_a_last_fit_means_over_folds_are_taken(classes):
    X, y = problem(classes)
    ours, theirs = both(X, y, refit=False, use_legacy_attributes=False)
    assert pytest.approx(theirs.C_) == ours.C_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=3e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=3e-4)
    assert ours.verdict_.kind == "budget"
    assert "refit=False" in ours.verdict_.sentence
    optimum = lineal.LogisticRegression(C=ours.C_, tol=1e-12).fit(X, y)
    assert 0.0 < ours.objective_ - optimum.objective_ <= ours.verdict_.gap


@pytest.mark.parametrize("scoring", ["neg_log_loss", "neg_brier_score"])
@pytest.mark.parametrize("classes", [2, 3])
def test_folds_that_lack_a_class(classes, scoring):
    X, y = problem(classes)
    order = np.argsort(y, kind="stable")  # unshuffled folds of sorted classes
    ours, theirs = both(X[order], y[order], cv=KFold(9), scoring=scoring, use_legacy_attributes=False)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-4)


def test_score_is_by_scoring():
    X, y = problem(2)
    ours, theirs = both(X, y)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-5)
    assert ours.score(X, y) < 0.0


@pytest.mark.parametrize("kind", ["LogisticRegressionCV", "RidgeCV", "LassoCV", "ElasticNetCV", "RidgeClassifierCV"])
def test_groups_reach_the_splitter(kind):
    X, y = problem(2)
    y = y if kind in ("LogisticRegressionCV", "RidgeClassifierCV") else X[:, 0] + X[:, 1]
    groups = np.arange(90) % 5
    model = getattr(lineal, kind)(cv=GroupKFold(3))
    with pytest.raises(InputError, match="enable_metadata_routing=True"):
        model.fit(X, y, groups=groups)
    with config_context(enable_metadata_routing=True):
        routed = model.fit(X, y, groups=groups)
    by_hand = getattr(lineal, kind)(cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    np.testing.assert_array_equal(routed.coef_, by_hand.coef_)


def test_weights_reach_a_scorer_that_asks_for_them():
    X, y = problem(2)
    weight = np.where(np.arange(90) < 45, 3.0, 1.0)
    with config_context(enable_metadata_routing=True):
        asked, not_asked = (
            lineal.LogisticRegressionCV(Cs=3, scoring=get_scorer("accuracy").set_score_request(sample_weight=asks))
            for asks in (True, False)
        )
        asked.fit(X, y, sample_weight=weight)
        not_asked.fit(X, y, sample_weight=weight)
    always = lineal.LogisticRegressionCV(Cs=3, scoring="accuracy").fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(asked.scores_, always.scores_)
    assert not np.allclose(not_asked.scores_, always.scores_)
