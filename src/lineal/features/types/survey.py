"""What one pass over a table learns about one column, before anything is decided."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import field
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.features.cells.cells import cell, finer, kind, no_double, numbers, packed
from lineal.features.cells.dates import CALENDARS, Calendar
from lineal.features.cells.notation import MARKERS, Notation, fitting, notations
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.tables.arrow import DOUBLE_EXACT_INTEGERS, rounded
from lineal.tables.dialect import number
from lineal.tables.tabular import RowNumbers

MAX_LEVELS = 2**22
"""Distinct texts remembered for a column, about 1 GB; beyond that it is no category."""
MAX_PROSE_LEVELS = 10_000
"""Distinct texts remembered of a column that holds sentences, not names."""
MAX_DISTINCT_NUMBERS = 1_001
"""Distinct numbers remembered for a target."""


@dataclass
class Values:
    """The numbers of a column: how many, their range, their sum in double-double, whether they are whole."""

    count: int = 0
    low: float = np.inf
    high: float = -np.inf
    sum: tuple[float, float] = (0.0, 0.0)
    whole: bool = True
    shift: float | None = None
    consecutive: bool = True
    distinct: dict[float, int] | None = None
    infinite: int | None = None

    def add(self, values: Array, rows: RowNumbers) -> int:
        """Learn from some rows, return how many have a number; NaN stands for cells that are missing or no numbers."""
        count, low, high, total, rest, whole = _core.summary(values)
        if count == 0:
            self.consecutive = False
            return 0
        self.count += count
        self.low, self.high = min(self.low, low), max(self.high, high)
        if self.infinite is None and (math.isinf(self.low) or math.isinf(self.high)):
            self.infinite = int(rows[np.isinf(values)][0])
        if self.infinite is not None:
            return count
        if math.isfinite(total) and math.isfinite(rest) and math.isfinite(self.sum[0]):
            self.sum = _rounded([*self.sum, total, rest])
        else:
            self.sum = exact_sum(values[~np.isnan(values)], self.sum)
        self.whole = self.whole and whole
        if self.consecutive:
            self.consecutive = count == len(values) and self._follows(values, rows)
        if self.distinct is not None and len(self.distinct) < MAX_DISTINCT_NUMBERS:
            for value, times in zip(*np.unique(values[~np.isnan(values)], return_counts=True), strict=True):
                self.distinct[float(value)] = self.distinct.get(float(value), 0) + int(times)
        return count

    def _follows(self, values: Array, rows: RowNumbers) -> bool:
        """Whether every value is its row number plus a constant, as in a running number."""
        shift = float(values[0]) - float(rows[0])
        if self.shift is None:
            self.shift = shift
        return shift == self.shift and bool((values - rows == shift).all())

    @property
    def far(self) -> bool:
        """Whether some are so large that a whole number need not be a double."""
        return max(-self.low, self.high) >= DOUBLE_EXACT_INTEGERS

    @property
    def mean(self) -> float:
        """The mean: the exact sum, rounded once, over the count."""
        return (self.sum[0] + self.sum[1]) / self.count


def exact_sum(values: Array, start: tuple[float, float]) -> tuple[float, float]:
    """Return start + sum(values) as a double and its rounding error, so that no order of rows matters.

    >>> exact_sum(np.array([1e16, 1.0, -1e16]), (0.0, 0.0))
    (1.0, 0.0)
    """
    high, low = values, np.zeros(0)
    rest = list(start)
    with np.errstate(over="ignore", invalid="ignore"):
        while len(high) > 64:
            half = len(high) // 2
            rest += high[2 * half :].tolist()
            a, b = high[:half], high[half : 2 * half]
            high = a + b
            back = high - a
            error = (a - (high - back)) + (b - back)  # exactly what the addition lost
            rest += low[2 * half :].tolist()
            low = error if not len(low) else error + (low[:half] + low[half : 2 * half])
    return _rounded(rest + high.tolist() + low.tolist())


def _rounded(terms: list[float]) -> tuple[float, float]:
    """Return a sum as a double and its rounding error."""
    try:
        total = math.fsum(terms)
        return total, math.fsum([*terms, -total])
    except (OverflowError, ValueError):  # beyond the largest double, or inf - inf on the way there
        return math.inf, 0.0


@dataclass
class Column:
    """Everything one pass learns about a column.

    ``bad`` are the first cells that are no numbers, with their row numbers; ``rounded`` is the first that is a whole number
    and no double. ``finer`` says that its times are given to the nanosecond, ``other`` is the type of what are no cells.
    ``limit`` is how many different texts are remembered before it is asked whether they are prose; ``full`` says that they
    are, or are too many, so that no more are remembered. ``straight`` says that some cells arrived as numbers, so that
    their text is not known. ``reading`` is how its texts are written, where that was found before; otherwise ``notations``
    and ``calendars`` are the ways of writing that all texts so far agree with, and ``judged`` counts the different texts
    that say so; ``markers`` are texts that say nothing there. ``parts`` counts years, months, weekdays and hours.
    """

    name: str
    plain: bool = False
    as_text: bool = False
    rows: int = 0
    missing: int = 0
    kinds: set[str] = field(default_factory=set)
    values: Values = field(default_factory=Values)
    levels: dict[str, int] = field(default_factory=dict)
    parsed: dict[str, float] = field(default_factory=dict)
    limit: int = MAX_PROSE_LEVELS
    full: bool = False
    no_number: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)
    rounded: tuple[int, str] | None = None
    finer: bool = False
    other: str = ""
    straight: bool = False
    reading: Notation | Calendar | None = None
    markers: frozenset[str] = MARKERS
    notations: list[Notation] | None = None
    calendars: list[Calendar] | None = None
    judged: int = 0
    last: tuple[list[str], Array] | None = field(default=None, repr=False, compare=False)
    parts: dict[str, Counter[object]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def characters(self) -> int:
        """Number of characters of all levels together."""
        return sum(map(len, self.levels))

    @property
    def prose(self) -> bool:
        """Whether most texts have several words, or are long: sentences, not names."""
        several = sum(" " in level for level in self.levels) > len(self.levels) / 2
        links = sum("://" in level[:10] and " " not in level for level in self.levels) > len(self.levels) / 2
        return several or (self.characters > 25 * len(self.levels) and not links)

    @property
    def present(self) -> int:
        """Number of cells that are not missing."""
        return self.rows - self.missing

    def add(self, array: Any, rows: RowNumbers) -> None:
        """Learn from some rows."""
        stored = kind(array)
        if stored == "category" and self.plain:
            stored = "text"  # a text file's column, packed
        self.rows += len(array)
        if stored == "other":
            self.kinds.add(stored)
            self.other = str(array.type)
            self.missing += array.null_count
        elif stored == "nothing":
            self.missing += len(array)
        elif stored == "number" and not self.as_text:
            present = self.values.add(numbers(array)[0], rows)
            self.missing += len(array) - present
            if present:
                self.kinds.add("number")
                self.straight = True
            if self.rounded is None and self.values.far and (at := rounded(array)) is not None:
                self.rounded = int(rows[at]), cell(array, at)
        else:
            self.finer = self.finer or finer(array)
            self._add_texts(array, rows, stored)

    def _add_texts(self, array: Any, rows: RowNumbers, stored: str) -> None:
        codes, levels = packed(array)
        if self.reading is not None and self.reading.missing:
            gone = np.array([*(level in self.reading.missing for level in levels), False])
            codes = np.where(gone[codes], codes.dtype.type(-1), codes)
        counts = _core.tally(codes, len(levels))
        self.missing += int(counts[0])
        if not levels:
            self.values.add(np.full(len(array), np.nan), rows)
            return
        self.kinds.add("text" if stored == "number" else stored)
        if self.last is None or self.last[0] is not levels:  # batches of a file share their levels
            self.last = (levels, np.append(self._parse(levels), np.nan))
        table = self.last[1]
        wrong = np.isnan(table)
        wrong[:-1] &= counts[1:] > 0  # a dictionary may name levels that other rows have
        wrong[-1] = False
        if np.isnan(table).all() and self.values.count == 0:
            self.values.consecutive = False  # words alone: nothing to add
        else:
            self.values.add(table[codes], rows)
        if wrong.any():
            self.no_number += int(counts[1:][wrong[:-1]].sum())
            if len(self.bad) < 3:
                for position in np.flatnonzero(wrong[codes])[:3]:
                    self.bad.append((int(rows[position]), cell(array, int(position))))
        self._look(array, rows, codes, levels)
        if self.reading is None:
            if (wrong.any() or self.notations is not None) and not (self.notations == [] and self.calendars == []):
                self._narrow([level for level, count in zip(levels, counts[1:].tolist(), strict=True) if count])
        elif isinstance(self.reading, Calendar):
            self._date(self.reading, levels, counts[1:])
        if not self.full:
            self._count(levels, counts[1:])

    def _look(self, array: Any, rows: RowNumbers, codes: npt.NDArray[Any], levels: list[str]) -> None:
        """Note the first cell that is a whole number and no double."""
        if self.rounded is not None or not self.values.far:
            return
        group = self.reading.group if isinstance(self.reading, Notation) else ""
        plain = (level.replace(group, "") if group else level for level in levels)
        odd = np.array([*map(no_double, plain, self.last[1].tolist() if self.last else ()), False])
        rows_of_odd = np.flatnonzero(odd[codes])
        if len(rows_of_odd):
            self.rounded = int(rows[rows_of_odd[0]]), cell(array, int(rows_of_odd[0]))

    def _narrow(self, levels: list[str]) -> None:
        """Keep the ways of writing that these texts agree with too; markers for no value are set aside."""
        if self.notations is None:  # the first text that is no number: those before are judged as well
            new = list(dict.fromkeys([*self.levels, *levels]))
        else:
            new = [level for level in levels if level not in self.levels]
        judged = [level for level in new if level not in self.markers]
        self.judged += len(judged)
        if self.notations is None:
            if not judged:
                return
            self.notations, self.calendars = notations(judged[0]), list(CALENDARS)
        self.notations = fitting(self.notations, new, self.markers)
        self.calendars = fitting(self.calendars or [], new, self.markers)

    def _date(self, calendar: Calendar, levels: list[str], counts: Index) -> None:
        for level, count in zip(levels, counts.tolist(), strict=True):
            moment = calendar.moment(level) if count else None
            if moment is not None:
                for part in ("year", "month", "weekday", "hour"):
                    self.parts[part][getattr(moment, part)] += count

    def _parse(self, levels: list[str]) -> Array:
        """Return the levels as numbers, NaN for those that are not; those parsed before are not parsed again."""
        parsed = self.parsed
        if self.full:
            return np.array([parsed[level] if level in parsed else self._number(level) for level in levels])
        parsed.update((level, self._number(level)) for level in levels if level not in parsed)
        return np.array([parsed[level] for level in levels])

    def _count(self, levels: list[str], counts: Index) -> None:
        counts_of = self.levels
        if list(counts_of) == levels:  # as a rule in all batches of a file but the first
            counts_of.update(zip(levels, map(add, counts_of.values(), counts.tolist()), strict=True))
            return
        for level, count in zip(levels, counts.tolist(), strict=True):
            if count:  # a dictionary may name levels that only rows left out have
                counts_of[level] = counts_of.get(level, 0) + count
        if len(counts_of) > self.limit:
            self.full = len(counts_of) > MAX_LEVELS or (self.limit < MAX_LEVELS and self.prose)
            self.limit = MAX_LEVELS

    def _number(self, level: str) -> float:
        value = number(level) if self.reading is None else self.reading.value(level)
        return math.nan if value is None else value
