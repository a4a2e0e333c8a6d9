"""The contract of a loss: a function of one row's (y, eta) and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Kink(NamedTuple):
    """One corner of a piecewise linear loss: ``max(low (eta - at), high (eta - at))``, arrays of shape ``(n, 1)``."""

    at: Array
    low: Array
    high: Array


class Loss(ABC):
    """How wrong the linear score ``eta`` is for one row with target ``y``.

    Rows are arrays: ``y`` is ``(n, targets)``, ``eta`` is ``(n, outputs)``, both float64.
    Every convex loss carries its conjugate ``loss*(y, theta) = sup_eta theta.eta - loss(y, eta)``,
    and the Fenchel-Young mismatch ``loss(y, eta) + loss*(y, theta) - theta.eta >= 0``, which is zero
    exactly where ``theta`` is the slope at ``eta``: summed over rows it is a proof of optimality.

    ``native`` is the number of the row kernel in the compiled core, or None for a loss written in numpy only.
    ``coupled`` says that the curvature of a row mixes outputs: then it is ``(n, outputs, outputs)``,
    otherwise ``(n, outputs)``. ``quadratic`` says that the curvature never changes. ``curvature_bound`` bounds the curvature.
    ``reach`` is how far scores may move by a Newton step for its dual point to be safely inside the conjugate's domain;
    ``unbounded`` says that the loss may fall for ever along a direction, so that a minimiser need not exist;
    ``smooth`` that it has a slope everywhere. At a kink of a loss that is not smooth, ``slope`` is one of its slopes.
    ``room`` is how far a dual point that the kernels accept may still be moved, in scores, without leaving the domain.
    ``even`` says that ``loss(1 - y, -eta) = loss(y, eta)``.
    ``has_mean_statistic`` says that the best constant score follows from the mean of the statistic; otherwise ``constant``
    is only a place to start from. ``likelihood`` says that the loss is a negative log-likelihood (but for a constant).
    ``within`` is the distance ``|eta - y|`` below which the loss bends by one, and not at all beyond; None for other losses.
    ``decides`` says that ``mean`` is the class a score speaks for: there are no probabilities. ``upward`` says that a score
    of 0, or a best score that classes share, speaks for the later class; otherwise it is the earlier one.
    """

    name: ClassVar[str]
    native: ClassVar[int | None] = None
    coupled: ClassVar[bool] = False
    quadratic: ClassVar[bool] = False
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 1.0
    reach: ClassVar[float] = float("inf")
    room: ClassVar[float] = float("inf")
    unbounded: ClassVar[bool] = False
    has_mean_statistic: ClassVar[bool] = True
    even: ClassVar[bool] = False
    likelihood: ClassVar[bool] = False
    decides: ClassVar[bool] = False
    within: ClassVar[float | None] = None

    @property
    def upward(self) -> bool:
        """Whether ties go to the later class."""
        return False

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Number of linear scores a row has."""

    @abstractmethod
    def check(self, y: Array) -> None:
        """Raise InputError unless every entry of ``y`` is in the loss's domain."""

    @abstractmethod
    def value(self, y: Array, eta: Array) -> Array:
        """Return the loss of each row, shape ``(n,)``."""

    @abstractmethod
    def slope(self, y: Array, eta: Array) -> Array:
        """Return d loss / d eta, shape ``(n, outputs)``."""

    @abstractmethod
    def curvature(self, y: Array, eta: Array) -> Array:
        """Return the second derivative in eta: ``(n, outputs)``, or ``(n, outputs, outputs)`` if coupled."""

    @abstractmethod
    def conjugate(self, y: Array, theta: Array) -> Array:
        """Return ``loss*(y, theta)`` of each row, ``inf`` outside its domain."""

    @abstractmethod
    def mean(self, eta: Array) -> Array:
        """Return what the model predicts for ``eta``: a mean or class probabilities."""

    @abstractmethod
    def mismatch(self, y: Array, eta: Array, theta: Array) -> Array:
        """Return the Fenchel-Young mismatch of each row as a sum of terms >= 0 (not as a difference of large ones)."""

    @abstractmethod
    def statistic(self, y: Array, weight: Array) -> Array:
        """Return the weighted sum of what the best constant score depends on, shape ``(outputs,)``."""

    @abstractmethod
    def constant(self, mean: Array) -> Array:
        """Return the best constant score given the mean of the statistic, shape ``(outputs,)``; may be infinite."""

    def level(self, mean: Array, constant: Array) -> tuple[float, Array] | None:
        """Return the mean loss of a constant score and a bound on the mean |slope|, given the mean of the statistic.

        None where the rows have to be asked.
        """
        return None

    def decide(self, eta: Array) -> npt.NDArray[np.intp]:
        """Return the number of the class that each row of scores speaks for."""
        return chosen(eta, upward=self.upward)

    def majorant(self) -> Loss | None:
        """Return the same loss with the curvature of a quadratic that touches it from above; None where none is needed."""
        return None

    def box(self, y: Array) -> tuple[Array, Array] | None:
        """Return the least and largest dual point of each row, ``(n, 1)``; None where the domain is no interval."""
        return None

    def kinks(self, y: Array) -> list[Kink]:
        """Return what a piecewise linear loss is the sum of; nothing for any other loss."""
        return []

    @property
    def parameter(self) -> float:
        """The one number the kernels need to know of the loss."""
        return 0.0

    def parameters(self) -> dict[str, float]:
        """Return what the loss was made with, beside its outputs, by name."""
        return {}

    def to_dict(self) -> dict[str, object]:
        """Return the loss as plain data for a model file."""
        return {"name": self.name, "outputs": self.outputs, **self.parameters()}


def chosen(eta: Array, *, upward: bool = False) -> npt.NDArray[np.intp]:
    """Return the class that each row of scores speaks for; ties go to the later class if ``upward``, else to the earlier.

    >>> chosen(np.array([[0.0], [1.0]])).tolist(), chosen(np.array([[2.0, 1.0, 2.0]]), upward=True).tolist()
    ([0, 1], [2])
    """
    if eta.shape[1] == 1:
        return ((eta[:, 0] >= 0.0) if upward else (eta[:, 0] > 0.0)).astype(np.intp)
    return np.asarray(eta.shape[1] - 1 - np.argmax(eta[:, ::-1], axis=1) if upward else np.argmax(eta, axis=1))
