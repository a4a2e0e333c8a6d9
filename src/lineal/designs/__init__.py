"""The designs lineal knows, one file each, and the door for plain arrays."""

from __future__ import annotations

import numpy as np

from lineal.designs.affine import Affine
from lineal.designs.categorical import Categorical
from lineal.designs.column_major import ColumnMajor, MixedHStack
from lineal.designs.dense import Dense
from lineal.designs.design import Design
from lineal.designs.hstack import HStack
from lineal.designs.ones import Ones
from lineal.designs.sound import is_sparse
from lineal.designs.sparse import Sparse
from lineal.ground.inputs import FLOATS, real

ALL: tuple[type[Design], ...] = (Ones, Dense, Sparse, Categorical, HStack, Affine, ColumnMajor, MixedHStack)
"""Every kind of design."""

__all__ = [
    "ALL",
    "Affine",
    "Categorical",
    "ColumnMajor",
    "Dense",
    "HStack",
    "MixedHStack",
    "Ones",
    "Sparse",
    "as_design",
]


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
    return HStack([Ones(design.shape[0]), design]) if intercept else design
