"""Whether the quotes of a text enclose cells or are text like any other: the rule of docs/data.md, written once more."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lineal.errors import InputError

LINES = 20
"""Lines of a quoted cell that need no further evidence that quotes quote."""
_ENDS = re.compile(r"\r\n|\r|\n")


@dataclass
class _Patterns:
    """A record from its first character to its line end, a record without fault, and its quoted cells."""

    delimiter: str
    quote: str
    record: re.Pattern[str] = field(init=False)
    faultless: re.Pattern[str] = field(init=False)
    enclosed: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        q, d = re.escape(self.quote), re.escape(self.delimiter)
        opened, plain = rf"{q}(?:[^{q}]++|{q}{q})*+", rf"(?!{q})[^{d}\r\n]*+"
        loose, strict = rf"(?:{opened}(?:{q}[^{d}\r\n]*+|\Z)|{plain})", rf"(?:{opened}{q}|{plain})"
        self.record = re.compile(rf"{loose}(?:{d}{loose})*+")
        self.faultless = re.compile(rf"{strict}(?:{d}{strict})*+")
        self.enclosed = re.compile(rf"(?:\A|(?<={d})){opened}(?:{q}|\Z)")


@dataclass
class _Count:
    """Records whose quotes enclose cells, those that are not well-formed, those whose lines are rows by themselves."""

    sound: int = 0
    odd: int = 0
    alike: int = 0
    odd_at: int = 0
    ragged: bool = False
    spanning: int = 0
    inner: int = 0
    longest: int = 1
    longest_at: int = 0
    doubtful: int = 1
    doubtful_at: int = 0


def quoting(content: str, delimiter: str, quote: str = '"') -> str:
    r"""Return the quote character if quotes enclose cells, an empty string if they are plain text.

    Where something speaks for and something against each, or a quoted cell has too many lines, an InputError names it.

    >>> quoting('a,b\n"x, y",1\n', ","), quoting('a\tb\n"\t1\n"\t2\n', "\t")
    ('"', '')
    """
    if quote not in content:
        return quote
    found = _counted(content, _Patterns(delimiter, quote))
    total = len(_ENDS.findall(content)) + (not content.endswith(("\n", "\r")))
    if found.odd + found.alike and not found.ragged and 2 * found.sound <= total:
        return ""
    if found.odd or (found.alike and not found.ragged):
        line = len(_ENDS.findall(content, 0, found.odd_at)) + 1
        raise InputError(f"the quotes of line {line} of the data are neither around cells nor plain text; say --quote.")
    rare = 2 * found.spanning < total - found.inner
    if found.doubtful > LINES or (found.longest > LINES and rare):
        at = found.doubtful_at if found.doubtful > LINES else found.longest_at
        line = len(_ENDS.findall(content, 0, at)) + 1
        raise InputError(
            f"the row in line {line} of the data has a quoted cell of more than {LINES} lines; say --quote."
        )
    return quote


def _counted(content: str, patterns: _Patterns) -> _Count:
    count = _Count()
    quote, delimiter = patterns.quote, patterns.delimiter
    start = len(content) - len(content.lstrip("\r\n"))
    first = patterns.record.match(content, start)
    head = first.group() if first else ""
    width = head.count(delimiter) - sum(part.count(delimiter) for part in patterns.enclosed.findall(head))
    end = _ENDS.search(content, start)
    wide = content.count(delimiter, start, end.start() if end else len(content))
    at = start
    while (hit := content.find(quote, at)) >= 0:
        at = max(at, content.rfind("\n", at, hit) + 1, content.rfind("\r", at, hit) + 1)
        match = patterns.record.match(content, at)
        text = match.group() if match else ""
        _judge(count, text, at, patterns, width, wide)
        at += len(text)
        at += 2 if content[at : at + 2] == "\r\n" else 1
    return count


def _judge(count: _Count, text: str, at: int, patterns: _Patterns, width: int, wide: int) -> None:
    """Count one record: ``width`` and ``wide`` are the delimiters of the first record and of the first line."""
    delimiter = patterns.delimiter
    lines = _ENDS.split(text)
    count.ragged |= any(patterns.quote in line and line.count(delimiter) != wide for line in lines)
    parts = patterns.enclosed.findall(text)
    if not parts:
        return
    inner = sum(part.count(delimiter) for part in parts)
    holds = inner > 0 or len(lines) > 1
    even = [line.count(delimiter) == wide for line in lines if line]
    rows = len(lines) > 1 and wide > 0 and all(even)
    spans = [len(_ENDS.findall(part)) for part in parts]
    count.spanning += sum(span > 0 for span in spans)
    count.inner += sum(spans)
    if 2 * sum(even) >= len(even) and len(lines) > count.doubtful:
        count.doubtful, count.doubtful_at = len(lines), at
    if max(spans) + 1 > count.longest:
        count.longest, count.longest_at = max(spans) + 1, at
    if not patterns.faultless.fullmatch(text) or (holds and text.count(delimiter) - inner != width):
        count.odd_at = count.odd_at if count.odd else at
        count.odd += 1
    elif rows:
        count.odd_at = count.odd_at if count.odd + count.alike else at
        count.alike += 1
    else:
        count.sound += 1
