"""What the kernel machines share: rows to a Gram matrix, scores of new rows, a display that begins with the verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from lineal.errors import InputError
from lineal.estimators.displayed import Displayed
from lineal.estimators.intake import blame, features, features_and_target
from lineal.estimators.kernel_choice import Choice, is_given, listed, structured
from lineal.ground.records import dataclass
from lineal.kernels import Kernel
from lineal.machines.kernel_map import KernelMap
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.verdict import TOLERANCE, Verdict, worst
from lineal.penalties import NoPenalty
from lineal.problem.span import SpanProblem

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """What a Model is made of when it is asked for: all training rows, and what was found."""

    rows: Any
    coef: Array
    intercept: Array | None
    problem: SpanProblem
    target: Target

    def model(self, kernel: Kernel, inputs: tuple[str, ...], verdict: Verdict, tol: float, solver: str) -> Model:
        """Return the Model, which holds the rows that predictions need."""
        kept = np.flatnonzero(np.any(self.coef != 0.0, axis=1))
        rows = self.rows[kept].astype(np.float64)
        feature_map = KernelMap(kernel, rows, tuple(kept.tolist()), inputs, self.problem.strength)
        first = () if self.intercept is None else ("(intercept)",)
        coef = self.coef[kept] if self.intercept is None else np.vstack([self.intercept, self.coef[kept]])
        weight, (name, _, reason) = self.problem.weight, solver.partition(": ")
        return Model.of_rows(
            int(np.count_nonzero(weight)), self.problem.weight_sum,
            coef=coef, columns=(*first, *feature_map.columns), loss=self.problem.loss, penalty=NoPenalty(len(coef)),
            target=self.target, verdict=verdict, solver=name, reason=reason, tol=tol, feature_map=feature_map,
        )  # fmt: skip


class KernelMachine(Displayed):
    """An estimator whose scores are ``sum_i a_i k(x_i, x) + b`` over training rows, and whose fit ends with a verdict.

    After ``fit``: ``verdict_`` (what is proven; the worst of ``verdicts_``, one for each problem that was solved) and
    ``objective_`` (F, summed over those problems).
    """

    kernel: Any
    n_features_in_: int
    verdict_: Verdict
    verdicts_: list[Verdict]
    objective_: float
    solver_: str
    dual_coef_: Any
    X_fit_: Any
    classes_: npt.NDArray[Any]
    intercept_: Any
    n_iter_: Any
    _choice: Choice
    _structured: bool

    def _judged(self, verdicts: list[Verdict], objectives: list[float]) -> None:
        """Note the verdicts, and the worst of them as the one to judge by."""
        self.verdicts_ = verdicts
        self.verdict_ = verdicts[worst(verdicts)]
        self.objective_ = float(sum(objectives))

    def _modeled(self, rows: Any, coef: Array, intercept: Array | None, problem: SpanProblem, target: Target) -> None:
        """Note how ``model_`` is made: of the rows whose coefficient is not zero, where the kernel is one of the catalogue."""
        self.__dict__.pop("model_", None)
        held = self._choice.kernel is not None and not self._structured
        self._parts = Parts(rows, coef, intercept, problem, target) if held else None

    @property
    def model_(self) -> Model:
        """The same fit as a lineal Model, to save; only kernels of the catalogue can be kept in a file."""
        parts: Parts | None = self.__dict__.get("_parts")
        if parts is None:
            raise AttributeError(
                f"{type(self).__name__} has no model_: a model holds one score function of rows and a kernel of lineal.kernels, "
                "and this one is not fitted, precomputed, a function of yours, of texts or trees (lineal.fit makes their "
                "models), or decides by several machines"
            )
        kernel, verdict = self._choice.kernel, self.verdict_
        assert kernel is not None
        names = getattr(self, "feature_names_in_", None)
        inputs = tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(names.tolist())
        return parts.model(kernel, inputs, verdict, getattr(self, "tol", TOLERANCE), self.solver_)

    def _points_and_target(
        self, X: Any, y: Any, *, numeric: bool, several: bool | None = None
    ) -> tuple[Any, npt.NDArray[Any]]:
        """Return X and y checked; where the kernel compares texts, trees or other things, X is an array of those."""
        self._structured = structured(self.kernel, X)
        if self._structured:
            points = listed(X)
            return points, features_and_target(self, np.zeros((len(points), 1)), y, numeric=numeric, several=several)[1]
        X, y = features_and_target(self, X, y, numeric=numeric, several=several)
        blame(X)
        return X, y

    def _ready(self) -> None:
        """Raise NotFittedError before a fit."""
        check_is_fitted(self, "verdict_")

    def _new_rows(self, X: Any) -> Any:
        """Return the rows of a prediction, checked."""
        self._ready()
        if self._structured:
            X = listed(X)
        else:
            X = features(self, X)
            blame(X)
        if X.shape[0] == 0:
            raise InputError("X has no rows; give at least one.")
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_given(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags
