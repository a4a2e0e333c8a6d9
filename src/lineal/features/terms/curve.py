"""A number through functions, and the contract of terms that bend one. A missing cell counts as the column's mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Self

import numpy as np

from lineal.features.cells.cells import cell
from lineal.features.cells.finite import CellError, finite_numbers
from lineal.features.terms.arithmetic import is_step, stepped, written
from lineal.features.terms.members import expect, fill_and_indicator
from lineal.features.terms.term import Cells, Single
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass

FUNCTIONS: Final[Mapping[str, tuple[Callable[[Array], Array], float, bool]]] = {
    "log": (np.log, 0.0, False),
    "log2": (np.log2, 0.0, False),
    "log10": (np.log10, 0.0, False),
    "log1p": (np.log1p, -1.0, False),
    "exp": (np.exp, -np.inf, True),
    "sqrt": (np.sqrt, 0.0, True),
    "abs": (np.abs, -np.inf, True),
    "square": (np.square, -np.inf, True),
    "cube": (lambda x: x * x * x, -np.inf, True),
}
"""Each function with the least number it takes, and whether it takes that number itself."""


def through(column: str, functions: tuple[str, ...]) -> str:
    """Return a column with its functions as a formula has them.

    >>> through("x", ("abs", "log1p"))
    'log1p(abs(x))'
    >>> through("x", ("+1", "^2")), through("x", ("+1", "log"))
    ('I((x + 1)^2)', 'log(x + 1)')
    """
    steps = ""  # arithmetic so far, around which I(...) goes
    for function in functions:
        if is_step(function):
            steps = written(function, steps or column, whole=not steps)
            continue
        column, steps = f"{function}({steps or column})", ""
    return f"I({steps})" if steps else column


def bent(values: Array, functions: tuple[str, ...]) -> Array:
    """Return the functions of numbers, one after the other; what is outside a domain becomes NaN.

    >>> bent(np.array([1.0, -1.0]), ("log",))
    array([ 0., nan])
    """
    with np.errstate(all="ignore"):
        for name in functions:
            if is_step(name):
                values = stepped(name, values)
                continue
            function, least, itself = FUNCTIONS[name]
            inside = values >= least if itself else values > least
            values = function(np.where(inside, values, np.nan))
    finite: Array = np.where(np.isfinite(values), values, np.nan)
    return finite


@dataclass(frozen=True)
class Numbers:
    """What a pass learned of a column of numbers: range, mean and whether some are missing.

    ``cells`` are all of them, for terms that ask for them (``needs_cells``).
    """

    column: str
    low: float
    high: float
    mean: float
    missing: bool
    cells: Array | None = None


@dataclass(frozen=True)
class Curve(Single):
    """A number through functions: ``log(x)``.

    A subclass is a basis of several columns, or another function, which a formula calls by the name in its ``usage``.
    """

    column: str
    functions: tuple[str, ...]
    fill: float
    indicator: bool
    kind: ClassVar[str] = "function"
    reads_text: ClassVar[bool] = False
    is_factor: ClassVar[bool] = True
    has_powers: ClassVar[bool] = True
    needs_cells: ClassVar[bool] = False

    @classmethod
    def learned(cls, numbers: Numbers, functions: tuple[str, ...], size: int) -> Self:
        """Return the term of a column; ``size`` is the number that the formula gives after it.

        An InputError says where the column does not suit.
        """
        return cls(numbers.column, functions, numbers.mean, numbers.missing)

    @property
    def name(self) -> str:
        """The column with its functions."""
        return through(self.column, self.functions)

    @property
    def meaning(self) -> str:
        """The term as a formula has it."""
        return self.spelled

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        (array,) = arrays
        values = finite_numbers(self.column, array)
        missing = np.isnan(values)
        x = bent(np.where(missing, self.fill, values), self.functions)
        if np.isnan(x).any():
            position = int(np.flatnonzero(np.isnan(x))[0])
            raise CellError(self.column, position, cell(array, position), f"a number that {self.name} can take")
        self.basis(x, out)
        if self.indicator:
            out[:, -1] = missing
        return 0

    def basis(self, x: Array, out: Array) -> None:
        """Write the columns of the basis."""
        out[:, 0] = x

    @classmethod
    def read(cls, data: Any) -> Self:
        """Return the term of a model file."""
        fill, indicator = fill_and_indicator(data)
        column, functions = data["column"], data["functions"]
        valid = isinstance(functions, list) and all(
            isinstance(f, str) and (f in FUNCTIONS or is_step(f)) for f in functions
        )
        expect(valid and len(functions) <= 10, f"applies functions to {column!r} that do not exist")
        return cls(column, tuple(functions), fill, indicator, **cls.own_members(data))

    @classmethod
    def own_members(cls, data: Any) -> dict[str, Any]:
        """Return the members of a model file that only this kind has."""
        return {}

    @classmethod
    def example(cls) -> tuple[Curve, Cells]:
        """Return a logarithm of a column with a missing cell."""
        return Curve("x", ("abs", "log1p"), 2.5, True), (["1", "4", None],)
