"""How large the steps of a gradient method are, and how they shrink."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.errors import InputError, near
from lineal.ground.records import dataclass

SCHEDULES: Final = ("constant", "invscaling", "optimal", "adaptive")
"""Every schedule by name."""

MAX_CHANGE: Final = 0.05
"""A step size is kept until its schedule has changed it by this share, so that steps run in one native call."""


@dataclass(frozen=True)
class Schedule:
    """The size of step t = 1, 2, ...

    ``first`` (constant, adaptive), ``first / t^power`` (invscaling) or ``first delay / (t + delay - 1)`` (optimal, where
    that is ``1 / (strength (t + delay - 1))``). The solver divides an adaptive one by 5 where it sees no progress.

    >>> round(Schedule("invscaling", first=1.0, power=0.5).at(4), 1)
    0.5
    """

    name: str
    first: float = 1.0
    power: float = 0.5
    delay: float = 1.0

    def at(self, t: int) -> float:
        """Return the size of step t, to a factor 1 + MAX_CHANGE."""
        return self.first * float(np.exp(-self._cell(t) * np.log1p(MAX_CHANGE))) if self._bends else self.first

    def lasts(self, t: int) -> int | None:
        """Return for how many steps from t on the size stays; None for ever.

        >>> schedule = Schedule("invscaling", power=1.0)
        >>> schedule.lasts(1), schedule.lasts(1000) > 1
        (1, True)
        """
        if not self._bends:
            return None
        cell = self._cell(t)
        past = float(np.exp((cell + 1) * np.log1p(MAX_CHANGE) / self._exponent))
        most = max(1, int(np.ceil(past if self.name == "invscaling" else self.delay * (past - 1.0) + 1.0)) - t)
        least = 1
        while least < most:  # rounding may have put the end some steps too far, many of them where the delay is long
            middle = (least + most + 1) // 2
            least, most = (middle, most) if self._cell(t + middle - 1) == cell else (least, middle - 1)
        return least

    @property
    def _bends(self) -> bool:
        return self.name == "optimal" or (self.name == "invscaling" and self.power > 0.0)

    @property
    def _exponent(self) -> float:
        return self.power if self.name == "invscaling" else 1.0

    def _cell(self, t: int) -> int:
        """Return by how many factors 1 + MAX_CHANGE the size has shrunk."""
        far = t if self.name == "invscaling" else (t + self.delay - 1.0) / self.delay
        return int(np.floor(self._exponent * np.log(far) / np.log1p(MAX_CHANGE)))


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
