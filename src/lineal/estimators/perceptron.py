"""The perceptron with scikit-learn's interface, for two classes or several, with a verdict on separability."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from lineal.designs import as_design
from lineal.errors import InputError
from lineal.estimators.classification import Classifier, target_of
from lineal.estimators.descent import begin, one_of, seeded, unused
from lineal.estimators.intake import blame, features, features_and_target, weights
from lineal.estimators.labels import Codes, places, stream_classes
from lineal.estimators.parameters import count, flag, hints, number, only, until
from lineal.ground.arrays import Array
from lineal.losses import Perceptron as Criterion
from lineal.losses.loss import chosen
from lineal.model.model import Model
from lineal.model.trace import Trace
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty
from lineal.perceptron.halfspace import Judged, judge, progressive
from lineal.perceptron.perceptron import NO_LIMIT, TIES, VARIANTS, Plan, Run
from lineal.perceptron.perceptron import present as run_perceptron
from lineal.perceptron.step_log import StepLog
from lineal.sources.memory import Memory


@dataclass(eq=False, kw_only=True, repr=False)
class Perceptron(Classifier):
    """The perceptron: add a mistaken row to the weights of its class, subtract it from those of the class predicted.

    Two classes have one weight vector, ``w <- w + eta0 y x`` with y = +-1; several are updated jointly, not one against the
    rest. It stops at the first epoch without a mistake. After ``max_iter`` epochs the exact oracle is asked: it returns a
    separator if there is one, else a proof that there is none. scikit-learn's Perceptron with its parameters;
    ``docs/differences.md`` lists what differs.

    Parameters
    ----------
    variant : "plain"; "averaged", the mean of the weights over all presentations; "voted", every weight vector votes with
        the number of rows it survived; "pocket", of all weights held the first with the fewest training mistakes.
    tie : what a score of 0, or a shared best one, is: "positive" (the later class), "negative" (the earlier one), or
        "mistake" (always one in training, the earlier class in predictions).
    penalty, alpha, l1_ratio, early_stopping, validation_fraction : only their defaults.
    verbose, n_jobs : accepted for compatibility, without effect.
    fit_intercept : whether to add a feature that is always 1.
    max_iter : at most this many epochs.
    tol, n_iter_no_change : this many epochs in a row that each save at most ``tol`` mistakes per row end the run; None: never.
    shuffle : whether every epoch has an order of its own; False keeps that of the rows.
    eta0 : what an update is multiplied by; from a zero start it only changes the unit of the weights.
    random_state : the seed of the order; None is 0.
    warm_start : start from the weights of the fit before.
    oracle : whether to ask the exact oracle where no epoch was clean.
    bound : whether the verdict gives the maximum margin gamma and the bound R^2/gamma^2 = (RB)^2 on the mistakes.
    record : whether to keep every presentation in ``trace_`` (``trace_.to_frame()``).
    time_limit : seconds a fit may take; None for no limit but that of the oracle, 60.

    After ``fit``: ``verdict_`` ("separated", "not_separable" or "budget"), ``mistakes_``, ``n_iter_``, and ``trace_``: the
    epochs, or with ``record`` every presentation. ``model_`` is the same fit as a lineal Model (not of a voted one).

    >>> import numpy as np
    >>> model = Perceptron(bound=True).fit(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 0, 0, 1])
    >>> model.verdict_.kind, model.predict([[1.0, 1.0]]).tolist(), model.verdict_.evidence["within_bound"]
    ('separated', [1], True)
    """

    _keeps_single: ClassVar[bool] = False

    variant: str = "plain"
    tie: str = "mistake"
    penalty: None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    max_iter: int = 100
    tol: float | None = None
    shuffle: bool = True
    verbose: int = 0
    eta0: float = 1.0
    n_jobs: int | None = None
    random_state: Any = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    warm_start: bool = False
    oracle: bool = True
    bound: bool = False
    record: bool = False
    time_limit: float | None = None
    trace_: Trace | StepLog = field(init=False)  # type: ignore[assignment]

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X and labels y; ``coef_init`` and ``intercept_init`` say where to begin.

        ``sample_weight`` must be whole numbers: a row of weight 3 is presented three times in a row, one of weight 0 never.
        """
        plan = self._plan()
        X, labels, codes, weight = self._labelled(X, y, sample_weight, None)
        start = self._start(labels, coef_init, intercept_init)
        source = self._rows(X, codes, weight)
        run = run_perceptron(source, _outputs(labels), plan, start)
        if not math.isfinite(run.radius) or run.overflowed:
            blame(X)
        judged = judge(
            source,
            run,
            plan,
            oracle=flag("oracle", self.oracle),
            bound=flag("bound", self.bound),
            zero=not np.any(start),
            deadline=plan.deadline,
        )
        self._keep(labels, run, judged, source)
        self.rows_seen_, self.mistakes_ = 0, run.mistakes
        return self

    def _streams(self) -> bool:
        """Whether rows can be learned as they come."""
        if self.variant not in ("plain", "averaged"):
            raise AttributeError(
                f"partial_fit needs variant='plain' or 'averaged': {self.variant!r} looks at all rows."
            )
        return True

    @available_if(_streams)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None,
        *, coef_init: Any = None, intercept_init: Any = None,
    ) -> Self:  # fmt: skip
        """Present some rows once, in their order, continuing from what was learned before.

        ``classes`` lists every class of the stream and is needed in the first call, which also takes where to begin.
        ``verdict_`` is "progressive": it counts the rows that were mistaken when they came.
        """
        plan = self._plan(epochs=1)
        first = "coef_" not in self.__dict__
        X, y, labels = self._more(X, y, classes, first=first)
        if not first and not (coef_init is None and intercept_init is None):
            raise InputError(
                "coef_init and intercept_init say where a stream begins, and it has begun; leave them out."
            )
        codes = places(labels, y)
        start = self._start(labels, coef_init, intercept_init) if first else self._last
        source = self._rows(X, codes, weights(sample_weight, X))
        run = run_perceptron(source, _outputs(labels), plan, start)
        rows = self.__dict__.get("rows_seen_", 0) if not first else 0
        made = self.mistakes_ if rows else 0
        if run.average is not None and rows:
            share = run.presented / (rows + run.presented)
            run.average = share * run.average + (1.0 - share) * self._stacked()[0 if self.fit_intercept else 1 :]
        self.mistakes_, self.rows_seen_ = made + run.mistakes, rows + run.presented
        self._keep(labels, run, Judged(run.kept, progressive(self.mistakes_, self.rows_seen_)), source)
        return self

    def decision_function(self, X: Any) -> Array:  # type: ignore[override]
        """Return the score of the second class, or of every class; of a voted perceptron the votes."""
        eta = self._votes(X) if self.variant == "voted" else self._scores(X, None)
        return eta[:, 0] if eta.shape[1] == 1 else eta

    def predict(self, X: Any) -> npt.NDArray[Any]:  # type: ignore[override]
        """Return the class of every row; a tie goes where ``tie`` says."""
        score = self.decision_function(X)
        return np.asarray(self.classes_[chosen(score.reshape(len(score), -1), upward=self.tie == "positive")])

    def _votes(self, X: Any) -> Array:
        self._ready()
        X = features(self, X)
        blame(X)
        return self.voters_.tally(as_design(X, intercept=bool(self.fit_intercept)))

    def _more(self, X: Any, y: Any, classes: Any, *, first: bool) -> tuple[Any, Any, npt.NDArray[Any]]:
        """Return rows of a stream, checked against those before, and its classes."""
        before = None if first else self.classes_
        if first and classes is None:
            stream_classes(None, before)  # refused before the rows are looked at
        expected = None if first else self.n_features_in_
        X, y = features_and_target(self, X, y, numeric=False)
        blame(X)
        if expected is not None and X.shape[1] != expected:
            self.n_features_in_ = expected
            raise InputError(f"X has {X.shape[1]} features, but Perceptron is expecting {expected} features as input.")
        return X, y, stream_classes(classes, before)

    def _rows(self, X: Any, codes: Codes, weight: Array | None) -> Memory:
        intercept = flag("fit_intercept", self.fit_intercept)
        return self._source(X, codes.astype(np.float64)[:, None], weight, None, outputs=1, intercept=intercept)[0]

    def _keep(self, labels: npt.NDArray[Any], run: Run, judged: Judged, source: Memory) -> None:
        """Note a run and the verdict on it."""
        self.classes_ = labels
        self._spread(judged.coef, intercept=bool(self.fit_intercept))
        self._last = run.coef
        self.n_iter_ = run.epochs
        self.verdict_ = judged.verdict
        self.solver_ = f"perceptron: {self.variant}"
        self.trace_ = run.trace if run.ledger is None else run.ledger
        self.__dict__.pop("model_", None)
        if run.voters is not None:
            self.voters_ = run.voters
        else:
            self.model_ = _model(judged.coef, source, judged.verdict, labels, self.tie, self.variant)

    def _start(self, labels: npt.NDArray[Any], coef: Any, intercept: Any) -> Array | None:
        """Return where the run begins, (columns, outputs), or None for zero."""
        ones = bool(self.fit_intercept)
        if intercept is not None and not ones:
            raise InputError("intercept_init has no effect with fit_intercept=False; leave it out.")
        start = begin(coef, intercept, (_outputs(labels), self.n_features_in_), intercept=ones)
        if start is not None and not np.all(np.isfinite(start)):
            raise InputError("coef_init or intercept_init holds NaN or infinity; weights must be finite numbers.")
        if start is None and flag("warm_start", self.warm_start) and "coef_" in self.__dict__:
            if not np.array_equal(labels, self.classes_):
                raise InputError(
                    f"warm_start continues a fit with the classes {self.classes_.tolist()}; y has {labels.tolist()}."
                )
            return self._before(_outputs(labels), intercept=ones)
        return start

    def _plan(self, epochs: int | None = None) -> Plan:
        """Refuse what we do not honour, and return what remains; ``epochs`` are those of a stream, in its own order."""
        variant, tie = one_of("variant", self.variant, VARIANTS), one_of("tie", self.tie, tuple(TIES))
        why = "the perceptron minimises nothing that a penalty could be added to; use SGDClassifier for that"
        only(None, why, penalty=self.penalty)
        only(0.0001, why, alpha=self.alpha)
        only(0.15, why, l1_ratio=self.l1_ratio)
        hints(verbose=self.verbose, n_jobs=self.n_jobs)
        only(
            False,
            "it ends with the first clean epoch, and validation belongs outside",
            early_stopping=self.early_stopping,
        )
        only(0.1, "early_stopping is not here", validation_fraction=self.validation_fraction)
        if self.tol is None:
            unused("n_iter_no_change", self.n_iter_no_change, (5,), "tol is None")
        patience, most = count("n_iter_no_change", self.n_iter_no_change), count("max_iter", self.max_iter)
        for name, value in (("n_iter_no_change", patience), ("max_iter", most)):
            if not value:
                raise InputError(f"{name} is {getattr(self, name)!r}; it must be a whole number of at least 1.")
        shuffle = flag("shuffle", self.shuffle) and epochs is None
        return Plan(
            tie=tie,  # type: ignore[arg-type]
            variant=variant,  # type: ignore[arg-type]
            epochs=most or 1 if epochs is None else epochs,
            rate=number("eta0", self.eta0, above=0.0),
            seed=seeded(self.random_state) if shuffle else None,
            tol=None if self.tol is None else number("tol", self.tol),
            patience=patience or 1,
            record=NO_LIMIT if flag("record", self.record) else 0,
            deadline=until("time_limit", self.time_limit) if epochs is None else None,
        )


def _outputs(labels: npt.NDArray[Any]) -> int:
    return 1 if len(labels) == 2 else len(labels)


def _model(coef: Array, source: Memory, verdict: Verdict, labels: npt.NDArray[Any], tie: str, variant: str) -> Model:
    """Return the fit as a Model that can be saved and verified."""
    weight, n = source.block.weight, source.block.n_rows
    rows, weight_sum = (n, n) if weight is None else (int(np.count_nonzero(weight)), weight.sum())
    return Model.of_rows(
        rows,
        float(weight_sum),
        coef=coef,
        columns=source.columns,
        loss=Criterion(coef.shape[1], float(TIES[tie])),
        penalty=NoPenalty(len(coef)),
        target=target_of(labels),
        verdict=verdict,
        solver="perceptron",
        reason=variant,
    )
