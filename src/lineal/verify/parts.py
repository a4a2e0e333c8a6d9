"""Which rows of a file were fitted: the split of the model file, done again (docs/model-file.md, "Rows, split")."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify import cells
from lineal.verify.rows import drawn, uniform

Mask = npt.NDArray[np.bool_]
TRAIN: Final = ("train", "training")
YES: Final = ("1", "true", "t", "yes", "y")
NO: Final = ("0", "false", "f", "no", "n")
OTHERS: Final = ("validation", "validate", "valid", "val", "dev", "test", "testing", "holdout")


def fitted(split: Mapping[str, Any] | None, rows: int, column: Sequence[object] | None) -> Mask:
    """Return which rows are not held out; ``column`` is the one that the split goes by, if any.

    >>> fitted({"seed": 0, "test_size": 0.0, "by": "column", "column": "part"}, 2, ["train", "test"]).tolist()
    [True, False]
    """
    if split is None:
        return np.ones(rows, dtype=bool)
    test, validation = float(split["test_size"]), float(split.get("validation_size", 0.0))
    if column is None:
        return uniform(split["seed"], rows) >= test + validation
    texts = [None if cells.missing(cell) else cells.text(cell) for cell in column]
    if split["by"] == "stratified":
        return _stratified(texts, uniform(split["seed"], rows), test, validation)
    if None in texts:
        raise ModelFileError(f"row {texts.index(None) + 1} has no value in the column that the rows are split by.")
    words = [str(text) for text in texts]
    if split["by"] == "column":
        return np.array([_trains(word.lower(), str(split["column"]).lower()) for word in words], dtype=bool)
    if split["by"] == "group":
        hashes = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") >> 1 for word in words]
        return drawn(split["seed"], np.array(hashes, dtype=np.uint64)) >= test + validation
    try:
        keys: list[Any] = [float(word) for word in words]
    except ValueError:
        keys = words
    count = int(rows * (1.0 - test - validation))
    return (
        np.array([key <= sorted(keys)[count - 1] for key in keys], dtype=bool) if count else np.zeros(rows, dtype=bool)
    )


def _trains(word: str, name: str) -> bool:
    """Return whether a cell says that its row is fitted; yes and no answer the name of the column."""
    if name in TRAIN + OTHERS and word in YES + NO:
        return (word in YES) == (name in TRAIN)
    if word not in TRAIN + OTHERS:
        raise ModelFileError("the column that the rows are split by holds other words than train, validation, test.")
    return word in TRAIN


def _stratified(texts: list[str | None], u: npt.NDArray[np.float64], test: float, validation: float) -> Mask:
    """Return all but the rows of least u of every class: its shares, rounded."""
    found = np.ones(len(texts), dtype=bool)
    for label in {text for text in texts if text is not None}:
        members = sorted((row for row, text in enumerate(texts) if text == label), key=lambda row: (u[row], row))
        held = int(len(members) * test + 0.5) + int(len(members) * validation + 0.5)
        found[members[:held]] = False
    return found
