"""Dual points of one score at the border of their domain: rows that no move changes, and what they leave to be made zero."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from lineal.algebra.basis import Basis
from lineal.algebra.doubled import two_product
from lineal.certify import domain
from lineal.designs.design import columns_of
from lineal.ground.arrays import Array, Index, Mask
from lineal.losses.loss import Loss
from lineal.problem.dependence import Vanish
from lineal.problem.problem import Problem
from lineal.sources.source import Block


def alive(problem: Problem, tied: Mask, theta: Array) -> Mask:
    """Return coefficients whose gradients have to be made zero for all tied ones to be, ``(columns, 1)``.

    A row where the dual point is zero, at an end of its domain, is as good as absent: it stays so however it is moved. A column
    counts as a combination of others if it is one, exactly, in all other rows. Columns whose rows are all at an end
    cannot be moved, but may be balanced as they are.
    """
    size = problem.shape[0]
    kept, total = tied.copy(), problem.moments.weight_sum
    sums = problem.source.sum(domain.OfRows(partial(_rooms, problem.loss), total, (theta,)))
    gram, room = sums[:size], sums[size]
    # columns whose squares underflow are not looked at
    stuck = np.flatnonzero(tied[:, 0] & (room == 0.0) & (problem.moments.largest > 1e-100))
    kept[stuck[_balanced(problem, stuck, theta)]] = False
    basis = Basis.plain(gram, np.flatnonzero(kept[:, 0]), problem.source.columns)
    if basis is None:
        return kept
    counted = domain.OfRows(partial(_counted, problem.loss), total, (theta,))
    kept[basis.dependent] = problem.source.map(counted).sum(Vanish(basis.null_space)).value > 0.0
    return kept


def _counted(loss: Loss, block: Block, weight: Array, theta: Array) -> Block:
    """Return the block with weight 1 for the rows that count, else 0."""
    v = domain.metric(loss, np.where((weight > 0.0)[:, None], block.y, 0.0), theta)[:, 0]
    return replace(block, weight=((weight > 0.0) & ((theta[:, 0] != 0.0) | (v > 0.0))).astype(np.float64))


def _rooms(loss: Loss, block: Block, weight: Array, theta: Array) -> Array:
    """Return the gram of the rows that count, and below it the diagonal of ``X' V X``."""
    v = domain.metric(loss, np.where((weight > 0.0)[:, None], block.y, 0.0), theta)[:, 0]
    gram = block.design.gram(_counted(loss, block, weight, theta).weights)
    room = np.diagonal(block.design.gram(np.where(weight > 0.0, v, 0.0)))
    return np.vstack([gram, room])


def _balanced(problem: Problem, columns: Index, theta: Array) -> Mask:
    """Return for some columns whether ``sum_i s_i theta_i x_ij`` is zero, exactly: no product and no sum is rounded."""
    terms: list[list[float]] = [[] for _ in columns]
    for products in domain.over(problem, partial(_products, columns), theta):
        for list_, more in zip(terms, products, strict=True):
            list_.extend(more.tolist())
    return np.array([math.fsum(list_) == 0.0 for list_ in terms], dtype=bool)


def _products(columns: Index, block: Block, weight: Array, theta: Array) -> list[Array]:
    """Return the terms of these sums in one block, for every column."""
    present = weight > 0.0
    cells = columns_of(block.design, columns)[present]
    pull, lost = two_product(block.weights, theta[:, 0])
    shares = pull[present], lost[present]
    return [np.concatenate([part for share in shares for part in two_product(share, cell)]) for cell in cells.T]
