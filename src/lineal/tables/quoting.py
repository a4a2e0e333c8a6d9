"""Whether the quotes of a text file enclose cells or are text like any other: one answer for the whole file."""

from __future__ import annotations

from collections import deque
from typing import Final

from lineal import _core
from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.tables.encoding import UTF8_MARK
from lineal.tables.file import CHUNK_BYTES, File, buffers, last_line

CELL_MAX_LINES: Final = 20
"""Lines of a quoted cell that need no further evidence that quotes quote."""

_AGAINST: Final = {
    0: "the quoted cell that begins in {line} spans lines that are rows by themselves",
    1: "in {line} text follows the quote that closes a cell",
    2: "the quote that opens in {line} is never closed",
    3: "with the quoted cells of {line}, its row has not as many cells as the first",
}


@dataclass(frozen=True)
class Quoting:
    """What a file's quotes are: the character that encloses cells or None, what to say of it.

    ``spans`` says that quoted cells hold line ends, ``middle`` that quotes also stand inside cells.
    """

    quote: str | None
    notes: tuple[str, ...] = ()
    spans: bool = False
    middle: bool = False


def surveyed(file: File, quote: str, delimiter: str) -> _core.Quotes:
    """Look at all quotes of a file."""
    quotes = _core.Quotes(quote, delimiter)
    spare: deque[bytearray] = deque()
    with file.open() as stream:
        for number, piece in enumerate(buffers(stream, last_line, spare, CHUNK_BYTES)):
            quotes.feed(piece.removeprefix(UTF8_MARK) if number == 0 else piece)
            spare.append(piece)
    quotes.finish()
    return quotes


def literal(quotes: _core.Quotes) -> bool:
    """Whether quotes are plain text: something speaks against them, nothing against reading every line as it stands.

    Against them speak records that are not well-formed, and those of several lines that are all rows by themselves. Where
    quotes enclose cells in most lines of a file, they are its habit, and what is odd is a mistake to be named.

    >>> quotes = _core.Quotes('"', ",")
    >>> quotes.feed(b'a,b' + bytes([10]) + b'",1' + bytes([10]) + b'",2' + bytes([10]))
    >>> literal(quotes)
    True
    """
    return quotes.odd + quotes.alike > 0 and quotes.ragged_line == 0 and 2 * quotes.sound <= quotes.lines


def decided(quotes: _core.Quotes, quote: str, declared: bool, origin: str) -> Quoting:
    """Return what the quotes of a file are, or raise an InputError that names the line where they are neither."""
    if declared:
        if quotes.odd and quotes.reason in (1, 2):
            raise InputError(_refusal(quotes, origin))
    elif literal(quotes):
        first = min(line for line in (quotes.odd_line, quotes.alike_line) if line)
        where = f"the first in line {first:,}; --quote '\"' if they quote"
        return Quoting(
            None, (f"{origin} has quotes that do not enclose whole cells; they are read as plain text ({where}).",)
        )
    elif quotes.odd or (quotes.alike and not quotes.ragged_line):
        raise InputError(_refusal(quotes, origin))
    elif (line := _endless(quotes)) > 0:
        raise InputError(
            f"the row that begins in line {line} of {origin} has a quoted cell of more than {CELL_MAX_LINES} lines:"
            f" say --quote '{quote}' if the text of a cell is that long, --quote none if quotes are plain text."
        )
    if not quotes.sound + quotes.alike and not declared:
        return Quoting(None, (_middle(quotes, origin),) if quotes.middle else ())
    notes = []
    if quotes.spanning:
        cells = "1 quoted cell" if quotes.spanning == 1 else f"{quotes.spanning:,} quoted cells"
        notes.append(
            f"{cells} of {origin} span{'s' if quotes.spanning == 1 else ''} several lines,"
            f" up to {quotes.longest:,} (from line {quotes.longest_line:,} on)."
        )
    if quotes.middle:
        notes.append(_middle(quotes, origin))
    return Quoting(quote, tuple(notes), quotes.spanning > 0, quotes.middle > 0)


def _endless(quotes: _core.Quotes) -> int:
    """Return the line of a quoted cell that is too long to be believed, or 0.

    It is believed where at least half of the rows have cells that span lines and its own lines do not look like rows.
    """
    if quotes.doubtful > CELL_MAX_LINES:
        return quotes.doubtful_line
    rows = quotes.lines - quotes.inner
    return quotes.longest_line if quotes.longest > CELL_MAX_LINES and 2 * quotes.spanning < rows else 0


def _middle(quotes: _core.Quotes, origin: str) -> str:
    count = "1 quote" if quotes.middle == 1 else f"{quotes.middle:,} quotes"
    verbs = "stands" if quotes.middle == 1 else "stand", "is" if quotes.middle == 1 else "are"
    return f"{count} of {origin} {verbs[0]} inside cells and {verbs[1]} read as plain text."


def _refusal(quotes: _core.Quotes, origin: str) -> str:
    why = _AGAINST[quotes.reason].format(line=f"line {quotes.odd_line or quotes.alike_line} of {origin}")
    if not quotes.ragged_line:
        return (
            f"{why}, while quotes enclose cells in most lines: correct it (close it, or double a quote inside of quotes),"
            " or say --quote none if quotes are plain text."
        )
    return (
        f"{why}, and as plain text quotes do not fit either: line {quotes.ragged_line} would have"
        f" {quotes.ragged_cells} cells, the first line has {quotes.wide}. Correct the one line (close it, or double a quote"
        " inside of quotes) or the other."
    )
