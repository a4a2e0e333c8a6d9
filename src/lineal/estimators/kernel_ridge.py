"""Kernel ridge regression with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.api.dialects import strength_of_alpha
from lineal.certify.span import Scores, prove
from lineal.certify.span_words import judge
from lineal.errors import InputError
from lineal.estimators.bases import MultiOutputMixin, RegressorMixin
from lineal.estimators.intake import numbers, weights
from lineal.estimators.kernel_choice import Choice, choose, rows_of
from lineal.estimators.kernel_machine import KernelMachine
from lineal.estimators.parameters import number, numerals
from lineal.estimators.regression import target_of
from lineal.ground import records
from lineal.ground.inputs import real
from lineal.losses import Squared
from lineal.machines import ridge
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.problem.span import Gram, SpanProblem

Array = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
class KernelRidge(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Kernel ridge regression: minimise ``sum_i s_i (y_i - f(x_i))^2 + alpha |f|^2`` over functions f of the kernel's space.

    The minimum is ``f(x) = sum_i a_i k(x_i, x)`` with ``(K + diag(alpha / s)) a = y``: a Cholesky factor with refinement, and
    a proof of how far F is from its minimum, rounding of the kernel's entries included. There is no intercept.
    scikit-learn's KernelRidge with its parameters.

    Parameters
    ----------
    alpha : the strength of the penalty, at least 0; a number for each target, or one for all.
    kernel : "linear", "poly" (or "polynomial"), "rbf", "sigmoid", "laplacian", "precomputed", a kernel of
        ``lineal.kernels``, or a function of two rows that returns a number.
    gamma : of "rbf", "poly", "sigmoid" and "laplacian"; None is 1 / columns.
    degree, coef0 : of "poly": ``(gamma x.z + coef0)^degree``; coef0 also of "sigmoid".
    kernel_params : more arguments of a kernel that is a function, as a dict.
    tol : the relative gap to prove, see ``verdict_``.

    After ``fit``: ``dual_coef_`` (a, in the shape of y), ``X_fit_`` (the training rows), ``verdict_``. A kernel that is not
    positive semi-definite, such as "sigmoid" or a matrix with a negative eigenvalue, ends ``stationary``.

    >>> import numpy as np
    >>> X = np.linspace(0.0, 6.0, 30)[:, None]
    >>> model = KernelRidge(alpha=0.01, kernel="rbf", gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> model.verdict_.kind, round(float(model.predict([[1.5]])[0]), 2)
    ('optimal', 0.99)
    """

    alpha: Any = 1
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: Any = None
    tol: float = TOLERANCE

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, or to the square matrix of a precomputed kernel, and targets y, one or several columns."""
        tol, alphas = number("tol", self.tol), numerals("alpha", self.alpha)
        X, y = self._points_and_target(X, y, numeric=True)
        values = numbers(y)
        Squared(values.shape[1]).check(values)
        if len(alphas) not in (1, values.shape[1]):
            raise InputError(
                f"alpha has {len(alphas)} numbers; y has {values.shape[1]} targets, so give one for each, or one for all."
            )
        given = weights(sample_weight, X)
        weight = np.ones(len(values)) if given is None else given
        self._choice = self._chosen(X)
        gram = self._choice.gram(X)
        groups = [np.arange(values.shape[1])] if len(alphas) == 1 else [np.array([k]) for k in range(len(alphas))]
        coef, verdicts, objectives = np.empty_like(values), [], []
        for alpha, group in zip(alphas, groups, strict=True):
            problem, solution, verdict, objective = _fit(gram, values[:, group], weight, alpha, tol)
            coef[:, group] = solution.coef
            verdicts.append(verdict)
            objectives.append(objective)
        self._judged(verdicts, objectives)
        self.X_fit_ = rows_of(X)
        self.solver_ = f"{solution.how}: one system of equations in the rows"
        if len(groups) == 1:
            self._modeled(self.X_fit_, coef, None, problem, target_of(coef.shape[1] if y.ndim == 2 else None))
        self.dual_coef_ = coef if y.ndim == 2 else coef[:, 0].copy()
        return self

    def predict(self, X: Any) -> Array:
        """Return ``sum_i a_i k(x_i, x)`` for every row; of a precomputed kernel, rows of its values at the training rows."""
        X = self._new_rows(X)
        coef = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        eta = self._choice.scores(X, self.X_fit_, coef)
        return eta if self.dual_coef_.ndim == 2 else eta[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the share of y's variance that the predictions explain; where their squares overflow, -inf."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(super().score(X, y if y is None else real(y, "y"), sample_weight))

    def _chosen(self, X: Any) -> Choice:
        gamma = 1.0 / self.n_features_in_ if self.gamma is None else number("gamma", self.gamma)
        extra = {} if self.kernel_params is None else dict(self.kernel_params)
        if extra and not callable(self.kernel):
            raise InputError(
                "kernel_params has no effect: it holds arguments of a kernel that is a function; leave it out."
            )
        function = Pairwise(self.kernel, extra) if callable(self.kernel) else None
        return choose(self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0, function=function)


@records.dataclass(frozen=True)
class Pairwise:
    """A function of two rows as one of two matrices of rows."""

    function: Any
    extra: dict[str, Any]

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the function of every pair."""
        left, right = (rows.toarray() if hasattr(rows, "toarray") else rows for rows in (X, Z))
        return np.array([[self.function(x, z, **self.extra) for z in right] for x in left], dtype=np.float64)


def _fit(
    gram: Gram, y: Array, weight: Array, alpha: float, tol: float
) -> tuple[SpanProblem, ridge.Solution, Verdict, float]:
    """Return the problem and its solution, what is proven about it, and F."""
    strength = strength_of_alpha(alpha, float(weight.sum()))
    problem = SpanProblem(gram, Squared(y.shape[1]), y, weight, strength, intercept=False)
    solution = ridge.solve(problem, gram.whole())
    scores = Scores(*gram.product(solution.coef))
    proof = prove(problem, solution.coef, np.zeros(y.shape[1]), scores)
    rest = weight[:, None] * (y - scores.value) - alpha * solution.coef
    verdict = judge(problem, proof, tol, "", float(np.max(np.abs(rest), initial=0.0)))
    return problem, solution, verdict, proof.objective
