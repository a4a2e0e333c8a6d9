"""What a cell says: missing, a number, or text. The rules of docs/model-file.md, on whole columns."""

from __future__ import annotations

import math
from collections.abc import Collection
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pa_compute

from lineal import _core
from lineal.ground.arrays import Array, Index
from lineal.tables.arrow import DOUBLE_EXACT_INTEGERS, from_bytes, strings, to_numpy, valid
from lineal.tables.dialect import MISSING, number
from lineal.tables.marked import Read, settled

Codes = npt.NDArray[np.int32]
Positions = Index

_types = pa.types
_MISSING = from_bytes([word.encode() for word in sorted(MISSING)], pa.large_string())
_NONE = np.empty(0, dtype=np.intp)
_EMPTY = frozenset(("",))

SEEN, LONG = 64, 4096
"""Dictionaries, and texts of each, that are remembered as lists: the batches of a file share them."""
_seen: dict[tuple[int, int, int, bool], tuple[Any, Codes | None, list[str]]] = {}


def kind(array: Any) -> str:
    """Return what a column holds by its type: number, boolean, text, category, date, nothing or other."""
    stored = array.type
    if isinstance(stored, Read):
        return stored.kind
    if _types.is_dictionary(stored):
        return "category" if kind(array.dictionary) != "other" else "other"
    if _types.is_integer(stored) or _types.is_floating(stored) or _types.is_decimal(stored):
        return "number"
    if _types.is_boolean(stored):
        return "boolean"
    if _types.is_string(stored) or _types.is_large_string(stored) or stored == pa.string_view():
        return "text"
    if _types.is_date(stored) or _types.is_timestamp(stored):
        return "date"
    return "nothing" if _types.is_null(stored) else "other"


def text(value: Any, marks: Collection[str] = MISSING) -> str | None:
    """Return one cell as text, or None if it is missing: null, NaN, or one of the ``marks``.

    >>> text("  NA "), text(True), text(3.0), text(0.1)
    (None, 'true', '3', '0.1')
    """
    if value is None:
        return None
    if isinstance(value, str):
        stripped = value.strip()
        return None if stripped in marks else stripped
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return str(int(value))  # in every digit, also beyond 2^53
    if isinstance(value, float | Decimal | np.floating):
        return None if math.isnan(value) else _float_text(float(value))
    return str(value)


