"""Odd inputs, by name: what people hand in by mistake, and what they hand in that is unusual but plain.

Every entry is a function of nothing, so that each use has its own copy. ``X`` has 24 rows and 3 columns, ``Y`` two classes
that are numbers too; both suit every estimator.
"""

from __future__ import annotations

import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

N = 24
RNG = np.random.default_rng(16)
X = RNG.normal(size=(N, 3)).round(3)
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")
Made = dict[str, Callable[[], Any]]


def one(value: Any, kind: Any = object, base: Any = None) -> Any:
    """Return the matrix with one odd cell."""
    found = (X if base is None else base).astype(kind)
    found[5, 1] = value
    return found


def cell(value: Any, kind: Any = object) -> Any:
    """Return the target with one odd cell."""
    found = Y.astype(kind)
    found[5] = value
    return found


class Refusing:
    """Something that says it is an array, and is none."""

    shape = (N, 3)
    ndim = 2

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("no array here")


FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
DATES = np.datetime64("2024-01-01") + np.arange(N * 3).reshape(N, 3)

XS: Made = {
    "None": lambda: None,
    "a number": lambda: 3,
    "a float": lambda: 3.5,
    "a numpy number": lambda: np.float64(2.0),
    "a text": lambda: "no such file.csv",
    "bytes": lambda: b"abc",
    "a dict": dict,
    "a set": lambda: {1.0, 2.0},
    "a generator": lambda: (row for row in X.tolist()),
    "a function": lambda: print,
    "a class": lambda: dict,
    "no array": Refusing,
    "an empty list": list,
    "empty rows": lambda: [[]],
    "many empty rows": lambda: [[]] * N,
    "ragged": lambda: [[1.0, 2.0], [3.0]] * (N // 2),
    "ragged array": lambda: np.array([[1.0, 2.0], [3.0]] * (N // 2), dtype=object),
    "a list": X.tolist,
    "a tuple": lambda: tuple(map(tuple, X.tolist())),
    "a list of arrays": lambda: list(X),
    "1-D": lambda: X[:, 0],
    "3-D": lambda: X[:, :, None],
    "0-D": lambda: np.array(1.0),
    "no rows": lambda: np.empty((0, 3)),
    "no columns": lambda: np.empty((N, 0)),
    "nothing": lambda: np.empty((0, 0)),
    "one row": lambda: X[:1],
    "another height": lambda: X[:-1],
    "one column": lambda: X[:, :1],
    "int32": lambda: (10 * X).astype(np.int32),
    "bool": lambda: X > 0,
    "float16": lambda: X.astype(np.float16),
    "float32": lambda: X.astype(np.float32),
    "swapped bytes": lambda: X.astype(">f8"),
    "swapped float32": lambda: X.astype(">f4"),
    "long doubles": lambda: X.astype(np.longdouble),
    "long doubles that are no doubles": lambda: X.astype(np.longdouble) + np.longdouble(2) ** -60,
    "complex": lambda: X + 1j,
    "complex without imaginary part": lambda: X.astype(complex),
    "one complex object": lambda: one(1j),
    "dates": lambda: DATES.astype("datetime64[ns]"),
    "durations": lambda: DATES - DATES[0, 0],
    "one date": lambda: one(pd.Timestamp("2024-01-01")),
    "NaT": lambda: one(pd.NaT),
    "beyond 2^53": lambda: one(2**53 + 1, np.int64, 10 * X),
    "exactly 2^60": lambda: one(2**60, np.int64, 10 * X),
    "uint64": lambda: one(2**64 - 1, np.uint64, np.abs(10 * X)),
    "10**400": lambda: one(10**400),
    "10**400 in a list": lambda: [[10**400, 1.0]] * N,
    "10**30": lambda: one(10**30),
    "a missing object": lambda: one(None),
    "NA": lambda: one(pd.NA),
    "a dictionary in a cell": lambda: one({"foo": "bar"}),
    "a list in a cell": lambda: one([1.0]),
    "an object in a cell": lambda: one(object()),
    "objects that are doubles": lambda: X.astype(object),
    "Fraction": lambda: one(Fraction(1, 4)),
    "Fraction(1, 3)": lambda: one(Fraction(1, 3)),
    "Decimal": lambda: one(Decimal("0.25")),
    "Decimal('0.1')": lambda: one(Decimal("0.1")),
    "Decimal NaN": lambda: one(Decimal("NaN")),
    "digits": lambda: (10 * X).astype(int).astype(str),
    "digits of decimals": lambda: np.full((N, 2), "0.1"),
    "digits as bytes": lambda: (10 * X).astype(int).astype("S8"),
    "digits as objects": lambda: one("12"),
    "words": lambda: np.array([["a", "b"]] * N),
    "a word": lambda: one("word"),
    "strange digits": lambda: one("١٢"),
    "a masked array": lambda: np.ma.masked_greater(X, 1.0),
    "a mask without effect": lambda: np.ma.masked_greater(X, 100.0),
    "records": lambda: np.zeros(N, dtype=[("a", "f8"), ("b", "f8")]),
    "a column of records": lambda: np.zeros((N, 1), dtype=[("a", "f8")]),
    "void": lambda: np.zeros((N, 2), dtype="V8"),
    "numpy.matrix": lambda: X.view(np.matrix),
    "a memory view": lambda: memoryview(np.ascontiguousarray(X)),
    "array.array": lambda: [array.array("d", row) for row in X.tolist()],
    "NaN": lambda: one(np.nan, float),
    "infinity": lambda: one(np.inf, float),
    "1e300": lambda: X * 1e300,
    "1e308 in one cell": lambda: one(1e308, float),
    "times 1e-308": lambda: X * 1e-308,
    "subnormal": lambda: np.where(X > 0, 5e-324, 0.0),
    "constant": lambda: np.ones((N, 2)),
    "zeros": lambda: np.zeros((N, 3)),
    "the same column twice": lambda: X[:, [0, 0]],
    "read-only": lambda: np.frombuffer(X.tobytes()).reshape(N, 3),
    "negative strides": lambda: X[::-1, ::-1],
    "pandas": FRAME.copy,
    "pandas, numbers as names": lambda: FRAME.set_axis([0, 1, 2], axis=1),
    "pandas, mixed names": lambda: FRAME.set_axis(["a", 1, None], axis=1),
    "pandas, two of one name": lambda: FRAME.set_axis(["a", "a", "b"], axis=1),
    "pandas, two of one name as text": lambda: FRAME.set_axis(["1", 1, "b"], axis=1),
    "pandas, names of two levels": lambda: FRAME.set_axis(pd.MultiIndex.from_product([["a"], [1, 2, 3]]), axis=1),
    "pandas, called intercept": lambda: FRAME.set_axis(["(intercept)", "b", "c"], axis=1),
    "pandas, no rows": lambda: FRAME[:0],
    "pandas, no columns": lambda: FRAME[[]],
    "pandas, nothing": pd.DataFrame,
    "pandas, one row": lambda: FRAME[:1],
    "pandas, words": lambda: FRAME.assign(d="u"),
    "pandas, categories": lambda: FRAME.assign(d=pd.Categorical(["u", "v"] * (N // 2))),
    "pandas, dates": lambda: FRAME.assign(d=pd.date_range("2024-01-01", periods=N)),
    "pandas, zones": lambda: FRAME.assign(d=pd.date_range("2024-01-01", periods=N, tz="UTC")),
    "pandas, periods": lambda: FRAME.assign(d=pd.period_range("2024-01", periods=N, freq="M")),
    "pandas, intervals": lambda: FRAME.assign(d=pd.interval_range(0, N)),
    "pandas, durations": lambda: FRAME.assign(d=pd.to_timedelta(np.arange(N), unit="D")),
    "pandas, Int64": lambda: FRAME.assign(d=pd.array(range(N), dtype="Int64")),
    "pandas, Int64 with NA": lambda: FRAME.assign(d=pd.array([None, *range(1, N)], dtype="Int64")),
    "pandas, beyond 2^53": lambda: FRAME.assign(d=2**53 + 1 + np.arange(N)),
    "pandas, 10**400": lambda: FRAME.assign(d=[10**400, *range(1, N)]),
    "pandas, complex": lambda: FRAME.assign(d=1j),
    "pandas, Decimal": lambda: FRAME.assign(d=[Decimal(k) / 4 for k in range(N)]),
    "pandas, NaN": lambda: FRAME.mask(FRAME > 1),
    "pandas, infinity": lambda: FRAME.assign(d=np.inf),
    "pandas, lists": lambda: FRAME.assign(d=[[1.0, 2.0]] * N),
    "pandas, dictionaries": lambda: FRAME.assign(d=[{}] * N),
    "pandas, mixed cells": lambda: FRAME.assign(d=[1, "a"] * (N // 2)),
    "pandas, sparse": lambda: pd.DataFrame.sparse.from_spmatrix(sp.csr_array(X)),
    "a series": lambda: FRAME["a"],
    "polars": lambda: pl.from_numpy(X),
    "polars, null": lambda: pl.DataFrame({"a": [None, *X[1:, 0]], "b": X[:, 1]}),
    "polars, nothing": pl.DataFrame,
    "polars, lists": lambda: pl.DataFrame({"a": [[1.0, 2.0]] * N}),
    "polars, dates": lambda: pl.DataFrame({"a": X[:, 0], "d": [DATES[0, 0].item()] * N}),
    "polars, lazy": lambda: pl.from_numpy(X).lazy(),
    "a polars series": lambda: pl.Series("a", X[:, 0]),
    "Arrow": lambda: pa.table({"a": X[:, 0], "b": X[:, 1]}),
    "Arrow, two of one name": lambda: pa.table([X[:, 0], X[:, 1]], names=["a", "a"]),
    "Arrow, no columns": lambda: pa.table({}),
    "an Arrow array": lambda: pa.array(X[:, 0]),
    "a dictionary of columns": lambda: {"a": X[:, 0], "b": X[:, 1].tolist()},
    "a dictionary of ragged columns": lambda: {"a": X[:, 0], "b": X[:5, 1]},
    "a dictionary of numbers": lambda: {"a": 1.0, "b": 2.0},
    "a dictionary with None": lambda: {"a": None, "b": X[:, 0]},
    "a dictionary of texts": lambda: {"a": "abc", "b": X[:, 0]},
    "a dictionary with a masked array": lambda: {"a": np.ma.masked_greater(X[:, 0], 1.0), "b": X[:, 1]},
    "a dictionary with a masked matrix": lambda: {"a": np.ma.masked_greater(X, 1.0), "b": X[:, 1]},
    "a dictionary with complex": lambda: {"a": X[:, 0] * 1j, "b": X[:, 1]},
    "a dictionary with 10**400": lambda: {"a": [10**400] * N, "b": X[:, 1]},
    "a dictionary with records": lambda: {"a": np.zeros(N, dtype=[("a", "f8")]), "b": X[:, 1]},
    "a dictionary with a cube": lambda: {"a": X[:, :, None], "b": X[:, 1]},
    "a dictionary with long doubles": lambda: {"a": X[:, 0].astype(np.longdouble), "b": X[:, 1]},
    "a dictionary of Fractions": lambda: {"a": [Fraction(1, 3)] * N, "b": X[:, 1]},
    "records as dictionaries": lambda: [{"a": 1.0}, {"a": 2.0}] * (N // 2),
    **{f"{name} array": lambda name=name: sp.csr_array(X).asformat(name) for name in FORMATS},
    **{f"{name} matrix": lambda name=name: sp.csr_matrix(X).asformat(name) for name in FORMATS},
    **{f"{name} of whole numbers": lambda name=name: sp.csr_array((10 * X).astype(int)).asformat(name) for name in FORMATS},
    **{f"complex {name}": lambda name=name: sp.csr_array(X + 1j).asformat(name) for name in FORMATS},
    "csr of bool": lambda: sp.csr_array(X > 0),
    "csr beyond 2^53": lambda: sp.csr_array(one(2**53 + 1, np.int64, 10 * X)),
    "csc beyond 2^53": lambda: sp.csc_array(one(2**53 + 1, np.int64, 10 * X)),
    "csr of long doubles": lambda: sp.csr_array(X.astype(np.longdouble)),
    "csr with NaN": lambda: sp.csr_array(one(np.nan, float)),
    "csr without rows": lambda: sp.csr_array((0, 3)),
    "csr without columns": lambda: sp.csr_array((N, 0)),
    "csc without columns": lambda: sp.csc_array((N, 0)),
    "csr of nothing stored": lambda: sp.csr_array((N, 3)),
    "1-D coo": lambda: sp.coo_array(X[:, 0]),
    "1-D csr": lambda: sp.csr_array(X[:, 0]),
}  # fmt: skip

YS: Made = {
    "None": lambda: None,
    "a number": lambda: 3,
    "a float": lambda: 0.5,
    "a text": lambda: "no such column",
    "a dict": dict,
    "a set": lambda: {0, 1},
    "a generator": lambda: iter(Y.tolist()),
    "a function": lambda: print,
    "an empty list": list,
    "a list": Y.tolist,
    "a tuple": lambda: tuple(Y.tolist()),
    "too short": lambda: Y[:-1],
    "too long": lambda: np.append(Y, 1),
    "a column": lambda: Y[:, None],
    "two columns": lambda: np.column_stack([Y, 1 - Y]),
    "no column": lambda: np.empty((N, 0)),
    "3-D": lambda: Y[:, None, None],
    "ragged": lambda: [[0], [1, 2]] * (N // 2),
    "bool": lambda: Y.astype(bool),
    "uint8": lambda: Y.astype(np.uint8),
    "float32": lambda: Y.astype(np.float32),
    "long doubles": lambda: Y.astype(np.longdouble),
    "swapped bytes": lambda: Y.astype(">i8"),
    "complex": lambda: Y * 1j,
    "complex without imaginary part": lambda: Y.astype(complex),
    "one complex object": lambda: cell(1j),
    "dates": lambda: DATES[:, 0].astype("datetime64[ns]"),
    "durations": lambda: DATES[:, 0] - DATES[0, 0],
    "NaN": lambda: cell(np.nan, float),
    "infinity": lambda: cell(np.inf, float),
    "1e300": lambda: Y * 1e300,
    "1e300 and more": lambda: np.arange(N) * 1e300,
    "1e-300": lambda: Y * 1e-300,
    "subnormal": lambda: Y * 5e-324,
    "constant": lambda: np.ones(N, dtype=int),
    "zero": lambda: np.zeros(N),
    "negative": lambda: 2 * Y - 1,
    "fractions of one": lambda: Y + 0.5,
    "beyond 2^53": lambda: Y + 2**53 + np.arange(N),
    "10**400": lambda: [10**400, *Y.tolist()[1:]],
    "10**30": lambda: [10**30, *Y.tolist()[1:]],
    "a missing object": lambda: cell(None),
    "NA": lambda: cell(pd.NA),
    "NA among texts": lambda: np.where(np.arange(N) == 3, pd.NA, np.where(Y, "yes", "no").astype(object)),
    "NaN among texts": lambda: np.where(np.arange(N) == 3, np.nan, np.where(Y, "yes", "no").astype(object)),
    "mixed": lambda: [1, "a"] * (N // 2),
    "dictionaries": lambda: [{}] * N,
    "lists": lambda: np.array([[0], [1]] * (N // 2), dtype=object),
    "Fraction": lambda: [Fraction(k, 4) for k in Y.tolist()],
    "Fraction(1, 3)": lambda: [Fraction(k, 3) for k in Y.tolist()],
    "Decimal": lambda: [Decimal(k) for k in Y.tolist()],
    "texts": lambda: np.where(Y, "yes", "no"),
    "texts in a list": np.where(Y, "yes", "no").tolist,
    "texts as objects": lambda: np.where(Y, "yes", "no").astype(object),
    "bytes": lambda: np.where(Y, b"yes", b"no"),
    "digits": lambda: Y.astype(str),
    "a masked array": lambda: np.ma.masked_array(Y, mask=np.arange(N) == 3),
    "a mask without effect": lambda: np.ma.masked_array(Y),
    "records": lambda: np.zeros(N, dtype=[("a", "f8")]),
    "sparse": lambda: sp.csr_array(Y[:, None]),
    "all different": lambda: [f"word {k}" for k in range(N)],
    "a series": lambda: pd.Series(Y),
    "a named series": lambda: pd.Series(Y, name="out"),
    "a series called like a column": lambda: pd.Series(Y, name="a"),
    "a series with a number as name": lambda: pd.Series(Y, name=7),
    "categories": lambda: pd.Series(pd.Categorical(np.where(Y, "yes", "no"))),
    "categories with NaN": lambda: pd.Series(pd.Categorical([None, *np.where(Y, "yes", "no")[1:]])),
    "Int64": lambda: pd.Series(Y, dtype="Int64"),
    "Int64 with NA": lambda: pd.Series([None, *Y.tolist()[1:]], dtype="Int64"),
    "boolean with NA": lambda: pd.Series([None, *(Y[1:] > 0).tolist()], dtype="boolean"),
    "string with NA": lambda: pd.Series([None, *np.where(Y, "yes", "no")[1:]], dtype="string"),
    "a series of dates": lambda: pd.Series(pd.date_range("2024-01-01", periods=N)),
    "a data frame": lambda: pd.DataFrame({"y": Y}),
    "a data frame of two": lambda: pd.DataFrame({"y": Y, "z": 1 - Y}),
    "an index": lambda: pd.Index(Y),
    "a polars series": lambda: pl.Series("out", Y),
    "a polars series with null": lambda: pl.Series("out", [None, *Y.tolist()[1:]]),
    "an Arrow array": lambda: pa.array(Y),
    "an Arrow array with null": lambda: pa.array([None, *Y.tolist()[1:]]),
    "chunks": lambda: pa.chunked_array([Y[:5], Y[5:]]),
}  # fmt: skip

WEIGHTS: Made = {
    "a number": lambda: 2.0,
    "a text": lambda: "no such column",
    "a dict": dict,
    "too short": lambda: np.ones(N - 1),
    "a column": lambda: np.ones((N, 1)),
    "complex": lambda: np.ones(N) + 0j,
    "words": lambda: ["a"] * N,
    "a missing object": lambda: [None, *[1.0] * (N - 1)],
    "masked": lambda: np.ma.masked_array(np.ones(N), mask=np.arange(N) == 3),
    "dates": lambda: DATES[:, 0],
    "negative": lambda: -np.ones(N),
    "NaN": lambda: np.full(N, np.nan),
    "infinity": lambda: np.full(N, np.inf),
    "an infinite sum": lambda: np.full(N, 1e308),
    "1e200": lambda: np.full(N, 1e200),
    "1e-320": lambda: np.full(N, 1e-320),
    "zero": lambda: np.zeros(N),
    "one row": lambda: np.eye(N)[0],
    "10**400": lambda: [10**400] * N,
    "beyond 2^53": lambda: np.full(N, 2**53 + 1),
    "whole numbers": lambda: np.arange(1, N + 1),
    "bool": lambda: np.arange(N) % 2 == 0,
    "a series": lambda: pd.Series(np.ones(N), name="w"),
    "records": lambda: np.zeros(N, dtype=[("a", "f8")]),
}

OFFSETS: Made = {
    **{name: make for name, make in WEIGHTS.items() if name not in ("1e-320", "one row")},
    "1000": lambda: np.full(N, 1000.0),
    "-1000": lambda: np.full(N, -1000.0),
    "1e300": lambda: np.full(N, 1e300),
    "0 to 1000": lambda: np.linspace(0.0, 1000.0, N),
    "two columns": lambda: np.zeros((N, 2)),
}
