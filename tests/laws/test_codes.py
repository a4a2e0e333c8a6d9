"""Codes of classes: every output code tells all classes apart, asks nothing twice and nothing constant, and says its distance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal.errors import InputError
from lineal.losses import Coded
from lineal.multiclass.codes import code, distance, read_multiclass, sound


def checked(words):
    """The promises, one by one, in plain Python."""
    rows, columns = [tuple(row) for row in words.tolist()], [tuple(column) for column in words.T.tolist()]
    assert {entry for row in rows for entry in row} == {-1, 1}
    assert len(set(rows)) == len(rows)
    assert all(len(set(column)) == 2 for column in columns)
    for a, b in itertools.combinations(columns, 2):
        assert a != b
        assert a != tuple(-entry for entry in b)
    apart = [sum(x != y for x, y in zip(a, b, strict=True)) for a, b in itertools.combinations(rows, 2)]
    assert distance(words) == min(apart)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_two_hundred_seeds(seed):
    checked(code("ecoc", 10, 15, seed))


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(3, 14), st.integers(0, 1000), st.data())
def test_any_number_of_questions_that_exists(kinds, seed, data):
    fewest, most = math.ceil(math.log2(kinds)), min(2 ** (kinds - 1) - 1, 40)
    bits = data.draw(st.integers(fewest, most))
    words = code("ecoc", kinds, bits, seed)
    assert words.shape == (kinds, bits)
    checked(words)
    assert np.array_equal(words, code("ecoc", kinds, bits, seed)), "the seed decides"


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
    assert "neither" in sound(np.array([[0, 1], [1, -1]]))
    for text in ("one", "ovr:3", "ecoc:", "ecoc:0", "ecoc:x", ""):
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
