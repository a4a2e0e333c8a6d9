"""What a person says a column is: the words of `--types` and of `types=`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lineal.errors import InputError, near
from lineal.features.cells.notation import Notation, named
from lineal.features.text_options import Options
from lineal.ground.records import dataclass

KINDS: Final = ("number", "category", "boolean", "ordinal", "date", "text", "drop")
ORDERS: Final = ("YMD", "DMY", "MDY")


@dataclass(frozen=True)
class Told:
    """One column's type as told; ``words`` are the levels of an ordinal in order, what is true, or options of text."""

    kind: str
    notation: Notation | None = None
    order: str | None = None
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: str, spelling: str) -> Told:
        """Read a type: ``number:1.234,5``, ``category``, ``boolean:ja``, ``ordinal:low<high``, ``date:DMY``, ``text``, ``drop``.

        >>> Told.of("size", "ordinal:S<M<L").words
        ('S', 'M', 'L')
        """
        kind, _, detail = spelling.partition(":")
        kind, detail = kind.strip(), detail.strip()
        if kind not in KINDS:
            raise InputError(
                f"{kind!r} is no type for column {column!r}; the types are {', '.join(KINDS)}.{near(kind, KINDS)}"
            )
        if detail and kind in ("category", "drop"):
            raise InputError(f"the type {kind} of column {column!r} takes nothing after it; leave {detail!r} out.")
        if kind == "number" and detail:
            notation = named(detail)
            if notation is None:
                raise InputError(
                    f"{detail!r} is no way to write numbers (column {column!r}); show it by writing 1234.5 in it,"
                    " such as 'number:1.234,5' or 'number:1,234.5 $'."
                )
            return cls(kind, notation)
        if kind == "date" and detail:
            if detail not in ORDERS:
                raise InputError(
                    f"{detail!r} is no order of year, month and day (column {column!r}); it is YMD, DMY or MDY."
                )
            return cls(kind, order=detail)
        if kind == "text":
            Options.parse(detail)
            return cls(kind, words=(detail,) if detail else ())
        words = tuple(word.strip() for word in detail.split("<" if kind == "ordinal" else ",")) if detail else ()
        if kind == "ordinal" and detail and (len(words) < 2 or "" in words or len(set(words)) < len(words)):
            raise InputError(
                f"the levels of column {column!r} must be given in order, each once, such as 'ordinal:low<middle<high'."
            )
        return cls(kind, words=words)

    @property
    def as_text(self) -> bool:
        """Whether the cells must be read as text."""
        return self.kind in ("category", "boolean", "ordinal", "text") or self.notation is not None


def told(types: Mapping[str, str] | None) -> dict[str, Told]:
    """Return the types of columns as told.

    >>> told({"age": "number"})["age"].kind
    'number'
    """
    return {name: Told.of(name, spelling) for name, spelling in (types or {}).items()}


def pairs(words: tuple[str, ...]) -> dict[str, str]:
    """Return ``COLUMN=TYPE`` words as a mapping.

    >>> pairs(("size=ordinal:S<M<L", "a=b=category"))
    {'size': 'ordinal:S<M<L', 'a=b': 'category'}
    """
    found: dict[str, str] = {}
    for word in words:
        at = max((word.rfind(f"={kind}") for kind in KINDS), default=-1)
        at = at if at > 0 else word.find("=")
        if at <= 0:
            raise InputError(f"--types {word}: write the column and its type, such as --types age=number.")
        name = word[:at]
        if name in found:
            raise InputError(f"--types names the column {name!r} twice; give it one type.")
        found[name] = word[at + 1 :]
    return found
