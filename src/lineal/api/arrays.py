"""Arrays as a fit needs them: columns without names, called x0, x1, ..., and the target y."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.api.dataset import Dataset, Roles, from_table
from lineal.api.methods.method import Wanted
from lineal.designs import as_design
from lineal.designs.sound import is_sparse, sound
from lineal.errors import InputError
from lineal.features.splitting import Split
from lineal.features.types.choices import AS_FOUND
from lineal.features.types.target_type import MAX_CLASSES, MAX_NUMBER_CLASSES, with_positive
from lineal.ground.arrays import Array, Mask
from lineal.ground.inputs import are_records, real, targets
from lineal.model.target import Target
from lineal.sources.memory import Memory
from lineal.sources.source import Source
from lineal.tables.table import uniform

Picked = slice | Mask


def is_array(data: object) -> bool:
    """Whether data is an array, a list of rows or a sparse matrix of numbers.

    >>> is_array(np.eye(2)), is_array([[1, 2]]), is_array({"a": [1, 2]})
    (True, True, False)
    """
    return (isinstance(data, np.ndarray | list | tuple) and not are_records(data)) or is_sparse(data)


def gather(data: Any, roles: Roles, wanted: Wanted, split: Split, test: Any = None) -> Dataset:
    """Return the dataset of a table or of an array."""
    return (from_arrays if is_array(data) else from_table)(data, roles, wanted, split, test)


def from_arrays(data: Any, roles: Roles, wanted: Wanted, split: Split, test: Any = None) -> Dataset:
    """Return the dataset of an array or a sparse matrix; ``test`` is a pair of data and target."""
    target, weight, offset, intercept = roles.target, roles.weight, roles.offset, roles.intercept
    if target is None or isinstance(target, str):
        raise InputError("the data is an array, so the target must be one too: give one value per row.")
    if split.by != "row":
        raise InputError("an array has no columns to split by: give a table with names.")
    seed, test_size = split.seed, split.test_size
    if roles.formula is not None or roles.poly > 1 or roles.text:
        raise InputError("columns of an array have no names for a formula, products or text; give a table with names.")
    if roles.types:
        raise InputError("columns of an array have no names and are numbers all; give a table for types.")
    if replace(roles.choices, positive=None) != AS_FOUND:
        raise InputError("an array holds numbers, without levels or gaps; give a table for max_levels, missing and na.")
    if roles.labels_by is not None:
        raise InputError(
            "labels_by parts the labels in the cells of a table; of an array give a column of 0 and 1 for each."
        )
    if len(roles.drop):
        raise InputError("columns of an array have no names to drop; leave them out of the array.")
    matrix = sound(data, "the data").tocsr() if is_sparse(data) else real(data, "the data")
    if matrix.ndim != 2:
        raise InputError(f"the data has shape {matrix.shape}; give two dimensions, rows and columns.")
    rows, dense = matrix.shape[0], isinstance(matrix, np.ndarray)
    if 0 in matrix.shape:
        raise InputError(f"the data has shape {matrix.shape}: no training rows, or no columns; give some of both.")
    y = _per_row(target, rows, "target")
    s = None if weight is None else _per_row(weight, rows, "weight")
    o = None if offset is None else _per_row(offset, rows, "offset")
    drawn = uniform(seed, np.arange(rows, dtype=np.int64)) if split.parts else None
    held = drawn < test_size if drawn is not None and test_size > 0 else None
    checks = None
    if drawn is not None and split.validation_size > 0:
        checks = (drawn >= test_size) & (drawn < test_size + split.validation_size)
    seen: Picked = slice(None) if drawn is None else drawn >= test_size + split.validation_size
    about = with_positive((meaning(y[seen], wanted), None, ""), roles.choices.positive)[0]

    def some(rows: Mask) -> Source:
        design = as_design(matrix[rows], intercept=intercept)
        return Memory(design, _coded(about, y[rows]), _picked(s, rows), _picked(o, rows))

    tests: Source | None = None if held is None else some(held)
    if test is not None:
        tests = Memory(as_design(test[0], intercept=intercept), _coded(about, targets(test[1], "the target")))
    part = matrix if drawn is None else matrix[seen]
    return Dataset(
        train=Memory(as_design(part, intercept=intercept), _coded(about, y[seen]), _picked(s, seen), _picked(o, seen)),
        test=tests,
        validation=None if checks is None else some(checks),
        target=about,
        encoder=None,
        roles={"weight": None, "offset": None},
        training={
            "without_target": 0,
            "split": split.to_dict() if split.parts else None,
            "fingerprint": _fingerprint(part, y[seen], about) if dense and s is None and o is None else None,
        },
        about={"origin": "the array", "notes": []},
    )


def meaning(y: npt.NDArray[Any], wanted: Wanted) -> Target:
    """Say what an array of targets is, by the rules for the columns of a table.

    >>> meaning(np.array([0, 1, 1]), "auto").classes
    (0, 1)
    >>> meaning(np.array([0.5, 1.0, 1.0]), "auto").kind
    'number'
    >>> meaning(np.array([[0, 1], [1, 1], [1, 0]]), "auto").kind
    'labels'
    """
    if y.ndim == 2 and y.shape[1] > 1:
        names = tuple(f"y{k}" for k in range(y.shape[1]))
        if wanted != "number" and _indicates(y, insist=wanted == "classes"):
            return Target("y", "labels", names=names)
        return Target("y", "number", names=names)
    numeric = y.dtype.kind in "iuf"
    if numeric and not np.all(np.isfinite(y)):
        raise InputError("the target holds NaN or infinity; leave such rows out.")
    if numeric and len(y) and _plainly_number(y, wanted):
        return Target("y", "number")
    kinds = np.unique(y if numeric or y.dtype.kind == "b" else y.astype(str))
    if len(kinds) < 2:
        raise InputError(
            f"the target is {kinds[0].item()!r} in every row, so there is nothing to predict."
            if len(kinds)
            else "there are no training rows."
        )
    whole = numeric and bool(np.all(kinds == np.floor(kinds)))
    if wanted == "number" or (wanted == "auto" and numeric and not (whole and len(kinds) <= MAX_NUMBER_CLASSES)):
        return Target("y", "number")
    if len(kinds) > MAX_CLASSES:
        raise InputError(
            f"the target has {len(kinds)} classes, more than 1000; is it an identifier, or a number to predict?"
        )
    return Target("y", "classes", classes=tuple(int(kind) if whole else kind.item() for kind in kinds))


def _indicates(y: npt.NDArray[Any], *, insist: bool) -> bool:
    """Whether every cell says of a label that a row has it (1), has it not (0), or that this is not known (NaN).

    Refused in words where they do, but a label is the same in every row, or a row's labels are all unknown.
    """
    known = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(y.shape, dtype=bool)
    if y.dtype.kind not in "biuf" or not np.all((y == 0) | (y == 1) | ~known):
        if insist:
            raise InputError(
                "several targets are labels, a column of 0 and 1 (NaN where not known) for each, or numbers for a model such "
                "as linear; some cells are neither 0 nor 1."
            )
        return False
    if not known.any(axis=1).all():
        row = int(np.argmin(known.any(axis=1)))
        raise InputError(f"of row {row + 1} no label is known; leave such rows out.")
    ones = np.sum(np.where(known, y, 0) == 1, axis=0)
    for k, (one, every) in enumerate(zip(ones.tolist(), known.sum(axis=0).tolist(), strict=True)):
        if one in (0, every):
            same = "missing" if not every else "yes" if one else "no"
            raise InputError(
                f"the label y{k} is {same} in every training row, so there is nothing to predict; leave its column out."
            )
    return True


def _plainly_number(y: npt.NDArray[Any], wanted: Wanted) -> bool:
    """Whether numbers vary and are asked for, or are not all whole: then their different values do not matter."""
    if not np.any(y != y.reshape(-1)[0]):
        return False
    return wanted == "number" or (wanted == "auto" and y.dtype.kind == "f" and not np.all(y == np.floor(y)))


def _coded(target: Target, labels: npt.NDArray[Any]) -> Array:
    """Return targets as y: numbers and labels as they are, classes by their place."""
    if target.kind == "labels":
        known = labels.astype(np.float64)
        if known.shape[1:] != (len(target.names or ()),) or not np.all((known == 0) | (known == 1) | np.isnan(known)):
            raise InputError(f"a test row has labels other than {len(target.names or ())} of 0, 1 or NaN.")
        return known
    if target.kind == "number":
        try:
            y = real(labels, "the target").astype(np.float64, copy=False)
        except InputError as error:
            raise InputError(f"the target is not a number: {error} Or fit classes (model='logistic').") from None
        if not np.all(np.isfinite(y)):
            raise InputError("the target holds NaN or infinity; leave such rows out.")
        return y
    classes = np.asarray(target.classes)
    flat = labels.reshape(-1)
    flat = flat.astype(str) if classes.dtype.kind == "U" else flat
    order = np.argsort(classes, kind="stable")  # sorted, unless a person chose the positive one
    place = order[np.clip(np.searchsorted(classes, flat, sorter=order), 0, len(classes) - 1)]
    strange = classes[place] != flat
    if np.any(strange):
        raise InputError(
            f"a test row has the class {flat[strange][0].item()!r}; training rows have {list(target.classes or ())}."
        )
    return place.astype(np.float64)


def _per_row(values: Any, rows: int, role: str) -> npt.NDArray[Any]:
    array = targets(values, "the target") if role == "target" else real(values, f"the {role}").astype(np.float64)
    if array.ndim not in (1, 2) or len(array) != rows or not array.size or (role != "target" and array.size != rows):
        raise InputError(f"the {role} has shape {array.shape}, the data has {rows} rows; give one value per row.")
    return array if role == "target" else array.reshape(-1)


def _picked(values: Array | None, rows: Picked) -> Array | None:
    return None if values is None else values[rows]


def _fingerprint(matrix: npt.NDArray[Any], labels: npt.NDArray[Any], target: Target) -> str:
    """Return the fingerprint of the table with columns x0, x1, ... and y that holds these arrays."""
    import pyarrow as pa

    from lineal.features.encoder import column
    from lineal.features.fingerprint import Fingerprint
    from lineal.tables.tabular import BATCH_ROWS

    names = [f"x{j}" for j in range(matrix.shape[1])]
    several = target.names or ("y",)
    labels = labels.astype(np.float64) if target.kind == "labels" else labels
    classes = target.kind == "classes"
    fingerprint = Fingerprint([*names, *(() if classes else several)], several if classes else ())
    fingerprint.add_matrix(names, matrix)
    y = labels.reshape(len(labels), -1)
    if y.dtype.kind == "f" and not classes:
        fingerprint.add_matrix(several, y)
        return fingerprint.hex()
    y = y.astype(str) if classes and y.dtype.kind not in "iufb" else y
    for start in range(0, len(y), BATCH_ROWS):
        columns = {name: np.ascontiguousarray(y[start : start + BATCH_ROWS, k]) for k, name in enumerate(several)}
        batch = pa.RecordBatch.from_pydict(columns)
        for name in several:
            fingerprint.add_column(name, column(batch, name))
    return fingerprint.hex()
