"""Weights of rows: none, whole numbers with zeros, or any above 0."""

from __future__ import annotations

import numpy as np


def weights_for(rng: np.random.Generator, n: int, kind: str) -> np.ndarray | None:
    """Return weights of a kind."""
    if kind == "none":
        return None
    return rng.integers(0, 4, size=n).astype(float) if kind == "zeros" else rng.uniform(0.1, 3.0, size=n)
