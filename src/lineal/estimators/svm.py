"""Linear support vector machines with scikit-learn's interface."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lineal.api.dialects import strength_of_C
from lineal.errors import InputError, near
from lineal.estimators.classification import Classifier, target_of
from lineal.estimators.intake import weights
from lineal.estimators.labels import Codes
from lineal.estimators.parameters import count, flag, hints, number, until
from lineal.estimators.penalty_maker import PenaltyMaker, penalty_maker
from lineal.estimators.regression import Regressor
from lineal.fitting import fitting
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import shared
from lineal.losses import CrammerSinger, EpsilonInsensitive, Hinge, SquaredEpsilonInsensitive, SquaredHinge
from lineal.losses.loss import Loss
from lineal.model.verdict import TOLERANCE
from lineal.sources.memory import Memory


@dataclass(eq=False, repr=False)
class LinearSVC(Classifier):
    """Linear support vector classification: minimise ``C sum_i s_i loss_i + |b|^2 / 2``, the intercept not penalized.

    With the margin z = eta for the class and -eta against it, the loss is ``max(1 - z, 0)^2`` or ``max(1 - z, 0)``.
    Several classes: each against the rest, or with the loss of Crammer and Singer, all at once. scikit-learn's LinearSVC
    with its parameters; it penalizes the intercept, we do not: ``docs/differences.md``.

    Parameters
    ----------
    penalty : "l2", or "l1" for ``|b|_1`` in the place of ``|b|^2 / 2``.
    loss : "squared_hinge" or "hinge".
    dual : "auto"; True for dual ascent, with "l2"; False for a primal solver, which only squared hinge has.
    tol : the relative gap to prove, see ``verdict_``.
    C : the inverse of the strength of the penalty, above 0; infinity for no penalty.
    multi_class : "ovr", or "crammer_singer".
    fit_intercept : whether to add an intercept.
    intercept_scaling, verbose : accepted for compatibility, without effect.
    class_weight : None, "balanced" or a dict from class to weight; multiplies the sample weights.
    random_state : any seed; all give the same fit.
    max_iter : at most this many steps of the solver; None for no limit.

    ``verdicts_`` and ``models_`` hold one member for each class against the rest; ``verdict_`` is the worst of them.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "yes", "no", "yes"])
    >>> model = LinearSVC().fit(X, y)
    >>> model.verdict_.kind, model.predict([[9.0]]).tolist()
    ('optimal', ['yes'])
    """

    _keeps_single: ClassVar[bool] = False

    penalty: str = "l2"
    loss: str = "squared_hinge"
    _: KW_ONLY
    dual: bool | str = "auto"
    tol: float = TOLERANCE
    C: float = 1.0
    multi_class: str = "ovr"
    fit_intercept: bool = True
    intercept_scaling: float = 1
    class_weight: Any = None
    verbose: int = 0
    random_state: Any = None
    max_iter: int | None = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and labels y: strings, whole numbers or Booleans.

        ``offset`` is added to every score without a coefficient; shape (n,) for two classes, (n, classes) for several.
        """
        whole, deadline = self._refuse(), until("time_limit", self.time_limit)
        if self.penalty == "l1" and not whole and (self.loss == "hinge" or self.dual is True):
            raise _unsupported(self.penalty, self.loss, self.dual)
        if self.dual is False and self.loss == "hinge" and not whole:
            raise _unsupported(self.penalty, self.loss, self.dual)
        solver = _solver(self.dual, smooth=self.loss == "squared_hinge" and not whole)
        intercept, tol = flag("fit_intercept", self.fit_intercept), number("tol", self.tol)
        X, labels, codes, weight = self._labelled(X, y, sample_weight, self.class_weight)
        whole = whole and len(labels) > 2
        outputs = 1 if len(labels) == 2 else len(labels)
        rows, penalty_factors = self._source(
            X, np.zeros((len(codes), 1)), weight, offset, outputs=outputs, intercept=intercept
        )
        most, bare = count("max_iter", self.max_iter), weights(sample_weight, X)
        fits: list[Fit] = []
        members = self._members(codes, outputs, rows.block.offset, whole=whole)
        for loss, target, shift in members:
            s = weight if whole or outputs == 1 else _own(weight, bare, target)
            source = Memory(rows.block.design, target, s, shift, rows.columns)
            penalty = self._penalty_maker(whole)(float(len(codes) if s is None else s.sum()), penalty_factors)
            if not fits:
                self._look(source, loss, deadline)
            share = shared(deadline, len(members) - len(fits))
            fits.append(
                fitting.fit(source, loss, penalty, solver=solver, tol=tol, max_iter=most, time_limit=share, keep=True)
            )
        self.classes_ = labels
        self._gather(fits, target_of(labels), target_of(np.array([False, True])), tol)
        self.n_iter_ = max(len(result.trace) - (result.solver != "dual-ascent") for result in fits)
        self._spread(np.hstack([result.plain for result in fits]), intercept=intercept)
        return self

    def _members(
        self, codes: Codes, outputs: int, offset: Array | None, *, whole: bool
    ) -> list[tuple[Loss, Array, Array | None]]:
        """Return loss, targets and offset of every problem to solve."""
        if whole:
            return [(CrammerSinger(outputs), codes.astype(np.float64)[:, None], offset)]
        loss = Hinge() if self.loss == "hinge" else SquaredHinge()
        if outputs == 1:
            return [(loss, codes.astype(np.float64)[:, None], offset)]
        return [
            (loss, (codes == k).astype(np.float64)[:, None], None if offset is None else offset[:, k : k + 1].copy())
            for k in range(outputs)
        ]

    def _penalty_maker(self, whole: bool) -> PenaltyMaker:
        """Return the penalty; squared hinge is half of scikit-learn's here, so that C counts twice."""
        C = number("C", self.C, above=0.0, infinite=True)
        factor = 2.0 if self.loss == "squared_hinge" and not whole else 1.0
        return penalty_maker(lambda total: strength_of_C(factor * C, total), 1.0 if self.penalty == "l1" else 0.0)

    def _refuse(self) -> bool:
        """Refuse what we do not honour, and return whether all classes are to be fitted at once."""
        _one_of("penalty", self.penalty, ("l2", "l1"))
        _one_of("loss", self.loss, ("squared_hinge", "hinge"))
        whole = _one_of("multi_class", self.multi_class, ("ovr", "crammer_singer")) == "crammer_singer"
        if whole and self.penalty != "l2":
            raise InputError("penalty is 'l1', which Crammer and Singer's loss is not fitted with; use 'l2'.")
        hints(intercept_scaling=self.intercept_scaling, verbose=self.verbose, random_state=self.random_state)
        return whole


