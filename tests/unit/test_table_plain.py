"""The compiled reader of delimited text: what Arrow and Python's float say of the same bytes, or nothing at all."""

from __future__ import annotations

import io
import struct
from collections import deque

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal.tables.dialect import MISSING
from lineal.tables.file import buffers, last_line
from lineal.tables.plain import plain_batch
from lineal.tables.table import as_table

NAMES = ["a", "b", "c"]


def arrow(piece, delimiter=","):
    """Return what Arrow reads, as the table of a file would ask for it."""
    packed = pa.dictionary(pa.int32(), pa.string())
    table = pa_csv.read_csv(
        pa.BufferReader(piece),
        pa_csv.ReadOptions(use_threads=False, block_size=len(piece) + 1, column_names=NAMES),
        pa_csv.ParseOptions(delimiter=delimiter, quote_char=False),
        pa_csv.ConvertOptions(
            column_types={"a": pa.float64(), "b": packed, "c": packed},
            null_values=list(MISSING),
            strings_can_be_null=False,
            include_columns=["a", "c"],
        ),
    )
    return table.combine_chunks().to_batches()[0]


def plain(piece, delimiter=","):
    return plain_batch(piece, delimiter, NAMES, {"a"}, {"a", "c"})


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.4f}"),
    st.integers(-(10**22), 10**22).map(str),
    st.sampled_from(
        ["0", "-0", "-0.0", "5.", ".5", "-.25", "1e5", "1E-3", "00012", "9007199254740993", "12345678", "1234567.8"]
    ),
    st.sampled_from(sorted(MISSING)),
)
odd = st.sampled_from(
    ["x", "+1", "-", ".", "1.2.3", "1e", "1,5"[:1] + "_5", "0x10", " 7", "7 ", "inf", "1-2", "-.", "--1", "1e999"]
)
texts = st.text(st.characters(codec="utf-8", exclude_characters=',;"\r\n\0'), max_size=20)
rows = st.tuples(st.one_of(numbers, numbers, numbers, odd), texts, texts)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.lists(rows, min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
    st.sampled_from(",;"),
)
def test_it_reads_what_arrow_reads(table, line, last, delimiter):
    piece = line.join(delimiter.join(row) for row in table).encode() + (line.encode() if last else b"")
    found = plain(piece, delimiter)
    if found is not None:
        assert found.equals(arrow(piece, delimiter))
        assert found.num_rows == len(table)


@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=12))
def test_numbers_are_rounded_as_python_rounds_them(cells):
    piece = "".join(f"{cell},u,v\n" for cell in cells).encode()
    found = plain(piece)
    assert found is not None, "plainly written numbers are never given back"
    for cell, value in zip(cells, found.column(0).to_pylist(), strict=True):
        if cell in MISSING:
            assert value is None
        else:
            assert struct.pack("<d", value) == struct.pack("<d", float(cell))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(numbers, min_size=1, max_size=40),
    st.integers(1, 11),
    st.integers(1, 40),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_columns_of_numbers_over_many_rows_are_rounded_as_python_rounds_them(cells, width, times, line, last):
    """Rows are read by runs of up to 256, columns of a run eight cells at a time: more rows than both, any width."""
    many = cells * times
    many += ["7"] * (-len(many) % width)
    rows = [many[k : k + width] for k in range(0, len(many), width)]
    rows = [row if any(row) else ["1"] * width for row in rows]  # an empty line is no row
    names = [f"n{j}" for j in range(width)]
    piece = (line.join(",".join(row) for row in rows) + (line if last else "")).encode()
    found = plain_batch(piece, ",", names, names, names)
    assert found.num_rows == len(rows)
    for j, name in enumerate(names):
        wanted = [None if row[j] in MISSING else struct.pack("<d", float(row[j])) for row in rows]
        assert [None if x is None else struct.pack("<d", x) for x in found.column(name).to_pylist()] == wanted


@pytest.mark.parametrize("at", [0, 1, 7, 8, 255, 256, 300, 998, 999])
@pytest.mark.parametrize(
    "cell", ["x", "+1", "-", ".", "1.2.3", "-.", "1e", "0x1", " 7", "1_5", "12345678x", "--1", "1-"]
)
def test_what_is_no_number_is_seen_in_any_row(cell, at):
    rows = ["1.5,u,v"] * 1000
    rows[at] = f"{cell},u,v"
    assert plain("\n".join(rows).encode()) is None


@pytest.mark.parametrize(
    "piece",
    [
        b"1,2\n",
        b"1,2,3,4\n",
        b"1,2,3\n4,5\n",
        b"1,2,3\r4,5,6\n",
        b"1,2,3\r",
        b"x,2,3\n",
        b"1 ,2,3\n",
        b"1e400,2,3\n",
        b"1,2,\xff\n",
    ],
)
def test_what_is_unusual_is_given_back(piece):
    assert plain(piece) is None


