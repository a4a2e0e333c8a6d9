"""The contract of a source: rows wherever they live, handed out as blocks and summed by pure tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import Flag, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np

from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

if TYPE_CHECKING:
    from lineal.designs.design import Design


@dataclass(frozen=True)
class Block:
    """Some consecutive rows: ``design`` (n, columns), ``y`` (n, targets), weights and offsets or None.

    ``start`` is the number of the block's first row in its source, so that anything drawn by a
    counter-based hash of (seed, row) is the same for every partition.
    """

    design: Design
    y: Array
    weight: Array | None = None
    offset: Array | None = None
    start: int = 0

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.design.shape[0]

    @property
    def weights(self) -> Array:
        """The weight of every row, 1 where none were given."""
        return np.ones(self.n_rows) if self.weight is None else self.weight

    @property
    def weight_sum(self) -> float:
        """The sum of the weights."""
        return float(self.n_rows) if self.weight is None else float(self.weight.sum())

    def scores(self, coef: Array) -> Array:
        """Return ``X coef + offset``."""
        eta = self.design.times(coef)
        return eta if self.offset is None else eta + self.offset

    @property
    def rows(self) -> slice:
        """The place of these rows among all rows of the source."""
        return slice(self.start, self.start + self.n_rows)


class Addable(Protocol):
    """A result of a task: adding the results of two blocks gives the result of both together."""

    def __add__(self, other: Self, /) -> Self: ...


Result = TypeVar("Result", bound=Addable)
Result_co = TypeVar("Result_co", bound=Addable, covariant=True)


class Task(Protocol[Result_co]):
    """A pure function of one block whose results can be added.

    It can be pickled, never changes, and holds no problem, source or engine: any process may run it on any block.
    """

    def __call__(self, block: Block, /) -> Result_co:
        """Return the result of one block."""


T = TypeVar("T")
Change = Callable[[Block], Block]
"""A pure function of a block that keeps its rows, pickled like a task."""


@dataclass(frozen=True)
class Parts(Generic[T]):
    """The results of some blocks side by side, in order."""

    parts: tuple[T, ...]

    def __add__(self, other: Parts[T]) -> Parts[T]:
        return Parts(self.parts + other.parts)


@dataclass(frozen=True)
class Collect(Generic[T]):
    """The task that keeps the result of every block."""

    task: Callable[[Block], T]

    def __call__(self, block: Block) -> Parts[T]:
        """Return the result of one block."""
        return Parts((self.task(block),))


@dataclass(frozen=True)
class Through:
    """A task, or a change, of blocks that were changed before."""

    change: Change
    task: Callable[[Block], Any]

    def __call__(self, block: Block) -> Any:
        """Return the result of the changed block."""
        return self.task(self.change(block))


class Access(Flag):
    """What a source offers beside sums, and a solver may need."""

    SUMS = 0
    """Nothing but sums of tasks: what every source does, wherever its rows are."""
    ITERATE = auto()
    """Blocks one after another, in order, in this process."""
    RESIDENT = auto()
    """Blocks that stay in memory, the same ones every time."""


class PassCount:
    """How many passes were made over the rows of a source, and over what other sources show of the same rows."""

    def __init__(self) -> None:
        """Begin with none."""
        self.made = 0


class Source(ABC):
    """Rows in memory, in a file or on a cluster."""

    @cached_property
    def pass_count(self) -> PassCount:
        """The passes made: one for every ``sum``, and those that a native call over rows in memory says it made."""
        return PassCount()

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""

    @property
    def leading(self) -> str | None:
        """The name of the first column, if there is one."""
        return self.columns[0] if self.columns else None

    @property
    def offers(self) -> Access:
        """What can be had beside sums."""
        return Access.ITERATE

    @property
    def resident(self) -> bool:
        """Whether the blocks stay in memory, so that a solver may look at single columns of them."""
        return Access.RESIDENT in self.offers

    @property
    def whole(self) -> Block | None:
        """The one block that holds all rows and stays in memory; None where there are more, or they come and go."""
        return None

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order. Every call starts again from the first row."""

    def sum(self, task: Task[Result]) -> Result:
        """Return the task's results added over all blocks, in order: one pass."""
        self.pass_count.made += 1
        total: Result | None = None
        for block in self.blocks():
            result = task(block)
            total = result if total is None else total + result
        if total is None:
            raise ValueError("the source has no blocks; a source must hand out at least one, even if it is empty")
        return total

    def collect(self, task: Callable[[Block], T]) -> tuple[T, ...]:
        """Return the task's result for every block, in order. Results with one entry a row need memory for all of them."""
        return self.sum(Collect(task)).parts

    def head(self) -> Block:
        """Return the first block, which shows of what kind the rows are."""
        return next(iter(self.blocks()))

    def held(self) -> list[Block]:
        """Return the blocks of a source that keeps them in memory; TypeError from any other."""
        if not self.resident:
            raise TypeError(f"the rows of a {type(self).__name__} do not stay in memory")
        return list(self.blocks())

    def map(self, change: Change, *, keep: bool = False) -> Source:
        """Return the source whose blocks are this one's after ``change``.

        With ``keep``, blocks that stay in memory are changed once, not in every pass, and need memory for it.
        """
        return Mapped(self, change)


@dataclass(frozen=True)
class Mapped(Source):
    """A source seen through a function of its blocks."""

    inner: Source
    change: Change

    @property
    def pass_count(self) -> PassCount:
        """Those of the source behind it."""
        return self.inner.pass_count

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""
        return self.inner.columns

    @property
    def offers(self) -> Access:
        """What the source behind it offers."""
        return self.inner.offers

    def blocks(self) -> Iterator[Block]:
        """Yield the changed blocks."""
        for block in self.inner.blocks():
            yield self.change(block)

    def sum(self, task: Task[Result]) -> Result:
        """Return the task's results over the changed blocks, added where the source behind it adds."""
        total: Result = self.inner.sum(Through(self.change, task))
        return total

    def map(self, change: Change, *, keep: bool = False) -> Source:
        """Return the source whose blocks are those behind it after both changes."""
        return self.inner.map(Through(self.change, change), keep=keep)
