"""What one pass learns of a dual point given row by row: its sums, and the point moved along V."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from lineal import _core
from lineal.certify import domain
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.problem.problem import Problem
from lineal.sources import rowwise
from lineal.sources.source import Block


@dataclass(frozen=True)
class Sums:
    """What one pass learns of a dual point: means over the rows."""

    gradient: Array
    size: Array
    mismatch: float = 0.0
    value: float = 0.0
    strain: float = 0.0
    apart: float = 0.0
    curvature_bound: float = 0.0
    metric: Array | None = None

    def __add__(self, other: Sums) -> Sums:
        metric = self.metric
        return Sums(
            gradient=self.gradient + other.gradient,
            size=self.size + other.size,
            mismatch=self.mismatch + other.mismatch,
            value=self.value + other.value,
            strain=self.strain + other.strain,
            apart=self.apart + other.apart,
            curvature_bound=max(self.curvature_bound, other.curvature_bound),
            metric=metric if metric is None or other.metric is None else metric + other.metric,
        )


def moved(problem: Problem, theta: Array, step: Array, limit: float) -> tuple[Array, bool]:
    """Return theta - V X step, cut short where it would leave the domain, and whether it was not."""
    move = rowwise.joined(domain.over(problem, partial(_moves, step)))
    largest = float(np.max(np.abs(move), initial=0.0))
    length = min(1.0, 0.9 * limit / largest) if largest > 0.0 else 1.0
    return np.concatenate(domain.over(problem, partial(_bent, problem.loss, length), theta, move)), length == 1.0


def _moves(step: Array, block: Block, weight: Array) -> Array:
    """Return X step of one block, zero for absent rows."""
    return np.where((weight > 0.0)[:, None], block.design.times(step), 0.0)


def _bent(loss: Loss, length: float, block: Block, weight: Array, theta: Array, move: Array) -> Array:
    """Return theta - length V move of one block."""
    y = np.where((weight > 0.0)[:, None], block.y, 0.0)
    metric = domain.metric(loss, y, theta)
    bent = metric * move if metric.ndim == 2 else np.einsum("nab,nb->na", metric, move)
    return np.where((weight > 0.0)[:, None], domain.put(loss, y, theta - length * bent), 0.0)


def sums_of(problem: Problem, coef: Array, tied: Mask, theta: Array) -> Sums:
    """Sum over all rows what a dual point shows."""
    columns = np.flatnonzero(tied.any(axis=1))
    alone = len(columns) == 1 and problem.intercept and columns[0] == 0
    work = partial(_of_block, problem.loss, coef, columns, alone)
    sums = problem.source.sum(domain.OfRows(work, problem.moments.weight_sum, (theta,)))
    return replace(sums, curvature_bound=sums.curvature_bound * problem.shape[1])


def _of_block(loss: Loss, coef: Array, columns: Index, alone: bool, block: Block, weight: Array, theta: Array) -> Sums:
    """Sum over one block; ``alone`` says that the columns are the intercept."""
    y, eta, _ = rowwise.Scored(coef)(block)
    slope = weight[:, None] * theta
    gradient = block.design.transpose_times(slope)
    if len(kinks := loss.kinks(y)) == 1:
        room = np.zeros_like(theta)
        mismatch, value, size, apart, strain, total, most = _core.ramp_sums(eta, *kinks[0], weight, theta, room)
        metric = np.full((1, 1, 1), total) if alone else _gram(loss, block, columns, weight, room, alone=False)
        return Sums(gradient, np.array([size]), mismatch, value, strain, apart, most, metric)
    present, rows, v = weight > 0.0, loss.mismatch(y, eta, theta), domain.metric(loss, y, theta)
    return Sums(
        gradient,
        np.abs(slope).sum(axis=0),
        mismatch=float(np.sum(weight[present] * rows[present])),
        value=float(np.sum(weight[present] * loss.value(y, eta)[present])),
        strain=float(np.sum((weight * domain.strain(loss, y, eta, theta, v, rows))[present])),
        apart=float(np.sum(weight[:, None] * np.abs(loss.slope(y, eta) - theta))),
        curvature_bound=float(np.max(np.abs(v[present]), initial=0.0)),
        metric=_gram(loss, block, columns, weight, v, alone=alone),
    )


def _gram(loss: Loss, block: Block, columns: Index, weight: Array, v: Array, *, alone: bool) -> Array | None:
    """Return X_U' S V X_U of a block, output-major where outputs are coupled; None where nothing is tied."""
    u, k = len(columns), loss.outputs
    if not u:
        return None

    def one(weights: Array) -> Array:
        if alone:
            return np.array([[np.sum(weights)]])
        return block.design.gram(np.ascontiguousarray(weights))[np.ix_(columns, columns)]

    if not loss.coupled:
        return one(weight * v[:, 0])[None]
    full = np.empty((k, u, k, u))
    for a in range(k):
        for b in range(a, k):
            full[a, :, b, :] = full[b, :, a, :] = one(weight * v[:, a, b])
    return full.reshape(1, k * u, k * u)


def slopes_apart(problem: Problem, coef: Array, theta: Array, score_error: float) -> float:
    """Return the mean |slope - theta| of a loss of one score, each at its largest for a score that may be off by an error."""
    return sum(domain.over(problem, partial(_apart, problem.loss, coef, score_error), theta))


def _apart(loss: Loss, coef: Array, score_error: float, block: Block, weight: Array, theta: Array) -> float:
    """Return the share of one block: slopes rise with the score, so that both ends hold all between them."""
    y, eta, _ = rowwise.Scored(coef)(block)
    ends = [np.abs(loss.slope(y, eta + side) - theta)[:, 0] for side in (-score_error, score_error)]
    return float(np.sum((weight * np.maximum(*ends))[weight > 0.0]))
