"""Where the data comes from: seeded, synthetic, or small sets out of scikit-learn's wheel.

Each function returns arrays by name: ``X`` and ``y`` (and, for a table, what the CSV file is written from).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

SEED = 20260101
CHUNK = 100_000
NUMBERS = tuple(f"n{j}" for j in range(12))


def _mixed_normals(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Return correlated normals with different means and scales, chunk by chunk (no second copy of X)."""
    mix = np.eye(columns) + rng.standard_normal((columns, columns)) * (0.5 / np.sqrt(columns))
    mix *= rng.uniform(0.5, 2.0, columns)
    mean = rng.standard_normal(columns)
    X = np.empty((rows, columns))
    for start in range(0, rows, CHUNK):
        stop = min(start + CHUNK, rows)
        np.matmul(rng.standard_normal((stop - start, columns)), mix, out=X[start:stop])
        X[start:stop] += mean
    return X


def apart(rows: int, columns: int) -> dict[str, Any]:
    """Return two classes on either side of a plane, every row at least a hundredth of its spread away from it."""
    rng = np.random.default_rng([SEED, 40])
    X = _mixed_normals(rng, rows, columns)
    w = rng.standard_normal(columns)
    score = X @ w
    score -= np.median(score)
    side = np.where(score > 0.0, 1.0, -1.0)
    X += (0.01 * np.std(score) / (w @ w) * side)[:, None] * w
    return {"X": X, "y": (side > 0).astype(np.float64), "separable": np.array(True)}


def overlapping(rows: int, columns: int) -> dict[str, Any]:
    """Return the same with noise in the classes; the last two rows are equal and of different classes."""
    rng = np.random.default_rng([SEED, 41])
    X = _mixed_normals(rng, rows, columns)
    score = X @ rng.standard_normal(columns)
    y = (score - np.median(score) + 0.3 * np.std(score) * rng.standard_normal(rows) > 0.0).astype(np.float64)
    X[-1], y[-2:] = X[-2], (0.0, 1.0)
    return {"X": X, "y": y, "separable": np.array(False)}


def regression(rows: int, columns: int) -> dict[str, Any]:
    """Return a linear signal with noise: about half of the variance is explained."""
    rng = np.random.default_rng([SEED, 1])
    X = _mixed_normals(rng, rows, columns)
    signal = X @ (rng.standard_normal(columns) / np.sqrt(columns))
    return {"X": X, "y": signal + signal.std() * rng.standard_normal(rows)}


def embeddings(rows: int, columns: int) -> dict[str, Any]:
    """Return the same in single precision."""
    found = regression(rows, columns)
    return found | {"X": found["X"].astype(np.float32)}


def monomials(rows: int, columns: int) -> dict[str, Any]:
    """Return the powers t..t^columns and a polynomial in them, plus little noise.

    The coefficients alternate in sign as those of a wavy curve do, so a fit that drops small singular values
    cannot follow it.
    """
    rng = np.random.default_rng([SEED, 2])
    t = rng.random(rows)
    X = np.empty((rows, columns))
    X[:, 0] = t
    for j in range(1, columns):
        np.multiply(X[:, j - 1], t, out=X[:, j])
    # cos(14 arccos(2t - 1)) is the Chebyshev polynomial of degree 14 on [0, 1]
    wave = np.cos(columns * np.arccos(np.clip(2.0 * t - 1.0, -1.0, 1.0)))
    return {"X": X, "y": wave + 1e-3 * rng.standard_normal(rows)}


def classification(rows: int, columns: int) -> dict[str, Any]:
    """Return two classes drawn from a logistic model."""
    rng = np.random.default_rng([SEED, 3])
    X = _mixed_normals(rng, rows, columns)
    eta = X @ (rng.standard_normal(columns) / np.sqrt(columns)) - 0.5
    return {"X": X, "y": (rng.random(rows) < 1.0 / (1.0 + np.exp(-eta))).astype(np.float64)}


def eighths(rows: int, columns: int) -> dict[str, Any]:
    """Return the two classes above, in multiples of 1/8: sums are exact, whatever their order."""
    found = classification(rows, columns)
    return {"X": np.round(found["X"] * 8.0) / 8.0, "y": found["y"]}


