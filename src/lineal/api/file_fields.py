"""The fields of a model file, each of its type or refused in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError, near


def array_of(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, shape: tuple[int, ...], *, infinite: bool = False
) -> npt.NDArray[np.float64]:
    """Return an array of a file by name: doubles of this shape, finite unless they may be infinite."""
    if name not in arrays:
        raise ModelFileError(f"it lacks the array {name!r}.")
    array = arrays[name]
    if array.dtype != np.float64 or array.shape != shape:
        raise ModelFileError(
            f"array {name!r} is {array.dtype} of shape {array.shape}; it must be float64 of shape {shape}."
        )
    if not (infinite or np.all(np.isfinite(array))):
        raise ModelFileError(f"array {name!r} holds NaN or infinity.")
    return array


def keys(data: Mapping[str, Any], where: str, accepted: tuple[str, ...], needed: tuple[str, ...]) -> None:
    """Refuse an object that lacks a field it needs, or has one that it may not have."""
    for name in needed:
        if name not in data:
            raise ModelFileError(f"{where} lacks the field {name!r}.")
    for name in data:
        if name not in accepted:
            raise ModelFileError(f"{where} has a field {name!r} that a model file does not have.{near(name, accepted)}")


def object_of(data: Mapping[str, Any], name: str, fields: tuple[str, ...]) -> Mapping[str, Any]:
    """Return an object that has exactly these fields."""
    value = mapping(data[name], name)
    keys(value, name, fields, fields)
    return value


def mapping(value: object, name: str) -> Mapping[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, dict):
        raise ModelFileError(f"{name} must be an object.")
    return value


def text(data: Mapping[str, Any], where: str, name: str) -> str:
    """Return a field that must be a text."""
    if not isinstance(data[name], str):
        raise ModelFileError(f"{where + '.' if where else ''}{name} must be a text.")
    return str(data[name])


def texts(value: object, where: str) -> list[str]:
    """Return a value that must be a list of different texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ModelFileError(f"{where} must be a list of texts.")
    if len(set(value)) != len(value):
        raise ModelFileError(f"{where} names something twice.")
    return value


def number(data: Mapping[str, Any], where: str, name: str) -> float:
    """Return a field that must be a finite number."""
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelFileError(f"{where + '.' if where else ''}{name} must be a number.")
    return float(value)


def tolerance(meta: Mapping[str, Any]) -> float:
    """Return the tolerance of a file."""
    value = number(meta, "", "tol")
    if value < 0:
        raise ModelFileError("tol must be at least zero.")
    return value


def integer(data: Mapping[str, Any], where: str, name: str, least: int) -> int:
    """Return a field that must be a whole number, not below ``least``."""
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelFileError(f"{where}.{name} must be a whole number, at least {least}.")
    return value
