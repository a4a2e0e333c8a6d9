"""Packed files: gzip, bzip2, xz and Zstandard, recognized by their first bytes."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import IO, Any, Final

from lineal.ground.records import dataclass

MARK_MAX_BYTES: Final = 6
"""Bytes that the longest of the marks below has."""


@dataclass(frozen=True)
class Packing:
    """One way to pack a file: what sentences call it, the ending of names, the first bytes, and what unpacks a stream."""

    title: str
    ending: str
    mark: bytes
    unpacked: Callable[[IO[bytes]], Any]


def _gzip(stream: IO[bytes]) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=stream)


def _bzip2(stream: IO[bytes]) -> Any:
    import bz2

    return bz2.BZ2File(stream)


def _xz(stream: IO[bytes]) -> Any:
    import lzma

    return lzma.LZMAFile(stream)


def _zstandard(stream: IO[bytes]) -> Any:
    return io.BufferedReader(_Zstandard(stream))


class _Zstandard(io.RawIOBase):
    """A stream that Arrow unpacks; its errors are those of a damaged file."""

    def __init__(self, stream: IO[bytes]) -> None:
        import pyarrow as pa  # what reads no such file never pays for it

        super().__init__()
        self._inner = pa.CompressedInputStream(stream, "zstd")
        self._errors = (OSError, pa.ArrowException)

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with unpacked bytes."""
        try:
            data = self._inner.read(len(buffer))
        except self._errors as problem:
            raise EOFError(str(problem).rstrip(".")) from problem
        buffer[: len(data)] = data
        return len(data)


ALL: Final = (
    Packing("gzip", ".gz", b"\x1f\x8b", _gzip),
    Packing("bzip2", ".bz2", b"BZh", _bzip2),
    Packing("xz", ".xz", b"\xfd7zXZ\0", _xz),
    Packing("Zstandard", ".zst", b"\x28\xb5\x2f\xfd", _zstandard),
)
ENDINGS: Final = tuple(one.ending for one in ALL)


def packing_of(first: bytes) -> Packing | None:
    """Return how a file is packed that begins with these bytes, None if it is not."""
    return next((one for one in ALL if first.startswith(one.mark)), None)


def damage() -> tuple[type[BaseException], ...]:
    """Return the errors by which a packed file shows that it is damaged."""
    import lzma

    return EOFError, zlib.error, lzma.LZMAError


def without_packing(name: str) -> str:
    """Return the name of a file without the ending of a packing.

    >>> without_packing("a.csv.GZ"), without_packing("a.csv")
    ('a.csv', 'a.csv')
    """
    return next((name[: -len(ending)] for ending in ENDINGS if name.lower().endswith(ending)), name)
