"""The contract of a loss: a function of one row's (y, eta) and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from lineal.ground.arrays import Array, Index, Mask

Targets = Literal["numbers", "counts", "two classes", "classes"]


class Kink(NamedTuple):
    """One corner of a piecewise linear loss: ``max(low (eta - at), high (eta - at))``, arrays of shape ``(n, 1)``."""

    at: Array
    low: Array
    high: Array


class DualStep(NamedTuple):
    """What the kernel of dual ascent needs to know of a loss.

    The conjugate of a row is ``at theta + epsilon |theta| + bend theta^2 / 2`` on an interval, ``at`` the target or, with
    ``margin``, the side -1 or 1 of its class; or that of several classes on a simplex, where ``cost`` is the margin by
    which other classes have to stay below.
    """

    bend: float = 0.0
    epsilon: float = 0.0
    cost: float = 0.0
    margin: bool = False


class Loss(ABC):
    """How wrong the linear score ``eta`` is for one row with target ``y``.

    Rows are arrays: ``y`` is ``(n, targets)``, ``eta`` is ``(n, outputs)``, both float64.
    Every convex loss carries its conjugate ``loss*(y, theta) = sup_eta theta.eta - loss(y, eta)``,
    and the Fenchel-Young mismatch ``loss(y, eta) + loss*(y, theta) - theta.eta >= 0``, which is zero
    exactly where ``theta`` is the slope at ``eta``: summed over rows it is a proof of optimality.

    A class carries all that is to be known of its loss; nobody else asks for its name. Its fields are its parameters, which
    ``__post_init__`` checks, and ``outputs_field``, where a row has several scores.

    In tables and files: ``name`` is the name in a model file; ``targets`` what a target may be; ``models`` the words that the
    command line has for it (``word:LETTER`` where a number follows, of which ``argument`` says what it has to be; ``aliases``
    are words for one of them with its number), of losses
    that share a word the first that suits the number of classes is taken, and ``instead`` says what to use if none does.

    In the core: ``native`` is the number of the row kernel, or None for a loss written in numpy only; ``row_kernel`` the name
    of the kernel of stochastic steps.

    The shape: ``coupled`` says that the curvature of a row mixes outputs: then it is ``(n, outputs, outputs)``,
    otherwise ``(n, outputs)``. ``multinomial`` says that it is ``diag(p) - p p'`` with ``p = mean``, so that scores are known but
    for a constant; ``logit`` that the score is the log of the odds of class 1. ``quadratic`` says that the curvature never
    changes. ``curvature_bound`` bounds the curvature.
    ``max_shift`` is how far scores may move by a Newton step for its dual point to be safely inside the conjugate's domain;
    ``unbounded`` says that the loss may fall for ever along a direction, so that a minimiser need not exist; ``remedies`` are
    penalties under which it does. ``smooth`` says that it has a slope everywhere. At a kink of a loss that is not smooth,
    ``slope`` is one of its slopes. ``convex`` says that it is convex: otherwise no solver follows it; ``strictly_convex``
    that no segment of it is straight, in the scores of a row.
    ``dual_margin`` is how far a dual point that the kernels accept may still be moved, in scores, without leaving the domain.
    ``even`` says that ``loss(1 - y, -eta) = loss(y, eta)``.

    In statistics: ``has_mean_statistic`` says that the best constant score follows from the mean of the statistic; otherwise
    ``constant`` is only a place to start from. ``likelihood`` says that the loss is a negative log-likelihood (but for a
    constant), ``has_base`` that this constant, ``base``, depends on the targets; ``estimates_noise`` that the likelihood has a
    variance of its own, so that tests are those of t and F; ``ratio`` what e to the power of a coefficient is called, "" where
    scores are no logarithms. ``figure`` is the metric that tells the mean loss.
    ``decides`` says that ``mean`` is the class a score speaks for: there are no probabilities. ``upward`` says that a score
    of 0, or a best score that classes share, speaks for the later class; otherwise it is the earlier one.
    """

    name: ClassVar[str]
    targets: ClassVar[Targets] = "numbers"
    outputs_field: ClassVar[str | None] = None
    models: ClassVar[tuple[str, ...]] = ()
    aliases: ClassVar[Mapping[str, str]] = MappingProxyType({})
    argument: ClassVar[str] = ""
    instead: ClassVar[str] = ""
    native: ClassVar[int | None] = None
    row_kernel: ClassVar[str | None] = None
    coupled: ClassVar[bool] = False
    multinomial: ClassVar[bool] = False
    logit: ClassVar[bool] = False
    quadratic: ClassVar[bool] = False
    convex: ClassVar[bool] = True
    strictly_convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = True
    curvature_bound: ClassVar[float] = 1.0
    max_shift: ClassVar[float] = float("inf")
    dual_margin: ClassVar[float] = float("inf")
    unbounded: ClassVar[bool] = False
    remedies: ClassVar[tuple[str, ...]] = ("ridge",)
    has_mean_statistic: ClassVar[bool] = True
    even: ClassVar[bool] = False
    likelihood: ClassVar[bool] = False
    has_base: ClassVar[bool] = False
    estimates_noise: ClassVar[bool] = False
    ratio: ClassVar[str] = ""
    figure: ClassVar[str] = "mean_loss"
    decides: ClassVar[bool] = False

    @classmethod
    def examples(cls) -> tuple[Loss, ...]:
        """Return some losses of this class for laws to be tested with."""
        return (cls(),)

    @classmethod
    def make(cls, outputs: int, **parameters: float) -> Self:
        """Return the loss with this number of outputs, where it may be chosen, and these parameters by name."""
        size = () if cls.outputs_field is None else (outputs,)
        return cls(*size, **parameters)

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters: the fields, but for that of the outputs."""
        return tuple(item.name for item in fields(cls) if item.name != cls.outputs_field)  # type: ignore[arg-type]

    @classmethod
    def of_classes(cls) -> bool:
        """Whether targets are the numbers of classes."""
        return cls.targets in ("two classes", "classes")

    @classmethod
    def outputs_for(cls, classes: int) -> int:
        """Return how many scores a row has where there are this many classes; 0 if the loss is not for that number."""
        if cls.targets == "classes":
            return classes
        return int(cls.targets == "two classes" and classes == 2)

    @property
    def upward(self) -> bool:
        """Whether ties go to the later class."""
        return False

    @property
    def outputs(self) -> int:
        """Number of linear scores a row has."""
        return 1 if self.outputs_field is None else int(getattr(self, self.outputs_field))

    @property
    def free_outputs(self) -> int:
        """Number of scores that the likelihood tells apart."""
        return self.outputs - int(self.multinomial)

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

    def decide(self, eta: Array) -> Index:
        """Return the number of the class that each row of scores speaks for."""
        return chosen(eta, upward=self.upward)

    def majorant(self) -> Loss | None:
        """Return the same loss with the curvature of a quadratic that touches it from above; None where none is needed."""
        return None

    def quadratic_core(self, margin: float) -> Loss | None:
        """Return the same loss with curvature 1 or 0 in those rows alone that are ``margin`` away from where it jumps.

        None where it does not jump, or too little is that far away.
        """
        return None

    @property
    def narrowest(self) -> float:
        """The width of the narrowest part of the loss, in units of the score; infinity where it is all of one piece."""
        return np.inf

    def wider(self, value: float) -> tuple[Loss, ...]:
        """Return losses whose minimizers lead to this one's from a start of mean loss ``value``; () where none is needed."""
        return ()

    def box(self, y: Array) -> tuple[Array, Array] | None:
        """Return the least and largest dual point of each row, ``(n, 1)``; None where the domain is no interval."""
        return None

    def kinks(self, y: Array) -> list[Kink]:
        """Return what a piecewise linear loss is the sum of; nothing for any other loss."""
        return []

    def lean(self, y: Array, theta: Array) -> Array | None:
        """Return the slope of the conjugate in ``q = theta + e_y`` where q are probabilities; None for other domains."""
        return None

    def dual_step(self) -> DualStep | None:
        """Return what dual ascent needs; None where the conjugate has no closed step."""
        return None

    def recession(self, y: Array) -> tuple[Mask, Mask]:
        """Return which targets of one unbounded score pull it up for ever (others: down), and which ones hold it."""
        return y > 0.5, (y > 0.0) & (y < 1.0)

    def information(self, y: Array, eta: Array) -> Array:
        """Return the expected curvature of rows with these scores, ``(d mean / d eta)^2 / variance``; of likelihoods."""
        return self.curvature(y, eta)

    def chances(self, y: Array, eta: Array, dispersion: float, trials: Array) -> tuple[Array, Array, Array] | None:
        """Return how likely a target below each of ``y``, the same and one above are, of rows with these scores.

        ``y`` is the mean of ``trials``. None where the loss is no likelihood, or no target of its distribution has these.
        """
        return None

    def base(self, y: Array, weight: Array) -> float:
        """Return the part of the log-likelihood of some rows that depends on their targets alone."""
        return 0.0

    def title(self) -> str:
        """Return what a model of this loss is called."""
        return self.name

    def summary_title(self) -> str:
        """Return what a summary calls a fit of this likelihood."""
        return self.title()

    def formula(self) -> str:
        """Return the loss of a row in text, with its numbers."""
        return self.name

    def letters(self, classes: Sequence[object]) -> str:
        """Return what the letters of the formula are, given the first and the last class; empty if they are plain."""
        return ""

    def procedure(self) -> str:
        """Return what is done where no mean of the loss is minimised; empty where it is."""
        return ""

    def at_infinity(self, columns: int, strict: int, total: int) -> str:
        """Return what some columns do to ``strict`` of all rows so that the loss falls for ever."""
        verb = "separates" if columns == 1 else "separate"
        return f"{verb} the classes completely" if strict == total else f"{verb} {strict} of {total} rows from the rest"

    @property
    def parameter(self) -> float:
        """The one number the kernels need to know of the loss."""
        return 0.0

    def parameters(self) -> dict[str, float]:
        """Return what the loss was made with, beside its outputs, by name."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def to_dict(self) -> dict[str, object]:
        """Return the loss as plain data for a model file."""
        return {"name": self.name, "outputs": self.outputs, **self.parameters()}


def chosen(eta: Array, *, upward: bool = False) -> Index:
    """Return the class that each row of scores speaks for; ties go to the later class if ``upward``, else to the earlier.

    >>> chosen(np.array([[0.0], [1.0]])).tolist(), chosen(np.array([[2.0, 1.0, 2.0]]), upward=True).tolist()
    ([0, 1], [2])
    """
    if eta.shape[1] == 1:
        return ((eta[:, 0] >= 0.0) if upward else (eta[:, 0] > 0.0)).astype(np.intp)
    return np.asarray(eta.shape[1] - 1 - np.argmax(eta[:, ::-1], axis=1) if upward else np.argmax(eta, axis=1))
