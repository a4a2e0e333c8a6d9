"""A separability record: what it claims about the classes of some rows, each claim proved again in integers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array, Index, Whole
from lineal.verify.claims.ground import Ground, field, ground, whole
from lineal.verify.claims.training import Examples, examples
from lineal.verify.evidence.answers import of_direction, of_overlap
from lineal.verify.evidence.sentences import check_sentence
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.proof.halfspaces import Halfspaces, Spaces
from lineal.verify.reading.store import Watch, silent
from lineal.verify.reading.tables import Table
from lineal.verify.report import Report

FORMAT = "lineal-separability"


@dataclass(frozen=True)
class Sum:
    """Rows (numbers among the training rows), weights, and the class that each row is compared with."""

    rows: list[int]
    weights: list[int]
    against: list[int] | None


@dataclass(frozen=True)
class Record(Ground):
    """The fields of a separability record that are checked."""

    kind: str
    sentence: str
    strict: int
    direction: Whole | None
    sum: Sum | None
    margin: object = None


def take_record(meta: Mapping[str, Any]) -> Record:
    """Return the claims of a record, or refuse it naming the field that is not as docs/separability.md says."""
    kind, classes = field(meta, "kind", str), field(meta, "target.classes", list)
    if kind not in ("complete", "quasi", "overlap"):
        raise ModelFileError(f"this checker does not know answers of kind {kind!r}.")
    if len(set(map(repr, classes))) != len(classes) or len(classes) < 2:
        raise ModelFileError("target.classes must name at least two different classes.")
    witness = field(meta, "witness", dict)
    base = ground(meta, classes, [field(meta, "target.name", str)])
    return Record(
        **vars(base),
        kind=kind,
        sentence=field(meta, "sentence", str),
        strict=whole(meta, "strict_rows"),
        direction=_direction(meta, len(base.columns), 1 if len(classes) == 2 else len(classes)),
        sum=None if field(meta, "witness.rows", list, type(None)) is None else sum_of(witness),
        margin=meta.get("margin"),
    )


def _direction(meta: Mapping[str, Any], columns: int, outputs: int) -> Whole | None:
    """Return the direction of the witness, None if it has only a sum of rows."""
    rows = field(meta, "witness.direction", list, type(None))
    if rows is None:
        return None
    if len(rows) != columns or not all(isinstance(row, list) and len(row) == outputs for row in rows):
        raise ModelFileError("witness.direction must hold a row of integers for every column.")
    return np.array([integers(row, "witness.direction") for row in rows], dtype=object).reshape(columns, outputs)


def sum_of(witness: Mapping[str, Any]) -> Sum:
    """Return rows, weights and classes of a witness; refuse lists that do not fit each other."""
    rows, weights = (integers(witness.get(name), name) for name in ("rows", "weights"))
    against = None if witness.get("against") is None else integers(witness["against"], "against")
    if len(weights) != len(rows) or len(rows if against is None else against) != len(rows):
        raise ModelFileError("rows, weights and against of a witness must be equally long.")
    return Sum(rows, weights, against)


def integers(values: object, name: str) -> list[int]:
    """Return whole numbers of any size: those beyond 2^53 are written as text."""
    if not isinstance(values, list):
        raise ModelFileError(f"{name} must be a list of whole numbers.")
    numbers = []
    for value in values:
        digits = value.removeprefix("-") if isinstance(value, str) else ""
        if not ((isinstance(value, int) and not isinstance(value, bool)) or (digits.isascii() and digits.isdigit())):
            raise ModelFileError(f"{name} must be a list of whole numbers.")
        numbers.append(_integer(value))
    return numbers


def _integer(value: int | str, most: int = 4000) -> int:
    """Return a number of any length; Python itself reads no more than 4300 digits at once."""
    if isinstance(value, int) or len(value) <= most:
        return int(value)
    if value.startswith("-"):
        return -_integer(value[1:], most)
    half = len(value) // 2
    return _integer(value[:-half], most) * int(10**half) + _integer(value[-half:], most)


def check_record(report: Report, record: Record, table: Table, watch: Watch = silent) -> Spaces:
    """Prove the answer of a record from the data; return its rows."""
    training = examples(report, record, table, watch)
    space = halfspaces(report, record, training)
    wrong, count, left = space.counted(record.direction)
    if record.direction is not None:
        report.check("the direction puts no row on the wrong side (exact)", wrong == 0, f"{wrong} are")
    report.check(
        "the stated number of rows is strictly on its side (exact)",
        count == record.strict,
        f"{count} rows, stated {record.strict}",
    )
    if record.sum is not None:
        few, rows, against = check_sum(report, space, record.sum)
        outside = space.unspanned(few, rows, against, record.direction)
        report.check(
            "every row that is not strictly on its side is a combination of these rows (exact)",
            outside == 0,
            f"{outside} of {left} are not",
        )
    if not left:
        proven = "complete"
    elif record.sum is None:
        proven = "none"
    else:
        proven = "quasi" if count else "overlap"
    report.check("the answer is what this proves", proven == record.kind, f"{proven}, stated {record.kind}")
    if record.direction is None:
        said = of_overlap(sorted(set(record.sum.rows)) if record.sum is not None else [])
    else:
        names = record.columns, record.classes or (), record.targets[0]
        said = of_direction(space, record.direction, *names, count, record.kind)
    check_sentence(report, record.sentence, said)
    return space


def halfspaces(report: Report, record: Ground, training: Examples) -> Spaces:
    """Return the rows of positive weight with their classes."""
    training.targets.check_classes(report, "seen")

    def blocks() -> Iterator[tuple[Array, Index, Index]]:
        for block in training.store:
            yield block["x"], block["target"][:, 0].astype(np.intp), block["numbers"]

    return Spaces(blocks, len(record.columns), len(record.classes or ()))


def check_sum(report: Report, spaces: Spaces, stated: Sum) -> tuple[Halfspaces, list[int], list[int]]:
    """Check that the weighted sum of some rows is zero; return them, their places and the classes they are compared with."""
    space, places = spaces.picked(stated.rows)
    strange = [row for row in stated.rows if row not in places]
    report.check(
        "the rows of the sum are training rows", bool(stated.rows) and not strange, str(strange[:3] or len(stated.rows))
    )
    rows = [places[row] for row in stated.rows]
    own = space.own[rows].tolist()
    against = [1 - k for k in own] if stated.against is None and space.classes == 2 else stated.against or []
    fit = len(against) == len(own) and all(
        k != a and 0 <= k < space.classes for a, k in zip(own, against, strict=False)
    )
    report.check("every row of the sum is compared with another class", fit, f"{len(against)} classes")
    try:
        space.check_sum(rows, stated.weights, against)
        bad = ""
    except NotProvenError as error:
        bad = str(error)
    report.check(
        "the sum of these rows, each with a weight above 0, is zero (exact)", not bad, bad or f"{len(rows)} rows"
    )
    return space, rows, against
