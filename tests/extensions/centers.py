"""A method that lineal does not have, in one file: a row's score for a class is minus half its squared distance to the mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.api.methods.method import MapFit, Method
from lineal.errors import InputError, ModelFileError
from lineal.ground.records import dataclass
from lineal.losses import Softmax
from lineal.model.feature_map import FeatureMap, inputs
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Centers(FeatureMap):
    """``phi_k(x) = -|x - m_k|^2 / 2`` with the mean m_k of every class."""

    means: Array
    classes: tuple[str, ...]

    name = "centers"

    @property
    def width(self) -> int:
        return self.means.shape[1]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(f"nearness to {label}" for label in self.classes)

    def phi(self, inputs: Any) -> Array:
        x = inputs if isinstance(inputs, np.ndarray) else inputs.toarray()
        return -0.5 * ((x[:, None, :] - self.means) ** 2).sum(axis=2)

    def parameters(self) -> dict[str, object]:
        return {"classes": list(self.classes)}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {"means": self.means}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        if set(arrays) != {"means"} or set(parameters) != {"classes"}:
            raise ModelFileError("feature_map must hold classes and means.")
        return cls(arrays["means"], tuple(parameters["classes"]))

    def facts(self) -> list[tuple[str, str]]:
        return [("Columns", f"nearness to the means of {len(self.classes)} classes")]


@dataclass(frozen=True)
class NearestCenter(Method):
    """Decide for the class whose mean is nearest."""

    name = "nearest-center"
    spellings = ("nearest-center",)
    wanted = "classes"

    @classmethod
    def read(cls, text: str, rest: str | None) -> Self:
        if rest is not None:
            raise InputError(f"the model is {text!r}, but nearest-center takes nothing after a colon.")
        return cls()

    def fit(self, dataset: Any, run: Any) -> tuple[MapFit, Any, Mapping[str, Any]]:
        kinds = len(dataset.target.classes)
        parts = dataset.train.collect(lambda block: (inputs(block.design), block.y[:, 0]))
        x, y = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        means = np.array([x[y == k].mean(axis=0) for k in range(kinds)])
        centers = Centers(means, tuple(map(str, dataset.target.classes)))
        coef = np.eye(kinds)
        if dataset.train.columns[:1] == ("(intercept)",):
            coef = np.vstack([np.zeros(kinds), coef])
        verdict = Verdict("progressive", "Counted.", None, None)
        found = MapFit(centers, coef, verdict, "means", "one pass", NoPenalty(len(coef)))
        return found, Softmax(kinds), {"model": "nearest class mean"}
