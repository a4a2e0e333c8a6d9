"""Changing the import is enough: attributes have scikit-learn's types and shapes, and what is not so is written down."""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.svm

import lineal
from tests.contracts import catalogue

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "differences.md").read_text()
HOMES = (sklearn.linear_model, sklearn.svm, sklearn.naive_bayes, sklearn.discriminant_analysis)
KINDS = {name: kind for name, kind in catalogue.estimators().items() if hasattr(kind, "predict")}
NAMES = [name for name in KINDS if any(hasattr(home, name) for home in HOMES)]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
SCORE = X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=60)
TARGETS = {
    "number": SCORE,
    "numbers": np.column_stack([SCORE, X[:, 0]]),
    "counts": np.round(np.exp(SCORE / 2)),
    "binary": SCORE > 0,
    "classes": np.digitize(SCORE, [-1, 1]),
}


def pair(name):
    """Return our class and scikit-learn's."""
    return getattr(lineal, name), next(getattr(home, name) for home in HOMES if hasattr(home, name))


def said(word):
    """Whether a word is written on the page of differences, as code."""
    return re.search(rf"`[^`]*\b{re.escape(word)}(?!\w)[^`]*`", PAGE) is not None


def kinds(cls):
    """Return the targets that an estimator takes."""
    if issubclass(cls, sklearn.base.ClassifierMixin):
        return ("binary", "classes")
    if cls.__name__.startswith("MultiTask"):
        return ("numbers",)
    return ("counts",) if cls.__name__ == "PoissonRegressor" else ("number",)


def fitted(cls, y):
    """Fit with defaults, without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls()
        return model.fit(np.abs(X).round() if model.__sklearn_tags__().input_tags.positive_only else X, y)


CASES = [(name, kind) for name in NAMES for kind in kinds(pair(name)[0])]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_attributes_have_the_same_types_and_shapes_or_are_listed(name, kind):
    ours, theirs = (fitted(cls, TARGETS[kind]) for cls in pair(name))
    with warnings.catch_warnings(
        action="ignore", category=FutureWarning
    ):  # scikit-learn's own words on what it will drop
        known = [key for key in dir(theirs) if key.endswith("_") and not key.startswith("_") and hasattr(theirs, key)]
    missing = [key for key in known if not hasattr(ours, key)]
    assert [key for key in missing if not said(key)] == []
    legacy = name == "LogisticRegressionCV"  # whose attributes are the new ones: use_legacy_attributes is False
    for key in () if legacy else sorted(set(known) - set(missing)):
        mine, other = getattr(ours, key), getattr(theirs, key)
        if isinstance(other, list):
            assert [np.shape(one) for one in mine] == [np.shape(one) for one in other], key
            continue
        if key == "n_iter_" and name in {"Ridge", "RidgeClassifier"}:  # said in the page: None there
            continue
        assert np.shape(mine) == np.shape(other), key
        if isinstance(other, np.ndarray | np.generic):
            assert isinstance(mine, np.ndarray | np.generic | float | int | None.__class__), key
            assert not isinstance(other, np.ndarray) or isinstance(mine, np.ndarray), key
        elif scipy.sparse.issparse(other):
            assert type(mine) is type(other), key


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_methods_are_the_same_or_are_listed(name):
    ours, theirs = pair(name)
    mine, other = (inspect.signature(cls.__init__).parameters for cls in (ours, theirs))
    assert [key for key in other if key not in mine and not said(key)] == []
    changed = [key for key in other if key in mine and mine[key].default != other[key].default]
    assert [key for key in changed if not said(key)] == []
    shared = [key for key in mine if key in other]
    assert shared == [key for key in other if key in mine], "the order of parameters"
    public = {key for key in dir(theirs) if not key.startswith("_") and callable(getattr(theirs, key))} - {"param"}
    assert [key for key in sorted(public - set(dir(ours))) if not said(key)] == []


@pytest.mark.parametrize(
    "name", [name for name in NAMES if hasattr(fitted(pair(name)[1], TARGETS[kinds(pair(name)[0])[0]]), "intercept_")]
)
def test_an_intercept_can_be_rounded_and_indexed_as_there(name):
    kind = kinds(pair(name)[0])[0]
    ours, theirs = (fitted(cls, TARGETS[kind]).intercept_ for cls in pair(name))
    assert np.shape(ours.round(2)) == np.shape(theirs.round(2))


@pytest.mark.parametrize("name", [name for name in NAMES if "n_jobs" in inspect.signature(pair(name)[0]).parameters])
def test_any_number_of_cores_may_be_asked_for(name):
    cls, _ = pair(name)
    y = TARGETS[kinds(cls)[0]]
    for n_jobs in (-1, 2):
        assert np.array_equal(cls(n_jobs=n_jobs).fit(X, y).coef_, cls().fit(X, y).coef_)
    for wrong in (True, "all"):
        with pytest.raises(lineal.InputError, match="None or a whole number"):
            cls(n_jobs=wrong).fit(X, y)


@pytest.mark.parametrize("kind", [lineal.Ridge, lineal.LogisticRegression])
def test_assigned_coefficients_predict(kind):
    model = kind().fit(X, TARGETS["binary"].astype(int))
    model.coef_, model.intercept_ = np.zeros_like(model.coef_), np.ones_like(model.intercept_)
    assert model.predict(X).tolist() == [1] * len(X)
