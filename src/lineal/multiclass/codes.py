"""Codes of classes: which classes each of several binary questions sets apart, as a matrix with entries -1, 0 and 1.

One row per class (its code word), one column per question: 1 on one side, -1 on the other, 0 not asked. One-vs-rest asks "is
it k?", one-vs-one "is it l rather than k?"; an output code asks for sets of classes, so that some wrong answers can be made
good: with words that differ in at least d places, (d - 1) // 2 of them.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, near

Code = npt.NDArray[np.int64]

SCHEMES: Final = ("ovr", "ovo", "ecoc")
NAMES: Final = {"ovr": "one-vs-rest", "ovo": "one-vs-one", "ecoc": "output code"}


def read_multiclass(text: str) -> tuple[str, int | None]:
    """Read which binary questions distinguish several classes: direct, ovr, ovo, ecoc or ecoc:BITS.

    >>> read_multiclass("ecoc:12")
    ('ecoc', 12)
    """
    name, colon, rest = str(text).partition(":")
    accepted = ("direct", *SCHEMES)
    if name not in accepted:
        raise InputError(
            f"multiclass is {text!r}; accepted are {', '.join(accepted)} and ecoc:BITS.{near(name, accepted)}"
        )
    if not colon:
        return name, None
    if name != "ecoc" or not rest.isdigit() or int(rest) < 1:
        raise InputError(f"multiclass is {text!r}; only a code has a number, that of its questions, such as ecoc:15.")
    return name, int(rest)


def code(scheme: str, kinds: int, bits: int | None = None, seed: int = 0) -> Code:
    """Return the code of a scheme for ``kinds`` classes.

    Words of an output code are all different; no question has one answer for all classes, and no two are the same or each
    other's negation, so that none is asked twice.

    >>> code("ovo", 3).tolist()
    [[-1, -1, 0], [1, 0, -1], [0, 1, 1]]
    >>> distance(code("ecoc", 4))
    4
    """
    if scheme == "ovr":
        return 2 * np.eye(kinds, dtype=np.int64) - 1
    if scheme == "ovo":
        pairs = list(combinations(range(kinds), 2))
        words = np.zeros((kinds, len(pairs)), dtype=np.int64)
        for column, (a, b) in enumerate(pairs):
            words[a, column], words[b, column] = -1, 1
        return words
    fewest = math.ceil(math.log2(kinds))
    most = 2 ** (kinds - 1) - 1 if kinds < 60 else None
    if bits is None:
        bits = math.ceil(10 * math.log2(kinds))
        if most is not None:
            bits = most if kinds <= 5 else min(bits, most)  # of five classes every question is asked: 15
    if bits < fewest or (most is not None and bits > most):
        upper = "" if most is None else f" and at most {most}"
        raise InputError(
            f"a code of {bits} questions for {kinds} classes does not exist: at least {fewest} tell them apart{upper} are "
            "different questions."
        )
    return _drawn(kinds, bits, np.random.default_rng([seed, kinds, bits]))


def distance(words: Code) -> int:
    """Return the least number of places in which two code words answer oppositely; where one is not asked they do not.

    >>> distance(np.array([[-1, -1, 1], [1, -1, -1]]))
    2
    """
    apart = (np.abs(words) @ np.abs(words).T - words @ words.T) // 2
    return int(np.min(apart[~np.eye(len(words), dtype=bool)]))


def sound(words: Code) -> str | None:
    """Return what is wrong with a matrix as an output code, None if nothing is.

    >>> sound(np.array([[1, 1], [1, -1], [1, -1]]))
    'two classes have the same word'
    """
    if not np.all(np.abs(words) == 1):
        return "an entry is neither 1 nor -1"
    if len(np.unique(words, axis=0)) < len(words):
        return "two classes have the same word"
    if np.any(np.all(words == words[0], axis=0)):
        return "a question has the same answer for every class"
    if len(np.unique(words * words[0], axis=1).T) < words.shape[1]:
        return "two questions are the same, or each other's negation"
    return None


def _drawn(kinds: int, bits: int, rng: np.random.Generator) -> Code:
    """Return the best of many random codes; every other one begins with the binary numbers of the classes, so is sound."""
    best, widest = None, 0
    for trial in range(100 if kinds <= 64 else 12):
        words = _random(kinds, bits, rng, counted=trial % 2 == 0)
        if sound(words) is None and (best is None or distance(words) > widest):
            best, widest = words, distance(words)
    assert best is not None, "the binary numbers of the classes are a sound code"
    return best


def _random(kinds: int, bits: int, rng: np.random.Generator, *, counted: bool) -> Code:
    """Return random questions, none twice; the first may be the binary digits of the classes, in random order."""
    first = np.zeros((kinds, 0), dtype=np.int64)
    if counted:
        digits = np.arange(math.ceil(math.log2(kinds)))
        first = 2 * (rng.permutation(kinds)[:, None] >> digits & 1) - 1
    if kinds <= 16:  # few enough to list all questions, by number: the entries after the first, which is -1
        numbers = rng.permutation(np.arange(1, 2 ** (kinds - 1)))
        taken = ((-first * first[0])[1:] > 0).T @ (1 << np.arange(kinds - 1))
        numbers = numbers[~np.isin(numbers, taken)][: bits - first.shape[1]]
        rest = np.vstack([np.zeros(len(numbers), dtype=np.int64), numbers >> np.arange(kinds - 1)[:, None] & 1])
        return np.hstack([first, 2 * rest - 1])
    while first.shape[1] < bits:
        more = 2 * rng.integers(0, 2, size=(kinds, bits - first.shape[1])) - 1
        every = np.hstack([first, more[:, np.abs(more.sum(axis=0)) < kinds]])
        _, kept = np.unique(every * every[0], axis=1, return_index=True)
        first = every[:, np.sort(kept)]
    return first
