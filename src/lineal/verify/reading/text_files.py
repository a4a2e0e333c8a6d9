"""A text file, perhaps compressed: how it is encoded, and its text piece by piece."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from lineal.errors import InputError
from lineal.verify.reading.packed import damage, unpacked

PIECE_BYTES: Final = 2**20
"""Bytes, or characters of a decoded text, that are read at a time."""


def _unassigned(error: UnicodeError) -> tuple[str, int]:
    """Read the bytes that Windows-1252 does not assign as Latin-1 does."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("lineal-as-latin-1", _unassigned)


class TextFile:
    """A text file; ``share`` is how much of it has been read, ``quoted`` whether there is a quote in it."""

    def __init__(self, path: Path) -> None:
        self.path, self.share = path, 0.0
        self._size = max(path.stat().st_size, 1)
        try:
            self.encoding, self.quoted = self._surveyed()
        except damage() as error:
            raise InputError(f"the data file {path} is damaged: {error}.") from error

    def _surveyed(self) -> tuple[str, bool]:
        """Return the encoding, and whether there is a quote: UTF-16 if the first bytes say so, UTF-8, or Windows-1252.

        A byte that is not UTF-8 after a character of several bytes that is means damage, not another encoding.
        """
        with self.path.open("rb") as raw, unpacked(raw) as file:
            piece = file.read(PIECE_BYTES)
            wide = _utf16(piece)
            decoder = codecs.getincrementaldecoder(wide or "utf-8")()
            quoted, before, plain = False, 0, True
            while True:
                quoted = quoted or b'"' in piece
                try:
                    decoder.decode(piece, final=not piece)
                except UnicodeDecodeError as error:
                    held = len(error.object) - len(piece)  # bytes of a character that began in the piece before
                    plain = plain and piece[: max(error.start - held, 0)].isascii() and held == 0
                    if wide or not plain:
                        where = before - held + error.start
                        raise InputError(
                            f"the data file {self.path} is not text: byte {where} cannot be read."
                        ) from error
                    rest = iter(lambda: file.read(PIECE_BYTES), b"")
                    return "cp1252", quoted or any(b'"' in more for more in rest)
                if not piece:
                    return wide or "utf-8-sig", quoted
                plain, before = plain and piece.isascii(), before + len(piece)
                piece = file.read(PIECE_BYTES)

    def lines(self, newline: str = "") -> Iterator[str]:
        r"""Yield the lines with their ends; by default those of any kind, else those that end in ``\n`` alone."""
        with self.path.open("rb") as raw, self._opened(raw, newline) as text:
            for number, line in enumerate(text):
                if number % 1024 == 0:
                    self.share = raw.tell() / self._size
                yield line

    def pieces(self) -> Iterator[str]:
        """Yield the text as it stands, a piece at a time."""
        with self.path.open("rb") as raw, self._opened(raw, "") as text:
            while piece := text.read(PIECE_BYTES):
                self.share = raw.tell() / self._size
                yield piece

    def _opened(self, raw: IO[bytes], newline: str) -> io.TextIOWrapper:
        data = unpacked(raw)
        errors = "lineal-as-latin-1" if self.encoding == "cp1252" else "strict"
        return io.TextIOWrapper(data, encoding=self.encoding, errors=errors, newline=newline)


def _utf16(data: bytes) -> str | None:
    """Return the kind of UTF-16 that the first bytes show, by a mark or by every other one being zero; None if they do not."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    some = data[:400]
    for encoding, zero in (("utf-16-le", 1), ("utf-16-be", 0)):
        if len(some) >= 4 and some[zero::2].count(0) > 0.8 * len(some[zero::2]) and not some[1 - zero :: 2].count(0):
            return encoding
    return None
