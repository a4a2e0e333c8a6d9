"""A term in one file: the sign of a number, called `sign(column)` in a formula."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lineal.features.terms.curve import Curve
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Sign(Curve):
    """-1, 0 or 1."""

    kind: ClassVar[str] = "sign"
    usage: ClassVar[str] = "sign(column)"

    @property
    def spelled(self):
        return f"sign({self.name})"

    @property
    def names(self):
        return (self.spelled,)

    def basis(self, x, out):
        out[:, 0] = np.sign(x)

    @classmethod
    def example(cls):
        return cls("x", (), -1.0, True), (["-3", "1", None],)
