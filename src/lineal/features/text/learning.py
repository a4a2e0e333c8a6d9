"""Learn from one pass over documents which terms become columns."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import _core
from lineal.errors import InputError
from lineal.features.terms.text import TERM_MAX_CHARACTERS, Text, documents, reading
from lineal.features.text_options import Options
from lineal.ground.records import dataclass

Counts = npt.NDArray[np.int64]

MAX_COUNTED_TERMS = 2**24
"""The most different terms that are counted: about 1 GB."""


@dataclass
class Learner:
    """The terms of one column, counted batch by batch.

    >>> import pyarrow as pa
    >>> learner = Learner("note", Options(least=1))
    >>> learner.add(pa.array(["Rain, rain", "no rain"]))
    >>> learner.term().columns
    ('note: no', 'note: rain')
    """

    column: str
    options: Options
    missing: bool = True
    rows: int = 0
    columns: npt.NDArray[np.int32] | None = field(default=None, init=False, repr=False)
    _reading: _core.Reading = field(init=False, repr=False)
    _lexicon: _core.Lexicon = field(default_factory=_core.Lexicon, repr=False)
    _buckets: _core.Buckets | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make ready to count."""
        self._reading = reading(self.options, self.missing)
        self._buckets = None if self.options.bits is None else _core.Buckets(self.options.bits)

    def add(self, array: Any) -> None:
        """Count the terms of some cells."""
        self.count(documents(array))

    def count(self, documents: _core.Documents, kept: _core.Tokens | None = None) -> None:
        """Count the terms of some documents; ``kept`` remembers them, so that they need not be read again."""
        self.rows += len(documents)
        if self._buckets is not None:
            self._buckets.count(self._reading, documents)
        elif not self._lexicon.count(self._reading, documents, MAX_COUNTED_TERMS, kept):
            raise InputError(
                f"column {self.column!r} has more than {MAX_COUNTED_TERMS:,} different terms; use shorter n-grams, or hash=2^18."
            )

    @property
    def different(self) -> int:
        """How many different terms there were, or how many buckets they fell into."""
        return len(self._lexicon) if self._buckets is None else int(np.count_nonzero(self._buckets.documents()))

    @property
    def shared(self) -> int:
        """How many buckets hold more than one term."""
        return 0 if self._buckets is None else int(np.count_nonzero(self._buckets.shared()))

    def term(self) -> Text:
        """Return the term that was learned."""
        counted = self.options.idf
        if self._buckets is not None:
            frequency = self._buckets.documents()
            buckets = np.flatnonzero(frequency)
            seen = tuple(frequency[buckets].tolist()) if counted else None
            return Text(self.column, self.options, tuple(buckets.tolist()), seen, self.rows if counted else 0)
        frequency = self._lexicon.documents()
        if self.options.vocabulary is not None:
            return self._given(frequency)
        chosen = self._lexicon.sorted(self._within(frequency))
        self.columns = np.full(len(frequency), -1, dtype=np.int32)
        self.columns[chosen] = np.arange(len(chosen), dtype=np.int32)
        seen = tuple(frequency[chosen].tolist()) if counted else None
        return Text(self.column, self.options, tuple(self._lexicon.take(chosen)), seen, self.rows if counted else 0)

    def _given(self, frequency: Counts) -> Text:
        """Return the term of a vocabulary that was given: its terms in order, whether they occur or not."""
        terms = tuple(sorted(self.options.vocabulary or ()))
        place = {term: column for column, term in enumerate(terms)}
        every = self._lexicon.take(np.arange(len(frequency)))
        self.columns = np.array([place.get(term, -1) for term in every], dtype=np.int32)
        seen = np.zeros(len(terms), dtype=np.int64)
        inside = self.columns >= 0
        seen[self.columns[inside]] = frequency[inside]
        counted = self.options.idf
        return Text(
            self.column, self.options, terms, tuple(seen.tolist()) if counted else None, self.rows if counted else 0
        )

    @property
    def words(self) -> int:
        """How many single words there were, each as often as it occurs."""
        every = self._lexicon.take(np.arange(len(self._lexicon)))
        return sum(times for term, times in zip(every, self._lexicon.times().tolist(), strict=True) if " " not in term)

    def times(self) -> dict[str, int]:
        """Return how often each term within the limits occurs, in the order of the alphabet."""
        chosen = self._within(self._lexicon.documents())
        counted = zip(self._lexicon.take(chosen), self._lexicon.times()[chosen].tolist(), strict=True)
        return dict(sorted(counted))

    def _within(self, frequency: Counts) -> Counts:
        """Return the numbers of the terms within the limits."""
        o = self.options
        least = o.least if o.least >= 1 else o.least * self.rows - 1e-9  # a share is known to rounding only
        within = (frequency >= least) & (frequency <= o.common * self.rows + 1e-9)
        chosen = np.flatnonzero(within & (self._lexicon.sizes() <= TERM_MAX_CHARACTERS))
        if o.size is None or len(chosen) <= o.size:
            return chosen
        times = self._lexicon.times()[chosen]
        last = int(np.partition(times, len(times) - o.size)[len(times) - o.size])
        above, equal = chosen[times > last], chosen[times == last]
        names = self._lexicon.take(equal)  # equally frequent: the first ones of the alphabet
        first = sorted(range(len(names)), key=names.__getitem__)[: o.size - len(above)]
        return np.concatenate([above, equal[first]])

    def sentence(self, term: Text) -> str:
        """Return in words what became of the column."""
        o = self.options
        lengths = f"{o.low}" if o.low == o.high else f"{o.low} to {o.high}"
        what = "words" if (o.unit, o.high) == ("words", 1) else f"n-grams of {lengths} {o.unit}"
        how = o.value
        if o.vocabulary is not None:
            have = int(np.count_nonzero(self.columns >= 0)) if self.columns is not None else 0
            return f"{len(term.terms):,} terms of the given vocabulary are columns ({how}); {have:,} of them occur"
        if o.bits is not None:
            shared = f"{self.shared:,} of them hold more than one" if self.shared else "no two share one"
            return f"{what} hashed to {len(term.terms):,} of {2**o.bits:,} columns ({how}); {shared}"
        if not term.terms:
            return f"none of its {self.different:,} {what} is within the limits"
        kept = f"{len(term.terms):,} of {self.different:,} {what} are columns ({how})"
        rare = f"; those in fewer than {o.least:g} rows are left out" if o.least > 1 else ""
        return kept + (rare if len(term.terms) < self.different else "")
