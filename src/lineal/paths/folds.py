"""Judging penalties on rows their fit does not see: folds with warm-started paths, and leave-one-out for ridge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.algebra import lapack
from lineal.algebra.spectrum import eigen
from lineal.designs import Dense
from lineal.designs.design import Design
from lineal.ground.arrays import Array, Index
from lineal.ground.deadline import LATE, Deadline, in_time, shared
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.paths.point import Point
from lineal.paths.strengths import path
from lineal.penalties.penalty import Penalty
from lineal.problem.blas import alone
from lineal.problem.frame import FAR_MEAN_SDS
from lineal.problem.moments import survey
from lineal.solvers.solver import Solver
from lineal.sources.memory import Memory

Rule = Literal["best", "one-se"]

CHUNK_CELLS = 2**20
"""Numbers of the rows that leave-one-out works on at a time."""

Strengths = Callable[[float], Sequence[float]]
"""From the sum of weights of the rows that are fitted to the strengths on trial, strongest first."""


@dataclass(frozen=True)
class Trials:
    """What the folds found: coefficients ``(folds, points, columns, outputs)``, verdicts and steps ``(folds, points)``.

    ``reached`` is how many of the points, the strongest, every fold had time for; the others are not to be compared.
    ``centers`` is what each fold took off its columns first, mostly None.
    """

    coef: Array = field(repr=False)
    verdicts: list[list[Verdict]] = field(repr=False)
    steps: npt.NDArray[np.int32] = field(repr=False)
    reached: int
    centers: list[Array | None] = field(repr=False)


def trials(
    source: Memory,
    loss: Loss,
    families: Sequence[tuple[Penalty, Strengths]],
    seen: Sequence[Index],
    *,
    solver: Solver | str = "auto",
    tol: float = TOLERANCE,
    max_iter: int | None = None,
    deadline: Deadline | None = None,
    keep: bool = False,
) -> list[Trials]:
    """Fit penalties at their strengths to every fold: ``seen`` are the rows a fold is fitted to, twice there counting twice.

    Each fit starts where the one before ended, and the folds share the rows, of which those that are not seen have
    weight zero. Where one call solves a whole path, steps are not counted and stay zero. Penalties and folds share the time
    until the deadline. ``keep`` says that the caller asks for scores alone, so that a fold may keep a center.
    """
    given, tried = (solver, tol, max_iter, keep), list[Trials]()
    for penalty, strengths in families:
        share = shared(deadline, len(families) - len(tried))
        tried.append(_trials(source, loss, penalty, strengths, seen, given, share))
    return tried


def _trials(
    source: Memory, loss: Loss, penalty: Penalty, strengths: Strengths, seen: Sequence[Index],
    given: tuple[Solver | str, float, int | None, bool], deadline: Deadline | None,
) -> Trials:  # fmt: skip
    """Return the trials of one penalty."""
    block = source.block
    weight = block.weights
    folds: list[tuple[Sequence[Point], int, Array | None]] = []
    for rows in seen:
        part = weight * np.bincount(rows, minlength=block.n_rows)
        fold = Memory(block.design, block.y, part, block.offset, source.columns)
        share = shared(deadline, len(seen) - len(folds))
        grid = strengths(float(part.sum()))
        work = partial(_fold, fold, loss, penalty, grid, *given, share)
        folds.append(in_time(share, work, partial(_nothing, grid, (block.design.shape[1], loss.outputs))))
    return Trials(
        np.stack([[point.coef for point in points] for points, _, _ in folds]),
        [[point.verdict for point in points] for points, _, _ in folds],
        np.array([[point.steps for point in points] for points, _, _ in folds], dtype=np.int32),
        min((reached for _, reached, _ in folds), default=0),
        [center for _, _, center in folds],
    )


def _fold(
    fold: Memory, loss: Loss, penalty: Penalty, grid: Sequence[float], solver: Solver | str, tol: float, max_iter: int | None,
    keep: bool, deadline: Deadline | None,
) -> tuple[Sequence[Point], int, Array | None]:  # fmt: skip
    """Return the points of one fold, how many of them there was time for, and the center it took off."""
    moments = survey(fold, loss)
    walked = path(
        fold,
        loss,
        penalty,
        grid,
        solver=solver,
        tol=tol,
        max_iter=max_iter,
        time_limit=deadline,
        moments=moments,
        keep=keep,
    )
    return walked.points, walked.reached, walked.center


def _nothing(grid: Sequence[float], shape: tuple[int, int]) -> tuple[Sequence[Point], int, None]:
    """Return the points of a fold that there was no time for."""
    reason = f"{LATE}; nothing was fitted to this fold"
    late = Verdict("budget", f"Stopped without a proof: {reason}.", None, None, {}, reason)
    return [Point(strength, np.zeros(shape), math.nan, late) for strength in grid], 0, None


def pick(losses: Array, weight: Array | None = None, rule: Rule = "best") -> int:
    """Return the place of the point to take, given losses ``(points, folds)``, strongest penalty first.

    ``best`` has the least mean loss; ``one-se`` is the strongest whose mean is no more than one standard error of the
    mean above that. ``weight`` are the weights of the folds, equal unless given.

    >>> losses = np.array([[3.0, 3.2], [1.1, 1.3], [1.0, 1.2]])
    >>> pick(losses), pick(losses, rule="one-se")
    (2, 1)
    """
    mean = np.average(losses, axis=1, weights=weight)
    mean = np.where(np.isnan(mean), np.inf, mean)
    best = int(np.argmin(mean))
    if rule == "best" or losses.shape[1] < 2:
        return best
    share = np.full(losses.shape[1], 1.0 / losses.shape[1]) if weight is None else weight / np.sum(weight)
    # Weighted folds: the variance of sum share_k x_k, with the spread of x estimated with the same shares.
    spread = float(share @ (losses[best] - mean[best]) ** 2) / max(1.0 - float(share @ share), 1e-300)
    error = np.sqrt(spread * float(share @ share))
    return int(np.argmax(mean <= mean[best] + error))


def pick_of(losses: Sequence[Array], rule: Rule = "best") -> tuple[int, int]:
    """Return the places of the penalty and of its point to take, given the losses of every penalty, ``(points, folds)``.

    The least mean loss of each penalty decides among them; the rule then moves along its strengths.
    """
    means = [float(np.min(np.nan_to_num(np.mean(own, axis=1), nan=np.inf))) for own in losses]
    best = int(np.argmin(means))
    return best, pick(losses[best], rule=rule)


@alone
def leave_one_out(source: Memory, alphas: Sequence[float], deadline: Deadline | None = None) -> Array:
    """Return the exact errors ``y_i - prediction of the ridge fitted without row i``, shape ``(n, targets, alphas)``.

    The ridge is ``sum s (y - eta)^2 + alpha |b|^2``, the intercept (a first column called so) not penalized. With A its
    normal matrix and ``h_i = s_i x_i' A^-1 x_i``, the error is ``(y_i - eta_i) / (1 - h_i)``; no row is fitted twice.
    A row that alone determines a coefficient has no prediction, and the error NaN. LateError where the deadline leaves no
    time for the eigenvalues, or passes.
    """
    block, ones = source.block, int(source.columns[:1] == ("(intercept)",))
    y = block.y if block.offset is None else block.y - block.offset
    weight = block.weights
    total, mean, scatter, _ = block.design.moments(block.weight)
    mean, spread = mean[ones:] * ones, np.sqrt(scatter[ones:] / total)
    level = weight @ y / total if ones else np.zeros(y.shape[1])
    lever = weight / total if ones else np.zeros(len(y))
    few = np.count_nonzero(weight) <= len(mean)
    short = len(y) * len(mean) <= 2**13  # cheap enough to be factored anew for every alpha
    with np.errstate(divide="ignore", invalid="ignore"):
        if not few and not short and not np.any((np.abs(mean) > FAR_MEAN_SDS * spread) & (spread > 0.0)):
            return _by_columns(block.design, mean, y - level, weight, alphas, lever, deadline)
        x = _centred(block.design, ones, mean)  # or products of columns so far from zero would lose their digits
        if ones:
            x -= weight @ x / total  # the mean of such a column is rounded; what it left over is not
        # Rows of weight zero are predicted by all the others: 1 - h = 1.
        if short:
            return _by_triangle(x, y - level, weight, alphas, lever)
        if few:
            return _by_rows(x, y - level, weight, alphas, lever, deadline)
        return _by_columns(Dense(x), np.zeros(x.shape[1]), y - level, weight, alphas, lever, deadline)


def _by_columns(
    design: Design,
    mean: Array,
    y: Array,
    weight: Array,
    alphas: Sequence[float],
    lever: Array,
    deadline: Deadline | None,
) -> Array:
    """More rows than columns: the eigenvectors V of X'SX; ``lever`` is what the intercept has of h.

    X are the last columns of the design, as many as there are means, without these. Some rows of Z = XV are made at a time.
    """
    ones = design.shape[1] - len(mean)
    gram = design.gram(weight)[ones:, ones:] - weight.sum() * np.outer(mean, mean)
    values, vectors = eigen(gram, deadline)
    values = np.where(values > 1e-14 * max(float(values.max(initial=0.0)), 0.0), values, 0.0)
    turn = np.vstack([-(mean @ vectors)[None]] * ones + [vectors])
    right = turn.T @ design.transpose_times(weight[:, None] * y)
    inverse = np.stack([np.where(values + alpha > 0.0, 1.0 / (values + alpha), 0.0) for alpha in alphas], axis=1)
    coef = (right[:, :, None] * inverse[:, None, :]).reshape(len(mean), -1)
    errors, complement = np.empty((*y.shape, len(alphas))), np.empty((len(y), len(alphas)))
    height = max(1, CHUNK_CELLS // max(len(mean), 1))
    for start in range(0, len(y), height):
        _core.heed()
        rows = slice(start, min(start + height, len(y)))
        z = design.slice(rows.start, rows.stop).times(turn)
        errors[rows] = y[rows, :, None] - (z @ coef).reshape(errors[rows].shape)
        complement[rows] = 1.0 - lever[rows, None] - weight[rows, None] * ((z * z) @ inverse)
    return np.stack([_over(errors[:, :, k], complement[:, k]) for k in range(len(alphas))], axis=2)


def _by_triangle(x: Array, y: Array, weight: Array, alphas: Sequence[float], lever: Array) -> Array:
    """Short tables: ``[S^1/2 X; alpha^1/2 I] = QR`` for every alpha, which keeps the digits of columns in any units.

    Rows in falling order and columns by length keep those of weights of any size. h are the squared rows of Q.
    """
    n, p = x.shape
    root = np.sqrt(weight)
    errors = np.empty((*y.shape, len(alphas)))
    for k, alpha in enumerate(alphas):
        table = np.vstack([root[:, None] * x, np.sqrt(alpha) * np.eye(p)])
        order = np.argsort(-np.abs(table).max(axis=1, initial=0.0), kind="stable")
        q, triangle, columns = lapack.qr(table[order], mode="economic", pivoting=True)
        rows = np.empty_like(q)
        rows[order] = q
        right = rows[:n].T @ (root[:, None] * y)
        coef = np.empty((p, y.shape[1]))
        coef[columns] = lapack.solve_triangular(triangle, right) if p else right
        complement = 1.0 - lever - np.einsum("ij,ij->i", rows[:n], rows[:n])
        errors[:, :, k] = _over(y - x @ coef, np.where(weight > 0.0, complement, 1.0))
    return errors


def _by_rows(
    x: Array, y: Array, weight: Array, alphas: Sequence[float], lever: Array, deadline: Deadline | None
) -> Array:
    """More columns than rows: the eigenvectors of K = S^1/2 X X' S^1/2; errors are [G S^1/2 y]_i / (G_ii s_i^1/2).

    G = (K + alpha)^-1 without the direction w = S^1/2 1 of the intercept, which K is made to hold at its top, where it
    costs no digits to take away.
    """
    present = weight > 0.0
    root = np.sqrt(weight[present])
    rows = x if present.all() else x[present]
    rows *= root[:, None]  # in place: no deadline is checked while a whole table is copied
    kernel = _products(rows)
    top = float(np.trace(kernel)) or 1.0
    direction = np.sqrt(lever[present])
    kernel += top * np.outer(direction, direction)
    values, vectors = eigen(kernel, deadline)
    values = np.maximum(values, 0.0)
    target = vectors.T @ (root[:, None] * y[present])
    errors = np.empty((*y.shape, len(alphas)))
    for k, alpha in enumerate(alphas):
        _core.heed()
        inverse = np.where(values + alpha > 1e-14 * top, 1.0 / (values + alpha), 0.0)
        dual = vectors @ (inverse[:, None] * target)
        diagonal = (vectors**2) @ inverse - direction**2 / (top + alpha)
        errors[present, :, k] = _over(dual / root[:, None], diagonal)
        if not present.all():
            coef = rows.T @ dual
            errors[~present, :, k] = y[~present] - x[~present] @ coef
    return errors


def _centred(design: Design, ones: int, mean: Array) -> Array:
    """Return the columns after the first ``ones`` less their means, some rows at a time."""
    cells = np.empty((design.shape[0], len(mean)))
    height = max(1, CHUNK_CELLS // max(len(mean), 1))
    for start in range(0, len(cells), height):
        _core.heed()
        cells[start : start + height] = design.slice(start, min(start + height, len(cells))).dense()[:, ones:] - mean
    return cells


def _products(rows: Array) -> Array:
    """Return ``rows @ rows.T``, in tiles, so that a deadline is looked at in between: the same bits with one and without."""
    products = np.empty((len(rows), len(rows)))
    height = 512
    for start in range(0, len(rows), height):
        lower = slice(start, start + height)
        for other in range(0, start + 1, height):
            _core.heed()
            upper = slice(other, other + height)
            products[lower, upper] = rows[lower] @ rows[upper].T
            products[upper, lower] = products[lower, upper].T
    return products


def _over(residual: Array, complement: Array) -> Array:
    """Return residual / (1 - h), NaN where 1 - h is zero but for rounding."""
    safe = complement > 1e-12 * max(float(np.max(np.abs(complement), initial=0.0)), 1e-300)
    return np.where(safe[:, None], residual / np.where(safe, complement, 1.0)[:, None], np.nan)
