"""Codes of classes: every output code tells all classes apart, asks nothing twice and nothing constant, and says its distance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lineal
from lineal.errors import InputError
from lineal.losses import Coded
from lineal.multiclass.codes import code, distance, read_multiclass, sound


def checked(words):
    """The promises, one by one, in plain Python."""
    rows, columns = [tuple(row) for row in words.tolist()], [tuple(column) for column in words.T.tolist()]
    entries = {entry for row in rows for entry in row}
    assert entries in ({-1, 1}, {-1, 0, 1})
    assert len(set(rows)) == len(rows)
    assert all({-1, 1} <= set(column) for column in columns)
    for a, b in itertools.combinations(columns, 2):
        assert a != b
        assert a != tuple(-entry for entry in b)
    apart = [sum(x * y == -1 for x, y in zip(a, b, strict=True)) for a, b in itertools.combinations(rows, 2)]
    assert distance(words) == min(apart) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_two_hundred_seeds(seed):
    checked(code("ecoc", 10, 15, seed))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(3, 14), st.integers(0, 1000), st.sampled_from(["dense", "sparse"]), st.data())
def test_any_number_of_questions_that_exists(kinds, seed, kind, data):
    fewest, most = math.ceil(math.log2(kinds)), min(2 ** (kinds - 1) - 1, 40)
    if kind == "sparse":  # sequences of -1, 0, 1 with both a -1 and a 1, a question and its negation being one
        most = min((3**kinds - 2 * 2**kinds + 1) // 2, 40)
    bits = data.draw(st.integers(fewest, most))
    words = code("ecoc", kinds, bits, seed, kind)
    assert kind == "sparse" or np.all(words != 0)
    assert words.shape == (kinds, bits)
    checked(words)
    assert np.array_equal(words, code("ecoc", kinds, bits, seed, kind)), "the seed decides"


@pytest.mark.parametrize("kinds", [3, 4, 5])
def test_few_classes_get_every_question(kinds):
    words = code("ecoc", kinds)
    checked(words)
    assert words.shape[1] == 2 ** (kinds - 1) - 1
    assert distance(words) == 2 ** (kinds - 2)


@pytest.mark.parametrize("kinds", [6, 26, 150])
def test_many_classes(kinds):
    words = code("ecoc", kinds)
    checked(words)
    assert distance(words) >= 3, "at least one wrong answer is made good"


@pytest.mark.parametrize("kinds", [3, 4, 7])
def test_one_against_rest_or_one(kinds):
    assert np.array_equal(code("ovr", kinds) == 1, np.eye(kinds, dtype=bool))
    words = code("ovo", kinds)
    pairs = [tuple(np.flatnonzero(column)) for column in words.T]
    assert sorted(pairs) == list(itertools.combinations(range(kinds), 2))
    assert distance(words) == 1
    assert distance(code("ovr", kinds)) == 2


@pytest.mark.parametrize(("kinds", "bits"), [(4, 1), (3, 4), (5, 2), (10, 3)])
def test_a_code_that_cannot_exist_is_refused(kinds, bits):
    with pytest.raises(InputError, match="does not exist"):
        code("ecoc", kinds, bits)


def test_what_is_wrong_with_a_code_is_said():
    assert "same word" in sound(np.array([[1, -1], [1, -1], [-1, 1]]))
    assert "every class" in sound(np.array([[1, 1, -1], [1, -1, 1], [1, -1, -1]]))
    assert "negation" in sound(np.array([[1, -1, 1], [-1, 1, 1], [1, -1, -1]]))
    assert "none of" in sound(np.array([[2, 1], [1, -1]]))
    assert "same word" in sound(np.array([[0, 1, -1], [1, 1, 0], [-1, -1, 1]]))
    for text in ("one", "ovr:3", "ecoc:", "ecoc:0", "ecoc:x", "", "ecoc:sparse,dense", "ovo:loss", "ecoc:7,7"):
        with pytest.raises(InputError, match="multiclass"):
            read_multiclass(text)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(0, 10**6))
def test_wrong_answers_are_made_good(kinds, seed):
    """Any (d - 1) // 2 wrong answers leave the class as it was, whatever the sizes of the scores."""
    rng = np.random.default_rng(seed)
    words = code("ecoc", kinds, seed=seed)
    loss = Coded(tuple(map(tuple, words.tolist())))
    truth = int(rng.integers(kinds))
    signs = words[truth].copy()
    wrong = rng.permutation(words.shape[1])[: (distance(words) - 1) // 2]
    signs[wrong] *= -1
    eta = (signs * rng.exponential(size=len(signs)))[None]
    assert loss.decide(eta)[0] == truth
    assert not loss.ties(eta)[0]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(["ovr", "ovo", "ecoc"]), st.integers(3, 6), st.integers(0, 10**6))
