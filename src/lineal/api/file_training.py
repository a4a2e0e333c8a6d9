"""What a model file says of the rows it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lineal.api.file_fields import integer, keys, mapping, number, object_of, text
from lineal.errors import ModelFileError


def training(value: object) -> Mapping[str, Any]:
    """Check what is there; a model that was never fitted to rows (built by hand) has nothing there."""
    data = mapping(value, "training")
    accepted = (
        "rows",
        "weight_sum",
        "without_target",
        "split",
        "fingerprint",
        "no_covariance",
        "counts",
        "complete",
        "labels",
    )
    keys(data, "training", accepted, ())
    for name in ("rows", "without_target"):
        if name in data:
            integer(data, "training", name, least=0)
    if "weight_sum" in data and number(data, "training", "weight_sum") < 0:
        raise ModelFileError("training.weight_sum is below zero.")
    for name in ("fingerprint", "no_covariance"):
        if data.get(name) is not None:
            text(data, "training", name)
    whole = data.get("complete", ["x"])
    if not (isinstance(whole, list) and whole and all(isinstance(name, str) and name for name in whole)):
        raise ModelFileError("training.complete must name columns.")
    counts = data.get("counts", ["s", "f"])
    if not (isinstance(counts, list) and len(counts) == 2 and all(isinstance(name, str) and name for name in counts)):
        raise ModelFileError("training.counts must name two columns.")
    if "labels" in data:
        stated = object_of(data, "labels", ("column", "by"))
        if not isinstance(stated["column"], str) or not isinstance(stated["by"], str | None):
            raise ModelFileError("training.labels must name a column, and what parts its words or null.")
    if data.get("split") is not None:
        _split(data)
    return data


def _split(data: Mapping[str, Any]) -> None:
    """Check how rows were parted."""
    split = mapping(data["split"], "training.split")
    members = ("seed", "test_size", "validation_size", "by", "column")
    keys(split, "training.split", members, ("seed", "test_size"))
    integer(split, "training.split", "seed", least=0)
    if not 0 <= number(split, "training.split", "test_size") < 1:
        raise ModelFileError("training.split.test_size must be at least 0 and below 1.")
    if "validation_size" in split and not 0 <= number(split, "training.split", "validation_size") < 1:
        raise ModelFileError("training.split.validation_size must be at least 0 and below 1.")
    if split.get("by", "row") not in ("row", "stratified", "group", "time", "column"):
        raise ModelFileError(f"training.split.by is {split['by']!r}, which no split is called.")
    if split.get("column") is not None:
        text(split, "training.split", "column")
