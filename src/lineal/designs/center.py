"""A center taken off the columns of matrices: doubles near each other differ by a double.

Columns of a sparse matrix that have a center are held dense, the others stay as they are: a column whose center is worth
taking off has hardly a zero.
"""

from __future__ import annotations

import numpy as np

from lineal.designs.dense import Dense
from lineal.designs.design import Design
from lineal.designs.hstack import HStack
from lineal.designs.sparse import Sparse
from lineal.ground.arrays import Array, Index, Mask


def less(design: Design, center: Array) -> Design:
    """Return the design with a center taken off its columns; those of sparse matrices that have one become dense.

    >>> from lineal.designs import as_design
    >>> less(as_design([[5.0], [7.0]]), np.array([0.0, 5.0])).dense()
    array([[1., 0.],
           [1., 2.]])
    """
    parts: list[Design] = []
    at = 0
    for part in _parts(design):
        own = center[at : at + part.shape[1]]
        at += part.shape[1]
        if not own.any():
            parts.append(part)
        elif isinstance(part, Sparse):
            parts += _runs(part, own)
        else:
            cells = part.array if isinstance(part, Dense) else part.dense()
            parts.append(Dense(cells - own))
    return HStack(parts)


def _runs(part: Sparse, center: Array) -> list[Design]:
    """Return the columns of a sparse matrix in order: dense less their center where they have one, sparse elsewhere."""
    moved = center != 0.0
    edges = np.flatnonzero(moved[1:] != moved[:-1]) + 1
    runs = [(part.take(run), center[run]) for run in np.split(np.arange(len(center)), edges)]
    return [Dense(run.dense_rows(slice(None)) - own) if own[0] != 0.0 else run for run, own in runs]


def _cells(part: Dense | Sparse, columns: Index) -> Array:
    """Return some columns of a matrix as doubles."""
    return (
        part.take(columns).dense_rows(slice(None))
        if isinstance(part, Sparse)
        else part.dense_rows(slice(None))[:, columns]
    )


def scores(design: Design, coef: Array, center: Array | None) -> Array:
    """Return ``(X - center) coef``; a center has one number per column, or one per column and output.

    >>> from lineal.designs import as_design
    >>> scores(as_design([[5.0], [7.0]]), np.array([[1.0], [2.0]]), np.array([0.0, 5.0]))
    array([[1.],
           [5.]])
    """
    if center is None:
        return design.times(coef)
    if center.ndim == 1:
        return less(design, center).times(coef)
    eta = np.empty((design.shape[0], coef.shape[1]))
    different, group = np.unique(center, axis=1, return_inverse=True)
    for k, own in enumerate(different.T):
        outputs = np.flatnonzero(group.reshape(-1) == k)
        eta[:, outputs] = less(design, own).times(np.ascontiguousarray(coef[:, outputs]))
    return eta


def unrounded(design: Design, center: Array) -> Mask:
    """Return for which columns ``x - center`` is a double in every row: both ways back are exact."""
    exact, at = np.ones(len(center), dtype=bool), 0
    for part in _parts(design):
        own = at + np.flatnonzero(center[at : at + part.shape[1]])
        if isinstance(part, (Dense, Sparse)) and len(own):
            x = _cells(part, own - at)
            moved = x - center[own]
            exact[own] = np.all((moved + center[own] == x) & (x - moved == center[own]), axis=0)
        at += part.shape[1]
    return exact


def _parts(design: Design) -> list[Design]:
    return list(design.designs) if isinstance(design, HStack) else [design]


def plain_columns(design: Design) -> Mask:
    """Return which columns stand in plain matrices."""
    return _columns_of(design, Dense)


def sparse_columns(design: Design) -> Mask:
    """Return which columns stand in sparse matrices."""
    return _columns_of(design, Sparse)


def _columns_of(design: Design, kind: type[Design]) -> Mask:
    return np.concatenate([np.full(part.shape[1], isinstance(part, kind)) for part in _parts(design)])
