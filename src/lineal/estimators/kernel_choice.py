"""Which kernel an estimator asks for: a name of scikit-learn's with its parameters, one of ours, a function, a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.designs.sound import is_sparse
from lineal.errors import InputError, KindError, near
from lineal.estimators.parameters import number
from lineal.ground.inputs import shown
from lineal.ground.records import dataclass
from lineal.kernels import (
    FromFunction,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from lineal.machines.gram import KernelGram, MatrixGram
from lineal.problem.span import Gram

Array = npt.NDArray[np.float64]
Function = Callable[[Any, Any], Any]

NAMES: Final = ("linear", "poly", "polynomial", "rbf", "sigmoid", "laplacian", "cosine", "precomputed")
"""Names of kernels; ``polynomial`` is another one for ``poly``."""

BLOCK_ENTRIES: Final = 1 << 22
"""Entries of K that a prediction makes at once: 32 MiB."""


@dataclass(frozen=True)
class Choice:
    """A kernel for some rows: one of the catalogue, a function of two matrices of rows, or neither (precomputed)."""

    kernel: Kernel | None = None
    function: Function | None = None

    def gram(self, X: Any) -> Gram:
        """Return the Gram matrix of training rows."""
        if isinstance(self.kernel, FromFunction):  # whose matrix is looked at, as one that is given
            points = self.kernel.points(X)
            return MatrixGram(
                self.kernel.gram(points), error=float(np.max(self.kernel.entry_error(points) ** 2, initial=0.0))
            )
        if self.kernel is not None:
            return KernelGram(self.kernel, self.kernel.points(X))
        if self.function is None:
            return MatrixGram.of(X, rows=X.shape[0])
        return MatrixGram.of(self.called(X, X), rows=X.shape[0])

    def scores(self, X: Any, rows: Any, coef: Array) -> Array:
        """Return ``k(X, rows) coef``; of a precomputed kernel, X holds the entries."""
        if self.kernel is None:
            return np.asarray((X if self.function is None else self.called(X, rows)) @ coef, dtype=np.float64)
        left, right = self.kernel.points(X), self.kernel.points(rows)
        eta = np.empty((len(left), coef.shape[1]))
        step = max(1, BLOCK_ENTRIES // max(1, len(right)))
        for start in range(0, len(left), step):
            some = np.arange(start, min(start + step, len(left)))
            eta[some] = self.kernel.gram(left.take(some), right) @ coef
        return eta

    def called(self, X: Any, Z: Any) -> Array:
        """Return what the function says of two sets of rows."""
        assert self.function is not None
        entries = np.asarray(self.function(X, Z), dtype=np.float64)
        if entries.shape != (X.shape[0], Z.shape[0]):
            raise InputError(
                f"the kernel function returned an array of shape {entries.shape} for {X.shape[0]} and {Z.shape[0]} rows; it "
                f"must return one number for each pair, shape {(X.shape[0], Z.shape[0])}."
            )
        if not np.isfinite(entries).all():
            raise InputError("the kernel function returned NaN or infinity; entries of a kernel are finite numbers.")
        return entries


def choose(
    kernel: object, X: Any, *, gamma: float, degree: object, coef0: object, function: Function | None = None
) -> Choice:
    """Return the kernel that parameters ask for; ``function`` is what a callable becomes, itself unless given."""
    kernel = "precomputed" if isinstance(kernel, Precomputed) else kernel
    if isinstance(kernel, Kernel):
        return Choice(kernel)
    if callable(kernel):
        return Choice(function=kernel if function is None else function)
    if not isinstance(kernel, str) or kernel not in NAMES:
        hint = near(kernel, NAMES) if isinstance(kernel, str) else ""
        raise InputError(
            f"kernel is {kernel!r}; accepted are {', '.join(NAMES)}, a kernel of lineal.kernels, and a function that returns "
            f"the matrix of kernel values.{hint}"
        )
    if kernel == "precomputed":
        if is_sparse(X):
            raise KindError("Sparse precomputed kernels are not supported: X is sparse; give a dense matrix.")
        if X.shape[0] != X.shape[1]:
            raise InputError(
                f"X has shape {X.shape}; with kernel='precomputed' it is the square matrix of the kernel of all training rows."
            )
        return Choice()
    return Choice(_named(kernel, gamma, degree, coef0))


def _named(kernel: str, gamma: float, degree: object, coef0: object) -> Kernel:
    if kernel == "linear":
        return Linear()
    if kernel == "cosine":
        return Normalized(Linear())
    if not gamma > 0.0:
        raise InputError(
            f"gamma is {gamma!r}, with which every entry of the {kernel} kernel is the same; give one above 0."
        )
    if kernel == "rbf":
        return Gaussian(gamma)
    if kernel == "laplacian":
        return Laplacian(gamma)
    bias = number("coef0", coef0, least=-math.inf)
    if kernel == "sigmoid":
        return Sigmoid(gamma, bias)
    power = number("degree", degree)
    if power != int(power) or power < 1:
        raise InputError(f"degree is {degree!r}; the polynomial kernel needs a whole number of at least 1.")
    return Polynomial(int(power), bias, gamma)


def is_given(kernel: object) -> bool:
    """Whether X holds the entries of the kernel."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def structured(kernel: object, X: Any) -> bool:
    """Whether points are no rows of numbers: those of a kernel of texts or trees, or what a function of ours or theirs takes.

    >>> from lineal.kernels import Spectrum
    >>> structured(Spectrum(2), ["ab"]), structured("rbf", ["ab"]), structured(min, [[1.0]])
    (True, False, False)
    """
    if isinstance(kernel, Kernel) and kernel.takes != "objects":
        return kernel.takes in ("sequences", "trees")
    return callable(kernel) or isinstance(kernel, Kernel) if not is_sparse(X) and _holds_things(X) else False


