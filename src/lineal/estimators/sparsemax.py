"""A classifier whose probabilities can be exactly zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from lineal.api.dialects import solver_named, strength_of_C
from lineal.estimators.classification import Classifier, target_of
from lineal.estimators.intake import offsets
from lineal.estimators.parameters import count, flag, number
from lineal.estimators.penalty_maker import penalty_maker
from lineal.ground.arrays import Array
from lineal.losses.sparsemax import Sparsemax, project
from lineal.model.verdict import TOLERANCE


@dataclass(eq=False, kw_only=True, repr=False)
class SparsemaxClassifier(Classifier):
    """Sparsemax: minimise ``C sum_i s_i loss_i + l1_ratio |b|_1 + (1 - l1_ratio) / 2 |b|^2``, b without intercept.

    The probabilities p are the nearest point of the simplex to the scores, so that classes far behind get exactly zero;
    the loss of a row is ``max_p [p.eta - |p|^2 / 2] + 1 / 2 - eta_y`` (Martins and Astudillo 2016). Parameters mean
    what they mean in ``LogisticRegression``. For two classes ``coef_`` is the difference of the two scores.

    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "yes", "no", "yes"])
    >>> model = SparsemaxClassifier().fit(X, y)
    >>> model.verdict_.kind, model.predict_proba([[-9.0], [9.0]]).tolist()
    ('optimal', [[1.0, 0.0], [0.0, 1.0]])
    """

    C: float = 1.0
    l1_ratio: float = 0.0
    tol: float = TOLERANCE
    fit_intercept: bool = True
    class_weight: Any = None
    solver: str = "auto"
    max_iter: int | None = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and labels y: strings, whole numbers or Booleans.

        ``offset`` is added to every score without a coefficient; shape (n,) for two classes, (n, classes) for several.
        """
        C, ratio = number("C", self.C, above=0.0, infinite=True), number("l1_ratio", self.l1_ratio, most=1.0)
        intercept = flag("fit_intercept", self.fit_intercept)
        X, labels, codes, weight = self._labelled(X, y, sample_weight, self.class_weight)
        two = len(labels) == 2
        shift = offsets(offset, X.shape[0], 1 if two else len(labels))
        coef = self._solve(
            X,
            codes.astype(np.float64)[:, None],
            weight,
            _halves(shift) if two and shift is not None else shift,
            loss=Sparsemax(len(labels)),
            penalty=penalty_maker(lambda total: strength_of_C(C, total), ratio),
            target=target_of(labels),
            intercept=intercept,
            solver=solver_named(self.solver),
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
        )
        self.classes_ = labels
        self._spread(_score(coef) if two else coef, intercept=intercept)
        if two and self._centered is not None:
            self._centered = self._centered.turned(_score)
        self.n_iter_ = self._steps
        return self

    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the probability of every class, in the order of ``classes_``; some are exactly zero."""
        eta = self._scores(X, offset)
        return project(_halves(eta) if eta.shape[1] == 1 else eta)[0]


def _halves(difference: Array) -> Array:
    """Return two scores with zero sum and the given difference.

    >>> _halves(np.array([[3.0]]))
    array([[-1.5,  1.5]])
    """
    return np.concatenate([-0.5 * difference, 0.5 * difference], axis=1)


def _score(coef: Array) -> Array:
    """Return the coefficients of two classes as those of one score, that of the second."""
    return np.asarray(coef[:, 1:] - coef[:, :1])
