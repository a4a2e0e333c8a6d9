"""Model files to Models: every field checked, none trusted (docs/model-file.md)."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal import container, penalties
from lineal.api import feature_maps
from lineal.errors import InputError, ModelFileError, near
from lineal.ground.arrays import Array
from lineal.losses import Coded, Softmax, by_name
from lineal.losses.coded import MARGIN_LOSSES
from lineal.losses.loss import Loss
from lineal.model.encoder import Encoder
from lineal.model.feature_map import FeatureMap
from lineal.model.model import MAP_PREFIX, Model
from lineal.model.target import Target
from lineal.model.verdict import KINDS, Verdict
from lineal.multiclass.codes import SCHEMES
from lineal.multiclass.committee import SHARED_FIELDS, Committee, score
from lineal.penalties import Bounds
from lineal.penalties.penalty import Penalty

FIELDS: Final = (
    "format", "version", "made_by", "loss", "penalty", "columns", "target", "encoder",
    "roles", "training", "tol", "verdict", "solver", "report",
)  # fmt: skip
STREAM: Final = ("iterate", "iterate_sum", "progress")
"""What a stream is continued from."""

ARRAYS: Final = (
    "coef", "charges", "lower", "upper", "covariance", "direction", "null_space", "theta", "center", *STREAM,
)  # fmt: skip


def load(path: str | os.PathLike[str]) -> Model:
    """Return the model a file holds; no code of the file is ever run.

    >>> load("no such file.lineal")
    Traceback (most recent call last):
    lineal.errors.InputError: there is no model file 'no such file.lineal'; lineal fit writes one.
    """
    meta, arrays = container.read(path)
    try:
        loaded = model(meta, arrays)
        _sealed(meta)
    except (ModelFileError, InputError) as error:
        raise ModelFileError(f"{os.fspath(path)} is refused: {error}") from None
    return loaded


def _sealed(meta: Mapping[str, Any]) -> None:
    """Refuse a file whose encoding is not the one that its hash names; version 1 has none."""
    if meta["version"] == 1:
        return
    if meta.get("encoding") != container.encoding(meta):
        raise ModelFileError("its encoding is not the one whose hash it states: the file was altered.")


def model(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Model:
    """Return the model that the JSON and the arrays of a file describe."""
    if meta.get("format") != container.FORMATS[0]:
        raise ModelFileError("it holds no model but the answer of lineal separable; lineal verify checks it.")
    if "members" in meta:
        return _committee(meta, arrays)
    _keys(meta, "the file", (*FIELDS, "encoding", "feature_map"), FIELDS)
    loss = _loss(meta)
    outputs = loss.outputs
    target = _target(_object(meta, "target", ("name", "kind", "classes", "names")), type(loss), outputs)
    columns = tuple(_texts(meta["columns"], "columns"))
    coef = _array(arrays, "coef", (len(columns), outputs))
    verdict = _verdict(_object(meta, "verdict", ("kind", "sentence", "gap", "relative_gap", "reason", "evidence")))
    solver = _object(meta, "solver", ("name", "reason"))
    feature_map = feature_maps.read(meta, arrays, columns)
    arrays = {name: array for name, array in arrays.items() if not name.startswith(MAP_PREFIX)}
    encoder = _encoder(meta["encoder"], columns, feature_map)
    for name in arrays:
        if name not in ARRAYS:
            raise ModelFileError(f"it holds an array {name!r}; the arrays of a model are {', '.join(ARRAYS)}.")
    _text(meta, "", "made_by")
    return Model(
        coef=coef,
        columns=columns,
        loss=loss,
        penalty=_penalty(meta, arrays, len(columns)),
        target=target,
        verdict=verdict,
        encoder=encoder,
        solver=_text(solver, "solver", "name"),
        reason=_text(solver, "solver", "reason"),
        tol=_tolerance(meta),
        roles=_roles(_object(meta, "roles", ("weight", "offset"))),
        training=_training(meta["training"]),
        report=_mapping(meta["report"], "report"),
        arrays=_evidence_arrays(arrays, verdict.kind, len(columns), loss),
        feature_map=feature_map,
    )


def _committee(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Committee:
    """Return a committee: what is shared is said once, every member is a model of two classes."""
    needed = (*(name for name in FIELDS if name not in ("loss", "penalty", "solver")), "multiclass", "members")
    _keys(meta, "the file", (*needed, "encoding"), needed)
    about = {"decode": "distance", **_mapping(meta["multiclass"], "multiclass")}
    _keys(about, "multiclass", ("scheme", "code", "distance", "decode"), ("scheme", "code", "distance"))
    if about["decode"] != "distance" and (about["scheme"] != "ecoc" or about["decode"] not in MARGIN_LOSSES):
        raise ModelFileError(
            f"multiclass.decode is {about['decode']!r}; known are distance, {', '.join(MARGIN_LOSSES)}."
        )
    data = _mapping(meta["target"], "target")
    target = _target(data, Softmax, len(data.get("classes") or ()))
    columns = tuple(_texts(meta["columns"], "columns"))
    encoder = _encoder(meta["encoder"], columns)
    words, listed = _words(about, len(target.classes or ())), meta["members"]
    if not isinstance(listed, list) or len(listed) != len(words[0]):
        raise ModelFileError(f"members must be a list of {len(words[0])} models, one for every column of the code.")
    shared = {name: meta[name] for name in SHARED_FIELDS if name not in ("encoder", "encoding")}
    members = []
    for number, part in enumerate(listed):
        own = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{number}.")}
        member = model({**_mapping(part, f"members.{number}"), **shared, "encoder": None}, own)
        if isinstance(member, Committee) or len(member.target.classes or ()) != 2:
            raise ModelFileError(f"members.{number} must be a model of two classes.")
        members.append(replace(member, encoder=encoder))
    for name in arrays:
        if not name.partition(".")[0].isdigit() or int(name.partition(".")[0]) >= len(members):
            raise ModelFileError(f"it holds an array {name!r} that belongs to no member.")
    return Committee(
        coef=np.column_stack([score(member) for member in members]),
        columns=columns,
        loss=Coded(words, summed=about["scheme"] == "ovr", by=str(about["decode"])),
        penalty=members[0].penalty,
        target=target,
        verdict=_verdict(_object(meta, "verdict", ("kind", "sentence", "gap", "relative_gap", "reason", "evidence"))),
        encoder=encoder,
        solver=members[0].solver,
        reason=f"{members[0].reason}; one of {len(members)} members",
        tol=_tolerance(meta),
        roles=_roles(_object(meta, "roles", ("weight", "offset"))),
        training=_training(meta["training"]),
        report=_mapping(meta["report"], "report"),
        members=tuple(members),
        scheme=str(about["scheme"]),
        distance=_integer(about, "multiclass", "distance", least=0),
    )


def _words(about: Mapping[str, Any], kinds: int) -> tuple[tuple[int, ...], ...]:
    """Check the code of a committee: one word of -1, 0 and 1 for every class, all of one length."""
    if about["scheme"] not in SCHEMES:
        raise ModelFileError(f"multiclass.scheme is {about['scheme']!r}; known are {', '.join(SCHEMES)}.")
    words = about["code"]
    fine = isinstance(words, list) and len(words) == kinds and all(isinstance(word, list) and word for word in words)
    if not fine or len({len(word) for word in words}) != 1:
        raise ModelFileError("multiclass.code must hold one word for every class, all of one length.")
    if not all(type(entry) is int and entry in (-1, 0, 1) for word in words for entry in word):
        raise ModelFileError("multiclass.code must be made of -1, 0 and 1.")
    return tuple(tuple(word) for word in words)


def _loss(meta: Mapping[str, Any]) -> Loss:
    """Check the name, the number of outputs and the parameters that the loss of this name has."""
    data = _mapping(meta["loss"], "loss")
    _keys(data, "loss", tuple(data), ("name", "outputs"))
    name = _text(data, "loss", "name")
    kinds = by_name()
    if name not in kinds:
        raise ModelFileError(f"loss.name is {name!r}; known are {', '.join(kinds)}.{near(name, kinds)}")
    own = kinds[name].parameter_names()
    _keys(data, "loss", ("name", "outputs", *own), own)
    outputs = _integer(data, "loss", "outputs", least=1)
    loss = kinds[name].make(outputs, **{parameter: _number(data, "loss", parameter) for parameter in own})
    if loss.outputs != outputs:
        raise ModelFileError(f"loss.outputs is {outputs}; {name} loss has {loss.outputs}.")
    return loss


def _target(data: Mapping[str, Any], loss: type[Loss], outputs: int) -> Target:
    """Check that target, loss and number of outputs fit each other."""
    kind, classes, names = data["kind"], data["classes"], data["names"]
    name = _text(data, "target", "name")
    if not loss.of_classes():
        if kind != "number" or classes is not None:
            raise ModelFileError(f"target.kind must be 'number', without classes, for {loss.name} loss.")
        names = None if names is None else tuple(_texts(names, "target.names"))
        if outputs != (1 if names is None else len(names)):
            raise ModelFileError(f"loss.outputs is {outputs}, which does not fit target.names.")
        return Target(name, "number", names=names)
    if kind != "classes" or names is not None or not isinstance(classes, list):
        raise ModelFileError(f"target.kind must be 'classes', with a list of classes, for {loss.name} loss.")
    if not all(isinstance(item, str | int | float) for item in classes):
        raise ModelFileError("target.classes must be texts, numbers or Booleans.")
    if len({(type(item), item) for item in classes}) != len(classes):
        raise ModelFileError("target.classes names a class twice.")
    if len(classes) < 2 or outputs != loss.outputs_for(len(classes)):
        raise ModelFileError(f"loss.outputs is {outputs}, which does not fit {len(classes)} target.classes.")
    return Target(name, "classes", classes=tuple(classes))


def _penalty(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], columns: int) -> Penalty:
    """Return the penalty with its arrays; bounds hold another penalty within."""
    data = _mapping(meta["penalty"], "penalty")
    bounded = data.get("name") == Bounds.name
    if bounded:
        _keys(data, "penalty", ("name", "inner"), ("name", "inner"))
    inner = _charging(data["inner"] if bounded else data, "penalty.inner" if bounded else "penalty", arrays, columns)
    if bounded:
        lower, upper = (_array(arrays, name, (columns,), infinite=True) for name in ("lower", "upper"))
        return Bounds(lower, upper, inner)
    for name in ("lower", "upper"):
        if name in arrays:
            raise ModelFileError(f"it holds an array {name!r} but no bounds.")
    return inner


def _charging(value: object, where: str, arrays: Mapping[str, npt.NDArray[Any]], columns: int) -> Penalty:
    """Return a penalty that penalizes coefficients, without bounds."""
    data = _mapping(value, where)
    name = data.get("name")
    kind = penalties.by_name().get(name) if isinstance(name, str) else None
    if kind is None:
        names = [*penalties.by_name(), Bounds.name]
        hint = near(name, names) if isinstance(name, str) else ""
        raise ModelFileError(f"{where}.name is {name!r}; known are {', '.join(names)}.{hint}")
    fields = ("name", *kind.parameters)
    _keys(data, where, fields, fields)
    if not kind.parameters:
        if "charges" in arrays:
            raise ModelFileError("it holds an array 'charges' but no penalty.")
        return kind.make(np.zeros(columns))
    numbers = {name: _number(data, where, name) for name in kind.parameters}
    return kind.make(_array(arrays, "charges", (columns,)), **numbers)


def _verdict(data: Mapping[str, Any]) -> Verdict:
    kind = _text(data, "verdict", "kind")
    if kind not in KINDS:
        raise ModelFileError(f"verdict.kind is {kind!r}; known are {', '.join(KINDS)}.{near(kind, KINDS)}")
    _text(data, "verdict", "sentence")
    for name in ("gap", "relative_gap"):
        if data[name] is not None and _number(data, "verdict", name) < 0:
            raise ModelFileError(f"verdict.{name} is below zero.")
    if data["reason"] is not None:
        _text(data, "verdict", "reason")
    _mapping(data["evidence"], "verdict.evidence")
    return Verdict.from_dict(data)


def _encoder(data: object, columns: tuple[str, ...], feature_map: FeatureMap | None = None) -> Encoder | None:
    if data is None:
        return None
    from lineal.features.encoder import Encoder as Learned

    encoder: Encoder = Learned.from_dict(_mapping(data, "encoder"))
    if feature_map is None and tuple(encoder.columns) != columns:
        raise ModelFileError("columns are not the columns its encoder makes.")
    if feature_map is not None:
        feature_maps.check_inputs(feature_map, tuple(encoder.columns), columns)
    return encoder


def _roles(data: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if data[name] is None else _text(data, "roles", name) for name in ("weight", "offset")}


def _training(value: object) -> Mapping[str, Any]:
    """Check what is there; a model that was never fitted to rows (built by hand) has nothing there."""
    data = _mapping(value, "training")
    accepted = ("rows", "weight_sum", "without_target", "split", "fingerprint", "no_covariance", "counts", "complete")
    _keys(data, "training", accepted, ())
    for name in ("rows", "without_target"):
        if name in data:
            _integer(data, "training", name, least=0)
    if "weight_sum" in data and _number(data, "training", "weight_sum") < 0:
        raise ModelFileError("training.weight_sum is below zero.")
    for name in ("fingerprint", "no_covariance"):
        if data.get(name) is not None:
            _text(data, "training", name)
    whole = data.get("complete", ["x"])
    if not (isinstance(whole, list) and whole and all(isinstance(name, str) and name for name in whole)):
        raise ModelFileError("training.complete must name columns.")
    counts = data.get("counts", ["s", "f"])
    if not (isinstance(counts, list) and len(counts) == 2 and all(isinstance(name, str) and name for name in counts)):
        raise ModelFileError("training.counts must name two columns.")
    if data.get("split") is not None:
        split = _mapping(data["split"], "training.split")
        members = ("seed", "test_size", "validation_size", "by", "column")
        _keys(split, "training.split", members, ("seed", "test_size"))
        _integer(split, "training.split", "seed", least=0)
        if not 0 <= _number(split, "training.split", "test_size") < 1:
            raise ModelFileError("training.split.test_size must be at least 0 and below 1.")
        if "validation_size" in split and not 0 <= _number(split, "training.split", "validation_size") < 1:
            raise ModelFileError("training.split.validation_size must be at least 0 and below 1.")
        if split.get("by", "row") not in ("row", "stratified", "group", "time", "column"):
            raise ModelFileError(f"training.split.by is {split['by']!r}, which no split is called.")
        if split.get("column") is not None:
            _text(split, "training.split", "column")
    return data


def _evidence_arrays(
    arrays: Mapping[str, npt.NDArray[Any]], kind: str, columns: int, loss: Loss
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that belong to the verdict and to the loss; refuse any other."""
    outputs = loss.outputs
    wanted: dict[str, tuple[int, ...]] = {"covariance": (columns * outputs, columns * outputs), "center": (columns,)}
    sizes = {"columns": columns, "outputs": outputs}
    for name, shape in KINDS[kind].arrays.items():
        if name in arrays:
            own = arrays[name].shape[-1] if arrays[name].ndim else 0
            wanted[name] = tuple(
                own if size is None else sizes[size] if isinstance(size, str) else size for size in shape
            )
    if "theta" in arrays:
        if loss.smooth:
            raise ModelFileError(
                f"it holds an array 'theta', which {loss.name} loss, having a slope everywhere, does not need."
            )
        wanted["theta"] = (len(arrays["theta"]) if arrays["theta"].ndim else 0, outputs)
    checked = {name: _array(arrays, name, shape) for name, shape in wanted.items() if name in arrays}
    for name in set(arrays) - {"coef", "charges", "lower", "upper", *checked}:
        raise ModelFileError(f"it holds an array {name!r}, which a verdict {kind!r} does not have.")
    return checked


