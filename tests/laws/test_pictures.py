"""Laws over all kinds of pictures: the record comes back, both painters draw the same, the same bytes, names are text."""

from __future__ import annotations

import json
import re
from functools import cache
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import lineal
from lineal.errors import InputError
from lineal.plots.kinds import NAMES, every_kind
from lineal.plots.paint.matplotlib_painter import painted
from lineal.plots.paint.plotly_painter import drawing, fragment
from lineal.plots.paint.primitives import Arrows, Dots, Grid, Levels, Path, Region, Words, primitives
from lineal.plots.paint.theme import THEMES
from lineal.plots.record import Figure
from lineal.plots.saving import as_csv, content
from tests.laws.picture_cases import HOSTILE, cases, figure, missing

CASES = sorted(cases())


@cache
def svg_of(name: str) -> bytes:
    """Return an example as SVG."""
    return painted(figure(name), "svg")


@cache
def page_of(name: str) -> str:
    """Return an example as a part of a page."""
    return fragment(figure(name))


def test_every_kind_has_an_example():
    assert missing() == set()


@pytest.mark.parametrize("kind", every_kind(), ids=lambda kind: kind.name)
def test_every_kind_says_what_it_is(kind):
    assert kind.question.endswith("?")
    assert kind.inputs
    assert all(
        set(way.replace("..", "").split()) <= {"MODEL", "DATA", "TRACE", "NAMES", "ANSWER"} for way in kind.inputs
    )
    assert kind.draw.__name__ == kind.name
    assert getattr(lineal.plots, kind.name) is kind.draw


@pytest.mark.parametrize("name", CASES)
def test_the_record_comes_back_from_json(name):
    drawn = figure(name)
    text = drawn.to_json()
    assert Figure.from_json(text).to_json() == text
    assert json.loads(text)["figure"] == 1


@pytest.mark.parametrize("name", CASES)
def test_the_caption_begins_with_the_verdict(name):
    drawn = figure(name)
    if drawn.verdict is not None:
        assert drawn.caption.startswith(drawn.verdict.words)
    assert drawn.caption


@pytest.mark.parametrize("name", CASES)
def test_the_table_says_what_is_seen(name):
    drawn = figure(name)
    columns = drawn.data
    assert columns
    assert len({len(values) for values in columns.values()}) == 1
    frame = drawn.to_frame()
    assert list(frame.columns) == list(columns)
    assert len(as_csv(drawn).splitlines()) == 1 + len(frame)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_both_painters_draw_the_same_marks(name):
    """Each primitive is one trace, or annotation, of plotly with its coordinates, and one artist of matplotlib."""
    drawn = figure(name)
    wanted = [one for panel in drawn.panels for one in primitives(drawn, panel, THEMES["light"])]
    page = drawing(drawn)
    traces = [trace for trace in page.data if trace.x is not None and list(trace.x) != [None]]
    arrows = [note for note in page.layout.annotations if note.showarrow]
    expected = [copy for one in wanted for copy in _copies(one)]
    assert len(traces) == len(expected)
    for trace, (kind, x, y) in zip(traces, expected, strict=True):
        assert trace.type == kind
        np.testing.assert_array_equal(np.array(trace.x, float), x)
        np.testing.assert_array_equal(np.array(trace.y, float), y)
    points = [point for one in wanted if isinstance(one, Arrows) for point in zip(one.x2, one.y2, strict=True)]
    assert [(note.x, note.y) for note in arrows] == points
    assert _artists(drawn) == sorted(_sizes(wanted))


def _copies(one):
    kind = {Grid: "heatmap", Levels: "contour"}.get(type(one), "scatter")
    count = len(one.levels) if isinstance(one, Levels) else int(not isinstance(one, Arrows))
    return [(kind, one.x, one.y)] * count


def _sizes(wanted):
    """Return what matplotlib has to show: for each primitive its kind and its first and last coordinates."""
    for one in wanted:
        if isinstance(one, Dots):
            yield "dots", len(one.x), round(float(np.sum(one.x) + np.sum(one.y)), 6)
        elif isinstance(one, Path):
            yield "path", len(one.x), round(float(np.nansum(one.x) + np.nansum(one.y)), 6)
        elif isinstance(one, Grid):
            yield "grid", one.z.size, round(float(np.nansum(one.z)), 6)
        elif isinstance(one, Region):
            yield "region", int(np.isnan(one.x[:-1]).sum()) + 1, 0.0
        elif isinstance(one, Words):
            yield from (
                ("word", len(text), round(float(x + y), 6)) for text, x, y in zip(one.text, one.x, one.y, strict=True)
            )


