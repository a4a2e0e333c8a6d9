"""Numbers and labels as people hand them in: what is exactly a double passes, the rest is refused in a sentence.

A number is accepted only if a double is exactly that number: the Decimal 0.1 is refused, and so is 2^53 + 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, KindError
from lineal.ground.arrays import Array

FLOATS: Final = (np.dtype(np.float64), np.dtype(np.float32))
"""What designs are made of, in the machine's byte order."""
TABLES: Final = "or give the table with its texts, dates and categories to lineal.fit, which encodes them"


def real(values: Any, name: str) -> npt.NDArray[Any]:
    """Return numbers as an array: float32 and float64 as they are, others as the doubles that they exactly are.

    NaN and infinity pass: who reads the numbers asks for them.

    >>> real([[1, 2], [3, 4]], "X").dtype
    dtype('float64')
    >>> real([Fraction(1, 4), Decimal("2.5")], "y")
    array([0.25, 2.5 ])
    """
    named = names_of(values, name)
    if named and len({getattr(kind, "kind", kind) for kind in getattr(values, "dtypes", ())}) != 1:
        # A frame of several kinds as one array would round its whole numbers before they are looked at.
        return np.column_stack([real(values[column], f"{name}[{str(column)!r}]") for column in named])
    array = plain(values, name)
    kind = array.dtype.kind
    if kind == "f" and array.itemsize <= 8:
        if array.dtype in FLOATS:
            return array
        return array.astype(np.float32 if array.itemsize == 4 else np.float64)
    if kind in "biu":
        return _whole(array, name)
    if kind == "f":
        return _shorter(array, name)
    return _cells(array, name)


