"""Text, law by law: the compiled reader is its plain twin on any text, with any number of threads and in any batches."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lineal import _core
from lineal.errors import InputError
from lineal.features.terms.rows import Rows
from lineal.features.terms.text import Text, documents, from_strings, reading, utf8
from lineal.features.terms.text_statistics import TextStatistics
from lineal.features.text.learning import Learner
from lineal.features.text_options import Options, columns_of
from lineal.verify import terms
from lineal.verify.terms import statistics
from lineal.verify.terms import text as twin

CHOICES = [
    Options(least=1),
    Options(high=3, least=1, weighting="counts"),
    Options(low=2, high=2, least=1, weighting="binary", lower=False),
    Options(letters=3, least=1, fold=True),
    Options(unit="characters", low=1, high=3, least=1, weighting="counts"),
    Options(unit="characters", low=4, high=4, least=1, fold=True, weighting="tfidf"),
    Options(least=2, size=4, weighting="counts"),
    Options(least=0.3, common=0.8),
    Options(high=2, least=1, size=None, bits=3, weighting="counts"),
    Options(high=2, least=1, size=None, bits=6),
    Options(least=1, sublinear=True),
    Options(least=1, once=True, norm="l1"),
    Options(high=2, least=1, sublinear=True, weighting="counts", norm="l2"),
    Options(least=1, norm="none"),
    Options(high=3, least=1, stop=("et", "go", "x_1", "été"), weighting="counts"),
    Options(least=1, size=None, bits=5, sublinear=True, stop=("go",)),
    Options(least=1, size=None, vocabulary=("absent", "go", "x_1", "été")),
    Options(least=1, size=None, high=2, vocabulary=("go go", "go", "日本"), sublinear=True, norm="l1"),
]
WORDS = [
    "NA",
    "go",
    "Go",
    "été",
    "ÉTÉ",
    "naïve",
    "Σίσυφος",
    "ΟΔΟΣ",
    "हिन्दी",
    "한국어",
    "日本",
    "x_1",
    "3.14",
    "don't",
    "\u0301",
    "İ",
    "½",
    "ﬁ",
    "ǆ",
    "?",
]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
CELLS = st.lists(st.one_of(st.none(), SENTENCES, st.text(max_size=12)), min_size=1, max_size=9)


def learned(options: Options, cells: list[str | None]) -> Text:
    learner = Learner("t", options)
    learner.add(pa.array(cells, pa.large_string()))
    return learner.term()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(CELLS)
@pytest.mark.parametrize("options", CHOICES, ids=str)
def test_the_compiled_reader_is_its_plain_twin(options: Options, cells: list[str | None]) -> None:
    term = learned(options, cells)
    plain = term.to_dict()
    assert terms.learned({**plain, "kind": "text", "column": "t"}, {"t": cells}) is None
    assert list(term.columns) == twin.names(plain)
    found = term.encode(pa.array(cells, pa.large_string()))
    dense = found.matrix(len(term.terms)).toarray()
    # the length of a row of m terms is a sum of m squares: off by m / 2 roundings at most
    np.testing.assert_allclose(dense, twin.values(plain, cells).T, rtol=1e-14 if term.documents else 0, atol=0)
    total = sum(1 for cell in cells for _ in twin.terms_of(plain, cell))
    assert found.terms == total
    limited = options.bits is None and (options.least != 1 or options.size == 4 or options.common < 1)
    limited = limited or options.vocabulary is not None
    assert limited or found.unknown == 0


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_words_are_those_of_re_where_there_are_no_marks(text: str) -> None:
    kept = "".join(c for c in text if unicodedata.category(c)[0] not in "MC")  # Python's \w leaves marks out
    assume(kept.strip() not in ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"))
    counts = learned(Options(least=1, lower=False, weighting="counts"), [kept])
    assert sorted(counts.terms) == sorted(set(re.findall(r"\w+", kept)))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.sampled_from("abcXYZ019_ .,-"), max_size=200), min_size=1, max_size=5), st.integers(1, 4))
def test_long_plain_texts_are_read_as_by_re(texts: list[str], letters: int) -> None:
    """Words may begin and end anywhere in a block of 64 characters; rows may have more words than one block sorts."""
    options = Options(least=1, weighting="counts", letters=letters, bits=4, size=None)
    words = [[word for word in re.findall(r"\w+", text.lower()) if len(word) >= letters] for text in texts]
    expected = np.zeros((len(texts), 16))
    for row, found in enumerate(words):
        np.add.at(expected[row], [twin.hashed(word) >> 60 for word in found], 1)
    got = _core.encode_buckets(reading(options, missing=False), from_strings(texts), 4, None, False, None, True)
    assert np.array_equal(Rows(*got[:5]).matrix(16).toarray(), expected)
    assert got[3] == sum(map(len, words))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(SENTENCES, st.text(max_size=12)), max_size=9))
def test_strings_are_read_where_they_are_as_arrow_reads_them(cells: list[str]) -> None:
    for options in CHOICES:
        counted = []
        for found in (from_strings(cells), documents(pa.array(cells, pa.large_string()))):
            learner = Learner("t", options)
            learner.count(found)
            counted.append((learner.rows, learner.term()))
        assert counted[0] == counted[1]


def test_a_list_may_change_after_it_was_given() -> None:
    cells = [f"only here {k}" for k in range(100)]
    found = from_strings(cells)
    cells.clear()
    learner = Learner("t", Options(least=1))
    learner.count(found)
    assert len(learner.term().terms) == 102


def test_a_missing_text_in_a_list_is_empty() -> None:
    learner = Learner("t", Options(least=1))
    learner.count(from_strings(["a b", None]))
    assert (learner.rows, learner.term().terms) == (2, ("a", "b"))


@pytest.mark.parametrize("last", [3, "\ud800"], ids=["number", "surrogate"])
def test_texts_that_are_none_are_refused(last: object) -> None:
    with pytest.raises(InputError, match="must be texts"):
        from_strings(["a b", last])


@given(st.text(max_size=30))
def test_hashes_agree(text: str) -> None:
    assert _core.hash_text(text) == twin.hashed(text)


@pytest.mark.slow
@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the tables are those of Unicode 14")
def test_every_character_becomes_what_the_twin_says() -> None:
    """Character by character over all of Unicode, as far as this Python's version and the tables' agree."""
    every = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]
    array = pa.array(every, pa.large_string())
    words = [c for c in every if twin.in_word(c) or twin.in_word(twin.becomes(c, True, True)[:1] or " ")]
    for lower, fold in ((False, False), (True, False), (True, True)):
        options = Options(least=1, lower=lower, fold=fold, weighting="counts", size=None)
        reading = {"unit": "words", "low": 1, "high": 1, "lower": lower, "fold": fold, "letters": 1}
        expected = Counter(term for c in words for term in twin.terms_of(reading, c))
        learner = Learner("t", options)
        learner.add(array)
        terms = learner._lexicon.take(np.arange(learner.different))
        assert dict(zip(terms, learner._lexicon.times().tolist(), strict=True)) == expected


def test_threads_and_batches_change_nothing() -> None:
    rng = np.random.default_rng(0)
    lexicon = [f"w{k}" for k in range(3000)]
    cells = [" ".join(rng.choice(lexicon, rng.integers(0, 30))) for _ in range(5000)]
    array = pa.array(cells)
    before = _core.threads()
    results = []
    try:
        for threads in (1, 2, 7):
            _core.set_threads(threads)
            for size in (5000, 700):
                for options in (Options(high=2, least=2, size=2000), Options(bits=9, least=1, size=None)):
                    learner = Learner("t", options)
                    for start in range(0, 5000, size):
                        learner.add(array.slice(start, size))
                    term = learner.term()
                    parts = [term.encode(array.slice(start, size)) for start in range(0, 5000, size)]
                    results.append((options, learner.shared, term, Rows.joined(parts)))
    finally:
        _core.set_threads(before)
    for options, shared, term, rows in results:
        first = next(result for result in results if result[0] == options)
        assert (shared, term) == first[1:3]
        assert all(np.array_equal(a, b) for a, b in zip(rows, first[3], strict=True))


def test_more_different_terms_than_are_remembered_from_chunk_to_chunk() -> None:
    cells = [" ".join(f"{row}x{k}" for k in range(100)) + " all all" for row in range(6000)]
    learner, kept = Learner("t", Options(least=1, size=None, weighting="counts")), _core.Tokens()
    learner.count(from_strings(cells), kept)
    numbers = np.arange(learner.different)
    terms = learner._lexicon.take(numbers)
    assert terms[:3] == ["0x0", "0x1", "0x2"]
    assert terms[100] == "all"
    assert terms[101:] == [f"{row}x{k}" for row in range(1, 6000) for k in range(100)]
    common = np.array(terms) == "all"
    assert np.array_equal(learner._lexicon.documents(), np.where(common, 6000, 1))
    assert np.array_equal(learner._lexicon.times(), np.where(common, 12000, 1))
    assert learner._lexicon.sorted(numbers).tolist() == sorted(range(len(terms)), key=terms.__getitem__)
    columns, values = _core.encode_tokens(kept, numbers.astype(np.int32), False, None, True)[1:3]
    assert np.array_equal(columns[101:], np.insert(np.arange(101, len(terms)), np.arange(0, 599900, 100), 100))
    assert np.array_equal(values, np.where(columns == 100, 2, 1))


def test_collisions_are_counted() -> None:
    cells = [f"word{k}" for k in range(200)]
    options = Options(bits=6, least=1, size=None, weighting="counts")
    learner = Learner("t", options)
    learner.add(pa.array(cells))
    buckets = Counter(twin.hashed(cell) >> 58 for cell in cells)
    assert learner.different == len(buckets)
    assert learner.shared == sum(count > 1 for count in buckets.values())


def test_broken_utf8_is_read_as_no_word() -> None:
    broken = pa.Array.from_buffers(
        pa.large_string(), 3, [None, pa.py_buffer(np.array([0, 4, 7, 9])), pa.py_buffer(b"a\xff\xc3b\xe2\x82x\xf0\x9f")]
    )
    learner = Learner("t", Options(least=1, weighting="counts"))
    learner.add(broken)
    assert learner.term().terms == ("a", "b", "x")


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a b", None, "b"]),
        pa.array(["a b", None, "b"], pa.large_string()),
        pa.array(["a b", None, "b"]).dictionary_encode(),
        pa.array(["z", "a b", None, "b"]).slice(1),
        pa.array(["a b", None, "b"], pa.string_view()),
    ],
    ids=["string", "large", "dictionary", "slice", "view"],
)
def test_every_kind_of_column_is_read(array: pa.Array) -> None:
    starts, text = utf8(array)
    assert [bytes(text[a:b]) for a, b in pairwise(starts)] == [b"a b", b"", b"b"]


def test_numbers_in_a_text_column_are_read_as_text() -> None:
    starts, text = utf8(pa.array([1.5, None, 3.0]))
    assert (starts.tolist(), bytes(text)) == ([0, 3, 3, 4], b"1.53")


@pytest.mark.parametrize(
    ("spelled", "said"),
    [
        ("ngrams=4", "1 to 3"),
        ("ngrams=2-1", "smaller one first"),
        ("tfidf,counts", "says again"),
        ("counts,binary", "says again"),
        ("binary,sublinear", "no effect"),
        ("norm=l3", "not understood"),
        ("characters=3,stop=pyproject.toml", "no effect"),
        ("vocabulary=pyproject.toml,max=5", "yours is given"),
        ("vocabulary=pyproject.toml,hash=2^10", "leave one of them out"),
        ("stop=no-such-file", "no-such-file"),
        ("hash=2^40", "not understood"),
        ("hash=2^10,max=5", "leave them out"),
        ("tfdif", "did you mean"),
        ("max=0", "at least 1"),
        ("common=0", "above 0"),
        ("characters=3,letters=2", "no effect"),
        ("min=1.5", "not understood"),
    ],
)
def test_options_are_refused_in_words(spelled: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said) if said != "did you mean" else "(?i)did you mean"):
        Options.parse(spelled)


def test_spellings() -> None:
    found = columns_of(["a:b:ngrams=2,counts", "note"], ("a:b", "note"))
    assert (found["a:b"].high, found["a:b"].weighting, found["note"]) == (2, "counts", Options(sublinear=True))
    assert columns_of({"x": "characters=3-5,case,fold"}, ()) == {
        "x": Options("characters", 3, 5, lower=False, fold=True, sublinear=True)
    }
    assert asdict(Options.parse("hash=2^18"))["bits"] == 18
    with pytest.raises(InputError, match="named twice"):
        columns_of(["note", "note:binary"], ("note",))


@settings(max_examples=60, deadline=None)
@given(CELLS, st.none() | st.lists(st.sampled_from(["go", "été", "x_1", "don", "3"]), min_size=1, unique=True))
def test_statistics_are_those_of_the_plain_twin(cells: list[str | None], words: list[str] | None) -> None:
    term = TextStatistics("t", None if words is None else tuple(sorted(words)))
    out = np.empty((len(cells), len(term.columns)))
    term.write(out, pa.array(cells, pa.large_string()))
    assert out.T.tolist() == [found.tolist() for found in statistics.values(term.to_dict(), cells)]
    assert list(term.columns) == statistics.names(term.to_dict())


def test_statistics_of_a_sentence() -> None:
    term = TextStatistics("t", ("a", "this"))
    out = np.empty((1, 9))
    term.write(out, pa.array(["  This is (a) TEST, 42 this!  "]))
    assert out.tolist() == [[6, 26, 17 / 6, 5 / 6, 4 / 26, 2 / 26, 1 / 6, 5 / 26, 2 / 6]]
