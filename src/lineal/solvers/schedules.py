"""How large the steps of a gradient method are, and how they shrink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from lineal.errors import InputError, near

SCHEDULES: Final = ("constant", "invscaling", "optimal", "adaptive")
"""Every schedule by name."""

BLUNT: Final = 0.05
"""A step size is kept as long as its schedule has not changed it by more than this share."""


@dataclass(frozen=True)
class Schedule:
    """The size of step t = 1, 2, ...

    ``first`` (constant, adaptive), ``first / t^power`` (invscaling) or ``1 / (strength (t + delay - 1))`` (optimal).
    An adaptive one is divided by 5 by whoever sees no progress.

    >>> Schedule("invscaling", first=1.0, power=0.5).at(4)
    0.5
    """

    name: str
    first: float = 1.0
    power: float = 0.5
    strength: float = 0.0
    delay: float = 0.0

    def at(self, t: int) -> float:
        """Return the size of step t."""
        if self.name == "invscaling":
            return float(self.first / t**self.power)
        if self.name == "optimal":
            return 1.0 / (self.strength * (t + self.delay - 1.0))
        return self.first

    def lasts(self, t: int) -> int | None:
        """Return for how many steps from t on the size may be kept; None for ever.

        >>> Schedule("invscaling", power=1.0).lasts(100)
        5
        """
        if self.name == "invscaling" and self.power > 0.0:
            return max(1, int(BLUNT * t / self.power))
        return max(1, int(BLUNT * (t + self.delay))) if self.name == "optimal" else None


def checked(name: object, accepted: tuple[str, ...] = SCHEDULES) -> str:
    """Return the name of a schedule, or refuse it in words."""
    if not isinstance(name, str) or name not in accepted:
        hint = near(name, accepted) if isinstance(name, str) else ""
        raise InputError(f"the schedule is {name!r}; accepted are {', '.join(accepted)}.{hint}")
    return name


def positive(what: str, value: float | None) -> None:
    """Refuse a step size that is no number above zero; None means that one is found."""
    if value is not None and not (np.isfinite(value) and value > 0.0):
        raise InputError(f"{what} is {value}; it must be a number above zero.")
