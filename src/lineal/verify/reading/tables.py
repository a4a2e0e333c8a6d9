"""A plain reader of data files: CSV, TSV, JSON, SVMlight (also packed), Parquet, Feather, NumPy, idx, sheets, by block."""

from __future__ import annotations

import csv
import itertools
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from lineal.errors import InputError
from lineal.verify.reading import naming
from lineal.verify.reading.binary_files import Arrays, Arrow, is_idx
from lineal.verify.reading.cells import BLOCK_ROWS, Cells, Column, listed
from lineal.verify.reading.packed import bare
from lineal.verify.reading.quoting import quoting
from lineal.verify.reading.sheets import parted, sheet_rows
from lineal.verify.reading.text_files import TextFile

DELIMITERS: Final = (",", "\t", ";", "|", " ")


class Table(Protocol):
    """A data file that can be read as often as one likes."""

    @property
    def zero(self) -> bool:
        """Whether an absent number column is all zeros (SVMlight)."""

    @property
    def names(self) -> list[str]:
        """Its columns, as far as they are known without reading all of it."""

    def has(self, name: str) -> bool:
        """Return whether the table has a column of that name."""

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""


def read(
    path: str | os.PathLike[str],
    needed: Iterable[str],
    *,
    delimiter: str | None = None,
    quote: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
) -> Table:
    """Return a data file as a table; ``sheet`` is one of a spreadsheet.

    Where the delimiter or the header is not given, the reading under which the needed names are found is taken; whether
    quotes quote follows from the file. ``quote=""`` switches quoting off.
    """
    path, needed = Path(path), set(needed)
    if path.exists() and not path.is_file():  # a device may never end, and a pipe may have no writer
        kind = "a folder" if path.is_dir() else "no regular file"
        raise InputError(f"the data {path} is {kind}; give the file that the model was fitted on.")
    try:
        with path.open("rb") as file:
            data = file.read(6)
    except OSError as error:
        raise InputError(f"the data file {path} cannot be read: {(error.strerror or str(error)).lower()}.") from error
    if data == b"\x93NUMPY" or path.suffix.lower() == ".npz":
        return Arrays(path)
    if data[:4] == b"PAR1" or data == b"ARROW1":
        return Arrow(path, parquet=data[:4] == b"PAR1")
    if data[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        names, rows = parted(sheet_rows(path, sheet), needed, header)
        return Kept(len(rows), {name: [row[k] for row in rows] for k, name in enumerate(names)})
    if is_idx(path):
        return Arrays(path, idx=True)
    text = TextFile(path)
    suffix = Path(bare(path)).suffix.lower()
    if suffix in (".svm", ".svmlight", ".libsvm"):
        return Svmlight(text)
    if suffix in (".jsonl", ".ndjson", ".json") or suffix not in (".csv", ".tsv", ".tab", ".txt"):
        first = next((line.lstrip()[:1] for line in text.lines() if line.strip()), "")
        if first == "[":
            return from_list(text)
        if first == "{" or suffix in (".jsonl", ".ndjson", ".json"):
            return JsonLines(text, needed)
    if quote is None:
        chosen = _chosen(text, needed, delimiter, '"', header)[0]
        delimiter = chosen if delimiter is None else delimiter
        quote = quoting(text.pieces(), chosen) if text.quoted else '"'
    return Delimited(text, needed, delimiter, quote, header)


class Delimited:
    """Cells between delimiters, a row a line, perhaps with a header."""

    zero = False

    def __init__(
        self, text: TextFile, needed: set[str], delimiter: str | None, quote: str, header: bool | None
    ) -> None:
        self._text, self._quote = text, quote
        self._delimiter, self._header, self.names = _chosen(text, needed, delimiter, quote, header)
        self._places = {name: place for place, name in enumerate(self.names)}

    def has(self, name: str) -> bool:
        """Return whether there is a column of that name."""
        return name in self._places

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        wanted = {name: self._places[name] for name in needed if name in self._places}
        records, before = _records(self._text, self._delimiter, self._quote), 0
        if self._header:
            next(records, None)
        while block := list(itertools.islice(records, rows)):
            if set(map(len, block)) != {len(self.names)}:
                place = next(place for place, record in enumerate(block) if len(record) != len(self.names))
                raise InputError(
                    f"row {before + place + 1} of {self._text.path} has {len(block[place])} cells, the first line has"
                    f" {len(self.names)}."
                )
            columns = list(zip(*block, strict=True))
            yield Cells(len(block), {name: columns[at] for name, at in wanted.items()}, share=self._text.share)
            before += len(block)


def _chosen(
    text: TextFile, needed: set[str], delimiter: str | None, quote: str, header: bool | None
) -> tuple[str, bool, list[str]]:
    """Return the delimiter, whether the first record is a header, and the names of the columns."""
    choices = DELIMITERS if delimiter is None else (delimiter,)
    firsts = {choice: _first(text, choice, quote) for choice in choices}
    named = header is not False
    for choice, first in firsts.items() if needed else ():
        for headed in (True, False) if header is None else (header,):
            names = _names(first, headed)
            if needed.issubset(names):
                return choice, headed, names
    several = next((choice for choice in choices if len(firsts[choice]) > 1), choices[0])
    best = max(choices, key=lambda choice: len(firsts[choice])) if needed else several
    return best, named, _names(firsts[best], named)


def _names(first: list[str], header: bool) -> list[str]:
    return naming.named(first) if header else [f"c{number}" for number in range(1, len(first) + 1)]


def _first(text: TextFile, delimiter: str, quote: str) -> list[str]:
    """Return the first record; its line as it stands where quoted cells do not end at a delimiter."""
    try:
        return next(_records(text, delimiter, quote), [])
    except InputError:
        return next(_records(text, delimiter, ""), [])


def _records(text: TextFile, delimiter: str, quote: str) -> Iterator[list[str]]:
    """Yield the records of a delimited text; blank lines are not records."""
    limit = csv.field_size_limit(2**31 - 1)  # the default refuses cells longer than 128 kB
    try:
        lines = _with_cells(text.lines(), delimiter)
        if quote:
            reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True)
        else:
            reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        yield from (record for record in reader if record)
    except csv.Error as error:
        raise InputError(f"the data is not delimited text: {error}.") from error
    finally:
        csv.field_size_limit(limit)


