"""The picture `split`: how many rows of each class were fitted, how many validate and test."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np

from lineal.api.dataset import memory_limit, parts_of
from lineal.errors import InputError
from lineal.features.encoder import Encoder
from lineal.features.splitting import Split
from lineal.features.types.target_type import responses
from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of, source_of, word_of
from lineal.plots.wording import number
from lineal.tables.derived import derived
from lineal.tables.marked import marked
from lineal.tables.remembered import remembered
from lineal.tables.table import Table, as_table

PARTS: Final = ("fitted", "test", "validation")
QUARTERS: Final = (0.25, 0.5, 0.75)


def split(model: Any, data: Any) -> Figure:
    """Return the rows of every part by the model's own rule: bars by class, of numbers by quarter of the target.

    >>> import lineal
    >>> table = {"x": [float(k) for k in range(40)], "k": ["no", "yes"] * 20}
    >>> figure = split(lineal.fit(table, "k", penalty=0.1, test_size=0.25), table)
    >>> figure.data["part"][:2], sum(figure.data["rows"])
    (['fitted', 'fitted'], 40)
    """
    fitted = model_of(model)
    KIND.require(fitted)
    assert isinstance(fitted.encoder, Encoder)  # `_refuses` asked
    rule = fitted.training.get("split")
    table = remembered(
        derived(marked(as_table(data), fitted.encoder.marks), fitted.target.name), 2 * memory_limit() // 3
    )
    held = Split(0, 0.0) if rule is None else Split.of(rule)
    name = None if fitted.target.names else fitted.target.name
    known = [
        (part, _targets(fitted, rows))
        for part, rows in zip(PARTS, parts_of(table, held, name), strict=True)
        if rows is not None
    ]
    every = np.concatenate([y for _, y in known])
    if not len(every):
        raise InputError(f"{table.origin} has no row with a target, so there is nothing to draw.")
    groups = fitted.target.kind == "classes"
    labels, cuts = (tuple(map(str, fitted.target.classes or ())), None) if groups else _quarters(every)
    counts = {part: np.bincount(_codes(y, cuts), minlength=len(labels)) for part, y in known}
    width = 0.8 / len(counts)
    marks, at = [], np.arange(len(labels)).astype(float)
    for k, (part, rows) in enumerate(counts.items()):
        left = at - 0.4 + k * width
        marks.append(
            Mark("bars", left, np.zeros(len(at)), left + 0.94 * width, rows.astype(float), group=k, label=part)
        )
        if len(labels) * len(counts) <= 24:
            marks.append(
                Mark(
                    "text",
                    left + 0.47 * width,
                    rows.astype(float),
                    text=tuple(f"{count:,}" for count in rows),
                    side="above",
                )
            )
    total = sum(int(rows.sum()) for rows in counts.values())
    sizes = ", ".join(
        f"{part} {int(rows.sum()):,} ({100.0 * rows.sum() / total:.0f} %)" for part, rows in counts.items()
    )
    top = float(max(rows.max() for rows in counts.values())) or 1.0
    target = fitted.target.name if groups else f"quarter of {fitted.target.name}"
    return Figure(
        kind="split", title="Which rows were fitted", caption=f"{_rule(held)} {total:,} rows with a target: {sizes}.",
        panels=(Panel(Axis.of_levels(target, labels), Axis("rows", 0.0, 1.15 * top), tuple(marks)),),
        verdict=word_of(fitted), source=source_of(fitted, total),
        table={"part": np.repeat(list(counts), len(labels)), target: list(labels) * len(counts),
               "rows": np.concatenate(list(counts.values()))},
    )  # fmt: skip


def _targets(model: Model, table: Table) -> Array:
    """Return the first target of the rows that have one."""
    names = set(model.target.names or (model.target.name,))
    texts = names if model.target.kind == "classes" else set()
    chosen = table.select(numbers=names - texts, texts=texts)
    answers = [responses(model.target, batch, chosen, rows) for rows, batch in chosen.numbered()]
    return np.concatenate([np.empty(0), *(y[present, 0] for y, present in answers)])


def _quarters(y: Array) -> tuple[tuple[str, ...], Array]:
    """Return names of the quarters of a number, and where they end."""
    cuts = np.unique(np.quantile(y, QUARTERS))
    ends = [number(float(cut)) for cut in cuts]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return (f"up to {ends[0]}", *between, f"above {ends[-1]}"), cuts


def _codes(y: Array, cuts: Array | None) -> Any:
    return y.astype(np.int64) if cuts is None else np.searchsorted(cuts, y, side="left")


def _rule(rule: Split) -> str:
    """Return how rows were parted, in a sentence."""
    if not rule.parts:
        return "No row was held out."
    if rule.by == "row":
        return f"Rows are parted by a hash of their number (seed {rule.seed})."
    words = {"stratified": f"the same shares of every class (seed {rule.seed})", "group": f"whole groups of {rule.column}",
             "time": f"the last rows by {rule.column}", "column": f"the words of {rule.column}"}  # fmt: skip
    return f"Rows are parted by {words[rule.by]}."


def _refuses(model: Model) -> str:
    return "" if isinstance(model.encoder, Encoder) else "it was fitted on arrays, which lineal does not part."


KIND = Kind(
    name="split",
    question="Which rows were fitted, which validate and which test, class by class?",
    inputs=("MODEL DATA",),
    notes=(44,),
    draw=split,
    refuses=_refuses,
)
