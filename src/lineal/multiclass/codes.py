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
from lineal.ground.records import dataclass

Code = npt.NDArray[np.int64]

SCHEMES: Final = ("ovr", "ovo", "ecoc")
WORDS: Final = {"kind": ("dense", "sparse"), "decode": ("loss", "distance")}
"""What may be said of an output code."""

DENSE_MAX_CLASSES: Final = 10
"""Up to this many classes an output code is dense unless asked otherwise: random questions about more are hard for a plane."""

NAMES: Final = {"ovr": "one-vs-rest", "ovo": "one-vs-one", "ecoc": "output code"}


@dataclass(frozen=True)
class Scheme:
    """Which binary questions are asked: how many ``bits`` an output code has, of which ``kind`` it is, how it is read.

    A ``dense`` code asks every class, a ``sparse`` one about half of them; None are what suits the number of classes.
    ``decode`` is "loss", the word that the scores fit best, or "distance", the word that most answers agree with.
    """

    name: str
    bits: int | None = None
    kind: str | None = None
    decode: str = "loss"


def read_multiclass(text: str) -> Scheme:
    """Read which binary questions distinguish several classes: direct, ovr, ovo, ecoc or ecoc:BITS,sparse,distance.

    >>> read_multiclass("ecoc:12,distance")
    Scheme(name='ecoc', bits=12, kind=None, decode='distance')
    """
    name, colon, rest = str(text).partition(":")
    accepted = ("direct", *SCHEMES)
    if name not in accepted:
        raise InputError(
            f"multiclass is {text!r}; accepted are {', '.join(accepted)} and ecoc:BITS.{near(name, accepted)}"
        )
    if not colon:
        return Scheme(name)
    given: dict[str, str] = {}
    for word in rest.split(","):
        key = next((key for key, words in WORDS.items() if word in words), "bits" if word.isdigit() else "")
        if name != "ecoc" or not key or key in given or (key == "bits" and int(word) < 1):
            known = ", ".join(word for words in WORDS.values() for word in words)
            raise InputError(
                f"multiclass is {text!r}; only an output code has options, each once: the number of its questions, {known}, "
                f"such as ecoc:15,sparse.{near(word, [word for words in WORDS.values() for word in words])}"
            )
        given[key] = word
    bits = int(given["bits"]) if "bits" in given else None
    return Scheme(name, bits, given.get("kind"), given.get("decode", "loss"))


def code(scheme: str, kinds: int, bits: int | None = None, seed: int = 0, kind: str | None = None) -> Code:
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
    sparse = kind == "sparse" or (kind is None and kinds > DENSE_MAX_CLASSES)
    fewest = math.ceil(math.log2(kinds))
    most = None if kinds >= 60 else (3**kinds + 1) // 2 - 2**kinds if sparse else 2 ** (kinds - 1) - 1
    if bits is None:
        bits = math.ceil((15 if sparse else 10) * math.log2(kinds))
        if most is not None:
            bits = most if kinds <= 5 and not sparse else min(bits, most)  # of five classes every question is asked: 15
    if bits < fewest or (most is not None and bits > most):
        upper = "" if most is None else f" and at most {most}"
        raise InputError(
            f"a code of {bits} questions for {kinds} classes does not exist: at least {fewest} tell them apart{upper} are "
            "different questions."
        )
    return _drawn(kinds, bits, np.random.default_rng([seed, kinds, bits]), sparse=sparse)


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
    if not np.all(np.abs(words) <= 1):
        return "an entry is none of 1, 0 and -1"
    if distance(words) < 1:
        return "two classes have the same word"
    if not np.all(np.any(words > 0, axis=0) & np.any(words < 0, axis=0)):
        return "a question has the same answer for every class"
    if len(np.unique(_signed(words), axis=1).T) < words.shape[1]:
        return "two questions are the same, or each other's negation"
    return None


def _signed(words: Code) -> Code:
    """Return every question, or its negation, so that its first entry that is not 0 is 1."""
    first = words[np.argmax(words != 0, axis=0), np.arange(words.shape[1])]
    return np.asarray(words * first)


def _drawn(kinds: int, bits: int, rng: np.random.Generator, *, sparse: bool = False) -> Code:
    """Return the best of many random codes; every other one begins with the binary numbers of the classes, so is sound."""
    best, widest = None, 0
    for trial in range(100 if kinds <= 64 else 12):
        words = (_thin if sparse else _random)(kinds, bits, rng, counted=trial % 2 == 0)
        if sound(words) is None and (best is None or distance(words) > widest):
            best, widest = words, distance(words)
    assert best is not None, "the binary numbers of the classes are a sound code"
    return best


def _digits(kinds: int, rng: np.random.Generator) -> Code:
    """Return the binary digits of the numbers of the classes, which are in a random order."""
    return 2 * (rng.permutation(kinds)[:, None] >> np.arange(math.ceil(math.log2(kinds))) & 1) - 1


def _thin(kinds: int, bits: int, rng: np.random.Generator, *, counted: bool) -> Code:
    """Return random questions that leave about half of the classes out (Allwein, Schapire, Singer 2000), none twice."""
    first = (
        _digits(kinds, rng)[:, :bits] if counted and bits < 12 * math.log2(kinds) else np.zeros((kinds, 0), np.int64)
    )
    while first.shape[1] < bits:
        more = rng.choice(np.array([-1, 0, 0, 1]), size=(kinds, 2 * bits))
        every = np.hstack([first, more[:, np.any(more > 0, axis=0) & np.any(more < 0, axis=0)]])
        _, kept = np.unique(_signed(every), axis=1, return_index=True)
        first = every[:, np.sort(kept)]
    return np.asarray(first[:, :bits])


def _random(kinds: int, bits: int, rng: np.random.Generator, *, counted: bool) -> Code:
    """Return random questions, none twice; the first may be the binary digits of the classes, in random order."""
    first = _digits(kinds, rng) if counted else np.zeros((kinds, 0), dtype=np.int64)
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
