"""The losses lineal knows, one file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from lineal.losses.coded import Coded
from lineal.losses.crammer_singer import CrammerSinger
from lineal.losses.curves import Exponential
from lineal.losses.hinge import Hinge, SquaredHinge
from lineal.losses.huber import Huber
from lineal.losses.insensitive import EpsilonInsensitive, SquaredEpsilonInsensitive
from lineal.losses.logistic import Logistic
from lineal.losses.loss import Loss
from lineal.losses.perceptron import Perceptron
from lineal.losses.poisson import Poisson
from lineal.losses.quantile import Absolute, Quantile
from lineal.losses.softmax import Softmax
from lineal.losses.sparsemax import Sparsemax
from lineal.losses.squared import Squared
from lineal.losses.zero_one import ZeroOne

BY_NAME: Final[Mapping[str, Callable[..., Loss]]] = {
    "squared": Squared,
    "absolute": lambda _outputs: Absolute(),
    "quantile": lambda _outputs, q: Quantile(q),
    "huber": lambda _outputs, threshold: Huber(threshold),
    "epsilon-insensitive": lambda _outputs, epsilon: EpsilonInsensitive(epsilon),
    "squared-epsilon-insensitive": lambda _outputs, epsilon: SquaredEpsilonInsensitive(epsilon),
    "poisson": lambda _outputs: Poisson(),
    "logistic": lambda _outputs: Logistic(),
    "softmax": Softmax,
    "hinge": lambda _outputs: Hinge(),
    "squared-hinge": lambda _outputs: SquaredHinge(),
    "crammer-singer": CrammerSinger,
    "sparsemax": Sparsemax,
    "perceptron": Perceptron,
    "zero-one": lambda _outputs: ZeroOne(),
}
"""Every loss by the name it has in a model file; called with the number of outputs and its parameters by name."""

PARAMETERS: Final[Mapping[str, tuple[str, ...]]] = {
    "quantile": ("q",),
    "huber": ("threshold",),
    "epsilon-insensitive": ("epsilon",),
    "squared-epsilon-insensitive": ("epsilon",),
    "perceptron": ("tie",),
}
"""The parameters of the losses that have some."""

CURVES: Final = {"exponential": Exponential, "zero-one": ZeroOne}
"""Losses to draw beside the others: nothing follows their slopes."""

__all__ = [
    "BY_NAME",
    "CURVES",
    "PARAMETERS",
    "Absolute",
    "Coded",
    "CrammerSinger",
    "EpsilonInsensitive",
    "Exponential",
    "Hinge",
    "Huber",
    "Logistic",
    "Perceptron",
    "Poisson",
    "Quantile",
    "Softmax",
    "Sparsemax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "ZeroOne",
]
