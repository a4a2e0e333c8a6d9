"""A file that is read several times and must not change in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import IO, TypeVar

from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.tables.encoding import encoding_of, recoded
from lineal.tables.packing import MARK_MAX_BYTES, Packing, damage, packing_of

CHUNK_BYTES = 4 << 20
BUFFER_SPARE_BYTES = 1 << 16
"""A buffer is longer than a piece by this much, for the end of the piece before."""
SAMPLE_BYTES = 1 << 20
SAMPLE_LINES = 8
LONG_FILE_BYTES = 1 << 24
"""Not all bytes of a file of this size are looked at before it is read."""

Bytes = bytes | bytearray
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class File:
    """A path with the size and time it had when first seen; how it is packed is recognized by content.

    A text file whose ``encoding`` is given is read as if it were UTF-8.
    """

    path: Path
    encoding: str | None = None
    stamp: tuple[int, int] = field(init=False)
    packing: Packing | None = field(init=False)

    def __post_init__(self) -> None:
        """Look at the file once."""
        object.__setattr__(self, "stamp", self._look())
        try:
            with self.path.open("rb") as stream:
                object.__setattr__(self, "packing", packing_of(stream.read(MARK_MAX_BYTES)))
        except OSError as problem:
            raise InputError(f"{self.path} cannot be read: {problem.strerror}.") from problem

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return self.path.name

    def _look(self) -> tuple[int, int]:
        try:
            stat = self.path.stat()
        except OSError as problem:
            raise InputError(f"{self.path} cannot be read: {problem.strerror}.") from problem
        return stat.st_size, stat.st_mtime_ns

    def check(self) -> None:
        """Raise an InputError if the file is not the one first seen."""
        if self._look() != self.stamp:
            raise InputError(
                f"{self.name} changed while it was being read; let its writer finish, then run this again."
            )

    @contextmanager
    def open(self, start: int = 0) -> Iterator[IO[bytes]]:
        """Open the file's bytes from ``start`` on, unpacked; check before and after that it did not change."""
        self.check()
        try:
            with self.path.open("rb") as stream:
                if self.packing is None:
                    stream.seek(start)
                    yield self._utf8(stream)
                else:
                    with self.packing.unpacked(stream) as unpacked:
                        unpacked.read(start)
                        yield self._utf8(unpacked)
        except InputError:
            self.check()  # a file cut short while it is read also looks damaged; the change is the better reason
            raise
        except OSError as problem:
            if self.packing is not None and problem.errno is None:  # (what is packed is damaged, not the disk)
                raise self._damaged(problem) from problem
            raise InputError(f"{self.name} cannot be read: {problem.strerror or problem}.") from problem
        except damage() as problem:
            raise self._damaged(problem) from problem
        except UnicodeDecodeError as problem:
            raise InputError(f"{self.name} is damaged {problem.encoding} text; save it as UTF-8.") from problem
        self.check()

    def _damaged(self, problem: BaseException) -> InputError:
        title = "packed" if self.packing is None else self.packing.title
        return InputError(f"{self.name} is a damaged or truncated {title} file ({problem}); write it again.")

    def _utf8(self, stream: IO[bytes]) -> IO[bytes]:
        return stream if self.encoding is None else recoded(stream, self.encoding)

    def place(self, row: int, content: Callable[[bytes], bytes] = bytes.strip) -> str:
        """Return a row, counted from one, and its line; rows are the lines of which ``content`` leaves something."""
        seen = -1
        with self.open() as stream:
            for line, text in enumerate(stream, start=1):
                seen += bool(content(text))
                if seen == row:
                    return f"row {row + 1} (line {line})"
        return f"row {row + 1}"

    def decoded(self) -> File:
        """Return the file with the encoding that its bytes show; one more look at all of them."""
        encoding = encoding_of(self.open)
        return self if encoding is None else replace(self, encoding=encoding)

    def begins_plainly(self) -> bool:
        """Whether a long file begins with ASCII: then who reads it may look at the rest on the way."""
        if self.packing is not None or self.stamp[0] < LONG_FILE_BYTES:
            return False
        first, _ = self.sample()
        return first.isascii() and b"\0" not in first

    @property
    def piece_bytes(self) -> int:
        """Bytes of a piece: more in a long file, where what is done once for every piece and column weighs more than memory."""
        return CHUNK_BYTES if self.stamp[0] < 16 * CHUNK_BYTES else 2 * CHUNK_BYTES

    def sample(self) -> tuple[bytes, bool]:
        """Return the first megabyte, more if it holds few lines, and whether that is the whole file."""
        with self.open() as stream:
            data, more = stream.read(SAMPLE_BYTES), stream.read(1)
            while more and (lines := data.count(b"\n")) < SAMPLE_LINES and (lines < 2 or len(data) < 32 * SAMPLE_BYTES):
                data += more + stream.read(len(data))
                more = stream.read(1)
        return data, not more


def chunks(stream: IO[bytes], cut: Callable[[bytes, bool], int]) -> Iterator[bytes]:
    """Yield a stream in pieces of some megabytes that end where ``cut(data, final)`` says a record ends.

    ``cut`` returns 0 if no record ends in the data; then more is read.
    """
    rest = b""
    size = CHUNK_BYTES
    while True:
        data = stream.read(size)
        final = not data
        whole = rest + data
        end = cut(whole, final) if whole else 0
        if end:
            yield whole[:end]
        rest = whole[end:]
        if final:
            return
        # A record longer than the chunk: read twice as much each time, so that the work stays linear.
        size = CHUNK_BYTES if end else max(CHUNK_BYTES, len(rest))


def buffers(
    stream: IO[bytes], cut: Callable[[Bytes, bool], int], spare: deque[bytearray], piece: int
) -> Iterator[bytearray]:
    """Yield what ``chunks`` does, in buffers that whoever is done with one puts to the ``spare`` ones, for the next pieces."""
    rest, size = b"", max(piece // 4, 1)  # who waits for the first ones can begin
    full = size
    while True:
        start, wanted = len(rest), len(rest) + size
        buffer = spare.popleft() if spare else bytearray()
        if len(buffer) < wanted // 2:
            buffer = bytearray(wanted + BUFFER_SPARE_BYTES)
        if len(buffer) < wanted:
            buffer.extend(bytes(wanted - len(buffer)))
        buffer[:start] = rest
        with memoryview(buffer) as room:
            count = stream.readinto(room[start:wanted])  # type: ignore[attr-defined]
        del buffer[start + count :]
        end = cut(buffer, not count) if buffer else 0
        rest = bytes(buffer[end:])
        if end:
            del buffer[end:]
            yield buffer
        else:
            spare.append(buffer)
        if not count:
            return
        full = min(2 * full, piece)
        size = full if end else max(full, len(rest))  # as in chunks


def last_line(data: Bytes, final: bool) -> int:
    """Return where the last whole line ends, for formats whose records are lines."""
    return len(data) if final else data.rfind(b"\n") + 1


def ahead(work: Callable[[Item], Result], items: Iterator[Item], workers: int = 2) -> Iterator[Result]:
    """Yield ``work(item)`` in order, worked out a few items ahead by threads."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
