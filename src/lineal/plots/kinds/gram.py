"""The picture `gram`: the kernel of every pair of rows, rows sorted by class, with the answer of the Mercer test."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lineal import kernels
from lineal.api.dataset import memory_limit
from lineal.api.kernel_points import kernel_points
from lineal.errors import InputError
from lineal.features.cells.cells import texts
from lineal.features.encoder import column
from lineal.ground.arrays import Index
from lineal.kernels.kernel import Kernel
from lineal.kernels.mercer import MercerTest
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.sample import Among
from lineal.tables.remembered import remembered
from lineal.tables.table import Table, as_table
from lineal.tables.tabular import uniform

MAX_POINTS: Final = 400
"""Rows that are compared: more would not be seen apart."""
MISSING: Final = "missing"


def gram(data: Any, *, target: str | None = None, kernel: str | None = None) -> Figure:
    """Return the Gram matrix ``K_ij = k(x_i, x_j)`` as a heat map, rows in order of their class, and its Mercer test.

    Columns of numbers and categories are standardized; without ``kernel`` it is ``exp(-|x - z|^2 / (2 p))`` for p columns. Where
    some v has ``v'Kv < 0`` beyond rounding, that v is drawn beside the matrix.

    >>> table = {"x": [0.0, 1.0, 5.0, 6.0], "k": ["a", "a", "b", "b"]}
    >>> figure = gram(table, target="k", kernel="rbf:1")
    >>> figure.panels[0].marks[0].z.shape, figure.verdict.kind
    ((4, 4), 'positive semi-definite')
    """
    table = remembered(as_table(data), 2 * memory_limit() // 3)
    labels = _labels(table, target)
    classes = tuple(sorted({*labels} - {MISSING})) + ((MISSING,) if MISSING in labels else ())
    codes = np.array([classes.index(label) for label in labels])
    chosen = _chosen(codes, len(classes))
    sampled = ""
    if len(chosen) < len(codes):
        sampled = f"Compared are {len(chosen):,} of {len(codes):,} rows, a sample by hash of every class."
    kept = table if len(chosen) == len(codes) else table.where(Among(chosen))
    asked, points = _compared(kept, kernel, () if target is None else (target,))
    K, test = asked.gram(points.points), asked.check(points.points)
    order = np.lexsort((chosen, codes[chosen]))
    panels = [_matrix(K[np.ix_(order, order)], codes[chosen][order], classes, target)]
    if test.vector:
        panels.append(_witness(test, order))
    words = [f"K of {len(chosen):,} rows{' in order of their class' if target else ''}, k(x, z) = {asked.formula()}."]
    words.append(f"Columns: {', '.join(points.columns[:6])}{' and more' if len(points.columns) > 6 else ''}.")
    place = np.repeat(np.arange(len(order)), len(order)), np.tile(np.arange(len(order)), len(order))
    return Figure(
        kind="gram", title=f"The {asked.label} of every two rows",
        caption=" ".join([*words, sampled]).strip(),
        panels=tuple(panels), classes=classes if target else (),
        verdict=Word(test.answer, test.sentence, test.answer != "undecided"),
        source={"model": None, "data": None, "rows": len(codes), "kernel": asked.spelled()},
        table={"row": chosen[order][place[0]] + 1, "other row": chosen[order][place[1]] + 1, "k": K[order][:, order].reshape(-1)},
        across=2,
    )  # fmt: skip


def _labels(table: Table, target: str | None) -> list[str]:
    """Return the class of every row; one class where no target is named."""
    if target is None:
        return ["rows"] * sum(len(rows) for rows, _ in table.select(texts={table.names[0]}).numbered())
    table.require(target, "target column")
    labels: list[str] = []
    for _, batch in table.select(texts={target}).numbered():
        codes, levels = texts(column(batch, target))
        labels += [MISSING if code < 0 else str(levels[code]) for code in codes.tolist()]
    if not labels:
        raise InputError(f"{table.origin} has no rows to compare.")
    return labels


def _chosen(codes: Index, classes: int) -> Index:
    """Return the rows of least hash of every class, ``MAX_POINTS`` in all."""
    most, drawn = max(1, MAX_POINTS // classes), uniform(0, np.arange(len(codes)))
    each = (np.flatnonzero(codes == k) for k in range(classes))
    return np.sort(np.concatenate([at[np.argsort(drawn[at], kind="stable")[:most]] for at in each]))


def _compared(table: Table, kernel: str | None, drop: tuple[str, ...]) -> tuple[Kernel, Any]:
    asked = kernels.Gaussian() if kernel is None else kernels.read(kernel)
    points = kernel_points(table, asked, drop=drop)
    if kernel is None:
        asked = kernels.Gaussian(1.0 / (2.0 * len(points.columns)))
    return asked, points


def _matrix(K: Any, codes: Index, classes: tuple[str, ...], target: str | None) -> Panel:
    """Return the heat map, with lines between classes and their names."""
    n = len(K)
    at = np.arange(n).astype(float)
    signed = bool((K < 0.0).any())
    marks = [Mark("heat", at, at, z=K, role="signed" if signed else "amount", label="k(x, z)")]
    ends = np.flatnonzero(np.diff(codes)) + 0.5
    if len(ends):
        marks += [Mark("rule", x=ends, role="guide"), Mark("rule", y=ends, role="guide")]
    name = "row" if target is None else f"row, by {target}"
    starts = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1, [n]])
    if target is not None and len(starts) <= 13:
        middle = (starts[:-1] + starts[1:] - 1) / 2.0
        words = tuple(classes[codes[start]] for start in starts[:-1].tolist())
        marks.append(Mark("text", middle, np.full(len(middle), n - 0.5), text=words, side="above"))
    top = n - 0.5 + (0.06 * n if target is not None else 0.0)
    return Panel(Axis(name, -0.5, n - 0.5), Axis(name, -0.5, top), tuple(marks), "K")


def _witness(test: MercerTest, order: Index) -> Panel:
    """Return the vector with ``v'Kv < 0`` as bars over the rows in the same order."""
    v = np.zeros(len(order))
    v[list(test.rows)] = np.array([float(entry) for entry in test.vector])
    v = v[order] / (np.abs(v).max() or 1.0)
    at = np.arange(len(v)).astype(float)
    bars = Mark("bars", at - 0.4, np.zeros(len(v)), at + 0.4, v, group=0)
    worth = test.value or math.nan
    return Panel(Axis("row", -0.5, len(v) - 0.5), Axis("v, largest entry 1", -1.1, 1.1), (bars,), f"v'Kv = {worth:.4g}")


KIND = Kind(
    name="gram",
    question="How alike are every two rows by a kernel, and is the kernel Mercer's?",
    inputs=("DATA",),
    notes=(38,),
    draw=gram,
)