def sparse_eighths(rows: int, columns: int, per_row: int) -> dict[str, Any]:
    """Return text-like rows in multiples of 1/256, none of them zero."""
    found = sparse_text(rows, columns, per_row)
    found["X"].data = np.maximum(np.round(found["X"].data * 256.0), 1.0) / 256.0
    return found


def pixel_eighths(rows: int, side: int, classes: int) -> dict[str, Any]:
    """Return pixel blobs in multiples of 1/256, as float64."""
    found = pixels(rows, side, classes)
    return {"X": np.round(found["X"].astype(np.float64) * 255.0) / 256.0, "y": found["y"]}


def one_row() -> dict[str, Any]:
    """Return a small logistic problem; its first row is the one that is scored."""
    return classification(rows=2000, columns=50)


def sparse_text(rows: int, columns: int, per_row: int) -> dict[str, Any]:
    """Return text-like rows: words by a power law, log counts, length one; two classes from a sparse truth."""
    from scipy import sparse

    rng = np.random.default_rng([SEED, 4])
    frequency = 1.0 / (np.arange(columns) + 10.0)
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
    truth = rng.standard_normal(columns) * (rng.random(columns) < 0.2) * 12.0
    eta = X @ truth
    return {"X": X, "y": (rng.random(rows) < 1.0 / (1.0 + np.exp(-(eta - np.median(eta))))).astype(np.float64)}


def documents(rows: int, vocabulary: int, words: int) -> dict[str, Any]:
    """Return short texts of made-up words by a power law, their counts, and two classes from a sparse truth.

    The columns are the words in the order of the alphabet, as every vectorizer has them.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    rng = np.random.default_rng([SEED, 50])
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    share = 1.0 / (np.arange(letters.size) + 1.0)
    lengths = rng.integers(2, 11, vocabulary)
    flat = "".join(rng.choice(letters, lengths.sum(), p=share / share.sum()))
    lexicon = [flat[end - length : end] for end, length in zip(np.cumsum(lengths), lengths, strict=True)]
    frequency = 1.0 / (np.arange(vocabulary) + 10.0)
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
    y = (rng.random(rows) < 1.0 / (1.0 + np.exp(-(eta - np.median(eta))))).astype(np.float64)
    return {"X": X, "y": y, "texts": texts}


def wide(rows: int, columns: int) -> dict[str, Any]:
    """Return many correlated columns, a few of which matter; columns and target have mean zero: no intercept is needed."""
    rng = np.random.default_rng([SEED, 7])
    X = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        # neighbours share a half, as measurements along a line do
        X[:, j] += 0.5 * X[:, j - 1]
    X -= X.mean(axis=0)
    X /= np.sqrt(np.mean(X**2, axis=0))
    used = rng.choice(columns, max(columns // 200, 5), replace=False)
    signal = X[:, used] @ rng.standard_normal(used.size)
    y = signal + signal.std() * rng.standard_normal(rows)
    return {"X": np.asfortranarray(X), "y": y - y.mean()}


def sparse_wide(rows: int, columns: int, per_row: int) -> dict[str, Any]:
    """Return text-like rows by columns (CSC) and a target that a few of the words explain, its mean zero."""
    rng = np.random.default_rng([SEED, 8])
    X = sparse_text(rows, columns, per_row)["X"].tocsc()
    common = np.argsort(-np.diff(X.indptr))[: columns // 10]
    truth = np.zeros(columns)
    truth[rng.choice(common, max(columns // 500, 5), replace=False)] = 1.0
    signal = X @ (truth * rng.standard_normal(columns))
    y = signal + signal.std() * rng.standard_normal(rows)
    return {"X": X, "y": y - y.mean()}


def outliers(rows: int, columns: int) -> dict[str, Any]:
    """Return a linear signal with noise whose tails are heavy: Student's t with two degrees of freedom."""
    rng = np.random.default_rng([SEED, 9])
    X = _mixed_normals(rng, rows, columns)
    return {"X": X, "y": X @ (rng.standard_normal(columns) / np.sqrt(columns)) + rng.standard_t(2.0, rows)}


