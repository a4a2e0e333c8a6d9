"""The contract of a penalty: a function of the coefficients and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Penalty(ABC):
    """What large coefficients cost. ``coef`` is always ``(columns, outputs)``.

    A column whose charge is zero (the intercept, always) is *uncharged*: the penalty does not see it.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def charged(self) -> npt.NDArray[np.bool_]:
        """Which columns the penalty sees, shape ``(columns,)``."""

    @abstractmethod
    def value(self, coef: Array) -> float:
        """Return the penalty of ``coef``."""

    @abstractmethod
    def gradient(self, coef: Array) -> Array:
        """Return its gradient where it has one."""

    @abstractmethod
    def curvature(self) -> Array:
        """Return the diagonal of its second derivative, per column, shape ``(columns,)``."""

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
    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return the distance of ``-gradient`` to the subdifferential, per coefficient."""

    @abstractmethod
    def rescaled(self, scale: Array) -> Penalty:
        """Return the penalty on ``c_j = scale_j b_j`` that costs what this one costs on ``b``."""

    @abstractmethod
    def to_dict(self) -> dict[str, object]:
        """Return the penalty as plain data for a model file (arrays stay arrays)."""
