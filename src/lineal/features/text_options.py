"""How a text column is to be read, as a person spells it: ``ngrams=1-2,tfidf,max=50000``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from lineal.errors import InputError, near
from lineal.ground.files import text_of
from lineal.ground.records import dataclass

Unit = Literal["words", "characters"]
Weighting = Literal["counts", "binary", "tfidf"]
Norm = Literal["", "l1", "l2", "none"]
Detailed = Mapping[str, Any]
TextOptions = str | Iterable[str] | Mapping[str, str | Detailed | None]
"""Text columns as a person asks for them."""

MAX_WORDS_PER_NGRAM: Final = 3
"""The longest n-gram of words."""
MAX_CHARACTERS_PER_NGRAM: Final = 8
"""The longest n-gram of characters."""
MAX_HASH_BITS: Final = 20
"""The most bits of a hash that number the columns of a table's text."""
SPELLED: Final = (
    "ngrams=1-2", "characters=3-5", "counts", "binary", "tfidf", "sublinear", "norm=l1", "min=2", "common=0.9",
    "max=50000", "hash=2^18", "letters=2", "fold", "case", "stop=FILE", "vocabulary=FILE",
    "statistics", "statistics=only", "spelling=FILE", "pair=COL",
)  # fmt: skip


@dataclass(frozen=True)
class Options:
    """How text becomes terms and terms become columns.

    Terms are the n-grams of ``low`` to ``high`` ``unit``s, words of at least ``letters`` characters. A term is kept if at
    least ``least`` rows have it (a share of them if below 1) and at most the share ``common``; of those the ``size`` most
    frequent, equal ones in the order of the alphabet. With ``bits``, a column is the first bits of a term's hash.
    ``once`` counts a term once in a row (with tf-idf), ``sublinear`` as ``1 + ln times``; ``norm`` is what a row is divided by,
    "" for the usual one: its length with tf-idf, else nothing. Words in ``stop`` are left out before n-grams are made;
    ``vocabulary`` are the terms themselves, which are then not learned; ``stop_file`` and ``vocabulary_file`` say where they
    came from.
    ``pair`` names the column of a translation: features of the pair instead of terms (``partner`` is the other way round).
    ``statistics`` of the text stand beside the terms, or are ``only`` there; ``spelling`` is a file of known words.

    >>> options = Options.parse("ngrams=1-2,tfidf,max=5000")
    >>> options.high, options.size
    (2, 5000)
    """

    unit: Unit = "words"
    low: int = 1
    high: int = 1
    lower: bool = True
    fold: bool = False
    letters: int = 1
    weighting: Weighting = "tfidf"
    least: float = 2
    common: float = 1.0
    size: int | None = 50_000
    bits: int | None = None
    once: bool = False
    sublinear: bool = False
    norm: Norm = ""
    stop: tuple[str, ...] = ()
    vocabulary: tuple[str, ...] | None = None
    stop_file: str | None = None
    vocabulary_file: str | None = None
    statistics: Literal["", "beside", "only"] = ""
    spelling: str | None = None
    pair: str | None = None
    partner: str | None = None

    def __post_init__(self) -> None:
        """Check every field; an option without effect is an error."""
        longest = MAX_WORDS_PER_NGRAM if self.unit == "words" else MAX_CHARACTERS_PER_NGRAM
        _check(
            self.unit in ("words", "characters"), f"the unit {self.unit!r} is unknown; it is 'words' or 'characters'"
        )
        _check(
            1 <= self.low <= self.high <= longest,
            f"n-grams of {self.low} to {self.high} {self.unit} were asked for; the lengths are 1 to {longest}, the smaller"
            " one first",
        )
        _check(
            self.weighting in ("counts", "binary", "tfidf"),
            f"the weighting {self.weighting!r} is unknown; it is 'counts', 'binary' or 'tfidf'",
        )
        _check(self.letters >= 1, f"letters is {self.letters}; words have at least 1 character")
        _check(
            self.unit == "words" or self.letters == 1,
            "letters counts the characters of words, so it has no effect on n-grams of characters; leave it out",
        )
        _check(
            0 < self.least < 1 or (self.least >= 1 and float(self.least).is_integer()),
            f"min is {self.least}; give a number of rows, at least 1, or a share of them between 0 and 1",
        )
        _check(0 < self.common <= 1, f"common is {self.common}; give a share of the rows, above 0 and at most 1")
        _check(self.size is None or self.size >= 1, f"max is {self.size}; give a number of terms, at least 1")
        _check(
            self.spelling is None or bool(self.statistics),
            "spelling counts words that are not in a list, which is one of the statistics; add statistics",
        )
        _check(self.bits is None or 1 <= self.bits <= 30, f"hash is 2^{self.bits}; give 2^1 to 2^{MAX_HASH_BITS}")
        self._check_values()
        self._check_words()

    def _check_values(self) -> None:
        _check(
            not (self.sublinear and (self.once or self.weighting == "binary")),
            "sublinear has no effect on terms that count once; leave it out, or binary",
        )
        _check(not self.once or self.weighting == "tfidf", "binary counts terms once; beside it counts means nothing")
        _check(self.norm in ("", "l1", "l2", "none"), f"the norm {self.norm!r} is unknown; it is 'l1', 'l2' or 'none'")

    def _check_words(self) -> None:
        _check(
            self.unit == "words" or not self.stop,
            "stop words are words, so they have no effect on n-grams of characters; leave them out",
        )
        _check(
            self.vocabulary is None or self.bits is None,
            "a vocabulary says which terms are columns, and hash that their hashes are; leave one of them out",
        )
        if self.vocabulary is not None:
            _check(bool(self.vocabulary), "the vocabulary is empty; give at least one term")
            twice = next((a for a, b in pairwise(sorted(self.vocabulary)) if a == b), None)
            _check(twice is None, f"the vocabulary has the term {twice!r} twice; give it once")

    @property
    def idf(self) -> bool:
        """Whether terms are weighed by how rare they are."""
        return self.weighting == "tfidf"

    @property
    def divided_by(self) -> str:
        """What a row is divided by: l1, l2 or none."""
        return self.norm or ("l2" if self.idf else "none")

    @property
    def native(self) -> bool:
        """Whether the values are those that the compiled encoder writes: counts, or tf-idf of rows of length 1."""
        return not (self.once or self.sublinear) and self.divided_by == ("l2" if self.idf else "none")

    @property
    def value(self) -> str:
        """The value of a column in words.

        >>> Options(sublinear=True).value, Options(weighting="counts", norm="l1").value
        ('sublinear tf-idf', 'counted, rows divided by their sum')
        """
        word = {"counts": "counted", "binary": "present or not", "tfidf": "tf-idf"}[self.weighting]
        word = f"{'binary ' if self.once else ''}{'sublinear ' if self.sublinear else ''}{word}"
        usual = self.divided_by == ("l2" if self.idf else "none")
        norms = {"l1": "rows divided by their sum", "l2": "rows of length 1", "none": "rows not divided"}
        return word if usual else f"{word}, {norms[self.divided_by]}"

    @classmethod
    def parse(cls, text: str) -> Options:
        """Return the options a text spells, commas between them; an empty text spells none: sublinear tf-idf."""
        words = list(filter(None, (part.strip() for part in text.split(","))))
        return cls._read(
            [(word.partition("=")[0], word.partition("=")[2] if "=" in word else None) for word in words], text
        )

    @classmethod
    def detailed(cls, asked: Detailed) -> Options:
        """Return options given one by one: ``{"ngrams": 2, "stop": ["the", "a"], "fold": True}``.

        >>> Options.detailed({"ngrams": 2, "stop": ["the", "a"], "binary": True}).stop
        ('a', 'the')
        """
        words = {key: value for key, value in asked.items() if not isinstance(value, list | tuple | set | frozenset)}
        for key, value in words.items():
            if value is False:
                raise InputError(f"the text option {key!r} is False; leave it out, or give True.")
        pairs = [(str(key), None if value is True or value is None else str(value)) for key, value in words.items()]
        own: dict[str, Any] = {}
        for key in asked.keys() - words.keys():
            if key not in ("stop", "vocabulary") or not all(isinstance(word, str) for word in asked[key]):
                raise InputError(f"the text option {key!r} is a list; lists of words are for stop and vocabulary.")
            own[key] = tuple(sorted(asked[key]))
        return cls._read(pairs, str(dict(asked)), own)

    @classmethod
    def _read(cls, pairs: Sequence[tuple[str, str | None]], text: str, own: Mapping[str, Any] | None = None) -> Options:
        """Return the options of keys and values; ``own`` are fields that are known already."""
        options: dict[str, Any] = dict(own or {})
        weightings = [key for key, value in pairs if value is None and key in ("counts", "binary", "tfidf")]
        for key, value in pairs:
            word = key if value is None else f"{key}={value}"
            for name, field in _spelled(key, value, word).items():
                if name in options and not (name == "weighting" and {*weightings} == {"binary", "tfidf"}):
                    raise InputError(f"the text option {word!r} says again what {text!r} says already; give it once.")
                options[name] = field
        if len(weightings) == 2:
            options |= {"weighting": "tfidf", "once": True}
        if not weightings and options.keys().isdisjoint({"pair", "sublinear"}) and options.get("statistics") != "only":
            options["sublinear"] = True
        if "bits" in options and options.keys() & {"least", "common", "size"}:
            raise InputError(
                "min, common and max choose the terms of a vocabulary; with hash there is none: leave them out."
            )
        if "vocabulary" in options and options.keys() & {"least", "common", "size"}:
            raise InputError("min, common and max choose the terms of a vocabulary; yours is given: leave them out.")
        if options.get("statistics") == "only" and options.keys() - {"statistics", "spelling"}:
            raise InputError("statistics=only leaves all terms out, so nothing can be said about them; leave it out.")
        if "pair" in options and len(options) > 1:
            raise InputError("pair makes features of two columns instead of terms, so that other options mean nothing.")
        if "bits" in options or "vocabulary" in options:
            options |= {"least": 1, "size": None}
        return cls(**options)

    @property
    def spelled(self) -> str:
        """The options as ``parse`` reads them, those that are usual left out.

        Lists of words that came from no file stand there as FILE, which is yet to be written.

        >>> Options.parse("tfidf,ngrams=2,max=50000,fold").spelled, Options.parse("fold").spelled
        ('ngrams=1-2,tfidf,fold', 'fold')
        """
        if self.pair is not None:
            return f"pair={self.pair}"
        usual = Options() if self.bits is None and self.vocabulary is None else Options(least=1, size=None)
        words = [f"{'ngrams' if self.unit == 'words' else 'characters'}={self.low}-{self.high}"]
        words = [] if (self.unit, self.low, self.high) == ("words", 1, 1) else words
        words += [] if self.statistics == "only" else self._weighting_words()
        words += [] if self.least == usual.least else [f"min={self.least:g}"]
        words += [] if self.common == usual.common else [f"common={self.common:g}"]
        words += [] if self.size == usual.size else [f"max={self.size}"]
        words += [] if self.bits is None else [f"hash=2^{self.bits}"]
        words += [] if self.letters == 1 else [f"letters={self.letters}"]
        words += [*(["fold"] if self.fold else []), *([] if self.lower else ["case"])]
        words += [f"stop={self.stop_file or 'FILE'}"] if self.stop else []
        words += [] if self.vocabulary is None else [f"vocabulary={self.vocabulary_file or 'FILE'}"]
        words += {"": [], "beside": ["statistics"], "only": ["statistics=only"]}[self.statistics]
        return ",".join([*words, *([] if self.spelling is None else [f"spelling={self.spelling}"])])

    def _weighting_words(self) -> list[str]:
        """Return the words for the value of a column; none for sublinear tf-idf."""
        words: list[str] = [] if self.idf and self.sublinear else [self.weighting]
        words += ["binary"] if self.once else []
        words += ["sublinear"] if self.sublinear and not self.idf else []
        return words if self.norm == "" else [*words, f"norm={self.norm}"]


