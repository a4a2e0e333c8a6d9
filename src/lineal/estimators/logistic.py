"""Logistic regression with scikit-learn's interface, for two classes or several."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.api.dialects import solver_named, strength_of_C
from lineal.designs import as_design
from lineal.errors import InputError, near
from lineal.estimators.classification import Classifier, target_of
from lineal.estimators.intake import blame, features, offsets
from lineal.estimators.parameters import count, flag, hints, number
from lineal.estimators.penalty_maker import penalty_maker
from lineal.ground.arrays import Array
from lineal.losses import Logistic, Softmax
from lineal.losses.logistic import softplus
from lineal.model.verdict import TOLERANCE

PENALTIES = {"l2": 0.0, "l1": 1.0, "elasticnet": None, None: 0.0}
"""scikit-learn's older names of the penalties, and the l1_ratio that each stands for."""


def penalty_named(penalty: object, C: float, l1_ratio: object) -> tuple[float, float]:
    """Return C and the share of l1 that penalty, C and l1_ratio say together.

    >>> penalty_named("deprecated", 2.0, 0.5), penalty_named("l1", 2.0, 0.0), penalty_named(None, 1.0, 0.0)
    ((2.0, 0.5), (2.0, 1.0), (inf, 0.0))
    """
    ratio = number("l1_ratio", l1_ratio, most=1.0)
    if penalty == "deprecated":
        return C, ratio
    if not (penalty is None or isinstance(penalty, str)) or penalty not in PENALTIES:
        hint = near(penalty, [name for name in PENALTIES if name]) if isinstance(penalty, str) else ""
        raise InputError(f"penalty is {penalty!r}; accepted are 'l2', 'l1', 'elasticnet' and None.{hint}")
    share = PENALTIES[penalty]
    if share is not None and ratio not in (0.0, share):
        raise InputError(f"penalty={penalty!r} leaves l1_ratio without effect, but l1_ratio is {ratio:g}; give one.")
    if penalty is None and C not in (1.0, float("inf")):
        raise InputError(f"penalty=None leaves C without effect, but C is {C:g}; leave C out, or leave penalty out.")
    return float("inf") if penalty is None else C, ratio if share is None else share


@dataclass(eq=False, repr=False)
class LogisticRegression(Classifier):
    """Logistic regression: minimise ``C sum_i s_i loss_i + l1_ratio |b|_1 + (1 - l1_ratio) / 2 |b|^2``, b without intercept.

    The loss of a row is ``log(1 + e^eta) - y eta`` for two classes, ``log sum_k e^eta_k - eta_y`` for several.
    scikit-learn's LogisticRegression with its parameters; ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    penalty : leave it out, as in scikit-learn; "l2", "l1", "elasticnet" and None (no penalty) are understood.
    C : the inverse of the strength of the penalty, above 0; infinity for no penalty.
    l1_ratio : the share of l1 in the penalty: 0 ridge, 1 lasso, between them the elastic net.
    dual, intercept_scaling, verbose, n_jobs : accepted for compatibility, without effect.
    tol : the relative gap to prove, see ``verdict_``.
    fit_intercept : whether to add an intercept.
    class_weight : None, "balanced" or a dict from class to weight; multiplies the sample weights.
    random_state : any seed; no solver draws random numbers, so all give the same fit.
    solver : "auto" or any name of scikit-learn's, which asks for this optimum; to insist, "newton", "quasi-newton",
        "conjugate-gradient", "gradient-descent" or an object of ``lineal.solvers``; options follow a colon:
        "gradient-descent:step=0.1" with ``max_iter=75`` takes 75 steps from zero (``trace_``).
    max_iter : at most this many steps of the solver; None for no limit.
    warm_start : start from the coefficients of the fit before.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "yes", "no", "yes"])
    >>> model = LogisticRegression().fit(X, y)
    >>> model.verdict_.kind, model.predict([[9.0]]).tolist()
    ('optimal', ['yes'])
    """

    penalty: str | None = "deprecated"
    _: KW_ONLY
    C: float = 1.0
    l1_ratio: float = 0.0
    dual: bool = False
    tol: float = TOLERANCE
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: Any = None
    random_state: Any = None
    solver: str = "auto"
    max_iter: int | None = None
    verbose: int = 0
    warm_start: bool = False
    n_jobs: int | None = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and labels y: strings, whole numbers or Booleans.

        ``offset`` is added to every score without a coefficient; shape (n,) for two classes, (n, classes) for several.
        """
        C, ratio = self._refuse()
        intercept = flag("fit_intercept", self.fit_intercept)
        X, labels, codes, weight = self._labelled(X, y, sample_weight, self.class_weight)
        outputs = 1 if len(labels) == 2 else len(labels)
        coef = self._solve(
            X,
            codes.astype(np.float64)[:, None],
            weight,
            offset,
            loss=Logistic() if outputs == 1 else Softmax(outputs),
            penalty=penalty_maker(lambda total: strength_of_C(C, total), ratio),
            target=target_of(labels),
            intercept=intercept,
            solver=solver_named(self.solver),
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
            start=self._start(labels, intercept=intercept) if flag("warm_start", self.warm_start) else None,
        )
        self.classes_ = labels
        self._spread(coef, intercept=intercept)
        self.n_iter_ = np.array([self._steps], dtype=np.int32)
        return self

    def predict_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the probability of every class, in the order of ``classes_``."""
        self._ready()
        X = features(self, X)
        coef = self._stacked()
        rows, outputs = as_design(X).rows, coef.shape[1]
        assert rows is not None
        shift = offsets(offset, X.shape[0], outputs)
        if outputs == 1:
            means, inside = rows.chances(coef, shift)
        else:
            assert Softmax.native is not None
            means = rows.means(Softmax.native, coef, shift)
            inside = bool(means.min() > 0.0 and means.max() < 1.0)
        if not inside:
            blame(X)  # infinity makes a probability of exactly 0 or 1
        return self._like(X, means)

    def predict_log_proba(self, X: Any, *, offset: Any = None) -> Array:
        """Return the logarithm of the probability of every class, exact where the probability underflows."""
        eta = self._scores(X, offset)
        if eta.shape[1] == 1:
            return np.column_stack([-softplus(eta[:, 0]), -softplus(-eta[:, 0])])
        eta = eta - eta.max(axis=1, keepdims=True)
        return np.asarray(eta - np.log(np.exp(eta).sum(axis=1, keepdims=True)))

    def _refuse(self) -> tuple[float, float]:
        """Refuse what we do not honour, and return C, infinite for no penalty, and the share of l1."""
        C = number("C", self.C, above=0.0, infinite=True)
        hints(
            dual=self.dual, intercept_scaling=self.intercept_scaling, random_state=self.random_state, verbose=self.verbose,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        return penalty_named(self.penalty, C, self.l1_ratio)

    def _start(self, labels: npt.NDArray[Any], *, intercept: bool) -> Array | None:
        """Return where a warm start begins, or None at the first fit."""
        if "coef_" not in self.__dict__:
            return None
        if not np.array_equal(labels, self.classes_):
            raise InputError(
                f"warm_start continues a fit with the classes {self.classes_.tolist()}; this data has {labels.tolist()}. "
                "Use warm_start=False."
            )
        return self._before(1 if len(labels) == 2 else len(labels), intercept=intercept)
