"""The contract of a penalty: a function of the coefficients and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Final, Literal

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array, Index, Mask
from lineal.penalties.costs import CoordinateCosts

SPELLING: Final = {"l1_ratio": "RATIO"}
"""Parameters whose word on the command line is not their name in capitals."""


class Penalty(ABC):
    """What large coefficients cost. ``coef`` is always ``(columns, outputs)``.

    One class is all that a penalty is. ``name`` stands in the model file and on the command line, before the
    ``parameters`` that follow its colon; ``label`` in sentences. Each column has a penalty factor, which multiplies
    ``|b_j|`` (``factor_unit`` is "sd": a standard deviation if columns count as standardized) or ``b_j^2``
    ("variance"). A column whose penalty factor is zero (the intercept, always) is *unpenalized*: the penalty does not
    see it.

    ``smooth`` says that the penalty has a gradient everywhere, and then it is quadratic. One that is not smooth may
    forbid dual points whose gradient is too large: ``shrink`` says by how much they have to be scaled down,
    ``unbounded_dual`` which coefficients allow no gradient at all. ``even`` says that of all rows of coefficients that
    differ by a constant the one with zero sum over outputs costs least, so that softmax coefficients are kept there.
    ``square`` says that the penalty is ``sum_j curvature_j |b_j|^2 / 2`` and nothing else, ``grouped`` that it is
    ``sum_j linear_j |b_j|``, ``|b_j|`` the Euclidean norm over outputs.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    parameters: ClassVar[tuple[str, ...]] = ("strength",)
    factor_unit: ClassVar[Literal["variance", "sd"]] = "sd"
    smooth: ClassVar[bool] = True
    even: ClassVar[bool] = True
    square: ClassVar[bool] = False
    grouped: ClassVar[bool] = False
    strength: float
    penalty_factors: Array

    @classmethod
    def make(cls, penalty_factors: Array, **parameters: float) -> Penalty:
        """Return the penalty with these parameters, by name."""
        return cls(*(parameters[name] for name in cls.parameters), penalty_factors)  # type: ignore[call-arg]

    @classmethod
    def example(cls, penalty_factors: Array) -> Penalty:
        """Return a usual penalty of this kind, for laws that hold for all of them."""
        return cls.make(penalty_factors, strength=0.7, l1_ratio=0.4)

    @classmethod
    def spelling(cls, given: Collection[str] = ()) -> str:
        """Return how the penalty is asked for, but for parameters that are given otherwise: ``elastic:STRENGTH,RATIO``."""
        words = [SPELLING.get(name, name.upper()) for name in cls.parameters if name not in given]
        return f"{cls.name}:{','.join(words)}" if words else cls.name

    @abstractmethod
    def formula(self, strength: str, scale: str, outputs: int) -> str:
        """Return the penalty in letters, ``scale`` what a coefficient is multiplied with: "" or such as "sd_j "."""

    def no_errors(self) -> str | None:
        """Return why coefficients with this penalty have no standard errors, and what to do instead."""
        return (
            f"the penalty {self.name!r} chooses coefficients by looking at the data, and p-values of what was chosen on "
            "the same rows are wrong. Choose columns on one part of the rows and fit them without a penalty on the other "
            "(split sample), or bootstrap the whole fit."
        )

    @property
    @abstractmethod
    def penalized(self) -> Mask:
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

    @property
    def rate(self) -> Array:
        """What ``|b_j|`` costs at strength one, per column."""
        return np.zeros(len(self.penalty_factors))

    @property
    def linear(self) -> Array:
        """What ``|b_j|`` costs, per column: the height of the kink at zero."""
        return np.zeros(len(self.penalty_factors))

    def costs(self, outputs: int) -> CoordinateCosts | None:
        """Return what every coefficient costs, per column, if the penalty is a sum of that form; else None."""
        return None

    @property
    def bounds(self) -> tuple[Array, Array] | None:
        """The least and the largest coefficient allowed, per column, where there are any bounds."""
        return None

    def without_bounds(self) -> Penalty:
        """Return the penalty that the bounds are put on."""
        return self

    def moving(self, coef: Array) -> Mask:
        """Return the coefficients in which the penalty is smooth around ``coef``, so that a Newton step may move them."""
        return np.ones(coef.shape, dtype=bool)

    def shrink(self, gradient: Array) -> float:
        """Return the largest factor a <= 1 for which ``penalty*(-a gradient)`` is finite on the penalized columns."""
        return 1.0

    def unbounded_dual(self, coef: Array, gradient: Array) -> Mask:
        """Return the penalized coefficients whose gradient a dual point must bring to zero: no scaling would allow it."""
        return np.zeros(coef.shape, dtype=bool)

    def recession(self) -> tuple[Mask, Mask]:
        """Return the columns whose coefficients may fall, and those whose may rise, for ever at no cost."""
        return ~self.penalized, ~self.penalized

    def conflicts(self) -> Index:
        """Return the columns whose constraints exclude each other."""
        return np.zeros(0, dtype=np.intp)

    @abstractmethod
    def critical(self, gradient: Array) -> float:
        """Return the smallest strength for which zero is optimal on the penalized columns; ``gradient`` is the loss's there."""

    def entry_strengths(self, gradient: Array) -> Array:
        """Return for every column the strength from which on it may stay zero; 0 for columns that are never kept there."""
        return np.zeros(len(gradient))

    def at(self, strength: float) -> Penalty:
        """Return the same penalty with another strength."""
        return self._with(self.penalty_factors, strength=strength)

    @abstractmethod
    def prox(self, coef: Array, step: Array) -> Array:
        """Return ``argmin_z penalty(z) + sum_j |z_j - coef_j|^2 / (2 step_j)``."""

    @abstractmethod
    def conjugate(self, slope: Array) -> float:
        """Return ``sup_b slope.b - penalty(b)``, ``inf`` where an unpenalized column has a slope."""

    @abstractmethod
    def mismatch(self, coef: Array, gradient: Array) -> float:
        """Return ``penalty(coef) + penalty*(-gradient) + coef.gradient`` over the penalized columns, as a sum of terms >= 0."""

    @abstractmethod
    def mismatch_error(self, coef: Array, gradient: Array, error: Array) -> float:
        """Return how much the mismatch may grow if every entry of ``gradient`` is off by up to ``error``."""

    @abstractmethod
    def slack(self, coef: Array, gradient: Array) -> Array:
        """Return the distance of ``-gradient`` to the subdifferential, per coefficient."""

    def take(self, columns: Index) -> Penalty:
        """Return what the penalty is on some of the columns."""
        return self._with(self.penalty_factors[columns])

    def without(self, columns: Mask) -> Penalty:
        """Return the penalty without its penalty factors on some columns: nowhere above this one. Bounds stay."""
        return self._with(np.where(columns, 0.0, self.penalty_factors))

    def rescaled(self, scale: Array) -> Penalty:
        """Return the penalty on ``c_j = scale_j b_j`` that costs what this one costs on ``b``."""
        return self._with(self.penalty_factors / (scale**2 if self.factor_unit == "variance" else scale))

    def _with(self, penalty_factors: Array, **changed: float) -> Penalty:
        numbers = {name: getattr(self, name) for name in self.parameters}
        return self.make(penalty_factors, **(numbers | changed))

    def to_dict(self) -> dict[str, object]:
        """Return the penalty as plain data for a model file (arrays stay arrays)."""
        numbers = {name: getattr(self, name) for name in self.parameters}
        return {"name": self.name, **numbers, "charges": self.penalty_factors}


def checked(label: str, strength: float, penalty_factors: Array) -> None:
    """Refuse strengths and penalty factors that mean nothing."""
    if not (np.isfinite(strength) and strength >= 0.0):
        raise InputError(f"the {label} strength is {strength}; it must be a finite number >= 0.")
    if not np.all(np.isfinite(penalty_factors)) or np.any(penalty_factors < 0.0):
        raise InputError(f"the penalty factors of a {label} penalty must be finite numbers >= 0, one per column.")


def letter(outputs: int) -> str:
    """Return the letter of a coefficient in formulas.

    >>> letter(1), letter(3)
    ('b_j', 'b_jk')
    """
    return "b_jk" if outputs > 1 else "b_j"


def squared(scale: str, outputs: int) -> str:
    """Return the square of a scaled coefficient in letters.

    >>> squared("", 1), squared("sd_j ", 2)
    ('b_j^2', '(sd_j b_jk)^2')
    """
    return f"({scale}{letter(outputs)})^2" if scale else f"{letter(outputs)}^2"


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
