"""Every error lineal raises on purpose: what was given, what is accepted, what to do."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

MAX_NAMES_COMPARED: Final = 100_000
"""Names that are compared with one that is unknown; looking at more would take longer than a person waits."""


class LinealError(Exception):
    """Anything lineal refuses, in one sentence for a person.

    ``exit_code`` is what the command line returns for it; ``answered`` says that an answer on stdout holds it already.

    >>> LinealError("no such column").exit_code
    2
    """

    exit_code = 2
    answered = False


class InputError(LinealError, ValueError):
    """Data, an option or a parameter that cannot be used as given.

    >>> isinstance(InputError("the target is constant"), ValueError)
    True
    """


class KindError(InputError, TypeError):
    """A value of a kind that cannot be used, such as a dictionary where a number is wanted.

    >>> isinstance(KindError("X holds a dict"), TypeError)
    True
    """


class UnsupportedError(InputError, NotImplementedError):
    """What one way of computing does not offer, and another one does.

    >>> isinstance(UnsupportedError("use another solver"), NotImplementedError)
    True
    """


class PointError(InputError):
    """One of many texts or trees that cannot be used: its ``place``, from 0, and ``words`` on it.

    >>> str(PointError("X[3]", 3, "is no tree.")), str(PointError("X[3]", 3, "is no tree.").at("row 4"))
    ('X[3] is no tree.', 'row 4 is no tree.')
    """

    def __init__(self, name: str, place: int, words: str) -> None:
        super().__init__(f"{name} {words}")
        self.place, self.words = place, words

    def at(self, name: str) -> PointError:
        """Return the same with another name of the point."""
        return PointError(name, self.place, self.words)


class ModelFileError(LinealError, ValueError):
    """A model file that is damaged, hostile or from another version.

    >>> ModelFileError("the file is truncated").exit_code
    2
    """


class VerificationError(LinealError):
    """A claim of a model file that the data does not confirm.

    >>> VerificationError("the gap is understated").exit_code
    1
    """

    exit_code = 1


def near(name: object, known: Iterable[str]) -> str:
    """Return a hint naming the nearest known names, or an empty string.

    >>> near("speces", ["species", "island"])
    " Did you mean 'species'?"
    >>> near("zzz", ["species"])
    ''
    >>> near("NAME", ["name", "game"])
    " Did you mean 'name'?"
    """
    import difflib

    if not isinstance(name, str):  # whatever was given in place of a name
        return ""
    names = list(itertools.islice(known, MAX_NAMES_COMPARED))
    wanted = alike(name)
    hits = [one for one in names if alike(one) == wanted][:3]
    hits = hits or difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if not hits:
        return ""
    return f" Did you mean {' or '.join(repr(hit) for hit in hits)}?"


def alike(name: str) -> str:
    """Return a name without what people take for the same: case, accents, blanks, hyphens, underscores, a full stop behind.

    >>> alike(" Año_Nuevo") == alike("ano nuevo"), alike("a1") == alike("a2")
    (True, False)
    """
    import unicodedata

    letters = unicodedata.normalize("NFKD", name.casefold().strip().removesuffix("."))
    return "".join(c for c in letters if not (unicodedata.combining(c) or c.isspace() or c in "-_"))
