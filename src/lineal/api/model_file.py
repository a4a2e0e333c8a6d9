"""Model files to Models: every field checked, none trusted (docs/model-file.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal import container, penalties
from lineal.api import feature_maps
from lineal.api.file_fields import array_of, integer, keys, mapping, number, object_of, text, texts, tolerance
from lineal.api.file_training import training
from lineal.errors import InputError, ModelFileError, near
from lineal.losses import Coded, Softmax, Sparsemax, by_name
from lineal.losses.coded import MARGIN_LOSSES
from lineal.losses.loss import Loss
from lineal.model.encoder import Encoder
from lineal.model.feature_map import FeatureMap
from lineal.model.model import MAP_PREFIX, Model
from lineal.model.target import Target
from lineal.model.verdict import KINDS, Verdict
from lineal.multiclass.codes import SCHEMES
from lineal.multiclass.committee import SHARED_FIELDS, Committee, Members, score
from lineal.multiclass.multilabel import MultiLabel, SharedLabels
from lineal.penalties import Bounds
from lineal.penalties.penalty import Penalty

FIELDS: Final = (
    "format", "version", "made_by", "loss", "penalty", "columns", "target", "encoder",
    "roles", "training", "tol", "verdict", "solver", "report",
)  # fmt: skip
VERDICT: Final = ("kind", "sentence", "gap", "relative_gap", "reason", "evidence")
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
        return _committee(meta, arrays) if "multiclass" in meta else _multilabel(meta, arrays)
    keys(meta, "the file", (*FIELDS, "encoding", "feature_map"), FIELDS)
    loss = _loss(meta)
    outputs = loss.outputs
    stated = object_of(meta, "target", ("name", "kind", "classes", "names"))
    labels = stated["kind"] == "labels"
    target = _shared(stated, loss) if labels else _target(stated, type(loss), outputs)
    columns = tuple(texts(meta["columns"], "columns"))
    coef = array_of(arrays, "coef", (len(columns), outputs))
    verdict = _verdict(object_of(meta, "verdict", VERDICT))
    solver = object_of(meta, "solver", ("name", "reason"))
    feature_map = feature_maps.read(meta, arrays, columns)
    arrays = {name: array for name, array in arrays.items() if not name.startswith(MAP_PREFIX)}
    encoder = _encoder(meta["encoder"], columns, feature_map)
    for name in arrays:
        if name not in ARRAYS:
            raise ModelFileError(f"it holds an array {name!r}; the arrays of a model are {', '.join(ARRAYS)}.")
    text(meta, "", "made_by")
    return (SharedLabels if labels else Model)(
        coef=coef,
        columns=columns,
        loss=loss,
        penalty=_penalty(meta, arrays, len(columns)),
        target=target,
        verdict=verdict,
        encoder=encoder,
        solver=text(solver, "solver", "name"),
        reason=text(solver, "solver", "reason"),
        tol=tolerance(meta),
        roles=_roles(object_of(meta, "roles", ("weight", "offset"))),
        training=training(meta["training"]),
        report=mapping(meta["report"], "report"),
        arrays=_evidence_arrays(arrays, verdict.kind, len(columns), loss),
        feature_map=feature_map,
    )


def _committee(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Committee:
    """Return a committee: what is shared is said once, every member is a model of two classes."""
    needed = (*(name for name in FIELDS if name not in ("loss", "penalty", "solver")), "multiclass", "members")
    keys(meta, "the file", (*needed, "encoding"), needed)
    about = {"decode": "distance", **mapping(meta["multiclass"], "multiclass")}
    keys(about, "multiclass", ("scheme", "code", "distance", "decode"), ("scheme", "code", "distance"))
    if about["decode"] != "distance" and (about["scheme"] != "ecoc" or about["decode"] not in MARGIN_LOSSES):
        raise ModelFileError(
            f"multiclass.decode is {about['decode']!r}; known are distance, {', '.join(MARGIN_LOSSES)}."
        )
    data = mapping(meta["target"], "target")
    target = _target(data, Softmax, len(data.get("classes") or ()))
    columns = tuple(texts(meta["columns"], "columns"))
    encoder = _encoder(meta["encoder"], columns)
    words = _words(about, len(target.classes or ()))
    members = _members(meta, arrays, encoder, len(words[0]))
    return Committee(
        coef=np.column_stack([score(member) for member in members]),
        loss=Coded(words, summed=about["scheme"] == "ovr", by=str(about["decode"])),
        target=target,
        **_of_members(meta, columns, encoder, members),
        scheme=str(about["scheme"]),
        distance=integer(about, "multiclass", "distance", least=0),
    )


def _multilabel(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> MultiLabel:
    """Return a model of labels: one member for each, called like it."""
    needed = (*(name for name in FIELDS if name not in ("loss", "penalty", "solver")), "members")
    keys(meta, "the file", (*needed, "encoding"), needed)
    stated = object_of(meta, "target", ("name", "kind", "classes", "names"))
    if stated["kind"] != "labels" or stated["classes"] is not None:
        raise ModelFileError("target.kind must be 'labels', without classes, for members without a code.")
    names, columns = tuple(texts(stated["names"], "target.names")), tuple(texts(meta["columns"], "columns"))
    encoder = _encoder(meta["encoder"], columns)
    members = _members(meta, arrays, encoder, len(names))
    if [member.target.name for member in members] != list(names) or not names:
        raise ModelFileError("members must be called as target.names.")
    if any(member.loss != members[0].loss or member.loss.outputs != 1 for member in members):
        raise ModelFileError("members must have one loss, with one output.")
    return MultiLabel(
        coef=np.column_stack([member.coef for member in members]),
        loss=members[0].loss,
        target=Target(text(stated, "target", "name"), "labels", names=names),
        **_of_members(meta, columns, encoder, members),
    )


def _of_members(
    meta: Mapping[str, Any], columns: tuple[str, ...], encoder: Encoder | None, members: tuple[Model, ...]
) -> dict[str, Any]:
    """Return the fields of a model of members that do not depend on what they are asked."""
    return {
        "columns": columns,
        "encoder": encoder,
        "members": members,
        "penalty": members[0].penalty,
        "solver": members[0].solver,
        "reason": f"{members[0].reason}; one of {len(members)} members",
        "verdict": _verdict(object_of(meta, "verdict", VERDICT)),
        "tol": tolerance(meta),
        "roles": _roles(object_of(meta, "roles", ("weight", "offset"))),
        "training": training(meta["training"]),
        "report": mapping(meta["report"], "report"),
    }


def _members(
    meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], encoder: Encoder | None, count: int
) -> tuple[Model, ...]:
    """Return the members of a file, each a model of two classes: what is shared is said once."""
    listed = meta["members"]
    if not isinstance(listed, list) or len(listed) != count:
        raise ModelFileError(f"members must be a list of {count} models, one for every question.")
    shared = {name: meta[name] for name in SHARED_FIELDS if name not in ("encoder", "encoding")}
    members = []
    for place, part in enumerate(listed):
        own = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{place}.")}
        member = model({**mapping(part, f"members.{place}"), **shared, "encoder": None}, own)
        if isinstance(member, Members) or len(member.target.classes or ()) != 2:
            raise ModelFileError(f"members.{place} must be a model of two classes.")
        members.append(replace(member, encoder=encoder))
    for name in arrays:
        if not name.partition(".")[0].isdigit() or int(name.partition(".")[0]) >= len(members):
            raise ModelFileError(f"it holds an array {name!r} that belongs to no member.")
    return tuple(members)


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
    data = mapping(meta["loss"], "loss")
    keys(data, "loss", tuple(data), ("name", "outputs"))
    name = text(data, "loss", "name")
    kinds = by_name()
    if name not in kinds:
        raise ModelFileError(f"loss.name is {name!r}; known are {', '.join(kinds)}.{near(name, kinds)}")
    own = kinds[name].parameter_names()
    keys(data, "loss", ("name", "outputs", *own), own)
    outputs = integer(data, "loss", "outputs", least=1)
    loss = kinds[name].make(outputs, **{parameter: number(data, "loss", parameter) for parameter in own})
    if loss.outputs != outputs:
        raise ModelFileError(f"loss.outputs is {outputs}; {name} loss has {loss.outputs}.")
    return loss


def _target(data: Mapping[str, Any], loss: type[Loss], outputs: int) -> Target:
    """Check that target, loss and number of outputs fit each other."""
    kind, classes, names = data["kind"], data["classes"], data["names"]
    name = text(data, "target", "name")
    if not loss.of_classes():
        if kind != "number" or classes is not None:
            raise ModelFileError(f"target.kind must be 'number', without classes, for {loss.name} loss.")
        names = None if names is None else tuple(texts(names, "target.names"))
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


def _shared(data: Mapping[str, Any], loss: Loss) -> Target:
    """Check the labels among which a loss shares rows out."""
    names = tuple(texts(data["names"], "target.names"))
    if not isinstance(loss, Sparsemax) or data["classes"] is not None or len(names) != loss.outputs:
        raise ModelFileError(
            "target.kind is 'labels', for which a file holds members, or sparsemax loss with a score for each."
        )
    return Target(text(data, "target", "name"), "labels", names=names)


def _penalty(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], columns: int) -> Penalty:
    """Return the penalty with its arrays; bounds hold another penalty within."""
    data = mapping(meta["penalty"], "penalty")
    bounded = data.get("name") == Bounds.name
    if bounded:
        keys(data, "penalty", ("name", "inner"), ("name", "inner"))
    inner = _charging(data["inner"] if bounded else data, "penalty.inner" if bounded else "penalty", arrays, columns)
    if bounded:
        lower, upper = (array_of(arrays, name, (columns,), infinite=True) for name in ("lower", "upper"))
        return Bounds(lower, upper, inner)
    for name in ("lower", "upper"):
        if name in arrays:
            raise ModelFileError(f"it holds an array {name!r} but no bounds.")
    return inner


def _charging(value: object, where: str, arrays: Mapping[str, npt.NDArray[Any]], columns: int) -> Penalty:
    """Return a penalty that penalizes coefficients, without bounds."""
    data = mapping(value, where)
    name = data.get("name")
    kind = penalties.by_name().get(name) if isinstance(name, str) else None
    if kind is None:
        names = [*penalties.by_name(), Bounds.name]
        hint = near(name, names) if isinstance(name, str) else ""
        raise ModelFileError(f"{where}.name is {name!r}; known are {', '.join(names)}.{hint}")
    fields = ("name", *kind.parameters)
    keys(data, where, fields, fields)
    if not kind.parameters:
        if "charges" in arrays:
            raise ModelFileError("it holds an array 'charges' but no penalty.")
        return kind.make(np.zeros(columns))
    numbers = {name: number(data, where, name) for name in kind.parameters}
    return kind.make(array_of(arrays, "charges", (columns,)), **numbers)


def _verdict(data: Mapping[str, Any]) -> Verdict:
    kind = text(data, "verdict", "kind")
    if kind not in KINDS:
        raise ModelFileError(f"verdict.kind is {kind!r}; known are {', '.join(KINDS)}.{near(kind, KINDS)}")
    text(data, "verdict", "sentence")
    for name in ("gap", "relative_gap"):
        if data[name] is not None and number(data, "verdict", name) < 0:
            raise ModelFileError(f"verdict.{name} is below zero.")
    if data["reason"] is not None:
        text(data, "verdict", "reason")
    mapping(data["evidence"], "verdict.evidence")
    return Verdict.from_dict(data)


def _encoder(data: object, columns: tuple[str, ...], feature_map: FeatureMap | None = None) -> Encoder | None:
    if data is None:
        return None
    from lineal.features.encoder import Encoder as Learned

    encoder: Encoder = Learned.from_dict(mapping(data, "encoder"))
    if feature_map is None and tuple(encoder.columns) != columns:
        raise ModelFileError("columns are not the columns its encoder makes.")
    if feature_map is not None:
        feature_maps.check_inputs(feature_map, tuple(encoder.columns), columns)
    return encoder


def _roles(data: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: None if data[name] is None else text(data, "roles", name) for name in ("weight", "offset")}


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
    checked = {name: array_of(arrays, name, shape) for name, shape in wanted.items() if name in arrays}
    for name in set(arrays) - {"coef", "charges", "lower", "upper", *checked}:
        raise ModelFileError(f"it holds an array {name!r}, which a verdict {kind!r} does not have.")
    return checked
