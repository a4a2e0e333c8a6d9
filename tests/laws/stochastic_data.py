"""Rows and losses for stochastic methods."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lineal.designs import Categorical, Dense, HStack, Ones, Sparse
from lineal.penalties import L1, ElasticNet, NoPenalty, Ridge


def penalties(columns):
    penalty_factors = np.r_[0.0, np.linspace(0.5, 2.0, columns - 1)]
    return [
        NoPenalty(columns),
        Ridge(0.1, penalty_factors),
        L1(0.05, penalty_factors),
        ElasticNet(0.1, 0.5, penalty_factors),
    ]


def data(loss, n=60, seed=0, zeros=0.5):
    """A design with ones, dense, sparse and categorical columns, as a stack and as one dense array."""
    rng = np.random.default_rng(seed)
    thin = rng.normal(size=(n, 6)) * (rng.uniform(size=(n, 6)) > zeros)
    codes = rng.integers(-1, 3, size=n).astype(np.int32)
    plain = rng.normal(size=(n, 3))
    stack = HStack([Ones(n), Dense(plain), Sparse(sparse.csr_matrix(thin)), Categorical(codes, 3)])
    dense = stack.dense()
    eta = dense @ rng.normal(size=(dense.shape[1], loss.outputs))
    if loss.targets == "two classes":
        y = (eta + rng.logistic(size=eta.shape) > 0).astype(float)
    elif loss.coupled:
        y = np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)[:, None].astype(float)
    elif loss.targets == "counts":
        y = rng.poisson(np.exp(0.2 * eta)).astype(float)
    else:
        y = eta + rng.normal(size=eta.shape)
    return stack, dense, y, rng


def ids(value):
    return f"{value.name}{value.outputs}" if hasattr(value, "outputs") else getattr(value, "name", str(value))


def by_hand(loss, penalty, dense, y, weight, offset, order, *, step, batch, factor, saga=False, table=None, start=None):
    """The steps as they are defined, one column like the other: the iterates, and the losses before each was learned."""
    coef = np.zeros((dense.shape[1], loss.outputs)) if start is None else start.copy()
    table = np.zeros((len(dense), loss.outputs)) if table is None else table
    mean = dense.T @ (factor * weight[:, None] * table) / len(order)
    iterates, losses = [], 0.0
    for at in range(0, len(order), batch):
        rows = order[at : at + batch]
        x, eta = dense[rows], dense[rows] @ coef + offset[rows]
        losses += float(np.sum(weight[rows] * loss.value(y[rows], eta)))
        slope = loss.slope(y[rows], eta)
        change = slope - table[rows] if saga else slope
        gradient = x.T @ (factor * weight[rows][:, None] * change) / len(rows)
        coef = penalty.prox(coef - step * (gradient + (mean if saga else 0.0)), np.full(len(coef), step))
        mean = mean + gradient * len(rows) / len(order)
        table[rows] = slope
        iterates.append(coef)
    return iterates, losses, table, mean
