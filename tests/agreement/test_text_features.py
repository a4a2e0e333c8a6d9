"""TextFeatures against scikit-learn's vectorizers on equal settings."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

import lineal
from lineal.errors import InputError

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Free entry! Txt WIN to 80086, T&C's apply; win win win",
    "El niño come piña en Málaga; él también.",
    "Straße, Äpfel und Öl: ÄPFEL!",
    "",
    "a b c a b",
    "Ünïcödé ΑΒΓ абв тест 123_456 x2",
    "the dog and the fox and the free dog",
] * 3
WORD = r"(?u)\b\w+\b"
NEW = ["a new dog", "", "the unseen fox wins"]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("limits", [{}, {"min_df": 3}, {"min_df": 0.1, "max_df": 0.3}, {"max_df": 6}])
@pytest.mark.parametrize("length", [1, 2])
def test_counts(ngrams: tuple[int, int], limits: dict[str, float], length: int) -> None:
    pattern = WORD if length == 1 else r"(?u)\b\w\w+\b"
    theirs = CountVectorizer(ngram_range=ngrams, token_pattern=pattern, **limits)
    ours = lineal.TextFeatures(weighting="counts", ngram_range=ngrams, min_length=length, **limits)
    expected = theirs.fit_transform(TEXTS)
    assert (ours.fit_transform(TEXTS) != expected).nnz == 0
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert (ours.transform(NEW) != theirs.transform(NEW)).nnz == 0


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("norm", ["l1", "l2", None])
@pytest.mark.parametrize(
    "settings",
    [
        {"sublinear_tf": True},
        {"binary": True},
        {"binary": True, "sublinear_tf": True},
        {"stop_words": ["the", "and", "él", "b"]},
        {"sublinear_tf": True, "stop_words": ["win"], "min_df": 3, "max_df": 0.7},
        {"vocabulary": ["win", "dog", "the", "never there", "fox and"]},
        {"vocabulary": {"b": 1, "a": 0, "äpfel": 2}, "binary": True},
    ],
)
def test_tfidf_settings(ngrams: tuple[int, int], norm: str | None, settings: dict[str, object]) -> None:
    """To the last digits: sums of a row may be added in another order, which moves a value by a few units of the last."""
    theirs = TfidfVectorizer(token_pattern=WORD, ngram_range=ngrams, norm=norm, **settings)
    ours = lineal.TextFeatures(ngram_range=ngrams, norm=norm, **settings)
    for texts, how in ((TEXTS, "fit_transform"), (NEW, "transform"), (TEXTS, "transform")):
        got, expected = getattr(ours, how)(texts), getattr(theirs, how)(texts)
        np.testing.assert_allclose(got.toarray(), expected.toarray(), rtol=4e-15, atol=0)
        assert got.has_sorted_indices
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "settings",
    [
        {"binary": True},
        {"stop_words": ["the", "and", "win"], "ngram_range": (1, 3)},
        {"vocabulary": ["win", "dog", "the", "never there"]},
        {"vocabulary": ["win win", "dog"], "ngram_range": (1, 2), "binary": True},
    ],
)
def test_count_settings(settings: dict[str, object]) -> None:
    theirs = CountVectorizer(token_pattern=WORD, **settings)
    ours = lineal.TextFeatures(weighting="counts", **settings)
    assert (ours.fit_transform(TEXTS) != theirs.fit_transform(TEXTS)).nnz == 0
    assert (ours.transform(NEW) != theirs.transform(NEW)).nnz == 0
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_counts_of_a_norm_and_of_hashes() -> None:
    theirs = TfidfVectorizer(token_pattern=WORD, use_idf=False, norm="l1", sublinear_tf=True)
    ours = lineal.TextFeatures(weighting="counts", norm="l1", sublinear_tf=True)
    np.testing.assert_allclose(ours.fit_transform(TEXTS).toarray(), theirs.fit_transform(TEXTS).toarray(), rtol=4e-15)
    plain = lineal.TextFeatures(weighting="counts", hash_bits=6).fit_transform(TEXTS).toarray().astype(float)
    rows = np.where(plain > 0, 1 + np.log(np.where(plain > 0, plain, 1.0)), 0.0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    hashed = lineal.TextFeatures(weighting="counts", hash_bits=6, norm="l2", sublinear_tf=True).fit_transform(TEXTS)
    np.testing.assert_allclose(hashed.toarray(), rows / np.where(lengths > 0, lengths, 1.0), rtol=4e-15)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"stop_words": "english"}, "no list is shipped"),
        ({"stop_words": [1]}, "a list of words"),
        ({"norm": "l3"}, "'l1', 'l2' or None"),
        ({"vocabulary": ["a", "a"]}, "twice"),
        ({"vocabulary": []}, "empty"),
        ({"vocabulary": {"a": 1}}, "0, 1, 2"),
        ({"vocabulary": ["a"], "min_df": 2}, "yours is given"),
        ({"vocabulary": ["a"], "hash_bits": 4}, "leave one of them out"),
        ({"analyzer": "char", "stop_words": ["a"]}, "no effect"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        lineal.TextFeatures(**settings).fit(TEXTS)


def test_binary_accents_and_case() -> None:
    for settings in ({"lowercase": False}, {"strip_accents": "unicode"}):
        theirs = CountVectorizer(binary=True, token_pattern=WORD, **settings)
        ours = lineal.TextFeatures(weighting="binary", **settings)
        assert (ours.fit_transform(TEXTS) != theirs.fit_transform(TEXTS)).nnz == 0
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_characters() -> None:
    theirs = CountVectorizer(analyzer="char", ngram_range=(2, 4))
    ours = lineal.TextFeatures(weighting="counts", analyzer="char", ngram_range=(2, 4))
    assert (ours.fit_transform(TEXTS) != theirs.fit_transform(TEXTS)).nnz == 0


def test_tfidf() -> None:
    theirs = TfidfVectorizer(token_pattern=WORD, ngram_range=(1, 2))
    ours = lineal.TextFeatures(ngram_range=(1, 2))
    np.testing.assert_allclose(ours.fit_transform(TEXTS).toarray(), theirs.fit_transform(TEXTS).toarray(), rtol=1e-15)
    np.testing.assert_allclose(ours.transform(NEW).toarray(), theirs.transform(NEW).toarray(), rtol=1e-15)


def test_max_features_keeps_the_most_frequent() -> None:
    theirs = CountVectorizer(max_features=3, token_pattern=WORD)
    texts = ["d d d d c c c b b a"]
    ours = lineal.TextFeatures(weighting="counts", max_features=3)
    assert (ours.fit_transform(texts) != theirs.fit_transform(texts)).nnz == 0
    tied = lineal.TextFeatures(max_features=2).fit(["z y x w w"])
    assert tied.get_feature_names_out().tolist() == ["w", "x"]


def test_hashing_is_theirs_up_to_the_order_of_columns() -> None:
    """Two hashes, so that the columns are numbered otherwise; without collisions they are the same columns."""
    theirs = HashingVectorizer(n_features=2**20, norm=None, alternate_sign=False, token_pattern=WORD)
    ours = lineal.TextFeatures(weighting="counts", hash_bits=20)
    a, b = theirs.transform(TEXTS).tocsc(), ours.fit_transform(TEXTS).tocsc()
    assert a.shape == b.shape
    columns = [sorted(tuple(m[:, j].toarray()[:, 0]) for j in np.unique(m.nonzero()[1])) for m in (a, b)]
    assert columns[0] == columns[1]


def test_unseen_terms_are_counted_and_containers_do_not_matter() -> None:
    words = lineal.TextFeatures(weighting="counts").fit(TEXTS)
    found = words.transform(NEW)
    assert (words.terms_, words.unknown_) == (7, 3)  # new, unseen, wins
    assert (words.transform(pa.chunked_array([NEW])) != found).nnz == 0
    assert (words.transform(np.array(NEW, dtype=object)) != found).nnz == 0
    assert (clone(words).fit_transform(TEXTS) != words.transform(TEXTS)).nnz == 0


def test_in_a_pipeline() -> None:
    y = np.arange(len(TEXTS)) % 8 < 2
    fitted = make_pipeline(lineal.TextFeatures(), lineal.LogisticRegression(C=100)).fit(TEXTS, y)
    assert (fitted.predict(TEXTS) == y).all()


@pytest.mark.parametrize(
    ("settings", "texts", "said"),
    [
        ({"analyzer": "char_wb"}, TEXTS, "analyzer"),
        ({"strip_accents": "ascii"}, TEXTS, "strip_accents"),
        ({"hash_bits": 5, "min_df": 2}, TEXTS, "vocabulary"),
        ({"weighting": "idf"}, TEXTS, "weighting"),
        ({}, "one text", "list of texts"),
        ({}, [1, 2], "must be texts"),
        ({}, ["", "..."], "no text has a term"),
        ({}, ["\ud800"], "must be texts"),
        ({"ngram_range": (1, 9)}, TEXTS, "n-grams"),
    ],
)
def test_what_cannot_be_read_is_refused(settings: dict[str, object], texts: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        lineal.TextFeatures(**settings).fit(texts)


@pytest.mark.parametrize(
    "options",
    [{}, {"min_df": 2}, {"max_features": 20}, {"weighting": "tfidf"}, {"weighting": "binary"}, {"ngram_range": (1, 2)}],
)
def test_texts_that_were_just_learned_are_encoded_as_if_they_were_read_again(options):
    rng = np.random.default_rng(0)
    words = np.array(["río", "Ärger", "zebra", "a", "été", *(f"w{k}" for k in range(60)), "x" * 40])
    texts = [" ".join(rng.choice(words, rng.integers(0, 12))) for _ in range(5000)]
    once, twice = lineal.TextFeatures(**options), lineal.TextFeatures(**options)
    at_once, again = once.fit_transform(texts), twice.fit(texts).transform(texts)
    assert (at_once != again).nnz == 0
    assert at_once.shape == again.shape
    assert (once.terms_, once.unknown_) == (twice.terms_, twice.unknown_)
    names = once.get_feature_names_out().tolist()
    assert names == sorted(names) == twice.get_feature_names_out().tolist()
