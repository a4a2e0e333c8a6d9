"""Kernels of texts and trees by their definitions: common substrings, subsequences with gaps, fragments of trees.

Points are arrays of texts. All terms are above zero, so that an entry is off by no more than the share of itself that one term
can lose on its longest way through products and sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import EPS, Array, Whole
from lineal.verify.maps import kernels
from lineal.verify.maps.kernels import LOST, Entries, Kernel, member, number, taken, whole

CELLS: Final = 2**22
"""Numbers of one table of subsequences."""
Tree = tuple[tuple[str, ...], tuple[int, ...]]
"""A production, labels of a node and its children, and the numbers of the children's subtrees, -1 for a leaf."""


def take(data: Any) -> Kernel:
    """Return the kernel of texts or trees that a model file names, or refuse the file.

    >>> take({"kernel": "spectrum", "length": 2, "unit": "characters"}).between(["banana"], ["ananas"])[0]
    array([[8.]])
    """
    kernel = taken(data, _leaf)
    if len({isinstance(leaf, Fragments) for leaf in _leaves(kernel)}) > 1:
        raise ModelFileError("the parts of a kernel must take the same points.")
    return kernel


def _leaves(kernel: Kernel) -> Iterator[Kernel]:
    if isinstance(kernel, kernels.Composed):
        for part in kernel.parts:
            yield from _leaves(part)
    elif isinstance(kernel, kernels.Normalized):
        yield from _leaves(kernel.base)
    else:
        yield kernel


def _leaf(name: str, data: Mapping[str, Any]) -> Kernel:
    """Return a kernel that is not made of others."""
    if name == "tree":
        return Fragments(_decay(member(data, "decay")))
    if name not in ("spectrum", "ssk"):
        raise ModelFileError(f"this checker does not know kernels of texts that are called {name!r}.")
    member(data, "length", "unit", *(["decay"] * (name == "ssk")))
    if data["unit"] not in ("characters", "words"):
        raise ModelFileError(f"unit of the kernel is {data['unit']!r}, which it cannot be.")
    words = data["unit"] == "words"
    if name == "spectrum":
        return Substrings(whole(data, "length", 10_000), words)
    return Subsequences(whole(data, "length", 32), _decay(data), words)


def _decay(data: Mapping[str, Any]) -> float:
    decay = number(data, "decay")
    if decay > 1.0:
        raise ModelFileError(f"decay of the kernel is {decay!r}, which it cannot be.")
    return decay


