"""Discriminant analysis finds what scikit-learn finds, and what fractions find where scikit-learn cannot."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TheirQDA

import lineal

LDA, QDA = lineal.LinearDiscriminantAnalysis, lineal.QuadraticDiscriminantAnalysis
DATA = {"iris": load_iris, "wine": load_wine}
LINEAR = [
    {},
    {"priors": "skewed"},
    {"solver": "lsqr"},
    {"solver": "eigen"},
    {"solver": "eigen", "priors": "skewed"},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": 0.3, "priors": "skewed"},
    {"solver": "lsqr", "covariance_estimator": OAS()},
    {"solver": "eigen", "covariance_estimator": OAS()},
    {"store_covariance": True},
    {"n_components": 1},
]


def given(options, classes):
    skewed = {"priors": [0.1, 0.9] if classes == 2 else [0.1, 0.2, 0.7]} if "priors" in options else {}
    return {**options, **skewed}


@pytest.mark.parametrize("options", LINEAR, ids=str)
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_linear_discriminants_are_those_there(name, options):
    x, y = DATA[name](return_X_y=True)
    options = given(options, len(set(y)))
    ours, other = LDA(**options).fit(x, y), TheirLDA(**options).fit(x, y)
    assert np.allclose(ours.coef_, other.coef_, rtol=1e-6, atol=1e-7 * np.abs(other.coef_).max())
    assert np.allclose(ours.intercept_, other.intercept_, rtol=1e-6)
    assert np.allclose(ours.decision_function(x), other.decision_function(x), rtol=1e-6, atol=1e-5)
    assert np.allclose(ours.predict_proba(x), other.predict_proba(x), atol=1e-7)
    assert ours.predict(x).tolist() == other.predict(x).tolist()
    for key in ("means_", "priors_", "xbar_", "covariance_"):
        assert hasattr(ours, key) == hasattr(other, key), key
        if hasattr(other, key):
            assert np.allclose(getattr(ours, key), getattr(other, key), rtol=1e-9, atol=1e-12), key
    if options.get("solver") != "lsqr":  # it has no directions there
        assert np.allclose(ours.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-6)
        mine, there = ours.transform(x), other.transform(x)
        signs = np.sign(np.sum(mine * there, axis=0))
        assert np.allclose(mine * signs, there, rtol=1e-5, atol=1e-6 * np.abs(there).max())


@pytest.mark.parametrize("options", [one for one in LINEAR if "covariance_estimator" not in one], ids=str)
def test_thirty_columns_of_many_units(options):
    x, y = load_breast_cancer(return_X_y=True)
    options = given(options, 2)
    ours, other = LDA(**options).fit(x, y), TheirLDA(**options).fit(x, y)
    assert np.allclose(ours.decision_function(x), other.decision_function(x), rtol=1e-6, atol=1e-5)
    assert np.allclose(ours.coef_, other.coef_, rtol=1e-6, atol=1e-7 * np.abs(other.coef_).max())


QUADRATIC = [
    {},
    {"priors": "skewed"},
    {"reg_param": 0.2},
    {"store_covariance": True},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": 0.2, "store_covariance": True},
    {"solver": "eigen", "covariance_estimator": OAS()},
]


@pytest.mark.parametrize("options", QUADRATIC, ids=str)
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_quadratic_discriminants_are_those_there(name, options):
    x, y = DATA[name](return_X_y=True)
    options = given(options, 3)
    ours, other = QDA(**options).fit(x, y), TheirQDA(**{**options, "tol": 0.0}).fit(x, y)
    assert np.allclose(ours.decision_function(x), other.decision_function(x), rtol=1e-6, atol=1e-6)
    assert np.allclose(ours.predict_proba(x), other.predict_proba(x), atol=1e-9)
    assert ours.predict(x).tolist() == other.predict(x).tolist()
    for k in range(3):
        assert np.allclose(ours.scalings_[k], other.scalings_[k], rtol=1e-6, atol=1e-12)
        mine = ours.rotations_[k] * ours.scalings_[k] @ ours.rotations_[k].T
        there = other.rotations_[k] * other.scalings_[k] @ other.rotations_[k].T
        assert np.allclose(mine, there, rtol=1e-8, atol=1e-10)
        if options.get("store_covariance"):
            assert np.allclose(ours.covariance_[k], other.covariance_[k], rtol=1e-8, atol=1e-12)
    assert np.allclose(ours.means_, other.means_, rtol=1e-14)


def test_two_classes_have_one_score():
    x, y = load_iris(return_X_y=True)
    x, y = x[y < 2], y[y < 2]
    for mine, there in ((LDA(), TheirLDA()), (QDA(), TheirQDA())):
        mine.fit(x, y), there.fit(x, y)
        assert np.allclose(mine.decision_function(x), there.decision_function(x), rtol=1e-6)
        assert mine.decision_function(x).shape == (len(x),)


def inverse(matrix):
    """Return the inverse of a matrix of fractions, by Gauss and Jordan."""
    size = len(matrix)
    rows = [list(row) + [Fraction(int(i == j)) for j in range(size)] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = next(r for r in range(i, size) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(size):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    return [row[size:] for row in rows]


def exact_linear(x, y):
    """Return the exact differences of the scores of two classes, less that of the priors, for every row."""
    cells = [list(map(Fraction, row)) for row in x.tolist()]
    groups = [[row for row, label in zip(cells, y, strict=True) if label == k] for k in (0, 1)]
    p = len(cells[0])
    mean = [[sum(row[j] for row in group) / len(group) for j in range(p)] for group in groups]
    within = [
        [
            sum((r[i] - mean[k][i]) * (r[j] - mean[k][j]) for k in (0, 1) for r in groups[k]) / len(cells)
            for j in range(p)
        ]
        for i in range(p)
    ]
    back = inverse(within)
    apart = [b - a for a, b in zip(*mean, strict=True)]
    coef = [sum(back[i][j] * apart[j] for j in range(p)) for i in range(p)]
    middle = [(a + b) / 2 for a, b in zip(*mean, strict=True)]
    return [float(sum(c * (v - m) for c, v, m in zip(coef, row, middle, strict=True))) for row in cells]


@pytest.mark.parametrize("far", [0.0, 1e9, 1e15])
def test_columns_far_from_zero_keep_their_digits(far):
    rng = np.random.default_rng(1)
    y = np.arange(30) % 2
    x = np.round(rng.normal(size=(30, 2)) * 8) + y[:, None] * [3.0, -5.0] + far
    expected = exact_linear(x, y)
    for options in ({}, {"solver": "lsqr"}, {"solver": "eigen"}):
        model = LDA(**options).fit(x, y)
        assert np.allclose(model.decision_function(x), expected, rtol=1e-9, atol=1e-9)
        assert np.allclose(model.model_.scores(x)[:, 0], expected, rtol=1e-9, atol=1e-9)
    near = QDA().fit(x - far, y).predict_proba(x - far)
    assert np.allclose(QDA().fit(x, y).predict_proba(x), near, rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"solver": "lsqr"}, {"solver": "eigen"}], ids=str)
def test_dependent_columns_are_solved_within_their_span_and_said(options):
    x, y = load_iris(return_X_y=True)
    wide = np.column_stack([x, x[:, 0] + x[:, 1], np.ones(len(x)), x[:, 2] * 1e-9])
    plain, model = LDA(**options).fit(x, y), LDA(**options).fit(wide, y)
    assert np.allclose(model.predict_proba(wide), plain.predict_proba(x), atol=1e-8)
    assert "3 directions without variance within the classes left out" in model.verdict_.sentence
    assert model.verdict_.evidence["rank"] == 4
    assert plain.verdict_.sentence == "Exact: counted from 150 rows of 3 classes; nothing was optimized."


def test_units_of_columns_do_not_matter():
    x, y = load_wine(return_X_y=True)
    units = 10.0 ** np.linspace(-80, 80, x.shape[1])
    for kind in (LDA, QDA):
        assert np.allclose(
            kind().fit(x * units, y).predict_proba(x * units), kind().fit(x, y).predict_proba(x), atol=1e-8
        )


def test_weights_are_repeats():
    x, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, size=len(x))
    for options in ({}, {"solver": "lsqr"}, {"solver": "eigen", "shrinkage": 0.2}):
        ours = LDA(**options).fit(x, y, weight)
        other = TheirLDA(**options).fit(np.repeat(x, weight, axis=0), np.repeat(y, weight))
        assert np.allclose(ours.predict_proba(x), other.predict_proba(x), atol=1e-8)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 50)), np.arange(20) % 2
    ours = LDA(solver="eigen", shrinkage="auto").fit(x, y)
    assert np.allclose(ours.predict_proba(x), TheirLDA(solver="eigen", shrinkage="auto").fit(x, y).predict_proba(x))
    with pytest.raises(lineal.InputError, match=r"class 0 is not full rank: of 50 directions 9 vary.*reg_param"):
        QDA().fit(x, y)
    assert QDA(reg_param=0.5).fit(x, y).score(x, y) == 1.0
    assert QDA(solver="eigen", shrinkage="auto").fit(x, y).score(x, y) == 1.0


def test_assigned_coefficients_predict():
    x, y = load_iris(return_X_y=True)
    model = LDA().fit(x, y)
    model.coef_, model.intercept_ = np.zeros_like(model.coef_), np.array([0.0, 1.0, 0.0])
    assert model.predict(x).tolist() == [1] * len(x)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LDA(shrinkage=0.1), "not supported with 'svd'"),
        (lambda: LDA(solver="newton"), "solver is 'newton'"),
        (lambda: LDA(solver="eigen", shrinkage=2.0), "shrinkage is 2.0"),
        (lambda: LDA(n_components=3), "n_components cannot be larger"),
        (lambda: LDA(priors=[0.5, 0.5]), "Number of priors must match"),
        (lambda: QDA(reg_param=-0.1), "reg_param is -0.1"),
        (lambda: QDA(priors=[0.5, 0.5, -1.0]), "non-negative"),
        (lambda: LDA(solver="eigen", shrinkage=0.1, covariance_estimator=OAS()), "Only one of the two"),
    ],
)
def test_parameters_are_refused_in_a_sentence(make, words):
    x, y = load_iris(return_X_y=True)
    with pytest.raises(lineal.InputError, match=words):
        make().fit(x, y)


def test_priors_that_do_not_sum_to_one_are_scaled_with_a_warning():
    x, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="do not sum to 1"):
        model = LDA(priors=[1.0, 1.0, 2.0]).fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(model.predict_proba(x), LDA(priors=[0.25, 0.25, 0.5]).fit(x, y).predict_proba(x))


def test_a_row_for_every_class_and_a_class_of_one_row():
    with pytest.raises(lineal.InputError, match="must be more than the number of classes"):
        LDA().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(lineal.InputError, match="only 1 sample in class b"):
        QDA().fit([[1.0], [2.0], [5.0]], ["a", "a", "b"])
    assert LDA().fit([[1.0], [2.0], [5.0]], ["a", "a", "b"]).predict([[4.5]]).tolist() == ["b"]


@pytest.mark.parametrize("make", [LDA, QDA, lineal.GaussianNB])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_model_survives_its_file(make, classes, tmp_path):
    x, y = load_iris(return_X_y=True)
    x, y = x[y < classes] + 1e9, y[y < classes]
    fitted = make().fit(x, y)
    fitted.model_.save(tmp_path / "m.lineal")
    again = lineal.load(tmp_path / "m.lineal")
    assert np.allclose(again.predict_proba(x), fitted.predict_proba(x), rtol=1e-9, atol=1e-12)
    assert again.verdict.kind == "exact"
    assert np.allclose(again.scorer()(x[0])[0], again.means(x[:1])[0])
