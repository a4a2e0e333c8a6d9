"""Naive Bayes finds what scikit-learn finds, and what exact arithmetic finds where scikit-learn cannot."""

from __future__ import annotations

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from sklearn.datasets import load_iris, load_wine

import lineal

DISCRETE = ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"]


def pair(name, **options):
    return getattr(lineal, name)(**options), getattr(theirs, name)(**options)


def counts(seed, classes=3, n=60, p=7):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c", "d", "e"])[rng.integers(0, classes, size=n)]
    x = rng.poisson(0.3 + 2.0 * rng.random((5, p))[np.searchsorted(["a", "b", "c", "d", "e"], y)]).astype(float)
    return x, y, rng.choice([0.5, 1.0, 2.5], size=n)


def agree(ours, other, x):
    assert ours.classes_.tolist() == other.classes_.tolist()
    assert np.allclose(ours.predict_joint_log_proba(x), other.predict_joint_log_proba(x), rtol=1e-12, atol=1e-11)
    assert np.allclose(ours.predict_log_proba(x), other.predict_log_proba(x), rtol=1e-10, atol=1e-10)
    assert np.allclose(ours.predict_proba(x), other.predict_proba(x), rtol=1e-10, atol=1e-12)
    assert ours.predict(x).tolist() == other.predict(x).tolist()
    for name in (
        "class_count_",
        "class_log_prior_",
        "feature_count_",
        "feature_log_prob_",
        "theta_",
        "var_",
        "feature_all_",
    ):
        if hasattr(other, name):
            mine, there = getattr(ours, name), getattr(other, name)
            if isinstance(there, list):
                assert all(np.allclose(a, b, rtol=1e-12) for a, b in zip(mine, there, strict=True)), name
            else:
                assert np.allclose(mine, there, rtol=1e-9, atol=0), name


OPTIONS = [
    {},
    {"alpha": 0.3},
    {"fit_prior": False},
    {"class_prior": [0.5, 0.2, 0.3]},
    {"alpha": 1e-3},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", DISCRETE)
def test_counts_are_smoothed_as_there(name, options, weighted):
    for seed in range(3):
        x, y, weight = counts(seed)
        ours, other = pair(name, **options)
        for model in (ours, other):
            model.fit(x, y, weight if weighted else None)
        agree(ours, other, x)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "CategoricalNB"])
def test_a_tiny_alpha_becomes_another_only_if_it_is_not_forced(name):
    x, y, _ = counts(0)
    for options in ({"alpha": 1e-12}, {"alpha": 1e-12, "force_alpha": False}):
        ours, other = pair(name, **options)
        if "force_alpha" in options:
            with pytest.warns(UserWarning, match="force_alpha"):
                ours.fit(x, y)
            with pytest.warns(UserWarning, match="force_alpha"):
                other.fit(x, y)
        else:
            ours.fit(x, y), other.fit(x, y)
        agree(ours, other, x)


def test_what_is_almost_always_there_keeps_its_digits():
    """1 - p is not made from p: scikit-learn's has four digits here."""
    model = lineal.BernoulliNB(alpha=1e-12).fit([[1], [1], [0]], ["a", "a", "b"])
    absent = model.predict_joint_log_proba([[0]])[0, 0]
    assert math.isclose(absent, math.log(2 / 3) + math.log(1e-12) - math.log(2 + 2e-12), rel_tol=1e-15)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB"])
@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_array, csr_matrix])
def test_sparse_counts_give_the_same(name, kind):
    x, y, weight = counts(5)
    sparse, dense = getattr(lineal, name)().fit(kind(x), y, weight), getattr(lineal, name)().fit(x, y, weight)
    assert np.array_equal(sparse.feature_log_prob_, dense.feature_log_prob_)
    assert np.allclose(sparse.predict_proba(kind(x)), dense.predict_proba(x), rtol=1e-12)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_one_alpha_for_every_column(name):
    x, y, _ = counts(2)
    alpha = np.linspace(0.1, 2.0, x.shape[1])
    ours, other = (model.fit(x, y) for model in pair(name, alpha=alpha))
    agree(ours, other, x)
    with pytest.raises(lineal.InputError, match="one number for each of 7 columns"):
        pair(name, alpha=alpha[1:])[0].fit(x, y)


