"""How a text table is written: delimiter, quoting, header; detected from its first rows or declared."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter

from lineal import _core
from lineal.errors import InputError
from lineal.ground.records import dataclass
from lineal.tables.encoding import UTF8_MARK
from lineal.tables.naming import Naming
from lineal.tables.quoting import Quoting, literal

SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""How the files of spreadsheets begin: an archive, or the compound file of old ones."""
DELIMITERS = (",", "\t", ";", "|", " ")
CLASS_MAX_CELLS = 20
"""A column with at most this many different cells in the first rows is read as text if it is the target."""
SAMPLE_CHARACTERS = 1 << 18
"""Characters that are looked at to guess delimiter, quoting, header and types."""
RARE_SHARE = 0.01
"""A cell of the first row that this share of the cells below repeats, or fewer, may be the name of their column."""
MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"))
"""Text that stands for a missing cell, after blanks at both ends are stripped."""

_Candidate = tuple[str, "str | None", list[list[str]]]
_SPOKEN = {"\t": "tab", " ": "space"}


@dataclass(frozen=True)
class Dialect:
    """A delimited file's conventions; ``start`` is where the first data row begins, in bytes."""

    delimiter: str
    quote: str | None
    header: bool
    naming: Naming
    start: int
    numeric: frozenset[str]
    few: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.naming.names

    @property
    def spoken(self) -> str:
        """The delimiter as a word for sentences."""
        return spoken(self.delimiter)


def spoken(delimiter: str) -> str:
    """Return a delimiter as people say it.

    >>> spoken(chr(9)), spoken(";")
    ('tab', "';'")
    """
    return _SPOKEN.get(delimiter, repr(delimiter))


def number(cell: str) -> float | None:
    """Return a text cell as a number, or None; infinity is a number here, to be refused with a better reason.

    >>> number("1e3"), number("abc"), number("NAN"), number("-inf")
    (1000.0, None, None, -inf)
    """
    try:
        value = float(cell)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def detect(
    data: bytes,
    whole: bool,
    origin: str,
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
) -> Dialect:
    """Return how a delimited file is written, from its first bytes; what is given is not guessed.

    ``quote=""`` says that quote characters are ordinary text. ``whole`` says that there is no more data.
    """
    _check_options(delimiter, quote)
    skip = len(UTF8_MARK) if data.startswith(UTF8_MARK) else 0
    skip += len(data[skip:]) - len(data[skip:].lstrip(b"\r\n"))
    text = _decode(data[skip:], whole, origin)
    if not text.strip():
        raise InputError(f"{origin} is empty; a table needs a header and at least one row.")
    look = _look(text)
    candidates = _candidates(look, whole and len(look) == len(text), delimiter, quote, origin)
    chosen, quoting, rows = max(candidates, key=_score)
    if delimiter is not None and len(rows[0]) == 1:
        better = [
            other for other in DELIMITERS if other != delimiter and other in text.splitlines()[0] and other != " "
        ]
        if better:
            raise InputError(
                f"{origin} has no {spoken(delimiter)} in its first line, so the delimiter does not fit;"
                f" it looks like {spoken(better[0])}."
            )
    check_first(rows, origin)
    named = has_header(rows) if header is None else header
    width = Counter(map(len, rows)).most_common(1)[0][0] if not named else len(rows[0])
    start = skip + (record_end(data[skip:], quoting, chosen) if named else 0)
    if named and whole and not data[start:].strip(b"\r\n"):  # before millions of words are named
        raise InputError(f"{origin} has a header but no rows.")
    naming = Naming.of(rows[0], origin) if named else Naming(tuple(f"c{j + 1}" for j in range(width)))
    numeric, few = _kinds(rows[1:] if named else rows, naming.names)
    return Dialect(chosen, quoting, named, naming, start, numeric, few)


