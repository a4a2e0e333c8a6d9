"""Kernels of texts against enumeration of all subsequences and substrings, in fractions."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from lineal import kernels
from lineal.errors import InputError


def features(symbols, length, decay):
    """decay^span of every place of every subsequence, summed, by subsequence."""
    found = defaultdict(Fraction)
    for places in itertools.combinations(range(len(symbols)), length):
        found[tuple(symbols[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
    return found


def enumerated(x, z, length, decay):
    one, other = features(x, length, decay), features(z, length, decay)
    return sum((one[u] * other[u] for u in one.keys() & other.keys()), Fraction())


def drawn_texts(count, longest, letters="ab", seed=0):
    random = np.random.default_rng(seed)
    return ["".join(random.choice(list(letters), random.integers(0, longest))) for _ in range(count)]


@pytest.mark.parametrize(("length", "decay"), [(1, 0.5), (2, 0.7), (3, 0.5), (4, 1.0), (5, 0.1), (8, 0.9), (11, 0.5)])
@pytest.mark.parametrize("letters", ["ab", "acgt"])
def test_subsequences_are_those_that_enumeration_finds(length, decay, letters):
    texts = ["", "a", letters * 3, *drawn_texts(8, 13, letters)]
    kernel = kernels.Subsequence(length, decay)
    gram, error = kernel.gram(texts), kernel.entry_error(texts)
    cross = kernel.gram(texts[:3], texts)
    for i, j in itertools.product(range(len(texts)), repeat=2):
        exact = enumerated(texts[i], texts[j], length, Fraction(decay))
        assert abs(Fraction(gram[i, j]) - exact) <= Fraction(error[i]) * Fraction(error[j])
        assert abs(gram[i, j] - float(exact)) <= 1e-13 * float(exact)
        if i < 3:
            assert cross[i, j] == pytest.approx(float(exact), rel=1e-13, abs=0.0)


def test_lodhis_example():
    """k(cat, car) = decay^4, k(cat, cat) = 2 decay^4 + decay^6, and k(cat, bar) = 0 but for no common pair."""
    kernel = kernels.Subsequence(2, 0.5)
    np.testing.assert_array_equal(kernel.gram(["cat", "car", "bat", "bar"])[0], [9 / 64, 4 / 64, 4 / 64, 0.0])
    assert kernels.Normalized(kernel).gram(["cat", "car"])[0, 1] == pytest.approx(1 / (2 + 0.25), rel=1e-15)


@pytest.mark.parametrize("length", [1, 2, 3, 9])
def test_substrings_are_counted(length):
    texts = ["", "a", "abababab", *drawn_texts(20, 30)]
    gram = kernels.Spectrum(length).gram(texts)
    for x, z in itertools.product(range(len(texts)), repeat=2):
        one, other = ([t[i : i + length] for i in range(len(t) - length + 1)] for t in (texts[x], texts[z]))
        assert gram[x, z] == sum(other.count(u) for u in one)


def test_words_are_symbols():
    texts = ["the cat  sat", ["the", "cat", "sat"], "cat the"]
    gram = kernels.Subsequence(2, 0.5, "words").gram(texts)
    assert gram[0, 1] == gram[0, 0] == enumerated(texts[1], texts[1], 2, Fraction(1, 2))
    assert gram[0, 2] == 0.0
    assert kernels.Spectrum(1, "words").gram(texts)[0, 2] == 2.0


def test_long_texts_without_common_letters_stay_finite():
    x, z = "a" + "b" * 3000 + "a", "a" + "c" * 3000 + "a"
    assert kernels.Subsequence(2, 0.5).gram([x, z])[0, 1] == 0.0  # decay^6004
    assert kernels.Subsequence(2, 1.0).gram([x, z])[0, 1] == 1.0


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("abc", "a list of texts"),
        (None, "a list of texts"),
        (["a", None], r"X\[1\] is a missing value"),
        (["a", 3.0], r"X\[1\] is 3.0"),
        ([["a", 1]], r"X\[0\] is a list"),
        (np.array([["a"]]), "2 dimensions"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(texts, words):
    with pytest.raises(InputError, match=words):
        kernels.Spectrum(2).gram(texts)