def test_one_alpha_for_every_column_that_is_there_or_not():
    """scikit-learn's BernoulliNB cannot: it adds columns to classes."""
    model = lineal.BernoulliNB(alpha=[0.5, 2.0]).fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    assert np.allclose(np.exp(model.feature_log_prob_), [[2.5 / 3, 3 / 6], [0.5 / 2, 3 / 5]])


@pytest.mark.parametrize("options", [{"norm": True}, {"norm": True, "alpha": 0.1}], ids=str)
def test_complements_with_a_norm(options):
    x, y, weight = counts(4)
    ours, other = (model.fit(x, y, weight) for model in pair("ComplementNB", **options))
    agree(ours, other, x)


@pytest.mark.parametrize("binarize", [None, 0.0, 1.5])
def test_a_threshold_for_what_is_there(binarize):
    x, y, _ = counts(6)
    x = (x > 0).astype(float) if binarize is None else x
    ours, other = (model.fit(x, y) for model in pair("BernoulliNB", binarize=binarize))
    agree(ours, other, x)
    agree(lineal.BernoulliNB(binarize=binarize).fit(csr_array(x), y), other, x)


@pytest.mark.parametrize("least", [None, 9, [9, 3, 12, 20, 9, 9, 11]])
def test_a_least_number_of_categories(least):
    x, y, _ = counts(8)
    ours, other = (model.fit(x, y) for model in pair("CategoricalNB", min_categories=least))
    assert np.array_equal(ours.n_categories_, other.n_categories_)
    agree(ours, other, x)
    unseen = x[:1].copy()
    unseen[0, 1] = 40
    with pytest.raises(lineal.InputError, match=r"column 'x1' holds category 40.*min_categories=41"):
        ours.predict(unseen)


@pytest.mark.parametrize("name", [*DISCRETE, "GaussianNB"])
def test_one_class_and_one_row(name):
    x = np.array([[1.0, 0.0, 2.0]])
    ours, other = pair(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other.fit(x, ["a"])
    ours.fit(x, ["a"])
    assert ours.predict(x).tolist() == ["a"]
    assert ours.predict_proba(x).tolist() == [[1.0]]
    assert ours.verdict_.sentence == "Exact: counted from 1 row of 1 class; nothing was optimized."


@pytest.mark.parametrize("name", [*DISCRETE, "GaussianNB"])
def test_parts_in_any_order_are_the_whole_to_the_last_bit(name):
    x, y, weight = counts(9, n=90)
    x = x + 1e9 + np.random.default_rng(0).normal(size=x.shape) if name == "GaussianNB" else x
    whole = getattr(lineal, name)().fit(x, y, weight)
    parts = [slice(40, 90), slice(0, 3), slice(3, 40)]
    stream = getattr(lineal, name)()
    other = getattr(theirs, name)()
    for part in parts:
        stream.partial_fit(x[part], y[part], classes=["a", "b", "c"], sample_weight=weight[part])
        other.partial_fit(x[part], y[part], classes=["a", "b", "c"], sample_weight=weight[part])
    for key in ("class_count_", "feature_count_", "theta_", "var_", "feature_log_prob_", "category_count_"):
        mine, there = getattr(stream, key, 0.0), getattr(whole, key, 0.0)
        for one, two in zip(*(value if isinstance(value, list) else [value] for value in (mine, there)), strict=True):
            assert np.array_equal(one, two), key
    if name != "GaussianNB":  # there, sums of squares have lost their digits
        assert np.allclose(stream.predict_proba(x), other.predict_proba(x), rtol=1e-9)
    assert stream.verdict_ == whole.verdict_


def test_categories_that_come_later_widen_the_counts():
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 6, size=(40, 3)), rng.integers(0, 2, size=40)
    order = np.argsort(x.max(axis=1), kind="stable")
    x, y = x[order], y[order]
    ours, other = pair("CategoricalNB")
    for part in (slice(0, 10), slice(10, 20), slice(20, 40)):
        ours.partial_fit(x[part], y[part], classes=[0, 1])
        other.partial_fit(x[part], y[part], classes=[0, 1])
    assert all(np.array_equal(a, b) for a, b in zip(ours.category_count_, other.category_count_, strict=True))
    assert np.allclose(ours.predict_proba(x), other.predict_proba(x))
    assert ours.fit(x[:10], y[:10]).n_categories_.tolist() == (x[:10].max(axis=0) + 1).tolist()


