"""Formulas: `y ~ age + C(job, ref='none') + poly(dose, 3) + age:dose + log(x) - 1`, read by a parser of our own.

    formula    = [ targets "~" ] sum
    sum        = [ "-" ] product { ("+" | "-") product }
    product    = power { ("*" | ":") power }
    power      = atom [ ("^" | "**") whole number ]
    atom       = "(" sum ")" | "0" | "1" | "." | column | call

`a*b` is `a + b + a:b`; `(a + b)^2` is every product of two; `- a` takes a term away; `- 1` or `+ 0` the intercept. Nothing is
evaluated as Python: a name is a column, a call is a function of numbers or a term of the catalogue (``terms.ALL``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NoReturn

from lineal.errors import InputError
from lineal.features import terms
from lineal.features.terms.curve import FUNCTIONS, through
from lineal.ground.records import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[^\W\d][\w.]*)|`(?P<quoted>[^`]+)`"
    r"|(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign>\*\*|[-+*:^~(),=.]))"
)


class FormulaError(InputError):
    """A formula that cannot be read; ``picture`` (below the sentence) shows where."""

    def __init__(self, sentence: str, picture: str = "") -> None:
        super().__init__(sentence + picture)
        self.picture = picture


@dataclass(frozen=True)
class Factor:
    """A column, through functions, as itself or on a basis: ``poly(log(dose), 3)``.

    ``basis`` is the term that the formula calls, such as "C" or "poly", or "" (a number, or whatever the column holds if
    there are no functions); ``size`` the degree or the number of pieces; ``reference`` the level that others are compared
    with.
    """

    column: str
    functions: tuple[str, ...] = ()
    basis: str = ""
    size: int = 0
    reference: str | None = None

    @property
    def name(self) -> str:
        """The factor as it is written, without its size and reference."""
        return through(self.column, self.functions)

    @property
    def spelled(self) -> str:
        """The factor as it is written, with its size."""
        if not self.basis:
            return self.name
        return f"{self.basis}({self.name}, {self.size})" if self.size else f"{self.basis}({self.name})"


Product = tuple[Factor, ...]
EVERY: Final = Factor(".")
"""Every column that the formula does not name otherwise."""


@dataclass(frozen=True)
class Formula:
    """What a formula asks for: targets (none if it has no ``~``), whether there is an intercept, and products of factors.

    ``without`` are columns that ``.`` does not stand for.

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

    @classmethod
    def read(cls, text: str) -> Formula:
        """Read a formula; what cannot be read is a FormulaError with a caret below the place."""
        return _Reader(text).formula()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the right side names."""
        return tuple(dict.fromkeys(f.column for product in self.products for f in product if f != EVERY))


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text.rstrip()):
        token = _TOKEN.match(text, at)
        if token is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            _fail(text, at, f"{text[at]!r} has no meaning in a formula; put names with such signs into `backquotes`")
        kind = token.lastgroup or ""
        yield _Token(kind, token.group(kind), token.start(kind) - (kind == "quoted"))
        at = token.end()
    yield _Token("end", "", len(text.rstrip()))


def _fail(text: str, at: int, why: str) -> NoReturn:
    raise FormulaError(f"the formula cannot be read: {why}.", f"\n  {text}\n  {' ' * at}^")


class _Reader:
    """A recursive descent, one method per line of the grammar; sums are ordered lists of products, () the intercept."""

    def __init__(self, text: str) -> None:
        if "\n" in text:
            raise FormulaError("the formula has several lines; write it in one.")
        self.text = text
        self.tokens = list(_tokens(text))
        self.place = 0
        self.without: list[str] = []

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def fail(self, why: str, token: _Token | None = None) -> NoReturn:
        _fail(self.text, (token or self.next).at, why)

    def accept(self, *signs: str) -> _Token | None:
        token = self.next
        if token.kind == "sign" and token.text in signs:
            self.place += 1
            return token
        return None

    def expect(self, sign: str, why: str) -> None:
        if self.accept(sign) is None:
            self.fail(why)

    def formula(self) -> Formula:
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
        return Formula(self.text, targets, () in products, kept, tuple(self.without))

    def targets(self) -> tuple[str, ...]:
        names = []
        while True:
            token = self.next
            if token.kind not in ("name", "quoted"):
                self.fail("the name of the target was expected before '~'")
            self.place += 1
            names.append(token.text)
            if self.accept("+", ",") is None:
                return tuple(names)

    def sum(self, *, first: bool = False) -> list[Product]:
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
        products = self.power()
        while (sign := self.accept("*", ":")) is not None:
            at = self.next
            right = self.power()
            if _NOTHING in (*products, *right) or [()] in (products, right):
                self.fail("0 and 1 stand for the intercept and cannot be multiplied", at)
            if any(map(_together, (*products, *right))):
                self.fail("a map of several columns can only be added", at)
            mixed = _crossed(products, right)
            products = _distinct([*products, *right, *mixed]) if sign.text == "*" else mixed
        return products

    def power(self) -> list[Product]:
        base = self.atom()
        if self.accept("^", "**") is None:
            return base
        token = self.next
        if token.kind != "number" or not token.text.isdecimal() or not 1 <= int(token.text) <= 10:
            self.fail("a power is a whole number from 1 to 10; for powers of a column write poly(column, degree)")
        self.place += 1
        if len(base) == 1 and int(token.text) > 1:
            self.fail(
                "a power of one term is the term itself; for powers of a column write poly(column, degree)", token
            )
        if any(map(_together, base)) and int(token.text) > 1:
            self.fail("a map of several columns can only be added", token)
        result = base
        for _ in range(int(token.text) - 1):
            result = _distinct([*result, *_crossed(result, base)])
        return sorted(result, key=len)

    def atom(self) -> list[Product]:
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

    def several(self, called: type[terms.Term], token: _Token) -> Product:
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
        if called is None and token.text not in FUNCTIONS:
            functions = (*FUNCTIONS, *terms.called())
            close = get_close_matches(token.text, functions, 1)
            hint = f"did you mean {close[0]}" if close else f"the functions are {', '.join(functions)}"
            self.fail(f"there is no function {token.text!r}; {hint}", token)
        if called is not None and called.several:
            self.fail(f"{called.usage} makes several columns and can only be added", token)
        inner_at = self.next
        inner = self.factor()
        if inner.basis:
            self.fail(f"{inner.basis}(...) makes several columns and cannot stand inside {token.text}(...)", inner_at)
        if called is None:
            usage, factor = f"{token.text}(column)", Factor(inner.column, (*inner.functions, token.text))
        else:
            usage, factor = called.usage, self.filled(called, token, inner)
        self.expect(")", f"a ')' is missing; it is written {usage}")
        return factor

    def filled(self, called: type[terms.Term], token: _Token, inner: Factor) -> Factor:
        """Read what follows the column in a call of a term: a level, a number or nothing."""
        usage = f"it is written {called.usage}"
        if issubclass(called, terms.Category):
            return self.level(token, inner, usage)
        if called.sizes is None:
            return Factor(inner.column, inner.functions, token.text)
        self.expect(",", f"a number is missing; {usage}")
        size = self.next
        if size.kind != "number" or not size.text.isdecimal() or int(size.text) not in called.sizes:
            least, most = called.sizes[0], called.sizes[-1]
            self.fail(f"a whole number from {least} to {most} was expected here; {usage}")
        self.place += 1
        return Factor(inner.column, inner.functions, token.text, int(size.text))

    def level(self, token: _Token, inner: Factor, usage: str) -> Factor:
        """Read the reference level of a category, if it is given."""
        if inner.functions:
            self.fail(f"{token.text}(...) takes a column as it is; {usage}", token)
        if self.accept(",") is None:
            return Factor(inner.column, (), token.text)
        word = self.next
        if word.kind == "name" and word.text in ("ref", "reference"):
            self.place += 1
            self.expect("=", f"an '=' is missing; {usage}")
        level = self.next
        if level.kind not in ("text", "number"):
            self.fail(f"the reference level in quotes was expected here; {usage}")
        self.place += 1
        return Factor(inner.column, (), token.text, 0, level.text.strip("'\""))


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
