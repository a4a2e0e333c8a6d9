"""Blocks of rows that are gone through again and again: in memory while they are few, in a temporary file beyond that."""

from __future__ import annotations

import io
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
Watch = Callable[[str, float], None]
"""A function that is called with what is going on, and the share of it that is done."""

MEMORY_BYTES: Final = 64 * 2**20
"""Rows beyond these go to a temporary file."""


def silent(words: str, share: float) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Placed:
    """Where an array is in the file; ``turned``: column by column."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    at: int
    turned: bool


class Store:
    """Named arrays, block after block.

    >>> store = Store()
    >>> store.append({"x": np.eye(2)})
    >>> [block["x"].tolist() for block in store]
    [[[1.0, 0.0], [0.0, 1.0]]]
    """

    def __init__(self, watch: Watch = silent) -> None:
        self.watch, self._room, self._passes = watch, MEMORY_BYTES, 0
        self._blocks: list[dict[str, npt.NDArray[Any] | Placed]] = []
        self._file: io.BufferedRandom | None = None

    def __len__(self) -> int:
        return len(self._blocks)

    def append(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep one more block."""
        packed = _packed(arrays)
        size = sum(array.nbytes for array in packed.values())
        if self._file is None and size > self._room:
            # closed, and so deleted, with the store
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
            weakref.finalize(self, self._file.close)
        if self._file is None:
            self._room -= size
            self._blocks.append({**packed})
        else:
            self._blocks.append({name: self._placed(array) for name, array in packed.items()})

    def block(self, place: int) -> Arrays:
        """Return one block."""
        held = self._blocks[place].items()
        return _unpacked({name: self._read(array) if isinstance(array, Placed) else array for name, array in held})

    def __iter__(self) -> Iterator[Arrays]:
        self._passes += 1
        words = f"proving, pass {self._passes} over the rows"
        for place in range(len(self._blocks)):
            if len(self._blocks) > 1:
                self.watch(words, place / len(self._blocks))
            yield self.block(place)

    def _placed(self, array: npt.NDArray[Any]) -> Placed:
        assert self._file is not None
        turned = array.ndim > 1 and array.flags.f_contiguous
        place = Placed(array.dtype, array.shape, self._file.seek(0, 2), turned)
        self._file.write(np.ascontiguousarray(array.T if turned else array).data)
        return place

    def _read(self, place: Placed) -> npt.NDArray[Any]:
        assert self._file is not None
        self._file.seek(place.at)
        array = np.empty(place.shape[::-1] if place.turned else place.shape, dtype=place.kind)
        if self._file.readinto(array.reshape(-1).view(np.uint8).data) != array.nbytes:
            raise OSError("the temporary file that holds the rows has been cut short")
        return array.T if place.turned else array


def _packed(arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the arrays, a design that is mostly zeros as shape, places and values of its other cells."""
    packed = dict(arrays)
    x = packed.get("x")
    if x is not None and 8 * int(np.count_nonzero(x)) < x.size:
        places = np.flatnonzero(x)
        del packed["x"]
        packed |= {"x.shape": np.array(x.shape), "x.places": places, "x.values": x.ravel()[places]}
    return packed


def _unpacked(arrays: Arrays) -> Arrays:
    if "x.shape" not in arrays:
        return dict(arrays)
    others = {name: array for name, array in arrays.items() if not name.startswith("x.")}
    x = np.zeros(tuple(arrays["x.shape"].tolist()))
    x.ravel()[arrays["x.places"]] = arrays["x.values"]
    return {"x": x, **others}
