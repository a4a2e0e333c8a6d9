"""What SGDClassifier and SGDRegressor share: their parameters, fits in epochs, streams that are seen once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lineal.errors import InputError, near
from lineal.estimators.fitted import Fitted, model_of
from lineal.estimators.intake import blame, features
from lineal.estimators.parameters import count, flag, hints, number, only, until
from lineal.estimators.penalty_maker import penalty_maker
from lineal.fitting import fitting
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import shared
from lineal.ground.inputs import targets
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.trace import Trace
from lineal.model.verdict import worst
from lineal.penalties.penalty import Penalty
from lineal.solvers.learner import State
from lineal.solvers.stochastic import Stochastic
from lineal.sources.source import Block

OTHER_LOSSES: Final = {
    "perceptron": "use Perceptron, which ends with a verdict on separability",
    "modified_huber": "it has no loss of its own here; use 'squared_hinge', or 'log_loss' for probabilities",
    "pa1": "passive-aggressive steps are not here yet",
    "pa2": "passive-aggressive steps are not here yet",
}
"""What scikit-learn has and we do not, with the reason."""

HALVED_LOSSES: Final = ("squared_hinge", "squared_epsilon_insensitive")
"""Losses that scikit-learn writes without the factor 1/2."""


@dataclass(frozen=True)
class Plan:
    """The parameters of an estimator as lineal understands them.

    scikit-learn's squared hinge and squared epsilon-insensitive losses are twice ours: ``factor`` halves alpha and
    doubles the steps, which leaves every iterate where it is.
    """

    loss: Loss
    solver: Stochastic
    alpha: float
    factor: float
    l1_ratio: float
    intercept: bool
    tol: float

    def penalty(self, penalty_factors: Array) -> Penalty:
        """Return the penalty on penalized columns."""
        return penalty_maker(lambda _: self.alpha / self.factor, self.l1_ratio)(1.0, penalty_factors)


@dataclass(eq=False, kw_only=True, repr=False)
class Descent(Fitted):
    """An estimator that descends from row to row; one member for each problem it solves."""

    _keeps_single: ClassVar[bool] = False

    loss: str
    penalty: str | None = "l2"
    alpha: float = 0.0001
    l1_ratio: float | None = 0.15
    fit_intercept: bool = True
    max_iter: int | None = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    verbose: int = 0
    epsilon: float = 0.1
    n_jobs: int | None = None
    random_state: Any = None
    learning_rate: str = "optimal"
    eta0: float = 0.01
    power_t: float = 0.5
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    warm_start: bool = False
    average: bool | int = False
    time_limit: float | None = None

    def _plan(self, loss: Loss, *, uses_epsilon: bool) -> Plan:
        """Refuse what we do not honour, and return what remains."""
        penalty = one_of("penalty", self.penalty, ("l2", "l1", "elasticnet", None))
        alpha = number("alpha", self.alpha)
        l1_ratio = 0.0 if self.l1_ratio is None else number("l1_ratio", self.l1_ratio, most=1.0)
        if penalty != "elasticnet":
            unused("l1_ratio", self.l1_ratio, (0.15, None), "penalty is not 'elasticnet'")
        elif self.l1_ratio is None:
            raise InputError("l1_ratio is None; penalty='elasticnet' needs a number between 0 and 1.")
        if not uses_epsilon:
            unused("epsilon", self.epsilon, (0.1,), f"the loss is {self.loss!r}")
        hints(verbose=self.verbose)
        only(
            False, "every fit stops by its own gap, and validation belongs outside", early_stopping=self.early_stopping
        )
        only(0.1, "early_stopping is not here", validation_fraction=self.validation_fraction)
        factor = 2.0 if self.loss in HALVED_LOSSES else 1.0
        return Plan(
            loss,
            self._solver(alpha, factor),
            0.0 if penalty is None else alpha,
            factor,
            {"l1": 1.0, "elasticnet": l1_ratio}.get(str(penalty), 0.0),
            flag("fit_intercept", self.fit_intercept),
            0.0 if self.tol is None else number("tol", self.tol),
        )

    def _solver(self, alpha: float, factor: float) -> Stochastic:
        schedule = str(one_of("learning_rate", self.learning_rate, ("optimal", "constant", "invscaling", "adaptive")))
        step = number("eta0", self.eta0, above=0.0)
        if schedule == "optimal":
            unused("eta0", step, (0.01,), "learning_rate is 'optimal'")
            if alpha == 0.0:
                raise InputError(
                    "alpha is 0, and learning_rate='optimal' is 1 / (alpha t); choose another learning_rate."
                )
        if schedule != "invscaling":
            unused("power_t", self.power_t, (type(self).power_t,), "learning_rate is not 'invscaling'")
        patience = count("n_iter_no_change", self.n_iter_no_change) or 0
        if patience < 1:
            raise InputError(f"n_iter_no_change is {self.n_iter_no_change!r}; it must be a whole number of at least 1.")
        average = self.average if isinstance(self.average, bool) else count("average", self.average)
        return Stochastic(
            "sgd",
            step=None if schedule == "optimal" else factor * step,
            schedule=schedule,
            average=average or False,
            seed=seeded(self.random_state),
            power=number("power_t", self.power_t),
            patience=None if self.tol is None else patience,
            least=0.0 if self.tol is None else number("tol", self.tol),
            scaled=False,
            shuffle=flag("shuffle", self.shuffle),
            strength=alpha / factor if schedule == "optimal" else None,
        )

    def _whole(
        self,
        plan: Plan,
        X: Any,
        members: Sequence[Array],
        weight: Array | None,
        offset: Any,
        init: Array | None,
        target: Target,
    ) -> Array:
        """Fit every member to all rows, in epochs; note all but the coefficients, and return those."""
        outputs = len(members)
        rows, penalty_factors = self._source(X, members[0], weight, offset, outputs=outputs, intercept=plan.intercept)
        shift = rows.block.offset
        most, deadline = count("max_iter", self.max_iter), until("time_limit", self.time_limit)
        if flag("warm_start", self.warm_start) and init is None:
            init = self._before(outputs, intercept=plan.intercept)
        fits: list[Fit] = []
        for k, y in enumerate(members):
            own = None if shift is None else np.ascontiguousarray(shift[:, k : k + 1])
            source = type(rows)(rows.block.design, y, weight, own, rows.columns)
            if not fits:
                self._look(source, plan.loss, deadline)
            start = None if init is None else init[:, k : k + 1]
            solver = replace(plan.solver, seed=plan.solver.seed + k)
            result = fitting.fit(
                source, plan.loss, plan.penalty(penalty_factors), solver=solver, start=start, tol=plan.tol, max_iter=most,
                time_limit=shared(deadline, outputs - k),
            )  # fmt: skip
            fits.append(result)
        self.n_iter_ = max(len(result.trace) - 1 for result in fits)
        self.t_ = 1.0 + self.n_iter_ * float(fits[0].problem.moments.rows)
        self._states: list[State] = []
        place = self._judge([model_of(result, target, plan.tol) for result in fits])
        self.objective_ = sum(result.objective for result in fits)
        self.trace_ = fits[place].trace
        return np.hstack([result.coef for result in fits])

    def _judge(self, models: list[Model]) -> int:
        """Note all members, and the worst of them as the one to judge by."""
        self.models_ = models
        self.verdicts_ = [model.verdict for model in models]
        place = worst(self.verdicts_)
        self.verdict_, self.model_ = self.verdicts_[place], models[place]
        self.solver_ = f"{self.model_.solver}: {self.model_.reason}"
        return place

    def _stream(self, plan: Plan, X: Any, members: Sequence[Array], weight: Array | None, target: Target) -> Array:
        """Learn every row once with every member, and return the coefficients."""
        rows, penalty_factors = self._source(X, members[0], weight, None, outputs=1, intercept=plan.intercept)
        block, penalty = rows.block, plan.penalty(penalty_factors)
        if "coef_" not in self.__dict__:
            self._states = [State.at(np.zeros((len(penalty_factors), 1))) for _ in members]
        elif not self._states:
            # After a fit the steps go on from where its epochs ended.
            before = self._stacked()[0 if plan.intercept else 1 :]
            taken = int(self.t_) - 1
            self._states = [
                replace(State.at(before[:, k : k + 1]), steps=taken, averaged=taken, sum=taken * before[:, k : k + 1])
                if plan.solver.average
                else replace(State.at(before[:, k : k + 1]), steps=taken)
                for k in range(len(members))
            ]
        with np.errstate(over="ignore", invalid="ignore"):
            self._states = [
                plan.solver.learn(Block(block.design, y, block.weight), plan.loss, penalty, state)
                for y, state in zip(members, self._states, strict=True)
            ]
        self.n_iter_, self.t_ = 1, 1.0 + self._states[0].steps
        self.trace_ = Trace()
        self.objective_ = sum(state.loss_sum for state in self._states)
        self._judge([_model(state, rows.columns, plan, penalty, target) for state in self._states])
        return np.hstack([state.result for state in self._states])

    def _more(self, X: Any, y: Any) -> tuple[Any, npt.NDArray[Any]]:
        """Return further rows of a stream, with the features of the first."""
        X = features(self, X)
        blame(X)
        y = column_or_1d(targets(y), warn=True)
        check_consistent_length(X, y)
        return X, y


def _model(state: State, columns: tuple[str, ...], plan: Plan, penalty: Penalty, target: Target) -> Model:
    """Return a stream's state as a model that can be saved, and continued."""
    return Model.of_rows(
        state.rows,
        state.weight_sum,
        coef=state.result,
        columns=columns,
        loss=plan.loss,
        penalty=penalty,
        target=target,
        verdict=state.verdict(),
        solver="sgd",
        reason="asked for",
        tol=plan.tol,
        arrays=state.arrays(),
    )