def _float_text(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def texts(array: Any) -> tuple[Codes, list[str]]:
    """Return a column as text: the distinct texts, and for each row which one it is, -1 where missing.

    >>> codes, levels = texts(pa.array(["b", " a", "NA", "b"]))
    >>> codes.tolist(), levels
    ([0, 1, -1, 0], ['b', 'a'])
    """
    codes, levels = packed(array)
    return codes.astype(np.int32, copy=False), levels


def packed(array: Any) -> tuple[npt.NDArray[Any], list[str]]:
    """Return what ``texts`` returns, with codes of the type they are stored in: int8, int16 or int32; a list to be left as it is.

    >>> codes, levels = packed(pa.array(["b", "a", "b"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())))
    >>> codes.dtype, codes.tolist(), levels
    (dtype('int8'), [0, 1, 0], ['b', 'a'])
    """
    read = settled(array)
    array = array.storage if read else array
    if not _types.is_dictionary(array.type):
        if finer(array):
            array = pa.array([None if moment is None else str(moment) for moment in moments(array)], pa.string())
        elif _types.is_timestamp(array.type):
            array = array.cast(pa.timestamp("us", array.type.tz), safe=False)
        array = array.dictionary_encode()
    codes = to_numpy(array.indices)
    if codes.dtype not in (np.int8, np.int16, np.int32):
        codes = codes.astype(np.int32)
    present = valid(array.indices)
    if present is not None:
        codes = np.where(present, codes, codes.dtype.type(-1))
    table, levels = _known(array.dictionary, read)
    return (codes if table is None else _core.recode(codes, table)), levels


def _known(dictionary: Any, read: bool) -> tuple[Codes | None, list[str]]:
    """Return what a dictionary says, remembered from the last time its very buffers came by."""
    buffers = dictionary.buffers() if dictionary.type == pa.string() and len(dictionary) <= LONG else ()
    if not buffers or buffers[0] is not None or buffers[1] is None or buffers[2] is None:
        return _distinct(dictionary, read)
    place = buffers[1].address, buffers[2].address, len(dictionary), read
    place_of = _seen.get(place) if dictionary.offset == 0 else None
    if place_of is None:
        place_of = (
            buffers,
            *_distinct(dictionary, read),
        )  # the buffers with it, so that nothing else gets their addresses
        if dictionary.offset:
            return place_of[1], place_of[2]
        if len(_seen) >= SEEN:
            _seen.clear()
        _seen[place] = place_of
    return place_of[1], place_of[2]


def _distinct(dictionary: Any, read: bool) -> tuple[Codes | None, list[str]]:
    """Return the distinct texts of a dictionary, and which one each entry is, a null first; None if they are the entries."""
    marks = _EMPTY if read else MISSING
    plain = strings(dictionary)
    if plain is not None and list(map(str.strip, plain)) == plain:
        different = set(plain)
        if len(different) == len(plain) and marks.isdisjoint(different):
            return None, plain
    codes_of: dict[str, int] = {}
    table = np.empty(len(dictionary) + 1, dtype=np.int32)
    table[0] = -1  # code -1, a null, stays -1
    for position, value in enumerate(dictionary.to_pylist(), 1):
        cell = text(value, marks)
        table[position] = -1 if cell is None else codes_of.setdefault(cell, len(codes_of))
    return table, list(codes_of)


def numbers(array: Any) -> tuple[Array, Positions]:
    """Return a column as numbers, NaN where missing, and the positions of cells that are no numbers.

    >>> values, bad = numbers(pa.array(["1", "NA", "x", " 2 "]))
    >>> values.tolist(), bad.tolist()
    ([1.0, nan, nan, 2.0], [2])
    """
    stored = kind(array)
    if stored == "nothing":
        return np.full(len(array), np.nan), _NONE
    if stored in ("number", "boolean"):
        return _typed(array), _NONE
    if stored == "text" and not settled(array):
        values = _parsed(array)
        if values is not None:
            return values, _NONE
    codes, levels = texts(array)
    parsed = [number(level) for level in levels]
    table = np.array([*(np.nan if value is None else value for value in parsed), np.nan])
    wrong = np.array([*(value is None for value in parsed), False])
    return table[codes], np.flatnonzero(wrong[codes])


def _typed(array: Any) -> Array:
    if array.type == pa.float64():
        return _doubles(array)
    if _types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    return _doubles(array.cast(pa.float64(), safe=False))


def moments(array: Any) -> list[Any]:
    """Return dates and times as Python has them, or as texts where some are finer than a microsecond.

    >>> [str(one) for one in moments(pa.array([1_000, 2_000], pa.timestamp("ns")))]
    ['1970-01-01 00:00:00.000001', '1970-01-01 00:00:00.000002']
    >>> moments(pa.array([1, 2], pa.timestamp("ns")))
    ['1970-01-01 00:00:00.000000001', '1970-01-01 00:00:00.000000002']
    """
    if not _types.is_timestamp(array.type):
        return list(array.to_pylist())
    stamps = list(array.cast(pa.timestamp("us", array.type.tz), safe=False).to_pylist())
    if finer(array):
        for k, more in enumerate((to_numpy(array.cast(pa.int64())) % 1000).tolist()):
            if more and stamps[k] is not None:
                whole = stamps[k].isoformat(" ", "microseconds")
                stamps[k] = f"{whole[:26]}{more:03d}{whole[26:]}"
    return stamps


def finer(array: Any) -> bool:
    """Whether times are given to the nanosecond, and some need it."""
    if not _types.is_timestamp(array.type) or array.type.unit != "ns":
        return False
    more, present = to_numpy(array.cast(pa.int64())) % 1000 != 0, valid(array)
    return bool((more if present is None else more & present).any())


def no_double(text: str, value: float) -> bool:
    """Whether a text is a whole number, in digits alone, of which ``value`` is only the nearest double.

    >>> no_double("9007199254740993", 2.0**53), no_double("9007199254740992", 2.0**53), no_double("1e23", 1e23)
    (True, False, False)
    """
    if not math.isfinite(value) or abs(value) < DOUBLE_EXACT_INTEGERS:
        return False
    digits = text.lstrip("+-")
    return digits.isascii() and digits.isdecimal() and int(digits) != int(abs(value))


def _doubles(array: Any) -> Array:
    present = valid(array)
    values = to_numpy(array)
    return values if present is None else np.where(present, values, np.nan)


def _parsed(array: Any) -> Array | None:
    """Return a text column parsed by Arrow, or None if a cell needs a closer look."""
    missing = pa_compute.is_in(array, value_set=_MISSING.cast(array.type))
    try:
        parsed = pa_compute.if_else(missing, pa.nulls(len(array), array.type), array).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    values = _doubles(parsed)
    return values if int(np.isnan(values).sum()) == parsed.null_count else None


def cell(array: Any, position: int) -> str:
    """Return one cell as it is written, for sentences."""
    return str(array[position].as_py()).strip()
