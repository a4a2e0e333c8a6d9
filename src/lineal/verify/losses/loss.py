"""What the checker asks of a loss: a class for each, an instance for its rows at given scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.losses.dual import Dual

Targets = Literal["numbers", "two classes", "classes"]


@dataclass(frozen=True)
class Loss(ABC):
    """A loss at the scores of some rows; ``y`` holds a one for the class where there are several outputs.

    The class says what a file may state: ``name``; ``field``, the name of ``parameter``, which may be below zero if ``signed``;
    ``targets``, the least of them, ``least_target``, and whether there may be several numbers a row, ``many_targets``.

    And what its shape is: ``quadratic``; ``cornered``, its slopes are no dual point, so the file holds one; ``flat``, it has
    parts that do not bend; ``unbounded``, it falls for ever in some direction, so that a dual point proves that a minimizer
    exists where it is off its border; ``residual``, it sees nothing of score and target but their difference; ``coupled``,
    the curvature of a row mixes outputs, and nothing changes with what all of them share; ``exponential``, it holds e^score;
    ``cooled``, it depends on scores alone, and hardly bends where those are large; ``likelihood``, it is a negative
    log-likelihood; ``logit``, that of the log of odds; ``entropy``, the best constant costs the entropy of the classes.
    ``remedies`` are penalties that help where there is no minimizer.
    """

    y: Array
    eta: Array
    parameter: float = 0.0

    name: ClassVar[str]
    field: ClassVar[str | None] = None
    signed: ClassVar[bool] = False
    targets: ClassVar[Targets] = "numbers"
    least_target: ClassVar[float] = -np.inf
    many_targets: ClassVar[bool] = False
    quadratic: ClassVar[bool] = False
    cornered: ClassVar[bool] = False
    flat: ClassVar[bool] = False
    unbounded: ClassVar[bool] = False
    residual: ClassVar[bool] = False
    coupled: ClassVar[bool] = False
    exponential: ClassVar[bool] = False
    cooled: ClassVar[bool] = False
    likelihood: ClassVar[bool] = False
    logit: ClassVar[bool] = False
    entropy: ClassVar[bool] = False
    remedies: ClassVar[tuple[str, ...]] = ("ridge",)

    @classmethod
    def allows(cls, parameter: float) -> bool:
        """Return whether the parameter may be this one."""
        del parameter
        return True

    @classmethod
    def outputs_for(cls, classes: int) -> int:
        """Return the number of scores of a row, given the number of classes."""
        return 1 if cls.targets == "two classes" else classes

    @classmethod
    def constant(cls, shares: Array) -> Array | None:
        """Return the best constant scores where there are no offsets, given the mean of y; None if that is not enough."""
        del shares
        return None

    @classmethod
    def escape(cls, columns: int, strict: int, rows: int) -> str:
        """Return what columns do to ``strict`` of the rows, so that their loss falls for ever."""
        s = "s" if columns == 1 else ""
        return (
            f"separate{s} the classes completely"
            if strict == rows
            else f"separate{s} {strict} of {rows} rows from the rest"
        )

    @property
    @abstractmethod
    def value(self) -> Array:
        """The loss of each row."""

    @property
    @abstractmethod
    def slope(self) -> Array:
        """Its derivative by the scores (at a corner, one of its slopes)."""

    @property
    @abstractmethod
    def steep(self) -> Array:
        """How much the loss may change per unit of a score."""

    @property
    @abstractmethod
    def weight(self) -> Array:
        """The diagonal of the curvature W."""

    @property
    def bend(self) -> Array | float:
        """A bound on the curvature near the scores."""
        return 0.0 if self.cornered else 1.0

    @property
    def terms(self) -> Array:
        """The size of the terms whose difference the value is; zero where none cancel."""
        return np.zeros(1)

    @abstractmethod
    def curved(self, u: Array) -> Array:
        """Return W u."""

    @abstractmethod
    def duals(self, steps: list[Array], given: Array | None = None, /) -> list[Dual]:
        """Return dual points: the given one, where slopes are not dual points, else slope - W u for every step u."""

    def pieces(self, x: Array) -> tuple[Array, Array]:
        """Return a and z of the pieces ``a_im + z_im b`` whose largest is the loss of a row with offset eta, if cornered."""
        raise NotImplementedError