def begin(coef: Any, constant: Any, shape: tuple[int, int], *, intercept: bool) -> Array | None:
    """Return coefficients to begin with, (columns, outputs), or None."""
    if coef is None and constant is None:
        return None
    slopes = np.zeros(shape) if coef is None else np.asarray(coef, dtype=np.float64)
    offsets = np.zeros(shape[0]) if constant is None else np.asarray(constant, dtype=np.float64)
    if slopes.size != shape[0] * shape[1] or offsets.size != shape[0]:
        raise InputError(
            f"coef_init and intercept_init have shapes {slopes.shape} and {offsets.shape}; they must be {shape} and {shape[:1]}."
        )
    stacked = np.vstack([offsets.reshape(1, -1), slopes.reshape(shape).T])
    return np.ascontiguousarray(stacked if intercept else stacked[1:])


def one_of(name: str, value: object, accepted: tuple[str | None, ...]) -> str | None:
    """Return a parameter that must be one of some words."""
    if (value is None or isinstance(value, str)) and value in accepted:
        return value
    words = ", ".join(repr(word) for word in accepted)
    if isinstance(value, str) and value in OTHER_LOSSES:
        raise InputError(f"{name} is {value!r}; accepted are {words}: {OTHER_LOSSES[value]}.")
    hint = near(value, [word for word in accepted if word]) if isinstance(value, str) else ""
    raise InputError(f"{name} is {value!r}; accepted are {words}.{hint}")


def unused(name: str, value: object, defaults: tuple[object, ...], why: str) -> None:
    """Refuse a parameter that was given and has no effect."""
    if value not in defaults:
        raise InputError(f"{name} is {value!r}, but it has no effect: {why}. Leave it out.")


def seeded(random_state: object) -> int:
    """Return the seed of the order of rows."""
    hints(random_state=random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return 0 if random_state is None else int(random_state)  # type: ignore[call-overload]
