"""Support vector machines with kernels, with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.designs.sound import is_sparse
from lineal.errors import InputError, near
from lineal.estimators.bases import ClassifierMixin, RegressorMixin
from lineal.estimators.classification import target_of
from lineal.estimators.intake import numbers, weights
from lineal.estimators.kernel_choice import choose, gamma_of, rows_of
from lineal.estimators.kernel_machine import KernelMachine
from lineal.estimators.labels import Codes, encode, present, weigh
from lineal.estimators.one_against_one import Pair, laid_out, pairs_of, shared_scores, voted
from lineal.estimators.parameters import flag, hints, number, until
from lineal.estimators.regression import target_of as number_target
from lineal.ground.deadline import shared
from lineal.ground.inputs import class_labels, real
from lineal.losses import EpsilonInsensitive, Hinge
from lineal.machines.support_fit import Plan, fit
from lineal.model.verdict import TOLERANCE
from lineal.problem.span import Gram

Array = npt.NDArray[np.float64]

SOLVER = "pairs: steps along pairs of coefficients in large working sets"


class _Support(KernelMachine):
    """What both machines share: parameters of the kernel and of the solver, support vectors."""

    C: float
    gamma: Any
    degree: float
    coef0: float
    tol: float
    cache_size: float
    max_iter: int
    shrinking: bool
    verbose: Any
    time_limit: float | None
    support_: npt.NDArray[np.int32]
    support_vectors_: Any
    dual_coef_: Any
    intercept_: Array
    fit_status_: int
    classes_: npt.NDArray[Any]
    n_iter_: Any
    n_support_: npt.NDArray[np.int32]

    def _plan(self) -> Plan:
        """Refuse what is not honoured, and return what a fit may use."""
        flag("shrinking", self.shrinking)
        hints(verbose=self.verbose)
        most = self.max_iter
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < -1:
            raise InputError(f"max_iter is {most!r}; it must be a whole number of at least 0, or -1 for no limit.")
        return Plan(
            tol=number("tol", self.tol),
            megabytes=number("cache_size", self.cache_size, above=0.0),
            most=None if most == -1 else int(most),
            deadline=until("time_limit", self.time_limit),
        )

    def _gram(self, X: Any) -> Gram:
        """Return the Gram matrix of the training rows, and note the kernel."""
        named = isinstance(self.kernel, str) and self.kernel not in ("linear", "precomputed")
        gamma = gamma_of(self.gamma, X) if named else 1.0
        self._gamma = gamma
        self._choice = choose(self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0)
        return self._choice.gram(X)

    def _vectors(self, X: Any) -> None:
        """Note the rows of the support vectors; those of a precomputed kernel have none."""
        self.shape_fit_ = X.shape
        self._rows = None
        if self._choice.kernel is None and self._choice.function is None:
            self.support_vectors_ = np.empty((0, 0))
        else:
            self._rows = rows_of(X)
            self.support_vectors_ = self._rows[self.support_]

    def _sums(self, X: Any, coef: Array) -> Array:
        """Return ``sum_i a_i k(x_i, x)`` of some machines, whose coefficients belong to the support vectors."""
        X = self._new_rows(X)
        if self._rows is None:
            X = X[:, self.support_]
        elif self._choice.function is not None:  # which may count on all training rows
            return self._choice.called(X, self._rows)[:, self.support_] @ coef
        return self._choice.scores(X, self.support_vectors_, coef)

    @property
    def coef_(self) -> Any:
        """Weights of the columns: of the linear kernel alone."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        return self._coef()

    def _coef(self) -> Any:
        coef = self._dual @ self.support_vectors_  # type: ignore[attr-defined]  # (noted by fit)
        if isinstance(coef, np.ndarray):
            coef.flags.writeable = False  # predictions are made of dual_coef_
        return coef


