"""The picture `compare`: which model predicts rows best that it has not seen, and how sure that is."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.api.comparing import Comparison
from lineal.api.comparing import compare as compared
from lineal.errors import InputError
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel
from lineal.plots.wording import clean, listed

REACH: Final = 1.96
"""Standard errors that an interval of 95 % reaches."""


def compare(data: Any, *, target: str | None = None, folds: int = 5, seed: int = 0) -> Figure:
    """Return the figures of a handful of models on folds left out in turn, with 95 % intervals, and of the best constant.

    ``data`` is a table with the column ``target``, or an answer of ``lineal.compare``. An interval is the mean over folds and
    1.96 standard errors to either side; the models are in order of the first figure, the best on top.

    >>> table = {"x": [float(k) for k in range(40)], "y": [2.0 * k + (k * 7 % 5) for k in range(40)]}
    >>> figure = compare(table, target="y")
    >>> figure.panels[0].x.name
    'rmse'
    """
    answer = data if isinstance(data, Comparison) else _compared(data, target, int(folds), int(seed))
    entries = answer.entries
    figures = [answer.metric, *(name for name in answer.baseline if name != answer.metric)][:3]
    names = [clean(entry.name, 32) for entry in entries]
    axis = Axis.of_levels("model", [*(_word(name, entry) for name, entry in zip(names, entries, strict=True))][::-1])
    panels = []
    table: dict[str, Any] = {"model": [*names, "baseline"], "verdict": [*(e.model.verdict.kind for e in entries), ""]}
    height = np.arange(len(entries), dtype=float)[::-1]
    for figure in figures:
        spreads = [entry.validation.get(figure) for entry in entries]
        mean = np.array([np.nan if one is None else one.mean for one in spreads])
        error = np.array([0.0 if one is None else np.nan_to_num(one.error) for one in spreads])
        low, high, base = mean - REACH * error, mean + REACH * error, float(answer.baseline[figure])
        panels.append(
            Panel(
                Axis.around(figure.replace("_", " "), low, high, [base]),
                axis,
                (
                    Mark("rule", [base], role="guide", label="the best constant"),
                    Mark("segments", low, height, high, height, group=0, label="95 %"),
                    Mark("points", mean, height, group=0, label="model"),
                ),
            )
        )
        table |= {figure: [*mean, base], f"{figure} from": [*low, base], f"{figure} to": [*high, base]}
    words = [
        f"Best first by {answer.metric.replace('_', ' ')}: {answer.how}. Intervals are 1.96 standard errors over folds."
    ]
    if answer.refused:
        words.append(f"Refused: {listed(list(answer.refused))}.")
    return Figure(
        kind="compare",
        title="Which model predicts unseen rows best",
        caption=" ".join(words),
        panels=tuple(panels),
        table=table,
        across=3,
    )


def _word(name: str, entry: Any) -> str:
    """Return the name of a model, with a word where its fit is not proven."""
    verdict = entry.model.verdict
    return name if verdict.proven else f"{name} (NOT PROVEN: {verdict.kind.replace('_', ' ')})"


def _compared(data: Any, target: str | None, folds: int, seed: int) -> Comparison:
    if target is None:
        raise InputError("a comparison needs a target: say which column is to be predicted (--target COL).")
    return compared(data, target, folds=folds, seed=seed)


KIND = Kind(
    name="compare",
    question="Which model predicts unseen rows best, and how sure is that?",
    inputs=("DATA",),
    notes=(),
    draw=compare,
)
