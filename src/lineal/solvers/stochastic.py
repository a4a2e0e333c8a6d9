"""Stochastic gradient descent and SAGA: steps from one row, or a few, at a time."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from lineal.designs.center import plain_columns
from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.penalties.penalty import Penalty
from lineal.problem.problem import Problem
from lineal.problem.standardized import Standardized
from lineal.solvers.learner import Frame, Learner, Saga, State, refuses
from lineal.solvers.presentation import Window, windows
from lineal.solvers.schedules import Schedule, checked, positive
from lineal.solvers.solver import NO_GOAL, Goal, Solver, Step
from lineal.solvers.stable_step import curvature_above, largest_row
from lineal.sources.source import Access, Block

NO_STRENGTH = "the schedule 'optimal' is 1 / (strength t), and there is no penalty"

GRAM_MAX_WORK = 2e9
"""Rows times columns squared up to which the curvature of F is looked at, about a second: steps of batches may be longer."""

MAX_DEVIATIONS = 4.0
"""Scales from zero that a column around it may reach, as a normal one's largest of 10,000 rows does. Marks of missing cells in
penguins (2 of 344 rows) reach 13: scaled so, saga needs ten times as many epochs."""


@dataclass(frozen=True)
class Stochastic(Solver):
    """``b <- prox(b - t g)``, g the gradient of ``batch`` rows (sgd), corrected by what all rows had last (saga).

    Rows come in an order drawn by a hash of (seed, epoch, row), the same for any partition; one Step is one epoch.
    ``step`` is the size of the first step, None for one found from the largest row; ``schedule`` says how it shrinks
    (``power`` is the exponent of invscaling). ``average`` averages the iterates of sgd, all of them or those after so
    many rows. ``patience`` epochs in a row that do not lower F by more than the share ``least`` of its fall so far divide
    an adaptive step by ``shrink``, down to a millionth, and end every other schedule (None: they end nothing). ``scaled``
    learns in scaled columns, those of plain matrices centred. ``epochs`` limits their number. ``strength`` is that of the
    schedule "optimal", None for the penalty's.
    """

    method: Literal["sgd", "saga"] = "sgd"
    batch: int = 1
    step: float | None = None
    schedule: str = "constant"
    average: bool | int = False
    seed: int = 0
    epochs: int | None = None
    power: float = 0.5
    patience: int | None = None
    least: float = 0.0
    shrink: float = 5.0
    scaled: bool = True
    shuffle: bool = True
    strength: float | None = None

    def __post_init__(self) -> None:
        if self.method not in ("sgd", "saga"):
            hint = near(str(self.method), ("sgd", "saga"))
            raise InputError(f"the method is {self.method!r}; accepted are sgd, saga.{hint}")
        if self.batch < 1:
            raise InputError(f"the batch is {self.batch}; it must be a whole number of at least 1.")
        positive("the step of a stochastic method", self.step)
        positive("the strength of a schedule", self.strength)
        if not (np.isfinite(self.shrink) and self.shrink > 1.0):
            raise InputError(f"the shrink of an adaptive step is {self.shrink}; it must be a number above one.")
        checked(self.schedule)
        if self.method == "saga" and (self.schedule != "constant" or self.average):
            raise InputError(
                "saga needs neither a schedule nor averaging: its step is constant and its noise vanishes."
            )

    needs: ClassVar[Access] = Access.ITERATE

    @classmethod
    def spellings(cls) -> Mapping[str, Mapping[str, Any]]:
        """Return saga, sgd, and sgd by several rows at a time; the latter two end where they no longer gain."""
        # 1000 epochs: sgd comes near an optimum, and rarely reaches it. Measured on penguins, iris, wine, breast cancer and
        # diabetes with ridge:0.001: halving after 10 epochs ends 2e-6 to 4e-4 from it, dividing by 5 after 5 up to 1e-3.
        ends = {"schedule": "adaptive", "patience": 10, "shrink": 2.0, "epochs": 1000}
        return {
            "saga": {"method": "saga"},
            "sgd": {"method": "sgd", **ends},
            "mini-batch": {"method": "sgd", "batch": 32, **ends},
        }

    @property
    def name(self) -> str:  # type: ignore[override]
        """The method, or that it takes several rows at a time."""
        return "mini-batch" if self.method == "sgd" and self.batch > 1 else self.method

    @property
    def _average(self) -> int | None:
        """After how many rows averaging begins."""
        if not self.average:
            return None
        return 0 if self.average is True else self.average

    @property
    def corners(self) -> bool:  # type: ignore[override]
        """Whether it treats losses with corners: sgd does."""
        return self.method == "sgd"

    def declines(self, problem: Problem) -> str | None:
        """Decline losses and penalties without a stochastic step, and schedules that a problem gives no numbers for."""
        if self.method == "saga" and self.step is None and not np.isfinite(problem.loss.curvature_bound):
            return f"the {problem.loss.name} loss bends without limit, so no step is safe; give one"
        if self.schedule == "optimal" and not self._strength(problem.penalty) > 0.0:
            return NO_STRENGTH
        return refuses(problem.loss, problem.penalty)

    def steps(self, problem: Problem, start: Array, goal: Goal = NO_GOAL) -> Generator[Step, None, str | None]:
        """Yield one step per epoch; return why it ended, if it did."""
        learner, frame = self._learner(problem, start)
        loss = problem.loss
        watch: _Watch | None = None
        tables: list[Array] = []
        duals: list[Array] = []
        epoch = 0
        while True:
            coef = learner.result
            value, estimate = _estimate(problem, coef, frame)
            if not loss.smooth:
                # Slopes of corners say nothing of the distance: ask now and then, after 4, 16, 64, ... epochs.
                estimate = 0.0 if epoch > 1 and 4 ** round(np.log2(epoch) / 2.0) == epoch else np.inf
            theta = np.concatenate(duals) if duals else None
            note = f"step size {learner.shrink * learner.schedule.at(learner.steps + 1):.3g}"
            yield Step(coef, value, estimate, problem.passes, note, theta=theta)
            if epoch == self.epochs:
                return f"the limit of {epoch} epochs was reached"
            if watch is None:
                watch = _Watch(self.patience or 5, self.least, value)
            elif watch.stuck(value):
                if self.schedule == "adaptive" and learner.shrink > 1e-6:
                    learner.shrink /= self.shrink
                elif self.patience is not None:
                    return (
                        f"the last {self.patience} epochs brought no more than {100.0 * self.least:.2g} % of all before"
                    )
            epoch += 1
            problem.source.pass_count.made += 1
            self._present(problem, learner, epoch, tables)
            if not loss.smooth:
                _mix(duals, tables, 2.0 / (epoch + 1.0))

    def _present(self, problem: Problem, learner: Learner, epoch: int, tables: list[Array]) -> None:
        keeps = self.method == "saga" or not problem.loss.smooth
        for number, rows in enumerate(windows(problem.source)):
            if keeps and number == len(tables):
                tables.append(np.zeros((rows.rows, problem.shape[1])))
            order = rows.order(self.seed, epoch, shuffle=self.shuffle)
            learner.learn(rows.segments, order, tables[number] if keeps else None)

    def _learner(self, problem: Problem, start: Array) -> tuple[Learner, Frame]:
        """Return what learns, and the scaled columns in which its progress is measured."""
        scaled = _frame(problem)
        frame = scaled if self.scaled else Frame(np.ones(problem.shape[0]))
        factor = problem.moments.rows / problem.moments.weight_sum
        needs_safe_step = self.step is None and (problem.loss.smooth or self.schedule != "optimal")
        safe = self._safe(problem, frame) if needs_safe_step else None
        strength = self._strength(problem.penalty, frame)
        learner = Learner(
            problem.loss,
            problem.penalty,
            self._schedule(strength, safe),
            frame,
            frame.inward(start),
            batch=self.batch,
            average=self._average,
            weight=factor,
            saga=Saga(np.zeros(problem.shape), problem.moments.rows) if self.method == "saga" else None,
        )
        return learner, scaled

    def _safe(self, problem: Problem, frame: Frame) -> float:
        """Return the largest step that is safe for every row, or for the mean of a batch: a pass over all of them."""
        bound = problem.loss.curvature_bound
        bend = bound if np.isfinite(bound) and problem.loss.smooth else 1.0
        factor = problem.moments.rows / problem.moments.weight_sum
        largest = factor * bend * max(largest_row(rows, frame) for rows in windows(problem.source))
        problem.source.pass_count.made += 1
        penalty_factor = float(np.max(frame.rate * problem.penalty.curvature(), initial=0.0))
        above = largest + penalty_factor
        if self.method == "saga":
            above *= 3.0
        elif self.batch > 1:
            above = self._expected(problem, frame, above)
        return float(1.0 / max(above, np.finfo(float).tiny))

    def _expected(self, problem: Problem, frame: Frame, by_row: float) -> float:
        """Return the expected smoothness of batches: between the curvature of F, of which large ones have most, and a row's.

        ``(1 - a) L + a L_row``, ``a = (N - B) / (B (N - 1))`` for B of N rows (Gower and others 2019).
        """
        rows, columns = problem.moments.rows, problem.shape[0]
        if rows * columns**2 > GRAM_MAX_WORK or not (problem.loss.smooth and np.isfinite(problem.loss.curvature_bound)):
            return by_row
        shift = np.zeros(columns) if frame.shift is None else frame.shift
        scaled = Standardized.of(problem, shift, 1.0 / np.sqrt(frame.rate)).problem
        # three digits: sums of other partitions differ in the last ones
        whole = min(by_row, float(f"{1.005 * curvature_above(scaled):.3g}"))
        batch = min(self.batch, rows)
        share = (rows - batch) / (batch * max(rows - 1, 1))
        return (1.0 - share) * whole + share * by_row

    def _strength(self, penalty: Penalty, frame: Frame | None = None) -> float:
        """Return how strongly the penalty bends F, at least, in the columns of a frame."""
        if self.strength is not None:
            return self.strength
        if self.scaled and frame is not None:
            least = float(np.min((frame.rate * penalty.curvature())[penalty.penalized], initial=np.inf))
            if 0.0 < least < np.inf:
                return least
        return penalty.strength

    def _schedule(self, strength: float, safe: float | None) -> Schedule:
        """Return the schedule; ``safe`` is the largest first step that is safe, None where none is known to be unsafe."""
        if self.schedule != "optimal":
            first = self.step if self.step is not None else safe
            assert first is not None
            return Schedule(self.schedule, first, self.power)
        # Bottou's guess of a first step: the size that a coefficient may have.
        first = self.step
        if first is None:
            first = strength**-0.25 if safe is None else min(strength**-0.25, safe)
        return Schedule("optimal", first, delay=1.0 / (strength * first))

    def learn(self, block: Block, loss: Loss, penalty: Penalty, state: State) -> State:
        """Learn the rows of a block in the order they come, each once; what it cost before is summed in the state.

        ``step`` must be given unless the schedule is "optimal": one look at a stream does not tell it.
        """
        refusal = refuses(loss, penalty)
        if self.method == "saga":
            refusal = "saga comes back to every row, and a stream is seen once"
        elif self.step is None and self.schedule != "optimal":
            refusal = "a stream does not tell how large a step may be; give one"
        elif self.scaled:
            refusal = "columns cannot be scaled before they are seen; use scaled=False"
        strength = self._strength(penalty)
        if self.schedule == "optimal" and not strength > 0.0:
            refusal = NO_STRENGTH
        if refusal is not None:
            raise InputError(f"the stream cannot be learned: {refusal}.")
        columns = len(state.coef)
        learner = Learner(
            loss,
            penalty,
            self._schedule(strength, None),
            Frame(np.ones(columns)),
            state.coef.copy(),
            batch=self.batch,
            average=self._average,
            steps=state.steps,
            averaged=state.averaged,
        )
        learner.sum = state.sum.copy()
        rows = Window([block])
        order = rows.order(0, 0, shuffle=False)
        losses = learner.learn(rows.segments, order)
        return state.after(learner, len(order), float(rows.weight.sum()), losses)


@dataclass
class _Watch:
    """Counts epochs in a row that brought no more than a share ``least`` of what all before them brought."""

    patience: int
    least: float
    top: float
    best: float = np.inf
    idle: int = 0

    def stuck(self, value: float) -> bool:
        """Whether ``patience`` epochs in a row have brought nothing; then counting starts again."""
        self.top = max(self.top, value)
        enough = self.least * (self.top - self.best) if np.isfinite(self.best) else 0.0
        self.idle = 0 if value < self.best - enough else self.idle + 1
        self.best = min(self.best, value)
        if self.idle < self.patience:
            return False
        self.idle = 0
        return True


def _frame(problem: Problem) -> Frame:
    """Return scaled columns, those in plain matrices centred: centring would fill the others.

    A column that few rows have is scaled less, or these rows alone would say how short all steps have to be.
    """
    moments = problem.moments
    centred = plain_columns(problem.source.head().design) & (problem.intercept and 0 in problem.unpenalized)
    centred[: int(problem.intercept)] = False
    shift = np.where(centred, moments.mean, 0.0)
    scale = np.sqrt(moments.sd**2 + (moments.mean - shift) ** 2)
    scale = np.where(scale > 1e-8 * moments.largest, scale, np.where(moments.largest > 0.0, moments.largest, 1.0))
    around_zero = np.abs(moments.mean) <= 0.25 * moments.sd  # as of marks that fewer than 6 % of the rows have
    scale = np.where(around_zero, np.maximum(scale, moments.largest / MAX_DEVIATIONS), scale)
    return Frame(1.0 / scale**2, shift if np.any(centred) else None)


def _estimate(problem: Problem, coef: Array, frame: Frame) -> tuple[float, float]:
    """Return F, and half the squared slack in scaled columns: a guess of the distance where the loss bends by one."""
    if not np.all(np.isfinite(coef)):
        return np.inf, np.inf
    evaluation = problem.evaluate(coef)
    if not problem.loss.smooth and problem.loss.native is None:
        return evaluation.value, np.inf  # the gradient of corners is of no use
    gradient = evaluation.gradient - problem.penalty.gradient(coef)
    if frame.shift is not None:
        gradient = gradient - frame.shift[:, None] * gradient[0]
    slack = problem.penalty.slack(coef, gradient)
    bend = problem.loss.curvature_bound if 0.0 < problem.loss.curvature_bound < np.inf else 1.0
    return evaluation.value, 0.5 * float(np.sum(frame.rate[:, None] * slack**2)) / bend


def _mix(duals: list[Array], tables: list[Array], share: float) -> None:
    """Average the slopes of the epochs, later ones counting more: a dual point for a loss with corners."""
    for number, table in enumerate(tables):
        if number == len(duals):
            duals.append(table.copy())
        else:
            duals[number] += share * (table - duals[number])
