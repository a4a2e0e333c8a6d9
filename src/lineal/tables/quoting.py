"""Whether the quotes of a text file enclose cells or are text like any other: one answer for the whole file."""

from __future__ import annotations

from collections import deque
from typing import Final

from lineal import _core
from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.tables.file import CHUNK_BYTES, File, buffers, last_line

LINES: Final = 20
"""Lines of a quoted cell that need no further evidence that quotes quote."""

_BOM: Final = b"\xef\xbb\xbf"
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
    found = _core.Quotes(quote, delimiter)
    spare: deque[bytearray] = deque()
    with file.open() as stream:
        for number, piece in enumerate(buffers(stream, last_line, spare, CHUNK_BYTES)):
            found.feed(piece.removeprefix(_BOM) if number == 0 else piece)
            spare.append(piece)
    found.finish()
    return found


def literal(found: _core.Quotes) -> bool:
    """Whether quotes are plain text: something speaks against them, nothing against reading every line as it stands.

    Against them speak records that are not well-formed, and those of several lines that are all rows by themselves. Where
    quotes enclose cells in most lines of a file, they are its habit, and what is odd is a mistake to be named.

    >>> found = _core.Quotes('"', ",")
    >>> found.feed(b'a,b' + bytes([10]) + b'",1' + bytes([10]) + b'",2' + bytes([10]))
    >>> literal(found)
    True
    """
    return found.odd + found.alike > 0 and found.ragged_line == 0 and 2 * found.sound <= found.lines


def decided(found: _core.Quotes, quote: str, told: bool, origin: str) -> Quoting:
    """Return what the quotes of a file are, or raise an InputError that names the line where they are neither."""
    if told:
        if found.odd and found.reason in (1, 2):
            raise InputError(_refusal(found, origin))
    elif literal(found):
        first = min(line for line in (found.odd_line, found.alike_line) if line)
        where = f"the first in line {first:,}; --quote '\"' if they quote"
        return Quoting(
            None, (f"{origin} has quotes that do not enclose whole cells; they are read as plain text ({where}).",)
        )
    elif found.odd or (found.alike and not found.ragged_line):
        raise InputError(_refusal(found, origin))
    elif (line := _endless(found)) > 0:
        raise InputError(
            f"the row that begins in line {line} of {origin} has a quoted cell of more than {LINES} lines: say --quote '{quote}'"
            " if the text of a cell is that long, --quote none if quotes are plain text."
        )
    if not found.sound + found.alike and not told:
        return Quoting(None, (_middle(found, origin),) if found.middle else ())
    notes = []
    if found.spanning:
        cells = "1 quoted cell" if found.spanning == 1 else f"{found.spanning:,} quoted cells"
        notes.append(
            f"{cells} of {origin} span{'s' if found.spanning == 1 else ''} several lines,"
            f" up to {found.longest:,} (from line {found.longest_line:,} on)."
        )
    if found.middle:
        notes.append(_middle(found, origin))
    return Quoting(quote, tuple(notes), found.spanning > 0, found.middle > 0)


def _endless(found: _core.Quotes) -> int:
    """Return the line of a quoted cell that is too long to be believed, or 0.

    It is believed where at least half of the rows have cells that span lines and its own lines do not look like rows.
    """
    if found.doubtful > LINES:
        return found.doubtful_line
    rows = found.lines - found.inner
    return found.longest_line if found.longest > LINES and 2 * found.spanning < rows else 0


def _middle(found: _core.Quotes, origin: str) -> str:
    count = "1 quote" if found.middle == 1 else f"{found.middle:,} quotes"
    verbs = "stands" if found.middle == 1 else "stand", "is" if found.middle == 1 else "are"
    return f"{count} of {origin} {verbs[0]} inside cells and {verbs[1]} read as plain text."


def _refusal(found: _core.Quotes, origin: str) -> str:
    why = _AGAINST[found.reason].format(line=f"line {found.odd_line or found.alike_line} of {origin}")
    if not found.ragged_line:
        return (
            f"{why}, while quotes enclose cells in most lines: correct it (close it, or double a quote inside of quotes),"
            " or say --quote none if quotes are plain text."
        )
    return (
        f"{why}, and as plain text quotes do not fit either: line {found.ragged_line} would have"
        f" {found.ragged_cells} cells, the first line has {found.wide}. Correct the one line (close it, or double a quote"
        " inside of quotes) or the other."
    )
