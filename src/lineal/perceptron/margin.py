"""The largest margin of separable rows: what is known of it, in numbers and in words."""

from __future__ import annotations

from lineal.algebra.integers import text
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Margin:
    """The largest margin lies between ``gamma`` (reached by ``coef``) and ``upper`` (proved by ``weights`` on ``rows``).

    The weights a are integers: |sum a z| / sum a is the bound, exactly. ``radius`` R is the largest length of a row, with
    the 1 of the intercept if ``augmented``; ``coef`` is (p, outputs) and has length 1, or its part without the intercept
    does. ``against`` are the classes the rows are compared with, if several.
    """

    gamma: float
    upper: float
    radius: float
    coef: Array
    rows: tuple[int, ...]
    against: tuple[int, ...] | None
    weights: tuple[int, ...]
    augmented: bool
    total: int

    @property
    def bound(self) -> float:
        """R^2 / gamma^2 = (R B)^2 with B = 1 / gamma; for several classes 2 R^2 / gamma^2."""
        return (1 if self.against is None else 2) * (self.radius / self.gamma) ** 2

    @property
    def share(self) -> float:
        """R^2 / (gamma^2 N), the bound per row."""
        return self.bound / self.total

    @property
    def sentence(self) -> str:
        """What was found, in words.

        >>> from lineal import maximum_margin
        >>> print(maximum_margin([[0.0], [3.0]], [0, 1]).sentence)
        Separated with margin 1.5, the largest there is (proven by 2 rows); R = 3, R^2/(gamma^2 N) = 2.
        """
        close = self.upper - self.gamma <= 1e-6 * self.upper
        how = "the largest there is" if close else f"and none is larger than {self.upper:.6g}"
        factor = "" if self.against is None else "2 "
        return (
            f"Separated with margin {self.gamma:.6g}, {how} (proven by {len(set(self.rows))} rows); R = {self.radius:.6g}, "
            f"{factor}R^2/(gamma^2 N) = {self.share:.6g}."
        )

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, object]:
        """Return JSON data; integers too large for a double are written as text."""
        return {
            "gamma": self.gamma,
            "gamma_upper": self.upper,
            "R": self.radius,
            "B": 1.0 / self.gamma,
            "bound": self.bound,
            "bound_per_row": self.share,
            "coef": self.coef.tolist(),
            "rows": list(self.rows),
            "against": None if self.against is None else list(self.against),
            "weights": [text(weight) for weight in self.weights],
            "augmented": self.augmented,
        }