def _artists(drawn):
    """Return the same of what matplotlib was given, panel by panel."""
    from matplotlib.collections import PathCollection, PolyCollection, QuadMesh
    from matplotlib.contour import ContourSet
    from matplotlib.figure import Figure as Paper

    seen = []
    for panel in range(len(drawn.panels)):
        ax = Paper().add_subplot()
        drawn.draw(ax, panel)
        for line in ax.lines:
            x, y = np.array(line.get_xdata(orig=True), float), np.array(line.get_ydata(orig=True), float)
            if len(x):
                seen.append(("path", len(x), round(float(np.nansum(x) + np.nansum(y)), 6)))
        for mark in ax.collections:
            if isinstance(mark, PathCollection) and not isinstance(mark, ContourSet):
                seen.append(("dots", len(mark.get_offsets()), round(float(np.sum(mark.get_offsets())), 6)))
            elif isinstance(mark, QuadMesh):
                seen.append(("grid", mark.get_array().size, round(float(np.nansum(mark.get_array())), 6)))
            elif isinstance(mark, PolyCollection):
                seen.append(("region", len(mark.get_paths()), 0.0))
        seen += [("word", len(note.get_text()), round(float(sum(note.xy)), 6)) for note in ax.texts if note.get_text()]
    return sorted(seen)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_same_picture_has_the_same_bytes(name):
    again = cases()[name]()
    assert again.to_json() == figure(name).to_json()
    assert painted(again, "svg") == svg_of(name)
    assert fragment(again) == page_of(name)


@pytest.mark.parametrize("name", CASES)
def test_hostile_names_are_text(name):
    root = ET.fromstring(svg_of(name))  # noqa: S314  (our own text)
    assert not [one for one in root.iter() if one.tag.endswith(("script", "foreignObject"))]
    assert root.find("{*}title").text == figure(name).title  # what a screen reader says
    shown = "".join(root.itertext())
    assert "\u202e" not in shown
    assert "\x07" not in shown
    inside = re.findall(r"<script[^>]*>(.*?)</script>", page_of(name), re.DOTALL)
    assert len(inside) == page_of(name).count("<script") == page_of(name).count("</script")
    assert not any(re.search(r"<(script|b|i)>|alert\(1\)<", one) for one in inside)


def test_every_scale_of_colors_stands_beside_its_panel():
    page = drawing(figure("code"))
    bars = [trace.colorbar.x for trace in page.data if trace.type == "heatmap" and trace.showscale]
    assert len(bars) == len(set(bars)) > 1


@pytest.mark.parametrize("theme", sorted(THEMES))
@pytest.mark.parametrize("name", ["code", "confusion"])
def test_words_in_cells_can_be_read(name, theme):
    """The contrast of a word with its cell, as the web's guidelines define it, is at least 4 (3 is asked of large text)."""

    def intensity(color):
        return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0

    def light(shares):
        return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    seen = 0
    page = drawing(figure(name), theme)
    for heat in (trace for trace in page.data if trace.type == "heatmap"):
        cells = {(x, y): z for y, row in zip(heat.y, heat.z, strict=True) for x, z in zip(heat.x, row, strict=True)}
        for words in (trace for trace in page.select_traces({"mode": "text"}) if trace.xaxis == heat.xaxis):
            for place in zip(words.x, words.y, strict=True):
                share = (cells[place] - heat.zmin) / (heat.zmax - heat.zmin)
                stops = [stop for stop, _ in heat.colorscale]
                ends = np.array([intensity(color) for _, color in heat.colorscale])
                back = light(np.array([np.interp(share, stops, ends[:, k]) for k in range(3)]))
                dark, bright = sorted([back, light(intensity(words.textfont.color))])
                assert (bright + 0.05) / (dark + 0.05) >= 4.0
                seen += 1
    assert seen >= 4


def test_names_of_any_length_are_shortened():
    from lineal.plots.wording import clean

    for name in HOSTILE:
        shown = clean(name)
        assert len(shown) <= 48
        assert shown.isprintable()


@pytest.mark.parametrize("theme", ["dark", "print"])
def test_png_and_pdf_and_pages_are_drawn_in_every_theme(theme):
    drawn = figure("fit")
    assert content(drawn, ".png", theme=theme).startswith(b"\x89PNG")
    assert content(drawn, ".pdf", theme=theme) == content(drawn, ".pdf", theme=theme)
    page = content(drawn, ".html", theme=theme).decode()
    assert THEMES[theme].paper in page
    assert not re.search(r'<(script|link|img)[^>]+(src|href)="http', page)


def test_what_is_not_proven_says_so_loudly():
    table = {"x": [0.0, 1.0, 2.0, 3.0], "z": [0.0, 2.0, 1.0, 0.5], "y": ["a", "a", "b", "b"]}
    fitted = lineal.fit(table, "y", model="logistic", penalty="none")
    assert fitted.verdict.kind == "at_infinity"
    drawn = lineal.plot(fitted, "boundary", table)
    assert drawn.caption.startswith("NOT PROVEN (at infinity): ")
    assert THEMES["light"].bad in painted(drawn, "svg").decode()


def test_an_unknown_kind_names_near_ones():
    with pytest.raises(InputError, match=r"there is no picture 'boundry'.*boundary"):
        lineal.plot(None, "boundry")


def test_an_option_without_effect_is_refused():
    with pytest.raises(InputError, match=r"the picture loss has no option --turn; its options are: --names"):
        lineal.plot(None, "loss", turn=30)


def test_names_of_kinds_are_public_once():
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) <= set(dir(lineal.plots))


@pytest.mark.parametrize("text", ["{", "[]", '{"figure": 7}', '{"figure": 1, "kind": "x", "panels": [{}]}'])
def test_json_of_something_else_is_refused_in_a_sentence(text):
    with pytest.raises(InputError, match=r"this is no figure|has version"):
        Figure.from_json(text)


@pytest.mark.parametrize("name", ["fit", "loss"])
def test_a_notebook_shows_it(name):
    bundle = figure(name)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/svg+xml"}
    assert figure(name).caption in bundle["text/plain"]
