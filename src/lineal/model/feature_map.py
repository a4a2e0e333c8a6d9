"""The contract of a feature map: columns that depend on training rows, such as what a kernel says of a row and each of them.

A model that keeps training rows, counts or moments is a linear model, too: ``eta = Phi(x) coef``, where ``Phi`` is made of the
encoder's columns by a feature map. Kernels have a column for every support row, neighbors the shares of the classes among the
nearest rows, generative models the log density of every class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from lineal.designs import Dense, HStack, Ones
from lineal.designs.design import Design
from lineal.ground.arrays import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array


CHUNK_CELLS: Final = 2**22
"""Cells of a map's columns that are held at a time while scores are made: 32 MB."""


class FeatureMap(ABC):
    """From rows of inputs (the encoder's columns but the intercept) to the columns that coefficients multiply.

    A frozen record of plain data: it pickles, and a model file holds ``parameters`` as JSON and ``arrays`` as they are.
    ``name`` is its name there. Columns are finite wherever inputs are. ``parameters`` hold ``inputs``, the names of the input
    columns, where the model has no encoder to name them.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns of inputs there are, the intercept not counted."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the columns it makes, the intercept not counted."""

    @abstractmethod
    def phi(self, inputs: Array | csr_array) -> Array:
        """Return the columns of some rows, ``(n, len(columns))``, from their inputs, ``(n, width)``: dense or sparse."""

    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """Return what a model file states of it as JSON, beside its name."""

    @abstractmethod
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a model file, by name."""

    @classmethod
    @abstractmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the map of a model file; anything unexpected is a ModelFileError."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Return what a page says of it: labels and sentences."""

    def target_variance(self, inputs: Array | csr_array) -> Array | None:
        """Return the variance of the target of some rows, noise included; None where a map knows of none."""
        return None

    def weighed(self, coef: Array, outputs: Sequence[str]) -> list[tuple[str, str]]:
        """Return what a page says of the coefficients of the columns, the intercept's left out; nothing unless a map does."""
        return []

    @property
    def objective(self) -> str:
        """What is minimized, in a formula; here, that nothing is."""
        return "none: nothing is minimized"

    @property
    def holds(self) -> str:
        """What of the training rows a model file holds, in a sentence; empty where it holds no row."""
        return ""

    def apply(self, design: Design) -> Design:
        """Return the columns that coefficients multiply: the intercept, where there is one, and those of the map."""
        phi = Dense(self.phi(inputs(design)))
        return HStack([Ones(design.shape[0]), phi]) if design.starts_with_ones else phi

    def scores(self, design: Design, coef: Array) -> Array:
        """Return ``eta = Phi(X) coef``, made for some rows at a time."""
        n = design.shape[0]
        rows = max(1, CHUNK_CELLS // max(1, len(coef)))
        eta = np.empty((n, coef.shape[1]))
        for first in range(0, n, rows):
            last = min(first + rows, n)
            eta[first:last] = self.apply(design.slice(first, last)).times(coef)
        return eta

    def to_dict(self) -> dict[str, object]:
        """Return the map as plain data for a model file, without its arrays."""
        return {"name": self.name, **self.parameters()}


def inputs(design: Design) -> Array | csr_array:
    """Return a design without its column of ones, as a plain array, or sparse where that is much smaller.

    >>> from lineal.designs import as_design
    >>> inputs(as_design([[5.0], [7.0]]))
    array([[5.],
           [7.]])
    """
    parts = design.designs[1:] if design.starts_with_ones else design.designs
    if not parts:
        return np.empty((design.shape[0], 0))
    if any(part.compact for part in parts):
        from scipy.sparse import csr_array, hstack

        return csr_array(hstack([part.sparse_rows(slice(None)) for part in parts]))
    return np.ascontiguousarray(np.hstack([part.dense() for part in parts]), dtype=np.float64)


def texts(inputs: Array | csr_array) -> list[str]:
    """Return the texts of a column that is kept verbatim: the code points of a row, each plus one, without zeros.

    >>> texts(np.array([[98.0, 99.0, 0.0], [0.0, 0.0, 0.0]]))
    ['ab', '']
    """
    if isinstance(inputs, np.ndarray):
        return ["".join(chr(int(code) - 1) for code in row[row > 0.0]) for row in inputs]
    rows = inputs.copy()
    rows.sort_indices()
    data = (rows.data - 1.0).astype(np.uint32).astype("<u4")
    return [
        data[a:b].tobytes().decode("utf-32-le", "surrogatepass")
        for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]
