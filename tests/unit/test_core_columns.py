"""Loops over columns of a table, against plain numpy, fractions and hashlib."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineal import _core
from lineal.designs import Categorical, Dense, HStack, Ones
from lineal.tables.plain import MAX_SHARED_TEXTS, Lexicons, plain_batch

finite = st.floats(-1e12, 1e12) | st.integers(-(10**6), 10**6).map(float)
number = finite | st.just(math.nan)


@settings(max_examples=200, deadline=None)
@given(st.lists(number, max_size=40))
def test_a_summary_is_what_numpy_and_fractions_say(values):
    array = np.array(values, dtype=float)
    there = array[~np.isnan(array)]
    count, low, high, total, rest, whole = _core.summary(array)
    assert count == len(there)
    assert whole == bool(np.all(there == np.floor(there)))
    if count:
        assert (low, high) == (there.min(), there.max())
    exact = sum((Fraction(float(value)) for value in there), Fraction(0))
    size = sum((abs(Fraction(float(value))) for value in there), Fraction(0))
    assert abs(Fraction(total) + Fraction(rest) - exact) <= size / 2**98


def test_a_summary_of_infinities_keeps_the_range():
    count, low, high, _, _, _ = _core.summary(np.array([1.0, math.inf, -math.inf, math.nan]))
    assert (count, low, high) == (3, -math.inf, math.inf)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32])
@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_codes_are_counted_and_replaced(kind, rows):
    rng = np.random.default_rng(rows)
    codes = rng.integers(-1, 100, rows).astype(kind)
    assert _core.tally(codes, 100).tolist() == np.bincount(codes + 1, minlength=101).tolist()
    table = rng.integers(-1, 90, 101).astype(np.int32)
    for size, type_ in ((1, np.int8), (2, np.int16), (4, np.int32)):
        found = _core.recode(codes, table, size)
        assert found.dtype == type_
        assert found.tolist() == table[codes + 1].tolist()
    out = np.empty(rows, np.int32)
    assert _core.recode(codes, table, out=out) is out
    assert out.tolist() == table[codes + 1].tolist()


@pytest.mark.parametrize("codes", [[-2], [3], [0, 1, 2, 100]])
def test_codes_out_of_range_are_refused(codes):
    array = np.array(codes, np.int32)
    with pytest.raises(ValueError, match="between -1 and 2"):
        _core.tally(array, 3)
    with pytest.raises(ValueError, match="between -1 and 2"):
        _core.recode(array, np.zeros(4, np.int32))
    with pytest.raises(ValueError, match="between -1 and 2"):
        _core.hash_columns([(_core.Sha256(), array, np.zeros(5, np.int64), bytes(16))])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.data())
def test_records_are_hashed_one_after_the_other(cells, data):
    codes = data.draw(st.lists(st.integers(-1, len(cells) - 2), max_size=30)) * data.draw(st.sampled_from([1, 50]))
    ends = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    found = _core.Sha256()
    found.update(b"begun")
    _core.hash_columns([(found, np.array(codes, np.int16), ends, b"".join(cells) + bytes(16))])
    assert found.digest() == hashlib.sha256(b"begun" + b"".join(cells[code + 1] for code in codes)).digest()


@pytest.mark.parametrize("size", [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 1000, 10**6])
def test_digests_are_those_of_hashlib(size):
    data = np.random.default_rng(size).bytes(size)
    for cut in {0, size // 3, size}:
        found = _core.Sha256()
        found.update(data[:cut])
        assert found.digest() == hashlib.sha256(data[:cut]).digest()
        found.update(memoryview(data)[cut:])
        assert found.digest() == hashlib.sha256(data).digest()


@pytest.mark.parametrize("rows", [0, 3, 511, 512, 5000])
def test_numbers_are_hashed_with_one_nan(rows):
    values = np.random.default_rng(rows).normal(size=rows)
    values[2::700] = -math.nan
    found, other = _core.Sha256(), _core.Sha256()
    _core.hash_columns([(found, values), (other, -values)])
    for digest, column in ((found, values), (other, -values)):
        plain = np.where(np.isnan(column), math.nan, column).astype("<f8")
        assert digest.digest() == hashlib.sha256(plain.tobytes()).digest()


def test_a_refused_column_leaves_all_digests_as_they_were():
    found, codes = _core.Sha256(), np.zeros(1, np.int8)
    with pytest.raises(ValueError, match="leave 16 bytes"):
        _core.hash_columns([(found, np.ones(3)), (found, codes, np.array([0, 1, 2]), b"ab")])
    assert found.digest() == hashlib.sha256().digest()


def test_columns_side_by_side():
    rng = np.random.default_rng(1)
    columns = [rng.normal(size=300) for _ in range(3)]
    out = np.full((300, 5), -1.0)
    columns[1][7], columns[2][299] = math.nan, -math.inf
    assert _core.interleave(columns, [3, 0, 4], out) == [1, 2]
    assert np.array_equal(out[:, [3, 0, 4]], np.column_stack(columns), equal_nan=True)
    assert (out[:, [1, 2]] == -1.0).all()
    with pytest.raises(ValueError, match="outside"):
        _core.interleave(columns[:1], [5], out)
    with pytest.raises(ValueError, match="every row"):
        _core.interleave([np.zeros(2)], [0], out)


@pytest.mark.parametrize("first", ["numbers", "nothing"])
@pytest.mark.parametrize("sizes", [[3], [1, 1], [2, 5, 1], [4, 1, 3, 2, 6], [2, 3, 1, 4, 2, 5, 1, 3, 2, 4]])
def test_several_categories_are_their_dense_columns(first, sizes):
    rng = np.random.default_rng(len(sizes))
    rows = 700
    parts = [Categorical(rng.integers(-1, size, rows).astype(np.int32), size) for size in sizes]
    whole = HStack([Ones(rows), Dense(rng.normal(size=(rows, 3))), *parts]) if first == "numbers" else HStack(parts)
    dense = whole.dense()
    coef, values = rng.integers(-9, 9, (dense.shape[1], 1)) / 4.0, rng.integers(-9, 9, (rows, 1)) / 8.0
    assert np.allclose(whole.times(coef), dense @ coef, rtol=1e-14, atol=1e-13)
    assert np.allclose(whole.transpose_times(values), dense.T @ values, rtol=1e-14, atol=1e-12)


def test_batches_of_a_file_share_a_dictionary_in_the_order_of_its_rows():
    pieces = [b"v,1\nu,2\n", b"w,3\nu,4\n", b"u,5\n"]
    lexicons = Lexicons()
    batches = [lexicons.unified(plain_batch(piece, ",", ["a", "b"], {"b"}, {"a", "b"})) for piece in pieces]
    assert [batch.column(0).to_pylist() for batch in batches] == [["v", "u"], ["w", "u"], ["u"]]
    assert batches[-1].column(0).dictionary.to_pylist() == ["v", "u", "w"]
    assert {str(batch.column(0).type.index_type) for batch in batches} == {"int8"}


def test_too_many_different_texts_are_not_shared():
    rows = [f"t{k}" for k in range(MAX_SHARED_TEXTS + 5)]
    lexicons = Lexicons()
    for piece in (rows[: MAX_SHARED_TEXTS - 2], rows[MAX_SHARED_TEXTS - 2 :], rows[:3]):
        batch = plain_batch("".join(f"{row}\n" for row in piece).encode(), ",", ["a"], (), {"a"})
        assert lexicons.unified(batch).column(0).to_pylist() == piece