def _holds_things(X: Any) -> bool:
    """Whether X is a sequence of things that are no numbers and no rows of numbers."""
    several = isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.ndim > 0)
    first = next(iter(X), None) if several else None
    return (
        first is not None
        and not isinstance(first, float | int | np.number)
        and np.asarray(first).dtype.kind not in "fiub"
    )


def listed(X: Any) -> npt.NDArray[np.object_]:
    """Return points that are no rows of numbers as an array of them.

    >>> listed([["a", "b"], ["c", "d"]]).shape
    (2,)
    """
    if X is None or isinstance(X, str | bytes | dict) or not isinstance(X, Iterable):
        raise InputError(f"X is {shown(X)}; give a list of the points that the kernel compares.")
    values = list(X)
    points = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        points[place] = value
    return points


def gamma_of(gamma: object, X: Any) -> float:
    """Return gamma as SVC and SVR mean it: ``scale`` is ``1 / (columns var(X))``, ``auto`` is ``1 / columns``.

    >>> gamma_of("auto", np.eye(4)), gamma_of("scale", np.array([[0.0], [2.0]]))
    (0.25, 1.0)
    """
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise InputError(f"gamma is {gamma!r}; accepted are 'scale', 'auto' and a number above 0.")
        if gamma == "auto":
            return 1.0 / float(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):
            spread = float(X.shape[1]) * _variance(X)
        return 1.0 / spread if 0.0 < spread < math.inf else 1.0
    return number("gamma", gamma)


def _variance(X: Any) -> float:
    """Return the variance of all cells."""
    if not is_sparse(X):
        return float(np.var(X, dtype=np.float64))
    mean, square = float(X.mean()), float(X.multiply(X).mean())
    return float(square - mean**2)


def rows_of(X: Any) -> Any:
    """Return training rows as they are kept: a copy that nobody writes to."""
    kept = X.tocsr().copy() if is_sparse(X) else np.array(X, copy=True)
    if not is_sparse(kept):
        kept.flags.writeable = False
    return kept