def _with_cells(lines: Iterator[str], delimiter: str) -> Iterator[str]:
    r"""Yield the lines but those at the end that hold delimiters and blanks alone: they are no rows.

    >>> list(_with_cells(iter(["a,b\n", ",\n", "1,2\n", " , \n", ","]), ","))
    ['a,b\n', ',\n', '1,2\n']
    """
    held: list[str] = []
    for line in lines:
        held.append(line)
        if line.strip(f"{delimiter} \t\r\n"):
            yield from held
            held = []


class JsonLines:
    """A JSON object a line; keys may differ from line to line."""

    zero = False

    def __init__(self, text: TextFile, needed: set[str]) -> None:
        self._text = text
        keys: dict[str, None] = {}
        for record in self._records():
            keys |= dict.fromkeys(record)
            if needed and needed <= set(keys):
                break
        self.names = list(keys)

    def has(self, name: str) -> bool:
        """Return whether any line has such a key."""
        return name in self.names

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        wanted, records = [name for name in needed if name in self.names], self._records()
        while block := list(itertools.islice(records, rows)):
            columns: dict[str, Column] = {name: [record.get(name) for record in block] for name in wanted}
            yield Cells(len(block), columns, share=self._text.share)

    def _records(self) -> Iterator[dict[str, object]]:
        for number, line in enumerate(self._text.lines("\n"), 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise InputError(f"line {number} of {self._text.path} is not JSON: {error}.") from error
            if not isinstance(record, dict):
                raise InputError(f"line {number} of {self._text.path} is not a JSON object.")
            yield record


def from_list(text: TextFile) -> Kept:
    """Return a file that holds one JSON list of objects, a row each."""
    try:
        records = json.loads("".join(text.pieces()))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{text.path} is not JSON: {error}.") from error
    for place, record in enumerate(records, 1):
        if not isinstance(record, dict):
            raise InputError(f"element {place} of the list in {text.path} is not a JSON object.")
    keys = dict.fromkeys(key for record in records for key in record)
    return Kept(len(records), {key: [record.get(key) for record in records] for key in keys})


class Svmlight:
    """``label index:value ... # comment`` lines: target ``y``, columns named by their index, absent ones zero."""

    zero = True

    def __init__(self, text: TextFile) -> None:
        self._text, self.names = text, ["y"]

    def has(self, name: str) -> bool:
        """Return whether it is the label, or an index."""
        return name == "y" or name.isdecimal()

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield the needed columns, ``rows`` rows at a time."""
        wanted, records = set(needed), self._records()
        while block := list(itertools.islice(records, rows)):
            columns: dict[str, Column] = {"y": [label for label, _ in block]}
            features: dict[str, Any] = {}
            for row, (_, entries) in enumerate(block):
                for name, value in entries:
                    if name in wanted:
                        features.setdefault(name, np.zeros(len(block)))[row] = value
            yield Cells(len(block), columns | features, zero=True, share=self._text.share)

    def _records(self) -> Iterator[tuple[str, list[tuple[str, float]]]]:
        for number, line in enumerate(self._text.lines("\n"), 1):
            fields = line.split("#", 1)[0].split()
            if not fields:
                continue
            try:
                pairs = [item.split(":") for item in fields[1:]]
                entries = [(str(int(index)), float(value)) for index, value in pairs if index != "qid"]
            except ValueError as error:
                raise InputError(f"line {number} of {self._text.path} is not SVMlight: {error}.") from error
            yield fields[0], entries


class Seen:
    """A table seen through something: as it is, but for what an heir changes."""

    def __init__(self, table: Table) -> None:
        self._table, self.zero, self.names = table, table.zero, table.names

    def has(self, name: str) -> bool:
        """Return whether there is such a column."""
        return self._table.has(name)


@dataclass
class Kept:
    """A table in memory, which is its only block."""

    rows: int
    columns: dict[str, Column]
    zero: bool = False

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.columns)

    def has(self, name: str) -> bool:
        """Return whether there is a column of that name."""
        return name in self.columns

    def blocks(self, needed: Iterable[str], rows: int = BLOCK_ROWS) -> Iterator[Cells]:
        """Yield all rows."""
        yield Cells(self.rows, {name: self.columns[name] for name in needed if name in self.columns})


def kept(table: Table, needed: Iterable[str]) -> Kept:
    """Return the needed columns of a table, all of their cells in memory."""
    wanted = list(needed)
    columns: dict[str, list[object]] = {name: [] for name in wanted}
    rows = 0
    for block in table.blocks(wanted):
        rows += block.rows
        for name in wanted:
            columns[name] += listed(block.column(name))
    return Kept(rows, {**columns}, table.zero)
