"""Formulas read: a recursive descent, one method per line of the grammar in formula.py."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final, NoReturn

from lineal.features import terms
from lineal.features.formula_words import EVERY, INSTEAD, Factor, FormulaError, Product, Token, fail_at, tokens
from lineal.features.terms.arithmetic import spelled
from lineal.features.terms.curve import FUNCTIONS


class Reader:
    """A recursive descent, one method per line of the grammar; sums are ordered lists of products, () the intercept."""

    def __init__(self, text: str) -> None:
        if "\n" in text:
            raise FormulaError("the formula has several lines; write it in one.")
        self.text = text
        self.tokens = list(tokens(text))
        self.place = 0
        self.without: list[str] = []

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

    def formula(self) -> tuple[tuple[str, ...], bool, tuple[Product, ...], tuple[str, ...]]:
        """Return the targets, whether there is an intercept, the products, and the columns that "." does not stand for."""
        targets: tuple[str, ...] = ()
        if any(token.kind == "sign" and token.text == "~" for token in self.tokens):
            # (`~ a + b` names no target: it is given beside the formula, or asked for there)
            targets = () if self.next.text == "~" else self.targets()
            self.expect(
                "~", "a '~' was expected here; a target is a column as it stands in the table, without functions"
            )
        products = self.sum(first=True)
        if self.next.kind != "end":
            self.fail("a second '~'" if self.next.text == "~" else f"{self.next.text!r} was not expected here")
        kept = tuple(product for product in products if product)
        for product in kept:
            if EVERY in product and len(product) > 1:
                raise FormulaError(
                    "'.' stands for all other columns and can only be added; name the columns of a product."
                )
        return targets, () in products, kept, tuple(self.without)

    def targets(self) -> tuple[str, ...]:
        """Read the columns before "~": one, several, or two counts in cbind(...)."""
        both = self.next.text == "cbind" and self.tokens[self.place + 1].text == "("
        self.place += 2 if both else 0
        names = []
        while True:
            token = self.next
            if token.kind not in ("name", "quoted"):
                self.fail("the name of the target was expected before '~'")
            self.place += 1
            names.append(token.text)
            if self.accept("+", ",") is None:
                break
        if both:
            self.expect(")", "a ')' is missing; two counts are written cbind(successes, failures)")
        return tuple(names)

    def sum(self, *, first: bool = False) -> list[Product]:
        """Read products that are added or taken away."""
        products: list[Product] = [()] if first else []
        sign = self.accept("-", "+")
        while True:
            at = self.next
            added = self.product()
            minus = sign is not None and sign.text == "-"
            if added == [_NOTHING]:
                minus, added = not minus, [()]
            for product in added:
                present = any(set(other) == set(product) for other in products)
                if minus and product and not present:
                    if (EVERY,) not in products or product != (Factor(product[0].column),):
                        self.fail("this term is taken away, but it was not there", at)
                    self.without.append(product[0].column)
                if minus:
                    products = [other for other in products if set(other) != set(product)]
                elif not present:
                    products.append(product)
            sign = self.accept("+", "-")
            if sign is None:
                return products

    def product(self) -> list[Product]:
        """Read products of terms."""
        products = self.power()
        while (sign := self.accept("*", ":", "/", "%in%")) is not None:
            at = self.next
            right = self.power()
            if _NOTHING in (*products, *right) or [()] in (products, right):
                self.fail("0 and 1 stand for the intercept and cannot be multiplied", at)
            if any(map(_together, (*products, *right))):
                self.fail("a map of several columns can only be added", at)
            if sign.text == "/":  # a/b is a + a:b; of a sum before it, the product of all
                whole = tuple(dict.fromkeys(factor for product in products for factor in product))
                products = _distinct([*products, *_crossed([whole], right)])
                continue
            mixed = _crossed(products, right)
            products = _distinct([*products, *right, *mixed]) if sign.text == "*" else mixed
        return products

    def power(self) -> list[Product]:
        """Read a term, or all products of up to so many of a sum."""
        base = self.atom()
        if self.accept("^", "**") is None:
            return base
        token = self.next
        if token.kind != "number" or not token.text.isdecimal() or not 1 <= int(token.text) <= 10:
            self.fail(
                "a power is a whole number from 1 to 10; for powers of a column write I(column^2) or poly(column, degree)"
            )
        self.place += 1
        if len(base) == 1 and int(token.text) > 1:
            self.fail(
                "a power of one term is the term itself; for powers of a column write I(column^2) or poly(column, degree)",
                token,
            )
        if any(map(_together, base)) and int(token.text) > 1:
            self.fail("a map of several columns can only be added", token)
        result = base
        for _ in range(int(token.text) - 1):
            result = _distinct([*result, *_crossed(result, base)])
        return sorted(result, key=len)

    def atom(self) -> list[Product]:
        """Read a bracket, 0, 1, ".", a column or a call."""
        token = self.next
        if self.accept("(") is not None:
            inside = self.sum()
            self.expect(")", "a ')' is missing")
            return inside
        if self.accept(".") is not None:
            return [(EVERY,)]
        if token.kind == "number":
            if token.text not in ("0", "1"):
                self.fail("a number other than 0 and 1 (without and with intercept) has no meaning as a term")
            self.place += 1
            return [()] if token.text == "1" else [_NOTHING]
        if token.kind not in ("name", "quoted"):
            self.fail("a column or a function was expected here")
        called = terms.called().get(token.text)
        if called is not None and called.several and token.kind == "name" and self.tokens[self.place + 1].text == "(":
            return [self.several(called, token)]
        return [(self.factor(),)]

    def several(self, called: type[terms.Term], token: Token) -> Product:
        """Read a call of a term that takes several columns: a product of factors of its name."""
        self.place += 2
        factors: list[Factor] = []
        while True:
            at = self.next
            inner = self.factor()
            if inner.basis:
                self.fail(f"{inner.basis}(...) makes several columns and cannot stand inside {token.text}(...)", at)
            if Factor(inner.column, inner.functions, token.text) in factors:
                self.fail("this column is there already", at)
            factors.append(Factor(inner.column, inner.functions, token.text))
            if self.accept(",") is None:
                break
        self.expect(")", f"a ')' is missing; it is written {called.usage}")
        if len(factors) < 2:
            self.fail(f"a second column is missing; it is written {called.usage}", token)
        return tuple(factors)

    def factor(self) -> Factor:
        """Read a column or a call."""
        token = self.next
        if token.kind not in ("name", "quoted"):
            self.fail("the name of a column was expected here")
        self.place += 1
        if token.kind == "quoted" or self.accept("(") is None:
            return Factor(token.text)
        called = terms.called().get(token.text)
        if called is None and token.text not in FUNCTIONS and token.text != "I":
            self.unknown(token)
        if called is not None and called.several:
            self.fail(f"{called.usage} makes several columns and can only be added", token)
        inner_at = self.next
        inner = Arithmetic(self).column()
        if inner.basis:
            self.fail(f"{inner.basis}(...) makes several columns and cannot stand inside {token.text}(...)", inner_at)
        if called is None:
            usage = f"{token.text}(column)"
            own = () if token.text == "I" else (token.text,)
            factor = Factor(inner.column, (*inner.functions, *own))
        else:
            usage, factor = called.usage, self.filled(called, token, inner)
        self.expect(")", f"a ')' is missing; it is written {usage}")
        return factor

    def unknown(self, token: Token) -> NoReturn:
        """Refuse a function that is not there, with what to write."""
        if token.text in INSTEAD:
            self.fail(f"there is no function {token.text!r}; {INSTEAD[token.text]}", token)
        functions = (*FUNCTIONS, "I", *terms.called())
        close = get_close_matches(token.text, functions, 1)
        hint = f"did you mean {close[0]}" if close else f"the functions are {', '.join(functions)}"
        self.fail(f"there is no function {token.text!r}; {hint}", token)

    def filled(self, called: type[terms.Term], token: Token, inner: Factor) -> Factor:
        """Read what follows the column in a call of a term: a level, a number or nothing."""
        usage, name = f"it is written {called.usage}", called.usage.partition("(")[0]
        if issubclass(called, terms.Category):
            return self.level(token, inner, usage)
        if called.sizes is None:
            return Factor(inner.column, inner.functions, name)
        self.expect(",", f"a number is missing; {usage}")
        if self.next.kind == "name" and self.tokens[self.place + 1].text == "=":  # degree=3, df=5
            self.place += 2
        size = self.next
        if size.kind != "number" or not size.text.isdecimal() or int(size.text) not in called.sizes:
            least, most = called.sizes[0], called.sizes[-1]
            self.fail(f"a whole number from {least} to {most} was expected here; {usage}")
        self.place += 1
        return Factor(inner.column, inner.functions, name, int(size.text))

    def level(self, token: Token, inner: Factor, usage: str) -> Factor:
        """Read the reference level of a category, if it is given."""
        if inner.functions:
            self.fail(f"{token.text}(...) takes a column as it is; {usage}", token)
        if self.accept(",") is None:
            return Factor(inner.column, (), "C")
        word = self.next
        if word.kind == "name" and word.text in ("ref", "reference"):
            self.place += 1
            self.expect("=", f"an '=' is missing; {usage}")
        level = self.next
        if level.kind not in ("text", "number"):
            self.fail(f"the reference level in quotes was expected here; {usage}")
        self.place += 1
        return Factor(inner.column, (), "C", 0, level.text.strip("'\""))


class Arithmetic:
    """Reads arithmetic with one column, as it stands inside brackets; numbers are worked out, steps become functions."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def column(self) -> Factor:
        """Read what has to be a column, perhaps with arithmetic around it."""
        at = self.reader.next
        value = self.compared()
        if isinstance(value, float):
            self.reader.fail("a column was expected here, and this is a number", at)
        return value

    def compared(self) -> Factor | float:
        """Read a sum, or two that are compared."""
        value = self.sum()
        sign = self.reader.accept(">", "<", ">=", "<=")
        return value if sign is None else self.step(sign, value, self.sum())

    def sum(self) -> Factor | float:
        """Read a sum or a difference."""
        value = self.product()
        while (sign := self.reader.accept("+", "-")) is not None:
            value = self.step(sign, value, self.product())
        return value

    def product(self) -> Factor | float:
        """Read a product or a quotient."""
        value = self.signed()
        while (sign := self.reader.accept("*", "/")) is not None:
            value = self.step(sign, value, self.signed())
        return value

    def signed(self) -> Factor | float:
        """Read a power, perhaps with a minus before it."""
        minus = self.reader.accept("-")
        value = self.single()
        while (sign := self.reader.accept("^", "**")) is not None:
            value = self.step(sign, value, self.signed())
        return value if minus is None else self.step(minus, -1.0, value, spoken="*")

    def single(self) -> Factor | float:
        """Read a bracket, a number or a factor."""
        reader, token = self.reader, self.reader.next
        if reader.accept("(") is not None:
            value = self.compared()
            reader.expect(")", "a ')' is missing")
            return value
        if token.kind == "number":
            reader.place += 1
            return float(token.text)
        return reader.factor()

    def step(self, sign: Token, left: Factor | float, right: Factor | float, spoken: str = "") -> Factor | float:
        """Return what a sign makes of two values, one of which may be a column."""
        word = spoken or {"**": "^"}.get(sign.text, sign.text)
        if isinstance(left, float) and isinstance(right, float):
            return self.number(word, left, right, sign)
        if isinstance(left, Factor) and isinstance(right, Factor):
            self.reader.fail(
                "arithmetic is with one column and numbers; a product of columns is a:b, and others are columns of the table",
                sign,
            )
        factor = left if isinstance(left, Factor) else right
        number = right if isinstance(left, Factor) else left
        assert isinstance(factor, Factor)
        assert isinstance(number, float)
        if factor.basis:
            self.reader.fail(f"{factor.spelled} makes several columns, and there is no arithmetic with them", sign)
        if factor is right:
            flipped = {"+": "+", "*": "*", ">": "<", "<": ">", ">=": "<=", "<=": ">="}.get(word)
            if flipped is None and word not in "-/":
                self.reader.fail("a number to the power of a column is written exp(column)", sign)
            step = f"{spelled(number)}{word}" if flipped is None else f"{flipped}{spelled(number)}"
        else:
            step = f"{word}{spelled(number)}"
        if step[:2] in ("+-", "--"):  # x - (-1) is x + 1
            step = ("-" if step[0] == "+" else "+") + step[2:]
        return Factor(factor.column, (*factor.functions, step))

    def number(self, word: str, left: float, right: float, sign: Token) -> float:
        """Return what a sign makes of two numbers."""
        if word in (">", "<", ">=", "<="):
            self.reader.fail("two numbers are compared; a column is missing", sign)
        try:
            made = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
            value = made[word](left, right)
        except ArithmeticError:
            self.reader.fail("this number cannot be worked out", sign)
        return float(value)


_NOTHING: Final[Product] = (Factor("0", ("0",)),)
"""What 0 stands for until the sum takes the intercept away."""


def _together(product: Product) -> bool:
    """Whether a product stands for a term that takes several columns."""
    return any(factor.basis and terms.called()[factor.basis].several for factor in product)


def _crossed(left: Sequence[Product], right: Sequence[Product]) -> list[Product]:
    """Return every product of one from each; a factor times itself is itself."""
    return _distinct([tuple(dict.fromkeys((*a, *b))) for a in left for b in right])


def _distinct(products: Sequence[Product]) -> list[Product]:
    """Return products without repeats, whatever the order of their factors."""
    by_factors: dict[frozenset[Factor], Product] = {}
    for product in products:
        by_factors.setdefault(frozenset(product), product)
    return list(by_factors.values())
