"""Plain twins of the encoder's terms, one file each: a term turns columns of cells into columns of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Final

from lineal.verify.arithmetic import Array
from lineal.verify.reading import cells
from lineal.verify.terms import (
    boolean,
    bspline,
    category,
    contrast,
    curve,
    cut,
    cycle,
    elapsed,
    fourier,
    hashed,
    merged,
    number,
    nystroem,
    ordinal,
    pair,
    poly,
    product,
    quadratic,
    scaled,
    spline,
    statistics,
    text,
    verbatim,
    written,
)

BY_KIND: Final[dict[str, ModuleType]] = {
    "number": number,
    "boolean": boolean,
    "category": category,
    "function": curve,
    "poly": poly,
    "spline": spline,
    "bspline": bspline,
    "scaled": scaled,
    "cut": cut,
    "contrast": contrast,
    "written": written,
    "ordinal": ordinal,
    "elapsed": elapsed,
    "cycle": cycle,
    "merged": merged,
    "hashed": hashed,
    "text": text,
    "verbatim": verbatim,
    "statistics": statistics,
    "pair": pair,
}
"""Each module has FIELDS, TYPE ("n" or "t" in the fingerprint), names(term), values(term, cells) and a Learner(term).

It may have OWN_LISTS, fields that are lists of other things than different texts, and check(term), which refuses a file.
"""
PAIR: Final = "pair"
"""The kind of a term that takes two columns, ``source`` and ``target``."""
PRODUCT: Final = "product"
"""The kind of a term that has ``factors``, terms of the kinds above."""
NEAR_KERNELS: Final[dict[str, ModuleType]] = {"fourier": fourier, "nystroem": nystroem}
"""Terms that have ``factors``, and numbers of their own."""
TOGETHER: Final[dict[str, ModuleType]] = {PRODUCT: product, "quadratic": quadratic, **NEAR_KERNELS}
"""Terms of ``factors``, each with names(parts) and values(parts) of the columns of its factors."""


def factors(term: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the factors of a product or a map of several columns, or the term itself."""
    return list(term["factors"]) if term["kind"] in TOGETHER else [term]


def inputs(term: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the data columns that a term takes, each with its type in the fingerprint.

    >>> inputs({"kind": "number", "column": "age", "fill": 41.5, "indicator": True})
    [('age', 'n')]
    """
    if term["kind"] == PAIR:
        return [(term["source"], pair.TYPE), (term["target"], pair.TYPE)]
    return [(factor["column"], str(BY_KIND[factor["kind"]].TYPE)) for factor in factors(term)]


def names(term: Mapping[str, Any]) -> list[str]:
    """Return the design columns of a term."""
    parts = [list(BY_KIND[factor["kind"]].names(factor)) for factor in factors(term)]
    if term["kind"] in NEAR_KERNELS:
        return list(NEAR_KERNELS[term["kind"]].names(term, parts))
    return list(TOGETHER[term["kind"]].names(parts)) if term["kind"] in TOGETHER else parts[0]


def values(term: Mapping[str, Any], columns: Mapping[str, cells.Column]) -> list[Array]:
    """Return the values of the design columns of a term, row by row."""
    if term["kind"] == PAIR:
        return pair.values(term, columns)
    parts = [list(BY_KIND[factor["kind"]].values(factor, columns[factor["column"]])) for factor in factors(term)]
    if term["kind"] in NEAR_KERNELS:
        return list(NEAR_KERNELS[term["kind"]].values(term, parts))
    return list(TOGETHER[term["kind"]].values(parts)) if term["kind"] in TOGETHER else parts[0]


class Learner:
    """What training cells teach a term, block after block.

    >>> one = Learner({"kind": "number", "column": "age", "fill": 5.0, "indicator": False})
    >>> one.see({"age": ["4", "6"]})
    >>> one.wrong() is None
    True
    """

    def __init__(self, term: Mapping[str, Any]) -> None:
        whole = {PAIR: pair, **NEAR_KERNELS}.get(term["kind"])
        self._whole = None if whole is None else whole.Learner(term)
        own = [] if term["kind"] == PAIR else factors(term)
        self._own = [(factor["column"], BY_KIND[factor["kind"]].Learner(factor)) for factor in own]

    def see(self, columns: Mapping[str, cells.Column]) -> None:
        """Take some more rows."""
        if self._whole is not None:
            self._whole.see(columns)
        for name, learner in self._own:
            learner.see(columns[name])

    def wrong(self) -> str | None:
        """Return what is wrong with the term as learned from these training cells."""
        learners = [*([] if self._whole is None else [self._whole]), *(learner for _, learner in self._own)]
        problems: Iterator[str | None] = (learner.wrong() for learner in learners)
        return next((problem for problem in problems if problem is not None), None)


def learned(term: Mapping[str, Any], columns: Mapping[str, cells.Column]) -> str | None:
    """Return what is wrong with a term as learned from all training cells at once."""
    learner = Learner(term)
    learner.see(columns)
    return learner.wrong()
