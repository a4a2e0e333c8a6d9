"""The losses lineal knows, one file each; ``ALL`` is the catalogue that everybody else asks."""

from __future__ import annotations

from typing import Final

from lineal.losses.coded import Coded
from lineal.losses.crammer_singer import CrammerSinger
from lineal.losses.curves import Exponential, SquaredSigmoid
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

ALL: tuple[type[Loss], ...] = (
    Squared,
    Absolute,
    Quantile,
    Huber,
    EpsilonInsensitive,
    SquaredEpsilonInsensitive,
    Poisson,
    Logistic,
    Softmax,
    Hinge,
    SquaredHinge,
    CrammerSinger,
    Sparsemax,
    Perceptron,
    ZeroOne,
)
"""Every loss that a model file may name."""

CURVES: Final = {"exponential": Exponential, "zero-one": ZeroOne, "squared-sigmoid": SquaredSigmoid}
"""Losses to draw beside the others: nothing follows their slopes."""


def by_name() -> dict[str, type[Loss]]:
    """Return every loss by the name it has in a model file.

    >>> by_name()["huber"].make(1, threshold=2.0)
    Huber(threshold=2.0)
    """
    return {loss.name: loss for loss in ALL}


def by_model(word: str) -> list[type[Loss]]:
    """Return the losses that a model word of the command line may mean.

    >>> [loss.name for loss in by_model("svm")]
    ['hinge', 'crammer-singer']
    """
    return [loss for loss in ALL if word in {text.partition(":")[0] for text in loss.models}]


def likelihoods() -> list[type[Loss]]:
    """Return the losses that are likelihoods, in the order of their kernels."""
    return sorted((loss for loss in ALL if loss.likelihood), key=lambda loss: (loss.native is None, loss.native or 0))


__all__ = [
    "ALL",
    "CURVES",
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
    "by_model",
    "by_name",
    "likelihoods",
]
