"""Gaussian-process regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.gaussian_process import kernels as theirs
from sklearn.utils.validation import check_X_y

from lineal.certify.span import prove
from lineal.certify.span_words import chosen, judge
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.bases import MultiOutputMixin, RegressorMixin
from lineal.estimators.descent import seeded
from lineal.estimators.intake import blame, features, features_and_target, numbers
from lineal.estimators.kernel_choice import Choice, is_given, listed, structured
from lineal.estimators.kernel_machine import KernelMachine
from lineal.estimators.parameters import count, flag, number
from lineal.ground.inputs import real
from lineal.kernels import Kernel, Precomputed
from lineal.losses import Squared
from lineal.machines.gaussian_process import Posterior, climb
from lineal.machines.gram import MatrixGram
from lineal.model.verdict import TOLERANCE
from lineal.problem.span import Gram, SpanProblem

Array = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Gaussian-process regression: ``y = f(x) + noise``, f a Gaussian process with covariance k, noise of variance ``alpha``.

    The posterior mean ``k(x, X) (K + alpha 1)^-1 y`` minimises ``sum_i (y_i - f(x_i))^2 / alpha_i + |f|^2``, and is proven to do
    so; the posterior variance is ``k(x, x) - k(x, X) (K + alpha 1)^-1 k(X, x)``. Hyperparameters maximise the log marginal
    likelihood, by its gradient: that is ``stationary``, and with given ones (``optimizer=None``) the fit is ``optimal``.
    scikit-learn's GaussianProcessRegressor with its parameters.

    Parameters
    ----------
    kernel : a kernel of ``sklearn.gaussian_process.kernels``, or of ``lineal.kernels`` (whose parameters stay as they are), which
        may compare texts or trees; "precomputed"; None is ``ConstantKernel() * RBF()``.
    alpha : the variance of the noise, one number or one for each row, at least 0.
    optimizer : "fmin_l_bfgs_b", None, or a function ``(objective, start, bounds) -> (theta, value)``.
    n_restarts_optimizer : how many more starts are drawn within the bounds.
    normalize_y : whether to take the mean off y and divide it by its standard deviation first.
    copy_X_train : True or False; the rows are kept in either case.
    n_targets : how many targets y has to have; None for any number.
    random_state : the seed of the starts and of ``sample_y``; None is 0.
    tol : the relative gap to prove, see ``verdict_``.

    After ``fit``: ``kernel_``, ``X_train_``, ``y_train_``, ``L_`` (lower Cholesky factor), ``alpha_`` (dual coefficients),
    ``log_marginal_likelihood_value_``, ``verdict_``.

    >>> import numpy as np
    >>> from lineal.kernels import Gaussian
    >>> X = np.linspace(0.0, 6.0, 12)[:, None]
    >>> model = GaussianProcessRegressor(Gaussian(0.5), alpha=0.01).fit(X, np.sin(X[:, 0]))
    >>> mean, std = model.predict([[1.5], [20.0]], return_std=True)
    >>> model.verdict_.kind, bool(abs(mean[0] - np.sin(1.5)) < 2 * std[0] < 0.2), std.round(3)[1]
    ('optimal', True, np.float64(1.0))
    """

    kernel: Any = None
    _: KW_ONLY
    alpha: Any = 1e-10
    optimizer: Any = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    normalize_y: bool = False
    copy_X_train: bool = True
    n_targets: int | None = None
    random_state: Any = None
    tol: float = TOLERANCE

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X and targets y, one or several columns."""
        tol, restarts = number("tol", self.tol), count("n_restarts_optimizer", self.n_restarts_optimizer)
        flag("copy_X_train", self.copy_X_train)
        self._check_optimizer()
        self.kernel_ = self._kernel()
        _dense(X)
        X, y = self._points_and_targets(X, y)
        values = numbers(y)
        Squared(values.shape[1]).check(values)
        if self.n_targets is not None and self.n_targets != values.shape[1]:
            raise InputError(
                f"The number of targets seen in `y` is {values.shape[1]}, but n_targets is {self.n_targets!r}."
            )
        self._y_train_mean, self._y_train_std = np.zeros(values.shape[1]), np.ones(values.shape[1])
        if flag("normalize_y", self.normalize_y):
            self._y_train_mean, spread = values.mean(axis=0), values.std(axis=0)
            self._y_train_std = np.where(spread > 0.0, spread, 1.0)
        self.X_train_ = X.copy() if self._structured else np.array(X, dtype=np.float64)
        self._y = (values - self._y_train_mean) / self._y_train_std
        self.y_train_ = self._y if y.ndim == 2 else self._y[:, 0]
        self._noise = self._variances(len(values))
        slope = self._hyperparameters(restarts or 0)
        matrix = self._gram(self.X_train_)
        posterior = Posterior.of(matrix, self._noise, self._y, f"the kernel {self.kernel_}")
        self.L_, self._posterior = posterior.lower, posterior
        self.alpha_ = posterior.coef if y.ndim == 2 else posterior.coef[:, 0]
        self.log_marginal_likelihood_value_ = posterior.log_likelihood(self._y)
        self._prove(matrix, tol, slope)
        self.solver_ = "cholesky: the posterior of the rows"
        return self

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the posterior mean of every row; with its standard deviation, or the covariance of the rows, if asked for.

        Before a fit it is the prior's.
        """
        if return_std and return_cov:
            raise InputError(
                "At most one of return_std or return_cov can be requested. Both are True; ask for one of them."
            )
        if is_given(self.kernel) and (return_std or return_cov):
            raise InputError("of a precomputed kernel k(x, x) of new points is not known, so that only the mean is.")
        fitted = "alpha_" in self.__dict__
        _dense(X)
        kernel = self.kernel_ if fitted else self._kernel()
        if self._structured if fitted else _structured(kernel, X):
            X = listed(X) if isinstance(kernel, Kernel) else X
        else:
            if fitted:
                X = features(self, X)
            X = np.asarray(real(X, "X"), dtype=np.float64)
            blame(X)
        targets = self._y.shape[1] if fitted else self.n_targets or 1
        mean, halves, scale = np.zeros((len(X), targets)), None, np.ones(targets)
        if fitted:
            cross, scale = self._cross(X), self._y_train_std
            mean = scale * (cross @ self._posterior.coef) + self._y_train_mean
            halves = self._posterior.halves(cross.T) if return_std or return_cov else None
        mean = mean[:, 0] if targets == 1 else mean
        if return_cov:
            cov = _whole(kernel, X) - (0.0 if halves is None else halves.T @ halves)
            spread = cov[:, :, None] * scale**2
            return mean, spread[:, :, 0] if targets == 1 else spread
        if return_std:
            prior = kernel.diagonal(X) if isinstance(kernel, Kernel) else kernel.diag(X)
            left = np.maximum(prior - (0.0 if halves is None else np.sum(halves**2, axis=0)), 0.0)
            spread = np.sqrt(left)[:, None] * scale
            return mean, spread[:, 0] if targets == 1 else spread
        return mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Return draws from the posterior (before a fit, the prior), ``(rows, samples)`` or ``(rows, targets, samples)``."""
        rng = np.random.default_rng(seeded(random_state))
        mean, cov = self.predict(X, return_cov=True)
        if mean.ndim == 1:
            return np.asarray(rng.multivariate_normal(mean, cov, n_samples).T)
        drawn = [rng.multivariate_normal(mean[:, k], cov[:, :, k], n_samples).T[:, None] for k in range(mean.shape[1])]
        return np.hstack(drawn)

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True) -> Any:
        """Return the log marginal likelihood of hyperparameters theta (their logarithms), with its gradient if asked for."""
        if theta is None:
            if eval_gradient:
                raise InputError("Gradient can only be evaluated for theta!=None; give kernel_.theta.")
            return self.log_marginal_likelihood_value_
        if isinstance(self.kernel_, Kernel):
            raise InputError(f"theta is given, but the parameters of {self.kernel_} stay as they are; leave it out.")
        kernel = self.kernel_.clone_with_theta(np.asarray(theta, dtype=np.float64))
        if not clone_kernel:
            self.kernel_.theta = np.asarray(theta, dtype=np.float64)
        value, gradient = self._likelihood(kernel)
        return (value, gradient) if eval_gradient else value

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the share of y's variance that the predictions explain; where their squares overflow, -inf."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(super().score(X, y if y is None else real(y, "y"), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.sparse = False
        return tags

    def _kernel(self) -> Any:
        if self.kernel is None:
            return theirs.ConstantKernel() * theirs.RBF()
        if is_given(self.kernel):
            return Precomputed()
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if not isinstance(self.kernel, theirs.Kernel):
            raise InputError(
                f"kernel is {self.kernel!r}; accepted are kernels of sklearn.gaussian_process.kernels and of lineal.kernels, "
                "and 'precomputed'."
            )
        return clone(self.kernel)

    def _points_and_targets(self, X: Any, y: Any) -> tuple[Any, npt.NDArray[Any]]:
        """Return X and y checked; of a kernel that takes other things than rows of numbers, X may hold such things."""
        self._structured = _structured(self.kernel_, X)
        if not self._structured:
            X, y = features_and_target(self, X, y, numeric=True)
            blame(X)
            return X, y
        y = real(y, "y")
        if isinstance(self.kernel_, Kernel):
            points = listed(X)
            return points, features_and_target(self, np.zeros((len(points), 1)), y, numeric=True)[1]
        points, y = check_X_y(X, y, dtype=None, ensure_2d=False, allow_nd=True, multi_output=True, y_numeric=True)
        return points, y

    def _check_optimizer(self) -> None:
        if not (self.optimizer is None or callable(self.optimizer) or self.optimizer == "fmin_l_bfgs_b"):
            raise InputError(f"optimizer is {self.optimizer!r}; accepted are 'fmin_l_bfgs_b', None and a function.")

    def _variances(self, n: int) -> Array:
        """Return the variance of the noise of every row."""
        one = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool)
        given = np.array([float(self.alpha)]) if one else np.atleast_1d(real(self.alpha, "alpha")).astype(np.float64)
        if given.shape not in ((1,), (n,)) or not (np.isfinite(given).all() and given.min() >= 0.0):
            raise InputError(
                "alpha must be a scalar or an array with same number of entries as y, each at least 0; it is "
                f"{self.alpha!r}, and y has {n}."
            )
        return np.broadcast_to(given, (n,)).copy()

    def _likelihood(self, kernel: Any) -> tuple[float, Array]:
        with np.errstate(over="ignore", invalid="ignore"):  # exp(-d) d of far points is 0 times infinity: it tends to 0
            matrix, slopes = kernel(self.X_train_, eval_gradient=True)
            slopes = np.where(np.isnan(slopes) & (matrix == 0.0)[:, :, None], 0.0, slopes)
        try:
            posterior = Posterior.of(matrix, self._noise, self._y, str(kernel))
        except InputError:
            return np.float64(-np.inf), np.zeros(slopes.shape[2])
        return np.float64(posterior.log_likelihood(self._y)), posterior.gradient(slopes)

    def _hyperparameters(self, restarts: int) -> float | None:
        """Maximise the likelihood, and return the size of the slope that is left; None where nothing was to be chosen."""
        kernel = self.kernel_
        if isinstance(kernel, Kernel) or self.optimizer is None or kernel.n_dims == 0:
            return None

        def value(theta: Array) -> tuple[float, Array]:
            return self._likelihood(kernel.clone_with_theta(theta))

        starts = [kernel.theta]
        if restarts:
            if not np.isfinite(kernel.bounds).all():
                raise InputError(
                    "n_restarts_optimizer draws starts within bounds, which requires that all bounds are finite."
                )
            rng = np.random.default_rng(seeded(self.random_state))
            starts += [rng.uniform(kernel.bounds[:, 0], kernel.bounds[:, 1]) for _ in range(restarts)]
        optima = [self._climbed(value, start, kernel.bounds) for start in starts]
        theta, likelihood, slope = max(optima, key=lambda one: one[1])
        kernel.theta = theta
        return float(np.linalg.norm(slope)) / max(1.0, abs(likelihood))

    def _climbed(self, value: Any, start: Array, bounds: Array) -> tuple[Array, float, Array]:
        if not callable(self.optimizer):
            return climb(value, start, bounds)

        def down(theta: Array, eval_gradient: bool = True) -> Any:
            likelihood, gradient = value(theta)
            return (-likelihood, -gradient) if eval_gradient else -likelihood

        theta, _ = self.optimizer(down, start, bounds)
        return (np.asarray(theta), *value(np.asarray(theta)))

    def _gram(self, X: Array) -> Array:
        return _whole(self.kernel_, X)

    def _cross(self, X: Array) -> Array:
        kernel = self.kernel_
        if isinstance(kernel, Precomputed):
            return np.asarray(X)
        return np.asarray(kernel.gram(X, self.X_train_) if isinstance(kernel, Kernel) else kernel(X, self.X_train_))

    def _prove(self, matrix: Array, tol: float, slope: float | None) -> None:
        """Prove the posterior mean, and say what is known of the hyperparameters."""
        n, targets = self._y.shape
        kernel = self.kernel_
        if isinstance(kernel, Precomputed):
            gram: Gram = MatrixGram.of(matrix, rows=n)
        else:
            gram = Choice(kernel).gram(self.X_train_) if isinstance(kernel, Kernel) else MatrixGram(matrix)
        free = not np.any(self._noise > 0.0)
        weight = (
            np.ones(n)
            if free
            else 1.0 / np.where(self._noise > 0.0, self._noise, np.min(self._noise[self._noise > 0.0]))
        )
        problem = SpanProblem(
            gram, Squared(targets), self._y, weight, 0.0 if free else 1.0 / float(weight.sum()), False
        )
        proof = prove(problem, self._posterior.coef, np.zeros(targets))
        rest = self._y - matrix @ self._posterior.coef - self._noise[:, None] * self._posterior.coef
        verdict = judge(problem, proof, tol, "", float(np.max(np.abs(rest), initial=0.0)))
        if slope is not None:
            verdict = chosen(verdict, slope, self.log_marginal_likelihood_value_)
        self._judged([verdict], [proof.objective])


def _dense(X: Any) -> None:
    """Refuse sparse rows."""
    if is_sparse(X):
        raise InputError("X is sparse, and sparse input is not supported by Gaussian processes; give a dense matrix.")


def _structured(kernel: Any, X: Any) -> bool:
    """Whether X holds something else than numbers, and the kernel takes such things."""
    if isinstance(kernel, Kernel):
        return structured(kernel, X)
    return not kernel.requires_vector_input and np.asarray(X).dtype.kind not in "fiub"


def _whole(kernel: Any, X: Array) -> Array:
    return np.asarray(kernel.gram(X) if isinstance(kernel, Kernel) else kernel(X), dtype=np.float64)