@dataclass(eq=False, repr=False)
class SVC(ClassifierMixin, _Support):
    """Support vector classification: minimise ``C sum_i s_i max(1 - y_i f(x_i), 0) + |f|^2 / 2``, f = sum_i a_i k(x_i, .) + b.

    Two classes have one machine; several one for each pair, which vote. The intercept b is not penalized. A fit takes steps
    along pairs of coefficients within large working sets and ends with a proof, for every machine. scikit-learn's SVC with its
    parameters.

    Parameters
    ----------
    C : the inverse of the strength of the penalty, above 0.
    kernel : "rbf", "linear", "poly", "sigmoid", "laplacian", "precomputed", a kernel of ``lineal.kernels``, or a function of two
        matrices of rows that returns the matrix of kernel values.
    degree, coef0 : of "poly": ``(gamma x.z + coef0)^degree``; coef0 also of "sigmoid".
    gamma : of "rbf", "poly", "sigmoid", "laplacian": "scale" (1 / (columns var(X))), "auto" (1 / columns) or a number.
    shrinking : no effect on what is found.
    probability : only its default: wrap the estimator in ``sklearn.calibration.CalibratedClassifierCV``.
    tol : the relative gap to prove, see ``verdict_``.
    cache_size : megabytes of rows of the Gram matrix that are kept.
    class_weight : None, "balanced" or a dict from class to weight; multiplies the sample weights.
    verbose, random_state : accepted for compatibility, without effect; nothing here draws.
    max_iter : at most this many pairs for each machine; -1 for no limit.
    decision_function_shape : "ovr", a score for each class from the votes; "ovo", one for each pair.
    break_ties : whether ties of votes go to the class of the best score ("ovr").
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    After ``fit``: ``support_``, ``support_vectors_``, ``n_support_``, ``dual_coef_``, ``intercept_`` as in scikit-learn;
    ``verdict_`` is the worst of ``verdicts_``, one for each pair of classes. A kernel that is not positive semi-definite ends
    ``stationary``.

    >>> import numpy as np
    >>> X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array(["in", "out", "out", "in"])
    >>> model = SVC(kernel="rbf", gamma=1.0, C=10.0).fit(X[:, :1], y)
    >>> model.verdict_.kind, model.predict([[0.0], [3.0]]).tolist()
    ('optimal', ['out', 'in'])
    """

    _: KW_ONLY
    C: float = 1.0
    kernel: Any = "rbf"
    degree: float = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    shrinking: bool = True
    probability: Any = "deprecated"
    tol: float = TOLERANCE
    cache_size: float = 200
    class_weight: Any = None
    verbose: bool = False
    max_iter: int = -1
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    random_state: Any = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, or to the square matrix of a precomputed kernel, and labels y."""
        self._refuse()
        plan, C = self._plan(), number("C", self.C, above=0.0)
        X, y = self._points_and_target(X, y, numeric=False)
        labels, codes = encode(y)
        _some_left(sample_weight, codes)
        weight = weigh(self.class_weight, labels, codes, weights(sample_weight, X))
        labels, codes = present(labels, codes, weight)
        weight = np.ones(len(codes)) if weight is None else weight
        gram = self._gram(X)
        pairs = pairs_of(codes, weight, len(labels))
        members = []
        for done, pair in enumerate(pairs):
            part = gram if len(pair.rows) == gram.size else gram.part(pair.rows)
            share = Plan(plan.tol, plan.megabytes, plan.most, shared(plan.deadline, len(pairs) - done))
            members.append(fit(part, Hinge(), pair.y, weight[pair.rows], C, share))
        self.classes_ = labels
        self.class_weight_ = _class_weights(self.class_weight, labels, codes)
        self._kept(X, codes, pairs, members)
        return self

    def _kept(self, X: Any, codes: Codes, pairs: list[Pair], members: list[Any]) -> None:
        """Note what was found, laid out as scikit-learn has it."""
        layout = laid_out(codes, pairs, [one.coef[:, 0] for one in members], len(self.classes_))
        self.support_, self.n_support_ = layout.support, layout.counts
        self._dual = layout.machines
        self.dual_coef_ = layout.dual
        self.intercept_ = np.array([float(one.intercept[0]) for one in members])
        if len(pairs) > 1:
            self.intercept_ = (
                -self.intercept_
            )  # several machines speak for the first class of a pair, one for the second
        self.n_iter_ = np.array([one.pairs for one in members], dtype=np.int32)
        self.fit_status_ = int(any(one.verdict.kind == "budget" for one in members))
        self._judged([one.verdict for one in members], [one.objective for one in members])
        self.solver_ = SOLVER
        self._vectors(X)
        if is_sparse(X):
            from scipy.sparse import csr_matrix

            self.dual_coef_ = csr_matrix(self.dual_coef_)
        if len(pairs) == 1:
            whole = np.zeros((len(codes), 1))
            whole[pairs[0].rows] = members[0].coef
            self._modeled(self._rows, whole, members[0].intercept, members[0].problem, target_of(self.classes_))
        else:
            self._parts = None

    def decision_function(self, X: Any) -> Array:
        """Return the score of the second of two classes; of several one for each class, or for each pair ("ovo")."""
        eta = self._pairwise(X)
        if eta.shape[1] == 1 and len(self.classes_) == 2:
            return eta[:, 0]
        return eta if self.decision_function_shape == "ovo" else shared_scores(eta, len(self.classes_))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class that most machines vote for; ties go to the earlier class, or by score with ``break_ties``."""
        if self.break_ties and self.decision_function_shape == "ovo" and len(self.classes_) > 2:
            raise InputError(
                "break_ties must be False when decision_function_shape is 'ovo'; ties are broken with 'ovr'."
            )
        eta = self._pairwise(X)
        if len(self.classes_) == 2:
            index = (eta[:, 0] > 0.0).astype(np.intp)
        elif self.break_ties:
            index = np.argmax(shared_scores(eta, len(self.classes_)), axis=1)
        else:
            index = np.argmax(voted(eta, len(self.classes_)), axis=1)
        return np.asarray(self.classes_[index])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted."""
        with np.errstate(invalid="ignore"):  # scikit-learn asks whether labels are whole numbers by making them so
            return float(super().score(X, y if y is None else class_labels(y), sample_weight))

    def _pairwise(self, X: Any) -> Array:
        """Return the score of every machine."""
        return self._sums(X, self._machines()) + self.intercept_

    def _machines(self) -> Array:
        self._ready()
        return np.ascontiguousarray(self._dual.T)

    def _refuse(self) -> None:
        """Refuse what is not honoured."""
        if self.probability is not False and self.probability != "deprecated":
            raise InputError(
                f"probability is {self.probability!r}; a support vector machine has no probabilities. Wrap it in "
                "sklearn.calibration.CalibratedClassifierCV, whose method names the calibration, or fit KernelLogisticRegression."
            )
        shape = self.decision_function_shape
        if shape not in ("ovr", "ovo"):
            raise InputError(
                f"decision_function_shape is {shape!r}; accepted are 'ovr' and 'ovo'.{near(str(shape), ('ovr', 'ovo'))}"
            )
        flag("break_ties", self.break_ties)
        hints(random_state=self.random_state)


@dataclass(eq=False, repr=False)
class SVR(RegressorMixin, _Support):
    """Support vector regression: minimise ``C sum_i s_i max(|y_i - f(x_i)| - epsilon, 0) + |f|^2 / 2``.

    ``f = sum_i a_i k(x_i, .) + b``, the intercept b not penalized; solved and proven as ``SVC`` is. scikit-learn's SVR with its
    parameters.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C, shrinking, cache_size, verbose, max_iter, time_limit : as of ``SVC``.
    epsilon : residuals up to this cost nothing, at least 0.

    After ``fit``: ``support_``, ``support_vectors_``, ``dual_coef_``, ``intercept_``, ``verdict_``.

    >>> import numpy as np
    >>> X = np.linspace(0.0, 6.0, 40)[:, None]
    >>> model = SVR(C=10.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> model.verdict_.kind, bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.06)
    ('optimal', True)
    """

    _: KW_ONLY
    kernel: Any = "rbf"
    degree: float = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    tol: float = TOLERANCE
    C: float = 1.0
    epsilon: float = 0.1
    shrinking: bool = True
    cache_size: float = 200
    verbose: bool = False
    max_iter: int = -1
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X, or to the square matrix of a precomputed kernel, and one target y."""
        plan, C = self._plan(), number("C", self.C, above=0.0)
        epsilon = number("epsilon", self.epsilon)
        X, y = self._points_and_target(X, y, numeric=True, several=False)
        _some_left(sample_weight, None)
        values, given = numbers(y)[:, 0], weights(sample_weight, X)
        weight = np.ones(len(values)) if given is None else given
        EpsilonInsensitive(epsilon).check(values[:, None])
        solution = fit(self._gram(X), EpsilonInsensitive(epsilon), values, weight, C, plan)
        self.support_ = np.flatnonzero(solution.coef[:, 0]).astype(np.int32)
        self._dual = solution.coef[self.support_].T.copy()
        self.dual_coef_, self.intercept_ = self._dual, solution.intercept
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.n_iter_, self.fit_status_ = solution.pairs, int(solution.verdict.kind == "budget")
        self._judged([solution.verdict], [solution.objective])
        self.solver_ = SOLVER
        self._vectors(X)
        if is_sparse(X):
            from scipy.sparse import csr_matrix

            self.dual_coef_ = csr_matrix(self.dual_coef_)
        self._modeled(self._rows, solution.coef, solution.intercept, solution.problem, number_target(None))
        return self

    def predict(self, X: Any) -> Array:
        """Return ``f(x)`` of every row."""
        self._ready()
        return (self._sums(X, self._dual.T) + self.intercept_)[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the share of y's variance that the predictions explain; where their squares overflow, -inf."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(super().score(X, y if y is None else real(y, "y"), sample_weight))


def _some_left(sample_weight: Any, codes: Codes | None) -> None:
    """Refuse weights without a positive one, or with positive ones for one of several classes alone."""
    values = None if sample_weight is None else np.asarray(sample_weight)
    if values is None or values.ndim != 1 or values.dtype.kind not in "fiub" or not np.isfinite(values).all():
        return
    if not np.any(values > 0.0):
        raise InputError(
            "Invalid input - all samples have zero or negative weights. Give some row a sample_weight above zero."
        )
    if (
        codes is not None
        and len(values) == len(codes)
        and len(np.unique(codes[values > 0.0])) < 2 <= len(np.unique(codes))
    ):
        raise InputError(
            "Invalid input - all samples with positive weights belong to the same class; a machine tells two apart."
        )


def _class_weights(given: Any, labels: npt.NDArray[Any], codes: Codes) -> Array:
    """Return the weight of every class that ``class_weight`` means, rows counted once."""
    ones = weigh(given, labels, codes, None)
    first = np.array([int(np.argmax(codes == k)) for k in range(len(labels))])
    return np.ones(len(labels)) if ones is None else ones[first]
