"""The picture `lift`: rows in the plane of two columns, and in the space of a feature map, where a plane parts them."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lineal.api.training import fit
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.pairs import Pair, pair_of
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import GRID, source_of, word_of
from lineal.plots.wording import clean, number

QUADRATIC: Final = "quadratic"
STRENGTH: Final = 0.001
"""Of the ridge penalty of the fit in the space of the map: small, and there is an optimum where rows are separable."""
WIRES: Final = 9
STEPS: Final = 61
"""Points of a wire; those outside of the cube are left out."""


def lift(
    data: Any,
    *,
    target: str | None = None,
    x: str | None = None,
    y: str | None = None,
    map: str = QUADRATIC,  # noqa: A002  (what is typed: --map)
    turn: float = 30.0,
) -> Figure:
    """Return the rows over two columns, and lifted to three by ``map``, with the plane of a logistic fit in either.

    ``quadratic`` is ``phi(u, v) = (u^2, v^2, sqrt(2) u v)``, whose inner products are ``(x.z)^2``; ``COL:COL`` is
    ``(u, v, u v)`` of these columns. A column whose range is without 0 is centered at its mean first. The curve on the left is
    the preimage of the plane.

    >>> ring = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (0.1, 0.1), (-0.1, 0.1), (0.1, -0.1), (0.0, 0.0)]
    >>> table = {"u": [a for a, _ in ring], "v": [b for _, b in ring], "k": ["out"] * 4 + ["in"] * 4}
    >>> figure = lift(table, target="k")
    >>> figure.data["u²"][0], figure.data["prediction"][:5]
    (1.0, ['out', 'out', 'out', 'out', 'in'])
    """
    x, y = (x, y) if map == QUADRATIC else _factors(map)
    pair = pair_of(data, target, x, y)
    names, shifts = _named(pair)
    columns = _lifted(pair.x - shifts[0], pair.y - shifts[1], names, map)
    fitted = fit(
        {**columns, pair.target: list(pair.labels)}, pair.target, model="logistic", penalty=STRENGTH, test_size=0.0
    )
    classes = tuple(str(label) for label in fitted.target.classes or ())
    if fitted.coef.shape[1] > 1:
        raise InputError(f"{pair.target} has {len(classes)} classes; the picture is for two.")
    group = np.array([classes.index(label) for label in pair.labels])
    left = _below(pair, fitted, names, shifts, map, group)
    right = _above(pair, fitted, columns, group, turn)
    said = fitted.predict(columns)
    wrong = sum(str(one) != label for one, label in zip(said, pair.labels, strict=True))
    words = [
        "Left the rows and where the fit decides; right the rows in the space of the map, and the plane.",
        f"{wrong:,} of {len(said):,} rows are on the wrong side.",
    ]
    words += [
        f"{name} is {original} less its mean, {number(shift)}."
        for name, original, shift in zip(names, pair.names, shifts, strict=True)
        if shift
    ]
    return Figure(
        kind="lift", title=f"{' and '.join(pair.names)}, lifted", caption=" ".join([*words, pair.sampled]).strip(),
        panels=(left, right), classes=classes, verdict=word_of(fitted), across=2, source=source_of(fitted, len(said)),
        table={"row": pair.rows + 1, pair.names[0]: pair.x, pair.names[1]: pair.y, **columns,
               "prediction": [str(one) for one in said], pair.target: pair.labels},
    )  # fmt: skip


def _factors(how: str) -> tuple[str, str]:
    """Return the two columns of a product such as ``age:income``."""
    first, _, second = how.partition(":")
    if not (first and second):
        raise InputError(f"the map is {how!r}; it is quadratic, or a product of two columns such as age:income.")
    return first, second


def _named(pair: Pair) -> tuple[tuple[str, str], tuple[float, float]]:
    """Return what columns are called and what is taken off them: their mean, if 0 is not within their range."""
    shifts = [0.0 if v.min() <= 0.0 <= v.max() else float(v.mean()) for v in (pair.x, pair.y)]
    names = [
        f"({clean(name, 20)} - {number(shift)})" if shift else clean(name, 20)
        for name, shift in zip(pair.names, shifts, strict=True)
    ]
    return (names[0], names[1]), (shifts[0], shifts[1])


def _lifted(u: Array, v: Array, names: tuple[str, str], how: str) -> dict[str, Array]:
    first, second = names
    if how == QUADRATIC:
        return {f"{first}²": u**2, f"{second}²": v**2, f"√2 {first} {second}": math.sqrt(2.0) * u * v}
    return {first: u, second: v, f"{first} {second}": u * v}


def _below(
    pair: Pair, model: Model, names: tuple[str, str], shifts: tuple[float, float], how: str, group: Any
) -> Panel:
    """Return the rows over the two columns, with the preimage of the plane."""
    axes = Axis.around(pair.names[0], pair.x), Axis.around(pair.names[1], pair.y)
    gx, gy = (np.linspace(axis.low, axis.high, GRID) for axis in axes)
    grid = _lifted(np.tile(gx, GRID) - shifts[0], np.repeat(gy, GRID) - shifts[1], names, how)
    eta = model.scores(grid)[:, 0].reshape(GRID, GRID)
    edge = Mark("contour", gx, gy, z=eta, levels=[0.0], role="strong", label="boundary")
    return Panel(*axes, (edge, Mark("points", pair.x, pair.y, group=group, rows=pair.rows)), "two columns")


def _above(pair: Pair, model: Model, columns: dict[str, Array], group: Any, turn: float) -> Panel:
    """Return the rows in space and the plane ``b_0 + b'phi = 0``, whose height is the column that turns it most."""
    names, values = list(columns), list(columns.values())
    order = np.argsort(
        [abs(float(b)) * float(v.std()) for b, v in zip(model.coef[1:, 0], values, strict=True)], kind="stable"
    )
    across, back, up = (int(k) for k in order)
    axes = {k: Axis.around(names[k], values[k]) for k in (across, back, up)}
    marks = []
    b = model.coef[:, 0]
    if b[1 + up] != 0.0:
        x, y, z = _wires(
            axes[across], axes[back], axes[up], b[0] / b[1 + up], b[1 + across] / b[1 + up], b[1 + back] / b[1 + up]
        )
        marks.append(Mark("line", x, y, z=z, role="faint", label="plane"))
    marks.append(Mark("points", values[across], values[back], z=values[up], group=group, rows=pair.rows))
    return Panel(axes[across], axes[back], tuple(marks), "the space of the map", z=axes[up], turn=float(turn))


def _wires(across: Axis, back: Axis, up: Axis, constant: float, by_x: float, by_y: float) -> tuple[Array, Array, Array]:
    """Return wires of ``z = -(constant + by_x x + by_y y)`` inside of the cube."""
    xs, ys = (np.linspace(axis.low, axis.high, WIRES) for axis in (across, back))
    fine_x, fine_y = (np.linspace(axis.low, axis.high, STEPS) for axis in (across, back))
    gap = np.array([np.nan])
    lines = [(np.append(fine_x, gap), np.append(np.full(STEPS, y), gap)) for y in ys]
    lines += [(np.append(np.full(STEPS, x), gap), np.append(fine_y, gap)) for x in xs]
    x, y = (np.concatenate(parts) for parts in zip(*lines, strict=True))
    z = -(constant + by_x * x + by_y * y)
    outside = ~((z >= up.low) & (z <= up.high))
    return np.where(outside, np.nan, x), np.where(outside, np.nan, y), np.where(outside, np.nan, z)


KIND = Kind(
    name="lift",
    question="How does a feature map let a plane part rows that no line parts?",
    inputs=("DATA",),
    notes=(36, 14),
    draw=lift,
)
