"""Paints a Figure with plotly: a page that needs no network, with words where the pointer is."""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.plots.paint import primitives as p
from lineal.plots.paint.theme import THEMES, Theme
from lineal.plots.record import Axis, Figure, Panel

SYMBOLS: Final = {
    "circle": "circle", "triangle": "triangle-up", "square": "square", "diamond": "diamond", "cross": "x",
    "down": "triangle-down", "star": "star",
}  # fmt: skip
DASHES: Final = {"solid": "solid", "dashed": "dash", "long": "longdash", "dotted": "dot", "dashdot": "dashdot"}
SIDES: Final = {
    "right": "middle right", "left": "middle left", "above": "top center", "below": "bottom center",
    "center": "middle center",
}  # fmt: skip


def page(figure: Figure, *, width: int | None = None, height: int | None = None, theme: str = "light") -> str:
    """Return a page of HTML that holds the picture and all it needs: the same text for the same figure."""
    body, colors = fragment(figure, width=width, height=height, theme=theme), THEMES[theme]
    from plotly.offline import get_plotlyjs

    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(figure.title)}</title>\n'
        f"<style>body{{font-family:system-ui,sans-serif;margin:1rem;background:{colors.paper};color:{colors.ink}}}"
        f"h1{{font-size:1.1rem}}p{{max-width:60rem;font-size:.9rem}}</style>\n"
        f"<script>{get_plotlyjs()}</script></head>\n<body>{body}</body></html>\n"
    )


def fragment(figure: Figure, *, width: int | None = None, height: int | None = None, theme: str = "light") -> str:
    """Return the part of the page that is the picture: title, drawing, caption; it needs plotly.min.js before it."""
    drawn, colors = drawing(figure, theme), THEMES[theme]
    count = len(figure.panels)
    down = math.ceil(count / min(count, max(1, figure.across)))
    drawn.update_layout(width=width, height=height or 90 + 420 * down)
    settings = {"displaylogo": False, "responsive": width is None}
    chart = drawn.to_html(
        full_html=False, include_plotlyjs=False, div_id="lineal", config=settings, include_mathjax=False
    )
    proven = figure.verdict is None or figure.verdict.proven
    lead = figure.verdict.words if figure.verdict is not None else ""
    tint = colors.good if proven else colors.bad
    return (
        f"<h1>{escape(figure.title)}</h1>\n{chart}\n"
        f'<p><strong style="color:{tint}">{escape(lead)}</strong>{escape(figure.caption[len(lead) :])}</p>'
    )


def drawing(figure: Figure, theme: str = "light") -> Any:
    """Return the picture as a figure of plotly."""
    try:
        from plotly.subplots import make_subplots
    except ModuleNotFoundError:
        raise InputError(
            "a page is drawn by plotly, which is not installed: pip install 'lineal[studio]', or give a name that ends in "
            ".svg, .png, .json or .csv."
        ) from None
    count, colors = len(figure.panels), THEMES[theme]
    across = min(count, max(1, figure.across))
    titles = [said(panel.title) for panel in figure.panels]
    barred = any(mark.kind == "heat" and mark.role != "classes" for panel in figure.panels for mark in panel.marks)
    gap = (0.36 if barred else 0.2) / across
    rows = math.ceil(count / across)
    drawn = make_subplots(rows=rows, cols=across, subplot_titles=titles, horizontal_spacing=gap)
    named: set[str] = set()
    for place, panel in enumerate(figure.panels):
        row, column = divmod(place, across)
        _panel(figure, panel, _Place(drawn, row + 1, column + 1, colors, named), colors)
    drawn.update_layout(
        paper_bgcolor=colors.paper, plot_bgcolor=colors.paper, font={"color": colors.ink, "size": 13},
        margin={"l": 60, "r": 20, "t": 40, "b": 50}, legend={"orientation": "h", "y": 1.08, "yanchor": "bottom"},
        template="none",
    )  # fmt: skip
    return drawn


def said(text: str) -> str:
    """Return text as plotly shows it: it reads tags.

    >>> said("a<b> & c")
    'a&lt;b&gt; &amp; c'
    """
    return escape(text, quote=False)


class _Place:
    """Where traces of a panel go; a label is in the legend once."""

    def __init__(self, drawn: Any, row: int, column: int, theme: Theme, named: set[str]) -> None:
        self.drawn, self.row, self.column, self.theme, self.named = drawn, row, column, theme, named

    def add(self, trace: Any, label: str = "") -> None:
        """Add a trace."""
        shown = bool(label) and label not in self.named
        self.named.add(label)
        trace.update(name=said(label), showlegend=shown, legendgroup=said(label) if label else None)
        self.drawn.add_trace(trace, row=self.row, col=self.column)

    @property
    def axes(self) -> tuple[str, str]:
        """The names of the panel's axes."""
        x, y = self.drawn.get_subplot(self.row, self.column)
        return x.plotly_name.replace("axis", ""), y.plotly_name.replace("axis", "")

    @property
    def beside(self) -> dict[str, float]:
        """Where the scale of a panel's colors stands: on its right, as high as the panel."""
        x, y = self.drawn.get_subplot(self.row, self.column)
        low, high = y.domain
        return {"x": x.domain[1] + 0.01, "y": (low + high) / 2.0, "len": high - low, "thickness": 14.0}


