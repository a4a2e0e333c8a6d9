"""Formulas: `y ~ age + C(job, ref='none') + poly(dose, 3) + age:dose + log(x) - 1`, read by a parser of our own.

    formula    = [ targets "~" ] sum
    sum        = [ "-" ] product { ("+" | "-") product }
    product    = power { ("*" | ":" | "/" | "%in%") power }
    power      = atom [ ("^" | "**") whole number ]
    atom       = "(" sum ")" | "0" | "1" | "." | column | call

`a*b` is `a + b + a:b`, `a/b` is `a + a:b`, `b %in% a` is `b:a`; `(a + b)^2` is every product of two; `- a` takes a term
away; `- 1` or `+ 0` the intercept. Inside brackets stands arithmetic with one column: `log(x + 1)`, `I(x^2)`. Nothing is
evaluated as Python: a name is a column, a call is a function of numbers or a term of the catalogue (``terms.ALL``).
"""

from __future__ import annotations

from lineal.features.formula_reader import Reader
from lineal.features.formula_words import EVERY, Factor, FormulaError, Product
from lineal.ground.records import dataclass


@dataclass(frozen=True)
class Formula:
    """What a formula asks for: targets (none if it has no ``~``), whether there is an intercept, and products of factors.

    ``without`` are columns that ``.`` does not stand for, ``offset`` is a column or a function of one.

    >>> Formula.read("y ~ a*b + poly(dose, 2) - 1").intercept
    False
    >>> [":".join(factor.name for factor in product) for product in Formula.read("y ~ (a + b)^2").products]
    ['a', 'b', 'a:b']
    """

    text: str
    targets: tuple[str, ...]
    intercept: bool
    products: tuple[Product, ...]
    without: tuple[str, ...] = ()
    offset: str | None = None

    @classmethod
    def read(cls, text: str) -> Formula:
        """Read a formula; what cannot be read is a FormulaError with a caret below the place."""
        return cls(text, *Reader(text).formula())

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the right side names."""
        return tuple(dict.fromkeys(f.column for product in self.products for f in product if f != EVERY))


__all__ = ["EVERY", "Factor", "Formula", "FormulaError"]
