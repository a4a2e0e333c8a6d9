"""Arithmetic with one column, as it stands inside the brackets of a formula, and the tokens it is read from."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import NoReturn

from lineal.features.formula_words import Factor, FormulaError, Token, fail_at, tokens
from lineal.features.terms.arithmetic import spelled


class Arithmetic(ABC):
    """Reads tokens, and arithmetic in which numbers are worked out and steps with a column become functions of it."""

    def __init__(self, text: str) -> None:
        if "\n" in text:
            raise FormulaError("the formula has several lines; write it in one.")
        self.text = text
        self.tokens = list(tokens(text))
        self.place = 0
        self.without: list[str] = []
        self.known_offset: str | None = None

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.place]

    def fail(self, why: str, token: Token | None = None) -> NoReturn:
        """Raise a FormulaError that shows a token."""
        fail_at(self.text, (token or self.next).at, why)

    def accept(self, *signs: str) -> Token | None:
        """Read one of some signs; None if another token is next."""
        token = self.next
        if token.kind == "sign" and token.text in signs:
            self.place += 1
            return token
        return None

    def expect(self, sign: str, why: str) -> None:
        """Read a sign, or say why it is missing."""
        if self.accept(sign) is None:
            self.fail(why)

    @abstractmethod
    def factor(self) -> Factor:
        """Read a column or a call."""

    def operand(self) -> Factor:
        """Read what has to be a column, perhaps with arithmetic around it."""
        at = self.next
        value = self.comparison()
        if isinstance(value, float):
            self.fail("a column was expected here, and this is a number", at)
        return value

    def comparison(self) -> Factor | float:
        """Read a sum, or two that are compared."""
        value = self.difference()
        sign = self.accept(">", "<", ">=", "<=")
        return value if sign is None else self.step(sign, value, self.difference())

    def difference(self) -> Factor | float:
        """Read a sum or a difference."""
        value = self.quotient()
        while (sign := self.accept("+", "-")) is not None:
            value = self.step(sign, value, self.quotient())
        return value

    def quotient(self) -> Factor | float:
        """Read a product or a quotient."""
        value = self.signed()
        while (sign := self.accept("*", "/")) is not None:
            value = self.step(sign, value, self.signed())
        return value

    def signed(self) -> Factor | float:
        """Read a power, perhaps with a minus before it."""
        minus = self.accept("-")
        value = self.single()
        while (sign := self.accept("^", "**")) is not None:
            value = self.step(sign, value, self.signed())
        return value if minus is None else self.step(minus, -1.0, value, spoken="*")

    def single(self) -> Factor | float:
        """Read a bracket, a number or a factor."""
        token = self.next
        if self.accept("(") is not None:
            value = self.comparison()
            self.expect(")", "a ')' is missing")
            return value
        if token.kind == "number":
            self.place += 1
            return float(token.text)
        return self.factor()

    def step(self, sign: Token, left: Factor | float, right: Factor | float, spoken: str = "") -> Factor | float:
        """Return what a sign makes of two values, one of which may be a column."""
        word = spoken or {"**": "^"}.get(sign.text, sign.text)
        if isinstance(left, float) and isinstance(right, float):
            return self.number(word, left, right, sign)
        if isinstance(left, Factor) and isinstance(right, Factor):
            self.fail(
                "arithmetic is with one column and numbers; a product of columns is a:b, and others are columns of the table",
                sign,
            )
        factor = left if isinstance(left, Factor) else right
        number = right if isinstance(left, Factor) else left
        assert isinstance(factor, Factor)
        assert isinstance(number, float)
        if factor.basis:
            self.fail(f"{factor.spelled} makes several columns, and there is no arithmetic with them", sign)
        if factor is right:
            flipped = {"+": "+", "*": "*", ">": "<", "<": ">", ">=": "<=", "<=": ">="}.get(word)
            if flipped is None and word not in "-/":
                self.fail("a number to the power of a column is written exp(column)", sign)
            step = f"{spelled(number)}{word}" if flipped is None else f"{flipped}{spelled(number)}"
        else:
            step = f"{word}{spelled(number)}"
        if step[:2] in ("+-", "--"):  # x - (-1) is x + 1
            step = ("-" if step[0] == "+" else "+") + step[2:]
        return Factor(factor.column, (*factor.functions, step))

    def number(self, word: str, left: float, right: float, sign: Token) -> float:
        """Return what a sign makes of two numbers."""
        if word in (">", "<", ">=", "<="):
            self.fail("two numbers are compared; a column is missing", sign)
        try:
            made = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
            value = made[word](left, right)
        except ArithmeticError:
            self.fail("this number cannot be worked out", sign)
        return float(value)