def test_a_character_cut_in_two_by_cells_is_given_back():
    assert plain(b"1,u,\xc3\n2,u,\xa9\n") is None  # one after the other they would be a character
    assert plain("1,u,é\n2,u,a\n".encode()).column(1).to_pylist() == ["é", "a"]


def test_many_different_texts_keep_their_order():
    words = [f"{'w' * (k % 30)}{k}" for k in range(5000)]
    found = plain("".join(f"1,u,{word}\n" for word in [*words, *words]).encode()).column(1)
    assert found.dictionary.to_pylist() == words
    assert np.array_equal(np.asarray(found.indices), np.r_[0:5000, 0:5000])


def test_a_file_is_the_same_by_either_way(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [f"{x:.3f},{'NA' if k % 7 == 0 else k},L{k % 9}" for k, x in enumerate(rng.normal(size=3000))]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,k,c", *lines]))
    chosen = as_table(path).select(numbers=["x", "k"], texts=["c"])
    ours = [batch for _, batch in chosen.numbered()]
    monkeypatch.setattr("lineal.tables.delimited.plain_batch", lambda *_, **__: None)
    theirs = [batch for _, batch in chosen.numbered()]
    assert all(a.equals(b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("shift", range(0, 40, 3))
def test_rows_across_the_windows_of_the_reader(line_end, last, shift):
    """Pieces of several windows of 16 KB; the first row's length moves where the windows' edges fall in a row."""
    rows = [f"{'1' * shift}1.5,b,c{shift}"] + [f"{k / 8},{k % 7},text {k % 13}" for k in range(4000)]
    piece = (line_end.join(rows) + (line_end if last else "")).encode()
    found = plain(piece)
    assert found is not None
    assert found.equals(arrow(piece))


@pytest.mark.parametrize("size", [16_000, 16_384, 40_000])
def test_rows_longer_than_a_window(size):
    piece = f"1,2,x\n3,{'y' * size},{'z' * size}\n\n5,6,w\n".encode()
    assert plain(piece).to_pylist() == [{"a": 1.0, "c": "x"}, {"a": 3.0, "c": "z" * size}, {"a": 5.0, "c": "w"}]


@pytest.mark.parametrize(
    "piece", [b"1,2,3\r4,5,6\n", b"1,2,3\n4,5\n", b"1,2,3\n4,5,6,7\n", b"1,2,3\n4,5,6\r", b"1,2\n"]
)
def test_unusual_rows_are_given_back(piece):
    for before in (b"", b"1,2,3\n" * 5000):
        assert plain(before + piece) is None


def test_negative_zero_and_signs():
    found = plain(b"-0,,x\n-0.0,,x\n-1.25,,x\n-12345678,,x\n-123456789.5,,x\n")
    values = found.column(0).to_pylist()
    assert values == [0.0, 0.0, -1.25, -12345678.0, -123456789.5]
    assert [struct.pack("<d", value) for value in values[:2]] == [struct.pack("<d", -0.0)] * 2


@pytest.mark.parametrize("at", [0, 31, 32, 33, 8159, 8160, 9000, 19_998])
@pytest.mark.parametrize("byte", [b'"', b"\0"])
def test_a_quote_or_a_nul_byte_anywhere_is_seen(byte, at):
    piece = b"1,u,v\n" * 3334
    odd = piece[:at] + byte + piece[at + 1 :]
    assert plain_batch(piece, ",", NAMES, {"a"}, {"a", "c"}, '"').num_rows == 3334
    assert plain_batch(odd, ",", NAMES, {"a"}, {"a", "c"}, '"') is None
    other = plain_batch(piece[:2] + b'"' + piece[3:], ",", NAMES, {"a"}, {"a", "b"}, None)
    assert other.column(1)[0].as_py() == '"'


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=40),
    st.integers(1, 200),
    st.integers(0, 3),
)
def test_pieces_in_buffers_used_again_are_the_file(lines, size, held):
    """Pieces grow up to their size, end where lines end, and buffers come back only after their piece was read."""
    whole = b"\n".join(lines)
    spare: deque[bytearray] = deque()
    waiting, found = deque(), []
    for piece in buffers(io.BytesIO(whole), last_line, spare, size):
        waiting.append(piece)
        if len(waiting) > held:
            done = waiting.popleft()
            found.append(bytes(done))
            del done[: len(done) // 3]  # as a reader that skips a header does
            spare.append(done)
    found += map(bytes, waiting)
    assert b"".join(found) == whole
    assert all(piece.endswith(b"\n") for piece in found[:-1])


def test_blank_lines_before_a_header_and_between_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("lineal.tables.file.CHUNK_BYTES", 40)
    path = tmp_path / "t.csv"
    path.write_text("\n\r\n\nx,c\n" + "\n\n1.5,u\n\r\n\n2,v\n" * 50)
    batches = [batch for _, batch in as_table(path).select(numbers=["x"], texts=["c"]).numbered()]
    assert [x for batch in batches for x in batch.column(0).to_pylist()] == [1.5, 2.0] * 50
    assert [c for batch in batches for c in batch.column(1).to_pylist()] == ["u", "v"] * 50
