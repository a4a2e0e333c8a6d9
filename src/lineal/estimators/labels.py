"""Class labels: their sorted list, their numbers, their weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets

from lineal.errors import InputError, near
from lineal.ground.arrays import Array, Index
from lineal.ground.inputs import class_labels

Codes = Index

COUNTED_MAX_SPAN = 4096
"""Whole numbers that span no more than this are sorted by counting, which reads y twice and sorts nothing."""


def encode(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Codes]:
    """Return the sorted labels that occur in ``y``, and the place of each row's label among them.

    >>> labels, codes = encode(np.array(["b", "a", "b"]))
    >>> labels.tolist(), codes.tolist()
    (['a', 'b'], [1, 0, 1])
    >>> encode(np.array([3.0, 7.0]))[0]
    array([3., 7.])
    """
    integers = _whole(y)
    if integers is None:
        with np.errstate(invalid="ignore"):  # it asks whether labels are whole numbers by making them so
            check_classification_targets(y)
    if integers is None or integers[2] - integers[1] > COUNTED_MAX_SPAN:
        labels, codes = np.unique(y, return_inverse=True)
        return labels, np.asarray(codes, dtype=np.intp)
    whole, low, high = integers
    shifted = whole - low if low else whole
    seen = np.bincount(shifted)
    occurring = seen.nonzero()[0]
    labels = (occurring + low if low else occurring).astype(y.dtype)
    return labels, shifted if len(occurring) == high - low + 1 else (np.cumsum(seen > 0) - 1)[shifted]


def stream_classes(classes: Any, before: npt.NDArray[Any] | None, least: int = 2) -> npt.NDArray[Any]:
    """Return the sorted classes of a stream, at ``least`` so many; ``before`` are those of its first call, None in that call."""
    if classes is None:
        if before is None:
            raise InputError(
                "classes is None; classes must be passed on the first call to partial_fit: the list of all of them."
            )
        return before
    labels = encode(class_labels(classes, "classes"))[0]
    if before is not None and not np.array_equal(labels, before):
        raise InputError(
            f"`classes={list(classes)!r}` is not the same as on last call to partial_fit, which was {before.tolist()}."
        )
    if len(labels) < least:
        raise InputError(
            f"classes is {labels.tolist()}; at least {'two classes are' if least > 1 else 'one class is'} needed."
        )
    return labels


def places(labels: npt.NDArray[Any], y: npt.NDArray[Any]) -> Codes:
    """Return the place of each row's label among those of a stream; any other label is refused.

    >>> places(np.array(["a", "b"]), np.array(["b", "a"])).tolist()
    [1, 0]
    """
    place_of = {label: place for place, label in enumerate(labels.tolist())}
    seen, codes = encode(y)
    rows = [place_of.get(label, -1) for label in seen.tolist()]
    unknown = [label for label, row in zip(seen.tolist(), rows, strict=True) if row < 0]
    if unknown:
        raise InputError(f"The target labels {unknown} in y do not exist in the initial classes {labels.tolist()}.")
    return np.array(rows, dtype=np.intp)[codes]


def present(labels: npt.NDArray[Any], codes: Codes, weight: Array | None) -> tuple[npt.NDArray[Any], Codes]:
    """Return labels and codes without the labels whose rows all have weight zero: weight 0 is absent.

    The codes of absent rows become 0; nothing reads them. At least two labels must remain.
    """
    if weight is not None:
        kept = np.bincount(codes, weights=weight, minlength=len(labels)) > 0.0
        if not kept.all():
            labels, codes = labels[kept], np.maximum(np.cumsum(kept) - 1, 0)[codes]
    if len(labels) < 2:
        what = f"only one class, {labels[:1].tolist()[0]!r}," if len(labels) else "no class"
        raise InputError(f"y has {what} in the rows of weight above zero; at least two classes are needed.")
    return labels, codes


def weigh(class_weight: object, labels: npt.NDArray[Any], codes: Codes, weight: Array | None) -> Array | None:
    """Return the row weights times the weight of each row's class.

    ``"balanced"`` gives class k the weight ``S / (K S_k)``, S_k the weight of its rows: all classes then weigh equal.
    """
    if class_weight is None:
        return weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(codes, weights=weight, minlength=len(labels))
        seen = total > 0.0
        factor = np.where(seen, total.sum() / (np.count_nonzero(seen) * np.where(seen, total, 1.0)), 0.0)
    elif isinstance(class_weight, Mapping):
        factor = _given(class_weight, labels.tolist())
    else:
        raise InputError(
            f"class_weight is {class_weight!r}; accepted are None, 'balanced' and a dict from class to weight."
        )
    return factor[codes] if weight is None else factor[codes] * weight


def _given(class_weight: Mapping[Any, Any], labels: list[Any]) -> Array:
    """Return the weight of each label; a label left out weighs 1, but a misspelt one is an error."""
    unknown = [key for key in class_weight if key not in labels]
    missing = [label for label in labels if label not in class_weight]
    if unknown and missing:
        hint = near(str(unknown[0]), [str(label) for label in labels])
        raise InputError(f"class_weight names {unknown[0]!r}, which is not a class; the classes are {labels}.{hint}")
    for label, value in class_weight.items():
        if not (isinstance(value, int | float | np.number) and math.isfinite(value) and value >= 0):
            raise InputError(f"class_weight of {label!r} is {value!r}; it must be a finite number >= 0.")
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def _whole(y: npt.NDArray[Any]) -> tuple[Codes, int, int] | None:
    """Return labels that are whole numbers as such, the least and the largest of them, or None."""
    kind = y.dtype.kind
    if kind in "biu":
        return None if kind == "u" and y.dtype.itemsize == 8 else (y.astype(np.intp), int(y.min()), int(y.max()))
    if kind != "f":
        return None
    low, high = float(y.min()), float(y.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError("Input y contains NaN or infinity; leave such rows out.")
    if max(-low, high) > 2**31:
        return None
    whole = y.astype(np.intp)
    return (whole, int(low), int(high)) if (whole == y).all() else None
