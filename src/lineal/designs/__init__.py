"""The designs lineal knows, one file each, and the door for plain arrays."""

from __future__ import annotations

import numpy as np

from lineal import _core
from lineal.designs.affine import Affine
from lineal.designs.categorical import Categorical
from lineal.designs.column_major import Beside, Turned
from lineal.designs.dense import Dense, straight
from lineal.designs.design import Design
from lineal.designs.hstack import Stack
from lineal.designs.ones import Ones
from lineal.designs.sound import is_sparse
from lineal.designs.sparse import Sparse
from lineal.ground.given import FLOATS, real

__all__ = ["Affine", "Beside", "Categorical", "Dense", "Ones", "Sparse", "Stack", "Turned", "as_design", "view"]


def as_design(data: object, intercept: bool = True) -> Design:
    """Return an array, a sparse matrix or a design as a design, with a first column of ones if asked.

    >>> as_design([[2.0], [3.0]]).dense()
    array([[1., 2.],
           [1., 3.]])
    """
    if type(data) is np.ndarray and data.dtype in FLOATS:
        design: Design = Dense(data)
    elif isinstance(data, Design):
        design = data
    elif is_sparse(data):
        design = Sparse(data)
    else:
        design = Dense(real(data, "X"))
    return Stack([Ones(design.shape[0]), design]) if intercept else design


def view(data: object) -> _core.Rows | None:
    """Return the compiled view of ``as_design(data)``, of a plain matrix without a design around it."""
    if type(data) is np.ndarray and data.dtype in FLOATS and data.ndim == 2:
        return _core.Rows([_core.Ones(len(data)), _core.Dense(straight(data))])
    return as_design(data).rows
