"""Which rows a model was trained on, what they hold, and their fingerprint (docs/model-file.md)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from lineal.verify import cells

MISSING_NUMBER: Final = 0x7FF8000000000000
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


def uniform(seed: int, rows: int, first: int = 0) -> npt.NDArray[np.float64]:
    """Return u(seed, row), in [0, 1), for some rows of a file, from the ``first`` on."""
    return drawn(seed, np.arange(first, first + rows, dtype=np.uint64))


def drawn(seed: int, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return u(seed, key), in [0, 1), for each key."""
    start = mix(np.array([seed], dtype=np.uint64))
    return (mix(start ^ keys) >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Fingerprint:
    """The fingerprint of columns, each with its type "n" or "t", of which some rows are seen at a time.

    >>> one = Fingerprint({"a": "n"})
    >>> one.see({"a": ["1"]})
    >>> one.see({"a": ["NA"]})
    >>> one.digest() == fingerprint([("a", "n", [1, None])])
    True
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self._kinds = dict(sorted(kinds.items(), key=lambda item: item[0].encode()))
        self._hashes = {name: hashlib.sha256() for name in self._kinds}

    def see(self, columns: Mapping[str, cells.Column]) -> None:
        """Take some more rows; ValueError if a cell of a number column is no number."""
        for name, kind in self._kinds.items():
            self._hashes[name].update(_numbers(columns[name]) if kind == "n" else _texts(columns[name]))

    def digest(self) -> str:
        """Return the fingerprint of all rows so far."""
        whole = hashlib.sha256()
        for name, kind in self._kinds.items():
            whole.update(name.encode() + b"\0" + kind.encode() + self._hashes[name].digest())
        return "sha256:" + whole.hexdigest()


def fingerprint(columns: Iterable[tuple[str, str, cells.Column]]) -> str:
    """Return the fingerprint of (name, "n" or "t", cells) columns, in whatever order they come.

    >>> one = fingerprint([("a", "n", ["1", "NA"]), ("b", "t", ["x", "y"])])
    >>> one == fingerprint([("b", "t", ["x ", "y"]), ("a", "n", [1, None])])
    True
    """
    given = list(columns)
    found = Fingerprint({name: kind for name, kind, _ in given})
    found.see({name: column for name, _, column in given})
    return found.digest()


def _numbers(column: cells.Column) -> bytes:
    found = cells.numbers(column)
    bits = found.astype("<f8").view("<u8")
    bits[np.isnan(found)] = MISSING_NUMBER
    return bits.tobytes()


def _texts(column: cells.Column) -> bytes:
    return b"".join(cells.each(column, _text))


def _text(cell: object) -> bytes:
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
