"""What a model file claims, taken apart: every field has its type, or the file is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.charges import Charges
from lineal.verify.terms import BY_KIND
from lineal.verify.terms import number as number_term

Array = npt.NDArray[np.float64]
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Claims:
    """The fields of a model file that are checked."""

    loss: str
    outputs: int
    parameter: float
    penalty: str
    strength: float
    charges: Charges
    stated: Array
    stated_as: str | None
    columns: list[str]
    terms: list[dict[str, Any]]
    intercept: bool
    targets: list[str]
    classes: list[Any] | None
    weight: str | None
    offset: str | None
    rows: int
    weight_sum: float
    without_target: int
    split: tuple[int, float] | None
    fingerprint: str | None
    tol: float
    kind: str
    sentence: str
    gap: float | None
    relative_gap: float | None
    reason: str | None
    evidence: dict[str, Any]
    coef: Array
    arrays: dict[str, Array]

    @property
    def needed(self) -> dict[str, str]:
        """Names of the data columns that take part, each with its type in the fingerprint."""
        found = {term["column"]: str(BY_KIND[term["kind"]].TYPE) for term in self.terms}
        found.update(dict.fromkeys(self.targets, "n" if self.classes is None else "t"))
        found.update({name: "n" for name in (self.weight, self.offset) if name is not None})
        return found

    def figure(self, name: str) -> float | None:
        """Return a number of the evidence; None where there is none of that name."""
        value = self.evidence.get(name)
        return float(value) if isinstance(value, int | float) and number(value) else None


def number(value: object) -> bool:
    """Return whether a value of the JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


LOSSES: dict[str, str | None] = {
    **dict.fromkeys(("squared", "absolute", "poisson", "logistic", "hinge", "squared-hinge", "softmax")),
    **dict.fromkeys(("crammer-singer", "sparsemax")),
    "quantile": "q",
    "huber": "threshold",
    "epsilon-insensitive": "epsilon",
    "squared-epsilon-insensitive": "epsilon",
}
"""Every loss, with the name of its parameter where it has one."""
TWO_CLASSES = ("logistic", "hinge", "squared-hinge")
CLASSES = (*TWO_CLASSES, "softmax", "crammer-singer", "sparsemax")
PENALTIES = ("none", "ridge", "l1", "elastic", "group")


