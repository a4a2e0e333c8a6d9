"""Texts to a sparse matrix, as scikit-learn's vectorizers do it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lineal import _core
from lineal.designs.sound import is_sparse
from lineal.errors import InputError
from lineal.estimators.parameters import flag
from lineal.features.terms.text import Rows, Text, documents, from_strings, reading
from lineal.features.text.learning import Learner
from lineal.features.text_options import Options
from lineal.ground.inputs import shown


class TextFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into a sparse matrix of words or n-grams, all of it compiled and on every core.

    ``x_ij`` = times of term j in text i (``weighting="counts"``), 1 where there is any ("binary"), or
    ``times * idf_j`` with ``idf_j = ln((1 + n) / (1 + texts that have j)) + 1``, rows of length 1 ("tfidf").

    Parameters are scikit-learn's: ``analyzer`` is "word" or "char"; ``ngram_range`` the lengths; ``min_df`` and ``max_df`` a
    number of texts, or a share as a float; ``max_features`` keeps the most frequent terms, equal ones in the order of the
    alphabet; ``lowercase`` folds capitals; ``strip_accents`` is None or "unicode".
    Words are of ``min_length`` characters or more (2 in scikit-learn).
    ``hash_bits`` numbers the columns by the first bits of a hash instead of a vocabulary: nothing is learned then (but
    idf). Texts are a list of str, a data frame's column or an Arrow array.

    >>> words = TextFeatures(weighting="counts")
    >>> words.fit_transform(["so it goes", "It is so, so good"]).toarray()
    array([[1., 0., 0., 1., 1.],
           [0., 1., 1., 1., 2.]], dtype=float32)
    >>> words.get_feature_names_out()
    array(['goes', 'good', 'is', 'it', 'so'], dtype=object)
    """

    def __init__(
        self,
        *,
        weighting: str = "tfidf",
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: str | None = None,
        min_length: int = 1,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        hash_bits: int | None = None,
    ) -> None:
        self.weighting = weighting
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.min_length = min_length
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.hash_bits = hash_bits

    def fit(self, texts: Any, y: object = None) -> TextFeatures:
        """Learn the vocabulary, and how many texts have each term."""
        self._learn(_documents(texts))
        return self

    def fit_transform(self, texts: Any, y: object = None) -> Any:
        """Learn the vocabulary and return the matrix of the same texts."""
        documents, kept = _documents(texts), _core.Tokens()
        places = self._learn(documents, kept)
        return self._matrix(documents) if places is None else self._kept(kept, places)

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
        return np.array([str(term) for term in self._term.terms], dtype=object)

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
        low, high = self.ngram_range
        share = self.max_df if isinstance(self.max_df, float) else min(1.0, self.max_df / max(rows, 1))
        least = self.min_df * rows if isinstance(self.min_df, float) else self.min_df
        return Options(
            unit="words" if self.analyzer == "word" else "characters",
            low=low,
            high=high,
            lower=flag("lowercase", self.lowercase),
            fold=self.strip_accents == "unicode",
            letters=self.min_length,
            weighting=self.weighting,  # type: ignore[arg-type]
            least=max(1, int(np.ceil(least))),
            common=share,
            size=self.max_features,
            bits=self.hash_bits,
        )

    def _learn(self, documents: _core.Documents, kept: _core.Tokens | None = None) -> npt.NDArray[np.int32] | None:
        """Learn from documents; return the columns of a vocabulary's terms by the numbers that ``kept`` has of them."""
        self.options_ = self._options(len(documents))
        self._term: Text | None = None
        self._scale: npt.NDArray[np.float64] | None = None
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
        got = _core.encode_tokens(tokens, places, o.weighting == "binary", self._term.scale, o.weighting != "tfidf")
        self.terms_, self.unknown_ = got[3], got[4]
        return Rows(*got[:5]).matrix(len(self._term.terms))

    def _matrix(self, documents: _core.Documents) -> Any:
        o = self.options_
        read, binary, single = reading(o, missing=False), o.weighting == "binary", o.weighting != "tfidf"
        if self._term is not None:
            lexicon = self._term.lexicon
            got = _core.encode_lexicon(read, documents, lexicon, binary, self._term.scale, single)
            width = len(self._term.terms)
        else:
            bits = int(o.bits or 0)
            got = _core.encode_buckets(read, documents, bits, None, binary, self._scale, single)
            width = 2**bits
        self.terms_, self.unknown_ = got[3], got[4]
        return Rows(*got[:5]).matrix(width)


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
