"""How kernels are typed: ``rbf:2``, ``string:ssk,3,0.5``, ``linear + poly:2 * rbf:1``, ``normalized(spectrum:3)``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lineal.errors import InputError, near
from lineal.kernels.composed import Normalized, Product, Sum
from lineal.kernels.kernel import DEEPEST, Kernel

PIECE: Final = re.compile(r"\s*(?:([()*+])|((?:[^()*+\s]|(?<=\d[eE])\+(?=\d)|(?<=\.[eE])\+(?=\d))+))")
"""A bracket or a sign, or a kernel with its numbers, of which ``1e+5`` is one."""


def parse(text: str, known: Mapping[str, type[Kernel]]) -> Kernel:
    """Return the kernel that a text spells, of the kernels that are known by name.

    >>> from lineal.kernels import by_name
    >>> parse("linear + linear * linear", by_name()).spelled()
    'linear + (linear * linear)'
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a kernel is spelled as a text, such as 'rbf:2', got {text!r}.")
    if text.count("(") > DEEPEST:
        raise InputError(f"the kernel has {text.count('(')} brackets; write it with at most {DEEPEST}.")
    pieces, at = [], 0
    text = re.sub(r"\s*,\s*", ",", text.rstrip())
    while at < len(text):
        piece = PIECE.match(text, at)
        assert piece  # every character is one or the other
        pieces.append(piece[1] or piece[2])
        at = piece.end()
    kernel, rest = _sum(pieces, known, text)
    if rest:
        raise InputError(f"the kernel {text!r} has {rest[0]!r} where a sign or its end is expected.")
    return kernel


def _sum(pieces: list[str], known: Mapping[str, type[Kernel]], text: str) -> tuple[Kernel, list[str]]:
    parts = []
    while True:
        part, pieces = _product(pieces, known, text)
        parts.append(part)
        if pieces[:1] != ["+"]:
            return (Sum(tuple(parts)) if len(parts) > 1 else part), pieces
        pieces = pieces[1:]


def _product(pieces: list[str], known: Mapping[str, type[Kernel]], text: str) -> tuple[Kernel, list[str]]:
    parts = []
    while True:
        part, pieces = _factor(pieces, known, text)
        parts.append(part)
        if pieces[:1] != ["*"]:
            return (Product(tuple(parts)) if len(parts) > 1 else part), pieces
        pieces = pieces[1:]


def _factor(pieces: list[str], known: Mapping[str, type[Kernel]], text: str) -> tuple[Kernel, list[str]]:
    """Return a kernel in brackets, a normalized one, or one with its numbers."""
    first = pieces[0] if pieces else ""
    normalized = first == "normalized"
    if normalized or first == "(":
        rest = pieces[1 + normalized :]
        if normalized and pieces[1:2] != ["("]:
            raise InputError(f"the kernel {text!r} has no bracket behind 'normalized'; write {Normalized.spelling}.")
        kernel, rest = _sum(rest, known, text)
        if rest[:1] != [")"]:
            raise InputError(f"the kernel {text!r} has a bracket that is never closed.")
        return (Normalized(kernel) if normalized else kernel), rest[1:]
    if first in ("", ")", "+", "*"):
        raise InputError(
            f"the kernel {text!r} lacks a kernel before {first!r}." if first else f"{text!r} ends too early."
        )
    return _alone(first, known), pieces[1:]


def _alone(text: str, known: Mapping[str, type[Kernel]]) -> Kernel:
    """Return a kernel with its numbers."""
    name, _, rest = text.partition(":")
    if name == "string":  # string:ssk,3,0.5
        name, _, rest = rest.partition(",")
    if name not in known:
        spelled = ", ".join(kernel.spelling for kernel in known.values())
        raise InputError(f"there is no kernel {name!r}; known are {spelled}.{near(name, known)}")
    words = rest.split(",") if rest else []
    if "" in words:
        raise InputError(f"the kernel {text!r} has an empty parameter; it is spelled {known[name].spelling}.")
    named: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key in named:
            raise InputError(f"{key} of {name} is given twice, as {named[key]!r} and as {value!r}.")
        if equals:
            named[key] = value
    return known[name].parse(tuple(word for word in words if "=" not in word), named)
