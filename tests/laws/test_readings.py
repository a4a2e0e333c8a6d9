"""Numbers and dates as people write them: they mean what Python's own formatting put into them, also to the twin."""

# ruff: noqa: DTZ001 (dates without a zone are what is written here)
from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from lineal.errors import InputError, ModelFileError
from lineal.features.cells import notation
from lineal.features.cells.dates import CALENDARS
from lineal.features.cells.notation import MARKERS, STYLES, UNITS, Notation, named
from lineal.features.encoded import Encoded, fingerprint
from lineal.features.encoder import Encoder
from lineal.features.learning import learn
from lineal.tables.table import as_table
from lineal.verify import terms
from lineal.verify.reading import fingerprint as twin_fingerprint
from lineal.verify.terms import BY_KIND

LAW = settings(max_examples=60, deadline=None)
VALUES = st.one_of(st.integers(-(10**9), 10**9).map(float), st.floats(-1e9, 1e9).map(lambda x: round(x, 3) + 0.0))
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(lambda t: t.replace(microsecond=0))


def spelled(value: float, decimal: str, group: str, unit: str, before: bool) -> str:
    """Write a number as people do, by Python's own thousands."""
    whole = f"{abs(value):,.3f}" if value != int(value) else f"{abs(int(value)):,}"
    text = whole.replace(",", "G").replace(".", decimal).replace("G", group)
    sign = "-" if value < 0 else ""
    return f"{sign}{unit}{text}" if before else f"{sign}{text} {unit}".strip()


@LAW
@given(VALUES, st.sampled_from(STYLES), st.sampled_from(("", *UNITS)), st.booleans())
def test_a_number_is_what_was_written(value, style, unit, before):
    way = Notation(*style, unit)
    text = spelled(value, *style, unit, before)
    assert way.value(text) == value
    assert way.value(text.replace(" ", "\u00a0")) == value
    twin = {"decimal": style[0], "group": style[1], "unit": unit}
    assert BY_KIND["written"].number(twin, text) == value
    assert named(way.example) == way
    assert way in notation.notations(text)


ODD = st.text("0123456789.,' €$%+-eE \u00a0x", max_size=9)


@LAW
@given(ODD, st.sampled_from(STYLES), st.sampled_from(("", "%", "€", "$")))
def test_the_twin_reads_the_same_numbers_and_refuses_the_same_texts(text, style, unit):
    text = text.strip()
    found = Notation(*style, unit).value(text)
    try:
        expected = BY_KIND["written"].number({"decimal": style[0], "group": style[1], "unit": unit}, text)
    except ValueError:
        expected = None
    assert found == expected


FORMATS = {
    ("YMD", "-"): "%Y-%m-%d",
    ("YMD", "/"): "%Y/%m/%d",
    ("YMD", "."): "%Y.%m.%d",
    ("DMY", "."): "%d.%m.%Y",
    ("DMY", "-"): "%d-%m-%Y",
    ("DMY", "/"): "%d/%m/%Y",
    ("MDY", "/"): "%m/%d/%Y",
    ("MDY", "-"): "%m-%d-%Y",
    ("DMY", " "): "%d %b %Y",
    ("MDY", " "): "%B %d, %Y",
}


@LAW
@given(MOMENTS, st.sampled_from(CALENDARS), st.sampled_from(("", " %H:%M", "T%H:%M:%S", " %H:%M:%SZ")))
def test_a_date_is_what_was_written(when, calendar, clock):
    text = when.strftime(FORMATS[calendar.order, calendar.separator] + clock)
    kept = when.replace(second=0 if "%S" not in clock else when.second)
    kept = kept if clock else kept.replace(hour=0, minute=0)
    found = calendar.moment(text)
    assert found.days == pytest.approx((kept - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1), abs=1e-9)
    assert (found.year, found.month, found.weekday) == (when.year, when.strftime("%b"), when.strftime("%a"))
    assert found.hour == kept.strftime("%H")
    assert calendar in notation.fitting(list(CALENDARS), [text])


def test_zones_shift_what_is_elapsed_and_not_what_the_clock_shows():
    calendar = CALENDARS[0]
    found = calendar.moment("2020-03-01T00:30:00+02:00")
    assert found.days == calendar.moment("2020-02-29 22:30Z").days
    assert (found.month, found.hour) == ("Mar", "00")
    assert calendar.moment("2020-02-30") is None
    assert calendar.moment("2020-02-03 24:00") is None


ODD_DATES = st.text("0123456789-/.: TZ+JanFeb,", max_size=20)


@LAW
@given(st.one_of(ODD_DATES, MOMENTS.map(str), MOMENTS.map(lambda t: t.strftime("%d/%m/%Y %H:%M"))), st.data())
def test_the_twin_reads_the_same_dates_and_refuses_the_same_texts(text, data):
    calendar = data.draw(st.sampled_from(CALENDARS))
    text = text.strip()
    term = {"order": calendar.order, "separator": calendar.separator, "part": "elapsed", "origin": 0.0}
    try:
        expected = BY_KIND["elapsed"].number(term, text)
    except ValueError:
        expected = None
    assert calendar.value(text) == expected


