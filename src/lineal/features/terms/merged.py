"""A category with many levels, the rare ones taken together."""

from __future__ import annotations

from typing import ClassVar

from lineal.features.terms.base import Category
from lineal.ground.records import dataclass

RARE = "(rare)"


@dataclass(frozen=True)
class Merged(Category):
    """A category whose other levels, rare in training or never seen there, share one column.

    ``levels`` are those that have a column of their own, or are the reference.
    """

    kind: ClassVar[str] = "merged"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns."""
        shown = tuple(f"{self.column}={level}" for level in self.levels if level != self.reference)
        rest = (f"{self.column}={RARE}",)
        return (*shown, *rest, f"{self.column} is missing") if self.missing else (*shown, *rest)

    @property
    def _rest(self) -> int:
        return len(self.columns) - 1 - self.missing
