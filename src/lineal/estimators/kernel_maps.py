"""Kernel approximations as transformers, with scikit-learn's names: Nystroem and random Fourier features."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lineal import kernels
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from lineal.estimators.intake import blame, features, features_alone
from lineal.estimators.kernel_choice import choose, gamma_of
from lineal.estimators.parameters import number
from lineal.kernels import FromFunction, Gaussian, Kernel
from lineal.kernels.maps import FourierMap, NystroemMap
from lineal.kernels.points import Rows

Array = npt.NDArray[np.float64]

MEASURED_ROWS: Final = 500
"""Rows on whose pairs the error of random features is measured."""


class _Map(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What both share: components are counted, rows are checked, texts are left to their kernel."""

    n_components: int
    random_state: Any

    def _count(self) -> int:
        count = self.n_components
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise InputError(f"n_components is {count!r}; it must be a whole number of at least 1.")
        return int(count)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Return rows of finite doubles, with as many columns as in fit."""
        checked = features_alone(self, X) if reset else features(self, X)
        blame(checked)
        return (checked.tocsr() if is_sparse(checked) else checked).astype(np.float64, copy=False)

    def __sklearn_tags__(self) -> Any:
        """Say that sparse rows are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


@dataclass(eq=False, repr=False)
class Nystroem(_Map):
    """Columns whose inner products come near a kernel's: ``phi(x) = K_bb^(-1/2) k(b, x)``, b some of the training points.

    Every linear model scales past n^2 with them. scikit-learn's Nystroem with its parameters and its choice of points.

    Parameters
    ----------
    kernel : "rbf", "poly", "linear", "sigmoid" or "laplacian"; a kernel of ``lineal.kernels`` or what spells one, such as
        "normalized(spectrum:3)"; or a function of two rows.
    gamma, coef0, degree : of the named kernels; None is 1 / columns, 1 and 3.
    kernel_params : more arguments of a kernel that is a function, as a dict.
    n_components : how many points, all if there are fewer.
    random_state : the seed, or the generator, of the choice.
    n_jobs : a hint; all cores are used.

    After ``fit``: ``components_`` (the points), ``component_indices_``, ``normalization_`` = K_bb^(-1/2), and
    ``approximation_error_``, the share of ``sum_i k(x_i, x_i)`` of the training points that is lost.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> columns = Nystroem(gamma=0.1, n_components=40, random_state=0).fit(X)
    >>> columns.transform(X).shape, columns.approximation_error_ < 1e-3
    ((200, 40), True)
    """

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: float | None = None
    coef0: float | None = None
    degree: float | None = None
    kernel_params: Any = None
    n_components: int = 100
    random_state: Any = None
    n_jobs: Any = None

    def fit(self, X: Any, y: object = None) -> Self:
        """Choose points of X and learn the map through them."""
        count, kernel = self._count(), self._spelled()
        if kernel is None or kernel.takes == "rows":
            X = self._rows(X, reset=True)
            kernel = self._chosen(X) if kernel is None else kernel
        points = kernel.points(X)
        if not len(points):
            raise InputError("there are no points to choose from; give X at least one.")
        random = check_random_state(self.random_state)
        self.component_indices_ = random.permutation(len(points))[: min(count, len(points))]
        self._map = NystroemMap.of(kernel, points.take(self.component_indices_))
        self.components_ = self._map.basis.values
        self.normalization_ = self._map.normalization
        self.approximation_error_ = self._map.error(points)
        return self

    def transform(self, X: Any) -> Array:
        """Return the columns of every point."""
        check_is_fitted(self, "components_")
        return self._map.transform(self._rows(X, reset=False) if self._map.kernel.takes == "rows" else X)

    @property
    def _n_features_out(self) -> int:
        return len(self.component_indices_)

    def _spelled(self) -> Kernel | None:
        """Return a kernel that is given or spelled out, None for a name with parameters, or a function."""
        if isinstance(self.kernel, str) and (":" in self.kernel or "(" in self.kernel):
            return kernels.read(self.kernel)
        return self.kernel if isinstance(self.kernel, Kernel) else None

    def _chosen(self, X: Any) -> Kernel:
        if callable(self.kernel):
            more, function = self.kernel_params or {}, self.kernel
            return _FromRows(lambda x, z: function(x, z, **more))
        if self.kernel_params:
            raise InputError("kernel_params are arguments of a kernel that is a function; leave them out.")
        gamma = 1.0 / X.shape[1] if self.gamma is None else number("gamma", self.gamma)
        coef0, degree = 1 if self.coef0 is None else self.coef0, 3 if self.degree is None else self.degree
        kernel = choose(self.kernel, X, gamma=gamma, degree=degree, coef0=coef0).kernel
        if kernel is None:
            raise InputError("Nystroem takes rows, not a precomputed kernel; give them with the name of a kernel.")
        return kernel


class _FromRows(FromFunction):
    """A function of two rows of numbers."""

    def points(self, X: Any, name: str = "X") -> Any:
        """Return dense rows as they are."""
        if is_sparse(X):
            raise InputError(f"{name} is sparse, and a kernel function takes dense rows; give an array.")
        return super().points(X, name)


@dataclass(eq=False, repr=False)
class RBFSampler(_Map):
    """Random Fourier features, ``phi_j(x) = sqrt(2 / m) cos(w_j.x + b_j)``.

    Inner products are near ``exp(-gamma |x - z|^2)``. scikit-learn's RBFSampler with its parameters and random numbers.

    Parameters
    ----------
    gamma : of the Gaussian kernel, or "scale": ``1 / (columns var(X))``.
    n_components : m; the standard deviation of an inner product is at most ``1 / sqrt(m)``.
    random_state : the seed, or the generator.

    After ``fit``: ``random_weights_``, ``random_offset_``, and ``approximation_error_``, the root of the mean square of
    ``phi(x).phi(z) - k(x, z)`` over all pairs of the first 500 training rows.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> columns = RBFSampler(gamma=0.1, n_components=1000, random_state=0).fit(X)
    >>> columns.transform(X).shape, columns.approximation_error_ < 0.05
    ((200, 1000), True)
    """

    _: KW_ONLY
    gamma: Any = 1.0
    n_components: int = 100
    random_state: Any = None

    def fit(self, X: Any, y: object = None) -> Self:
        """Draw the random numbers for as many columns as X has."""
        count = self._count()
        X = self._rows(X, reset=True)
        gamma = self._width(X)
        random = check_random_state(self.random_state)
        self.random_weights_ = np.sqrt(2.0 * gamma) * random.normal(size=(X.shape[1], count))
        self.random_offset_ = random.uniform(0, 2 * np.pi, size=count)
        self._map = FourierMap(self.random_weights_, self.random_offset_)
        self.approximation_error_ = self._map.error(Gaussian(gamma), Rows(X[:MEASURED_ROWS]))
        return self

    def transform(self, X: Any) -> Array:
        """Return the columns of every row."""
        check_is_fitted(self, "random_weights_")
        return self._map.transform(self._rows(X, reset=False))

    @property
    def _n_features_out(self) -> int:
        return len(self.random_offset_)

    def _width(self, X: Any) -> float:
        return gamma_of(self.gamma, X) if self.gamma == "scale" else number("gamma", self.gamma, above=0.0)
