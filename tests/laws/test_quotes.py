"""Rows never vanish: whatever quotes are in a file, each of its rows is read, or the line in the way is named."""

from __future__ import annotations

import csv
import gzip
import io
import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lineal.tables.delimited
import lineal.tables.file
import lineal.tables.quoting
from lineal import _core
from lineal.errors import InputError
from lineal.tables.table import as_table
from lineal.verify.reading import quoting as twin
from lineal.verify.reading.tables import kept
from lineal.verify.reading.tables import read as checker

LAW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def small(monkeypatch):
    """Read in pieces of a few bytes, look at a few bytes first, and take files for long ones."""

    def to(size: int, sample: int, long: int) -> None:
        monkeypatch.setattr(lineal.tables.file, "CHUNK_BYTES", size)
        monkeypatch.setattr(lineal.tables.quoting, "CHUNK_BYTES", size)
        monkeypatch.setattr(lineal.tables.file, "SAMPLE_BYTES", sample)
        monkeypatch.setattr(lineal.tables.file, "LONG_FILE_BYTES", long)
        monkeypatch.setattr(lineal.tables.delimited, "BATCH_ROWS", 3)

    return to


def both(text: str, delimiter: str, encoding: str, packed: bool, names: list[str], quote: str | None = None):
    """Return the rows and notes of our reader, or None and its refusal; the checker must agree on either."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        data = text.encode(encoding)
        path.write_bytes(gzip.compress(data) if packed else data)
        try:
            found = kept(checker(path, names, delimiter=delimiter, quote=quote, header=True), names)
            checked = [list(row) for row in zip(*(found.columns[name] for name in names), strict=True)]
        except InputError:
            checked = None
        try:
            table = as_table(path, delimiter=delimiter, quote=quote, header=True)
            packed_cells = table.select(texts=table.names)
            rows = [
                list(row) for batch in packed_cells.batches() for row in zip(*batch.to_pydict().values(), strict=True)
            ]
        except InputError as error:
            assert checked is None
            return None, str(error)
        assert rows == checked
        return rows, " ".join(table.notes)


def drawn(seed: int, choices: list[list[str]], width: int, rows: int) -> list[list[str]]:
    """Return a table of cells out of one of the choices."""
    chance = random.Random(seed)
    cells = chance.choice(choices)
    return [[chance.choice(cells) for _ in range(width)] for _ in range(rows)]


written = {
    "delimiter": st.sampled_from(",;\t|"),
    "encoding": st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    "packed": st.booleans(),
    "sizes": st.tuples(
        st.sampled_from([3, 7, 20, 90, 2**20]), st.sampled_from([30, 200, 2**20]), st.sampled_from([1, 2**24])
    ),
    "width": st.integers(2, 4),
    "rows": st.integers(1, 30),
    "seed": st.integers(0, 2**32),
}
TOKENS = [
    ["a", "b1", '"'],
    ["a", "7", '"', '""', '"a"', 'a"b', 'x "', ' "'],
    [*["x"] * 30, '"', '"x', 'x"', '5" pipe', '""'],
    ['"x', 'x"', "'", 'é"'],
]


@LAW
@given(end=st.sampled_from(["\n", "\r\n", "\r"]), **written)
def test_where_quotes_are_text_every_line_is_a_row(small, end, delimiter, encoding, packed, sizes, width, rows, seed):
    table = drawn(seed, TOKENS, width, rows)
    names = [f"n{j}" for j in range(width)]
    text = "".join(delimiter.join(row) + end for row in [names, *table])
    small(*sizes)
    read, said = both(text, delimiter, encoding, packed, names)
    if read is None:
        assert re.search(r"line \d+ of t.csv", said)
        assert "--quote none" in said
    else:
        quoted = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row][1:]
        assert len(read) == len(table)
        assert read in (table, quoted)
        assert said or quoted == table or not any('"' in cell.strip('"') for row in table for cell in row)
    told, _ = both(text, delimiter, encoding, packed, names, quote="")
    assert told == table


CELLS = [
    ["a", "b1", 'q"q', "l\nl", "d{0}d", "", "5"],
    ["a", '\n\n"x"', '"', '""', '{0}"{0}'],
    [*["a"] * 30, "l\nl\nl"],
    [*["a"] * 15, '"', "a{0}"],
]


@LAW
@given(end=st.sampled_from(["\n", "\r\n"]), all_=st.booleans(), **written)
def test_where_quotes_quote_the_csv_module_agrees(
    small, end, all_, delimiter, encoding, packed, sizes, width, rows, seed
):
    table = [[cell.format(delimiter) for cell in row] for row in drawn(seed, CELLS, width, rows)]
    names = [f"n{j}" for j in range(width)]
    out = io.StringIO()
    style = csv.QUOTE_ALL if all_ else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=style).writerows([names, *table])
    small(*sizes)
    spanning = sum("\n" in cell for row in table for cell in row)
    for quote in (None, '"'):
        read, said = both(out.getvalue(), delimiter, encoding, packed, names, quote)
        if read is None or "plain text" in said:  # lines of a cell that could be rows: said, never silent
            assert quote is None
            assert spanning
            continue
        while table and not any(cell.strip() for cell in table[-1]):
            table.pop()  # empty rows at the end are left out
        assert read == table
        assert (f"{spanning} quoted cell" in said) == (spanning > 0)


@LAW
@given(text=st.text(st.sampled_from('ab,"\n\r '), max_size=60), size=st.integers(1, 20), long=st.booleans())
def test_the_checker_counts_the_same_quotes(text, size, long):
    """Two programs that share nothing: a compiled walk over lines in pieces, and patterns over the whole text."""
    text = text * 7 if long else text
    found = _core.Quotes('"', ",")
    lines = text.encode().splitlines(keepends=True)
    for at in range(0, len(lines), size):
        found.feed(b"".join(lines[at : at + size]))
    found.finish()
    count = twin._counted(text, twin._Patterns(",", '"'))
    assert found.lines == len(lines)
    assert (found.sound, found.odd, found.alike) == (count.sound, count.odd, count.alike)
    assert (found.ragged_line > 0) == count.ragged
    if not found.odd:
        assert (found.spanning, found.inner) == (count.spanning, count.inner)
        assert (max(found.longest, 1), max(found.doubtful, 1)) == (count.longest, count.doubtful)
