"""Columns that are log densities of the classes: with them, quadratic classifiers are linear models, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from lineal.designs import Dense, HStack, Ones
from lineal.designs.design import Design
from lineal.errors import ModelFileError
from lineal.generative.discriminant import Quadratic, Whitening
from lineal.generative.gaussian import Gaussians
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.feature_map import FeatureMap

STRONGEST: Final = 8
"""Levels and words that a page lists for a class."""
SHOWN: Final = 12
"""Columns, and classes, that a page lists of densities."""


@dataclass(frozen=True)
class ClassDensities(FeatureMap):
    """Inputs as they are, but for some numbers, in whose place stands the log of their density in every class.

    ``numbers`` (q,) are the places of the latter among the ``inputs``, names of all columns; ``markers`` (q,) the place of the
    column that says where a number is missing, which leaves it out of the density, or -1. Densities are normal, with
    ``mean + low`` (K, q) and either ``variance`` (K, q), columns being independent, or ``whitening`` (K, q, q), whose
    ``log_determinant`` (K,) is that of the covariances.
    """

    inputs: tuple[str, ...]
    classes: tuple[str, ...]
    numbers: tuple[int, ...]
    markers: tuple[int, ...]
    mean: Array
    low: Array
    variance: Array | None = None
    whitening: Array | None = None
    log_determinant: Array | None = None

    name: ClassVar[str] = "class-densities"

    @property
    def width(self) -> int:
        """How many columns of inputs there are."""
        return len(self.inputs)

    @property
    def kept(self) -> tuple[int, ...]:
        """The places of the inputs that stay columns."""
        gone = set(self.numbers)
        return tuple(place for place in range(len(self.inputs)) if place not in gone)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the inputs that stay, then of the densities."""
        densities = tuple(f"log density in {label}" for label in self.classes) if self.numbers else ()
        return (*(self.inputs[place] for place in self.kept), *densities)

    def apply(self, design: Design) -> Design:
        """Return the columns that coefficients multiply; those that stay are not made dense."""
        first = int(design.starts_with_ones)
        parts: list[Design] = [Ones(design.shape[0])] if first else []
        if self.kept:
            parts.append(picked(design, np.array(self.kept) + first))
        if self.numbers:
            parts.append(Dense(self._densities(design, first)))
        return HStack(parts)

    def phi(self, inputs: Any) -> Array:
        """Return inputs and densities of some rows."""
        x = np.asarray(inputs if isinstance(inputs, np.ndarray) else inputs.toarray(), dtype=np.float64)
        return np.asarray(self.apply(Dense(x)).dense())

    def _densities(self, design: Design, first: int) -> Array:
        x, absent = numbers_of(design, self.numbers, self.markers, first)
        if self.variance is not None:
            return Gaussians(self.mean, self.variance, self.low).log_density(x, absent)
        assert self.whitening is not None
        assert self.log_determinant is not None
        each = zip(self.whitening, self.log_determinant.tolist(), strict=True)
        return Quadratic(self.mean, self.low, tuple(Whitening(one, size, True) for one, size in each)).log_density(x)

    def parameters(self) -> dict[str, object]:
        """Return names and places."""
        places = {"numbers": list(self.numbers), "markers": list(self.markers)}
        return {"inputs": list(self.inputs), "classes": list(self.classes), **places}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the moments."""
        names = ("mean", "low", "variance", "whitening", "log_determinant")
        known = {name: getattr(self, name) for name in names}
        return {name: np.ascontiguousarray(array) for name, array in known.items() if array is not None}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the map of a model file."""
        members = ("inputs", "classes", "numbers", "markers")
        if set(parameters) != set(members) or not all(isinstance(parameters[name], list) for name in members):
            raise ModelFileError("feature_map must hold the lists inputs, classes, numbers and markers.")
        inputs, classes, numbers, markers = (parameters[name] for name in members)
        if not (all(isinstance(text, str) for text in (*inputs, *classes)) and classes):
            raise ModelFileError("feature_map.inputs and feature_map.classes must be lists of texts.")
        placed = all(type(place) is int and place < len(inputs) for place in (*numbers, *markers))
        if not (placed and numbers == sorted(set(numbers)) and min(numbers, default=0) >= 0):
            raise ModelFileError("feature_map.numbers must be places of inputs in increasing order.")
        if len(markers) != len(numbers) or min(markers, default=0) < -1 or set(markers) & set(numbers):
            raise ModelFileError("feature_map.markers must be a place of another input for every number, or -1.")
        shape: tuple[int, ...] = (len(classes), len(numbers))
        shapes: dict[str, tuple[int, ...]] = {"mean": shape, "low": shape}
        if "whitening" in arrays:
            shapes |= {"whitening": (*shape, len(numbers)), "log_determinant": shape[:1]}
        else:
            shapes |= {"variance": shape}
        _check_arrays(arrays, shapes)
        return cls(tuple(inputs), tuple(classes), tuple(numbers), tuple(markers), **arrays)

    def facts(self) -> list[tuple[str, str]]:
        """Return the means and standard deviations of the classes, or that they have covariances."""
        shown = [self.inputs[place] for place in self.numbers]
        if not shown:
            return []
        if self.variance is None:
            return [("Densities", f"normal, with a covariance of {len(shown)} columns in every class")]
        facts = [("Densities", "normal in every class: mean (standard deviation)")]
        for j, name in enumerate(shown[:SHOWN]):
            sd = np.sqrt(self.variance[:, j])
            rows = zip(self.classes[:SHOWN], self.mean[:, j], sd, strict=False)
            facts.append((name, ", ".join(f"{label} {mean:.4g} ({one:.3g})" for label, mean, one in rows)))
        return facts if len(shown) <= SHOWN else [*facts, ("", f"and {len(shown) - SHOWN} more columns")]

    def weighed(self, coef: Array, outputs: Sequence[str]) -> list[tuple[str, str]]:
        """Return the levels and words that speak most for every class; of two classes, for and against the second."""
        kept, names = coef[: len(self.kept)], self.columns
        if not len(kept):
            return []
        facts = []
        for label, column in zip(
            outputs, (kept - kept.mean(axis=1, keepdims=True) if len(outputs) > 1 else kept).T, strict=True
        ):
            order = np.argsort(-np.abs(column), kind="stable")[:STRONGEST]
            words = (f"{names[j]} {column[j]:+.3g}" for j in order.tolist())
            facts.append((f"Strongest for {label}", ", ".join(words)))
        return facts[:SHOWN]