@dataclass(eq=False, kw_only=True, repr=False)
class LinearSVR(Regressor):
    """Linear support vector regression: minimise ``C sum_i s_i loss_i + |b|^2 / 2``, the intercept not penalized.

    The loss is ``max(|y - eta| - epsilon, 0)``, or its square. scikit-learn's LinearSVR with its parameters; it penalizes
    the intercept, we do not: ``docs/differences.md``.

    Parameters
    ----------
    epsilon : residuals up to this cost nothing, at least 0.
    tol : the relative gap to prove, see ``verdict_``.
    C : the inverse of the strength of the penalty, above 0; infinity for no penalty.
    loss : "epsilon_insensitive" or "squared_epsilon_insensitive".
    fit_intercept : whether to add an intercept.
    intercept_scaling, verbose : accepted for compatibility, without effect.
    dual : "auto"; True for dual ascent; False for a primal solver, which only the squared loss has.
    random_state : any seed; all give the same fit.
    max_iter : at most this many steps of the solver; None for no limit.
    time_limit : seconds a fit may take, None for no limit; a fit that is cut short has the verdict ``budget``.

    >>> import numpy as np
    >>> X, y = np.arange(8.0)[:, None], np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 99.0])
    >>> model = LinearSVR(C=100.0).fit(X, y)
    >>> model.verdict_.kind, round(float(model.coef_[0]), 4)
    ('optimal', 1.0)
    """

    _keeps_single: ClassVar[bool] = False

    epsilon: float = 0.0
    tol: float = TOLERANCE
    C: float = 1.0
    loss: str = "epsilon_insensitive"
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    dual: bool | str = "auto"
    verbose: int = 0
    random_state: Any = None
    max_iter: int | None = None
    time_limit: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None) -> Self:
        """Fit to rows X and one target y.

        ``offset`` is added to every score without a coefficient.
        """
        epsilon, C = number("epsilon", self.epsilon), number("C", self.C, above=0.0, infinite=True)
        squared = _one_of("loss", self.loss, ("epsilon_insensitive", "squared_epsilon_insensitive"))[0] == "s"
        hints(intercept_scaling=self.intercept_scaling, verbose=self.verbose, random_state=self.random_state)
        solver = _solver(self.dual, smooth=squared)
        self._regress(
            X,
            y,
            sample_weight,
            offset,
            loss=SquaredEpsilonInsensitive(epsilon) if squared else EpsilonInsensitive(epsilon),
            penalty=penalty_maker(lambda total: strength_of_C((2.0 if squared else 1.0) * C, total)),
            intercept=flag("fit_intercept", self.fit_intercept),
            solver=solver,
            tol=number("tol", self.tol),
            max_iter=count("max_iter", self.max_iter),
        )
        self.intercept_ = np.atleast_1d(self.intercept_) if self.fit_intercept else 0.0  # an array, as in scikit-learn
        self.n_iter_ = self._steps
        return self


def _own(weight: Array | None, bare: Array | None, target: Array) -> Array | None:
    """Return the weights of one class against the rest: its own class weight counts, as in scikit-learn, not the others'."""
    if weight is None:
        return None
    rest = np.ones(len(weight)) if bare is None else bare
    return np.where(target[:, 0] > 0.0, weight, np.where(weight > 0.0, rest, 0.0))


def _one_of(name: str, value: object, accepted: tuple[str, ...]) -> str:
    """Return a parameter that must be one of some words."""
    if isinstance(value, str) and value in accepted:
        return value
    hint = near(value, accepted) if isinstance(value, str) else ""
    raise InputError(f"{name} is {value!r}; accepted are {' and '.join(repr(word) for word in accepted)}.{hint}")


def _unsupported(penalty: str, loss: str, dual: object) -> InputError:
    """Return what is wrong with a choice that neither liblinear nor lineal has a solver for."""
    return InputError(
        f"Unsupported set of arguments: penalty={penalty!r} and loss={loss!r} are not supported together with dual={dual!r}; "
        "leave dual at 'auto', or use loss='squared_hinge'."
    )


def _solver(dual: object, *, smooth: bool) -> str:
    """Return the solver that a choice between primal and dual asks for; a loss that is not smooth has no primal one."""
    if isinstance(dual, str) and dual == "auto":
        return "auto"
    if dual is True:
        return "dual-ascent"
    if dual is False and smooth:
        return "auto"  # whose choice is primal for smooth losses
    accepted = "'auto', True and False" if smooth else "'auto' and True"
    raise InputError(f"dual is {dual!r}; accepted with this loss are {accepted}.")
