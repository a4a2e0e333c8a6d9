"""Marks of a panel as the few things that painters paint, with colors: what both painters draw is decided here once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from lineal.ground.arrays import Array, Index
from lineal.ground.records import dataclass
from lineal.plots.paint.theme import Theme, legible, mixed, shape
from lineal.plots.record import Axis, Figure, Mark, Panel

DOT: Final = 6.0
"""Diameter of a point, in typographical points."""
WIDTHS: Final = {"plain": 1.6, "strong": 2.4, "guide": 1.1, "faint": 0.7}
"""Widths of lines by their role."""
DASHES: Final = ("solid", "long", "dotted", "dashdot", "solid", "long", "dotted")
"""How plain lines are broken, by their class."""
CROWD: Final = 400
"""From this many points on they are drawn smaller and let light through."""


@dataclass(frozen=True)
class Dots:
    """Points of one shape and color; ``hollow`` as a whole; ``hover`` are words for each."""

    x: Array
    y: Array
    color: str
    shape: str
    size: Array
    hollow: bool
    opacity: float
    label: str
    hover: tuple[str, ...]
    edge: str


@dataclass(frozen=True)
class Path:
    """A line, broken at NaN."""

    x: Array
    y: Array
    color: str
    width: float
    dash: str
    opacity: float
    label: str


@dataclass(frozen=True)
class Region:
    """Filled polygons, NaN between them."""

    x: Array
    y: Array
    color: str
    opacity: float
    outlined: bool
    label: str


@dataclass(frozen=True)
class Grid:
    """Colored cells around the points of a grid; ``colors`` lead from ``low`` to ``high``; ``bar`` says that a scale is shown."""

    x: Array
    y: Array
    z: Array
    low: float
    high: float
    colors: tuple[str, ...]
    bar: bool
    label: str
    ink: str


@dataclass(frozen=True)
class Levels:
    """Lines of equal height."""

    x: Array
    y: Array
    z: Array
    levels: tuple[float, ...]
    color: str
    width: float
    dash: str
    label: str


@dataclass(frozen=True)
class Arrows:
    """Arrows from (x, y) to (x2, y2)."""

    x: Array
    y: Array
    x2: Array
    y2: Array
    color: str
    width: float
    label: str


@dataclass(frozen=True)
class Words:
    """Words beside points, with an edge around their letters; "" for none."""

    x: Array
    y: Array
    text: tuple[str, ...]
    color: str
    side: str
    bold: bool
    edge: str


Primitive = Dots | Path | Region | Grid | Levels | Arrows | Words


def primitives(figure: Figure, panel: Panel, theme: Theme) -> list[Primitive]:
    """Return what is painted of a panel, the lowest first."""
    flat = flattened(panel)
    return [one for mark in flat.marks for one in _of(figure, flat, mark, theme) if len(one.x)]


def flattened(panel: Panel) -> Panel:
    """Return a panel with a third axis as it is seen, from ``turn`` degrees: marks in the plane, axes as lines in it."""
    if panel.z is None:
        return panel
    marks = [*_box(panel), *(_seen(panel, mark) for mark in panel.marks)]
    x, y = np.concatenate([m.x for m in marks]), np.concatenate([m.y for m in marks])
    blank = Axis.around("", x, pad=0.06), Axis.around("", y, pad=0.06)
    return Panel(*blank, tuple(marks), panel.title, bare=True)


def project(panel: Panel, x: Array, y: Array, z: Array) -> tuple[Array, Array]:
    """Return where points of space are on paper: the cube of the axes, turned about its height, seen from above.

    ``u = cos(t) a - sin(t) b``, ``v = c + (sin(t) a + cos(t) b) / 2`` with a, b, c the coordinates from -1 to 1.
    """
    assert panel.z is not None
    a, b, c = (
        2.0 * (v - axis.low) / (axis.high - axis.low) - 1.0 for v, axis in ((x, panel.x), (y, panel.y), (z, panel.z))
    )
    t = np.deg2rad(panel.turn)
    return np.cos(t) * a - np.sin(t) * b, c + 0.5 * (np.sin(t) * a + np.cos(t) * b)


def _seen(panel: Panel, mark: Mark) -> Mark:
    z = mark.z if len(mark.z) else np.full(len(mark.x), panel.z.low if panel.z else 0.0)
    u, v = project(panel, mark.x, mark.y, z)
    return Mark(mark.kind, u, v, group=mark.group, rows=mark.rows, hollow=mark.hollow, size=mark.size, text=mark.text,
                label=mark.label, role=mark.role, side=mark.side)  # fmt: skip


def _box(panel: Panel) -> list[Mark]:
    """Return the three axes of a cube as lines along its floor and its back edge, with names and ends."""
    x, y, z = panel.x, panel.y, panel.z
    assert z is not None
    ends = [((x.low, y.low, z.low), (x.high, y.low, z.low)), ((x.low, y.low, z.low), (x.low, y.high, z.low)),
            ((x.high, y.low, z.low), (x.high, y.low, z.high))]  # fmt: skip
    points = np.array([[*one, *two] for one, two in ends])
    u, v = project(panel, *points[:, :3].T)
    u2, v2 = project(panel, *points[:, 3:].T)
    names = Mark("text", (u + u2) / 2, (v + v2) / 2, text=(x.name, y.name, z.name), side="below", role="guide")
    return [Mark("segments", u, v, u2, v2, role="guide"), names]


def _of(figure: Figure, panel: Panel, mark: Mark, theme: Theme) -> Iterator[Primitive]:
    color, width = theme.of(int(mark.group[0]) if len(mark.group) else -1), WIDTHS.get(mark.role, 1.6)
    dash = _dash(mark)
    dim = 0.35 if mark.role == "faint" else 1.0
    if mark.kind == "points":
        yield from _points(figure, mark, theme)
    elif mark.kind == "line":
        yield Path(mark.x, mark.y, color, width, dash, dim, mark.label)
    elif mark.kind == "rule":
        yield Path(*_through(panel, mark), color, width, dash, dim, mark.label)
    elif mark.kind == "area":
        x, y = np.concatenate([mark.x, mark.x[::-1]]), np.concatenate([mark.y, mark.y2[::-1]])
        yield Region(x, y, color, 0.18, False, mark.label)
    elif mark.kind == "polygon":
        yield Region(mark.x, mark.y, color, 0.18, True, mark.label)
    elif mark.kind in ("segments", "bars"):
        yield from _grouped(figure, mark, theme, width, dash, dim)
    elif mark.kind == "heat":
        yield _heat(mark, theme)
    elif mark.kind == "contour":
        yield Levels(mark.x, mark.y, mark.z, tuple(mark.levels.tolist()), color, width, dash, mark.label)
    elif mark.kind == "arrow":
        yield Arrows(mark.x, mark.y, mark.x2, mark.y2, color, width, mark.label)
    elif mark.side == "center" and (beneath := _beneath(panel, theme)) is not None:
        yield from _written(mark, beneath, theme)
    else:
        ink = theme.quiet if mark.role == "guide" else color
        yield Words(mark.x, mark.y, mark.text, ink, mark.side, mark.role == "strong", theme.paper)


def _beneath(panel: Panel, theme: Theme) -> Grid | None:
    """Return the colored cells of a panel, None where there are none."""
    heats = [mark for mark in panel.marks if mark.kind == "heat"]
    return _heat(heats[0], theme) if heats else None


def _written(mark: Mark, grid: Grid, theme: Theme) -> Iterator[Words]:
    """Yield words in cells: each in ink or in the color of paper, whichever is read more easily on its cell."""
    across = np.abs(grid.x[None] - mark.x[:, None]).argmin(axis=1)
    up = np.abs(grid.y[None] - mark.y[:, None]).argmin(axis=1)
    share = np.nan_to_num(np.clip((grid.z[up, across] - grid.low) / (grid.high - grid.low), 0.0, 1.0))
    inks = [legible(_between(grid.colors, one), theme.ink, theme.paper) for one in share.tolist()]
    for ink in (theme.ink, theme.paper):
        at = [k for k, chosen in enumerate(inks) if chosen == ink]
        words = tuple(mark.text[k] for k in at)
        yield Words(mark.x[at], mark.y[at], words, ink, mark.side, mark.role == "strong", "")


def _between(colors: tuple[str, ...], share: float) -> str:
    """Return the color at a share of the way from the first to the last."""
    place = share * (len(colors) - 1)
    first = min(int(place), len(colors) - 2)
    return mixed(colors[first], colors[first + 1], place - first)


def _dash(mark: Mark) -> str:
    """Return how a line is broken: guides always, plain lines by their class, so that they are told apart in grey."""
    if mark.role == "guide":
        return "dashed"
    return (
        DASHES[max(int(mark.group[0]), 0) % len(DASHES)]
        if mark.kind == "line" and mark.role == "plain" and len(mark.group)
        else "solid"
    )


def _points(figure: Figure, mark: Mark, theme: Theme) -> Iterator[Dots]:
    group, n = _groups(mark), len(mark.x)
    hollow = mark.hollow if len(mark.hollow) else np.zeros(n, np.bool_)
    crowd = n > CROWD
    size = np.full(n, DOT * (0.6 if crowd else 1.0) * (1.6 if mark.role == "strong" else 1.0))
    if len(mark.size) and np.nanmax(mark.size) > 0.0:
        size = size * (0.5 + 2.0 * np.sqrt(mark.size / np.nanmax(mark.size)))
    hover = mark.text or tuple(f"row {row + 1}" for row in mark.rows.tolist())
    opacity = {"faint": 0.35}.get(mark.role, 0.6 if crowd else 0.95)
    for k in np.unique(group).tolist():
        for empty in (False, True):
            at = np.flatnonzero((group == k) & (hollow == empty))
            if not len(at):
                continue
            both = (group == k).all() or not figure.classes
            label = mark.label if both or k < 0 else figure.classes[k % len(figure.classes)]
            label = f"{label} (hollow)" if empty and label and len(np.unique(hollow)) > 1 else label
            words = tuple(hover[i] for i in at) if hover else ()
            yield Dots(
                mark.x[at], mark.y[at], theme.of(k), shape(k), size[at], empty, opacity, label, words, theme.paper
            )


def _grouped(figure: Figure, mark: Mark, theme: Theme, width: float, dash: str, dim: float) -> Iterator[Primitive]:
    """Yield segments or bars, one path or region for each group."""
    group = _groups(mark)
    for k in np.unique(group).tolist():
        at = np.flatnonzero(group == k)
        several = len(np.unique(group)) > 1 and k >= 0 and figure.classes
        label = figure.classes[k % len(figure.classes)] if several else mark.label
        x, y, x2, y2 = mark.x[at], mark.y[at], mark.x2[at], mark.y2[at]
        gap = np.full(len(at), np.nan)
        if mark.kind == "segments":
            yield Path(_mesh(x, x2, gap), _mesh(y, y2, gap), theme.of(k), width, dash, dim, label)
        else:
            xs, ys = _mesh(x, x2, x2, x, x, gap), _mesh(y, y, y2, y2, y, gap)
            yield Region(xs, ys, theme.of(k), 0.35 if mark.role == "faint" else 0.85, True, label)


def _groups(mark: Mark) -> Index:
    return np.broadcast_to(mark.group, len(mark.x)) if len(mark.group) == 1 else mark.group


def _mesh(*parts: Array) -> Array:
    """Return the first of each, then the second of each: what a pen follows, NaN where it is lifted."""
    return np.column_stack(parts).reshape(-1)


def _through(panel: Panel, mark: Mark) -> tuple[Array, Array]:
    """Return rules as lines from one side of the panel to the other."""
    upright = len(mark.x) > 0
    at, axis = (mark.x, panel.y) if upright else (mark.y, panel.x)
    n = len(at)
    along = _mesh(np.full(n, axis.low), np.full(n, axis.high), np.full(n, np.nan))
    across = _mesh(at, at, np.full(n, np.nan))
    return (across, along) if upright else (along, across)


def _heat(mark: Mark, theme: Theme) -> Grid:
    """Return a grid with the colors of its role."""
    finite = mark.z[np.isfinite(mark.z)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    less, middle, more = theme.signed
    if mark.role == "classes":
        count = round(high) + 1
        tints = tuple(mixed(theme.of(k), theme.paper, 0.72) for k in range(count))
        steps = tuple(tint for tint in tints for _ in range(2))
        return Grid(mark.x, mark.y, mark.z, -0.5, count - 0.5, steps, False, mark.label, theme.ink)
    if mark.role == "share":
        ends = mixed(theme.of(0), theme.paper, 0.45), theme.paper, mixed(theme.of(1), theme.paper, 0.45)
        return Grid(mark.x, mark.y, mark.z, 0.0, 1.0, ends, True, mark.label, theme.ink)
    if mark.role == "signed":
        top = max(abs(low), abs(high)) or 1.0
        return Grid(mark.x, mark.y, mark.z, -top, top, (less, middle, more), True, mark.label, theme.ink)
    high = high if high > low else low + 1.0
    return Grid(mark.x, mark.y, mark.z, low, high, (theme.paper, mixed(theme.of(0), theme.paper, 0.3), theme.of(0)), True,
                mark.label, theme.ink)  # fmt: skip
