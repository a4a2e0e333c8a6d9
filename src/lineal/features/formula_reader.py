"""Formulas read: a recursive descent, one method per line of the grammar in formula.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final, NoReturn

from lineal.features import terms
from lineal.features.formula_arithmetic import Arithmetic
from lineal.features.formula_words import EVERY, INSTEAD, Factor, FormulaError, Product, Token
from lineal.features.terms.arithmetic import is_step
from lineal.features.terms.contrast import CODINGS
from lineal.features.terms.curve import FUNCTIONS

CONTRASTS: Final = {"treatment": "", "polynomial": "poly", **{coding: coding for coding in CODINGS}}
"""The names of contrasts, and the codings that they are."""


class Reader(Arithmetic):
    """A recursive descent, one method per line of the grammar; sums are ordered lists of products, () the intercept."""

    def formula(self) -> tuple[tuple[str, ...], bool, tuple[Product, ...], tuple[str, ...], str | None]:
        """Return targets, whether there is an intercept, products, columns that "." does not stand for, and the offset."""
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
        return targets, () in products, kept, tuple(self.without), self.known_offset

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
            if not both and self.next.text == "(" and token.kind == "name":
                self.place -= 1
                names[-1] = self.function_of("a target")
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
            if minus and not added:
                self.fail("an offset can only be added", at)
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
            if not products or not right:
                self.fail("an offset can only be added", at)
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
        if token.text == "offset" and token.kind == "name" and self.tokens[self.place + 1].text == "(":
            return self.offset(token)
        called = terms.called().get(token.text)
        if called is not None and called.several and token.kind == "name" and self.tokens[self.place + 1].text == "(":
            return [self.several(called, token)]
        return [(self.factor(),)]

    def function_of(self, what: str) -> str:
        """Read a column, or functions of one, as the name of a column that is made."""
        at = self.next
        factor = self.factor()
        if factor.basis or any(is_step(function) for function in factor.functions):
            self.fail(f"{what} is a column or a function of one, such as log(column)", at)
        return factor.name

    def offset(self, token: Token) -> list[Product]:
        """Read an offset, which is no term."""
        if self.known_offset is not None:
            self.fail("there is an offset already; add the columns up in the table", token)
        self.place += 2
        self.known_offset = self.function_of("an offset")
        self.expect(")", "a ')' is missing; it is written offset(column) or offset(log(column))")
        return []

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
            if self.accept(",") is None or (called.sizes is not None and self.next.kind == "number"):
                break
        if called.sizes is not None:
            size, width = self.sized(called)
            factors = [replace(factor, size=size, width=width) for factor in factors]
        self.expect(")", f"a ')' is missing; it is written {called.usage}")
        if len(factors) < 2 and called.sizes is None:
            self.fail(f"a second column is missing; it is written {called.usage}", token)
        return tuple(factors)

    def sized(self, called: type[terms.Term]) -> tuple[int, float]:
        """Read how many columns are made, and perhaps the width of a kernel."""
        usage, size = f"it is written {called.usage}", self.next
        assert called.sizes is not None
        if size.kind != "number" or not size.text.isdecimal() or int(size.text) not in called.sizes:
            self.fail(f"a whole number from {called.sizes[0]} to {called.sizes[-1]} was expected here; {usage}")
        self.place += 1
        if self.accept(",") is None:
            return int(size.text), 0.0
        width = self.next
        if width.kind != "number" or not 0.0 < float(width.text) < math.inf:
            self.fail(f"a width above 0 was expected here; {usage}")
        self.place += 1
        return int(size.text), float(width.text)

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
        inner = self.operand()
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
        """Read what follows the column in a call of a term: a level, a number, breaks or nothing."""
        usage, name = f"it is written {called.usage}", called.usage.partition("(")[0]
        if issubclass(called, terms.Category):
            return self.category(token, inner, usage)
        if called.sizes is None:
            return Factor(inner.column, inner.functions, name)
        self.expect(",", f"a number is missing; {usage}")
        if self.next.kind == "name" and self.tokens[self.place + 1].text == "=":  # degree=3, df=5
            self.place += 2
        if issubclass(called, terms.Cut) and self.next.text == "c":
            return Factor(inner.column, inner.functions, name, breaks=self.breaks(usage))
        size = self.next
        if size.kind != "number" or not size.text.isdecimal() or int(size.text) not in called.sizes:
            least, most = called.sizes[0], called.sizes[-1]
            self.fail(f"a whole number from {least} to {most} was expected here; {usage}")
        self.place += 1
        return Factor(inner.column, inner.functions, name, int(size.text))

    def breaks(self, usage: str) -> tuple[float, ...]:
        """Read increasing numbers: ``c(10, 20)``."""
        self.place += 1
        self.expect("(", f"a '(' is missing; {usage}")
        breaks: list[float] = []
        while True:
            at, minus = self.next, self.accept("-")
            number = self.next
            if number.kind != "number":
                self.fail(f"a number was expected here; {usage}")
            self.place += 1
            breaks.append(float(number.text) * (1.0 if minus is None else -1.0))
            if len(breaks) > 1 and not breaks[-2] < breaks[-1]:
                self.fail("breaks have to increase", at)
            if self.accept(",") is None:
                break
        self.expect(")", f"a ')' is missing; {usage}")
        return tuple(breaks)

    def category(self, token: Token, inner: Factor, usage: str) -> Factor:
        """Read the contrasts of a category, its reference level or the order of its levels, where they are given."""
        if inner.functions:
            self.fail(f"{token.text}(...) takes a column as it is; {usage}", token)
        reference, coding, levels = None, "", tuple[str, ...]()
        while self.accept(",") is not None:
            word = self.next
            named = word.text if word.kind == "name" and self.tokens[self.place + 1].text == "=" else ""
            self.place += 2 if named else 0
            value = self.next
            bare = value.text.strip("'\"").lower().removeprefix("contr.")
            if not named and value.kind == "name" and bare in CONTRASTS:
                coding = CONTRASTS[bare]
            elif named in ("ref", "reference", "") and value.kind in ("text", "number"):
                reference = value.text.strip("'\"")
            elif named == "levels" and value.kind == "text":
                levels = tuple(level.strip() for level in value.text.strip("'\"").split(","))
            else:
                known = ", ".join(("treatment", *CODINGS))
                self.fail(f"contrasts ({known}), ref='level' or levels='first,second' was expected here; {usage}", word)
            self.place += 1
        if coding and reference is not None:
            self.fail("only treatment contrasts have a reference level; leave one of them out", token)
        if levels and not coding:
            self.fail("an order of the levels is for contrasts sum, helmert and poly", token)
        return Factor(inner.column, (), "C", 0, reference, coding, levels)


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
