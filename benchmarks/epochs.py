"""Ten epochs of a perceptron in plain Python: the weights that every competitor has to end with.

The rows are multiples of a power of two, so that all sums are exact and no order of adding changes a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

EPOCHS = 10


def weights(X: Any, y: np.ndarray) -> np.ndarray:
    """Return the weights (columns, outputs) after the epochs: rows in their order, no intercept, from zero.

    Two classes: w <- w + s x where s w.x <= 0, s = +-1. Several: own + x and best other - x where the other is not below.
    """
    rows = list(_stored(X)) if hasattr(X, "indptr") else [(slice(None), row) for row in X]
    classes = int(y.max()) + 1
    if classes == 2:
        return _two(rows, np.where(y > 0, 1.0, -1.0).tolist(), X.shape[1])
    w = np.zeros((classes, X.shape[1]))
    own = y.astype(int).tolist()
    for _ in range(EPOCHS):
        for (places, x), k in zip(rows, own, strict=True):
            scores = w[:, places] @ x
            mine = scores[k]
            scores[k] = -np.inf
            rival = int(np.argmax(scores))
            if scores[rival] >= mine:
                w[k, places] += x
                w[rival, places] -= x
    return w.T


def _two(rows: list[Any], signs: list[float], columns: int) -> np.ndarray:
    w = np.zeros(columns)
    for _ in range(EPOCHS):
        for (places, x), s in zip(rows, signs, strict=True):
            if s * (w[places] @ x) <= 0.0:
                w[places] += s * x
    return w[:, None]


def _stored(X: Any) -> Any:
    for first, last in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        yield X.indices[first:last], X.data[first:last]
