"""BLAS on one thread while a fit runs: its own threads change bits, and spin on the cores that ours need."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from threadpoolctl import ThreadpoolController

from lineal.algebra import lapack
from lineal.sources.source import Source

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound=Source)


class _Limit:
    """A limit that holds while a fit is inside. Fits in several Python threads end in any order: the last restores it."""

    def __init__(self) -> None:
        self.lock, self.inside = Lock(), 0
        self.held: list[Any] = []

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.held = [_controller().limit(limits=1)]
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self._restore()

    def renew(self) -> None:
        """Look for libraries again: another one has been loaded, perhaps while the limit holds."""
        with self.lock:
            _controller.cache_clear()
            if self.inside > 0:
                self.held.append(_controller().limit(limits=1))

    def _restore(self) -> None:
        while self.held:
            self.held.pop().restore_original_limits()


_LIMIT = _Limit()
lapack.FOLLOWERS.append(_LIMIT.renew)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_thread(source: Source, outputs: int, *, squares: bool = False) -> AbstractContextManager[object]:
    """Return a context in which BLAS uses one thread.

    It uses one anyway on matrices and vectors this small, where changing the limit would cost more than the fit, unless the
    fit makes ``squares``, matrices of rows by rows.
    """
    block = source.whole
    if not squares and block is not None and block.n_rows < 5_000 and block.design.shape[1] * outputs < 48:
        return nullcontext()
    return _LIMIT


def alone(work: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Return ``work`` on a source such that BLAS uses one thread in it."""

    @wraps(work)
    def inside(source: S, *args: P.args, **options: P.kwargs) -> R:
        with one_thread(source, 1):
            return work(source, *args, **options)

    return cast("Callable[Concatenate[S, P], R]", inside)
