"""The numbers that follow a kernel's name on the command line, by place or by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lineal.errors import InputError, near


def numbers(
    kernel: Any, words: tuple[str, ...], named: Mapping[str, str], kinds: Mapping[str, Callable[[str], Any]]
) -> dict[str, Any]:
    """Return the parameters of a kernel that were given, each read by its kind.

    >>> from lineal.kernels import Polynomial
    >>> numbers(Polynomial, ("2",), {"coef0": "0"}, {"degree": int, "coef0": float})
    {'degree': 2, 'coef0': 0.0}
    """
    if len(words) > len(kinds):
        raise InputError(
            f"{kernel.name} takes {len(kinds)} parameter{'s' * (len(kinds) != 1)}, and {len(words)} are given; "
            f"it is spelled {kernel.spelling}."
        )
    given = dict(zip(kinds, words, strict=False))
    for name, word in named.items():
        if name not in kinds:
            raise InputError(
                f"{kernel.name} has no parameter {name!r}; it is spelled {kernel.spelling}.{near(name, kinds)}"
            )
        if name in given:
            raise InputError(f"{name} of {kernel.name} is given twice, as {given[name]!r} and as {word!r}.")
        given[name] = word
    return {name: _number(kernel, name, word, kinds[name]) for name, word in given.items()}


def _number(kernel: Any, name: str, word: str, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(word)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{name} of {kernel.name} is {word!r}; it must be {what}, as in {kernel.spelling}.") from None
