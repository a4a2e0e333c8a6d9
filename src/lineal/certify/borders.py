"""Dual points of one score at the border of their domain: rows that no move changes, and what they leave to be made zero."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from lineal.algebra.basis import Basis
from lineal.algebra.doubled import two_product
from lineal.certify import domain
from lineal.problem.dependence import Vanish
from lineal.problem.problem import Problem

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

SMALL = 1e-100
"""Columns whose squares underflow are not looked at."""


def alive(problem: Problem, tied: Mask, theta: Array) -> Mask:
    """Return coefficients whose gradients have to be made zero for all tied ones to be, ``(columns, 1)``.

    A row where the dual point is zero, at an end of its domain, is as good as absent: it stays so however it is moved. A column
    counts as a combination of others if it is one, exactly, in all other rows. Columns whose rows are all at an end
    cannot be moved, but may be balanced as they are.
    """
    size = problem.shape[0]
    kept, parts, gram, room = tied.copy(), [], np.zeros((size, size)), np.zeros(size)
    for block, weight, (part,) in domain.rows(problem, theta):
        v = domain.metric(problem, np.where((weight > 0.0)[:, None], block.y, 0.0), part)[:, 0]
        counts = ((weight > 0.0) & ((part[:, 0] != 0.0) | (v > 0.0))).astype(np.float64)
        parts.append(replace(block, weight=counts))
        gram += block.design.gram(counts)
        room += np.diagonal(block.design.gram(np.where(weight > 0.0, v, 0.0)))
    stuck = np.flatnonzero(tied[:, 0] & (room == 0.0) & (problem.moments.largest > SMALL))
    kept[stuck[_balanced(problem, stuck, theta)]] = False
    basis = Basis.plain(gram, np.flatnonzero(kept[:, 0]), problem.source.columns)
    if basis is None:
        return kept
    vanish = Vanish(basis.null_space)
    kept[basis.dependent] = max(vanish(block).value for block in parts) > 0.0
    return kept


def _balanced(problem: Problem, columns: Index, theta: Array) -> Mask:
    """Return for some columns whether ``sum_i s_i theta_i x_ij`` is zero, exactly: no product and no sum is rounded."""
    terms: list[list[float]] = [[] for _ in columns]
    for block, weight, (part,) in domain.rows(problem, theta):
        present = weight > 0.0
        cells = block.design.times(np.eye(problem.shape[0])[:, columns])[present]
        pull, lost = two_product(np.ones(block.n_rows) if block.weight is None else block.weight, part[:, 0])
        for list_, cell in zip(terms, cells.T, strict=True):
            for share in (pull[present], lost[present]):
                list_.extend(np.concatenate(two_product(share, cell)).tolist())
    return np.array([math.fsum(list_) == 0.0 for list_ in terms], dtype=bool)
