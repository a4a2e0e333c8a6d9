"""Columns that are log densities of the classes: with them, quadratic classifiers are linear models, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.generative.discriminant import Quadratic, Whitening
from lineal.generative.gaussian import Gaussians
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.model.feature_map import FeatureMap


@dataclass(frozen=True)
class ClassDensities(FeatureMap):
    """Inputs as they are, but for some numbers, in whose place stands the log of their density in every class.

    ``numbers`` (q,) are the places of the latter among the ``inputs``, names of all columns. The densities are normal, with
    ``mean + low`` (K, q) and either ``variance`` (K, q), columns being independent, or ``whitening`` (K, q, q), whose
    ``log_determinant`` (K,) is that of the covariances.
    """

    inputs: tuple[str, ...]
    classes: tuple[str, ...]
    numbers: tuple[int, ...]
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
        return (*(self.inputs[place] for place in self.kept), *(f"log density in {label}" for label in self.classes))

    def phi(self, inputs: Any) -> Array:
        """Return inputs and densities of some rows."""
        plain = isinstance(inputs, np.ndarray)
        x, kept = inputs[:, list(self.numbers)], inputs[:, list(self.kept)]
        numbers, rest = (x, kept) if plain else (x.toarray(), kept.toarray())
        return np.hstack([rest, self.log_density(np.asarray(numbers, dtype=np.float64))])

    def log_density(self, x: Array) -> Array:
        """Return the log density of the numbers of some rows in every class."""
        if self.variance is not None:
            return Gaussians(self.mean, self.variance, self.low).log_density(x)
        assert self.whitening is not None
        assert self.log_determinant is not None
        each = zip(self.whitening, self.log_determinant.tolist(), strict=True)
        return Quadratic(self.mean, self.low, tuple(Whitening(one, size, True) for one, size in each)).log_density(x)

    def parameters(self) -> dict[str, object]:
        """Return names and places."""
        return {"inputs": list(self.inputs), "classes": list(self.classes), "numbers": list(self.numbers)}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the moments."""
        known = {
            "mean": self.mean,
            "low": self.low,
            "variance": self.variance,
            "whitening": self.whitening,
            "log_determinant": self.log_determinant,
        }
        return {name: array for name, array in known.items() if array is not None}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the map of a model file."""
        if set(parameters) != {"inputs", "classes", "numbers"}:
            raise ModelFileError("feature_map must hold inputs, classes and numbers.")
        inputs, classes, numbers = (parameters[name] for name in ("inputs", "classes", "numbers"))
        named = all(isinstance(one, list) for one in (inputs, classes, numbers))
        if not (named and all(isinstance(text, str) for text in (*inputs, *classes)) and classes):
            raise ModelFileError("feature_map.inputs and feature_map.classes must be lists of texts.")
        placed = all(type(place) is int and 0 <= place < len(inputs) for place in numbers)
        if not (placed and numbers == sorted(set(numbers)) and numbers):
            raise ModelFileError("feature_map.numbers must be places of inputs in increasing order.")
        shape: tuple[int, ...] = (len(classes), len(numbers))
        shapes: dict[str, tuple[int, ...]] = {"mean": shape, "low": shape}
        if "variance" in arrays:
            shapes |= {"variance": shape}
        else:
            shapes |= {"whitening": (*shape, len(numbers)), "log_determinant": shape[:1]}
        if set(arrays) != set(shapes):
            raise ModelFileError(f"the arrays of feature_map must be {', '.join(shapes)}.")
        for name, size in shapes.items():
            array = arrays[name]
            if array.dtype != np.float64 or array.shape != size or not np.isfinite(array).all():
                raise ModelFileError(f"array 'map.{name}' must be finite numbers of shape {size}.")
        if "variance" in arrays and np.any(arrays["variance"] < 0.0):
            raise ModelFileError("array 'map.variance' holds a number below zero.")
        return cls(tuple(inputs), tuple(classes), tuple(numbers), **arrays)

    def facts(self) -> list[tuple[str, str]]:
        """Return the means and standard deviations of the classes, or that they have covariances."""
        shown = [self.inputs[place] for place in self.numbers]
        if self.variance is None:
            return [("Densities", f"normal, with a covariance of {', '.join(shown)} in every class")]
        facts = [("Densities", "normal in every class: mean (standard deviation)")]
        for j, name in enumerate(shown[:FACTS]):
            each = (
                f"{label} {mean:.4g} ({sd:.3g})"
                for label, mean, sd in zip(
                    self.classes[:FACTS], self.mean[:, j], np.sqrt(self.variance[:, j]), strict=False
                )
            )
            facts.append((name, ", ".join(each)))
        return facts if len(shown) <= FACTS else [*facts, ("", f"and {len(shown) - FACTS} more columns")]


FACTS: Final = 12
"""Columns, and classes, that a page lists of densities."""
