"""Whether the quotes of a text enclose cells or are text like any other: the rule of docs/data.md, written once more."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lineal.errors import InputError

QUOTED_CELL_MAX_LINES = 20
"""A longer quoted cell needs further evidence that quotes enclose cells: a stray quote may have swallowed rows."""
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
    """All lines; records whose quotes enclose cells, that are not well-formed, whose lines are rows by themselves."""

    total: int = 0
    sound: int = 0
    odd: int = 0
    alike: int = 0
    odd_line: int = 0
    ragged: bool = False
    spanning: int = 0
    inner: int = 0
    longest: int = 1
    longest_line: int = 0
    doubtful: int = 1
    doubtful_line: int = 0


def quoting(content: Iterable[str], delimiter: str, quote: str = '"') -> str:
    r"""Return the quote character if quotes enclose cells, an empty string if they are plain text.

    The content is a text, or its pieces. Where something speaks for and something against each, or a quoted cell has too many
    lines, an InputError names it.

    >>> quoting('a,b\n"x, y",1\n', ","), quoting('a\tb\n"\t1\n"\t2\n', "\t")
    ('"', '')
    """
    count = _counted(content, _Patterns(delimiter, quote))
    if count.odd + count.alike and not count.ragged and 2 * count.sound <= count.total:
        return ""
    if count.odd or (count.alike and not count.ragged):
        raise InputError(
            f"the quotes of line {count.odd_line} of the data are neither around cells nor plain text; say --quote."
        )
    rare = 2 * count.spanning < count.total - count.inner
    if count.doubtful > QUOTED_CELL_MAX_LINES or (count.longest > QUOTED_CELL_MAX_LINES and rare):
        line = count.doubtful_line if count.doubtful > QUOTED_CELL_MAX_LINES else count.longest_line
        raise InputError(
            f"the row in line {line} of the data has a quoted cell of more than {QUOTED_CELL_MAX_LINES} lines; say --quote."
        )
    return quote


class _Window:
    """The part of a text that is being looked at, from ``at`` on; ``lines`` have ended before."""

    def __init__(self, content: Iterable[str]) -> None:
        self._pieces = iter([content] if isinstance(content, str) else content)
        self.text, self.at, self.lines, self.last, self.ended, self._count = "", 0, 0, "", False, 1

    def more(self) -> None:
        """Take further pieces: twice as many each time in a row, so that a long record is not gone through too often."""
        pieces = list(itertools.islice(self._pieces, self._count))
        self.ended = len(pieces) < self._count
        self.last = "".join(pieces)[-1:] or self.last
        self.text, self.at, self._count = self.text[self.at :] + "".join(pieces), 0, 2 * self._count

    def go(self, to: int) -> None:
        """Go on, up to a line's beginning."""
        self.lines += len(_ENDS.findall(self.text, self.at, to))
        self.at, self._count = to, 1

    def match(self, pattern: re.Pattern[str]) -> str:
        """Return what a pattern finds here, all of it, and with it whatever line end follows."""
        while True:
            match = pattern.match(self.text, self.at)
            text = match.group() if match else ""
            if self.ended or self.at + len(text) + 2 <= len(self.text):
                return text
            self.more()

    def find(self, quote: str) -> bool:
        """Go to the beginning of the next line with a quote; to the end, and return False, if no line has one."""
        while (hit := self.text.find(quote, self.at)) < 0:
            if self.ended:
                return False
            self.go(max(self.at, self.text.rfind("\n") + 1, self.text.rfind("\r", 0, -1) + 1))
            self.more()
        self.go(max(self.at, self.text.rfind("\n", self.at, hit) + 1, self.text.rfind("\r", self.at, hit) + 1))
        return True


def _counted(content: Iterable[str], patterns: _Patterns) -> _Count:
    count, window, delimiter = _Count(), _Window(content), patterns.delimiter
    window.go(len(window.match(re.compile(r"[\r\n]*+"))))
    head = window.match(patterns.record)
    width = head.count(delimiter) - sum(part.count(delimiter) for part in patterns.enclosed.findall(head))
    wide = window.match(re.compile(r"[^\r\n]*+")).count(delimiter)
    while window.find(patterns.quote):
        text = window.match(patterns.record)
        _judge(count, text, window.lines + 1, patterns, width, wide)
        end = window.at + len(text)
        window.go(min(end + (2 if window.text[end : end + 2] == "\r\n" else 1), len(window.text)))
    window.go(len(window.text))
    count.total = window.lines + (window.last not in ("\n", "\r"))
    return count


def _judge(count: _Count, text: str, line: int, patterns: _Patterns, width: int, wide: int) -> None:
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
        count.doubtful, count.doubtful_line = len(lines), line
    if max(spans) + 1 > count.longest:
        count.longest, count.longest_line = max(spans) + 1, line
    if not patterns.faultless.fullmatch(text) or (holds and text.count(delimiter) - inner != width):
        count.odd_line = count.odd_line if count.odd else line
        count.odd += 1
    elif rows:
        count.odd_line = count.odd_line if count.odd + count.alike else line
        count.alike += 1
    else:
        count.sound += 1
