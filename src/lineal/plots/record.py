"""The Figure record: a picture as plain, versioned data. Painters draw it, files keep it; no style, code or HTML is in it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.plots.wording import MAX_SENTENCES, clean

VERSION: Final = 1
"""Of the JSON of a Figure; one more with every change that an old reader would misread."""
SCALES: Final = ("linear", "log", "symlog", "category")
MARKS: Final[Mapping[str, tuple[str, ...]]] = {
    "points": ("x", "y"),
    "line": ("x", "y"),
    "area": ("x", "y", "y2"),
    "segments": ("x", "y", "x2", "y2"),
    "bars": ("x", "y", "x2", "y2"),
    "polygon": ("x", "y"),
    "heat": ("x", "y", "z"),
    "contour": ("x", "y", "z", "levels"),
    "arrow": ("x", "y", "x2", "y2"),
    "text": ("x", "y"),
    "rule": (),
}
"""Every kind of mark with the arrays it needs."""
ROLES: Final = ("plain", "strong", "guide", "faint", "classes", "share", "signed", "amount")
"""What a mark is for. Heat: the number of a class, a share of the second of two classes, a signed or a plain amount."""
SIDES: Final = ("right", "left", "above", "below", "center")
"""Where the words of a text stand, seen from its point."""

NUMBERS: Final = ("x", "y", "x2", "y2", "z", "levels", "size")
"""Fields of a mark that are arrays of numbers."""


def _none() -> Array:
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis: what it counts, from where to where, on which scale. Levels of a category lie at 0, 1, 2, ...

    >>> Axis("age", 18.0, 80.0).scale
    'linear'
    """

    name: str
    low: float
    high: float
    scale: str = "linear"
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Clean the words and check the range."""
        _set(
            self,
            name=clean(self.name),
            levels=tuple(map(clean, self.levels)),
            low=float(self.low),
            high=float(self.high),
        )
        if self.scale not in SCALES:
            raise ValueError(f"the scale of axis {self.name!r} is {self.scale!r}; it is one of {', '.join(SCALES)}")
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"axis {self.name!r} runs from {self.low} to {self.high}; it needs a finite range")
        if self.scale == "log" and self.low <= 0.0:
            raise ValueError(f"axis {self.name!r} is logarithmic and begins at {self.low}")

    @staticmethod
    def around(name: str, *values: npt.ArrayLike, scale: str = "linear", pad: float = 0.04) -> Axis:
        """Return an axis with room around values; what is not finite is left out.

        >>> axis = Axis.around("x", [0.0, 10.0], pad=0.1)
        >>> axis.low, axis.high
        (-1.0, 11.0)
        """
        every = np.concatenate([np.asarray(value, float).reshape(-1) for value in values])
        every = every[np.isfinite(every) & ((every > 0.0) | (scale != "log"))]
        low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
        if scale == "log":
            room = (high / low) ** pad if high > low else 2.0
            return Axis(name, low / room, high * room, scale)
        room = pad * (high - low) if high > low else max(0.5, 0.5 * abs(high))
        return Axis(name, low - room, high + room, scale)

    @staticmethod
    def of_levels(name: str, levels: Sequence[object]) -> Axis:
        """Return the axis of a category."""
        return Axis(name, -0.5, max(len(levels), 1) - 0.5, "category", tuple(map(str, levels)))


@dataclass(frozen=True, eq=False)
class Mark:
    """Things of one kind in a panel: arrays of numbers, one entry for each of them (NaN breaks a line).

    ``group`` is the number of the class of each thing (one number for all of them, -1: no class), ``rows`` the row of the
    data that each is, counted from 0, ``hollow`` says which are empty inside, ``size`` their weights. Bars fill from (x, y) to
    (x2, y2); a heat's ``z`` is ``(len(y), len(x))``; a rule goes through the panel at every x, or every y. ``label`` is what a
    legend calls it.

    >>> Mark("points", [1.0, 2.0], [3.0, 4.0], group=[0, 1]).group.tolist()
    [0, 1]
    """

    kind: str
    x: Any = field(default_factory=_none)
    y: Any = field(default_factory=_none)
    x2: Any = field(default_factory=_none)
    y2: Any = field(default_factory=_none)
    z: Any = field(default_factory=_none)
    levels: Any = field(default_factory=_none)
    size: Any = field(default_factory=_none)
    group: Any = -1
    rows: Any = ()
    hollow: Any = ()
    text: tuple[str, ...] = ()
    label: str = ""
    role: str = "plain"
    side: str = "right"

    def __post_init__(self) -> None:
        """Make arrays of the numbers, clean the words, check that lengths agree."""
        arrays: dict[str, Any] = {name: np.array(getattr(self, name), np.float64) for name in NUMBERS}
        arrays["group"] = np.array(self.group, np.int64).reshape(-1)
        arrays["rows"] = np.array(self.rows, np.int64).reshape(-1)
        arrays["hollow"] = np.array(self.hollow, np.bool_).reshape(-1)
        for array in arrays.values():
            array.flags.writeable = False
        _set(self, **arrays, text=tuple(map(clean, self.text)), label=clean(self.label, 80))
        self._check()

    def _check(self) -> None:
        if self.kind not in MARKS:
            raise ValueError(f"there is no mark {self.kind!r}; the marks are {', '.join(MARKS)}")
        if self.role not in ROLES or self.side not in SIDES:
            raise ValueError(f"mark {self.kind}: role {self.role!r}, side {self.side!r}; see ROLES and SIDES")
        if self.kind in ("heat", "contour"):
            if self.z.shape != (len(self.y), len(self.x)):
                raise ValueError(f"{self.kind}: z has shape {self.z.shape}, the grid {(len(self.y), len(self.x))}")
            return
        if self.kind == "rule":
            if (len(self.x) == 0) == (len(self.y) == 0):
                raise ValueError("a rule has x, or y")
            return
        for name in (
            *MARKS[self.kind],
            *(name for name in ("z", "size", "rows", "hollow", "text") if len(getattr(self, name))),
        ):
            if len(getattr(self, name)) != len(self.x):
                raise ValueError(f"{self.kind}: {name} has {len(getattr(self, name))} entries, x has {len(self.x)}")
        if len(self.group) not in (1, len(self.x)):
            raise ValueError(f"{self.kind}: group has {len(self.group)} entries, x has {len(self.x)}")
        if self.kind == "text" and not self.text and len(self.x):
            raise ValueError("text: no words")


@dataclass(frozen=True, eq=False)
class Panel:
    """Marks on a pair of axes, the first one lowest. With a third axis ``z`` they are seen from ``turn`` degrees.

    ``square`` says that a unit of x is as long as one of y, so that right angles look like it; ``bare`` that the axes are not
    drawn.
    """

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    title: str = ""
    z: Axis | None = None
    turn: float = 30.0
    square: bool = False
    bare: bool = False

    def __post_init__(self) -> None:
        """Clean the title."""
        _set(self, title=clean(self.title, 90), marks=tuple(self.marks))


@dataclass(frozen=True, eq=False)
class Frame:
    """One moment of a film: the panels that differ at a step, by their place."""

    step: int
    label: str
    panels: Mapping[int, Panel]

    def __post_init__(self) -> None:
        """Clean the label."""
        _set(self, label=clean(self.label, 120), panels=dict(self.panels))


@dataclass(frozen=True)
class Word:
    """The verdict of the fit that is drawn: its kind, its sentence, and whether it is proven."""

    kind: str
    sentence: str
    proven: bool

    @property
    def words(self) -> str:
        """How a caption begins: the sentence, after a loud word where nothing is proven.

        >>> Word("budget", "Stopped after 3 steps.", False).words
        'NOT PROVEN (budget): Stopped after 3 steps.'
        """
        sentence = clean(self.sentence, MAX_SENTENCES // 4)
        return sentence if self.proven else f"NOT PROVEN ({self.kind.replace('_', ' ')}): {sentence}"


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture as plain data: panels with marks, a caption that begins with the verdict, and the same as a table.

    ``classes`` are names of the classes that marks are of; ``table`` are columns that say all that is to be seen; ``source`` says
    what was drawn (SHA-256 of the model, fingerprint of the rows, the command that makes it again). ``across`` is how many
    panels stand side by side. Save it with ``save``, draw it into axes of your own with ``draw``.

    >>> panel = Panel(Axis("x", 0, 1), Axis("y", 0, 1), (Mark("line", [0.0, 1.0], [0.0, 1.0]),))
    >>> figure = Figure("fit", "A line", "It is straight.", (panel,), table={"x": (0.0, 1.0), "y": (0.0, 1.0)})
    >>> Figure.from_json(figure.to_json()) == figure
    True
    """

    kind: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    classes: tuple[str, ...] = ()
    verdict: Word | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    frames: tuple[Frame, ...] = ()
    across: int = 3

    def __post_init__(self) -> None:
        """Clean the words, put the verdict first, check that the table's columns agree."""
        caption = clean(self.caption, MAX_SENTENCES)
        if self.verdict is not None and not caption.startswith(self.verdict.words):
            caption = f"{self.verdict.words} {caption}".strip()
        table: dict[str, tuple[Any, ...]] = {}
        for name, values in self.table.items():
            table[_new(clean(name), table)] = tuple(map(_cell, values))
        if len({len(values) for values in table.values()}) > 1:
            raise ValueError(f"columns of the table have {[len(values) for values in table.values()]} entries")
        _set(
            self, title=clean(self.title, 120), caption=caption, classes=tuple(map(clean, self.classes)), table=table,
            panels=tuple(self.panels), frames=tuple(self.frames), source=_tidy(dict(self.source)),
        )  # fmt: skip

    @property
    def data(self) -> dict[str, list[Any]]:
        """The table twin, as columns."""
        return {name: list(values) for name, values in self.table.items()}

    def at(self, step: int) -> Figure:
        """Return one moment of a film as a picture: the last frame up to a step."""
        panels = list(self.panels)
        for frame in self.frames:
            if frame.step <= step:
                for place, panel in frame.panels.items():
                    panels[place] = panel
        return replace(self, panels=tuple(panels), frames=())

    def to_frame(self) -> Any:
        """Return the table twin as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.data)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"figure": VERSION, **_plain(self)}

    def to_json(self) -> str:
        """Return the record as JSON; numbers come back to the last bit."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @staticmethod
    def from_json(text: str) -> Figure:
        """Return the record that ``to_json`` wrote; anything else is refused in a sentence."""
        try:
            data = json.loads(text)
            if data["figure"] == VERSION:
                figure: Figure = _late("reading").figure(data)
                return figure
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"this is no figure of lineal: {type(error).__name__}: {error}.") from None
        raise InputError(f"the figure has version {data['figure']!r}; this program reads version {VERSION}.")

    def save(self, path: Any, **look: Any) -> None:
        """Write a .svg, .png, .pdf, .html, .json or .csv file; ``width``, ``height`` and ``theme`` as for ``lineal plot``."""
        _late("saving").save(self, path, **look)

    def draw(self, ax: Any, panel: int = 0, theme: str = "light") -> None:
        """Draw one panel into axes of matplotlib."""
        _late("paint.matplotlib_painter").draw_panel(self, self.panels[panel], ax, theme)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook shows: the picture where matplotlib is there, the caption in any case."""
        bundle: dict[str, str] = _late("saving").bundle(self)
        return bundle

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Figure) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"<lineal Figure {self.kind}: {self.caption}>"


def _late(module: str) -> Any:
    """Return what stands above the record: a picture knows how to save itself, and the record knows no painter."""
    return importlib.import_module(f"lineal.plots.{module}")


def _set(record: Any, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _new(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that no other column has: long ones may look the same once they are shortened."""
    fresh, count = name, 1
    while fresh in taken:
        count += 1
        fresh = f"{name} ({count})"
    return fresh


def _cell(value: Any) -> Any:
    """Return a cell of a table as a plain number, text, truth value or None."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return clean(value, 200)


def _tidy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {clean(name): _tidy(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_tidy(one) for one in value]
    return clean(value, 1000) if isinstance(value, str) else _cell(value)


def _plain(value: Any) -> Any:
    """Return JSON data of a part of the record; empty arrays and defaults are left out, NaN is null."""
    if isinstance(value, np.ndarray):
        numbers: Any = value.tolist()
        return _nulls(numbers) if value.dtype == np.float64 else numbers
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    answer = {}
    for item in fields(value):
        part = getattr(value, item.name)
        empty = part is None or (isinstance(part, np.ndarray | tuple | str | Mapping) and not len(part))
        if not empty:
            answer[item.name] = _plain(part)
    return answer


def _nulls(numbers: Any) -> Any:
    if isinstance(numbers, list):
        return [_nulls(one) for one in numbers]
    return numbers if np.isfinite(numbers) else None
