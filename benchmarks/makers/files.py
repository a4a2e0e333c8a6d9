"""Small files: what a person has who asks for the first time, and numeric tables for the checker; the target is ``label``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.makers import measured, numbers

EXAMPLES = Path(__file__).parents[2] / "examples"


def penguins() -> dict[str, Any]:
    """Return the example of the documentation: numbers, categories, missing cells."""
    text = (EXAMPLES / "penguins.csv").read_text(encoding="utf-8").replace("species,", "label,", 1)
    return {"csv": text, "y": np.zeros(text.count("\n") - 1)}


def wine() -> dict[str, Any]:
    """Return scikit-learn's wine, thirteen columns of numbers."""
    made = measured.wine()
    head = ",".join([*(f"x{j}" for j in range(made["X"].shape[1])), "label"])
    lines = [",".join([*map(str, x), f"w{k}"]) for x, k in zip(made["X"].round(4).tolist(), made["y"], strict=True)]
    return {"csv": "\n".join([head, *lines, ""]), "y": made["y"]}


def _columns(X: np.ndarray, label: np.ndarray) -> dict[str, Any]:
    return {"parquet": {**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "label": label}, "y": np.zeros(len(label))}


def classes(rows: int, columns: int) -> dict[str, Any]:
    """Return mixed normals of two classes as columns of a Parquet file."""
    made = numbers.classification(rows, columns)
    return _columns(made["X"], np.where(made["y"] > 0, "yes", "no"))


def regression(rows: int, columns: int) -> dict[str, Any]:
    """Return the same with a number as the target."""
    made = numbers.regression(rows, columns)
    return _columns(made["X"], made["y"])
