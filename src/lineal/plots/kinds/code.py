"""The picture `code`: which question each member of a committee answers, and how far apart the code words are."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.multiclass.committee import Committee
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.subject import model_of, source_of, word_of

MAX_WORDS = 400
"""Entries that are written into the cells; of larger codes colors alone are drawn."""
SIGNS = {-1: "-", 0: "0", 1: "+"}


def code(model: Any) -> Figure:
    """Return the code of one-vs-rest, one-vs-one or an output code: a row a class, a column a member, entries -1, 0, 1.

    Beside it the distance of any two code words: how many members answer them differently, those that are asked
    of both.

    >>> import lineal
    >>> table = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "k": list("aabbcc")}
    >>> figure = code(lineal.fit(table, "k", penalty=0.1, multiclass="ovr", model="logistic"))
    >>> figure.data["question 1"], figure.panels[1].marks[0].z.tolist()[-1]
    ([1, -1, -1], [0.0, 2.0, 2.0])
    """
    fitted = model_of(model)
    KIND.require(fitted)
    assert isinstance(fitted, Committee)
    words = fitted.code
    classes = tuple(str(label) for label in fitted.target.classes or ())
    apart = np.sum(words[:, None] * words[None] < 0, axis=2)
    questions = tuple(f"{k + 1}" for k in range(words.shape[1]))
    panels = (
        _cells(words.astype(float), questions, classes, "question", "code", "signed", SIGNS),
        _cells(apart.astype(float), classes, classes, "class", "places that differ", "amount", None),
    )
    ends = "; ".join(f"{k + 1}: {name}" for k, name in enumerate(fitted.outputs[:6]))
    more = "; ..." if len(fitted.outputs) > 6 else ""
    caption = (
        f"{len(fitted.members):,} members of the scheme {fitted.scheme} for {len(classes):,} classes; any two code words differ "
        f"in {fitted.distance:,} or more places. Questions: {ends}{more}."
    )
    return Figure(
        kind="code", title=f"The code of {fitted.target.name}", caption=caption, panels=panels, classes=classes,
        verdict=word_of(fitted), source=source_of(fitted, int(fitted.training.get("rows", 0))), across=2,
        table={"class": classes, **{f"question {name}": words[:, k] for k, name in enumerate(questions)}},
    )  # fmt: skip


def _cells(
    z: Array,
    columns: tuple[str, ...],
    rows: tuple[str, ...],
    name: str,
    title: str,
    role: str,
    signs: dict[int, str] | None,
) -> Panel:
    """Return a matrix with its entries written into the cells, the first row on top."""
    marks = [Mark("heat", np.arange(len(columns)), np.arange(len(rows)), z=z[::-1], role=role)]
    if z.size <= MAX_WORDS:
        x, y = np.tile(np.arange(len(columns)), len(rows)), np.repeat(np.arange(len(rows))[::-1], len(columns))
        entries = tuple(f"{value:g}" if signs is None else signs[int(value)] for value in z.reshape(-1).tolist())
        marks.append(Mark("text", x.astype(float), y.astype(float), text=entries, side="center"))
    return Panel(Axis.of_levels(name, columns), Axis.of_levels("class", rows[::-1]), tuple(marks), title)


def _refuses(model: Model) -> str:
    return "" if isinstance(model, Committee) else "it has no members; fit with --multiclass ovr, ovo or ecoc."


KIND = Kind(
    name="code",
    question="Which two-class questions does a committee ask, and how far apart are its code words?",
    inputs=("MODEL",),
    notes=(18,),
    draw=code,
    refuses=_refuses,
)
