"""The bytes of a file as they were before it was packed: gzip, bzip2, xz, Zstandard."""

from __future__ import annotations

import io
import zlib
from pathlib import Path
from typing import IO, Any


def unpacked(raw: IO[bytes]) -> IO[bytes]:
    """Return the content of an open file: as it is, or what was packed, as its first bytes say."""
    first = raw.read(6)
    raw.seek(0)
    stream: Any = raw
    if first[:2] == b"\x1f\x8b":
        import gzip

        stream = gzip.GzipFile(fileobj=raw)
    elif first[:3] == b"BZh":
        import bz2

        stream = bz2.BZ2File(raw)
    elif first == b"\xfd7zXZ\0":
        import lzma

        stream = lzma.LZMAFile(raw)  # noqa: SIM115  (whoever opened the file closes it)
    elif first[:4] == b"\x28\xb5\x2f\xfd":
        import pyarrow as pa  # here: only this packing needs it

        stream = io.BufferedReader(pa.CompressedInputStream(raw, "zstd"))
    content: IO[bytes] = stream
    return content


def damage() -> tuple[type[BaseException], ...]:
    """Return what reading a damaged file raises."""
    import lzma

    return OSError, EOFError, zlib.error, lzma.LZMAError


def bare(path: Path) -> str:
    """Return the name of a file without the ending that says how it is packed.

    >>> bare(Path("a/b.csv.zst")), bare(Path("b.tsv"))
    ('b.csv', 'b.tsv')
    """
    return path.stem if path.suffix.lower() in (".gz", ".bz2", ".xz", ".zst") else path.name
