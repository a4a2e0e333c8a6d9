"""What a file says about the rows it was made from: their columns, how cells become numbers, and which rows they are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lineal.container import digest
from lineal.errors import ModelFileError
from lineal.verify.reading.labels import Listing
from lineal.verify.terms import BY_KIND, NEAR_KERNELS, PRODUCT, TOGETHER, inputs
from lineal.verify.terms import names as term_names

INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Ground:
    """The fields that a model and a separability record have in common."""

    columns: list[str]
    terms: list[dict[str, Any]]
    intercept: bool
    targets: list[str]
    labels: bool
    classes: list[Any] | None
    weight: str | None
    offset: str | None
    rows: int
    weight_sum: float
    without_target: int
    split: Mapping[str, Any] | None
    fingerprint: str | None
    counts: tuple[str, str] | None
    encoding: tuple[str | None, str]
    complete: tuple[str, ...]
    marks: Mapping[str, list[str]]
    listing: Listing | None

    @property
    def needed(self) -> dict[str, str]:
        """Names of the data columns that take part, each with its type in the fingerprint."""
        taken = [pair for term in self.terms for pair in inputs(term)]
        kinds = {**dict(taken), **{name: kind for name, kind in taken if kind == "t"}}
        if self.counts is not None:
            kinds.update(dict.fromkeys(self.counts, "n"))
        else:
            kinds.update(dict.fromkeys(self.targets, "n" if self.classes is None or self.labels else "t"))
        kinds.update({name: "n" for name in (self.weight, self.offset) if name is not None})
        return kinds

    @property
    def read(self) -> list[str]:
        """Names of the data columns that are looked at: those needed, the one the split goes by, those without gaps."""
        more = [*([] if self.divider is None else [self.divider]), *self.complete]
        needed = list(self.needed)
        if self.listing is not None:
            needed = [*(name for name in needed if name not in self.targets), self.listing.column]
        return [*needed, *(name for name in dict.fromkeys(more) if name not in needed or name == self.divider)]

    @property
    def divider(self) -> str | None:
        """The data column that the split goes by, None if it goes by row numbers."""
        if self.split is None or "by" not in self.split:
            return None
        return self.targets[0] if self.split["by"] == "stratified" else str(self.split["column"])

    @property
    def produced(self) -> list[str]:
        """Names of the design columns that the terms make."""
        names = [INTERCEPT] if self.intercept else []
        for term in self.terms:
            names += term_names(term)
        return names


def ground(meta: Mapping[str, Any], classes: list[Any] | None, targets: list[str]) -> Ground:
    """Return what a file says about its rows; ``classes`` and ``targets`` are those of its target."""
    columns = texts(meta, "columns")
    split = field(meta, "training.split", dict, type(None))
    return Ground(
        columns=columns,
        terms=_terms(meta, columns),
        intercept=columns[:1] == [INTERCEPT] if meta["encoder"] is None else field(meta, "encoder.intercept", bool),
        targets=targets,
        labels=field(meta, "target.kind", str) == "labels",
        classes=classes,
        weight=field(meta, "roles.weight", str, type(None)),
        offset=field(meta, "roles.offset", str, type(None)),
        rows=whole(meta, "training.rows"),
        weight_sum=real(meta, "training.weight_sum"),
        without_target=whole(meta, "training.without_target"),
        split=None if split is None else _split(meta, split),
        fingerprint=field(meta, "training.fingerprint", str, type(None)),
        counts=_counts(meta, classes, targets),
        encoding=_encoding(meta),
        complete=tuple(texts(meta, "training.complete")) if "complete" in meta["training"] else (),
        marks=_marks(meta),
        listing=_listing(meta, targets),
    )


def _marks(meta: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the texts that stand for missing cells, by column; a column that is not named has the usual ones."""
    if meta["encoder"] is None or "marks" not in meta["encoder"]:
        return {}
    marks: dict[str, list[str]] = field(meta, "encoder.marks", dict)
    if not marks or any(
        not isinstance(own, list) or not all(isinstance(mark, str) and mark for mark in own) for own in marks.values()
    ):
        raise ModelFileError("the field encoder.marks of the model file must hold lists of texts, by column.")
    return marks


