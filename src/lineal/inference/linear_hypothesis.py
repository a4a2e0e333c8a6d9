"""Linear hypotheses as people write them: `age = 0, 2*dose - sex=m = 1.5`.

    hypotheses = equation { "," equation }
    equation   = sum [ "=" sum ]
    sum        = [ "-" ] part { ("+" | "-") part }
    part       = number [ [ "*" ] column ] | column [ ("*" | "/") number ]

Without "=" the sum is compared with 0. A name is that of a coefficient, as in a summary: the longest that fits is taken, so
that `job=clerk` is one where there is such a column; in `backquotes` it may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.inference.hypotheses import Tests
from lineal.inference.wald import Estimates
from lineal.model.model import Model

_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[^\s,=+*/]+")


@dataclass(frozen=True)
class Equation:
    """``sum_j shares_j b_j = value``, as it was written."""

    text: str
    shares: dict[str, float]
    value: float


def hypothesis_test(model: Model, text: str, *, output: str | None = None) -> Tests:
    """Return Wald's test of one or several linear hypotheses about the coefficients of a fit without a penalty.

    Equations are parted by commas and tested together, and each alone if there are several: "age = 0, 2*dose = sex=m".
    Names are those of the summary. ``output`` names the class whose coefficients are meant where there are several: they
    are those against the mean of all classes.

    >>> import lineal
    >>> table = {"a": [0.0, 1.0, 2.0, 3.5, 1.0], "b": [1.0, 0.5, 1.0, 0.0, 2.0], "y": [0.1, 1.1, 1.9, 3.6, 0.9]}
    >>> model = lineal.fit(table, target="y", model="linear", penalty="none")
    >>> print(hypothesis_test(model, "a = 1").tests[0].words)
    F 2.8504 on 1 and 2 degrees of freedom, p = 0.2334
    """
    estimates = Estimates.of(model)
    names, coef = model.readable()
    spelled = None if model.encoder is None else model.encoder.powers
    covariance = estimates.covariance if spelled is None else spelled.covariance(estimates.covariance, coef.shape[1])
    readable = Estimates(coef.T.reshape(-1), covariance, estimates.left)
    equations = read(text, names)
    matrix = np.zeros((len(equations), len(readable.values)))
    first = _place(model, output) * len(names)
    for row, equation in zip(matrix, equations, strict=True):
        for name, share in equation.shares.items():
            row[first + names.index(name)] += share
    values = np.array([equation.value for equation in equations])
    _solvable(matrix, values, text)
    tests = []
    for k, equation in enumerate(equations):
        tests.append(readable.test("Wald", equation.text, *readable.distance(matrix[k : k + 1], values[k : k + 1])))
    if len(equations) > 1:
        tests.append(readable.test("Wald", "all of them", *readable.distance(matrix, values)))
    title = f"{model.loss.summary_title()} of {model.target.name}; linear hypotheses"
    return Tests(title if output is None else f"{title}, class {output}", tuple(tests), notes=model.filled_notes)


def _place(model: Model, output: str | None) -> int:
    """Return the number of the output that is meant."""
    names = model.outputs
    if output is None:
        if len(names) > 1:
            raise InputError(
                f"the model has {len(names)} classes; say whose coefficients are meant: {', '.join(names)}."
            )
        return 0
    if output not in names:
        raise InputError(f"there is no class {output!r}; the classes are {', '.join(names)}.{near(output, names)}")
    return names.index(output)


def _solvable(matrix: Array, values: Array, text: str) -> None:
    """Refuse equations without a coefficient, that repeat each other or that exclude each other."""
    rank = np.linalg.matrix_rank(matrix)
    if rank < len(matrix):
        clash = np.linalg.matrix_rank(np.column_stack([matrix, values])) > rank
        raise InputError(
            f"the hypotheses {text!r} {'exclude' if clash else 'repeat'} each other; leave one of them out."
        )


def read(text: str, names: Sequence[str]) -> list[Equation]:
    """Return the equations of a text.

    >>> read("2 a - b=c = 1.5, a = b=c", ["a", "b=c"])[0].shares
    {'a': 2.0, 'b=c': -1.0}
    """
    return _Reader(text, names).equations()


class _Reader:
    """A recursive descent over the text."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text, self.at = text, 0
        self.names = sorted(names, key=len, reverse=True)

    def equations(self) -> list[Equation]:
        found = []
        while True:
            start = self.at
            shares, constant = self.sum()
            if self.accept("="):
                self.accept("=")
                right, other = self.sum()
                shares = {name: shares.get(name, 0.0) - right.get(name, 0.0) for name in {**shares, **right}}
                constant -= other
            written = self.text[start : self.at].strip()
            if not any(shares.values()):
                raise InputError(
                    f"the hypothesis {written!r} is about no coefficient; name one, as in {self.example()}."
                )
            found.append(Equation(written if "=" in written else f"{written} = 0", shares, -constant + 0.0))
            if not self.accept(","):
                break
        if self.rest:
            self.fail("a sign or a comma is expected")
        return found

    def sum(self) -> tuple[dict[str, float], float]:
        shares: dict[str, float] = {}
        constant, sign = 0.0, -1.0 if self.accept("-") else 1.0
        while True:
            name, size = self.part()
            if name is None:
                constant += sign * size
            else:
                shares[name] = shares.get(name, 0.0) + sign * size
            if self.accept("+"):
                sign = 1.0
            elif self.accept("-"):
                sign = -1.0
            else:
                return shares, constant

    def part(self) -> tuple[str | None, float]:
        name = self.name()
        if name is not None:
            if self.accept("*"):
                return name, self.number()
            return name, 1.0 / self.divisor() if self.accept("/") else 1.0
        size = self.number()
        if self.accept("*") or (self.rest and self.rest[0] not in "=+-,"):
            name = self.name()
            if name is None:
                self.fail("a coefficient is expected")
            return name, size
        return None, size

    def name(self) -> str | None:
        """Read a name: in backquotes, or the longest that fits."""
        quoted = re.match(r"`([^`]+)`", self.rest)
        if quoted is not None:
            if quoted[1] not in self.names:
                raise InputError(f"there is no coefficient {quoted[1]!r}.{near(quoted[1], self.names)}")
            self.at += quoted.end()
            return quoted[1]
        for name in self.names:
            if self.rest.startswith(name) and re.match(r"[\s,=+\-*/]|$", self.rest[len(name) :]):
                self.at += len(name)
                return name
        return None

    def divisor(self) -> float:
        size = self.number()
        if not size:
            raise InputError(f"the hypothesis {self.text!r} divides by zero; write a number above 0 after '/'.")
        return size

    def number(self) -> float:
        number = _NUMBER.match(self.rest)
        if number is None:
            self.fail("a coefficient or a number is expected")
        self.at += number.end()
        return float(number[0])

    def accept(self, sign: str) -> bool:
        there = self.rest.startswith(sign)
        self.at += len(sign) if there else 0
        return there

    @property
    def rest(self) -> str:
        """What is still to be read."""
        self.at += len(self.text[self.at :]) - len(self.text[self.at :].lstrip())
        return self.text[self.at :]

    def example(self) -> str:
        shown = [name for name in reversed(self.names) if name != "(intercept)"][:1] or self.names[:1]
        return f"'{shown[0]} = 0'"

    def fail(self, why: str) -> NoReturn:
        word = _WORD.match(self.rest)
        shown = "the end" if word is None else repr(word[0])
        hint = "" if word is None else near(word[0], self.names)
        raise InputError(
            f"the hypothesis {self.text!r} cannot be read at {shown}: {why} here.{hint} It is written as in "
            f"{self.example()}, with names as lineal summary shows them."
        )
