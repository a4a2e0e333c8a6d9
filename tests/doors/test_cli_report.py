"""`lineal report`: the page says what the model, the checker and the rows say, is text throughout, and opens in a browser."""

from __future__ import annotations

import csv
import math
import re
import shlex
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import lineal
from lineal.cli import run
from tests.laws.picture_cases import HOSTILE

pytestmark = pytest.mark.slow
PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


class Page(HTMLParser):
    """Reads a page: its text, its tags, and where tags are not closed in order."""

    VOID = frozenset({"meta", "link", "br", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.words, self.titles, self.links = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.words.append(data)
            if self.open and self.open[-1] == "h2":
                self.titles.append(data)

    @property
    def text(self):
        return " ".join(self.words)


def write(path, table):
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def fit(folder, *words, data=PENGUINS):
    model = folder / "model.lineal"
    assert run(["fit", str(data), *words, "-o", str(model)]) in (0, 3)
    return model


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """Return the model and the report of the penguins."""
    folder = tmp_path_factory.mktemp("report")
    model = fit(folder, "--target", "species")
    assert run(["report", str(model), str(PENGUINS), "-o", str(folder / "page.html")]) == 0
    return model, folder / "page.html"


def test_sections_stand_in_order_under_the_verdict(reported):
    model, path = reported
    page = Page(path.read_text())
    assert [title.partition(". ")[0] for title in page.titles] == [str(k) for k in range(2, 15)]
    verdict = lineal.load(model).verdict.sentence
    text = path.read_text()
    assert text.index(verdict) < text.index("<h2>")
    assert '<header class="good">' in text
    assert "REFUSED" not in page.text
    for words in ("lineal verify model.lineal penguins.csv", "fingerprint sha256:", "held out", "baseline", "SHA-256"):
        assert words in page.text


def test_it_is_small_and_asks_for_nothing(reported):
    _, path = reported
    text = path.read_text()
    assert len(text.encode()) < 1_000_000
    assert all(link.startswith(("#", "data:")) for link in Page(text).links)
    assert "http-equiv" in text
    assert "default-src 'none'" in text
    assert len(re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL)[0]) < 15_000


def test_the_same_input_gives_the_same_bytes(reported, tmp_path):
    model, path = reported
    assert run(["report", str(model), str(PENGUINS), "-o", str(tmp_path / "again.html")]) == 0
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()


def test_a_path_stands_beside_the_chosen_strength(reported, tmp_path, monkeypatch, capsys):
    model, _ = reported
    monkeypatch.chdir(tmp_path)
    assert run(["path", str(PENGUINS), "--target", "species", "--points", "5", "-o", "path.csv"]) == 0
    assert run(["report", str(model), str(PENGUINS), "--path", "path.csv", "-o", "page.html"]) == 0
    text = (tmp_path / "page.html").read_text()
    section = text[text.index("How the strength was chosen</h2>") : text.index("Along the strongest columns</h2>")]
    assert "How coefficients come in" in section
    assert "coefficient per standard deviation" in section
    assert "bill_length_mm for Adelie" in section
    assert run(["path", str(PENGUINS), "--formula", "sex ~ log(year)", "--points", "3", "-o", "other.csv"]) == 0
    assert run(["report", str(model), str(PENGUINS), "--path", "other.csv", "-o", "page.html"]) == 0
    assert "is of other columns than the model" in (tmp_path / "page.html").read_text()
    assert run(["report", str(model), str(PENGUINS), "--path", str(PENGUINS), "-o", "page.html"]) == 0
    assert "is no path: lineal path DATA --target COL -o FILE writes one." in (tmp_path / "page.html").read_text()


def test_the_command_in_it_fits_the_model_again(reported, tmp_path, monkeypatch):
    model, path = reported
    words = re.findall(r"<code>(lineal fit .*?)</code>", path.read_text())[0].replace("&#x27;", "'")
    shutil.copy(PENGUINS, tmp_path / PENGUINS.name)
    monkeypatch.chdir(tmp_path)
    assert run(shlex.split(words)[1:]) == 0
    again, first = lineal.load(tmp_path / "model.lineal"), lineal.load(model)
    assert again.columns == first.columns
    assert again.penalty.strength == first.penalty.strength
    assert again.training == first.training
    reached, stated = (one.verdict.evidence["objective"] for one in (again, first))
    assert reached == pytest.approx(stated, rel=1e-5)


def test_a_refused_claim_turns_it_red(reported, tmp_path, capsys):
    model, _ = reported
    data = tmp_path / "penguins.csv"
    data.write_text(PENGUINS.read_text().replace("39.1,", "93.1,", 1))
    assert run(["verify", str(model), str(data)]) == 1
    assert run(["report", str(model), str(data), "-o", str(tmp_path / "bad.html")]) == 1
    text = (tmp_path / "bad.html").read_text()
    page = Page(text)
    assert '<header class="bad"><h1>Refused: not confirmed:' in text
    assert "REFUSED" in page.text
    assert len(page.titles) == 13
    assert "not confirmed" in capsys.readouterr().err


def test_what_is_not_proven_says_so(tmp_path):
    table = {"x": [0.0, 1.0, 2.0, 3.0], "z": [0.0, 2.0, 1.0, 0.5], "y": ["a", "a", "b", "b"]}
    write(tmp_path / "t.csv", table)
    model = fit(tmp_path, "--target", "y", "--penalty", "none", "--test-size", "0", data=tmp_path / "t.csv")
    assert run(["report", str(model), str(tmp_path / "t.csv"), "-o", str(tmp_path / "r.html")]) == 0
    text = (tmp_path / "r.html").read_text()
    assert '<header class="bad"><h1>Not proven (at infinity):' in text
    assert "none were held out" in Page(text).text


@pytest.mark.parametrize("target", ["number", "two"])
def test_hostile_names_are_text(tmp_path, target):
    random = np.random.default_rng(0)
    first, second, third, _ = HOSTILE
    a, b = random.normal(size=(2, 60)).round(6)
    level = np.array(["red", "<b>green</b>", "</script><script>alert(1)</script>"])[random.integers(0, 3, 60)]
    two = np.where(a + random.normal(size=60) > 0, "<i>yes</i>", "no & never")
    table = {first: a, second: b, third: level, "number": 2 * a - b, "two": two}
    del table[{"number": "two", "two": "number"}[target]]
    write(tmp_path / "t.csv", table)
    model = fit(tmp_path, "--target", target, "--penalty", "ridge:0.01", data=tmp_path / "t.csv")
    assert run(["report", str(model), str(tmp_path / "t.csv"), "-o", str(tmp_path / "r.html"), "--rows", "20"]) == 0
    text = (tmp_path / "r.html").read_text()
    page = Page(text)
    assert page.tags.count("script") == 1
    assert "b" not in page.tags
    assert "i" not in page.tags
    assert "\u202e" not in text
    assert "\x07" not in text
    assert "<script>alert(1)</script>" in page.text


def test_sentences_say_what_a_unit_does():
    random = np.random.default_rng(2)
    dose = random.normal(size=200)
    kind = np.where(random.random(200) < 0.5, "old", "new")
    ill = np.where(dose + (kind == "new") + random.logistic(size=200) > 0.5, "yes", "no")
    table = {"dose": dose.tolist(), "kind": kind.tolist(), "ill": ill.tolist()}
    fitted = lineal.fit(table, "ill", model="logistic", penalty="none", test_size=0)
    from lineal.report.sentences import about_columns

    said = about_columns(fitted)
    b = dict(zip(fitted.columns, fitted.coef[:, 0], strict=True))
    assert f"One more unit of dose multiplies the odds of yes by {math.exp(b['dose']):.4g}, other columns held." in said
    (other,) = [name for name in b if name.startswith("kind=")]
    level, reference = other.removeprefix("kind="), ({"old", "new"} - {other.removeprefix("kind=")}).pop()
    assert (
        f"kind {level} against {reference} multiplies the odds of yes by {math.exp(b[other]):.4g}, other columns held."
        in said
    )


def test_without_rows_no_cell_is_shown(tmp_path):
    random = np.random.default_rng(4)
    table = {"a": random.normal(size=80).round(6), "b": random.normal(size=80).round(6)}
    table["y"] = (table["a"] - table["b"] + random.normal(size=80)).round(6)
    write(tmp_path / "t.csv", table)
    model = fit(tmp_path, "--target", "y", "--penalty", "none", data=tmp_path / "t.csv")
    shown = {}
    for rows in ("0", "100"):
        assert run(["report", str(model), str(tmp_path / "t.csv"), "-o", str(tmp_path / "r.html"), "--rows", rows]) == 0
        text = (tmp_path / "r.html").read_text()
        page = Page(text)
        shown[rows] = text.count("<use "), sum(f"{value:.4g}" in page.words for value in table["y"])
        assert ("holds no row" in page.text) == (rows == "0")
    assert shown["0"][1] == 0
    assert shown["100"][0] > shown["0"][0] + 5 * 60  # each row is a point of five panels at least
    assert shown["100"][1] > 3


def test_without_matplotlib_the_numbers_are_tables(reported, tmp_path, monkeypatch):
    model, _ = reported
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(["report", str(model), str(PENGUINS), "-o", str(tmp_path / "plain.html")]) == 0
    page = Page((tmp_path / "plain.html").read_text())
    assert "svg" not in page.tags
    assert "pip install 'lineal[plots]'" in page.text
    assert page.tags.count("table") > 8


@pytest.mark.parametrize("words", [["--model", "knn:5"], ["--multiclass", "ovo"]])
def test_every_kind_of_model_has_a_report(tmp_path, words):
    model = fit(tmp_path, "--target", "species", *words)
    assert run(["report", str(model), str(PENGUINS), "-o", str(tmp_path / "r.html"), "--rows", "10"]) == 0
    page = Page((tmp_path / "r.html").read_text())
    assert len(page.titles) == 13
    assert "holds" in page.text


def test_another_ending_is_refused(reported, capsys):
    model, _ = reported
    assert run(["report", str(model), str(PENGUINS), "-o", "report.pdf"]) == 2
    assert "must end in .html" in capsys.readouterr().err


def test_it_opens_in_chromium_without_an_error_or_a_request(reported, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra browser)")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    _, path = reported
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width in (400, 1280):
            page = browser.new_page(viewport={"width": width, "height": 900})
            said, asked = [], []
            page.on("console", lambda message, said=said: said.append(message.text))
            page.on("pageerror", lambda error, said=said: said.append(str(error)))
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(path.as_uri())
            assert said == []
            assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            table = page.locator("#s3 table")
            table.locator("th").nth(1).click()
            claims = table.locator("tbody td:nth-child(2)").all_inner_texts()
            assert claims == page.evaluate("words => words.sort((a, b) => a.localeCompare(b))", claims)
            assert table.locator("th").nth(1).get_attribute("aria-sort") == "ascending"
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden()
        assert page.pdf(path=tmp_path / "r.pdf").startswith(b"%PDF")
        browser.close()