def _check(holds: bool, sentence: str) -> None:
    if not holds:
        raise InputError(f"{sentence}.")


def _spelled(key: str, value: str | None, word: str) -> dict[str, Any]:
    """Return the fields that one option sets."""
    flags: Mapping[str, dict[str, Any]] = {
        "counts": {"weighting": "counts"},
        "binary": {"weighting": "binary"},
        "tfidf": {"weighting": "tfidf"},
        "fold": {"fold": True},
        "case": {"lower": False},
        "statistics": {"statistics": "beside"},
        "sublinear": {"sublinear": True},
    }
    if key in flags and value is None:
        return flags[key]
    if value is not None:
        if (key, value) == ("statistics", "only"):
            return {"statistics": "only"}
        if key == "pair" and value:
            return {"pair": value}
        if key in ("stop", "vocabulary") and value:
            return {key: words_of(value), f"{key}_file": value}
        if key == "norm" and value in ("l1", "l2", "none"):
            return {"norm": value}
        if key == "spelling" and value:
            return {"spelling": value}
        if key in ("ngrams", "characters") and (match := re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", value)):
            first, last = int(match[1]), int(match[2] or match[1])
            low = 1 if key == "ngrams" and not match[2] else first
            return {"unit": "words" if key == "ngrams" else "characters", "low": low, "high": last}
        if key == "hash" and (match := re.fullmatch(r"2\^(\d{1,2})", value)) and 1 <= int(match[1]) <= MAX_HASH_BITS:
            return {"bits": int(match[1])}
        if key in ("max", "letters") and re.fullmatch(r"\d{1,9}", value):
            return {"size" if key == "max" else "letters": int(value)}
        if key in ("min", "common") and re.fullmatch(r"\d{1,9}|0?\.\d{1,9}|1\.0*", value):
            return {"least" if key == "min" else "common": float(value) if "." in value else int(value)}
    accepted = ", ".join(SPELLED)
    raise InputError(f"the text option {word!r} is not understood; accepted are {accepted}.{near(word, SPELLED)}")


def words_of(path: str) -> tuple[str, ...]:
    """Return the lines of a text file that are not empty, blanks around them cut off, in the order of the alphabet."""
    lines = {line.strip() for line in text_of(Path(path), "the word list").splitlines()} - {""}
    if not lines:
        raise InputError(f"the word list {path} has no words; put one on every line.")
    return tuple(sorted(lines))


def columns_of(text: TextOptions, names: tuple[str, ...]) -> dict[str, Options]:
    """Return the options of every text column asked for: ``{"note": "tfidf"}`` or ``["note:tfidf", "title"]``.

    >>> columns_of(["note:binary"], ("note", "y"))["note"].weighting
    'binary'
    """
    if isinstance(text, str):
        text = [text]
    pairs: list[tuple[str, str | Detailed]]
    if isinstance(text, Mapping):
        pairs = [(str(name), words if isinstance(words, Mapping) else str(words or "")) for name, words in text.items()]
    else:
        pairs = [_pair(str(item), names) for item in text]
    by_column: dict[str, Options] = {}
    for name, words in pairs:
        if name in by_column:
            raise InputError(f"the text column {name!r} is named twice; put its options together, with commas.")
        by_column[name] = Options.parse(words) if isinstance(words, str) else Options.detailed(words)
    return by_column


def _pair(text: str, names: tuple[str, ...]) -> tuple[str, str]:
    """Return a column's name and its options; a name may hold a colon itself."""
    if text in names:
        return text, ""
    name, _, words = text.rpartition(":")
    return (name, words) if name else (words, "")