def pixels(rows: int, side: int, classes: int) -> dict[str, Any]:
    """Return sparse, non-negative, smooth blobs per class, shifted and noisy: MNIST's shape, not MNIST.

    MNIST cannot be downloaded everywhere; about four fifths of the pixels are zero here, as there.
    """
    rng = np.random.default_rng([SEED, 5])
    grid = np.arange(side)
    strokes = 6
    centre = rng.uniform(0.2 * side, 0.8 * side, (classes, strokes, 2))
    y = rng.integers(0, classes, rows)
    X = np.empty((rows, side * side), dtype=np.float32)
    for start in range(0, rows, 2000):
        label = y[start : start + 2000]
        spot = centre[label] + rng.normal(0.0, 0.085 * side, (label.size, strokes, 2))
        width = 0.05 * side * rng.uniform(0.7, 1.4, (label.size, strokes, 1))
        down = np.exp(-0.5 * ((grid - spot[:, :, :1]) / width) ** 2)
        across = np.exp(-0.5 * ((grid - spot[:, :, 1:]) / width) ** 2)
        image = np.einsum("nsi,nsj->nij", down, across).reshape(label.size, -1)
        image += rng.normal(0.0, 0.03, image.shape)
        X[start : start + 2000] = np.where(image > 0.15, np.round(np.clip(image, 0.0, 1.0) * 255.0) / 255.0, 0.0)
    return {"X": X, "y": y.astype(np.int64)}


def digits() -> dict[str, Any]:
    """Return scikit-learn's digits, pixels divided by 16."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return {"X": X / 16.0, "y": y.astype(np.int64)}


def breast_cancer() -> dict[str, Any]:
    """Return scikit-learn's breast_cancer, columns standardised."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return {"X": (X - X.mean(axis=0)) / X.std(axis=0), "y": y.astype(np.float64)}


def diabetes() -> dict[str, Any]:
    """Return scikit-learn's diabetes as it comes."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return {"X": X, "y": y}


def csv_file(rows: int, levels: int) -> dict[str, Any]:
    """Return 12 number columns, 7 category columns with ``levels`` levels in all, and a label.

    Level 0 of each column is the most frequent one and sorts first, so that every library's natural reference
    level is the same and the penalised objectives agree.
    """
    rng = np.random.default_rng([SEED, 6])
    shares = np.array([2, 4, 8, 20, 60, 300, 894], dtype=np.float64)
    counts = np.maximum(2, np.floor(levels * shares / shares.sum()).astype(int))
    counts[-1] += levels - counts.sum()
    numbers = np.round(rng.standard_normal((rows, 12)) * rng.uniform(0.5, 20.0, 12) + rng.normal(0.0, 5.0, 12), 4)
    codes = np.empty((rows, counts.size), dtype=np.int32)
    eta = ((numbers - numbers.mean(axis=0)) / numbers.std(axis=0)) @ (0.4 * rng.standard_normal(12)) - 0.3
    for j, count in enumerate(counts):
        share = np.full(count, 1.0)
        share[0] = 2.0 + 0.02 * count
        codes[:, j] = rng.choice(count, rows, p=share / share.sum())
        eta += (0.5 * rng.standard_normal(count))[codes[:, j]]
    y = (rng.random(rows) < 1.0 / (1.0 + np.exp(-eta))).astype(np.float64)
    return {"numbers": numbers, "codes": codes, "y": y}


def level(code: int) -> str:
    """Return the text of a level: level 0 sorts first."""
    return f"L{code:04d}"


def design_names(codes: np.ndarray) -> list[str]:
    """Return the names of the common design's columns: numbers, then ``column=level`` without the reference."""
    top = codes.max(axis=0)
    return [*NUMBERS, *(f"c{j}={level(c)}" for j in range(codes.shape[1]) for c in range(1, top[j] + 1))]


def write_csv(path: Path, arrays: dict[str, Any], rows: int) -> None:
    """Write the first rows of the table as a person would find them: text, header, label yes / no."""
    numbers, codes, y = arrays["numbers"][:rows], arrays["codes"][:rows], arrays["y"][:rows]
    names = np.array([level(c) for c in range(int(arrays["codes"].max()) + 1)])

    def lines() -> Iterator[list[Any]]:
        for start in range(0, len(y), 10_000):
            stop = start + 10_000
            text = names[codes[start:stop]].tolist()
            label = np.where(y[start:stop] > 0, "yes", "no").tolist()
            for a, b, c in zip(numbers[start:stop].tolist(), text, label, strict=True):
                yield [*a, *b, c]

    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow([*NUMBERS, *(f"c{j}" for j in range(codes.shape[1])), "label"])
        writer.writerows(lines())