def _check_options(delimiter: str | None, quote: str | None) -> None:
    if delimiter is not None and (len(delimiter.encode()) != 1 or delimiter in "\r\n\"'"):
        raise InputError(
            f"the delimiter {delimiter!r} cannot be used; give one character, such as ',' or ';', or a tab."
        )
    if quote not in (None, "", '"', "'"):
        raise InputError(
            f"the quote character {quote!r} cannot be used; give '\"' or \"'\", or none (in Python '') for none."
        )


def _decode(data: bytes, whole: bool, origin: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{origin} is written in UTF-16; save it as UTF-8.")
    if data.startswith(SPREADSHEETS):
        raise InputError(f"{origin} is a spreadsheet or another archive, not text; save its sheet as CSV.")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError(f"{origin} holds a NUL byte in line {line}: it is binary or damaged, not a text table.")
    if not whole:
        data = data[: data.rfind(b"\n") + 1] or data
    try:
        return data.decode()
    except UnicodeDecodeError as problem:
        if not whole and problem.start > len(data) - 4:
            return data[: problem.start].decode()
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(f"line {line} of {origin} is not UTF-8 text; save the file as UTF-8.") from problem


def _look(text: str) -> str:
    """Return the beginning of a text that decides how it is written: whole lines, eight at least where there are."""
    if len(text) <= SAMPLE_CHARACTERS:
        return text
    at = 0
    for _ in range(8):
        at = text.find("\n", at) + 1 or len(text)
    return text[: max(at, text.rfind("\n", 0, SAMPLE_CHARACTERS) + 1)]


def _candidates(text: str, whole: bool, delimiter: str | None, quote: str | None, origin: str) -> list[_Candidate]:
    lines = text.splitlines()[:50]
    inside = [d for d in DELIMITERS if d in lines[0]]
    usual = [
        d for d in DELIMITERS[:-1] if d not in inside and sum(d in line for line in lines) > 0.9 * (len(lines) - 1)
    ]
    delimiters = [delimiter] if delimiter else inside + usual or [","]
    quotes = ['"', None] if '"' in text else ['"']
    if quote is not None:
        quotes = [quote or None]
    candidates = []
    for d in delimiters:
        for q in quotes:
            if q and len(quotes) > 1 and _literal(text, whole, d, q):
                continue
            rows = _rows(text, d, q)
            if not whole and len(rows) > 1:
                del rows[-1]  # perhaps cut in the middle
            if rows:
                candidates.append((d, q, rows))
                break  # quotes that enclose cells do quote
    if not candidates:
        raise InputError(f"{origin} has no rows.")
    return candidates


def _rows(text: str, delimiter: str, quote: str | None) -> list[list[str]]:
    options = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options):
            if row:
                rows.append(row)  # noqa: PERF401  (what was read before an error counts)
    except csv.Error:  # a cell longer than the csv module's limit: the rows before it must do
        pass
    return rows


def _score(candidate: _Candidate) -> tuple[float, bool, int]:
    """Prefer rows of one width above one, then quoting, then the usual order of delimiters."""
    delimiter, quote, rows = candidate
    width, count = Counter(map(len, rows)).most_common(1)[0]
    order = -DELIMITERS.index(delimiter) if delimiter in DELIMITERS else 0
    return (count / len(rows) if width > 1 else 0.0, quote is not None, order)


def _literal(text: str, whole: bool, delimiter: str, quote: str) -> bool:
    """Whether the quotes of the first lines are plain text; the last of these lines may be cut."""
    quotes = _core.Quotes(quote, delimiter)
    data = text.encode()
    quotes.feed(data if whole else data[: data.rfind(b"\n") + 1])
    if whole:
        quotes.finish()
    return literal(quotes)


