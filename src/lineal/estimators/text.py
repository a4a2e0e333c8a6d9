"""Texts to a sparse matrix, as scikit-learn's vectorizers do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from lineal import _core
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.bases import BaseEstimator, TransformerMixin
from lineal.estimators.parameters import flag
from lineal.features.terms.rows import Rows
from lineal.features.terms.text import Text, documents, from_strings, reading, weighed
from lineal.features.text.learning import Learner
from lineal.features.text_options import Options
from lineal.ground.arrays import Array, Index
from lineal.ground.inputs import shown


@dataclass(eq=False, kw_only=True, repr=False)
class TextFeatures(TransformerMixin, BaseEstimator):
    """Turn texts into a sparse matrix of words or n-grams, all of it compiled and on every core.

    ``x_ij`` = times of term j in text i (``weighting="counts"``), 1 where there is any ("binary"), or
    ``times * idf_j`` with ``idf_j = ln((1 + n) / (1 + texts that have j)) + 1``, rows of length 1 ("tfidf").

    Parameters are scikit-learn's: ``analyzer`` is "word" or "char"; ``ngram_range`` the lengths; ``min_df`` and ``max_df`` a
    number of texts, or a share as a float; ``max_features`` keeps the most frequent terms, equal ones in the order of the
    alphabet; ``lowercase`` folds capitals; ``strip_accents`` is None or "unicode".
    Words are of ``min_length`` characters or more (2 in scikit-learn). ``binary`` counts a term once in a text;
    ``sublinear_tf`` takes ``1 + ln times``; ``norm`` divides each row by its length ("l2"), by its sum ("l1") or by nothing
    (None); "auto" is "l2" for tf-idf and None for counts. ``stop_words`` are left out before n-grams are made, a list of
    your own; ``vocabulary`` are the terms to count, in the order of the columns.
    ``hash_bits`` numbers the columns by the first bits of a hash instead of a vocabulary: nothing is learned then (but
    idf). Texts are a list of str, a data frame's column or an Arrow array.

    >>> words = TextFeatures(weighting="counts")
    >>> words.fit_transform(["so it goes", "It is so, so good"]).toarray()
    array([[1., 0., 0., 1., 1.],
           [0., 1., 1., 1., 2.]], dtype=float32)
    >>> words.get_feature_names_out()
    array(['goes', 'good', 'is', 'it', 'so'], dtype=object)
    """

    weighting: str = "tfidf"
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    strip_accents: str | None = None
    min_length: int = 1
    min_df: float = 1
    max_df: float = 1.0
    max_features: int | None = None
    hash_bits: int | None = None
    binary: bool = False
    sublinear_tf: bool = False
    norm: str | None = "auto"
    stop_words: Iterable[str] | None = None
    vocabulary: Iterable[str] | None = None

    def fit(self, texts: Any, y: object = None) -> TextFeatures:
        """Learn the vocabulary, and how many texts have each term."""
        self._learn(_documents(texts))
        return self

    def fit_transform(self, texts: Any, y: object = None) -> Any:
        """Learn the vocabulary and return the matrix of the same texts."""
        documents, kept = _documents(texts), _core.Tokens()
        places = self._learn(documents, kept)
        if places is None or self.options_.vocabulary is not None:  # terms of a given one may be in no text
            return self._matrix(documents)
        return self._kept(kept, places)

    def transform(self, texts: Any) -> Any:
        """Return the matrix of texts: a scipy CSR matrix, float32 for counts, float64 for tf-idf.

        ``unknown_`` is, afterwards, how many terms of these texts have no column, and ``terms_`` how many there were.
        """
        check_is_fitted(self, "options_")
        return self._matrix(_documents(texts))

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the terms in the order of the columns (their numbers, if hashed)."""
        check_is_fitted(self, "options_")
        if self._term is None:
            return np.array([f"#{k}" for k in range(2 ** int(self.options_.bits or 0))], dtype=object)
        terms = self._term.terms if self.options_.vocabulary is None else self.options_.vocabulary
        return np.array([str(term) for term in terms], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Say that texts come in one dimension, and matrices out."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.requires_fit = True
        return tags

    def _options(self, rows: int) -> Options:
        if self.analyzer not in ("word", "char"):
            raise InputError(f"analyzer is {self.analyzer!r}; it is 'word' or 'char'.")
        if self.strip_accents not in (None, "unicode"):
            raise InputError(f"strip_accents is {self.strip_accents!r}; it is None or 'unicode'.")
        if self.hash_bits is not None and (self.min_df, self.max_df, self.max_features) != (1, 1.0, None):
            raise InputError("min_df, max_df and max_features choose a vocabulary; with hash_bits there is none.")
        if self.vocabulary is not None and (self.min_df, self.max_df, self.max_features) != (1, 1.0, None):
            raise InputError("min_df, max_df and max_features choose a vocabulary; yours is given: leave them out.")
        if self.norm not in ("auto", "l1", "l2", None):
            raise InputError(f"norm is {self.norm!r}; it is 'auto', 'l1', 'l2' or None.")
        low, high = self.ngram_range
        once, sublinear = flag("binary", self.binary), flag("sublinear_tf", self.sublinear_tf)
        presence = once and self.weighting != "tfidf"
        share = self.max_df if isinstance(self.max_df, float) else min(1.0, self.max_df / max(rows, 1))
        least = self.min_df * rows if isinstance(self.min_df, float) else self.min_df
        return Options(
            unit="words" if self.analyzer == "word" else "characters",
            low=low,
            high=high,
            lower=flag("lowercase", self.lowercase),
            fold=self.strip_accents == "unicode",
            letters=self.min_length,
            weighting="binary" if presence else self.weighting,  # type: ignore[arg-type]
            once=once and not presence,
            sublinear=sublinear and not once,  # the logarithm of 1 is nothing, as in scikit-learn
            norm={"auto": "", None: "none"}.get(self.norm, self.norm),  # type: ignore[arg-type]
            stop=tuple(sorted(_words(self.stop_words, "stop_words") or ())),
            vocabulary=self._given,
            least=max(1, int(np.ceil(least))),
            common=share,
            size=self.max_features,
            bits=self.hash_bits,
        )

    @property
    def _given(self) -> tuple[str, ...] | None:
        """The given vocabulary in the order of its columns; a dict maps terms to them, as in scikit-learn."""
        words = self.vocabulary
        if isinstance(words, Mapping):
            if sorted(words.values()) != list(range(len(words))):
                raise InputError("the numbers of a vocabulary's columns must be 0, 1, 2, ..., each once.")
            words = sorted(words, key=words.__getitem__)
        return _words(words, "vocabulary")

    def _learn(self, documents: _core.Documents, kept: _core.Tokens | None = None) -> npt.NDArray[np.int32] | None:
        """Learn from documents; return the columns of a vocabulary's terms by the numbers that ``kept`` has of them."""
        self.options_ = self._options(len(documents))
        self._term: Text | None = None
        self._scale: Array | None = None
        self._order: Index | None = None
        if self.options_.vocabulary is not None:
            in_order = sorted(self.options_.vocabulary)
            place = {term: column for column, term in enumerate(in_order)}
            self._order = np.array([place[term] for term in self.options_.vocabulary], dtype=np.intp)
        if self.options_.bits is not None and self.weighting != "tfidf":
            return None
        learner = Learner("text", self.options_, missing=False)
        learner.count(documents, kept)
        if self.options_.bits is not None and learner._buckets is not None:  # noqa: SLF001
            seen = learner._buckets.documents().astype(np.float64)  # noqa: SLF001
            self._scale = np.log((1.0 + learner.rows) / (1.0 + seen)) + 1.0
            return None
        self._term = learner.term()
        if not self._term.terms:
            raise InputError("no text has a term within the limits; the texts may be empty, or min_df too large.")
        return learner.columns

    def _kept(self, tokens: _core.Tokens, places: npt.NDArray[np.int32]) -> Any:
        """Return the matrix of documents that were just learned from, without reading them again."""
        assert self._term is not None
        o = self.options_
        scale = self._term.scale if o.native else None
        got = _core.encode_tokens(tokens, places, o.weighting == "binary", scale, scale is None)
        return self._finished(got, len(self._term.terms), self._term.scale)

    def _matrix(self, documents: _core.Documents) -> Any:
        o = self.options_
        read, binary = reading(o, missing=False), o.weighting == "binary"
        idf = self._scale if self._term is None else self._term.scale
        scale = idf if o.native else None
        if self._term is not None:
            got = _core.encode_lexicon(read, documents, self._term.lexicon, binary, scale, scale is None)
            width = len(self._term.terms)
        else:
            bits = int(o.bits or 0)
            got = _core.encode_buckets(read, documents, bits, None, binary, scale, scale is None)
            width = 2**bits
        return self._finished(got, width, idf)

    def _finished(self, got: Any, width: int, idf: Array | None) -> Any:
        """Return the matrix of encoded texts, with the values and the order of columns that were asked for."""
        self.terms_, self.unknown_ = got[3], got[4]
        rows = Rows(*got[:5])
        matrix = (rows if self.options_.native else weighed(rows, self.options_, idf)).matrix(width)
        if self._order is None or np.array_equal(self._order, np.arange(width)):
            return matrix
        matrix = matrix[:, self._order]
        matrix.sort_indices()
        return matrix


def _words(words: Any, name: str) -> tuple[str, ...] | None:
    """Return a list of words that was given, or None."""
    if words is None:
        return None
    if isinstance(words, str):
        raise InputError(f"{name} is {words!r}; give a list of words: no list is shipped with lineal.")
    listed = tuple(words)
    if not all(isinstance(word, str) for word in listed):
        raise InputError(f"{name} must be a list of words.")
    return tuple(dict.fromkeys(listed)) if name == "stop_words" else listed


def _documents(texts: Any) -> _core.Documents:
    """Return texts in whatever they come for the compiled reader."""
    if isinstance(texts, str):
        raise InputError("one text was given; give a list of texts.")
    if not isinstance(texts, Iterable) or is_sparse(texts) or hasattr(texts, "collect_schema"):
        raise InputError(f"the texts are {shown(texts)}; give a list of texts, or a column of a data frame.")
    if hasattr(texts, "combine_chunks"):
        texts = texts.combine_chunks()
    if hasattr(texts, "buffers"):
        return documents(texts)
    if hasattr(texts, "ndim") and texts.ndim != 1:
        raise InputError(f"the texts have {texts.ndim} dimensions; give one column of texts.")
    return from_strings(texts.tolist() if hasattr(texts, "tolist") else texts)
