"""The columns of a Gaussian process: what the kernel says of a row and of all training rows, and how sure the posterior is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from lineal.algebra import lapack
from lineal.errors import InputError, ModelFileError
from lineal.ground.records import dataclass
from lineal.machines.kernel_map import KernelMap
from lineal.machines.likelihood import Covariance, covariance
from lineal.machines.text_map import TextKernelMap
from lineal.model.feature_map import CHUNK_CELLS, FeatureMap

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from lineal.designs.design import Design

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ProcessMap(FeatureMap):
    """``phi_i(x) = k(x, x_i)`` for all training rows x_i, whose noise has variance ``noise / weight_i``.

    f has the covariance ``prior k(x, z)``; with an ``intercept`` its mean is an unknown number, of which nothing is known
    beforehand. ``inner`` compares the rows, or the texts.

    >>> from lineal.kernels import Linear
    >>> rows = KernelMap(Linear(), np.array([[1.0]]), (0,), ("a",), 1.0)
    >>> ProcessMap(rows, 1.0, 1.0, np.ones(1), False).target_variance(np.array([[2.0]]))
    array([3.])
    """

    inner: KernelMap | TextKernelMap
    noise: float
    prior: float
    weight: Array
    intercept: bool
    name: ClassVar[str] = "gaussian-process"

    @property
    def width(self) -> int:
        """How many columns a row has."""
        return self.inner.width

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: the kernel with which training row."""
        return self.inner.columns

    def phi(self, inputs: Array | csr_array) -> Array:
        """Return the kernel of some rows with the training rows."""
        return self.inner.phi(inputs)

    def scores(self, design: Design, coef: Array) -> Array:
        """Return ``eta = Phi(X) coef``."""
        return self.inner.scores(design, coef)

    @cached_property
    def _covariance(self) -> Covariance:
        """The covariance of the training targets, factored."""
        found = covariance(
            self.inner.kernel.gram(self.inner.points), 1.0 / self.weight, self.intercept, self.prior, self.noise
        )
        if found is None:
            raise InputError(
                "the covariance of the training rows of this Gaussian process is not positive definite to rounding, so that "
                "there is no variance; fit it with more noise."
            )
        return found

    def target_variance(self, inputs: Array | csr_array) -> Array:
        """Return ``noise + prior k(x, x) - c'C^-1 c + (1 - 1'C^-1 c)^2 / (1'C^-1 1)``, c the covariances with the training rows.

        The last term is there with an intercept.
        """
        found, kernel, points = self._covariance, self.inner.kernel, self.inner.compared(inputs)
        variance = self.prior * kernel.diagonal(points)
        step = max(1, CHUNK_CELLS // max(1, len(self.weight)))
        for start in range(0, len(variance), step):
            some = np.arange(start, min(start + step, len(variance)))
            cross = self.prior * kernel.gram(points.take(some), self.inner.points).T
            halves = np.asarray(lapack.dtrtrs(found.lower, cross, lower=1)[0])
            variance[some] -= np.sum(halves**2, axis=0)
            if self.intercept:
                variance[some] += (1.0 - found.sizes @ cross) ** 2 / found.total
        return np.asarray(self.noise + np.maximum(variance, 0.0))

    def parameters(self) -> dict[str, object]:
        """Return the kernel, where its rows are from, and the variances."""
        return {**self.inner.parameters(), "noise": self.noise, "prior": self.prior, "intercept": self.intercept}

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the training rows and their weights."""
        return {**self.inner.arrays(), "weight": self.weight}

    @classmethod
    def read(cls, parameters: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the map of a model file, every member checked."""
        own, rest = dict(parameters), dict(arrays)
        noise, prior, intercept = (own.pop(name, None) for name in ("noise", "prior", "intercept"))
        weight = rest.pop("weight", None)
        for name, value in (("noise", noise), ("prior", prior)):
            if not (isinstance(value, int | float) and np.isfinite(value) and value > 0.0) or isinstance(value, bool):
                raise ModelFileError(f"feature_map.{name} must be a finite number above 0.")
        if not isinstance(intercept, bool):
            raise ModelFileError("feature_map.intercept must be true or false.")
        kind = TextKernelMap if "input" in own else KernelMap
        inner: KernelMap | TextKernelMap = kind.read(own, rest)
        if weight is None or weight.dtype != np.float64 or weight.shape != (len(inner.numbers),):
            raise ModelFileError("map.weight must hold a double for every training row that is kept.")
        if not (np.isfinite(weight).all() and np.all(weight > 0.0)):
            raise ModelFileError("map.weight must be above 0.")
        assert noise is not None
        assert prior is not None
        return cls(inner, float(noise), float(prior), weight, intercept)

    def facts(self) -> list[tuple[str, str]]:
        """Return the kernel, how many rows are kept, and the variances."""
        kernel, (label, _) = self.inner.facts()
        kept = len(self.weight)
        return [
            kernel,
            (label, f"k(x, x_i) for {'the only training row' if kept == 1 else f'all {kept} training rows'}"),
            ("Noise", f"variance {self.noise:.6g}, standard deviation {self.noise**0.5:.4g}"),
            ("Prior", f"f varies by {self.prior:.6g} k(x, x), standard deviation {self.prior**0.5:.4g} of k(x, x) = 1"),
        ]

    @property
    def objective(self) -> str:
        """What is minimized."""
        return self.inner.objective

    @property
    def holds(self) -> str:
        """Say that rows of the training data are in the file."""
        kept = len(self.weight)
        return f"The file holds {kept} training row{'s' * (kept != 1)} as they are: all that predictions compare with."
