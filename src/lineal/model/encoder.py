"""The contract of an encoder: what a model asks of whatever turned its table into columns."""

from __future__ import annotations

from typing import Protocol

from lineal.designs.design import Design
from lineal.ground.arrays import Array
from lineal.model.powers import Powers


class Encoder(Protocol):
    """How a table becomes a design: learned once, saved with the model."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design's columns."""

    @property
    def groups(self) -> tuple[str, ...]:
        """For each design column the columns of the table behind it; for a word of a text the word."""

    @property
    def powers(self) -> Powers | None:
        """How polynomials are spelled on powers; None if there are none."""

    def encode(self, data: object) -> Design:
        """Return the design of a table, columns taken by name."""

    def offset(self, data: object, column: str) -> Array:
        """Return a numeric column of the table as an offset, shape ``(n, 1)``."""

    def uses(self) -> dict[str, str]:
        """Return in words how each column of the table enters the model."""

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