def _panel(figure: Figure, panel: Panel, place: _Place, theme: Theme) -> None:
    flat = p.flattened(panel)
    at = {"row": place.row, "col": place.column}
    place.drawn.update_xaxes(**_axis(flat.x, theme), visible=not flat.bare, **at)
    place.drawn.update_yaxes(**_axis(flat.y, theme), visible=not flat.bare, **at)
    if flat.square:
        place.drawn.update_yaxes(scaleanchor=place.axes[0], scaleratio=1, **at)
    for one in p.primitives(figure, panel, theme):
        PAINT[type(one)](place, one)


def _axis(axis: Axis, theme: Theme) -> dict[str, Any]:
    """Return the settings of an axis; plotly has no symmetric logarithm, so such an axis is linear there."""
    log = axis.scale == "log"
    settings: dict[str, Any] = {
        "title": {"text": said(axis.name)}, "type": "log" if log else "linear", "gridcolor": theme.grid, "zeroline": False,
        "range": [math.log10(axis.low), math.log10(axis.high)] if log else [axis.low, axis.high], "linecolor": theme.quiet,
    }  # fmt: skip
    if axis.scale == "category":
        settings |= {"tickvals": list(range(len(axis.levels))), "ticktext": [said(level) for level in axis.levels]}
    return settings


def _numbers(values: Any) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in np.asarray(values).tolist()]


def _dots(place: _Place, one: p.Dots) -> None:
    from plotly.graph_objects import Scatter

    symbol = SYMBOLS[one.shape] + ("-open" if one.hollow else "")
    edge = {"color": one.color if one.hollow else one.edge, "width": 1.2 if one.hollow else 0.5}
    marker = {
        "symbol": symbol,
        "color": one.color,
        "size": (1.5 * one.size).tolist(),
        "opacity": one.opacity,
        "line": edge,
    }
    place.add(
        Scatter(
            x=_numbers(one.x),
            y=_numbers(one.y),
            mode="markers",
            marker=marker,
            hovertext=list(map(said, one.hover)) or None,
            hoverinfo="text+x+y",
        ),
        one.label,
    )


def _path(place: _Place, one: p.Path) -> None:
    from plotly.graph_objects import Scatter

    line = {"color": one.color, "width": 1.3 * one.width, "dash": DASHES[one.dash]}
    place.add(Scatter(x=_numbers(one.x), y=_numbers(one.y), mode="lines", line=line, opacity=one.opacity), one.label)


def _region(place: _Place, one: p.Region) -> None:
    from plotly.graph_objects import Scatter

    red, green, blue = (int(one.color[k : k + 2], 16) for k in (1, 3, 5))
    fill = f"rgba({red},{green},{blue},{one.opacity})"
    line = {"color": one.color, "width": 0.8 if one.outlined else 0}
    place.add(
        Scatter(x=_numbers(one.x), y=_numbers(one.y), mode="lines", fill="toself", fillcolor=fill, line=line), one.label
    )


def _grid(place: _Place, one: p.Grid) -> None:
    from plotly.graph_objects import Heatmap

    count = len(one.colors)
    at = [k / (count - 1) for k in range(count)]
    if not one.bar:  # one color for each class: every color from one edge to the next
        at = [edge / (count // 2) for k in range(count // 2) for edge in (k, k + 1)]
    scale = [[where, color] for where, color in zip(at, one.colors, strict=True)]
    rows = [_numbers(row) for row in one.z]
    place.add(
        Heatmap(
            x=_numbers(one.x),
            y=_numbers(one.y),
            z=rows,
            zmin=one.low,
            zmax=one.high,
            colorscale=scale,
            showscale=one.bar,
            colorbar={"title": {"text": said(one.label), "side": "right"}, **place.beside},
        )
    )


def _levels(place: _Place, one: p.Levels) -> None:
    from plotly.graph_objects import Contour

    rows = [_numbers(row) for row in one.z]
    line = {"color": one.color, "width": 1.3 * one.width, "dash": DASHES[one.dash]}
    for level in one.levels:
        contours = {"type": "constraint", "operation": "=", "value": level, "showlabels": False}
        place.add(
            Contour(x=_numbers(one.x), y=_numbers(one.y), z=rows, contours=contours, line=line, showscale=False),
            one.label,
        )


def _arrows(place: _Place, one: p.Arrows) -> None:
    x_axis, y_axis = place.axes
    for x, y, x2, y2 in zip(one.x, one.y, one.x2, one.y2, strict=True):
        place.drawn.add_annotation(
            x=x2,
            y=y2,
            ax=x,
            ay=y,
            xref=x_axis,
            yref=y_axis,
            axref=x_axis,
            ayref=y_axis,
            showarrow=True,
            arrowhead=2,
            arrowwidth=1.3 * one.width,
            arrowcolor=one.color,
            text="",
        )
    if one.label:
        from plotly.graph_objects import Scatter

        place.add(
            Scatter(x=[None], y=[None], mode="lines", line={"color": one.color, "width": 1.3 * one.width}), one.label
        )


def _words(place: _Place, one: p.Words) -> None:
    from plotly.graph_objects import Scatter

    words = [f"<b>{said(text)}</b>" if one.bold else said(text) for text in one.text]
    place.add(
        Scatter(
            x=_numbers(one.x),
            y=_numbers(one.y),
            mode="text",
            text=words,
            textposition=SIDES[one.side],
            textfont={"color": one.color},
            hoverinfo="skip",
        )
    )


PAINT: Final[dict[type, Callable[..., None]]] = {
    p.Dots: _dots,
    p.Path: _path,
    p.Region: _region,
    p.Grid: _grid,
    p.Levels: _levels,
    p.Arrows: _arrows,
    p.Words: _words,
}
