"""Dual points of all rows, as a plan: where they start, and what is done to them. Every pass makes them anew, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lineal.verify.arithmetic import Array
from lineal.verify.losses.dual import Dual
from lineal.verify.problem.formulas import At, Point


@dataclass(frozen=True)
class Move:
    """theta - V X t: every dual point is moved by what coefficients ``t`` do to its row."""

    t: Array

    def of(self, dual: Dual, x: Array) -> Dual:
        """Return the dual point of some rows after it."""
        return dual.moved(x @ self.t)


@dataclass(frozen=True)
class Shrink:
    """``a`` theta."""

    a: float

    def of(self, dual: Dual, x: Array) -> Dual:
        """Return the dual point of some rows after it."""
        return dual.shrunk(self.a)


@dataclass(frozen=True)
class Ease:
    """The dual point to try instead, by its place among them."""

    place: int

    def of(self, dual: Dual, x: Array) -> Dual:
        """Return the dual point of some rows after it."""
        return dual.eased()[self.place]


@dataclass(frozen=True)
class Plan:
    """The dual point ``slope - W X step`` of every row, or the one that the file holds, and what is done to it.

    ``made`` is a dual point of all rows at once, if there is one.
    """

    point: Point
    step: Array | None = None
    acts: tuple[Move | Shrink | Ease, ...] = ()
    made: Dual | None = None

    def blocks(self) -> Iterator[tuple[At, Dual]]:
        """Yield all rows with their dual points, some at a time."""
        if self.made is not None:
            yield self.point.whole, self._after(self.point.whole, self.made)
            return
        for at in self.point.blocks():
            yield at, self.of(at)

    def of(self, at: At) -> Dual:
        """Return the dual points of some rows."""
        u = np.zeros_like(at.eta) if self.step is None else at.block.x @ self.step
        theta = at.block.theta if at.block.loss.cornered else None
        return self._after(at, at.rows.duals([u], theta)[0])

    def _after(self, at: At, dual: Dual) -> Dual:
        for act in self.acts:
            dual = act.of(dual, at.block.x)
        return dual

    def then(self, act: Move | Shrink | Ease) -> Plan:
        """Return the plan with one thing more to do."""
        return replace(self, acts=(*self.acts, act))

    def eased(self) -> list[Plan]:
        """Return what to try in its place if nothing can be proven with it."""
        return [self.then(Ease(place)) for place in range(len(self.sample.eased()))]

    @cached_property
    def sample(self) -> Dual:
        """The dual points of the first rows, for what is the same in all."""
        return next(self.blocks())[1]

    @cached_property
    def whole(self) -> Dual:
        """The dual points of all rows at once."""
        if self.made is not None:
            return self._after(self.point.whole, self.made)
        return self.of(self.point.whole)
