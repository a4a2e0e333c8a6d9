"""Paints a Figure with matplotlib: bytes of a file, or one panel into axes of yours."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.plots.paint import primitives as p
from lineal.plots.paint.theme import THEMES, Theme
from lineal.plots.record import Axis, Figure, Panel

INCH: Final = 100
"""Pixels to an inch of paper."""
PANEL: Final = (6.4, 4.4)
"""Width and height of a lone panel in inches; several share the width."""
MARKERS: Final = {"circle": "o", "triangle": "^", "square": "s", "diamond": "D", "cross": "X", "down": "v", "star": "*"}
MAX_MINOR_RATIO: Final = 8.0
"""Up to which ratio of its ends a logarithmic axis also writes the ticks between powers of ten."""
MAX_VECTOR_POINTS: Final = 2000
"""More points than this are dots of an image inside of the file, which stays small."""
DASHES: Final[Any] = {
    "solid": "-", "dashed": (0, (4, 3)), "long": (0, (8, 2)), "dotted": (0, (1, 1.5)), "dashdot": (0, (6, 2, 1, 2)),
}  # fmt: skip
SIDES: Final = {
    "right": ((5, 0), "left", "center"),
    "left": ((-5, 0), "right", "center"),
    "above": ((0, 5), "center", "bottom"),
    "below": ((0, -5), "center", "top"),
    "center": ((0, 0), "center", "center"),
}
SETTINGS: Final[Any] = {
    "svg.hashsalt": "lineal",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "path.simplify": False,
}


def painted(
    figure: Figure, form: str, *, width: int | None = None, height: int | None = None, theme: str = "light"
) -> bytes:
    """Return the picture as svg, png or pdf: the same bytes for the same figure."""
    with _settings():
        paper = _paper(figure, width, height, THEMES[theme])
        stream = io.BytesIO()
        none = {
            "svg": {"Date": None, "Creator": None},
            "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        }
        said = {"Title": figure.title} if figure.title and form in none else {}
        metadata = {**none.get(form, {"Software": None}), **said}
        paper.savefig(stream, format=form, dpi=2 * INCH, metadata=metadata)
        return stream.getvalue()


def draw_panel(figure: Figure, panel: Panel, ax: Any, theme: str = "light") -> None:
    """Draw one panel into axes of matplotlib."""
    with _settings():
        _panel(figure, panel, ax, THEMES[theme])
        _legend(ax.legend, _entries([ax]), loc="best")


@contextmanager
def _settings() -> Iterator[None]:
    """Hold the settings that make bytes the same; name what to install where matplotlib is not there."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise InputError(
            "svg, png and pdf are drawn by matplotlib, which is not installed: pip install 'lineal[plots]', or give a "
            "name that ends in .json or .csv."
        ) from None
    with warnings.catch_warnings(), mpl.rc_context(SETTINGS):
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


def _paper(figure: Figure, width: int | None, height: int | None, theme: Theme) -> Any:
    """Return the drawn page: title, legend, panels, caption, from top to bottom."""
    import matplotlib.figure

    count = len(figure.panels)
    across = min(count, max(1, figure.across))
    down = math.ceil(count / across)
    wide = width / INCH if width else (PANEL[0] if across == 1 else min(3.9 * across, 12.0))
    lines = _wrapped(figure, wide)
    foot, head = 0.17 * len(lines) + 0.18, 0.42 if figure.title else 0.05
    each = PANEL[1] if across == 1 else 1.02 * wide / across
    high = height / INCH if height else head + foot + 0.3 + each * down
    paper: Any = matplotlib.figure.Figure(figsize=(wide, high), facecolor=theme.paper, layout="constrained")
    axes = [paper.add_subplot(down, across, place + 1) for place in range(count)]
    for panel, ax in zip(figure.panels, axes, strict=True):
        _panel(figure, panel, ax, theme)
    legend = _legend(paper.legend, _entries(axes), loc="upper left", bbox_to_anchor=(0.0, 1.0 - head / high), theme=theme,
                     width=wide)  # fmt: skip
    if legend is not None:
        head += legend.get_window_extent().height / paper.dpi + 0.05
    size = min(12.0, 12.0 * (wide - 0.3) / max(_long(figure.title, 12.0), 0.1))
    paper.text(0.12 / wide, 1 - 0.12 / high, figure.title, fontsize=size, fontweight="bold", color=theme.ink, va="top")
    for place, (line, verdict) in enumerate(lines):
        proven = figure.verdict is not None and figure.verdict.proven
        color = (theme.good if proven else theme.bad) if verdict else theme.quiet
        top = (foot - 0.08 - 0.17 * place) / high
        paper.text(
            0.12 / wide, top, line, fontsize=8, color=color, va="top", fontweight="bold" if verdict else "normal"
        )
    paper.get_layout_engine().set(rect=(0, foot / high, 1, 1 - (foot + head) / high), w_pad=0.08, h_pad=0.08)
    return paper