@pytest.mark.parametrize("data", [load_iris, load_wine])
@pytest.mark.parametrize("options", [{}, {"priors": [0.1, 0.2, 0.7]}, {"var_smoothing": 1e-3}], ids=str)
def test_normal_densities_are_those_there(data, options):
    x, y = data(return_X_y=True)
    ours, other = (model.fit(x, y) for model in pair("GaussianNB", **options))
    agree(ours, other, x)
    assert ours.epsilon_ == pytest.approx(other.epsilon_, rel=1e-12)
    assert np.allclose(ours.class_prior_, other.class_prior_)


def test_weights_are_repeats_and_weight_zero_is_absent():
    x, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, size=len(x))
    weight[y == 2] = 0
    for name in [*DISCRETE, "GaussianNB"]:
        ours = getattr(lineal, name)().fit(x, y, weight)
        repeated = getattr(lineal, name)().fit(np.repeat(x, weight, axis=0), np.repeat(y, weight))
        assert ours.classes_.tolist() == [0, 1]
        seen = x[weight > 0]
        assert np.array_equal(ours.predict_proba(seen), repeated.predict_proba(seen))


def test_columns_far_from_zero_keep_their_variances_where_sums_of_squares_lose_them():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 2)) + np.array([1e9, 1e12]), np.arange(200) % 2
    model = lineal.GaussianNB(var_smoothing=0.0).fit(x, y)
    for k, j in itertools.product(range(2), range(2)):
        own = list(map(Fraction, x[y == k, j].tolist()))
        mean = sum(own) / len(own)
        assert model.theta_[k, j] == float(mean)
        assert model.var_[k, j] == float(sum((value - mean) ** 2 for value in own) / len(own))


def test_variances_of_zero():
    x, y = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [3.0, 5.0]]), [0, 0, 1, 1]
    with pytest.raises(lineal.InputError, match=r"column 'x0' has variance zero in class 1.*var_smoothing"):
        lineal.GaussianNB(var_smoothing=0.0).fit(x, y)
    constant = lineal.GaussianNB().fit(x[:, 1:], [0, 0, 0, 1])
    assert np.allclose(constant.predict_proba([[5.0], [7.0]]), [[0.75, 0.25]] * 2)  # priors alone


def limit(x, y, row):
    """Return the probabilities of a row of counts as alpha goes to 0, by fractions at an alpha of 10^-60."""
    alpha, joint = Fraction(1, 10**60), []
    for k in sorted(set(y)):
        own = [list(map(int, one)) for one, label in zip(x, y, strict=True) if label == k]
        sums = [sum(column) for column in zip(*own, strict=True)]
        value = Fraction(len(own), len(y))
        for j, times in enumerate(row):
            value *= ((sums[j] + alpha) / (sum(sums) + alpha * len(sums))) ** int(times)
        joint.append(value)
    return [float(value / sum(joint)) for value in joint]


