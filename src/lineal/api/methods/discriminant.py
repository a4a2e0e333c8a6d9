"""``--model lda`` and ``--model qda``: normal densities of all columns together, with one covariance or one for each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from lineal.api.methods.generative import choice_of, exactly, fitted, input_names
from lineal.api.methods.method import MapFit, Method, Wanted
from lineal.errors import InputError
from lineal.generative.class_densities import ClassDensities, picked
from lineal.generative.class_sums import ClassSums, class_sums
from lineal.generative.discriminant import Linear, Whitening
from lineal.generative.moments import ClassMoments, moments
from lineal.generative.scatter import Scatter, covariances, scatter
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.sources.source import Block

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run

MAX_COLUMNS: Final = 5_000
"""A covariance of more columns than this takes 200 MB and minutes: text is for naive Bayes."""


@dataclass(frozen=True)
class Bare:
    """The change that leaves the intercept out."""

    def __call__(self, block: Block) -> Block:
        """Return the changed block."""
        design = block.design
        return Block(picked(design, np.arange(1, design.shape[1])), block.y, block.weight, None, block.start)


@dataclass(frozen=True)
class Discriminant(Method):
    """``shrinkage`` is the share of the covariance that becomes a multiple of the identity, -1 for Ledoit and Wolf's."""

    shrinkage: float = 0.0

    wanted: ClassVar[Wanted] = "classes"

    @classmethod
    def read(cls, text: str, rest: str | None) -> Self:
        """Return the method with its options."""
        if rest == "shrinkage=auto":
            return cls(-1.0)
        share = choice_of(text, rest, {"shrinkage": 0.0}).get("shrinkage", 0.0)
        if share > 1.0:
            raise InputError(f"the model is {text!r}; shrinkage is a share from 0 to 1, or the word auto.")
        return cls(share)

    @property
    def said(self) -> str | float | None:
        """The shrinkage as ``covariances`` takes it."""
        return "auto" if self.shrinkage < 0.0 else self.shrinkage or None

    def _learned(self, dataset: Dataset) -> tuple[tuple[str, ...], ClassSums, ClassMoments, Scatter]:
        inputs = input_names(dataset, self.name)
        if len(inputs) > MAX_COLUMNS:
            raise InputError(
                f"model {self.name} has a covariance of all columns, and {len(inputs):,} are more than {MAX_COLUMNS:,}; drop "
                "columns of text, or ask for naive-bayes."
            )
        assert dataset.target.classes is not None
        source = dataset.train.map(Bare())
        sums = class_sums(source, len(dataset.target.classes), squares=True)
        classes = moments(sums)
        return inputs, sums, classes, scatter(source, classes.mean, classes.low, classes.variance)

    def _words(self, name: str) -> str:
        if self.said is None:
            return name
        return f"{name}, {'shrinkage of Ledoit and Wolf' if self.shrinkage < 0.0 else f'shrinkage {self.shrinkage:g}'}"


@dataclass(frozen=True)
class LinearDiscriminant(Discriminant):
    """Classes with normal densities that share a covariance: a linear classifier."""

    name: ClassVar[str] = "lda"
    spellings: ClassVar[tuple[str, ...]] = ("lda", "lda:shrinkage=S")

    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Find means in one pass, the covariance within the classes in another."""
        inputs, sums, classes, spread = self._learned(dataset)
        prior = classes.weight / np.sum(classes.weight)
        each = covariances(spread, classes.weight, self.said)
        whitening = Whitening.of(np.tensordot(prior, each, axes=1))
        center = np.asarray(prior @ classes.mean)
        linear = Linear.of((classes.mean - center) + classes.low, center, whitening.matrix, prior)
        lost = len(inputs) - whitening.rank
        more = (
            f"; {lost} direction{'s' if lost > 1 else ''} without variance within the classes left out" if lost else ""
        )
        options = {"shrinkage": self.shrinkage, "rank": whitening.rank}
        coef = np.vstack([linear.intercept[None, :], linear.coef])
        words = self._words("linear discriminant analysis")
        verdict = exactly(sums, self.name, options, more)
        return fitted(None, coef, verdict, words, np.concatenate([[0.0], center]))


@dataclass(frozen=True)
class QuadraticDiscriminant(Discriminant):
    """Classes with normal densities, each with its own covariance: a quadratic classifier."""

    name: ClassVar[str] = "qda"
    spellings: ClassVar[tuple[str, ...]] = ("qda", "qda:shrinkage=S")

    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Find means in one pass, the covariances of the classes in another."""
        inputs, sums, groups, spread = self._learned(dataset)
        assert dataset.target.classes is not None
        classes = tuple(map(str, dataset.target.classes))
        each = [Whitening.of(one) for one in covariances(spread, groups.weight, self.said)]
        for label, whitening in zip(classes, each, strict=True):
            if not whitening.full:
                raise InputError(
                    f"the covariance of class {label!r} has no inverse: of {len(inputs)} columns only {whitening.rank} vary "
                    "apart from each other there. Ask for qda:shrinkage=auto, drop columns, or ask for lda, whose classes share "
                    "a covariance."
                )
        places = tuple(range(len(inputs)))
        matrices: Array = np.array([one.matrix for one in each])
        sizes: Array = np.array([one.log_determinant for one in each])
        densities = ClassDensities(
            inputs, classes, places, (-1,) * len(places), groups.mean, groups.low,
            whitening=matrices, log_determinant=sizes,
        )  # fmt: skip
        prior = np.log(groups.weight / np.sum(groups.weight))
        coef = np.vstack([prior[None, :], np.eye(len(classes))])
        words = self._words("quadratic discriminant analysis")
        return fitted(densities, coef, exactly(sums, self.name, {"shrinkage": self.shrinkage}), words)
