"""Results show themselves in a notebook: a headline, tables, and names that are text."""

from __future__ import annotations

import base64
import re
import sys
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

import lineal

TABLE = {"<b>x</b>": [0.0, 1, 2, 3, 4, 5, 6, 7], "z": [1.0, 0, 2, 1, 3, 1, 0, 2], "y": [0, 0, 1, 0, 1, 1, 1, 0]}


@cache
def fitted():
    return lineal.fit(TABLE, "y", penalty=0.1, solver="newton")


RESULTS = {
    "model": fitted,
    "trace": lambda: fitted().trace,
    "separability": lambda: lineal.separability([[0.0], [1.0], [2.0]], ["<i>", "no", "<i>"]),
    "direction": lambda: lineal.separability([[0.0], [1.0], [2.0]], [0, 0, 1]),
    "comparison": lambda: lineal.compare(TABLE, "y", models=["logistic", "svm"]),
    "sweep": lambda: lineal.sweep(TABLE, "y", over="degree=1:2"),
    "folds": lambda: lineal.cross_validate(TABLE, "y", folds=2, penalty=0.1),
    "inspection": lambda: lineal.inspect(TABLE),
    "path": lambda: lineal.path([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [1.0, 2.0, 3.0, 5.0]),
    "diagnostics": lambda: lineal.diagnostics(lineal.fit(TABLE, "z", model="linear", penalty="none"), TABLE),
}


class Tags(HTMLParser):
    """Collects the tags of a page, and checks that each one is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_tables(name):
    page = Tags(RESULTS[name]()._repr_html_())
    assert page.open == []
    assert {"table", "p"} <= page.tags
    assert not page.tags & {"script", "iframe", "i"}


@pytest.mark.parametrize("name", ["trace", "comparison", "sweep", "folds", "inspection", "path"])
def test_a_terminal_shows_the_same_table(name):
    result = RESULTS[name]()
    lines = str(result).splitlines()
    assert lines[0] == result.headline
    assert len(lines) > 1 + len(result.grids()[0].cells)


def test_a_witness_is_shown_in_whole():
    gate = lineal.separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert gate.grids()[0].cells[1:] == tuple((str(row), "1") for row in range(4))


PICTURED = {"model", "trace", "comparison", "sweep", "inspection", "path"}


@pytest.mark.parametrize("name", RESULTS)
def test_a_picture_stands_below_the_tables(name, monkeypatch):
    """It is an image of its own, in which nothing can run; without the extra the page is the same but for the image."""
    pytest.importorskip("matplotlib")
    page = RESULTS[name]()._repr_html_()
    images = re.findall(r'<p><img alt="[^"<>]*" src="data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)"/></p>', page)
    assert len(images) == page.count("<img") == int(name in PICTURED)
    for image in images:
        root = ET.fromstring(base64.b64decode(image))  # noqa: S314  (our own text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for loaded in [one for one in sys.modules if one.startswith(("matplotlib.", "lineal.plots.paint.matplotlib"))]:
        monkeypatch.delitem(sys.modules, loaded)
    assert RESULTS[name]()._repr_html_() == re.sub("<p><img.*?</p>", "", page)


@pytest.mark.parametrize(
    ("options", "drawn"),
    [
        ({"model": "linear", "penalty": "l1:100"}, 0),  # every coefficient is zero
        ({"model": "knn:2"}, 0),  # no coefficients
        ({"model": "linear", "poly": 2, "penalty": 0.1}, 1),
        ({"model": "bayes"}, 1),
    ],
)
def test_a_model_shows_its_table_whether_or_not_it_can_be_drawn(options, drawn):
    shown = lineal.fit({"x": [0.0, 1.0, 2.0, 4.0], "y": [1.0, 1.5, 3.0, 3.0]}, "y", **options)._repr_html_()
    assert "<b>" in shown
    assert "<table>" in shown
    assert shown.count("<img") == drawn