@pytest.mark.parametrize("seed", range(20))
def test_without_smoothing_probabilities_are_the_limit_of_alpha_to_zero(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.poisson(0.4, size=(8, 5)), rng.integers(0, 3, size=8)
    x[:, 0] += 1
    model = lineal.MultinomialNB(alpha=0.0).fit(x, y)
    new = rng.poisson(0.7, size=(6, 5))
    found = model.predict_proba(new)
    assert np.allclose(found, [limit(x, y, row) for row in new.tolist()], rtol=1e-9, atol=1e-12)
    assert np.isneginf(model.feature_log_prob_).any()
    assert np.all(np.isneginf(model.predict_joint_log_proba(new)) | (found >= 0))
    with pytest.raises(lineal.InputError, match="alpha above 0"):
        _ = model.model_


def test_without_smoothing_what_is_always_there_rules_out_rows_without_it():
    x, y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]]), [0, 0, 1, 1]
    model = lineal.BernoulliNB(alpha=0.0).fit(x, y)
    assert model.predict_proba([[1, 1], [0, 0]]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_class_of_prior_zero_has_no_probability_even_where_others_are_ruled_out():
    x, y = np.array([[1, 0], [1, 0], [0, 1]]), [0, 0, 1]
    model = lineal.MultinomialNB(alpha=0.0, class_prior=[1.0, 0.0]).fit(x, y)
    assert model.predict_proba([[0, 3]]).tolist() == [[1.0, 0.0]]


def test_the_classes_of_a_stream_that_have_no_rows_yet():
    model = lineal.MultinomialNB().partial_fit([[1, 2]], ["a"], classes=["a", "b"])
    assert model.predict_proba([[1, 1]]).tolist() == [[1.0, 0.0]]
    gaussian = lineal.GaussianNB().partial_fit([[1.0], [2.0]], ["a", "a"], classes=["a", "b"])
    assert gaussian.predict_proba([[1.0]]).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("name", DISCRETE)
def test_the_linear_model_predicts_the_same(name):
    for classes in (2, 3):
        x, y, weight = counts(3, classes=classes)
        ours = getattr(lineal, name)().fit(x, y, weight)
        model = ours.model_
        cells = x
        if name == "BernoulliNB":
            cells = (x > 0).astype(float)
        elif name == "CategoricalNB":
            cells = np.column_stack([x[:, j] == c for j, size in enumerate(ours.n_categories_) for c in range(size)])
        assert np.allclose(model.predict_proba(cells.astype(float)), ours.predict_proba(x), rtol=1e-10, atol=1e-13)
        assert np.allclose(cells @ ours.coef_.T + ours.intercept_, model.scores(cells.astype(float)))
        assert model.verdict.kind == "exact"


def test_a_spam_filter_by_hand():
    """Four mails, Laplace: p(free | spam) = (2 + 1) / (5 + 4), p(free | ham) = (0 + 1) / (4 + 4), priors 1/2."""
    words = ["free", "money", "meeting", "notes"]
    mails = np.array([[1, 1, 0, 0], [1, 1, 0, 1], [0, 0, 1, 1], [0, 1, 1, 0]])
    model = lineal.MultinomialNB().fit(mails, ["spam", "spam", "ham", "ham"])
    spam, ham = Fraction(3, 9) * Fraction(3, 9), Fraction(1, 8) * Fraction(2, 8)
    assert len(words) == mails.shape[1]
    assert model.predict_proba([[1, 1, 0, 0]])[0, 1] == pytest.approx(float(spam / (spam + ham)), rel=1e-14)


def test_far_rows_have_probabilities_still():
    model = lineal.GaussianNB().fit(np.array([[0.0], [1.0], [5.0], [7.0]]), [0, 0, 1, 1])
    assert model.predict_proba([[1e300], [-1e170]]).tolist() == [[0.0, 1.0]] * 2  # class 1 has the larger variance
    assert math.isclose(float(model.predict_proba([[1e8]])[0, 1]), 1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": -1}, "alpha is -1"),
        ({"alpha": "much"}, "alpha is 'much'"),
        ({"class_prior": [0.5]}, "Number of priors must match"),
        ({"class_prior": [1.0, -1.0, 1.0]}, "non-negative"),
        ({"fit_prior": "yes"}, "fit_prior is 'yes'"),
    ],
)
def test_parameters_are_refused_in_a_sentence(options, words):
    x, y, _ = counts(0)
    with pytest.raises(lineal.InputError, match=words):
        lineal.MultinomialNB(**options).fit(x, y)


def test_negative_counts_and_unknown_labels_are_refused():
    with pytest.raises(lineal.InputError, match="the least cell is -1"):
        lineal.MultinomialNB().fit([[1.0, -1.0]], ["a"])
    with pytest.raises(lineal.InputError, match="other than 0 and 1"):
        lineal.BernoulliNB(binarize=None).fit([[2.0, 0.0]], ["a"])
    with pytest.raises(lineal.InputError, match="classes must be passed on the first call"):
        lineal.GaussianNB().partial_fit([[1.0]], ["a"])
    stream = lineal.GaussianNB().partial_fit([[1.0]], ["a"], classes=["a", "b"])
    with pytest.raises(lineal.InputError, match="'c'"):
        stream.partial_fit([[1.0]], ["c"])
    with pytest.raises(lineal.InputError, match="sparse"):
        lineal.GaussianNB().fit(csr_array([[1.0]]), ["a"])
