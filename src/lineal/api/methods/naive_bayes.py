"""``--model naive-bayes``: normal densities of numbers, smoothed shares of levels and words, all in one product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lineal.api.methods.generative import choice_of, exactly, fitted, input_names
from lineal.api.methods.method import MapFit, Method, Wanted
from lineal.features.terms import Boolean, Category, Single, Text
from lineal.generative.class_densities import ClassDensities
from lineal.generative.naive_bayes import Layout, SumMixed, factors
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run
    from lineal.model.encoder import Encoder


@dataclass(frozen=True)
class NaiveBayes(Method):
    """``alpha`` is what every count gets in advance, ``variance`` the share of a number's variance that is added to it."""

    alpha: float = 1.0
    variance: float = 1e-9

    name: ClassVar[str] = "naive-bayes"
    spellings: ClassVar[tuple[str, ...]] = ("naive-bayes", "naive-bayes:alpha=A,variance=V")
    wanted: ClassVar[Wanted] = "classes"

    @classmethod
    def read(cls, text: str, rest: str | None) -> Self:
        """Return the method with its options."""
        return cls(**choice_of(text, rest, {"alpha": 0.0, "variance": 0.0}))

    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Count the rows in one pass."""
        assert dataset.target.classes is not None
        inputs, classes = input_names(dataset, self.name), tuple(map(str, dataset.target.classes))
        layout = layout_of(dataset.encoder, len(inputs))
        sums = dataset.train.sum(SumMixed(len(classes), layout))
        learned = factors(sums, layout, len(inputs), self.alpha, self.variance)
        moments, densities = learned.moments, None
        coef = np.vstack([learned.base[None, :], learned.weights])
        if moments is not None:
            low, variance = moments.low, moments.variance
            densities = ClassDensities(inputs, classes, layout.numbers, layout.markers, moments.mean, low, variance)
            kept = [0, *(place + 1 for place in densities.kept)]
            coef = np.vstack([coef[kept], np.eye(len(classes))])
        options = {"alpha": self.alpha, "variance": self.variance}
        verdict = exactly(sums.plain, "naive-bayes", options)
        words = f"naive Bayes, alpha {self.alpha:g}"
        return fitted(densities, coef, verdict, words)


def layout_of(encoder: Encoder | None, columns: int) -> Layout:
    """Return the factors that the terms of an encoder make; the columns of an array are numbers all."""
    if encoder is None:
        return Layout(tuple(range(columns)), (-1,) * columns)
    numbers: list[tuple[int, int]] = []
    levels: list[tuple[int, int, bool]] = []
    switches: list[tuple[int, int, float]] = []
    words: list[tuple[int, int]] = []
    at = 0
    for term in encoder.terms:  # type: ignore[attr-defined]
        stop = at + len(term.columns)
        marker = stop - 1 if isinstance(term, Single) and term.indicator else -1
        if isinstance(term, Text):
            words.append((at, stop))
        elif isinstance(term, Category):
            levels.append((at, stop, term.reference is not None))
        elif isinstance(term, Boolean):
            switches.append((at, marker, term.fill))
        else:
            numbers += [(place, marker) for place in range(at, stop if marker < 0 else marker)]
        at = stop
    places, markers = (tuple(pair[k] for pair in numbers) for k in (0, 1))
    return Layout(places, markers, tuple(levels), tuple(switches), tuple(words))