def _wrapped(figure: Figure, wide: float) -> list[tuple[str, bool]]:
    """Return the lines of the caption, and of each whether it is of the verdict."""
    lead = figure.verdict.words if figure.verdict is not None else ""
    columns = max(20, int((wide - 0.24) * 72 / (8 * 0.565)))
    bold = textwrap.wrap(lead, int(columns * 0.88))
    return [(line, True) for line in bold] + [
        (line, False) for line in textwrap.wrap(figure.caption[len(lead) :].strip(), columns)
    ]


def _long(text: str, size: float) -> float:
    """Return about how many inches of bold text these are."""
    return len(text) * size * 0.66 / 72


def _panel(figure: Figure, panel: Panel, ax: Any, theme: Theme) -> None:
    """Draw one panel."""
    flat = p.flattened(panel)
    ax.set_facecolor(theme.paper)
    for spine in ax.spines.values():
        spine.set_color(theme.quiet)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(colors=theme.quiet, labelsize=8)
    _axis(ax.xaxis, flat.x, ax.set_xlim, ax.set_xscale, theme)
    _axis(ax.yaxis, flat.y, ax.set_ylim, ax.set_yscale, theme)
    ax.set_title(flat.title, fontsize=9, color=theme.ink, loc="left", wrap=True)
    if flat.bare:
        ax.set_axis_off()
    elif not any(mark.kind == "heat" for mark in flat.marks):
        ax.grid(visible=True, color=theme.grid, linewidth=0.6)
        ax.set_axisbelow(True)
    if flat.square:
        ax.set_aspect("equal", adjustable="datalim" if len(figure.panels) == 1 else "box")
    for one in p.primitives(figure, panel, theme):
        PAINT[type(one)](ax, one)


def _axis(axis: Any, record: Axis, limits: Callable[..., Any], scale: Callable[..., Any], theme: Theme) -> None:
    if record.scale in ("log", "symlog"):
        scale(record.scale)
        _powers(axis, record)
    limits(record.low, record.high)
    axis.set_label_text(record.name, color=theme.ink, fontsize=9)
    if record.scale == "category":
        axis.set_ticks(range(len(record.levels)), record.levels)
        crowded = axis.axis_name == "x" and sum(map(len, record.levels)) > 44
        if crowded:
            for label in axis.get_ticklabels():
                label.set(rotation=35, ha="right", rotation_mode="anchor")