def plain(values: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of one value a cell, of whatever kind but those that are neither numbers nor labels.

    >>> plain(["a", "b"], "y").shape
    (2,)
    """
    if values is None or isinstance(values, str | bytes):
        raise InputError(f"{name} is {shown(values)}; give an array or a list, with an entry for every row.")
    if isinstance(values, np.ma.MaskedArray):
        gone = int(np.count_nonzero(np.ma.getmaskarray(values)))
        if gone:
            raise InputError(
                f"{name} is a masked array of which {gone} cells are masked; fill them or leave their rows out, {TABLES} "
                "and fills missing cells."
            )
        values = values.data
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        if "inhomogeneous" in str(error):
            raise InputError(f"{name} is ragged: its rows have different lengths; give every row the same.") from None
        why = " ".join(str(error).split())
        raise InputError(f"{name} cannot be read as an array ({why}); give a list or an array.") from None
    kind = array.dtype.kind
    if kind == "c":
        raise InputError(
            f"Complex data not supported: {name} holds complex numbers; give real ones, such as the real and the "
            "imaginary parts as columns of their own."
        )
    if kind in "mM":
        what = "dates" if kind == "M" else "durations"
        raise InputError(
            f"{name} holds {what} ({array.dtype}), and which unit and origin they would have as numbers is not said; "
            f"make them numbers, such as days since the first: (t - t.min()) / np.timedelta64(1, 'D'), {TABLES}."
        )
    if kind == "V":
        fields = ", ".join(array.dtype.names or ()) or "none"
        raise InputError(
            f"{name} is an array of records (fields: {fields}); give their fields as the columns of an array "
            "(numpy.lib.recfunctions.structured_to_unstructured), or as a dictionary of columns to lineal.fit."
        )
    if not array.ndim:
        raise InputError(f"{name} is {shown(values)}; give an array or a list, with an entry for every row.")
    return array


def class_labels(values: Any, name: str = "y") -> npt.NDArray[Any]:
    """Return class labels as an array that can be sorted: none is missing, and all are of one kind.

    >>> class_labels(["no", "yes"]).tolist()
    ['no', 'yes']
    """
    array = plain(values, name)
    if array.dtype.kind != "O":
        return array
    cells = array.reshape(-1).tolist()
    gone = sum(map(absent, cells))
    if gone:
        raise InputError(
            f"{name} holds {gone} missing value{'s' if gone > 1 else ''} (None, NA or NaN); leave such rows out."
        )
    kinds = {_family(cell) for cell in cells}
    strange = kinds - {"text", "number"}
    if strange:
        raise KindError(f"{name} holds labels of type {min(strange)}; give texts, whole numbers, or true and false.")
    if len(kinds) > 1:
        raise KindError(f"{name} mixes texts and numbers as labels; write all of them as texts, or none.")
    return array


def targets(values: Any, name: str = "y") -> npt.NDArray[Any]:
    """Return targets that may be numbers or labels; objects that are numbers all, as doubles.

    >>> targets([Fraction(1, 2), 3]), targets([True, False]).dtype
    (array([0.5, 3. ]), dtype('bool'))
    """
    array = plain(values, name)
    if array.dtype.kind == "f":
        return real(array, name)
    if array.dtype.kind != "O":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    cells = array.reshape(-1).tolist()
    numbers = all(isinstance(cell, int | float | Decimal | Fraction | np.number) for cell in cells)
    return real(array, name) if numbers and not any(map(absent, cells)) else class_labels(array, name)


def shown(value: object) -> str:
    """Return how a sentence shows what was given: a short text or number as it is written, else what it is.

    >>> shown(None), shown(3.5), shown({"a": 1}), shown(10**400)
    ('None', '3.5', 'a dict', 'a number of 1329 bits')
    """
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    if value is None or isinstance(value, str | bytes | int | float | np.generic | Decimal | Fraction):
        text = " ".join(repr(value).split())
        return text if len(text) <= 60 else f"{text[:57]}..."
    kind = type(value).__name__
    return f"a{'n' if kind[:1].lower() in 'aeiou' else ''} {kind}"


def names_of(frame: Any, called: str = "X") -> tuple[Any, ...] | None:
    """Return the names of a data frame's columns as they are, or None; as texts they must differ.

    >>> names_of(np.eye(2)) is None
    True
    """
    if hasattr(frame, "collect_schema") and hasattr(frame, "collect"):
        raise InputError(f"{called} is a lazy frame, of which nothing is read yet; collect it first: frame.collect().")
    names = frame.column_names if hasattr(frame, "column_names") else getattr(frame, "columns", None)
    if names is None:
        return None
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise InputError(f"{called} has two columns called {name!r}; rename one of them.")
        seen.add(name)
    return tuple(names)


def absent(cell: object) -> bool:
    """Whether a cell is None, NaN, or what data frames have for them.

    >>> absent(None), absent(0.0)
    (True, False)
    """
    return (
        cell is None
        or cell is np.ma.masked
        or type(cell).__name__ in ("NAType", "NaTType")
        or (isinstance(cell, float | np.floating | Decimal) and cell != cell)  # noqa: PLR0124  (NaN)
    )


def _family(cell: object) -> str:
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, bool | int | float | np.bool_ | np.integer | np.floating):
        return "number"
    return type(cell).__name__


def _whole(array: npt.NDArray[Any], name: str) -> Array:
    """Return whole numbers as doubles; only those of 64 bits may be none."""
    doubles = array.astype(np.float64)
    if array.itemsize == 8 and array.size and max(abs(int(array.min())), abs(int(array.max()))) > 2**53:
        back = np.where(np.abs(doubles) < 2.0**63, doubles, 0.0).astype(array.dtype)  # a larger one need not fit
        for number in array[back != array].tolist():
            if number != float(number):
                _refuse(number, name)
    return doubles


def _shorter(array: npt.NDArray[Any], name: str) -> Array:
    """Return long doubles as doubles."""
    with np.errstate(over="ignore"):
        doubles = array.astype(np.float64)
    for number in array[(doubles != array) & ~np.isnan(array)]:
        _refuse(number, name)
    return doubles


def _cells(array: npt.NDArray[Any], name: str) -> Array:
    """Return texts, or objects of any kind, as the doubles they are."""
    cells = array.reshape(-1).tolist()
    return np.array([_cell(cell, name) for cell in cells], dtype=np.float64).reshape(array.shape)


def _cell(cell: object, name: str) -> float:
    if type(cell) is float:
        return cell
    if absent(cell):
        return math.nan
    if isinstance(cell, str | bytes):
        return _written(cell, name)
    if isinstance(cell, np.generic):
        return float(real(cell.reshape(1), name)[0])
    if not isinstance(cell, int | float | Decimal | Fraction):
        raise KindError(
            f"{name} holds {shown(cell)}, but its cells' argument must be a string of digits or a real number, not "
            f"{type(cell).__name__!r}; make it a number first, {TABLES}."
        )
    try:
        double = float(cell)
    except OverflowError:
        double = math.inf
    return double if double == cell else _refuse(cell, name)


def _written(cell: str | bytes, name: str) -> float:
    """Return the number that a text is."""
    try:
        text = cell if isinstance(cell, str) else cell.decode("ascii")
        double = float(text)
        same = not math.isfinite(double) or Fraction(text.strip()) == Fraction(double)
    except ValueError:
        raise InputError(
            f"could not convert string to float: {name} holds {shown(cell)}; estimators take numbers only. Encode such columns "
            f"first (OneHotEncoder in a pipeline), {TABLES}."
        ) from None
    return double if same else _refuse(cell, name)


def _refuse(number: object, name: str) -> float:
    raise InputError(
        f"{name} holds {shown(number)}, which no double is; subtract a constant from its column. "
        "Where the nearest double will do, convert it first (float, or astype(float))."
    )


def are_records(data: object) -> bool:
    """Whether data is a list of dictionaries, to judge by the first.

    >>> are_records([{"a": 1}, {"b": 2}]), are_records([[1, 2]]), are_records([])
    (True, False, False)
    """
    return isinstance(data, list | tuple) and len(data) > 0 and isinstance(data[0], Mapping)
