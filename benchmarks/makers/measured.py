"""Small measured tables that scikit-learn carries, columns standardized where their units differ."""

from __future__ import annotations

from typing import Any

import numpy as np


def _standardized(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def breast_cancer() -> dict[str, Any]:
    """Return breast_cancer, 569 x 30, two classes."""
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return {"X": _standardized(X), "y": y.astype(np.float64)}


def two_irises() -> dict[str, Any]:
    """Return the two kinds of iris that overlap, 100 x 4."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return {"X": X[y > 0], "y": (y[y > 0] == 2).astype(np.float64)}


def wine() -> dict[str, Any]:
    """Return wine, 178 x 13, three classes."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return {"X": _standardized(X), "y": y.astype(np.int64)}


def diabetes() -> dict[str, Any]:
    """Return diabetes as it comes, 442 x 10."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return {"X": X, "y": y}


def alcohol() -> dict[str, Any]:
    """Return the alcohol of a wine by its other measurements, 178 x 12."""
    X = wine()["X"]
    return {"X": np.ascontiguousarray(X[:, 1:]), "y": X[:, 0].copy()}
