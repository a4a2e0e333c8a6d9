"""Dense columns of numbers: correlated normals, powers, factors; targets with noise of several kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

SEED = 20260101
CHUNK_ROWS = 100_000


def sigmoid(eta: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-eta))."""
    return 1.0 / (1.0 + np.exp(-eta))


def _mixed_normals(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Return correlated normals with different means and scales, chunk by chunk (no second copy of X)."""
    mix = np.eye(columns) + rng.standard_normal((columns, columns)) * (0.5 / np.sqrt(columns))
    mix *= rng.uniform(0.5, 2.0, columns)
    mean = rng.standard_normal(columns)
    X = np.empty((rows, columns))
    for start in range(0, rows, CHUNK_ROWS):
        stop = min(start + CHUNK_ROWS, rows)
        np.matmul(rng.standard_normal((stop - start, columns)), mix, out=X[start:stop])
        X[start:stop] += mean
    return X


def regression(rows: int, columns: int) -> dict[str, Any]:
    """Return mixed normals and a linear signal with as much noise: about half of the variance is explained."""
    rng = np.random.default_rng([SEED, 1])
    X = _mixed_normals(rng, rows, columns)
    signal = X @ (rng.standard_normal(columns) / np.sqrt(columns))
    return {"X": X, "y": signal + signal.std() * rng.standard_normal(rows)}


def embeddings(rows: int, columns: int) -> dict[str, Any]:
    """Return the same in single precision."""
    made = regression(rows, columns)
    return made | {"X": made["X"].astype(np.float32)}


def factors(rows: int, columns: int) -> dict[str, Any]:
    """Return float32 columns that a few factors of falling strength explain, as those of a trained network; weak signal."""
    rng = np.random.default_rng([SEED, 11])
    count = max(columns // 8, 2)
    loadings = rng.standard_normal((count, columns)) / np.sqrt(np.arange(1, count + 1))[:, None]
    X = rng.standard_normal((rows, count)) @ loadings + 0.1 * rng.standard_normal((rows, columns))
    signal = X @ (rng.standard_normal(columns) / np.sqrt(columns))
    return {"X": X.astype(np.float32), "y": signal + 3.0 * signal.std() * rng.standard_normal(rows)}


def monomials(rows: int, columns: int) -> dict[str, Any]:
    """Return the powers t..t^columns, t in [0, 1], and a polynomial in them, plus little noise.

    The coefficients alternate in sign as those of a wavy curve do, so a fit that drops small singular values
    cannot follow it.
    """
    rng = np.random.default_rng([SEED, 2])
    t = rng.random(rows)
    # cos(14 arccos(2t - 1)) is the Chebyshev polynomial of degree 14 on [0, 1]
    wave = np.cos(columns * np.arccos(np.clip(2.0 * t - 1.0, -1.0, 1.0)))
    return {"X": t[:, None] ** np.arange(1, columns + 1), "y": wave + 1e-3 * rng.standard_normal(rows)}


def decays(rows: int, columns: int) -> dict[str, Any]:
    """Return the decays exp(-t k / 2), k = 1..columns, t in [0, 3], and an oscillation that they follow in part."""
    rng = np.random.default_rng([SEED, 12])
    t = 3.0 * rng.random(rows)
    X = np.exp(-0.5 * t[:, None] * np.arange(1, columns + 1))
    return {"X": X, "y": np.cos(4.0 * t) + 0.1 * rng.standard_normal(rows)}


def classification(rows: int, columns: int, eighths: bool = False) -> dict[str, Any]:
    """Return two classes drawn from a logistic model; in multiples of 1/8 all sums are exact, whatever their order."""
    rng = np.random.default_rng([SEED, 3])
    X = _mixed_normals(rng, rows, columns)
    eta = X @ (rng.standard_normal(columns) / np.sqrt(columns)) - 0.5
    y = (rng.random(rows) < sigmoid(eta)).astype(np.float64)
    return {"X": np.round(X * 8.0) / 8.0 if eighths else X, "y": y}


def outliers(rows: int, columns: int) -> dict[str, Any]:
    """Return a linear signal with noise whose tails are heavy: Student's t with two degrees of freedom."""
    rng = np.random.default_rng([SEED, 9])
    X = _mixed_normals(rng, rows, columns)
    return {"X": X, "y": X @ (rng.standard_normal(columns) / np.sqrt(columns)) + rng.standard_t(2.0, rows)}


def wide(rows: int, columns: int) -> dict[str, Any]:
    """Return many columns, a few of which matter; neighbours share a half, as measurements along a line do."""
    rng = np.random.default_rng([SEED, 7])
    X = rng.standard_normal((rows, columns))
    for j in range(1, columns):
        X[:, j] += 0.5 * X[:, j - 1]
    return _centered(rng, X, max(columns // 200, 5), 1.0)


def blocks(rows: int, columns: int) -> dict[str, Any]:
    """Return columns in groups of ten that correlate by 0.8, of which more matter, under less noise."""
    rng = np.random.default_rng([SEED, 13])
    X = rng.standard_normal((rows, columns))
    X += 2.0 * np.repeat(rng.standard_normal((rows, columns // 10 + 1)), 10, axis=1)[:, :columns]
    return _centered(rng, X, max(columns // 100, 5), 0.3)


def _centered(rng: np.random.Generator, X: np.ndarray, used: int, noise: float) -> dict[str, Any]:
    """Return standardized columns and a target of mean zero: no intercept is needed."""
    X -= X.mean(axis=0)
    X /= np.sqrt(np.mean(X**2, axis=0))
    signal = X[:, rng.choice(X.shape[1], used, replace=False)] @ rng.standard_normal(used)
    y = signal + noise * signal.std() * rng.standard_normal(X.shape[0])
    return {"X": np.asfortranarray(X), "y": y - y.mean()}


def apart(rows: int, columns: int, whole: bool = False) -> dict[str, Any]:
    """Return two classes on either side of a plane, every row at least a hundredth of its spread away from it.

    Whole numbers (up to a few hundred) come closer to the plane, and several to the same distance.
    """
    rng = np.random.default_rng([SEED, 40])
    X = _mixed_normals(rng, rows, columns)
    w = np.round(3.0 * rng.standard_normal(columns)) if whole else rng.standard_normal(columns)
    X = np.round(100.0 * X) if whole else X
    score = X @ w
    score -= np.floor(np.median(score)) + 0.5
    side = np.where(score > 0.0, 1.0, -1.0)
    if not whole:
        X += (0.01 * np.std(score) / (w @ w) * side)[:, None] * w
    return {"X": X, "y": (side > 0).astype(np.float64), "separable": np.array(True)}


def overlapping(rows: int, columns: int, noise: float = 0.3) -> dict[str, Any]:
    """Return the same with noise in the classes; the last two rows are equal and of different classes."""
    rng = np.random.default_rng([SEED, 41])
    X = _mixed_normals(rng, rows, columns)
    score = X @ rng.standard_normal(columns)
    y = (score - np.median(score) + noise * np.std(score) * rng.standard_normal(rows) > 0.0).astype(np.float64)
    X[-1], y[-2:] = X[-2], (0.0, 1.0)
    return {"X": X, "y": y, "separable": np.array(False)}


def points(rows: int, queries: int, columns: int, clusters: int = 1) -> dict[str, Any]:
    """Return normal points, or clusters of different widths, and queries (y = 1) behind them from the same distribution."""
    rng = np.random.default_rng([SEED, 31])
    X = rng.standard_normal((rows + queries, columns))
    if clusters > 1:
        which = rng.integers(0, clusters, rows + queries)
        width = rng.uniform(0.2, 1.0, clusters)
        X = X * width[which, None] + 3.0 * rng.standard_normal((clusters, columns))[which]
    return {"X": X, "y": np.repeat([0.0, 1.0], [rows, queries])}
