"""What a person chooses for all columns of a table at once; a column's own declared type comes first."""

from __future__ import annotations

from typing import Final

from lineal.errors import InputError, near
from lineal.features.text_options import MAX_HASH_BITS
from lineal.features.types.survey import MAX_LEVELS
from lineal.ground.records import dataclass
from lineal.tables.marked import Said

MISSING: Final = ("mark", "mean", "median", "drop")
"""What may become of missing cells."""


@dataclass(frozen=True)
class Choices:
    """``max_levels``: how many levels of a category have a column of their own, the most frequent ones.

    ``missing``: what becomes of missing cells: ``mark`` (the mean, and a column that marks them; a level of their own),
    ``mean`` or ``median`` without a mark, the reference level of a category; ``drop``: a row that has one is not fitted.
    ``positive``: which of two classes is modelled. ``na``: which cells are missing, of all columns or by column.
    """

    max_levels: int | None = None
    missing: str = "mark"
    positive: str | None = None
    na: Said = None

    def __post_init__(self) -> None:
        """Check every choice."""
        if self.max_levels is not None:
            check_levels(self.max_levels, "max_levels")
        if self.missing not in MISSING:
            raise InputError(f"missing is {self.missing!r}; it is {', '.join(MISSING)}.{near(self.missing, MISSING)}")


AS_FOUND: Final = Choices()
"""No choice: every column as its cells say."""


def check_levels(count: object, what: str) -> None:
    """Refuse what is not a number of levels."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_LEVELS:
        raise InputError(f"{what} is {count!r}; it is a number of levels, from 1 to {MAX_LEVELS:,}.")


def check_bits(bits: int, what: str) -> None:
    """Refuse a number of bits that no hash of levels has."""
    if not 1 <= bits <= MAX_HASH_BITS:
        raise InputError(f"{what} is 2^{bits}; give 2^1 to 2^{MAX_HASH_BITS}.")