def take_apart(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Claims:
    """Return the claims of a file, or refuse it naming the field that is not as docs/model-file.md says."""
    loss, outputs, parameter = _loss(meta)
    columns = texts(meta, "columns")
    classes, targets = _target(meta, loss, outputs)
    split = field(meta, "training.split", dict, type(None))
    shapes: dict[str, tuple[int, ...]] = {"coef": (len(columns), outputs)}
    shapes |= dict.fromkeys(("charges", "lower", "upper"), (len(columns),))
    shapes |= {"theta": (len(np.atleast_1d(arrays["theta"])), outputs)} if "theta" in arrays else {}
    shapes |= {"covariance": (len(columns) * outputs,) * 2, "direction": (len(columns), outputs)}
    evidence = field(meta, "verdict.evidence", dict)
    penalty, strength, stated, charges = _penalty(meta, arrays, shapes)
    stated_as = field(meta, "report", dict).get("charges")
    return Claims(
        loss=loss,
        outputs=outputs,
        parameter=parameter,
        penalty=penalty,
        strength=strength,
        charges=charges,
        stated=stated,
        stated_as=stated_as if isinstance(stated_as, str) and penalty != "none" else None,
        columns=columns,
        terms=_terms(meta, columns),
        intercept=columns[:1] == [INTERCEPT] if meta["encoder"] is None else field(meta, "encoder.intercept", bool),
        targets=targets,
        classes=classes,
        weight=field(meta, "roles.weight", str, type(None)),
        offset=field(meta, "roles.offset", str, type(None)),
        rows=whole(meta, "training.rows"),
        weight_sum=real(meta, "training.weight_sum"),
        without_target=whole(meta, "training.without_target"),
        split=None if split is None else (whole(meta, "training.split.seed"), real(meta, "training.split.test_size")),
        fingerprint=field(meta, "training.fingerprint", str, type(None)),
        tol=real(meta, "tol"),
        kind=field(meta, "verdict.kind", str),
        sentence=field(meta, "verdict.sentence", str),
        gap=None if field(meta, "verdict.gap", float, int, type(None)) is None else real(meta, "verdict.gap"),
        relative_gap=None
        if field(meta, "verdict.relative_gap", float, int, type(None)) is None
        else real(meta, "verdict.relative_gap"),
        reason=field(meta, "verdict.reason", str, type(None)),
        evidence=evidence,
        coef=_array(arrays, "coef", shapes),
        arrays={name: _array(arrays, name, shapes) for name in arrays},
    )


def _loss(meta: Mapping[str, Any]) -> tuple[str, int, float]:
    """Return name, number of outputs and parameter of the loss."""
    name, outputs = field(meta, "loss.name", str), field(meta, "loss.outputs", int)
    if name not in LOSSES:
        raise ModelFileError(f"this checker does not know the loss {name!r}.")
    own = LOSSES[name]
    if set(meta["loss"]) != {"name", "outputs", own} - {None}:
        raise ModelFileError(f"the loss {name} has other fields than it must have.")
    parameter = 0.0 if own is None else real(meta, f"loss.{own}")
    if (own == "q" and not 0.0 < parameter < 1.0) or (own == "threshold" and not parameter > 0.0):
        raise ModelFileError(f"the field loss.{own} of the model file is out of range.")
    return name, outputs, parameter


def _target(meta: Mapping[str, Any], loss: str, outputs: int) -> tuple[list[Any] | None, list[str]]:
    """Return the classes, if any, and the names of the target columns."""
    classes = field(meta, "target.classes", list, type(None))
    kind = field(meta, "target.kind", str)
    names = texts(meta, "target.names") if field(meta, "target.names", list, type(None)) is not None else None
    targets = names or [field(meta, "target.name", str)]
    expected = 1 if loss in TWO_CLASSES else len(classes or ()) if loss in CLASSES else len(targets)
    numbers = loss not in CLASSES
    if (kind == "number") != numbers or (classes is None) != numbers or outputs != expected:
        raise ModelFileError("target and loss do not fit each other.")
    if numbers and loss != "squared" and outputs != 1:
        raise ModelFileError(f"{loss} loss has one target.")
    if classes is not None and (len(set(map(repr, classes))) != len(classes) or len(classes) < 2):
        raise ModelFileError("target.classes must name at least two different classes.")
    if classes is not None and loss in TWO_CLASSES and len(classes) != 2:
        raise ModelFileError(f"target.classes must name two classes for {loss} loss.")
    return classes, targets


def _penalty(
    meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[str, float, Array, Charges]:
    """Return name (that of the inner penalty, where there are bounds), strength, charges as stated, and what they cost."""
    bounded = field(meta, "penalty.name", str) == "bounds"
    where = "penalty.inner" if bounded else "penalty"
    name = field(meta, f"{where}.name", str)
    if name not in PENALTIES or (bounded and name == "group"):
        raise ModelFileError(f"this checker does not know the penalty {name!r}{' within bounds' if bounded else ''}.")
    zero = np.zeros(shapes["charges"])
    lower = _array(arrays, "lower", shapes) if bounded else zero - np.inf
    upper = _array(arrays, "upper", shapes) if bounded else zero + np.inf
    if name == "none":
        return name, 0.0, zero, Charges(zero, zero, lower, upper)
    strength, stated = real(meta, f"{where}.strength"), _array(arrays, "charges", shapes)
    if name == "ridge":
        return name, strength, stated, Charges(zero, strength * stated, lower, upper)
    ratio = real(meta, f"{where}.l1_ratio") if name == "elastic" else 1.0
    if ratio > 1.0:
        raise ModelFileError(f"the field {where}.l1_ratio of the model file must be at most 1.")
    with np.errstate(over="ignore", invalid="ignore"):
        linear = strength * ratio * stated
        square = strength * (1.0 - ratio) * stated**2 if ratio < 1.0 else zero
    return name, strength, stated, Charges(linear, square, lower, upper, group=name == "group")


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
        if kind not in BY_KIND:
            raise ModelFileError(f"this checker does not know terms of kind {kind!r}.")
        fields = BY_KIND[kind].FIELDS
        if set(term) != {"kind", *fields}:
            raise ModelFileError(f"a {kind} term must have the fields {', '.join(fields)}, and no other.")
        for name, kinds in fields.items():
            value = field(term, name, *kinds)
            if isinstance(value, list):
                texts(term, name)
    names = [term["column"] for term in terms]
    if len(set(names)) != len(names):
        raise ModelFileError("two terms of the encoder take the same column.")
    return list(terms)


def _array(arrays: Mapping[str, npt.NDArray[Any]], name: str, shapes: Mapping[str, tuple[int, ...]]) -> Array:
    if name not in arrays:
        raise ModelFileError(f"the model file lacks the array {name!r}.")
    array = arrays[name]
    expected = shapes.get(name, (shapes["coef"][0], *array.shape[1:2]) if name == "null_space" else None)
    open_end = {"lower": -np.inf, "upper": np.inf}.get(name, 0.0)
    finite = bool(np.all(np.isfinite(array) | (array == open_end))) if array.dtype == np.float64 else False
    if array.shape != expected or not finite:
        raise ModelFileError(
            f"the array {name!r} of the model file does not have the type, shape or finite values it must have."
        )
    return array


def plain_numbers(term: Mapping[str, Any]) -> bool:
    """Return whether a term is a column of an array: a number that is never missing."""
    return BY_KIND[term["kind"]] is number_term and term["fill"] is None
