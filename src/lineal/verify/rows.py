"""Which rows a model was trained on, what they hold, and their fingerprint (docs/model-file.md)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.verify import cells

MISSING_NUMBER: Final = struct.pack("<Q", 0x7FF8000000000000)
MISSING_TEXT: Final = struct.pack("<I", 0xFFFFFFFF)


def mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the splitmix64 finaliser of each number.

    >>> mix(np.array([0], np.uint64))
    array([16294208416658607535], dtype=uint64)
    """
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def uniform(seed: int, rows: int) -> npt.NDArray[np.float64]:
    """Return u(seed, row), in [0, 1), for each row of a file."""
    return drawn(seed, np.arange(rows, dtype=np.uint64))


def drawn(seed: int, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return u(seed, key), in [0, 1), for each key."""
    start = mix(np.array([seed], dtype=np.uint64))
    return (mix(start ^ keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def fingerprint(columns: Iterable[tuple[str, str, Sequence[object]]]) -> str:
    """Return the fingerprint of (name, "n" or "t", cells) columns, in whatever order they come.

    >>> one = fingerprint([("a", "n", ["1", "NA"]), ("b", "t", ["x", "y"])])
    >>> one == fingerprint([("b", "t", ["x ", "y"]), ("a", "n", [1, None])])
    True
    """
    whole = hashlib.sha256()
    for name, kind, column in sorted(columns, key=lambda item: item[0].encode()):
        digest = hashlib.sha256()
        for cell in column:
            digest.update(_bytes(cell, kind))
        whole.update(name.encode() + b"\0" + kind.encode() + digest.digest())
    return "sha256:" + whole.hexdigest()


def _bytes(cell: object, kind: str) -> bytes:
    if kind == "n":
        return MISSING_NUMBER if cells.missing(cell) else struct.pack("<d", cells.number(cell))
    if cells.missing(cell):
        return MISSING_TEXT
    text = cells.text(cell).encode()
    return struct.pack("<I", len(text)) + text


def class_of(cell: object, classes: Sequence[object]) -> int:
    """Return the number of the class a present cell names; ValueError if it names none.

    >>> class_of("2.0", [1, 2]), class_of("yes", ["no", "yes"]), class_of("TRUE", [False, True])
    (1, 1, 1)
    """
    for number, label in enumerate(classes):
        if _names(cell, label):
            return number
    raise ValueError(f"{cell!r} is none of the classes")


def _names(cell: object, label: object) -> bool:
    text = cells.text(cell)
    if isinstance(label, bool):
        return text.lower() == str(label).lower()
    if isinstance(label, int | float):
        try:
            return cells.number(cell) == label
        except ValueError:
            return False
    return text == label
