"""Learn from pairs of texts: their n-grams, and a lexicon of translations (IBM model 1, Brown et al. 1993).

    p(t | s) <- sum over pairs of  p(t | s) / sum_{s' in the source} p(t | s')   for s, t in the pair,   normalised over t

on the different words of a pair, from equal chances, five times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lineal.errors import InputError
from lineal.features.encoder import column
from lineal.features.pair_options import FILES, PairOptions, translations
from lineal.features.terms.pair import SOURCE_OPTIONS, TARGET_OPTIONS, Pair, Side
from lineal.features.terms.rows import Rows
from lineal.features.terms.text import Text
from lineal.features.text.learning import Learner

Counts = npt.NDArray[np.int64]

EM_ROUNDS: Final = 5
MIN_TRANSLATION_PROBABILITY: Final = 0.2
MAX_WORD_PAIRS: Final = 4_000_000
"""Pairs of words, all rows together, from which the lexicon is learned; later rows are left out."""


def learn_pair(source: str, asked: PairOptions, again: Callable[..., Iterator[Any]]) -> Pair:
    """Return the features of a pair of text columns, learned in two passes over the training rows, or from files."""
    target = asked.pair or ""
    learners = (
        Learner(source, SOURCE_OPTIONS, missing=False),
        Learner(target, TARGET_OPTIONS, missing=False),
    )
    corpora = asked.lines("corpus"), asked.lines("target-corpus")
    for learner, lines in zip(learners, corpora, strict=True):
        if lines is not None:
            learner.add(pa.array(lines))
    for batch in again(texts=[source, target]) if None in corpora else ():
        for learner, lines in zip(learners, corpora, strict=True):
            if lines is None:
                learner.add(column(batch, learner.column))
    sides = [side(learner) for learner in learners]
    for one, name in zip(sides, (source, target), strict=True):
        if not one.terms:
            raise InputError(f"no word of column {name!r} occurs in two rows, so nothing can be learned about pairs.")
    given = tuple(part for option, part in FILES.items() if option in dict(asked.files))
    known = asked.lines("lexicon")
    if known is not None:
        many = translations(known, MIN_TRANSLATION_PROBABILITY)
        numbers_of = tuple(many.get(term, 0) for term in sides[0].terms if " " not in term)
        return Pair(source, target, (sides[0], sides[1]), numbers_of, given)
    pairs = list[tuple[Counts, Counts, Counts]]()
    words = [Text(name, SOURCE_OPTIONS, one.terms) for name, one in zip((source, target), sides, strict=True)]
    singles = [np.flatnonzero(one.lengths == 1) for one in sides]
    complete, rows = 0, 0
    for batch in again(texts=[source, target]):
        encoded = [text.encode(column(batch, text.column)) for text in words]
        mine, theirs = (one.lengths == 1 for one in sides)
        triples = _triples(encoded[0], encoded[1], mine, theirs, MAX_WORD_PAIRS - complete)
        pairs.append((triples[0] + rows, *triples[1:]))
        complete, rows = complete + len(triples[0]), rows + batch.num_rows
        if complete >= MAX_WORD_PAIRS:
            break
    numbers = lexicon(*(np.concatenate([part[k] for part in pairs]) for k in range(3)))
    learned = np.zeros(len(sides[0].terms), dtype=np.int64)
    learned[: len(numbers)] = numbers
    return Pair(source, target, (sides[0], sides[1]), tuple(learned[singles[0]].tolist()), given)


def side(learner: Learner) -> Side:
    """Return what was counted of one text."""
    times = learner.times()
    return Side(tuple(times), tuple(times.values()), learner.words)


def _triples(source: Rows, target: Rows, mine: Any, theirs: Any, most: int) -> tuple[Counts, Counts, Counts]:
    """Return (row, source word, target word) for all pairs of single words within a row; rows while there is room."""
    rows, first, last = [], [], []
    for row in range(len(source.starts) - 1):
        a = source.columns[source.starts[row] : source.starts[row + 1]]
        b = target.columns[target.starts[row] : target.starts[row + 1]]
        a, b = a[mine[a]], b[theirs[b]]
        most -= len(a) * len(b)
        if most < 0:
            break
        rows.append(np.full(len(a) * len(b), row, dtype=np.int64))
        first.append(np.repeat(a, len(b)).astype(np.int64))
        last.append(np.tile(b, len(a)).astype(np.int64))
    none = np.zeros(0, dtype=np.int64)
    return (np.concatenate([none, *rows]), np.concatenate([none, *first]), np.concatenate([none, *last]))


def lexicon(row: Counts, source: Counts, target: Counts) -> Counts:
    """Return for every source word how many target words are likely translations.

    >>> lexicon(np.array([0, 0, 0, 0, 1]), np.array([0, 0, 1, 1, 0]), np.array([0, 1, 0, 1, 0])).tolist()
    [1, 1]
    """
    if not len(row):
        return np.zeros(0, dtype=np.int64)
    width = int(target.max()) + 1
    keys, key = np.unique(source * width + target, return_inverse=True)
    _, place = np.unique(row * width + target, return_inverse=True)
    of = keys // width
    chance = 1.0 / np.bincount(of)[of]
    for _ in range(EM_ROUNDS):
        part = chance[key]
        share = np.bincount(key, part / np.bincount(place, part)[place])
        chance = share / np.bincount(of, share)[of]
    return np.bincount(of[chance > MIN_TRANSLATION_PROBABILITY], minlength=int(of.max()) + 1)
