"""What a model file claims, taken apart: every field has its type, or the file is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.charges import Charges
from lineal.verify.ground import Ground, field, figure, ground, real, texts

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Claims(Ground):
    """The fields of a model file that are checked."""

    loss: str
    outputs: int
    parameter: float
    penalty: str
    strength: float
    charges: Charges
    stated: Array
    stated_as: str | None
    tol: float
    kind: str
    sentence: str
    gap: float | None
    relative_gap: float | None
    reason: str | None
    evidence: dict[str, Any]
    coef: Array
    arrays: dict[str, Array]

    def figure(self, name: str) -> float | None:
        """Return a number of the evidence; None where there is none of that name."""
        return figure(self.evidence, name)


LOSSES: dict[str, str | None] = {
    **dict.fromkeys(("squared", "absolute", "poisson", "logistic", "hinge", "squared-hinge", "softmax")),
    **dict.fromkeys(("crammer-singer", "sparsemax", "zero-one")),
    "quantile": "q",
    "huber": "threshold",
    "epsilon-insensitive": "epsilon",
    "squared-epsilon-insensitive": "epsilon",
    "perceptron": "tie",
}
"""Every loss, with the name of its parameter where it has one."""
TWO_CLASSES = ("logistic", "hinge", "squared-hinge", "zero-one")
CLASSES = (*TWO_CLASSES, "softmax", "crammer-singer", "sparsemax", "perceptron")
PENALTIES = ("none", "ridge", "l1", "elastic", "group")


def take_apart(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Claims:
    """Return the claims of a file, or refuse it naming the field that is not as docs/model-file.md says."""
    loss, outputs, parameter = _loss(meta)
    columns = texts(meta, "columns")
    classes, targets = _target(meta, loss, outputs)
    shapes: dict[str, tuple[int, ...]] = {"coef": (len(columns), outputs)}
    shapes |= dict.fromkeys(("charges", "lower", "upper", "center"), (len(columns),))
    shapes |= {"theta": (len(np.atleast_1d(arrays["theta"])), outputs)} if "theta" in arrays else {}
    shapes |= {"covariance": (len(columns) * outputs,) * 2, "direction": (len(columns), outputs)}
    evidence = field(meta, "verdict.evidence", dict)
    penalty, strength, stated, charges = _penalty(meta, arrays, shapes)
    stated_as = field(meta, "report", dict).get("charges")
    return Claims(
        **vars(ground(meta, classes, targets)),
        loss=loss,
        outputs=outputs,
        parameter=parameter,
        penalty=penalty,
        strength=strength,
        charges=charges,
        stated=stated,
        stated_as=stated_as if isinstance(stated_as, str) and penalty != "none" else None,
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
    if own == "tie":
        tie = float(field(meta, "loss.tie", float, int))
        if tie not in (-1.0, 0.0, 1.0):
            raise ModelFileError("the field loss.tie of the model file is out of range.")
        return name, outputs, tie
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
    two = loss in TWO_CLASSES or (loss == "perceptron" and len(classes or ()) == 2)
    expected = 1 if two else len(classes or ()) if loss in CLASSES else len(targets)
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
