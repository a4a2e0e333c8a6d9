"""The intercept's column."""

from __future__ import annotations

from lineal import _core
from lineal.designs.native import Native


class Ones(Native):
    """One column of ones, which takes no memory.

    >>> Ones(2).dense()
    array([[1.],
           [1.]])
    """

    def __init__(self, n: int) -> None:
        super().__init__([_core.Ones(n)], (n, 1))

    def slice(self, start: int, stop: int) -> Ones:
        """Return a column of ones for rows ``start`` to ``stop``."""
        return Ones(len(range(*slice(start, stop).indices(self.shape[0]))))
