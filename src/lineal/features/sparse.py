"""Learn from an SVMlight file: the features that vary, and what the label is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.features.terms import Number
from lineal.features.types import target_type
from lineal.features.types.decision import Reread
from lineal.features.types.survey import Column
from lineal.features.types.target_type import Model
from lineal.model.target import Target
from lineal.tables.svmlight import LABEL
from lineal.tables.tabular import Table


def learn_sparse(
    table: Table, drop: Sequence[str], model: Model, positive: str | None = None
) -> tuple[Encoder, Target, dict[str, Any]]:
    """Return encoder, target and report; one pass. An absent feature is zero, never missing."""
    label = Column(LABEL)
    label.values.distinct = {}
    counts = np.zeros(0, dtype=np.int64)
    low, high = np.zeros(0), np.zeros(0)
    rows = 0
    for numbers, batch in table.numbered():
        rows += batch.num_rows
        label.rows += batch.num_rows
        label.kinds.add("number")
        label.straight = True
        label.values.add(batch.y, numbers)
        size = int(batch.features.max(initial=-1)) + 1
        if size > len(counts):
            counts = np.append(counts, np.zeros(size - len(counts), dtype=np.int64))
            low = np.append(low, np.full(size - len(low), np.inf))
            high = np.append(high, np.full(size - len(high), -np.inf))
        counts[:size] += np.bincount(batch.features, minlength=size)
        np.minimum.at(low, batch.features, batch.values)
        np.maximum.at(high, batch.features, batch.values)
    if not rows:
        raise InputError(f"{table.origin} has no rows to learn from.")
    target, sizes, sentence = target_type.with_positive(_target(label, table, model), positive)
    absent = counts < rows
    low, high = np.where(absent, np.minimum(low, 0.0), low), np.where(absent, np.maximum(high, 0.0), high)
    dropped = {str(name) for name in drop}
    unknown = dropped - {str(f) for f in np.flatnonzero(counts)}
    if unknown:
        raise InputError(f"{table.origin} has no feature {min(unknown)!r} to drop.")
    constant = [str(f) for f in np.flatnonzero((counts > 0) & (low == high)) if str(f) not in dropped]
    terms = tuple(
        Number(str(f), 0.0, indicator=False)
        for f in np.flatnonzero((counts > 0) & (low < high))
        if str(f) not in dropped
    )
    if not terms:
        raise InputError(f"no feature of {table.origin} varies, so there is nothing to predict from.")
    sentences = [sentence, f"{len(terms)} features are numbers; one that a row does not list is zero there."]
    if constant:
        sentences.append(f"{len(constant)} feature{'' if len(constant) == 1 else 's'} with one value only left out.")
    report = {
        "rows": rows,
        "without_target": 0,
        "columns": [{"column": term.column, "type": "number", "missing": 0, "levels": None} for term in terms],
        "dropped": [{"column": name, "why": "it has the same value in every row"} for name in constant]
        + [{"column": name, "why": "as asked"} for name in drop],
        "target": {
            "column": LABEL,
            "kind": target.kind,
            "classes": None if target.classes is None else list(target.classes),
            "counts": sizes,
        },
        "sentences": sentences,
    }
    return Encoder(intercept=True, terms=terms), target, report


def _target(label: Column, table: Table, model: Model) -> target_type.Decided:
    _check_far(label, table, model)
    decided = target_type.decide([label], table, model)
    if isinstance(decided, Reread):
        raise InputError(f"the labels of {table.origin} are not whole numbers, so they cannot be classes.")
    return decided


def _check_far(label: Column, table: Table, model: Model) -> None:
    """Raise an InputError if labels that would be classes are beyond 2^53, since they are read as doubles."""
    few = label.values.whole and len(label.values.distinct or ()) <= target_type.MAX_NUMBER_CLASSES
    if label.values.far and model != "number" and (few or model == "classes"):
        raise InputError(
            f"the labels of {table.origin} go from {label.values.low:.17g} to {label.values.high:.17g}: beyond 2^53 different "
            "ones may be the same double, so they cannot be classes; number the classes from 0."
        )