def _powers(axis: Any, record: Axis) -> None:
    """Write the ticks of a logarithmic axis as plain numbers; those between powers of ten only where there are few powers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    plain = FuncFormatter(lambda value, _place: f"{value:g}")
    axis.set_major_formatter(plain)
    few = record.scale == "log" and record.high < MAX_MINOR_RATIO * record.low
    axis.set_minor_formatter(plain if few else NullFormatter())


def _dots(ax: Any, one: p.Dots) -> None:
    face = "none" if one.hollow else one.color
    size = (one.size**2).tolist()
    ax.scatter(
        one.x,
        one.y,
        s=size[0] if len(set(size)) == 1 else size,  # (of one size an SVG says the shape once)
        marker=MARKERS[one.shape],
        facecolors=face,
        alpha=one.opacity,
        zorder=3,
        edgecolors=one.color if one.hollow else one.edge,
        linewidths=1.1 if one.hollow else 0.5,
        label=one.label,
        rasterized=len(one.x) > MAX_VECTOR_POINTS,
    )


def _path(ax: Any, one: p.Path) -> None:
    ax.plot(
        one.x,
        one.y,
        color=one.color,
        linewidth=one.width,
        linestyle=DASHES[one.dash],
        alpha=one.opacity,
        label=one.label or "_",
        zorder=2.5,
        solid_capstyle="round",
    )


def _region(ax: Any, one: p.Region) -> None:
    from matplotlib.collections import PolyCollection

    points = np.column_stack([one.x, one.y])
    ends = np.flatnonzero(np.isnan(one.x) | np.isnan(one.y))
    parts = [part[np.isfinite(part).all(axis=1)] for part in np.split(points, ends)]
    polygons = PolyCollection(
        [part for part in parts if len(part) > 2],
        facecolors=one.color,
        alpha=one.opacity,
        zorder=2,
        edgecolors=one.color if one.outlined else "none",
        linewidths=0.8,
        label=one.label or "_",
    )
    ax.add_collection(polygons, autolim=False)


def _grid(ax: Any, one: p.Grid) -> None:
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap

    steps = one.colors[::2]
    stepped = not one.bar
    colors = ListedColormap(list(steps)) if stepped else LinearSegmentedColormap.from_list("shades", list(one.colors))
    mesh = ax.pcolormesh(
        one.x, one.y, one.z, cmap=colors, vmin=one.low, vmax=one.high, shading="nearest", rasterized=True, zorder=1
    )
    if one.bar:
        bar = ax.figure.colorbar(mesh, ax=ax, fraction=0.05, pad=0.02)
        bar.set_label(one.label, color=one.ink, fontsize=8)
        bar.ax.tick_params(colors=one.ink, labelsize=7)
        bar.outline.set_visible(False)


def _levels(ax: Any, one: p.Levels) -> None:
    levels = sorted({level for level in one.levels if np.nanmin(one.z) < level < np.nanmax(one.z)})
    if levels:
        ax.contour(
            one.x,
            one.y,
            one.z,
            levels=levels,
            colors=one.color,
            linewidths=one.width,
            linestyles=[DASHES[one.dash]],
            zorder=2.4,
        )
    ax.plot([], [], color=one.color, linewidth=one.width, linestyle=DASHES[one.dash], label=one.label or "_")


def _arrows(ax: Any, one: p.Arrows) -> None:
    for x, y, x2, y2 in zip(one.x, one.y, one.x2, one.y2, strict=True):
        arrow = {
            "arrowstyle": "-|>",
            "color": one.color,
            "linewidth": one.width,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 11,
        }
        ax.annotate("", (x2, y2), (x, y), arrowprops=arrow, zorder=3.5, annotation_clip=False)
    if one.label:
        ax.plot([], [], color=one.color, linewidth=one.width, marker=">", markersize=4, label=one.label)


def _words(ax: Any, one: p.Words) -> None:
    from matplotlib.patheffects import withStroke

    offset, across, up = SIDES[one.side]
    for x, y, text in zip(one.x, one.y, one.text, strict=True):
        note = ax.annotate(
            text,
            (x, y),
            xytext=offset,
            textcoords="offset points",
            ha=across,
            va=up,
            color=one.color,
            zorder=4,
            fontsize=8,
            fontweight="bold" if one.bold else "normal",
            annotation_clip=True,
        )
        if one.edge:
            note.set_path_effects([withStroke(linewidth=2.0, foreground=one.edge)])


PAINT: Final[dict[type, Callable[..., None]]] = {
    p.Dots: _dots,
    p.Path: _path,
    p.Region: _region,
    p.Grid: _grid,
    p.Levels: _levels,
    p.Arrows: _arrows,
    p.Words: _words,
}


def _entries(axes: list[Any]) -> dict[str, Any]:
    """Return what a legend names, each name once."""
    named: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    return named


def _legend(
    make: Callable[..., Any], named: dict[str, Any], *, theme: Theme | None = None, width: float = 0.0, **where: Any
) -> Any:
    """Add a legend, in as many columns as the width holds; None where there is nothing to name."""
    if not named:
        return None
    longest = max(map(len, named)) * 8 * 0.6 / 72 + 0.5
    columns = max(1, min(len(named), int((width or 2.0) / longest)))
    legend = make(
        list(named.values()), list(named), fontsize=8, frameon=False, ncols=columns, handlelength=1.6, **where
    )
    for text in legend.get_texts():
        text.set_color((theme or THEMES["light"]).ink)
    return legend