def check_first(rows: list[list[str]], origin: str) -> None:
    """Raise an InputError if the first line is a title or a comment above the table."""
    width, count = Counter(len(row) for row in rows[1:]).most_common(1)[0] if len(rows) > 2 else (1, 0)
    filled = [cell for cell in rows[0] if cell.strip()]  # (a spreadsheet writes `Sales of May,,` or `sep=,`)
    if len(filled) == 1 and (len(rows[0]) < width or width > 2) and count > 0.5 * len(rows):
        raise InputError(
            f"line 1 of {origin} is {filled[0][:40]!r}, one cell, where most lines have {width};"
            " delete what stands above the header."
        )


def has_header(rows: list[list[str]]) -> bool:
    """Return whether the first row names the columns.

    A name may be a rare cell of its own column (`word` is a word); a cell of a table without a header comes again.
    """
    first, rest = [cell.strip() for cell in rows[0]], [row for row in rows[1:1000] if row != rows[0]]
    plain = True  # no cell of the first row is a number or missing
    repeated = False
    for j, name in enumerate(first):
        below = [cell for row in rest if j < len(row) and (cell := row[j].strip()) not in MISSING]
        if number(name) is not None or name in MISSING:
            plain = plain and not name
            continue
        if below and all(number(cell) is not None for cell in below):
            return True
        repeated = repeated or below.count(name) > RARE_SHARE * len(below)
    return plain and not repeated


def _kinds(rows: list[list[str]], names: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the columns whose first cells are all numbers, and those with few different cells."""
    numeric, few = set(), set()
    for j, name in enumerate(names):
        cells = {row[j] for row in rows[:1000] if j < len(row)}
        if len(cells) <= CLASS_MAX_CELLS:
            few.add(name)
        distinct = {cell.strip() for cell in cells} - MISSING
        if distinct and _all_numbers(distinct):
            numeric.add(name)
    return frozenset(numeric), frozenset(few)


def _all_numbers(cells: set[str]) -> bool:
    try:
        return not any(map(math.isnan, map(float, cells)))
    except ValueError:
        return False


def quoted(quote: str, delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of one quoted cell; group 1 is empty if its end is missing."""
    q, d = re.escape(quote.encode()), re.escape(delimiter.encode())
    return re.compile(
        rb"(?:(?<=["
        + d
        + rb"\r\n])|\A)"
        + q
        + rb"[^"
        + q
        + rb"]*+(?:"
        + q
        + q
        + rb"[^"
        + q
        + rb"]*+)*+("
        + q
        + rb"|\Z)"
    )


def record_end(data: bytes, quote: str | None, delimiter: str) -> int:
    """Return where the first record ends, its line end included."""
    inside = quoted(quote, delimiter).finditer(data) if quote else iter(())
    span = (0, 0)  # the quoted cell looked at last; further ones are sought only where a quote stands
    at = 0
    while at < len(data):
        ends = [end for end in (data.find(b"\n", at), data.find(b"\r", at)) if end >= 0]
        if not ends:
            return len(data)
        end = min(ends)
        while quote and data.find(quote.encode(), span[1], end) >= 0 and (match := next(inside, None)) is not None:
            span = match.span()
        if not span[0] < end < span[1]:
            return end + 2 if data[end : end + 2] == b"\r\n" else end + 1
        at = span[1]
    return len(data)


def records_end(data: bytes | bytearray, final: bool, quoting: Quoting, delimiter: str) -> int:
    """Return where the last whole record ends: after a line end outside of quotes."""
    end = len(data) if final else data.rfind(b"\n") + 1
    if quoting.quote is None or not quoting.spans or not end:
        return end
    if not quoting.middle and data.count(quoting.quote.encode(), 0, end) % 2 == 0:
        return end
    # A cell is open there, or quotes also stand inside plain text. Read cell by cell.
    inside = [match.span() for match in quoted(quoting.quote, delimiter).finditer(data)]
    while end and inside:
        while inside and inside[-1][0] >= end:
            inside.pop()
        if not inside or inside[-1][1] < end:
            break
        end = data.rfind(b"\n", 0, inside[-1][0]) + 1
    return end
