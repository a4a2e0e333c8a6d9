"""The contract of a method: a model whose columns are made of training rows, fitted in a way of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy.typing as npt

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.feature_map import FeatureMap
from lineal.model.trace import Trace
from lineal.model.verdict import Verdict
from lineal.penalties.penalty import Penalty

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset
    from lineal.api.request import Run

Wanted = Literal["auto", "number", "classes"]
"""What a target has to be."""


@dataclass(frozen=True)
class MapFit:
    """What a method found that makes columns of training rows: the feature map, and coefficients of its columns.

    Without a map the coefficients are of the encoder's columns, less the ``center`` among the ``arrays`` if there is one.
    ``solver`` and ``reason`` say what was done and why.
    """

    feature_map: FeatureMap | None
    coef: Array
    verdict: Verdict
    solver: str
    reason: str
    penalty: Penalty
    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    trace: Trace | None = None


class Method(ABC):
    """A frozen record of what was typed after its name; it fits a dataset.

    ``name`` is the word that a person types, ``spellings`` how it may be typed (``knn:K``), ``wanted`` what the target has
    to be.
    """

    name: ClassVar[str]
    spellings: ClassVar[tuple[str, ...]]
    wanted: ClassVar[Wanted] = "auto"

    @classmethod
    @abstractmethod
    def read(cls, text: str, rest: str | None) -> Self:
        """Return the method with what stands after its colon (None: no colon); InputError that quotes ``text``."""

    @property
    def verbatim(self) -> bool:
        """Whether it reads one column of texts as they are (``feature_map.texts``), and no other."""
        return False

    def without_code(self, multiclass: str) -> str:
        """Return why classes are not told apart by a code, in a sentence."""
        return f"model {self.name} takes several classes at once; leave multiclass {multiclass} out."

    @property
    def drawn(self) -> bool:
        """Whether the fit draws by the seed."""
        return False

    @abstractmethod
    def fit(self, dataset: Dataset, run: Run) -> tuple[MapFit, Loss, Mapping[str, Any]]:
        """Return what was found on the training rows, the loss that reads its scores, and entries of the report.

        ``report["model"]`` is what the model is called in words.
        """
