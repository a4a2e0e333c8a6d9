"""The losses that the checker knows, by the name they have in a model file."""

from __future__ import annotations

from typing import ClassVar

from lineal.verify.losses import corners, simplex, smooth
from lineal.verify.losses.loss import Loss, Targets


class Perceptron(Loss):
    """The rule of a perceptron, whose halfspaces are checked, not its loss."""

    name = "perceptron"
    field: ClassVar[str | None] = "tie"
    signed = True
    targets: ClassVar[Targets] = "classes"

    @classmethod
    def allows(cls, parameter: float) -> bool:
        """Return whether it is one of the three ways to treat a tie."""
        return parameter in (-1.0, 0.0, 1.0)

    @classmethod
    def outputs_for(cls, classes: int) -> int:
        """Return one score for two classes, one for each of several."""
        return 1 if classes == 2 else classes


class ZeroOne(Loss):
    """The number of mistakes, which is counted and bounded, not minimized along slopes."""

    name = "zero-one"
    targets: ClassVar[Targets] = "two classes"


ALL: tuple[type[Loss], ...] = (
    smooth.Squared,
    smooth.Poisson,
    smooth.Logistic,
    smooth.Softmax,
    corners.Absolute,
    corners.Quantile,
    corners.Huber,
    corners.EpsilonInsensitive,
    corners.SquaredEpsilonInsensitive,
    corners.Hinge,
    corners.SquaredHinge,
    simplex.CrammerSinger,
    simplex.Sparsemax,
    Perceptron,
    ZeroOne,
)
BY_NAME = {loss.name: loss for loss in ALL}
