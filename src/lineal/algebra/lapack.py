"""LAPACK and BLAS as scipy has them, loaded when one of their functions is first called: short fits do without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FOLLOWERS: list[Callable[[], None]] = []
"""Called once, when scipy's library has been loaded: it brings threads of its own."""


def __getattr__(name: str) -> Any:
    """Return a function of LAPACK, of BLAS or of scipy.linalg, and keep it under its name."""
    if name.startswith("__"):
        raise AttributeError(f"no function {name!r}")
    from scipy import linalg

    home = next(place for place in (linalg.lapack, linalg.blas, linalg) if hasattr(place, name))
    while FOLLOWERS:
        FOLLOWERS.pop()()
    function = globals()[name] = getattr(home, name)
    return function
