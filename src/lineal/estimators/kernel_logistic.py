"""Kernel logistic regression, for two classes or several."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.api.dialects import strength_of_C
from lineal.certify.proof import Proof
from lineal.certify.span import prove
from lineal.certify.span_words import judge
from lineal.errors import InputError
from lineal.estimators.bases import ClassifierMixin
from lineal.estimators.classification import target_of
from lineal.estimators.intake import weights
from lineal.estimators.kernel_choice import choose, gamma_of, rows_of
from lineal.estimators.kernel_machine import KernelMachine
from lineal.estimators.labels import encode, present, weigh
from lineal.estimators.parameters import count, flag, number, until
from lineal.ground.deadline import LATE, Deadline, graced, in_time
from lineal.ground.inputs import class_labels
from lineal.losses import Logistic, Softmax
from lineal.losses.logistic import softplus
from lineal.machines.logistic import Newton
from lineal.model.verdict import TOLERANCE
from lineal.problem.span import SpanProblem

Array = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
class KernelLogisticRegression(ClassifierMixin, KernelMachine):
    """Kernel logistic regression: minimise ``C sum_i s_i loss_i + |f|^2 / 2``, f = sum_i a_i k(x_i, .), scores f + b.

    The loss is ``log(1 + e^eta) - y eta`` for two classes, ``log sum_k e^eta_k - eta_y`` with a function for each of several
    (their coefficients add to zero). Newton steps in the span of the kernels at the rows, and a proof at the end.

    Parameters
    ----------
    C : the inverse of the strength of the penalty, above 0.
    kernel, degree, gamma, coef0 : as of ``SVC``.
    fit_intercept : whether to add an intercept, which is not penalized.
    class_weight : None, "balanced" or a dict from class to weight; multiplies the sample weights.
    tol : the relative gap to prove, see ``verdict_``.
    max_iter : at most this many Newton steps; None for no limit.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    After ``fit``: ``dual_coef_`` (outputs, rows), ``intercept_``, ``X_fit_`` (the training rows), ``verdict_``.

    >>> import numpy as np
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["in", "out", "out", "in"])
    >>> model = KernelLogisticRegression(gamma=1.0, C=10.0).fit(X, y)
    >>> model.verdict_.kind, model.predict([[0.0], [3.0]]).tolist()
    ('optimal', ['out', 'in'])
    """

    _: KW_ONLY
    C: float = 1.0
    kernel: Any = "rbf"
    degree: float = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    fit_intercept: bool = True
    class_weight: Any = None
    tol: float = TOLERANCE
    max_iter: int | None = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, or to the square matrix of a precomputed kernel, and labels y."""
        C, tol, most = number("C", self.C, above=0.0), number("tol", self.tol), count("max_iter", self.max_iter)
        deadline, ones = until("time_limit", self.time_limit), flag("fit_intercept", self.fit_intercept)
        X, y = self._points_and_target(X, y, numeric=False)
        labels, codes = encode(y)
        weight = weigh(self.class_weight, labels, codes, weights(sample_weight, X))
        labels, codes = present(labels, codes, weight)
        weight = np.ones(len(codes)) if weight is None else weight
        named = isinstance(self.kernel, str) and self.kernel not in ("linear", "precomputed")
        gamma = gamma_of(self.gamma, X) if named else 1.0
        self._choice = choose(self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0)
        gram = self._choice.gram(X)
        if not gram.mercer:
            raise InputError(
                "the kernel is not positive semi-definite, so that the loss has no least value among its functions; use "
                "another kernel."
            )
        loss = Logistic() if len(labels) == 2 else Softmax(len(labels))
        strength = strength_of_C(C, float(weight.sum()))
        problem = SpanProblem(gram, loss, codes.astype(np.float64)[:, None], weight, strength, ones)
        self.classes_ = labels
        self._solve(problem, tol, most, deadline)
        self.X_fit_ = rows_of(X)
        coef, intercept = self.dual_coef_.T, self.intercept_
        self._modeled(self.X_fit_, coef, intercept if ones else None, problem, target_of(labels))
        return self

    def _solve(self, problem: SpanProblem, tol: float, most: int | None, deadline: Deadline | None) -> None:
        """Take steps until the proof is good enough, and note what was found."""
        newton = Newton(problem, problem.gram.whole())
        nothing = Proof(math.nan, math.nan, None, "there was no time for a proof")
        proof, stopped = nothing, ""
        while True:
            moved = in_time(deadline, newton.step, lambda: None) if most is None or newton.steps < most else None
            if moved is None:
                stopped = LATE if most is None or newton.steps < most else "max_iter was reached"
            if not moved or newton.steps > 2:
                proven = partial(prove, problem, newton.at.coef, newton.at.intercept)
                proof = in_time(graced(deadline), proven, lambda: nothing)
            if not moved or (proof.gap is not None and proof.within(1e-3 * tol)):
                break
        stopped = "" if proof.gap is not None and proof.within(tol) else stopped
        self._judged([judge(problem, proof, tol, stopped, 0.0)], [newton.at.value])
        self.solver_ = "newton: in the span of the kernels at the rows"
        self.dual_coef_ = newton.at.coef.T.copy()
        self.intercept_ = newton.at.intercept.copy()
        self.n_iter_ = newton.steps

    def decision_function(self, X: Any) -> Array:
        """Return the score of the second of two classes, or of every class."""
        eta = self._eta(X)
        return eta[:, 0] if eta.shape[1] == 1 else eta

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of every class."""
        eta = self._eta(X)
        if eta.shape[1] == 1:
            return np.hstack([-softplus(eta), -softplus(-eta)])
        below = eta - eta.max(axis=1, keepdims=True)
        return np.asarray(below - np.log(np.sum(np.exp(below), axis=1, keepdims=True)))

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every class."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class with the best score of every row."""
        eta = self._eta(X)
        index = (eta[:, 0] > 0.0).astype(np.intp) if eta.shape[1] == 1 else np.argmax(eta, axis=1)
        return np.asarray(self.classes_[index])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted."""
        with np.errstate(invalid="ignore"):  # scikit-learn asks whether labels are whole numbers by making them so
            return float(super().score(X, y if y is None else class_labels(y), sample_weight))

    def _eta(self, X: Any) -> Array:
        X = self._new_rows(X)
        eta = self._choice.scores(X, self.X_fit_, np.ascontiguousarray(self.dual_coef_.T))
        return np.asarray(eta + self.intercept_)
