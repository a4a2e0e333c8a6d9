"""A deadline: when work has to end, and on which clock. It is made once, where a time limit is given, and handed down.

While it is watched, every pass over rows looks at it, in native code about every 50 ms: what is under way then ends in
``LateError``, as it would end at Ctrl-C, and whoever holds the deadline says what was reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from numbers import Real
from typing import Any, Final, NoReturn, TypeVar

from lineal import _core
from lineal.errors import InputError
from lineal.ground.records import dataclass

T = TypeVar("T")

LATE: Final = "the time limit was reached"
"""The words of verdicts."""


class LateError(Exception):
    """The deadline has passed: raised by what looks at it, caught by whoever holds it."""


@dataclass(frozen=True)
class Deadline:
    """``end`` is a time of ``clock``; ``grace`` are the seconds after it in which what was reached may be proven.

    >>> times = iter([0.0, 1.0, 4.0, 11.0])
    >>> deadline = Deadline.after(10.0, lambda: next(times))
    >>> deadline.left, deadline.part(0.5).end, deadline.passed
    (9.0, 7.0, True)
    """

    end: float
    grace: float
    clock: Callable[[], float] = time.monotonic

    @staticmethod
    def after(seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
        """Return the deadline ``seconds`` from now, with a grace of a quarter of a second or a twentieth of the limit."""
        return Deadline(clock() + seconds, max(0.25, 0.05 * seconds), clock)

    @staticmethod
    def given(seconds: Any) -> Deadline:
        """Return the deadline of seconds as people give them, or refuse what is no number above 0.

        >>> Deadline.given("5")
        Traceback (most recent call last):
            ...
        lineal.errors.InputError: the time limit is '5'; it must be a number of seconds above 0.
        """
        if isinstance(seconds, bool) or not isinstance(seconds, Real) or not float(seconds) > 0.0:
            raise InputError(f"the time limit is {seconds!r}; it must be a number of seconds above 0.")
        return Deadline.after(float(seconds))

    @staticmethod
    def of(limit: Limit) -> Deadline | None:
        """Return a time limit as a deadline: seconds are from now, a deadline stays as it is, None is no limit."""
        return limit if limit is None or isinstance(limit, Deadline) else Deadline.given(limit)

    @property
    def left(self) -> float:
        """Seconds until the end, at least 0."""
        return max(self.end - self.clock(), 0.0)

    @property
    def passed(self) -> bool:
        """Whether time is over."""
        return self.clock() >= self.end

    @property
    def last(self) -> Deadline:
        """The end of the grace."""
        return Deadline(self.end + self.grace, 0.0, self.clock)

    def part(self, share: float) -> Deadline:
        """Return the end of a share of the time that is left, with that share of the grace."""
        now = self.clock()
        return Deadline(now + share * max(self.end - now, 0.0), share * self.grace, self.clock)

    def within(self, seconds: float) -> Deadline:
        """Return the deadline, or ``seconds`` from now if that is sooner."""
        return Deadline(min(self.end, self.clock() + seconds), self.grace, self.clock)

    def look(self) -> None:
        """Raise LateError where time is over."""
        if self.passed:
            raise LateError(LATE)


Limit = float | Deadline | None
"""A time limit as functions take it: seconds from now, a deadline made further out, or None."""


def graced(deadline: Deadline | None) -> Deadline | None:
    """Return the end of the grace."""
    return None if deadline is None else deadline.last


def shared(deadline: Deadline | None, among: int) -> Deadline | None:
    """Return the end of the first of ``among`` equal shares of the time that is left.

    >>> shared(Deadline(10.0, 1.0, lambda: 0.0), 4).end
    2.5
    """
    return None if deadline is None else deadline.part(1.0 / among)


def on_trial(deadline: Deadline | None) -> Deadline | None:
    """Return the end of the trials of a penalty's strength; the fit with one of them has the other two fifths."""
    return None if deadline is None else deadline.part(0.6)


def watched(deadline: Deadline | None) -> AbstractContextManager[None]:
    """Return a context in which every pass of this thread looks at the deadline; without one, nothing changes."""
    return nullcontext() if deadline is None else _watched(deadline)


@contextmanager
def _watched(deadline: Deadline) -> Iterator[None]:
    before = _core.watch(deadline.look)
    try:
        yield
    finally:
        _core.watch(before)


def in_time(deadline: Deadline | None, work: Callable[[], T], late: Callable[[], T]) -> T:
    """Return what ``work`` returns, or ``late`` where the deadline passes before; without one, time is no concern here.

    >>> in_time(Deadline(0.0, 0.0, lambda: 1.0), _core.heed, lambda: print("late"))
    late
    """
    try:
        with watched(deadline):
            return work()
    except LateError:
        if deadline is None:  # a deadline of the caller's
            raise
        return late()


def beforehand(deadline: Deadline | None, work: Callable[[], T]) -> T:
    """Return what ``work`` returns, without which there is no fit: an InputError says so where even the grace is over before.

    >>> beforehand(Deadline(0.0, 1.0, lambda: 2.0), _core.heed)
    Traceback (most recent call last):
    lineal.errors.InputError: the time limit was reached before the rows had been looked at once; give more time, or fewer rows.
    """
    return in_time(graced(deadline), work, _nothing)


def _nothing() -> NoReturn:
    raise InputError(f"{LATE} before the rows had been looked at once; give more time, or fewer rows.")
