"""How the characters of a text file are stored: UTF-8, UTF-16 or Windows-1252, found by looking at its bytes."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Any, Final

UTF8_MARK: Final = b"\xef\xbb\xbf"
"""The bytes with which some programs begin a UTF-8 file."""
PIECE_BYTES: Final = 4 << 20
SAMPLE_BYTES: Final = 1 << 18
LATIN: Final = "windows-1252"
"""Latin-1 with printed characters where that has control codes; its five holes are those of Latin-1."""


def _hole(problem: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(problem, UnicodeDecodeError):
        raise problem
    return "".join(map(chr, problem.object[problem.start : problem.end])), problem.end


codecs.register_error("lineal-latin", _hole)


def encoding_of(opened: Callable[[], AbstractContextManager[IO[bytes]]]) -> str | None:
    """Return the encoding of a text file, None for UTF-8; the whole file is looked at.

    A byte that is no UTF-8 makes a file Windows-1252, unless characters of several bytes before it say that it is
    UTF-8 and damaged; NUL bytes say that it is no text, or UTF-16 if they are every second byte.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    with opened() as stream:
        first = True
        several = False
        for piece in _pieces(stream):
            if first:
                wide = _wide(bytes(piece[:400]))
                if wide is not None:
                    return wide
                first = False
            if piece.isascii() and not decoder.getstate()[0]:
                continue
            try:
                text = decoder.decode(bytes(piece))
            except UnicodeDecodeError as problem:
                several = several or not problem.object[: problem.start].isascii()
                return None if several or b"\0" in piece else LATIN
            several = several or not text.isascii()
    return LATIN if decoder.getstate()[0] and not several else None


def _pieces(stream: IO[bytes]) -> Iterator[bytearray]:
    """Yield the bytes of a stream in one buffer, which the next piece overwrites: small enough for a cache."""
    buffer = bytearray(SAMPLE_BYTES)
    while count := stream.readinto(buffer):  # type: ignore[attr-defined]
        yield buffer if count == len(buffer) else buffer[:count]


def _wide(data: bytes) -> str | None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    for name, at in (("utf-16-le", 1), ("utf-16-be", 0)):
        if len(data) >= 4 and data[at::2].count(0) > 0.8 * len(data[at::2]) and not data[1 - at :: 2].count(0):
            return name
    return None


def recoded(stream: IO[bytes], encoding: str) -> IO[bytes]:
    """Return a stream of some encoding as UTF-8.

    >>> recoded(io.BytesIO("für".encode("utf-16")), "utf-16").read().decode()
    'für'
    """
    return io.BufferedReader(_Recoded(stream, encoding), PIECE_BYTES)


class _Recoded(io.RawIOBase):
    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        super().__init__()
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("lineal-latin" if encoding == LATIN else "strict")
        self._rest = b""

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with UTF-8."""
        while not self._rest:
            data = self._stream.read(PIECE_BYTES)
            self._rest = self._decoder.decode(data, final=not data).encode()
            if not data:
                break
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size
