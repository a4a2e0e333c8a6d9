"""What a stochastic method carries from row to row: coefficients, their average, the step it is at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.verdict import Verdict
from lineal.penalties.penalty import Penalty
from lineal.solvers.presentation import Order, Segment
from lineal.solvers.schedules import Schedule


@dataclass(frozen=True)
class Frame:
    """The columns a learner sees, ``(x_j - shift_j) / scale_j``, as a step ``rate_j = 1 / scale_j^2`` for each of them."""

    rate: Array
    shift: Array | None = None

    def inward(self, coef: Array) -> Array:
        """Return coefficients on the shifted columns."""
        inner = np.array(coef, dtype=np.float64, order="C")
        if self.shift is not None:
            inner[0] += self.shift @ inner
        return inner

    def outward(self, coef: Array) -> Array:
        """Return coefficients on the columns as they are."""
        outer = coef.copy()
        if self.shift is not None:
            outer[0] -= self.shift @ outer
        return outer


@dataclass
class Saga:
    """The mean of all rows' last gradients, and how many rows there are."""

    mean_gradient: Array
    total: int


@dataclass
class Learner:
    """Learns rows one after another: ``b_j <- soft(b_j - eta g_j, eta linear_j) / (1 + eta square_j)``.

    ``average`` is the number of rows after which iterates are averaged, or None; ``weight`` multiplies row weights.
    """

    loss: Loss
    penalty: Penalty
    schedule: Schedule
    frame: Frame
    coef: Array
    batch: int = 1
    average: int | None = None
    weight: float = 1.0
    saga: Saga | None = None
    shrink: float = 1.0
    steps: int = 0
    averaged: int = 0
    sum: Array = field(init=False)
    linear: Array = field(init=False)
    square: Array = field(init=False)

    def __post_init__(self) -> None:
        self.sum = np.zeros_like(self.coef)
        self.square = np.ascontiguousarray(self.penalty.curvature())
        self.linear = np.ascontiguousarray(self.penalty.linear)

    def learn(self, segments: list[Segment], order: Order, table: Array | None = None) -> float:
        """Learn rows in the given order; return the sum of their losses, each before it was learned.

        ``table`` keeps the last slope of each row.
        """
        name, parameter = _kernel(self.loss)
        at, losses = 0, 0.0
        while at < len(order):
            count = self._stretch()
            part = order[at : at + count * self.batch]
            averages = self._averages
            losses += _core.epoch(
                segments,
                np.ascontiguousarray(part),
                name,
                parameter,
                self.coef,
                self.frame.rate,
                self.frame.shift,
                self.linear,
                self.square,
                self.shrink * self.schedule.at(self.steps + 1),
                weight=self.weight,
                batch=self.batch,
                sum=self.sum if averages else None,
                table=table,
                mean_gradient=None if self.saga is None else self.saga.mean_gradient,
                total=1.0 if self.saga is None else float(self.saga.total),
            )
            taken = -(-len(part) // self.batch)
            self.steps += taken
            self.averaged += taken if averages else 0
            at += len(part)
        return losses

    @property
    def _averages(self) -> bool:
        return self.average is not None and self.steps * self.batch >= self.average

    def _stretch(self) -> int:
        """Return the number of steps in which only the coefficients change, at most 4096 rows or an eighth of the columns.

        Between them Ctrl-C is answered.
        """
        count = max(1, max(4096, len(self.coef) // 8) // self.batch)
        if (lasts := self.schedule.lasts(self.steps + 1)) is not None:
            count = min(count, lasts)
        if self.average is not None and not self._averages:
            count = min(count, -(-(self.average - self.steps * self.batch) // self.batch))
        return count

    @property
    def result(self) -> Array:
        """The averaged coefficients, where averaging has begun, else the last ones; on the columns as they are."""
        return self.frame.outward(self.sum / self.averaged if self.averaged else self.coef)


@dataclass(frozen=True)
class State:
    """Where learning from a stream stands: what the next rows continue from, and how well the last ones were foretold."""

    coef: Array
    sum: Array
    steps: int = 0
    averaged: int = 0
    rows: int = 0
    weight_sum: float = 0.0
    loss_sum: float = 0.0

    @staticmethod
    def at(coef: Array) -> State:
        """Return the state before the first row."""
        start = np.array(coef, dtype=np.float64, order="C")
        return State(start, np.zeros_like(start))

    @property
    def result(self) -> Array:
        """The averaged coefficients, where averaging has begun, else the last ones."""
        return self.sum / self.averaged if self.averaged else self.coef

    def after(self, learner: Learner, rows: int, weight_sum: float, loss_sum: float) -> State:
        """Return the state after more rows."""
        return replace(
            self,
            coef=learner.coef,
            sum=learner.sum,
            steps=learner.steps,
            averaged=learner.averaged,
            rows=self.rows + rows,
            weight_sum=self.weight_sum + weight_sum,
            loss_sum=self.loss_sum + loss_sum,
        )

    def verdict(self) -> Verdict:
        """Return what is known about a stream: the loss of each row before it was learned, summed."""
        mean = self.loss_sum / self.weight_sum if self.weight_sum > 0.0 else 0.0
        evidence: dict[str, object] = {
            "rows": self.rows,
            "weight_sum": self.weight_sum,
            "loss_sum": self.loss_sum,
            "mean": mean,
        }
        rows = "1 row was" if self.rows == 1 else f"{self.rows:,} rows were"
        sentence = (
            f"Progressive: {rows} learned one after another; before it was learned, a row cost {mean:.4g} on average."
        )
        reason = "rows that are seen once have no optimum to compare with"
        return Verdict("progressive", sentence, None, None, evidence, reason)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state as arrays of a model."""
        numbers = [self.steps, self.averaged, self.rows, self.weight_sum, self.loss_sum]
        return {"iterate": self.coef, "iterate_sum": self.sum, "progress": np.array(numbers, dtype=np.float64)}

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Return the state that the arrays of a model hold."""
        if not {"iterate", "iterate_sum", "progress"} <= set(arrays):
            raise InputError("this model was not learned from a stream, so there is nothing to continue; fit it again.")
        steps, averaged, rows, weight_sum, loss_sum = (float(number) for number in arrays["progress"])
        coef = np.array(arrays["iterate"], dtype=np.float64, order="C")
        total = np.array(arrays["iterate_sum"], dtype=np.float64, order="C")
        return cls(coef, total, int(steps), int(averaged), int(rows), weight_sum, loss_sum)


def refuses(loss: Loss, penalty: Penalty) -> str | None:
    """Return why no stochastic step is known for a loss or a penalty, in words."""
    if loss.row_kernel is None:
        return f"no stochastic step is compiled for the {loss.name} loss"
    if penalty.bounds is not None or penalty.costs(loss.outputs) is None:
        return f"no stochastic step is known for the penalty {penalty.name!r}, only for none, ridge, l1 and elastic net"
    return None


def _kernel(loss: Loss) -> tuple[str, float]:
    """Return the name and the one number by which the compiled epochs know a loss."""
    assert loss.row_kernel is not None
    return loss.row_kernel, next(iter(loss.parameters().values()), 0.0)
