"""A pair of texts, one the translation of the other: the features of translation quality estimation that need no parser."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.features.terms.members import expect, whole
from lineal.features.terms.rows import Rows
from lineal.features.terms.term import Cells, Numeric
from lineal.features.terms.text import MAX_TERMS, TERM_MAX_CHARACTERS, Text, documents, reading
from lineal.features.text_options import Options
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.tables.marked import settled

Counts = npt.NDArray[np.int64]

SOURCE_OPTIONS: Final = Options(high=3, weighting="counts")
TARGET_OPTIONS: Final = Options(high=2, weighting="counts")
"""What is counted of the two texts: n-grams that at least two rows have, so that no row is known by itself alone."""
BACKOFF_FACTOR: Final = 0.4
"""What a word costs whose bigram is not known (Brants et al. 2007)."""
GIVEN: Final = ("source", "target", "lexicon")
"""What may be learned from files in place of the training rows."""
MAX_FUNCTION_WORDS: Final = 100
"""The most frequent words, this many, are no content words."""
QUARTILE_NAMES: Final = tuple(f"{n}-grams in quartile {q}" for n in (1, 2, 3) for q in (1, 2, 3, 4))
COLUMN_NAMES: Final = (
    "source words", "target words", "target words per source word",
    "source log-probability", "target log-probability", "log-probability difference per word",
    *(f"source {name}" for name in QUARTILE_NAMES), "translations per source word",
    *(f"{side} {name}" for name in ("characters per word", "different words per word", "punctuation share",
      "bracket share", "number share", "content share") for side in ("source", "target")),
)  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One text of a pair as its training rows were: n-grams, how often each occurs, and how many words there were."""

    terms: tuple[str, ...]
    times: tuple[int, ...]
    words: int

    @cached_property
    def lengths(self) -> Counts:
        """The n of every n-gram."""
        return np.array([term.count(" ") + 1 for term in self.terms], dtype=np.int64)

    @cached_property
    def distinct(self) -> int:
        """How many single words are known."""
        return int(np.sum(self.lengths == 1))

    @cached_property
    def log_probability(self) -> Array:
        """What every n-gram adds to the log-probability of a text, over what unknown words have."""
        place = {term: k for k, term in enumerate(self.terms)}
        single = np.log(BACKOFF_FACTOR * (np.array(self.times) + 1.0))
        logs = np.where(self.lengths == 1, single - np.log(BACKOFF_FACTOR), 0.0)
        whole = self.words + self.distinct + 1.0
        for k in np.flatnonzero(self.lengths == 2):
            first, last = (place[word] for word in self.terms[k].split(" "))
            logs[k] = np.log(self.times[k] / self.times[first]) - (single[last] - np.log(whole))
        return logs

    @cached_property
    def content(self) -> Array:
        """One for every single word that is no content word."""
        singles = np.flatnonzero(self.lengths == 1)
        order = sorted(singles, key=lambda k: (-self.times[k], self.terms[k]))[:MAX_FUNCTION_WORDS]
        weights = np.zeros(len(self.terms))
        weights[order] = 1.0
        return weights

    def quartile(self, n: int, q: int) -> Array:
        """One for every n-gram in the q-th quarter of the n-grams by frequency, the rare ones first."""
        mine = self.lengths == n
        times = np.array(self.times)
        ordered = np.sort(times[mine])
        limits = [ordered[(k * len(ordered) + 3) // 4 - 1] for k in (1, 2, 3)] if len(ordered) else [0, 0, 0]
        return np.asarray(mine & (np.searchsorted(limits, times, side="left") == q - 1), dtype=np.float64)

    @classmethod
    def read(cls, data: Any, name: str, longest: int) -> Side:
        """Return one text of a pair out of a model file."""
        terms, times, words = (data[f"{name}_{member}"] for member in ("terms", "times", "words"))
        expect(isinstance(terms, list) and 0 < len(terms) <= MAX_TERMS, f"has no n-grams of the {name}, or too many")
        fine = all(isinstance(term, str) and 0 < len(term) <= TERM_MAX_CHARACTERS for term in terms)
        expect(fine, f"has an odd n-gram of the {name}")
        expect(all(a < b for a, b in pairwise(terms)), f"has n-grams of the {name} that are not in order")
        singles = {term for term in terms if " " not in term}
        expect(
            all(len(parts) <= longest and singles.issuperset(parts) for parts in (term.split(" ") for term in terms)),
            f"has an n-gram of the {name} that is too long, or whose words are not known",
        )
        fine = isinstance(times, list) and len(times) == len(terms) and all(map(whole, times))
        expect(fine and all(0 < count < 2**53 for count in times), f"has odd numbers of n-grams of the {name}")
        expect(whole(words) and 0 < words < 2**53, f"has an odd number of words of the {name}")
        return cls(tuple(terms), tuple(times), words)


@dataclass(frozen=True)
class Pair(Numeric):
    """Numbers of words and their ratio, log-probabilities, n-grams by frequency, translations per word, shares.

    ``translations`` says for each single word of the source how many words of the target have ``p(target | source) > 0.2``
    in the lexicon of the training pairs (docs/text.md). ``given`` names what was learned from files in place of the training
    rows: "source", "target", "lexicon". An empty or missing text has zeros.
    """

    source: str
    target: str
    sides: tuple[Side, Side]
    translations: tuple[int, ...]
    given: tuple[str, ...] = ()
    kind: ClassVar[str] = "pair"

    @property
    def column(self) -> str:
        """The table's columns."""
        return f"{self.source}, {self.target}"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The table's columns it needs; ``as_text`` says of each whether it is read as text."""
        return (self.source, self.target)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the design columns; a quarter of n-grams that no n-gram falls into (most are equally rare) has none."""
        return tuple(f"{self.column}: {COLUMN_NAMES[k]}" for k in self._kept)

    @cached_property
    def _kept(self) -> list[int]:
        empty = [6 + k for k, column in enumerate(self._weights[0].T[3:]) if not column.any()]
        return [k for k in range(len(COLUMN_NAMES)) if k not in empty]

    @cached_property
    def _counted(self) -> tuple[Text, Text]:
        source, target = self.sides
        return Text(self.source, SOURCE_OPTIONS, source.terms), Text(self.target, TARGET_OPTIONS, target.terms)

    @cached_property
    def _weights(self) -> tuple[Array, Array]:
        """What every n-gram of the source and of the target adds to each sum."""
        source, target = self.sides
        translated = np.zeros(len(source.terms))
        translated[source.lengths == 1] = self.translations
        quartiles = [source.quartile(n, q) for n in (1, 2, 3) for q in (1, 2, 3, 4)]
        return (
            np.column_stack([source.log_probability, source.content, translated, *quartiles]),
            np.column_stack([target.log_probability, target.content]),
        )

    def write(self, out: Array, /, *arrays: Any) -> int:
        """Write the term's columns for every row; return how many cells were unknown (none)."""
        full = np.empty((len(out), len(COLUMN_NAMES)))
        self._fill(full, arrays)
        out[:] = full[:, self._kept]
        return 0

    def _fill(self, out: Array, arrays: tuple[Any, ...]) -> None:
        plain = [
            _core.text_statistics(reading(Options(), missing=not settled(array)), documents(array), None)
            for array in arrays
        ]
        sums = [
            _sums(text.encode(array), weights)
            for text, array, weights in zip(self._counted, arrays, self._weights, strict=True)
        ]
        words = [counts[:, 0] for counts in plain]
        chances = [
            counts[:, 0] - count * np.log(side.words + side.distinct + 1.0) + count * np.log(BACKOFF_FACTOR)
            for counts, count, side in zip(sums, words, self.sides, strict=True)
        ]
        out[:, 0], out[:, 1], out[:, 2] = *words, _ratio(words[1], words[0])
        out[:, 3], out[:, 4] = chances
        out[:, 5] = _ratio(chances[1], words[1]) - _ratio(chances[0], words[0])
        for n in (1, 2, 3):
            whole = np.maximum(words[0] - n + 1, 0.0)[:, None]
            out[:, 2 + 4 * n : 6 + 4 * n] = _ratio(sums[0][:, 4 * n - 1 : 4 * n + 3], whole)
        out[:, 18] = _ratio(sums[0][:, 2], words[0])
        for k, statistic in enumerate((2, 3, 4, 5, 6)):
            out[:, 19 + 2 * k], out[:, 20 + 2 * k] = plain[0][:, statistic], plain[1][:, statistic]
        for side in (0, 1):
            out[:, 29 + side] = _ratio(words[side] - sums[side][:, 1], words[side])

    def to_dict(self) -> dict[str, object]:
        """Return plain data for a model file."""
        source, target = self.sides
        return {
            "kind": self.kind,
            "source": self.source,
            "target": self.target,
            "source_terms": list(source.terms),
            "source_times": list(source.times),
            "source_words": source.words,
            "target_terms": list(target.terms),
            "target_times": list(target.times),
            "target_words": target.words,
            "translations": list(self.translations),
            **({"given": list(self.given)} if self.given else {}),
        }

    @property
    def use(self) -> str:
        """How its columns enter the model, in words."""
        return f"features of the pair {self.source}, {self.target}"

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of its members in a model file."""
        sides = (f"{side}_{member}" for side in ("source", "target") for member in ("terms", "times", "words"))
        return ("source", "target", *sides, "translations")

    @classmethod
    def from_dict(cls, data: Any) -> Pair:
        """Return the term of a model file, or refuse the file naming what is wrong."""
        members = {"kind", *cls.members()}
        expect(set(data) - {"given"} == members, f"has a pair with other members than {sorted(members)}")
        return cls.read(data)

    @classmethod
    def read(cls, data: Any) -> Pair:
        """Return the term of a model file."""
        names = data["source"], data["target"]
        fine = all(isinstance(name, str) and name for name in names) and names[0] != names[1]
        expect(fine, "has a pair without columns")
        source, target = Side.read(data, "source", SOURCE_OPTIONS.high), Side.read(data, "target", TARGET_OPTIONS.high)
        numbers = data["translations"]
        fine = isinstance(numbers, list) and len(numbers) == source.distinct and all(map(whole, numbers))
        given = data.get("given", [])
        known = isinstance(given, list) and [part for part in GIVEN if part in given] == given
        expect(known, f"has a pair that is given something else than {', '.join(GIVEN)}")
        most = 2**31 if "lexicon" in given else 5
        expect(fine and all(0 <= number <= most for number in numbers), "has odd numbers of translations")
        return cls(*names, (source, target), tuple(numbers), tuple(given))

    @classmethod
    def example(cls) -> tuple[Pair, Cells]:
        """Return a pair of which two rows have the same word."""
        sides = Side(("rot",), (2,), 3), Side(("red",), (2,), 3)
        return cls("de", "en", sides, (1,)), (["rot", "rot Haus"], ["red", "red house"])


def _sums(rows: Rows, weights: Array) -> Array:
    return np.asarray(rows.matrix(len(weights)).astype(np.float64) @ weights)


def _ratio(part: Array, whole: Array) -> Array:
    """Return part / whole, zero where whole is."""
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=np.broadcast_to(whole > 0, part.shape)))
