"""What the estimators share: from checked arrays through ``fitting.fit`` to attributes, scores and a display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from lineal.api.dialects import served
from lineal.certify.wording import bounded
from lineal.designs import as_design
from lineal.designs.center import scores
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.displayed import Displayed
from lineal.estimators.intake import blame, features, offsets
from lineal.estimators.parameters import until
from lineal.estimators.penalty_maker import PenaltyMaker
from lineal.fitting import fitting
from lineal.fitting.small_fit import SmallFit, small_fit
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, beforehand
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.trace import Trace
from lineal.model.verdict import Verdict, worst
from lineal.problem.moments import survey
from lineal.solvers.solver import Solver
from lineal.sources.memory import Memory

T = TypeVar("T")

DERIVED_ATTRIBUTES: Final = ("verdict_", "objective_", "solver_", "trace_", "model_")
"""Attributes that follow from a fit; of a closed one they are made when they are first asked for."""


class _Closed(NamedTuple):
    """A closed fit, and what its attributes need beside it; ``reason`` says why the solver was used, ``asked`` for which."""

    fit: SmallFit
    target: Target
    tol: float
    reason: str
    asked: object


class _Centered(NamedTuple):
    """Coefficients about a center: with those of the columns as they are, scores would lose all their digits."""

    center: Array
    coef: Array
    plain: Array

    def turned(self, change: Callable[[Array], Array]) -> _Centered:
        """Return what an estimator that shows other outputs keeps."""
        return _Centered(self.center, change(self.coef), change(self.plain))

    def scores(self, X: Any, stacked: Array) -> Array:
        """Return ``(X - center) b``; ``X b`` where intercept or coefficients were edited, not only rounded, since."""
        design = as_design(X)
        if not np.array_equal(stacked, self.plain) and not np.array_equal(stacked, self.plain.astype(np.float32)):
            return design.times(stacked)
        return scores(design, self.coef, self.center)


def _centered_members(fits: Sequence[Fit]) -> _Centered | None:
    """Return what an estimator of several members keeps, one center each; None where no member has one."""
    centers = [fit.arrays.get("center") for fit in fits]
    if all(center is None for center in centers):
        return None
    coef, plain = np.hstack([fit.coef for fit in fits]), np.hstack([fit.plain for fit in fits])
    none = np.zeros(len(coef))
    return _Centered(np.column_stack([none if center is None else center for center in centers]), coef, plain)


class _Late(Generic[T]):
    """An attribute of an estimator that is written down when it is first asked for; before a fit there is none."""

    def __init__(self, make: Callable[[Fitted, _Closed], T]) -> None:
        self.make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Fitted | None, owner: type) -> T:
        closed = None if estimator is None else estimator.__dict__.get("_closed")
        if estimator is None or closed is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}")
        value = estimator.__dict__[self.name] = self.make(estimator, closed)
        return value


class Fitted(Displayed):
    """An estimator whose fit ends with a verdict.

    After ``fit``: ``verdict_`` (what is proven), ``objective_`` (F at the coefficients), ``solver_`` (which and why),
    ``trace_`` (the steps) and ``model_`` (the same fit as a lineal Model, to save and to verify).
    Of a fit that is shorter than their words and records, each is made when it is first asked for.
    """

    _keeps_single: ClassVar[bool] = True
    """Whether float32 rows give float32 coefficients and predictions; in scikit-learn most estimators do."""

    coef_: npt.NDArray[Any]
    intercept_: Any
    n_features_in_: int
    verdicts_: Any
    models_: list[Model]
    _floats: np.dtype[Any]
    time_limit: float | None
    _closed: _Closed
    _centered: _Centered | None
    if TYPE_CHECKING:
        verdict_: Verdict
        objective_: float
        solver_: str
        trace_: Trace
        model_: Model
    else:
        verdict_ = _Late(lambda _, closed: bounded(closed.fit.penalty, closed.fit.proof, closed.tol, intercept=True)[0])
        objective_ = _Late(lambda _, closed: closed.fit.proof.objective)
        solver_ = _Late(lambda _, closed: served(f"{closed.fit.solver}: {closed.reason}", closed.asked))
        trace_ = _Late(lambda _, closed: closed.fit.trace)
        model_ = _Late(lambda estimator, closed: _model(closed, estimator.verdict_))

    def _solve(
        self,
        X: Any,
        y: Array,
        weight: Array | None,
        offset: Any,
        *,
        loss: Loss,
        penalty: PenaltyMaker,
        target: Target,
        intercept: bool,
        solver: Solver | str,
        tol: float,
        max_iter: int | None,
        start: Array | None = None,
    ) -> Array:
        """Fit, note everything but the coefficients on the estimator, and return those, ``(columns, outputs)``."""
        deadline, self._floats = until("time_limit", self.time_limit), X.dtype
        columns = columns_of(self, intercept=intercept)
        cost = penalty(float(len(y) if weight is None else weight.sum()), _penalty_factors(len(columns), intercept))
        shift = None if offset is None else offsets(offset, X.shape[0], loss.outputs)
        source = Memory(as_design(X, intercept=intercept), y, weight, shift, columns)
        closed = small_fit(source, loss, cost, solver, start, tol, max_iter)
        if closed is None:
            problem = fitting.pose(source, loss, cost, solver, deadline=deadline)
            result = fitting.solve(
                problem, solver=solver, start=start, tol=tol, max_iter=max_iter, time_limit=deadline, keep=True,
                labels=target.spelled,
            )  # fmt: skip
            self._note(result, target, tol)
            return result.plain
        for name in (*DERIVED_ATTRIBUTES, "_centered"):
            self.__dict__.pop(name, None)
        self._closed = _Closed(closed, target, tol, closed.reason if solver == "auto" else "asked for", self._asked)
        return closed.coef

    def _source(
        self, X: Any, y: Array, weight: Array | None, offset: Any, *, outputs: int, intercept: bool
    ) -> tuple[Memory, Array]:
        """Return the rows as a source, and a penalty factor of 1 for every column but the intercept."""
        self._floats = X.dtype
        columns = columns_of(self, intercept=intercept)
        penalty_factors = _penalty_factors(len(columns), intercept)
        shift = offsets(offset, X.shape[0], outputs)
        return Memory(
            as_design(X, intercept=intercept), y, weight=weight, offset=shift, columns=columns
        ), penalty_factors

    @staticmethod
    def _look(source: Memory, loss: Loss, deadline: Deadline | None) -> None:
        """Look at the rows once where there is a deadline: an InputError says that there was no time even for that."""
        if deadline is not None:
            beforehand(deadline, lambda: survey(source, loss))

    def _note(self, result: Fit, target: Target, tol: float) -> None:
        """Note a fit on the estimator: everything but the coefficients."""
        self.__dict__.pop("_closed", None)
        self._centered = None
        if (center := result.arrays.get("center")) is not None:
            self._centered = _Centered(center, result.coef, result.plain)
        self.verdict_ = result.verdict
        self.objective_ = result.objective
        self.solver_ = served(f"{result.solver}: {result.reason}", self._asked)
        self.trace_ = result.trace
        self.model_ = model_of(result, target, tol)

    def _gather(self, fits: Sequence[Fit], target: Target, member: Target, tol: float) -> None:
        """Note the fits of all members, and the worst of them as the one to judge by; ``objective_`` is their sum."""
        self.verdicts_ = [result.verdict for result in fits]
        place = worst(self.verdicts_)
        self._note(fits[place], target, tol)
        self.models_ = [self.model_]
        if len(fits) > 1:
            self.models_ = [model_of(result, member, tol) for result in fits]
            self.model_ = self.models_[place]
            self.objective_ = sum(result.objective for result in fits)
            self._centered = _centered_members(fits)

    def __getstate__(self) -> Any:
        if "_closed" in self.__dict__:
            for name in DERIVED_ATTRIBUTES:
                getattr(self, name)
        return {name: value for name, value in super().__getstate__().items() if name != "_closed"}

    @property
    def _asked(self) -> object:
        """The solver that the parameters name; None where there is no such parameter."""
        return getattr(self, "solver", None)

    @property
    def _steps(self) -> int:
        """How many steps the solver took."""
        if "_closed" in self.__dict__:
            return self._closed.fit.steps
        return self.trace_.steps_of(self.model_.solver)

    def _rounded(self, values: Any) -> Any:
        """Return coefficients in the floats of the rows that they were fitted to; where float32 cannot hold them, as they are."""
        if not self._keeps_single or self._floats != np.float32:
            return values
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        return single if np.isfinite(single).all() else values

    def _like(self, X: Any, values: Array) -> Array:
        """Return predictions in float32 where both the rows and the coefficients are."""
        if X.dtype != np.float32 or getattr(self.coef_, "dtype", None) != np.float32:
            return values
        with np.errstate(over="ignore"):
            return np.asarray(values.astype(np.float32))

    def _ready(self) -> None:
        """Raise NotFittedError before a fit."""
        if "coef_" not in self.__dict__:
            check_is_fitted(self)

    def _stacked(self) -> Array:
        """Return intercept and coefficients as ``(columns, outputs)``: what predictions use, also if edited."""
        coef = np.atleast_2d(dense(self.coef_))
        stacked = np.empty((coef.shape[1] + 1, coef.shape[0]))
        stacked[0] = self.intercept_
        stacked[1:] = coef.T
        return stacked

    def _before(self, outputs: int, *, intercept: bool) -> Array | None:
        """Return the coefficients a warm start begins with, or None at the first fit."""
        if "coef_" not in self.__dict__:
            return None
        shape = np.atleast_2d(self.coef_).shape
        if shape != (outputs, self.n_features_in_):
            raise InputError(
                f"warm_start continues a fit with {shape[1]} features and {shape[0]} outputs; this data has "
                f"{self.n_features_in_} and {outputs}. Use warm_start=False."
            )
        return self._stacked()[0 if intercept else 1 :]

    def _scores(self, X: Any, offset: Any) -> Array:
        """Return ``X b + intercept + offset``, shape ``(n, outputs)``."""
        self._ready()
        X = features(self, X)
        stacked = self._stacked()
        centered = self.__dict__.get("_centered")
        eta = as_design(X).times(stacked) if centered is None else centered.scores(X, stacked)
        if not np.isfinite(eta).all():
            blame(X)
        shift = offsets(offset, X.shape[0], stacked.shape[1])
        return self._like(X, eta if shift is None else eta + shift)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def dense(coef: Any) -> Any:
    """Return coefficients as an array, also those that ``sparsify`` made a sparse matrix."""
    return coef.toarray() if is_sparse(coef) else coef


def _model(closed: _Closed, verdict: Verdict) -> Model:
    """Return a closed fit as a Model."""
    fit = closed.fit
    return Model.of_rows(
        fit.moments.rows, fit.moments.weight_sum,
        coef=fit.coef, columns=fit.columns, loss=fit.loss, penalty=fit.penalty, target=closed.target, verdict=verdict,
        solver=fit.solver, reason=closed.reason, tol=closed.tol,
    )  # fmt: skip


def model_of(result: Fit, target: Target, tol: float) -> Model:
    """Return a fit as a Model."""
    problem, moments = result.problem, result.problem.moments
    return Model.of_rows(
        moments.rows, moments.weight_sum,
        coef=result.coef, columns=problem.source.columns, loss=problem.loss, penalty=problem.penalty, target=target,
        verdict=result.verdict, solver=result.solver, reason=result.reason, tol=tol, arrays=result.arrays,
    )  # fmt: skip


def columns_of(estimator: Any, *, intercept: bool = False) -> tuple[str, ...]:
    """Return the names of the design's columns: the intercept, then feature names or x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return _numbered(estimator.n_features_in_, intercept)
    if "(intercept)" in names:
        raise InputError("a feature is called '(intercept)', which is the name of lineal's column of ones; rename it.")
    return ("(intercept)", *names.tolist()) if intercept else tuple(names.tolist())


@lru_cache(maxsize=16)
def _penalty_factors(n: int, intercept: bool) -> Array:
    """Return a penalty factor of 1 for every column but the intercept, for all who ask: it cannot be written to."""
    penalty_factors = np.ones(n)
    penalty_factors[: int(intercept)] = 0.0
    penalty_factors.flags.writeable = False
    return penalty_factors


@lru_cache(maxsize=16)
def _numbered(n: int, intercept: bool) -> tuple[str, ...]:
    names = (f"x{j}" for j in range(n))
    return ("(intercept)", *names) if intercept else tuple(names)
