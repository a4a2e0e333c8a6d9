"""What a model file claims, taken apart: every field has its type, or the file is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array
from lineal.verify.claims.ground import Ground, field, figure, ground, real, texts
from lineal.verify.losses import BY_NAME
from lineal.verify.losses.loss import Loss
from lineal.verify.losses.simplex import Sparsemax
from lineal.verify.problem.penalties import KINDS, Penalty


@dataclass(frozen=True)
class Claims(Ground):
    """The fields of a model file that are checked."""

    loss: type[Loss]
    outputs: int
    parameter: float
    penalty_name: str
    strength: float
    penalty: Penalty
    penalty_factors: Array
    factor_units: tuple[str | float, ...] | None
    variances: tuple[float, float] | None
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
        """Return a number of the evidence by name; None if it does not hold one."""
        return figure(self.evidence, name)


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
    penalty_name, strength, factors, penalty = _penalty(meta, arrays, shapes)
    charges = field(meta, "report", dict).get("charges")
    intercept = columns[:1] == ["(intercept)"]
    return Claims(
        **vars(ground(meta, classes, targets)),
        loss=loss,
        outputs=outputs,
        parameter=parameter,
        penalty_name=penalty_name,
        strength=strength,
        penalty=penalty,
        penalty_factors=factors,
        factor_units=None if penalty_name == "none" else _factor_units(charges, len(columns), intercept),
        variances=_variances(meta),
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


def _factor_units(stated: object, columns: int, intercept: bool) -> tuple[str | float, ...] | None:
    """Return what the file says each penalty factor is: variance, sd, raw (1), none (0), a number; None if it says nothing."""
    units = ("variance", "sd", "raw")
    if isinstance(stated, str) and stated in units:
        return ("none",) * intercept + (stated,) * (columns - intercept)
    if (
        isinstance(stated, list)
        and len(stated) == columns
        and all(isinstance(unit, float) or unit in (*units, "none") for unit in stated)
    ):
        return tuple(stated)
    return None


def _variances(meta: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the noise and prior variance that a posterior is stated with; None where there is none."""
    stated = field(meta, "report", dict).get("bayes")
    if stated is None:
        return None
    noise, prior = real(meta, "report.bayes.noise"), real(meta, "report.bayes.prior")
    if not (noise > 0.0 and prior > 0.0):
        raise ModelFileError("the variances of report.bayes in the model file must be above zero.")
    return noise, prior


def _loss(meta: Mapping[str, Any]) -> tuple[type[Loss], int, float]:
    """Return the loss, its number of outputs and its parameter."""
    name, outputs = field(meta, "loss.name", str), field(meta, "loss.outputs", int)
    if name not in BY_NAME:
        raise ModelFileError(f"this checker does not know the loss {name!r}.")
    loss = BY_NAME[name]
    own = loss.field
    if set(meta["loss"]) != {"name", "outputs", own} - {None}:
        raise ModelFileError(f"the loss {name} has other fields than it must have.")
    if own is None:
        return loss, outputs, 0.0
    path = f"loss.{own}"
    parameter = float(field(meta, path, float, int)) if loss.signed else real(meta, path)
    if not loss.allows(parameter):
        raise ModelFileError(f"the field {path} of the model file is out of range.")
    return loss, outputs, parameter


def _target(meta: Mapping[str, Any], loss: type[Loss], outputs: int) -> tuple[list[Any] | None, list[str]]:
    """Return the classes, if any, and the names of the target columns."""
    classes = field(meta, "target.classes", list, type(None))
    kind = field(meta, "target.kind", str)
    if kind == "labels":
        shared = texts(meta, "target.names")
        if loss is not Sparsemax or classes is not None or len(shared) != outputs or outputs < 2:
            raise ModelFileError("labels need a member each, or sparsemax loss with a score for each.")
        return list(shared), shared
    names = texts(meta, "target.names") if field(meta, "target.names", list, type(None)) is not None else None
    targets = names or [field(meta, "target.name", str)]
    numbers = loss.targets == "numbers"
    expected = len(targets) if numbers else loss.outputs_for(len(classes or ()))
    if (kind == "number") != numbers or (classes is None) != numbers or outputs != expected:
        raise ModelFileError("target and loss do not fit each other.")
    if numbers and outputs != 1 and not loss.many_targets:
        raise ModelFileError(f"{loss.name} loss has one target.")
    if classes is not None and (len(set(map(repr, classes))) != len(classes) or len(classes) < 2):
        raise ModelFileError("target.classes must name at least two different classes.")
    if classes is not None and loss.targets == "two classes" and len(classes) != 2:
        raise ModelFileError(f"target.classes must name two classes for {loss.name} loss.")
    return classes, targets


def _penalty(
    meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]
) -> tuple[str, float, Array, Penalty]:
    """Return name (that of the inner penalty, where there are bounds), strength, penalty factors, and the penalty itself."""
    bounded = field(meta, "penalty.name", str) == "bounds"
    where = "penalty.inner" if bounded else "penalty"
    name = field(meta, f"{where}.name", str)
    kind = KINDS.get(name)
    if kind is None or (bounded and kind.group):
        raise ModelFileError(f"this checker does not know the penalty {name!r}{' within bounds' if bounded else ''}.")
    zero = np.zeros(shapes["charges"])
    lower = _array(arrays, "lower", shapes) if bounded else zero - np.inf
    upper = _array(arrays, "upper", shapes) if bounded else zero + np.inf
    numbers = {number: real(meta, f"{where}.{number}") for number in kind.fields}
    factors = _array(arrays, "charges", shapes) if kind.fields else zero
    if numbers.get("l1_ratio", 0.0) > 1.0:
        raise ModelFileError(f"the field {where}.l1_ratio of the model file must be at most 1.")
    with np.errstate(over="ignore", invalid="ignore"):
        linear, square = kind.costs(factors, *numbers.values())
    return name, numbers.get("strength", 0.0), factors, Penalty(linear, square, lower, upper, group=kind.group)


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