def _encoding(meta: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the hash of the encoding that a file states (None in version 1), and that of the fields as they are read here.

    A field that this checker does not read is not in the second, so that a file which has one is refused.
    """
    encoder = field(meta, "encoder", dict, type(None))
    own = {
        "columns": texts(meta, "columns"),
        "encoder": None
        if encoder is None
        else {
            "intercept": field(meta, "encoder.intercept", bool),
            "terms": field(meta, "encoder.terms", list),
            **({"marks": field(meta, "encoder.marks", dict)} if "marks" in encoder else {}),
        },
        "roles": {name: field(meta, f"roles.{name}", str, type(None)) for name in ("weight", "offset")},
        "target": {
            "name": field(meta, "target.name", str),
            "kind": field(meta, "target.kind", str),
            "classes": field(meta, "target.classes", list, type(None)),
            "names": field(meta, "target.names", list, type(None)),
        },
    }
    own |= {"feature_map": field(meta, "feature_map", dict)} if "feature_map" in meta else {}
    stated = field(meta, "encoding", str) if "encoding" in meta or meta["version"] != 1 else None
    return stated, digest(own)


def _counts(meta: Mapping[str, Any], classes: list[Any] | None, targets: list[str]) -> tuple[str, str] | None:
    """Return the columns of successes and failures, None if the target is not such counts."""
    if "counts" not in meta["training"]:
        return None
    counts = texts(meta, "training.counts")
    if len(counts) != 2 or classes != [counts[1], counts[0]] or targets != [f"{counts[0]},{counts[1]}"]:
        raise ModelFileError("target and training.counts do not fit each other.")
    return counts[0], counts[1]


def _listing(meta: Mapping[str, Any], targets: list[str]) -> Listing | None:
    """Return the column that lists the labels of a row, None where they are columns, or there are none."""
    if "labels" not in meta["training"]:
        return None
    column = field(meta, "training.labels.column", str)
    if field(meta, "target.kind", str) != "labels" or not all(name.startswith(f"{column}=") for name in targets):
        raise ModelFileError("target and training.labels do not fit each other.")
    return Listing(column, field(meta, "training.labels.by", str, type(None)))


def field(meta: Mapping[str, Any], path: str, *kinds: type) -> Any:
    """Return a field by its dotted path; refuse the file if it is absent or of another type."""
    value: Any = meta
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            raise ModelFileError(f"the model file lacks the field {path}.")
        value = value[key]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise ModelFileError(f"the field {path} of the model file is of the wrong type.")
    return value


def number(value: object) -> bool:
    """Return whether a value of the JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def counted(value: object) -> int:
    """Return a value of the JSON that is a whole number; -1 for any other."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def figure(evidence: Mapping[str, Any], name: str) -> float | None:
    """Return a number of the evidence by name; None if it does not hold one."""
    value = evidence.get(name)
    return float(value) if isinstance(value, int | float) and number(value) else None


def real(meta: Mapping[str, Any], path: str) -> float:
    """Return a finite number that is not below zero."""
    value = float(field(meta, path, float, int))
    if not (math.isfinite(value) and value >= 0.0):
        raise ModelFileError(f"the field {path} of the model file must be a number of at least 0.")
    return value


def whole(meta: Mapping[str, Any], path: str) -> int:
    """Return a whole number that is not below zero and fits 64 bits."""
    value = int(field(meta, path, int))
    if not 0 <= value < 2**64:
        raise ModelFileError(f"the field {path} of the model file must be a whole number of at least 0.")
    return value


def texts(meta: Mapping[str, Any], path: str) -> list[str]:
    """Return a list of different texts."""
    value = field(meta, path, list)
    if not all(isinstance(item, str) for item in value) or len(set(value)) != len(value):
        raise ModelFileError(f"the field {path} of the model file must be a list of different texts.")
    return list(value)


def _split(meta: Mapping[str, Any], split: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the split, its fields checked."""
    shares = [real(meta, f"training.split.{name}") for name in ("test_size", "validation_size") if name in split]
    whole(meta, "training.split.seed")
    by, column = split.get("by", "row"), split.get("column")
    fields_known = set(split) <= {"seed", "test_size", "validation_size", "by", "column"} and "test_size" in split
    fine = by == "row" or (by == "stratified" and column is None) or (by in ("group", "time", "column") and column)
    if not fields_known or not fine or not isinstance(column, str | None) or not 0.0 <= sum(shares) < 1.0:
        raise ModelFileError("the field training.split of the model file is not a split that this checker knows.")
    return split


def _terms(meta: Mapping[str, Any], columns: list[str]) -> list[dict[str, Any]]:
    """Return the terms of the encoder; a model of arrays has one plain number term per column."""
    if field(meta, "encoder", dict, type(None)) is None:
        return [
            {"kind": "number", "column": name, "fill": None, "indicator": False}
            for name in columns
            if name != INTERCEPT
        ]
    terms = field(meta, "encoder.terms", list)
    for term in terms:
        kind = field(term, "kind", str)
        if kind not in TOGETHER:
            _check_term(term)
            continue
        most = 10 if kind == PRODUCT else 140
        near = NEAR_KERNELS.get(kind)
        more, least = (set[str](), 2) if near is None else (near.FIELDS, 1)
        if set(term) != {"kind", "factors", *more} or not least <= len(field(term, "factors", list)) <= most:
            raise ModelFileError(
                f"a {kind} term must have {least} to {most} factors, and no field that it does not know."
            )
        for factor in term["factors"]:
            _check_term(factor)
            if kind != PRODUCT and len(term_names(factor)) != 1:
                raise ModelFileError(f"a factor of a {kind} term must be one column.")
        if near is not None:
            near.check(term)
    return list(terms)


def _check_term(term: Mapping[str, Any]) -> None:
    """Refuse a term whose fields are not those of its kind."""
    kind = field(term, "kind", str)
    if kind not in BY_KIND:
        raise ModelFileError(f"this checker does not know terms of kind {kind!r}.")
    twin = BY_KIND[kind]
    more = {name: kinds for name, kinds in getattr(twin, "OPTIONAL", {}).items() if name in term}
    if set(term) != {"kind", *twin.FIELDS, *more}:
        raise ModelFileError(f"a {kind} term must have the fields {', '.join(twin.FIELDS)}, and no other.")
    for name, kinds in {**twin.FIELDS, **more}.items():
        if isinstance(field(term, name, *kinds), list) and name not in getattr(twin, "OWN_LISTS", ()):
            texts(term, name)
    if hasattr(twin, "check"):
        twin.check(term)


def plain_numbers(term: Mapping[str, Any]) -> bool:
    """Return whether a term is a column of an array: a number that is never missing."""
    return term["kind"] == "number" and term["fill"] is None
