"""A text term out of a model file, every member checked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from lineal.errors import InputError
from lineal.features.schema.expecting import expect
from lineal.features.terms.text import LONGEST, OWN, Text
from lineal.features.terms.text_statistics import TextStatistics
from lineal.features.text_options import BITS, Options

TERMS: Final = 2**22
"""At most so many terms a file may name."""


def text_from(data: Any) -> Text:
    """Return a text term, or refuse the file naming what is wrong."""
    members = {"kind", "column", "terms", "documents", "rows", *OWN}
    expect(set(data) == members, f"has a text term with other members than {sorted(members)}")
    name = data["column"]
    expect(isinstance(name, str) and name != "", "has a text term without a column name")
    options = _options({member: data[member] for member in OWN}, name)
    terms, documents, rows = data["terms"], data["documents"], data["rows"]
    expect(isinstance(terms, list) and 0 < len(terms) <= TERMS, f"has no list of terms for {name!r}, or too long a one")
    if options.bits is None:
        expect(
            all(isinstance(term, str) and 0 < len(term) <= LONGEST for term in terms), f"has an odd term of {name!r}"
        )
    else:
        expect(options.bits <= BITS and all(map(_whole, terms)), f"has an odd bucket of {name!r}")
        expect(all(0 <= term < 2**options.bits for term in terms), f"has a bucket of {name!r} that does not exist")
    expect(all(a < b for a, b in pairwise(terms)), f"has terms of {name!r} that are not in order")
    tfidf = options.weighting == "tfidf"
    expect(_whole(rows) and 0 <= rows < 2**53 and (rows > 0) == tfidf, f"has an odd number of rows for {name!r}")
    expect((documents is not None) == tfidf, f"counts rows of {name!r} without tf-idf, or does not with it")
    if documents is not None:
        fine = isinstance(documents, list) and len(documents) == len(terms) and all(map(_whole, documents))
        expect(
            fine and all(0 < seen <= rows for seen in documents), f"has odd numbers of rows for the terms of {name!r}"
        )
    return Text(name, options, tuple(terms), None if documents is None else tuple(documents), rows)


def statistics_from(data: Any) -> TextStatistics:
    """Return a term of text statistics, or refuse the file."""
    expect(
        set(data) == {"kind", "column", "spelling"}, "has text statistics with other members than column and spelling"
    )
    name, words = data["column"], data["spelling"]
    expect(isinstance(name, str) and name != "", "has text statistics without a column name")
    if words is not None:
        fine = isinstance(words, list) and 0 < len(words) <= TERMS
        expect(
            fine and all(isinstance(word, str) and 0 < len(word) <= LONGEST for word in words), "has an odd word list"
        )
        expect(all(a < b for a, b in pairwise(words)), "has a word list that is not in order")
    return TextStatistics(name, None if words is None else tuple(words))


def _options(data: dict[str, Any], name: str) -> Options:
    whole = ("low", "high", "letters")
    maybe = ("size", "bits")
    fine = (
        all(_whole(data[member]) for member in whole)
        and all(data[member] is None or _whole(data[member]) for member in maybe)
        and all(isinstance(data[member], bool) for member in ("lower", "fold"))
        and all(isinstance(data[member], str) for member in ("unit", "weighting"))
        and all(isinstance(data[member], int | float) and data[member] is not True for member in ("least", "common"))
    )
    expect(fine, f"has an option of the text {name!r} of another type than it must have")
    try:
        return Options(**data)
    except InputError as error:
        expect(False, f"has an impossible option of the text {name!r}: {str(error).rstrip('.')}")
        raise


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