def test_decoding_row_by_row(scheme, kinds, seed):
    rng = np.random.default_rng(seed)
    words = code(scheme, kinds, seed=seed)
    loss = Coded(tuple(map(tuple, words.tolist())), summed=scheme == "ovr")
    eta = rng.integers(-2, 3, size=(20, words.shape[1])).astype(float)
    for row, found, tie in zip(eta, loss.decide(eta), loss.ties(eta), strict=True):
        answers = [1 if score > 0 else -1 for score in row]
        sums = [sum(e * s for e, s in zip(word, row, strict=True)) for word in words.tolist()]
        if scheme == "ovr":
            keys = [(score,) for score in row]
        else:
            keys = [
                (sum(e == a for e, a in zip(word, answers, strict=True)), sums[k])
                for k, word in enumerate(words.tolist())
            ]
        assert keys[found] == max(keys)
        assert found == keys.index(max(keys)), "of equal ones the first"
        top = max(key[0] for key in keys)
        assert tie == (sum(key[0] == top for key in keys) > 1)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(["logistic", "hinge", "squared-hinge"]), st.integers(3, 8), st.integers(0, 10**6))
def test_decoding_by_loss_row_by_row(by, kinds, seed):
    """Allwein, Schapire and Singer (2000): the class of least sum of loss(word times score), written out."""
    losses = {
        "logistic": lambda z: math.log1p(math.exp(-z)),
        "hinge": lambda z: max(0.0, 1.0 - z),
        "squared-hinge": lambda z: max(0.0, 1.0 - z) ** 2 / 2,
    }
    rng = np.random.default_rng(seed)
    words = code("ecoc", kinds, seed=seed, kind=["dense", "sparse"][seed % 2], bits=3 if kinds == 3 else None)
    loss = Coded(tuple(map(tuple, words.tolist())), by=by)
    eta = rng.normal(size=(20, words.shape[1])) * 2
    for row, found in zip(eta, loss.decide(eta), strict=True):
        sums = [sum(losses[by](e * s) for e, s in zip(word, row.tolist(), strict=True)) for word in words.tolist()]
        assert sums[found] == pytest.approx(min(sums), rel=1e-12)


def test_codes_are_as_good_as_random_ones():
    """26 classes of two clouds each: scikit-learn's random dense codes of as many fits, and direct softmax, beside ours."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OutputCodeClassifier

    rng = np.random.default_rng(0)
    centers = rng.normal(size=(26, 2, 12)) * 1.3
    y = rng.integers(0, 26, 1500)
    x = centers[y, rng.integers(0, 2, 1500)] + rng.normal(size=(1500, 12))
    seen, new = slice(0, 1000), slice(1000, None)
    strength = 1e-3
    member = LogisticRegression(C=1 / (strength * 1000), max_iter=300)
    right = {}
    for kind in ("ecoc", "ecoc:distance", "ecoc:dense", "ecoc:dense,distance"):
        model = lineal.fit(x[seen], y[seen], model="logistic", penalty=f"ridge:{strength}", multiclass=kind)
        right[kind] = float(np.mean(model.predict(x[new]) == y[new]))
    theirs = [
        OutputCodeClassifier(member, code_size=47 / 26, random_state=seed).fit(x[seen], y[seen]).score(x[new], y[new])
        for seed in range(3)
    ]
    assert right["ecoc"] > max(theirs), (right, theirs)
    assert right["ecoc:dense"] > np.mean(theirs) - 0.02, (right, theirs)
    assert right["ecoc:dense"] > right["ecoc:dense,distance"]
    assert right["ecoc"] > right["ecoc:distance"]
    direct = model.report["multiclass"]["direct"]
    softmax = LogisticRegression(C=1e3, max_iter=500).fit(x[seen], y[seen]).score(x[seen], y[seen])
    assert direct["accuracy"] == pytest.approx(softmax, abs=0.1), "on training rows; the strength is picked"
    assert "the code is the poorer choice here" in direct["sentence"]
