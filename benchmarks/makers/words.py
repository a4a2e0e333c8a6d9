"""Text-like sparse rows, and short texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.makers.numbers import SEED, sigmoid

PLAIN = "etaoinshrdlucmfwypvbgkjqxz"
ACCENTS = "eäaoßnéhrdüucmfwypvbgkjñxø"


def sparse_text(
    rows: int, columns: int, per_row: int, signal: float = 12.0, tail: float = 1.0, exact: bool = False
) -> dict[str, Any]:
    """Return text-like rows: words by the power law rank^-tail, log counts, length one; two classes from a sparse truth.

    ``exact`` gives multiples of 1/256, none of them zero.
    """
    from scipy import sparse

    rng = np.random.default_rng([SEED, 4, round(10.0 * tail), round(signal)])
    frequency = (np.arange(columns) + 10.0) ** -tail
    edges = np.cumsum(frequency / frequency.sum())
    lengths = rng.poisson(per_row, rows) + 1
    words = np.searchsorted(edges, rng.random(int(lengths.sum()))).clip(0, columns - 1).astype(np.int32)
    order = rng.permutation(columns).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sparse.csr_matrix((np.ones(words.size), order[words], indptr), shape=(rows, columns))
    X.sum_duplicates()
    X.data = 1.0 + np.log(X.data)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    X.data /= np.repeat(np.sqrt(squares), np.diff(X.indptr))
    if exact:
        X.data = np.maximum(np.round(X.data * 256.0), 1.0) / 256.0
    eta = X @ (rng.standard_normal(columns) * (rng.random(columns) < 0.2) * signal)
    return {"X": X, "y": (rng.random(rows) < sigmoid(eta - np.median(eta))).astype(np.float64)}


def counts(rows: int, columns: int, per_row: int, classes: int, tail: float = 1.0) -> dict[str, Any]:
    """Return how often words occur in texts, words by a power law whose order every class changes a little."""
    from scipy import sparse

    rng = np.random.default_rng([SEED, 61, classes])
    y = rng.integers(0, classes, rows)
    frequency = (np.arange(columns) + 10.0) ** -tail
    edges = np.cumsum(frequency / frequency.sum())
    lengths = rng.poisson(per_row, rows) + 1
    words = np.searchsorted(edges, rng.random(int(lengths.sum()))).clip(0, columns - 1)
    words = (words + np.repeat(y, lengths) * rng.integers(0, 2, words.size)) % columns
    order, indptr = (
        rng.permutation(columns).astype(np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
    )
    X = sparse.csr_matrix((np.ones(words.size), order[words], indptr), shape=(rows, columns))
    X.sum_duplicates()
    return {"X": X, "y": y.astype(np.float64)}


def sparse_wide(rows: int, columns: int, per_row: int, tail: float = 1.0, noise: float = 1.0) -> dict[str, Any]:
    """Return text-like rows by columns (CSC) and a target that a few of the words explain, its mean zero."""
    rng = np.random.default_rng([SEED, 8])
    X = sparse_text(rows, columns, per_row, tail=tail)["X"].tocsc()
    common = np.argsort(-np.diff(X.indptr))[: columns // 10]
    truth = np.zeros(columns)
    truth[rng.choice(common, max(columns // 500, 5), replace=False)] = 1.0
    signal = X @ (truth * rng.standard_normal(columns))
    y = signal + noise * signal.std() * rng.standard_normal(rows)
    return {"X": X, "y": y - y.mean()}


def documents(rows: int, vocabulary: int, words: int, tail: float = 1.0, letters: str = PLAIN) -> dict[str, Any]:
    """Return short texts of made-up words by a power law, their counts, and two classes from a sparse truth.

    The columns are the words in the order of the alphabet, as every vectorizer has them.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    rng = np.random.default_rng([SEED, 50])
    share = 1.0 / (np.arange(len(letters)) + 1.0)
    lengths = rng.integers(2, 11, vocabulary)
    flat = "".join(rng.choice(np.array(list(letters)), lengths.sum(), p=share / share.sum()))
    lexicon = [flat[end - length : end] for end, length in zip(np.cumsum(lengths), lengths, strict=True)]
    frequency = (np.arange(vocabulary) + 10.0) ** -tail
    counts = rng.poisson(words, rows) + 1
    picked = rng.choice(vocabulary, int(counts.sum()), p=frequency / frequency.sum()).tolist()
    ends = np.cumsum(counts).tolist()
    texts = [
        " ".join(lexicon[k] for k in picked[end - count : end]).capitalize() + "."
        for end, count in zip(ends, counts.tolist(), strict=True)
    ]
    X = CountVectorizer(token_pattern=r"(?u)\b\w+\b").fit_transform(texts).astype(np.float64)  # noqa: S106
    X.sort_indices()
    eta = X @ (rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < 0.2))
    y = (rng.random(rows) < sigmoid(eta - np.median(eta))).astype(np.float64)
    return {"X": X, "y": y, "texts": texts}