@st.composite
def tables(draw):
    """Columns that need a reading, cells missing here and there, each by a mark or by nothing."""
    n = draw(st.integers(4, 25))
    style, unit = draw(st.sampled_from(STYLES)), draw(st.sampled_from(UNITS))
    calendar = draw(st.sampled_from(CALENDARS))
    mark = draw(st.sampled_from(sorted(MARKERS)))
    form = FORMATS[calendar.order, calendar.separator] + draw(st.sampled_from(("", " %H:%M")))

    def column(cells):
        return draw(st.lists(st.one_of(cells, st.sampled_from([mark, ""])), min_size=n, max_size=n))

    return {
        "y": draw(st.lists(st.floats(-1e3, 1e3).map(lambda x: x + 0.0), min_size=n, max_size=n)),
        "price": column(VALUES.map(lambda value: spelled(value, *style, unit, before=False))),
        "when": column(MOMENTS.map(lambda when: when.strftime(form))),
        "kind": draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)),
    }


@LAW
@given(tables())
def test_terms_that_read_texts_agree_with_their_twins_and_survive_a_file(table):
    try:
        learned = learn(as_table(table), target="y", model="number")
    except InputError:
        reject()  # a constant target, or nothing left
    design = np.concatenate([block.design.dense() for block in Encoded(as_table(table), learned).blocks()])
    expected, names = [[1.0] * len(table["y"])], ["(intercept)"]
    for term in learned.encoder.terms:
        data = term.to_dict()
        twin = BY_KIND[term.kind]
        assert terms.learned(data, table) is None
        names += twin.names(data)
        expected += [found.tolist() for found in twin.values(data, table[term.column])]
    assert learned.encoder.columns == tuple(names)
    assert design.T.tolist() == expected
    again = Encoder.from_dict(json.loads(json.dumps(learned.encoder.to_dict())))
    assert again == learned.encoder
    assert again.encode(table).dense().tolist() == design.tolist()
    used = {term.column: ("n" if term.kind == "number" else "t") for term in learned.encoder.terms}
    columns = [("y", "n", table["y"]), *((name, kind, table[name]) for name, kind in used.items())]
    assert fingerprint(as_table(table), learned) == twin_fingerprint.fingerprint(columns)


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("ms", "UTC")])
def test_typed_dates_are_their_texts(kind):
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(days=40 * k) for k in range(12)]
    typed = pa.array([None, *(day.date() if kind == pa.date32() else day for day in days)]).cast(kind)
    y = np.arange(13.0)
    found = learn(as_table(pa.table({"y": y, "t": typed})), target="y")
    text = learn(as_table({"y": y, "t": ["", *(str(day.date()) for day in days)]}), target="y")
    assert found.encoder == text.encoder
    assert found.encoder.columns[1:4] == ("t (days)", "t is missing", "t (year)")


def encoder(**change) -> dict:
    terms = {
        "written": {"decimal": ",", "group": ".", "unit": "%", "markers": ["-"], "fill": 1.5, "indicator": True},
        "ordinal": {"levels": ["lo", "hi"], "fill": 0.5, "indicator": False},
        "elapsed": {
            "order": "DMY",
            "separator": ".",
            "markers": [],
            "part": "elapsed",
            "origin": 3.0,
            "fill": 1.5,
            "indicator": True,
        },
        "cycle": {
            "order": "YMD",
            "separator": "-",
            "markers": [],
            "part": "month",
            "levels": ["Jan", "Feb"],
            "reference": "Jan",
        },
        "merged": {"levels": ["a", "b"], "reference": "a", "missing": False},
    }
    kind = change.pop("kind")
    return {"intercept": True, "terms": [{"kind": kind, "column": "a", **terms[kind], **change}]}


@pytest.mark.parametrize("kind", ["written", "ordinal", "elapsed", "cycle", "merged"])
def test_terms_are_plain_data(kind):
    data = encoder(kind=kind)
    assert Encoder.from_dict(data).to_dict() == data


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "written", "decimal": "x"},
        {"kind": "written", "decimal": ["."]},
        {"kind": "written", "unit": "(a+)+"},
        {"kind": "written", "markers": "-"},
        {"kind": "written", "markers": [1]},
        {"kind": "written", "fill": float("nan")},
        {"kind": "ordinal", "levels": []},
        {"kind": "ordinal", "levels": ["a", "a"]},
        {"kind": "elapsed", "order": "YYY"},
        {"kind": "elapsed", "separator": "("},
        {"kind": "elapsed", "part": "century"},
        {"kind": "elapsed", "origin": None},
        {"kind": "cycle", "part": "__class__"},
        {"kind": "cycle", "levels": ["Feb", "Jan"]},
        {"kind": "cycle", "levels": ["Jan", "Foo"]},
        {"kind": "cycle", "reference": "Dec"},
        {"kind": "merged", "missing": 1},
        {"kind": "merged", "more": 1},
    ],
)
def test_hostile_terms_are_refused(change):
    with pytest.raises(ModelFileError):
        Encoder.from_dict(encoder(**change))