def _array(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, shape: tuple[int, ...], *, infinite: bool = False
) -> Array:
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


def _keys(data: Mapping[str, Any], where: str, accepted: tuple[str, ...], needed: tuple[str, ...]) -> None:
    for name in needed:
        if name not in data:
            raise ModelFileError(f"{where} lacks the field {name!r}.")
    for name in data:
        if name not in accepted:
            raise ModelFileError(f"{where} has a field {name!r} that a model file does not have.{near(name, accepted)}")


def _object(data: Mapping[str, Any], name: str, fields: tuple[str, ...]) -> Mapping[str, Any]:
    value = _mapping(data[name], name)
    _keys(value, name, fields, fields)
    return value


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ModelFileError(f"{name} must be an object.")
    return value


def _text(data: Mapping[str, Any], where: str, name: str) -> str:
    if not isinstance(data[name], str):
        raise ModelFileError(f"{where + '.' if where else ''}{name} must be a text.")
    return str(data[name])


def _texts(value: object, where: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ModelFileError(f"{where} must be a list of texts.")
    if len(set(value)) != len(value):
        raise ModelFileError(f"{where} names something twice.")
    return value


def _number(data: Mapping[str, Any], where: str, name: str) -> float:
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ModelFileError(f"{where + '.' if where else ''}{name} must be a number.")
    return float(value)


def _tolerance(meta: Mapping[str, Any]) -> float:
    value = _number(meta, "", "tol")
    if value < 0:
        raise ModelFileError("tol must be at least zero.")
    return value


def _integer(data: Mapping[str, Any], where: str, name: str, least: int) -> int:
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelFileError(f"{where}.{name} must be a whole number, at least {least}.")
    return value
