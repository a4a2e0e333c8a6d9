"""Which rows of a file were fitted: the split of the model file, done again (docs/model-file.md, "Rows, split")."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Mask
from lineal.verify.reading import cells
from lineal.verify.reading.cells import Cells
from lineal.verify.reading.tables import Kept, Table


class Split:
    """Which rows of a file are not held out. By classes or by time it depends on all rows, and a bit for each is kept."""

    def __init__(self, split: Mapping[str, Any] | None, divider: str | None, table: Table) -> None:
        self._split, self._divider, self._mask, self._row = split, divider, None, 0
        if split is not None and divider is not None and split["by"] in ("stratified", "time"):
            columns = (block.column(divider) for block in table.blocks([divider]))
            self._mask = _over_all(split, [text for column in columns for text in cells.texts(column)])

    def fitted(self, block: Cells) -> Mask:
        """Return which of the next rows are fitted."""
        first, rows, split = self._row, block.rows, self._split
        self._row += rows
        if split is None:
            return np.ones(rows, dtype=bool)
        if self._mask is not None:
            return self._mask[first : first + rows]
        share = float(split["test_size"]) + float(split.get("validation_size", 0.0))
        if self._divider is None:
            return uniform(split["seed"], rows, first) >= share
        words = _present(cells.texts(block.column(self._divider)), first)
        if split["by"] == "column":
            return np.array([_trains(word.lower(), str(split["column"]).lower()) for word in words], dtype=bool)
        hashes = [int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big") >> 1 for word in words]
        return drawn(split["seed"], np.array(hashes, dtype=np.uint64)) >= share


def _present(texts: Sequence[str | None], first: int = 0) -> list[str]:
    """Return texts of which none may be missing."""
    if None in texts:
        row = first + texts.index(None) + 1
        raise ModelFileError(f"row {row} has no value in the column that the rows are split by.")
    return [str(text) for text in texts]


def _over_all(split: Mapping[str, Any], texts: list[str | None]) -> Mask:
    """Return which rows a split by classes or by time leaves to the fit."""
    test, validation = float(split["test_size"]), float(split.get("validation_size", 0.0))
    if split["by"] == "stratified":
        return _stratified(texts, uniform(split["seed"], len(texts)), test, validation)
    words = _present(texts)
    try:
        keys: list[Any] = [int(word) if re.fullmatch(r"[+-]?\d+", word) else float(word) for word in words]
    except ValueError:
        keys = words
    count = int(len(texts) * (1.0 - test - validation))
    if not count:
        return np.zeros(len(texts), dtype=bool)
    last = sorted(keys)[count - 1]
    return np.array([key <= last for key in keys], dtype=bool)


def fitted(split: Mapping[str, Any] | None, rows: int, column: cells.Column | None) -> Mask:
    """Return which rows are not held out, all at once; ``column`` is the one that the split goes by, if any.

    >>> fitted({"seed": 0, "test_size": 0.0, "by": "column", "column": "part"}, 2, ["train", "test"]).tolist()
    [True, False]
    """
    table = Kept(rows, {} if column is None else {"by": column})
    return Split(split, None if column is None else "by", table).fitted(next(table.blocks(["by"])))


def _trains(word: str, name: str) -> bool:
    """Return whether a cell says that its row is fitted; yes and no answer the name of the column."""
    train = ("train", "training")
    others = ("validation", "validate", "valid", "val", "dev", "test", "testing", "holdout")
    yes, no = ("1", "true", "t", "yes", "y"), ("0", "false", "f", "no", "n")
    if name in train + others and word in yes + no:
        return (word in yes) == (name in train)
    if word not in train + others:
        raise ModelFileError("the column that the rows are split by holds other words than train, validation, test.")
    return word in train


def _stratified(texts: list[str | None], u: npt.NDArray[np.float64], test: float, validation: float) -> Mask:
    """Return all but the rows of least u of every class: its shares, rounded."""
    mask = np.ones(len(texts), dtype=bool)
    rows: dict[str | None, list[int]] = {}
    for row, text in enumerate(texts):
        rows.setdefault(text, []).append(row)
    for label in rows.keys() - {None}:
        members = sorted(rows[label], key=lambda row: (u[row], row))
        held = int(len(members) * test + 0.5) + int(len(members) * validation + 0.5)
        mask[members[:held]] = False
    return mask


def mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the splitmix64 finalizer of each number.

    >>> mix(np.array([0], np.uint64))
    array([16294208416658607535], dtype=uint64)
    """
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(seed: int, rows: int, first: int = 0) -> npt.NDArray[np.float64]:
    """Return u(seed, row), in [0, 1), for some rows of a file, from the ``first`` on."""
    return drawn(seed, np.arange(first, first + rows, dtype=np.uint64))


def drawn(seed: int, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return u(seed, key), in [0, 1), for each key."""
    start = mix(np.array([seed], dtype=np.uint64))
    return (mix(start ^ keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53
