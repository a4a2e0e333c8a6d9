"""A center taken off the columns of plain matrices: doubles near each other differ by a double."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lineal.designs.dense import Dense
from lineal.designs.design import Array, Design
from lineal.designs.hstack import HStack

Mask = npt.NDArray[np.bool_]


def less(design: Design, center: Array) -> Design:
    """Return the design with a center taken off its columns; parts of it that are not plain matrices become such.

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
            continue
        cells = part.array if isinstance(part, Dense) else part.dense()
        parts.append(Dense(cells - own))
    return HStack(parts)


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
        own = slice(at, at + part.shape[1])
        at += part.shape[1]
        if isinstance(part, Dense) and center[own].any():
            x = part.array.astype(np.float64, copy=False)
            moved = x - center[own]
            exact[own] = np.all((moved + center[own] == x) & (x - moved == center[own]), axis=0)
    return exact


def _parts(design: Design) -> list[Design]:
    return list(design.designs) if isinstance(design, HStack) else [design]


def plain_columns(design: Design) -> Mask:
    """Return which columns stand in plain matrices."""
    return np.concatenate([np.full(part.shape[1], isinstance(part, Dense)) for part in _parts(design)])
