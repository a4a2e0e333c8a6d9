"""The targets of training rows as numbers, and what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lineal.verify.arithmetic import Array
from lineal.verify.claims.ground import Ground
from lineal.verify.reading import cells
from lineal.verify.reading.fingerprint import class_of
from lineal.verify.report import Report


class Targets:
    """The targets of all rows as numbers, and what is wrong with them."""

    def __init__(self, ground: Ground) -> None:
        self._classes, self._labels = ground.classes, ground.labels
        self.bad = {"all": "", "seen": ""}
        """The first cell that names no class, or is not a number: of all rows, and of those of positive weight."""
        self.classes_met: dict[str, set[int]] = {"all": set(), "seen": set()}
        self.least = math.inf

    def read(self, columns: Sequence[cells.Column], seen: npt.NDArray[np.bool_]) -> Array:
        """Return the targets of some rows, one column each; ``seen`` have positive weight."""
        if self._labels:
            marks = np.column_stack([cells.numbers(column) for column in columns])
            if np.any(marks > 1.0):
                self.bad["all"] = self.bad["all"] or "a cell is neither yes nor no"
            return marks
        if self._classes is None:
            return np.column_stack([self._numbers(column) for column in columns])
        try:
            codes = np.array(cells.each(columns[0], self._code), dtype=np.intp)
        except ValueError as error:
            self.bad["all"] = self.bad["all"] or str(error)
            codes = np.array(cells.each(columns[0], self._try), dtype=np.intp)
            if np.any(codes[seen] < 0):
                self.bad["seen"] = self.bad["seen"] or str(error)
        self.classes_met["all"] |= set(codes.tolist())
        self.classes_met["seen"] |= set(codes[seen].tolist())
        return codes.astype(np.float64)[:, None]

    def _code(self, cell: object) -> int:
        return class_of(cell, self._classes or ())

    def _try(self, cell: object) -> int:
        try:
            return self._code(cell)
        except ValueError:
            return -1

    def _numbers(self, column: cells.Column) -> Array:
        try:
            numbers = finite(column)
        except ValueError as error:
            self.bad["all"] = self.bad["all"] or str(error)
            return np.zeros(len(column))
        self.least = min(self.least, float(np.min(numbers, initial=math.inf)))
        return numbers

    def check_numbers(self, report: Report, least: float = -math.inf) -> None:
        """Check that every target is a number, not below ``least``."""
        bad = self.bad["all"] or (f"{self.least!r} is below {least!r}" if self.least < least else "")
        report.check(f"every target is a {'number of at least 0' if least == 0.0 else 'finite number'}", not bad, bad)

    def check_labels(self, report: Report) -> None:
        """Check that every label of every row is yes, no or missing."""
        bad = self.bad["all"]
        report.check("of every label each row says yes, no or nothing", not bad, bad)

    def check_classes(self, report: Report, of: str = "all") -> None:
        """Check that every row is of a class, and that each class occurs."""
        classes = self._classes or ()
        unused, bad = sorted(set(range(len(classes))) - self.classes_met[of]), self.bad[of]
        if not bad and unused:
            bad = f"no training row is of class {classes[unused[0]]!r}"
        report.check("the classes are those of the training rows", not bad, bad or f"{len(classes)} classes")


def finite(column: cells.Column) -> Array:
    """Return numbers of which none may be missing."""
    numbers = cells.numbers(column)
    if np.any(np.isnan(numbers)):
        cell = cells.listed(column)[int(np.argmax(np.isnan(numbers)))]
        raise ValueError(f"{None if isinstance(column, np.ndarray) else cell!r} is not a number")
    return numbers
