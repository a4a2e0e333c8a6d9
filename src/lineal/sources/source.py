"""The contract of a source: rows wherever they live, handed out as blocks and summed by pure tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from lineal.ground.records import dataclass

if TYPE_CHECKING:
    from lineal.designs.design import Design

Array = npt.NDArray[np.float64]


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


class Addable(Protocol):
    """A result of a task: adding the results of two blocks gives the result of both together."""

    def __add__(self, other: Self, /) -> Self: ...


Result = TypeVar("Result", bound=Addable)
Result_co = TypeVar("Result_co", bound=Addable, covariant=True)


class Task(Protocol[Result_co]):
    """A pure function of one block whose results can be added."""

    def __call__(self, block: Block, /) -> Result_co:
        """Return the result of one block."""


class Source(ABC):
    """Rows in memory, in a file or on a cluster."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""

    @property
    def leading(self) -> str | None:
        """The name of the first column, if there is one."""
        return self.columns[0] if self.columns else None

    @property
    def resident(self) -> bool:
        """Whether the blocks stay in memory, so that a solver may look at single columns of them."""
        return False

    @property
    def whole(self) -> Block | None:
        """The one block that holds all rows and stays in memory; None where there are more, or they come and go."""
        return None

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """Yield the blocks in order. Every call starts again from the first row."""

    def sum(self, task: Task[Result]) -> Result:
        """Return the task's results added over all blocks, in order."""
        total: Result | None = None
        for block in self.blocks():
            result = task(block)
            total = result if total is None else total + result
        if total is None:
            raise ValueError("the source has no blocks; a source must hand out at least one, even if it is empty")
        return total

    def map(self, change: Callable[[Block], Block]) -> Source:
        """Return the source whose blocks are this one's after ``change``."""
        return Mapped(self, change)


@dataclass(frozen=True)
class Mapped(Source):
    """A source seen through a function of its blocks."""

    inner: Source
    change: Callable[[Block], Block]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""
        return self.inner.columns

    @property
    def resident(self) -> bool:
        """Whether the blocks behind it stay in memory."""
        return self.inner.resident

    def blocks(self) -> Iterator[Block]:
        """Yield the changed blocks."""
        for block in self.inner.blocks():
            yield self.change(block)
