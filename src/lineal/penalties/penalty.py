"""The contract of a penalty: a function of the coefficients and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Penalty(ABC):
    """What large coefficients cost. ``coef`` is always ``(columns, outputs)``.

    A column whose charge is zero (the intercept, always) is *uncharged*: the penalty does not see it.
    ``smooth`` says that the penalty has a gradient everywhere. One that is not smooth may forbid dual points
    whose gradient is too large: ``shrink`` says by how much they have to be scaled down, ``open`` which
    coefficients allow no gradient at all. ``even`` says that of all rows of coefficients that differ by a constant the one with
    zero sum over outputs costs least, so that softmax coefficients are kept there. ``square`` says that the penalty is
    ``sum_j curvature_j |b_j|^2 / 2`` and nothing else.
    """

    name: ClassVar[str]
    smooth: ClassVar[bool] = True
    even: ClassVar[bool] = True
    square: ClassVar[bool] = False

    @property
    @abstractmethod
    def charged(self) -> npt.NDArray[np.bool_]:
        """Which columns the penalty sees, shape ``(columns,)``."""

    @abstractmethod
    def value(self, coef: Array) -> float:
        """Return the penalty of ``coef``."""

    @abstractmethod
    def gradient(self, coef: Array) -> Array:
        """Return its gradient; on a coefficient that ``moving`` leaves out, that of its smooth part."""

    @abstractmethod
    def curvature(self) -> Array:
        """Return the diagonal of the second derivative of its smooth part, per column, shape ``(columns,)``."""

    def moving(self, coef: Array) -> npt.NDArray[np.bool_]:
        """Return the coefficients in which the penalty is smooth around ``coef``, so that a Newton step may move them."""
        return np.ones(coef.shape, dtype=bool)

    def shrink(self, gradient: Array) -> float:
        """Return the largest factor a <= 1 for which ``penalty*(-a gradient)`` is finite on the charged columns."""
        return 1.0

    def open(self, coef: Array, gradient: Array) -> npt.NDArray[np.bool_]:
        """Return the charged coefficients whose gradient a dual point must bring to zero: no scaling would allow it."""
        return np.zeros(coef.shape, dtype=bool)

    def recession(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return the columns whose coefficients may fall, and those whose may rise, for ever at no cost."""
        return ~self.charged, ~self.charged

    def conflicts(self) -> npt.NDArray[np.intp]:
        """Return the columns whose constraints exclude each other."""
        return np.zeros(0, dtype=np.intp)

    @abstractmethod
    def critical(self, gradient: Array) -> float:
        """Return the smallest strength for which zero is optimal on the charged columns; ``gradient`` is the loss's there."""

    @abstractmethod
    def at(self, strength: float) -> Penalty:
        """Return the same penalty with another strength."""

    @abstractmethod
    def prox(self, coef: Array, step: Array) -> Array:
        """Return ``argmin_z penalty(z) + sum_j |z_j - coef_j|^2 / (2 step_j)``."""

    @abstractmethod
    def conjugate(self, slope: Array) -> float:
        """Return ``sup_b slope.b - penalty(b)``, ``inf`` where an uncharged column has a slope."""

    @abstractmethod
    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return ``penalty(coef) + penalty*(-gradient) + coef.gradient`` over the charged columns, as a sum of terms >= 0."""

    @abstractmethod
    def blur(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return how much the mismatch may grow if every entry of ``gradient`` is off by up to ``error``."""

    @abstractmethod
    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return the distance of ``-gradient`` to the subdifferential, per coefficient."""

    @abstractmethod
    def take(self, columns: npt.NDArray[np.intp]) -> Penalty:
        """Return what the penalty is on some of the columns."""

    @abstractmethod
    def without(self, columns: npt.NDArray[np.bool_]) -> Penalty:
        """Return the penalty without its charges on some columns: nowhere above this one. Bounds stay."""

    @abstractmethod
    def rescaled(self, scale: Array) -> Penalty:
        """Return the penalty on ``c_j = scale_j b_j`` that costs what this one costs on ``b``."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """Return the penalty as plain data for a model file (arrays stay arrays)."""


def apart(penalty: Mapping[str, object]) -> tuple[dict[str, object], dict[str, npt.NDArray[Any]]]:
    """Return what of a penalty stands in the JSON of a model file, and its arrays by name, also those of an inner penalty."""
    plain: dict[str, object] = {}
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, value in penalty.items():
        if isinstance(value, Mapping):
            plain[name], inner = apart(value)
            arrays.update(inner)
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        else:
            plain[name] = value
    return plain, arrays
