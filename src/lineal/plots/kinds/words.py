"""The picture `words`: which words of a text speak for which answer."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.features.encoder import Encoder
from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.subject import model_of, sha256
from lineal.plots.wording import clean

MAX_WORDS: Final = 15
"""Words of each answer."""
MAX_PANELS: Final = 12
"""Answers that are drawn, the first ones."""


def words(model: Any) -> Figure:
    """Return for every text column and answer the words of largest effect ``b_j sd_j`` for it, the largest on top.

    >>> import lineal
    >>> table = {"text": ["cheap pills now", "see you now", "cheap watches", "dinner at eight"] * 8,
    ...          "spam": ["yes", "no", "yes", "no"] * 8}
    >>> figure = words(lineal.fit(table, "spam", penalty=0.1, test_size=0, text=["text"]))
    >>> [panel.title for panel in figure.panels], figure.panels[1].y.levels[-1]
    (['for no', 'for yes'], 'cheap')
    """
    fitted = model_of(model)
    KIND.require(fitted)
    assert isinstance(fitted.encoder, Encoder)
    spread = fitted.report.get("sd", ())
    known = len(spread) == len(fitted.columns)
    effect = fitted.coef * (np.asarray(spread, float)[:, None] if known else 1.0)
    place = {name: j for j, name in enumerate(fitted.columns)}
    panels, lines = list[Panel](), list[tuple[str, str, str, float]]()
    several = len(fitted.encoder.texts) > 1
    for term in fitted.encoder.texts:
        first = place[term.columns[0]]
        names = [name.removeprefix(f"{term.column}: ") for name in term.columns]
        for group, (answer, pull) in enumerate(_sides(fitted, effect[first : first + len(names)])):
            order = [j for j in np.argsort(-pull, kind="stable")[:MAX_WORDS].tolist() if pull[j] > 0.0]
            shown = [clean(names[j], 24) for j in order]
            lines += [(clean(term.column), answer, word, float(pull[j])) for word, j in zip(shown, order, strict=True)]
            if order and len(panels) < MAX_PANELS:
                title = f"{clean(term.column, 24)}: {answer}" if several else answer
                panels.append(_panel(title, shown, pull[order], group))
    what = "a coefficient times the standard deviation of its column" if known else "a coefficient"
    return Figure(
        kind="words",
        title=f"Which words speak for which {fitted.target.name}",
        caption=f"Bars are what a word adds to the score: {what}. The {MAX_WORDS} largest of each answer.",
        panels=tuple(panels),
        verdict=Word(fitted.verdict.kind, fitted.verdict.sentence, fitted.verdict.proven),
        table={key: [line[k] for line in lines] for k, key in enumerate(("column", "speaks", "word", "effect"))},
        source={"model": sha256(fitted), "data": fitted.training.get("fingerprint")},
    )


def _sides(model: Model, effect: Array) -> list[tuple[str, Array]]:
    """Return what words can speak for, with how much each does."""
    classes = model.target.classes
    if classes is not None and effect.shape[1] == 1:
        return [(f"for {clean(classes[0])}", -effect[:, 0]), (f"for {clean(classes[1])}", effect[:, 0])]
    if classes is not None:
        return [(f"for {clean(one)}", effect[:, k]) for k, one in enumerate(model.outputs)]
    return [
        (f"{how} {clean(one)}", sign * effect[:, k])
        for k, one in enumerate(model.outputs)
        for how, sign in (("more", 1.0), ("less", -1.0))
    ]


def _panel(title: str, names: list[str], sizes: Array, group: int) -> Panel:
    """Return bars, the first on top."""
    at = np.arange(len(names), dtype=float)[::-1]
    bars = Mark("bars", np.zeros(len(names)), at - 0.35, sizes, at + 0.35, group=group)
    return Panel(Axis("effect", 0.0, 1.06 * float(sizes.max())), Axis.of_levels("word", names[::-1]), (bars,), title)


def refuses(model: Model) -> str:
    """Say why a model has no words; "" if it has."""
    if model.feature_map is not None or not isinstance(model.encoder, Encoder) or not model.encoder.texts:
        return "it reads no column of text with a coefficient for each word; ask for coefficients."
    return "" if model.coef.shape[1] == len(model.outputs) else "its coefficients are those of a committee's members."


KIND = Kind(
    name="words",
    question="Which words speak for which answer?",
    inputs=("MODEL",),
    notes=(),
    draw=words,
    refuses=refuses,
)
