"""Whether a halfspace separates classes, to draw: decided for a table, or read from a file of `lineal separable -o`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Final

import numpy as np

from lineal import container
from lineal.api.dataset import Roles, from_table
from lineal.errors import InputError, ModelFileError
from lineal.features.encoder import Encoder
from lineal.features.splitting import Split
from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.inference.rows import encoded_rows
from lineal.model.target import Target
from lineal.separation.gathering import gather
from lineal.separation.record import Separability, Witness, answer
from lineal.sources.rowwise import PlainRows
from lineal.tables.table import as_table

SECONDS: Final = 60.0


@dataclass(frozen=True)
class Answered:
    """An answer with the rows that it is about: their design ``X``, and ``own``, the number of the class of each."""

    found: Separability
    X: Array
    own: Index


def answered(
    data: Any, file: str | PathLike[str] | None, target: str | None, formula: str | None, drop: Sequence[str]
) -> Answered:
    """Return the answer of a file about these rows, or of the rows themselves.

    >>> gates = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "xor": [0, 1, 1, 0]}
    >>> answered(gates, None, "xor", None, ()).found.kind
    'overlap'
    """
    if file is None:
        return _of_table(data, target, formula, drop)
    if target is not None or formula is not None or drop:
        raise InputError("the answer says which columns it is about; leave target, formula and drop out.")
    return _of_file(file, data)


def _of_table(data: Any, target: str | None, formula: str | None, drop: Sequence[str]) -> Answered:
    """Return the answer for a table."""
    dataset = from_table(as_table(data), Roles.of(target, formula, drop=tuple(drop)), "classes", Split(0, 0.0))
    labels = _two(tuple(map(str, dataset.target.classes or ())), dataset.target.name)
    cloud = gather(dataset.train, outputs=1)
    found = answer(cloud, dataset.train.columns, labels, dataset.target.name, SECONDS)
    return Answered(found, *PlainRows.of(dataset.train))


def _of_file(file: str | PathLike[str], data: Any) -> Answered:
    """Return the answer that a file holds, beside its rows; refuse other rows."""
    meta, _ = container.read(file)
    if meta.get("format") != container.FORMATS[1]:
        raise InputError(
            f"{fspath(file)} holds no answer about separability: lineal separable DATA --target COL -o FILE writes one."
        )
    try:
        target = Target(meta["target"]["name"], "classes", classes=tuple(meta["target"]["classes"]))
        labels = _two(tuple(map(str, target.classes or ())), target.name)
        found = _found(meta, labels)
        encoder, roles, training = Encoder.from_dict(meta["encoder"]), dict(meta["roles"]), dict(meta["training"])
    except (InputError, ModelFileError):
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"{fspath(file)} is refused: it lacks what docs/separability.md says ({error}).") from None
    rows, _ = encoded_rows(encoder, target, roles, training, data)
    if training.get("fingerprint") not in (None, rows.fingerprint()):
        raise InputError(f"these are not the rows of the answer {fspath(file)}: give the table that it was found for.")
    return Answered(found, *PlainRows.of(rows))


def _found(meta: Mapping[str, Any], labels: tuple[str, ...]) -> Separability:
    """Return the answer of a file; integers beyond those of a double are written as text."""
    known = meta["witness"]
    columns, direction, weights = tuple(meta["columns"]), None, None
    if known["direction"] is not None:
        direction = np.array([int(row[0]) for row in known["direction"]], dtype=object).reshape(len(columns), 1)
    if known["weights"] is not None:
        weights = tuple(map(int, known["weights"]))
    rows = None if known["rows"] is None else tuple(map(int, known["rows"]))
    witness = Witness(direction, rows, weights, None)
    return Separability(
        meta["kind"], meta["sentence"], witness, columns, labels, meta["strict_rows"], meta["training"]["rows"]
    )


def _two(labels: tuple[str, ...], target: str) -> tuple[str, ...]:
    if len(labels) != 2:
        raise InputError(f"the picture separable is for two classes, and {target} has {len(labels)}.")
    return labels
