"""Models with a feature map: their columns are made of training rows, and their verdict is about how.

A module of this package checks one kind of map. It offers ``columns(claims)``, the names of the columns that the map makes, and
``check(report, claims, rows)``, which makes everything that the file states of the map and its verdict again from the training
rows, and its sentence. ``BY_NAME`` lists them by the name of the map in a model file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.claims.ground import INTERCEPT, Ground, field, ground, texts
from lineal.verify.claims.training import Examples, examples
from lineal.verify.maps import class_densities, gaussian_process, kernel, neighbors, text_kernel
from lineal.verify.maps.claims import PREFIX, MapClaims
from lineal.verify.reading.store import Watch
from lineal.verify.reading.tables import Table
from lineal.verify.report import Report
from lineal.verify.terms import names as term_names


class MapCheck(Protocol):
    """What a module of this package offers."""

    def columns(self, claims: MapClaims) -> list[str]:
        """Return the names of the columns that the map makes, the intercept not counted."""

    def check(self, report: Report, claims: MapClaims, rows: Examples) -> None:
        """Make everything that is stated again from the training rows."""


BY_NAME: Final[Mapping[str, MapCheck]] = {
    "class-densities": class_densities,
    "gaussian-process": gaussian_process,
    "kernel": kernel,
    "neighbors": neighbors,
    "text-kernel": text_kernel,
}
"""The check of every kind of map."""


def take_mapped(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> MapClaims:
    """Return the claims of a file with a feature map, or refuse it naming the field that is not as it must be."""
    if "members" in meta:
        raise ModelFileError("the members of a committee have no feature map.")
    plain = "feature_map" not in meta  # sums of columns as they are, with coefficients that were counted
    name = "class-densities" if plain else field(meta, "feature_map.name", str)
    if name not in BY_NAME:
        raise ModelFileError(f"this checker does not know the feature map {name!r}.")
    made = texts(meta, "columns")
    classes = field(meta, "target.classes", list, type(None))
    several = field(meta, "target.names", list, type(None)) is not None
    targets = texts(meta, "target.names") if several else [field(meta, "target.name", str)]
    coef = arrays.get("coef")
    if coef is None or coef.dtype != np.float64 or coef.ndim != 2 or len(coef) != len(made):
        raise ModelFileError("the array 'coef' of the model file does not have the type or shape it must have.")
    if not np.all(np.isfinite(coef)):
        raise ModelFileError("the array 'coef' of the model file is not finite.")
    own = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
    stated = ground(meta, classes, targets)
    inputs = made if plain else [INTERCEPT] * (made[:1] == [INTERCEPT]) + _inputs(meta, stated)
    # a model of arrays has a plain number for every column of its inputs
    terms = stated.terms if meta["encoder"] is not None else ground({**meta, "columns": inputs}, classes, targets).terms
    claims = MapClaims(
        **vars(replace(stated, columns=inputs, terms=terms)),
        name=name,
        parameters={} if plain else {key: value for key, value in meta["feature_map"].items() if key != "name"},
        arrays=own,
        kept={name: array for name, array in arrays.items() if name != "coef" and not name.startswith(PREFIX)},
        made=made,
        coef=coef,
        loss=field(meta, "loss", dict),
        penalty=field(meta, "penalty", dict),
        verdict=field(meta, "verdict", dict),
        tol=float(field(meta, "tol", float, int)),
        plain=plain,
    )
    if made[int(made[:1] == [INTERCEPT]) :] != BY_NAME[name].columns(claims):
        raise ModelFileError("the columns of the model file are not those its feature map makes.")
    return claims


def _inputs(meta: Mapping[str, Any], stated: Ground) -> list[str]:
    """Return the names of the columns of inputs: those of the encoder, or of an array's columns as the map names them."""
    if meta["encoder"] is None:
        return texts(meta, "feature_map.inputs")
    return [name for term in stated.terms for name in term_names(term)]


def check_mapped(report: Report, claims: MapClaims, table: Table, watch: Watch) -> None:
    """Check the training rows, then everything that is stated of the map and the verdict."""
    rows = examples(report, claims, table, watch)
    if claims.classes is not None:
        rows.targets.check_classes(report)
    else:
        rows.targets.check_numbers(report)
    BY_NAME[claims.name].check(report, claims, rows)
