"""Models that make columns of training rows, one class each: ``ALL`` is the catalogue that everybody else asks.

A new one is a class here, its feature map in ``api/feature_maps.py``, and a twin in ``verify/maps/``.
"""

from __future__ import annotations

from lineal.api.methods import kernel_machines
from lineal.api.methods.discriminant import LinearDiscriminant, QuadraticDiscriminant
from lineal.api.methods.knn import Knn
from lineal.api.methods.method import Method
from lineal.api.methods.naive_bayes import NaiveBayes

ALL: tuple[type[Method], ...] = (
    NaiveBayes,
    LinearDiscriminant,
    QuadraticDiscriminant,
    Knn,
    *kernel_machines.ALL,
)
"""Every method, in the order in which pages name them."""

__all__ = ["ALL", "Method", "by_name"]


def by_name() -> dict[str, type[Method]]:
    """Return the methods by the word that a person types."""
    return {method.name: method for method in ALL}
