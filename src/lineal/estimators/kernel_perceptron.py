"""The kernel perceptron, for two classes or several."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.estimators.bases import ClassifierMixin
from lineal.estimators.classification import target_of
from lineal.estimators.descent import seeded
from lineal.estimators.kernel_choice import choose, gamma_of, rows_of
from lineal.estimators.kernel_machine import KernelMachine
from lineal.estimators.labels import encode, present
from lineal.estimators.parameters import count, flag
from lineal.ground.inputs import class_labels
from lineal.losses import Perceptron as Criterion
from lineal.losses.loss import chosen
from lineal.machines import perceptron
from lineal.machines.gram import MatrixGram
from lineal.problem.span import Gram, SpanProblem

Array = npt.NDArray[np.float64]

HELD_MAX_ROWS = 5000
"""The Gram matrix of this many rows is made at once (200 MB); of more, a row at every mistake."""


@dataclass(eq=False, repr=False)
class KernelPerceptron(ClassifierMixin, KernelMachine):
    """The kernel perceptron: ``f <- f + y k(x, .)`` at every mistake, so that ``f = sum_i c_i y_i k(x_i, .)``, c counts mistakes.

    Two classes have one function; several are updated jointly. It stops at the first epoch without a mistake, and then every
    row is proven to be on its side. Mistakes are at most ``R^2 / gamma^2``, R^2 the largest ``k(x, x)`` and gamma the margin.

    Parameters
    ----------
    kernel, degree, gamma, coef0 : as of ``SVC``.
    fit_intercept : whether to add 1 to the kernel: a feature that is always 1.
    max_iter : at most this many epochs.
    shuffle : whether every epoch has an order of its own; False keeps that of the rows.
    random_state : the seed of the order; None is 0.

    After ``fit``: ``dual_coef_`` (outputs, rows; whole numbers), ``mistakes_``, ``n_iter_`` (epochs), ``verdict_``
    ("separated" or "budget").

    >>> import numpy as np
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1, 0]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    >>> model.verdict_.kind, model.predict(X).tolist(), model.verdict_.evidence["within_bound"]
    ('separated', [0, 1, 1, 0], True)
    """

    _: KW_ONLY
    kernel: Any = "rbf"
    degree: float = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    fit_intercept: bool = True
    max_iter: int = 100
    shuffle: bool = True
    random_state: Any = 0

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to rows X, or to the square matrix of a precomputed kernel, and labels y."""
        epochs, ones = count("max_iter", self.max_iter), flag("fit_intercept", self.fit_intercept)
        if not epochs:
            raise InputError(f"max_iter is {self.max_iter!r}; it must be a whole number of at least 1.")
        seed = seeded(self.random_state) if flag("shuffle", self.shuffle) else None
        X, y = self._points_and_target(X, y, numeric=False)
        labels, codes = encode(y)
        labels, codes = present(labels, codes, None)
        named = isinstance(self.kernel, str) and self.kernel not in ("linear", "precomputed")
        gamma = gamma_of(self.gamma, X) if named else 1.0
        self._choice = choose(self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0)
        gram: Gram = _Lifted(self._choice.gram(X)) if ones else self._choice.gram(X)
        if gram.size <= HELD_MAX_ROWS:
            gram = _held(gram)
        outputs = 1 if len(labels) == 2 else len(labels)
        run = perceptron.present(gram, codes, outputs, epochs, seed)
        self.classes_, self.X_fit_ = labels, rows_of(X)
        self.dual_coef_, self.mistakes_, self.n_iter_ = run.coef.T.copy(), run.mistakes, run.epochs
        self.intercept_ = run.coef.sum(axis=0) if ones else np.zeros(outputs)
        self._judged([perceptron.judge(gram, codes, run)], [0.0])
        self.solver_ = "perceptron: in the span of the kernels at the rows"
        problem = SpanProblem(
            gram, Criterion(outputs), codes[:, None].astype(np.float64), np.ones(len(codes)), 0.0, ones
        )
        self._modeled(self.X_fit_, run.coef, self.intercept_ if ones else None, problem, target_of(labels))
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the score of the second of two classes, or of every class."""
        eta = self._eta(X)
        return eta[:, 0] if eta.shape[1] == 1 else eta

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class with the best score of every row."""
        index = chosen(self._eta(X))
        return np.asarray(self.classes_[index])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose class is predicted."""
        with np.errstate(invalid="ignore"):  # scikit-learn asks whether labels are whole numbers by making them so
            return float(super().score(X, y if y is None else class_labels(y), sample_weight))

    def _eta(self, X: Any) -> Array:
        X = self._new_rows(X)
        eta = self._choice.scores(X, self.X_fit_, np.ascontiguousarray(self.dual_coef_.T))
        return np.asarray(eta + self.intercept_)


class _Lifted(Gram):
    """A Gram matrix plus one: that of rows with a feature that is always 1."""

    def __init__(self, gram: Gram) -> None:
        self._gram = gram
        self.diagonal = gram.diagonal + 1.0
        self.errors = np.sqrt(gram.errors**2 + 2.0**-52 * (np.abs(self.diagonal) + 1.0))
        self.diagonal_error, self.mercer = gram.diagonal_error, gram.mercer

    def rows(self, index: npt.NDArray[np.intp]) -> Array:
        """Return some rows."""
        return np.asarray(self._gram.rows(index) + 1.0)

    def block(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Array:
        """Return the entries of some rows and columns."""
        return np.asarray(self._gram.block(rows, columns) + 1.0)

    def part(self, index: npt.NDArray[np.intp]) -> _Lifted:
        """Return the matrix of some of the rows."""
        return _Lifted(self._gram.part(index))


def _held(gram: Gram) -> Gram:
    """Return a matrix with all of its entries at hand, as far from definite as it was."""
    whole = object.__new__(MatrixGram)
    whole._matrix = gram.whole()
    whole.diagonal, whole.errors = gram.diagonal, gram.errors
    whole.diagonal_error, whole.mercer = gram.diagonal_error, gram.mercer
    return whole
