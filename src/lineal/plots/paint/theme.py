"""How pictures look: colors that a color-blind reader tells apart, with a shape for every class, in three themes."""

from __future__ import annotations

from typing import Final

from lineal.ground.records import dataclass

SHAPES: Final = ("circle", "triangle", "square", "diamond", "cross", "down", "star")
"""Shapes of classes, by their order; there are as many as not to return together with the colors."""


@dataclass(frozen=True)
class Theme:
    """Colors of a picture; ``classes`` are those of classes by their order, lightness going up and down for readers in grey."""

    paper: str
    ink: str
    quiet: str
    grid: str
    good: str
    bad: str
    classes: tuple[str, ...]
    signed: tuple[str, str, str]

    def of(self, group: int) -> str:
        """Return the color of a class; ink where there is none.

        >>> THEMES["light"].of(-1), THEMES["light"].of(0)
        ('#1b1f24', '#0b5fa5')
        """
        return self.ink if group < 0 else self.classes[group % len(self.classes)]


BRIGHT: Final = ("#0b5fa5", "#e8870c", "#14875f", "#c864a8", "#6a4fb0", "#4aa8dc", "#8a5a12", "#7c8894")
GLOWING: Final = ("#63b3f4", "#ffb454", "#4fd1a0", "#ee9bd2", "#b39dfa", "#a5dcff", "#d6a968", "#a9b4bf")

THEMES: Final = {
    "light": Theme(
        "#ffffff", "#1b1f24", "#59636e", "#e4e8ec", "#14663f", "#b3261e", BRIGHT, ("#0b5fa5", "#ffffff", "#e8870c")
    ),
    "dark": Theme(
        "#12161b", "#e6eaee", "#a4afba", "#2b333b", "#63d49a", "#ff8f85", GLOWING, ("#63b3f4", "#12161b", "#ffb454")
    ),
    "print": Theme(
        "#ffffff", "#000000", "#404040", "#d9d9d9", "#000000", "#000000", BRIGHT, ("#0b5fa5", "#ffffff", "#e8870c")
    ),
}


def shape(group: int) -> str:
    """Return the shape of a class.

    >>> shape(-1), shape(1), shape(8)
    ('circle', 'triangle', 'triangle')
    """
    return "circle" if group < 0 else SHAPES[group % len(SHAPES)]


def mixed(color: str, other: str, share: float) -> str:
    """Return a color with a share of another.

    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    pairs = zip(_parts(color), _parts(other), strict=True)
    return "#" + "".join(f"{round(one + share * (two - one)):02x}" for one, two in pairs)


def legible(back: str, *inks: str) -> str:
    """Return the color of most contrast on another, of some: by luminance, as the web's guidelines for readers have it.

    >>> legible("#0b5fa5", "#1b1f24", "#ffffff"), legible("#ffb454", "#e6eaee", "#12161b")
    ('#ffffff', '#12161b')
    """
    return max(inks, key=lambda ink: contrast(ink, back))


def contrast(one: str, two: str) -> float:
    """Return the contrast of two colors, 1 to 21: ``(L + 0.05) / (l + 0.05)`` with L the larger luminance.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    dark, light = sorted(_luminance(color) for color in (one, two))
    return round((light + 0.05) / (dark + 0.05), 6)


def _luminance(color: str) -> float:
    """Return the share of light: 0.2126 R + 0.7152 G + 0.0722 B of linear intensities."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (k / 255 for k in _parts(color))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _parts(color: str) -> list[int]:
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]