def picked(design: Design, columns: npt.NDArray[np.intp]) -> Design:
    """Return some columns of a design, given in increasing order."""
    everything = len(columns) == design.shape[1]
    return design if everything else design.picker()(columns)


def numbers_of(
    design: Design, numbers: Sequence[int], markers: Sequence[int], first: int
) -> tuple[Array, npt.NDArray[np.bool_] | None]:
    """Return numbers, and which of them are missing by their markers; places count from the column ``first``."""
    x = picked(design, np.array(numbers) + first).dense()
    if max(markers, default=-1) < 0:
        return x, None
    absent = np.zeros(x.shape, dtype=np.bool_)
    for j, place in enumerate(markers):
        if place >= 0:
            absent[:, j] = picked(design, np.array([place + first])).dense()[:, 0] != 0.0
    return x, absent


def _check_arrays(arrays: Mapping[str, npt.NDArray[Any]], shapes: Mapping[str, tuple[int, ...]]) -> None:
    if set(arrays) != set(shapes):
        raise ModelFileError(f"the arrays of feature_map must be {', '.join(shapes)}.")
    for name, size in shapes.items():
        array = arrays[name]
        if array.dtype != np.float64 or array.shape != size or not np.isfinite(array).all():
            raise ModelFileError(f"array 'map.{name}' must be finite numbers of shape {size}.")
    if "variance" in arrays and np.any(arrays["variance"] < 0.0):
        raise ModelFileError("array 'map.variance' holds a number below zero.")
