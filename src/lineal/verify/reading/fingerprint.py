"""The fingerprint of training cells, and the class that a cell names (docs/model-file.md)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lineal.verify.reading import cells


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
    whole = Fingerprint({name: kind for name, kind, _ in given})
    whole.see({name: column for name, _, column in given})
    return whole.digest()


def _numbers(column: cells.Column) -> bytes:
    doubles = cells.numbers(column)
    bits = doubles.astype("<f8").view("<u8")
    bits[np.isnan(doubles)] = 0x7FF8000000000000  # one bit pattern for every NaN
    return bits.tobytes()


def _texts(column: cells.Column) -> bytes:
    return b"".join(cells.each(column, _text))


def _text(cell: object) -> bytes:
    if cells.missing(cell):
        return struct.pack("<I", 0xFFFFFFFF)  # a length that no text has
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