@dataclass(frozen=True)
class Substrings(Kernel):
    """``sum over u of length symbols of (times u is in x) (times u is in z)``: whole numbers, which are exact."""

    length: int
    words: bool

    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some texts with some others."""
        places: dict[Any, list[tuple[int, int]]] = {}
        for j, text in enumerate(z):
            for piece, times in self._counted(text).items():
                places.setdefault(piece, []).append((j, times))
        strings = {piece: np.array(where, dtype=np.float64).T for piece, where in places.items()}
        entries = np.zeros((len(x), len(z)))
        for i, text in enumerate(x):
            for piece, times in self._counted(text).items():
                if piece in strings:
                    entries[i, strings[piece][0].astype(np.intp)] += times * strings[piece][1]
        return entries, np.zeros_like(entries)

    def own(self, x: Any) -> Entries:
        """Return the entry of every text with itself."""
        squares = [sum(times**2 for times in self._counted(text).values()) for text in x]
        return np.array(squares, dtype=np.float64), np.zeros(len(x))

    def _counted(self, text: str) -> Counter[Any]:
        symbols = tuple(text.split()) if self.words else text
        return Counter(symbols[i : i + self.length] for i in range(len(symbols) - self.length + 1))


@dataclass(frozen=True)
class Subsequences(Kernel):
    """``sum over u of length symbols, over its places in x and z, of decay^(span in x + span in z)``.

    ``ends[q]`` at j has the sum over places of q symbols in x so far and in the first j symbols of z, each weighed by decay to
    the number of symbols from its first one to the end of both.
    """

    length: int
    decay: float
    words: bool

    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some texts with some others."""
        left, right = _numbered(self._symbols(x), self._symbols(z))
        return self._tables(left[:, None], right[None])

    def own(self, x: Any) -> Entries:
        """Return the entry of every text with itself."""
        left, right = _numbered(self._symbols(x), self._symbols(x))
        value, off = self._tables(left[:, None], right[:, None])
        return value[:, 0], off[:, 0]

    def _symbols(self, texts: Any) -> list[list[str]]:
        return [text.split() if self.words else list(text) for text in texts]

    def _tables(self, left: Whole, right: Whole) -> Entries:
        """Return the entries of some texts at a time, and how far they may be off."""
        tables, places = [np.zeros((0, right.shape[1]))], right.shape[-1] + 1
        step = max(1, CELLS // (self.length * places * max(1, right.shape[1])))
        for first in range(0, len(left), step):
            some = slice(first, first + step)
            tables.append(self._table(left[some], right if len(right) == 1 else right[some]))
        entries, steps = np.concatenate(tables), left.shape[-1] + right.shape[-1]
        return entries, EPS * (2.0 * steps + 4.0 * self.length + 8.0) * entries + LOST

    def _table(self, left: Whole, right: Whole) -> Array:
        """Return the entries of texts as numbers of symbols, negative ones behind their ends."""
        shape = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
        ends = [np.zeros((right.shape[-1] + 1, *shape)) for _ in range(self.length)]
        ends[0] += 1.0
        total, square = np.zeros(shape), self.decay * self.decay
        for i in range(left.shape[-1]):
            same = np.moveaxis(right, -1, 0) == left[..., i]
            total += square * np.sum(ends[-1][:-1] * same, axis=0)
            for q in range(self.length - 1, 0, -1):
                run = np.zeros(shape)
                for j in range(len(same)):
                    run = self.decay * run + square * (same[j] * ends[q - 1][j])
                    ends[q][j + 1] = self.decay * ends[q][j + 1] + run
        return total


def _numbered(left: list[list[str]], right: list[list[str]]) -> tuple[Whole, Whole]:
    """Return symbols as numbers, -1 behind the ends of the former and -2 behind those of the latter."""
    known: dict[str, int] = {}
    tables = []
    for texts, end in ((left, -1), (right, -2)):
        table = np.full((len(texts), max(map(len, texts), default=0)), end, dtype=np.int64)
        for row, symbols in enumerate(texts):
            table[row, : len(symbols)] = [known.setdefault(symbol, len(known)) for symbol in symbols]
        tables.append(table)
    return tables[0], tables[1]


@dataclass(frozen=True)
class Fragments(Kernel):
    """``sum over nodes n of x and m of z of C(n, m)``: 0 for different productions, else ``decay prod_j (1 + C(children j))``.

    Equal subtrees have one number, smaller than those that hold them.
    """

    decay: float
    subtrees: dict[Tree, int] = field(default_factory=dict, compare=False)
    known: list[Tree] = field(default_factory=list, compare=False)
    common: dict[tuple[int, int], float] = field(default_factory=dict, compare=False)
    trees: dict[str, Counter[int]] = field(default_factory=dict, compare=False)

    def between(self, x: Any, z: Any) -> Entries:
        """Return the entries of some trees with some others."""
        holders: dict[tuple[str, ...], dict[int, Array]] = {}
        for j, text in enumerate(z):
            for subtree, times in self._read(text).items():
                at = holders.setdefault(self.known[subtree][0], {})
                at.setdefault(subtree, np.zeros(len(z)))[j] = times
        entries, met = np.zeros((len(x), len(z))), dict[int, Array]()
        for i, text in enumerate(x):
            for subtree, times in self._read(text).items():
                if subtree not in met:
                    others = holders.get(self.known[subtree][0], {})
                    met[subtree] = sum((self._both(subtree, one) * at for one, at in others.items()), np.zeros(len(z)))
                entries[i] += times * met[subtree]
        return entries, EPS * (8.0 * self._most(x, z) + 8.0) * entries + LOST

    def own(self, x: Any) -> Entries:
        """Return the entry of every tree with itself."""
        norms = [self.between([text], [text]) for text in x]
        return np.array([one[0, 0] for one, _ in norms]), np.array([off[0, 0] for _, off in norms])

    def _most(self, x: Any, z: Any) -> float:
        return float(max((sum(self._read(text).values()) for each in (x, z) for text in each), default=0))

    def _both(self, one: int, other: int) -> float:
        """Return C of two subtrees of the same production; those of their children come first."""
        waiting = [(one, other)]
        while waiting:
            pair = waiting[-1]
            inner = [
                both for both in zip(self.known[pair[0]][1], self.known[pair[1]][1], strict=True) if min(both) >= 0
            ]
            inner = [both for both in inner if self.known[both[0]][0] == self.known[both[1]][0]]
            absent = [both for both in inner if both not in self.common]
            if absent:
                waiting += absent
                continue
            waiting.pop()
            value = self.decay
            for both in inner:
                value *= 1.0 + self.common[both]
            self.common[pair] = value
        return self.common[one, other]

    def _read(self, text: str) -> Counter[int]:
        """Return the subtrees of a tree in brackets and how often it has each, leaves not counted."""
        if text not in self.trees:
            self.trees[text] = self._parsed(text)
        return self.trees[text]

    def _parsed(self, text: str) -> Counter[int]:
        fragments: Counter[int] = Counter()
        waiting: list[list[tuple[str, int]]] = [[]]
        pieces = text.replace("(", " ( ").replace(")", " ) ").split()
        for place, piece in enumerate(pieces):
            if piece == "(":
                waiting.append([])
                if place + 1 < len(pieces) and pieces[place + 1] == "(":
                    waiting[-1].append(("", -1))  # a node without a label
            elif piece != ")":
                waiting[-1].append((piece, -1))
            else:
                if len(waiting) < 2 or not waiting[-1]:
                    raise ModelFileError("a text of the data is no tree in brackets.")
                (label, _), *children = waiting.pop()
                number = -1
                if children:
                    tree = (label, *(child for child, _ in children)), tuple(inner for _, inner in children)
                    number = self.subtrees.setdefault(tree, len(self.known))
                    self.known.extend([tree] * (number == len(self.known)))
                    fragments[number] += 1
                waiting[-1].append((label, number))
        if len(waiting) != 1 or len(waiting[0]) != 1 or not text.strip().startswith("("):
            raise ModelFileError("a text of the data is no tree in brackets.")
        return fragments
