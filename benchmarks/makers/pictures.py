"""Pixels: the two photographs and the digits that scikit-learn carries, blobs of MNIST's shape, and dense clouds beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.makers.numbers import SEED

GREY_LEVELS = 64.0
"""A pixel of 0..255 is divided by this power of two, so that sums of pixels stay exact."""


def neighbors(rows: int, columns: int, target: str = "pixel") -> dict[str, Any]:
    """Return pixels of two photographs by their nearest neighbors; the target is the pixel's grey level, or the photograph.

    Real columns: neighbors correlate by 0.9 and more, and what they leave unexplained has heavy tails.
    """
    from sklearn.datasets import load_sample_images

    pictures = np.stack(load_sample_images().images)
    reach = int(np.ceil(np.sqrt(columns / 3.0))) + 1
    steps = [(a, b) for a in range(-reach, reach + 1) for b in range(-reach, reach + 1) if (a, b) != (0, 0)]
    steps.sort(key=lambda step: (step[0] ** 2 + step[1] ** 2, step))
    count, height, width, colors = pictures.shape
    inside = (count, height - 2 * reach, width - 2 * reach, colors)
    picked = np.random.default_rng([SEED, 60]).permutation(int(np.prod(inside)))[:rows]
    picture, i, j, color = np.unravel_index(picked, inside)
    X = np.empty((picked.size, columns))
    for k, (a, b) in enumerate(steps[:columns]):
        X[:, k] = pictures[picture, i + reach + a, j + reach + b, color] / GREY_LEVELS
    y = picture if target == "photograph" else pictures[picture, i + reach, j + reach, color]
    return {"X": X, "y": y.astype(np.float64)}


def pixels(rows: int, side: int, classes: int, exact: bool = False) -> dict[str, Any]:
    """Return sparse, non-negative, smooth blobs per class, shifted and noisy: MNIST's shape, not MNIST.

    MNIST cannot be downloaded everywhere; about four fifths of the pixels are zero here, as there.
    ``exact`` gives multiples of 1/256 as float64.
    """
    rng = np.random.default_rng([SEED, 5])
    grid = np.arange(side)
    strokes = 6
    center = rng.uniform(0.2 * side, 0.8 * side, (classes, strokes, 2))
    y = rng.integers(0, classes, rows)
    X = np.empty((rows, side * side), dtype=np.float32)
    for start in range(0, rows, 2000):
        label = y[start : start + 2000]
        spot = center[label] + rng.normal(0.0, 0.085 * side, (label.size, strokes, 2))
        width = 0.05 * side * rng.uniform(0.7, 1.4, (label.size, strokes, 1))
        down = np.exp(-0.5 * ((grid - spot[:, :, :1]) / width) ** 2)
        across = np.exp(-0.5 * ((grid - spot[:, :, 1:]) / width) ** 2)
        image = np.einsum("nsi,nsj->nij", down, across).reshape(label.size, -1)
        image += rng.normal(0.0, 0.03, image.shape)
        X[start : start + 2000] = np.where(image > 0.15, np.round(np.clip(image, 0.0, 1.0) * 255.0) / 255.0, 0.0)
    return {"X": np.round(X.astype(np.float64) * 255.0) / 256.0 if exact else X, "y": y.astype(np.int64)}


def clouds(rows: int, side: int, classes: int, exact: bool = False) -> dict[str, Any]:
    """Return dense columns without zeros: a cloud per class around its own mean, stretched along common factors."""
    rng = np.random.default_rng([SEED, 61])
    columns = side * side
    count = max(columns // 16, 2)
    y = rng.integers(0, classes, rows)
    means = 0.15 * rng.standard_normal((classes, columns))
    loadings = rng.standard_normal((count, columns)) / np.sqrt(np.arange(1, count + 1))[:, None]
    X = 0.3 * rng.standard_normal((rows, count)) @ loadings + 0.5 * rng.standard_normal((rows, columns)) + means[y]
    X = np.round(X * 256.0) / 256.0 if exact else X.astype(np.float32)
    return {"X": X, "y": y.astype(np.int64)}


def digits(images: int) -> dict[str, Any]:
    """Return the first of scikit-learn's 1797 digits, 64 pixels divided by 16."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return {"X": X[:images] / 16.0, "y": y[:images].astype(np.int64)}
