"""The kernel of trees: common fragments of syntax trees in brackets."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError, PointError
from lineal.ground.arrays import Array
from lineal.ground.inputs import absent, shown
from lineal.ground.records import dataclass
from lineal.kernels.kernel import UNIT, Kernel, Takes, number
from lineal.kernels.points import Chosen, Points
from lineal.kernels.sequences import listed

FAULTS: Final = {
    1: "there is no tree",
    2: "there is text outside of brackets, or a bracket that closes nothing",
    3: "a bracket is never closed",
    4: "a node has no label",
    5: "there is more behind the end of the tree",
}
"""What the core says of a malformed tree."""


class Trees(Points):
    """Trees in brackets, ``(label child child ...)``; a child is such a tree, or a word that stands for a leaf.

    >>> Trees(["(S (N Mary) (V runs))", "(leaf)"]).sizes.tolist()
    [3, 0]
    """

    def __init__(self, X: Any, name: str = "X") -> None:
        self.values = listed(X, name)
        for i, tree in enumerate(self.values):
            if not isinstance(tree, str):
                what = "a missing value" if absent(tree) else shown(tree)
                raise InputError(f"{name}[{i}] is {what}; give a tree in brackets, such as '(S (N Mary) (V runs))'.")
        self.name = name
        _ = self.forest

    def __len__(self) -> int:
        return len(self.values)

    def take(self, index: Chosen) -> Self:
        """Return some of the trees, in this order."""
        return type(self)([self.values[i] for i in index], self.name)

    @cached_property
    def forest(self) -> _core.Forest:
        """The trees, read; malformed ones are refused with the place."""
        forest = forest_of(self.values)
        if forest.fault is not None:
            reason, tree, place = forest.fault
            text = self.values[tree]
            at = len(text.encode(errors="surrogatepass")[:place].decode(errors="ignore"))
            raise PointError(
                f"{self.name}[{tree}]",
                tree,
                f"is no tree in brackets: {FAULTS[reason]}, at character {at + 1} of {shown(text)}; write (label child child "
                "...), a child a tree or a word.",
            )
        return forest

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many nodes with children every tree has."""
        return self.forest.sizes.astype(np.int64)


def forest_of(texts: list[str]) -> _core.Forest:
    """Return trees read by the core."""
    pieces = [text.encode(errors="surrogatepass") for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)]).astype(np.int64)
    return _core.Forest(starts, np.frombuffer(b"".join(pieces), dtype=np.uint8))


@dataclass(frozen=True)
class SubsetTree(Kernel):
    """``k(x, z) = sum over fragments f of decay^(productions of f) (times f is in x) (times f is in z)``.

    The kernel of Collins and Duffy (2002). A fragment is a part of a tree of at least one production (a node with all
    its children) in which every node has all its children or none. With ``C(n, m)`` the sum over fragments that begin
    at both nodes, 0 for different productions and ``decay prod_j (1 + C(child j of n, child j of m))`` for equal ones,
    ``k = sum over nodes of C(n, m)``. A tree of a single node has no production: its kernel is 0.

    >>> SubsetTree(1.0).gram(["(N (D the) (A dog))", "(N (D the) (A cat))"])
    array([[6., 3.],
           [3., 6.]])
    """

    decay: float = 0.4
    name: ClassVar[str] = "tree"
    label: ClassVar[str] = "tree kernel"
    spelling: ClassVar[str] = "tree:DECAY"
    takes: ClassVar[Takes] = "trees"

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return one with decay and one without."""
        return cls(0.4), cls(1.0)

    def __post_init__(self) -> None:
        number(self.label, "decay", self.decay)
        if self.decay > 1.0:
            raise InputError(f"decay of the {self.label} is {self.decay!r}; it must be above 0 and at most 1.")

    def formula(self) -> str:
        """Return the kernel in letters."""
        return f"sum over common fragments of {self.decay:.6g}^(productions)"

    def spelled(self) -> str:
        """Return ``tree:DECAY``."""
        return f"{self.name}:{self.decay!r}"

    def points(self, X: Any, name: str = "X") -> Points:
        """Return trees, read."""
        return X if isinstance(X, Trees) else Trees(X.values if isinstance(X, Points) else X, name)

    def _gram(self, left: Points, right: Points | None) -> Array:
        assert isinstance(left, Trees)
        if right is None:
            return left.forest.gram(self.decay)
        assert isinstance(right, Trees)
        return forest_of([*left.values, *right.values]).gram(self.decay, len(left))

    def _diagonal(self, points: Points) -> Array:
        assert isinstance(points, Trees)
        return points.forest.diagonal(self.decay)

    def _entry_error(self, points: Points, partners: Points) -> Array:
        assert isinstance(points, Trees)
        assert isinstance(partners, Trees)
        # Sums and products of numbers above zero: at most three roundings at every node of a common fragment and every
        # child, and two sums over nodes. A node is the child of one node, and a leaf adds nothing.
        largest = max(points.sizes.max(initial=0), partners.sizes.max(initial=0))
        share = 1.01 * UNIT * (8.0 * float(largest) + 8.0)
        return np.sqrt(share * self._diagonal(points)) * (1.0 + share) + 2.0**-400
