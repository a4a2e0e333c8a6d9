"""What was checked, line by line; the first line that fails ends the check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypedDict

from lineal.errors import VerificationError


class Line(TypedDict):
    """One checked claim: a sentence, whether it holds, and the figures behind it."""

    check: str
    passed: bool
    detail: str


class Refused(VerificationError):  # noqa: N818  (it is a result, not a mistake)
    """A claim that the data does not confirm, with the report up to and including it."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


@dataclass
class Report:
    """The checked lines of one model file, in order.

    >>> report = Report("m.lineal", "d.csv")
    >>> report.check("two is two", 2 == 2, "2 and 2")
    >>> report.passed, report.lines[0]["check"]
    (True, 'two is two')
    >>> report.check("two is three", 2 == 3, "2 and 3")
    Traceback (most recent call last):
    lineal.verify.report.Refused: not confirmed: two is three (2 and 3).
    """

    model: str
    data: str
    lines: list[Line] = field(default_factory=list)

    def check(self, sentence: str, passed: bool, detail: str = "") -> None:
        """Add a line; raise Refused if it did not pass."""
        self.lines.append({"check": sentence, "passed": bool(passed), "detail": detail})
        if not passed:
            raise Refused(f"not confirmed: {sentence}{f' ({detail})' if detail else ''}.", self)

    @property
    def passed(self) -> bool:
        """Whether every line holds."""
        return all(line["passed"] for line in self.lines)

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON data."""
        return {"passed": self.passed, "model": self.model, "data": self.data, "lines": list(self.lines)}

    def __iter__(self) -> Iterator[Line]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)
