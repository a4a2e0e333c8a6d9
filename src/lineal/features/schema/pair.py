"""A pair of texts out of a model file, every member checked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from lineal.features.schema.expecting import expect
from lineal.features.schema.text import TERMS
from lineal.features.terms.pair import SOURCE, TARGET, Pair, Side
from lineal.features.terms.text import LONGEST

MEMBERS = frozenset(
    ("kind", "source", "target", "translations", *(f"{s}_{m}" for s in ("source", "target") for m in ("terms", "times", "words")))
)  # fmt: skip


def pair_from(data: Any) -> Pair:
    """Return the features of a pair, or refuse the file naming what is wrong."""
    expect(set(data) == MEMBERS, f"has a pair with other members than {sorted(MEMBERS)}")
    names = data["source"], data["target"]
    expect(all(isinstance(name, str) and name for name in names) and names[0] != names[1], "has a pair without columns")
    source, target = _side(data, "source", SOURCE.high), _side(data, "target", TARGET.high)
    numbers = data["translations"]
    fine = isinstance(numbers, list) and len(numbers) == source.known and all(map(_whole, numbers))
    expect(fine and all(0 <= number <= 5 for number in numbers), "has odd numbers of translations")
    return Pair(*names, (source, target), tuple(numbers))


def _side(data: Any, name: str, longest: int) -> Side:
    terms, times, words = (data[f"{name}_{member}"] for member in ("terms", "times", "words"))
    expect(isinstance(terms, list) and 0 < len(terms) <= TERMS, f"has no n-grams of the {name}, or too many")
    expect(
        all(isinstance(term, str) and 0 < len(term) <= LONGEST for term in terms), f"has an odd n-gram of the {name}"
    )
    expect(all(a < b for a, b in pairwise(terms)), f"has n-grams of the {name} that are not in order")
    pieces = [term.split(" ") for term in terms]
    known = {term for term in terms if " " not in term}
    expect(
        all(len(words) <= longest and all(word in known for word in words) for words in pieces),
        f"has an n-gram of the {name} that is too long, or whose words are not known",
    )
    fine = isinstance(times, list) and len(times) == len(terms) and all(map(_whole, times))
    expect(fine and all(0 < count < 2**53 for count in times), f"has odd numbers of n-grams of the {name}")
    expect(_whole(words) and 0 < words < 2**53, f"has an odd number of words of the {name}")
    return Side(tuple(terms), tuple(times), words)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
