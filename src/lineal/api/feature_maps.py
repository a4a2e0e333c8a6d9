"""The feature maps that a model file may name, and how one is read from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.generative.class_densities import ClassDensities
from lineal.machines.kernel_map import KernelMap
from lineal.machines.process_map import ProcessMap
from lineal.machines.text_map import TextKernelMap
from lineal.model.feature_map import FeatureMap
from lineal.model.model import MAP_PREFIX
from lineal.neighbors.neighbor_map import NeighborMap

ALL: tuple[type[FeatureMap], ...] = (NeighborMap, ClassDensities, KernelMap, TextKernelMap, ProcessMap)
"""Every feature map."""


def by_name() -> dict[str, type[FeatureMap]]:
    """Return the feature maps by their name in a model file."""
    return {kind.name: kind for kind in ALL}


def read(
    meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], columns: tuple[str, ...]
) -> FeatureMap | None:
    """Return the feature map of a file with its arrays; ``columns`` must be those it makes."""
    own = {name.removeprefix(MAP_PREFIX): array for name, array in arrays.items() if name.startswith(MAP_PREFIX)}
    if "feature_map" not in meta:
        if own:
            raise ModelFileError(f"it holds an array {MAP_PREFIX + next(iter(own))!r} but no feature map.")
        return None
    data, kinds = meta["feature_map"], by_name()
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise ModelFileError("feature_map must be an object with a name.")
    if data["name"] not in kinds:
        raise ModelFileError(f"feature_map.name is {data['name']!r}; known are {', '.join(kinds) or 'none'}.")
    feature_map = kinds[data["name"]].read({key: value for key, value in data.items() if key != "name"}, own)
    if columns[int(columns[:1] == ("(intercept)",)) :] != feature_map.columns:
        raise ModelFileError("columns are not the columns its feature map makes.")
    return feature_map


def check_inputs(feature_map: FeatureMap, encoded: tuple[str, ...], columns: tuple[str, ...]) -> None:
    """Raise a ModelFileError unless the encoder makes what the map takes, both with an intercept or both without."""
    first = ("(intercept)",)
    if len(encoded) - (encoded[:1] == first) != feature_map.width or (encoded[:1] == first) != (columns[:1] == first):
        raise ModelFileError("the columns its encoder makes are not those its feature map takes.")
