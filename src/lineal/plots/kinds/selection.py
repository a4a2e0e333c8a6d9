"""The picture `selection`: how the strength of the penalty was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.subject import model_of, sha256
from lineal.plots.wording import number

BESIDE = ("strength", "error", "l1_ratio")
"""Members of a trial that are not what was measured."""


def selection(model: Any) -> Figure:
    """Return what rows left out cost at every strength that was tried, with the standard error over folds.

    >>> import lineal
    >>> table = {"x": [float(k) for k in range(60)], "y": ["no", "yes", "no", "yes", "yes", "yes"] * 10}
    >>> figure = selection(lineal.fit(table, "y", penalty="auto", test_size=0))
    >>> list(figure.data)
    ['strength', 'log_loss', 'standard error']
    """
    fitted = model_of(model)
    KIND.require(fitted)
    known = fitted.report["selection"]
    trials = [trial for trial in known["trials"] if trial["strength"] > 0.0]
    name = next(key for key in trials[0] if key not in BESIDE)
    strength, value = (np.array([trial[key] for trial in trials], float) for key in ("strength", name))
    error = np.array([trial.get("error") or np.nan for trial in trials], float)
    order = np.argsort(strength, kind="stable")
    strength, value, error = strength[order], value[order], error[order]
    chosen = int(np.argmin(np.abs(np.log(strength) - np.log(known["strength"])))) if known["strength"] > 0.0 else 0
    low, high = value - np.nan_to_num(error), value + np.nan_to_num(error)
    marks = (
        Mark("segments", strength, low, strength, high, group=0, label="one standard error"),
        Mark("line", strength, value, group=0),
        Mark("points", strength, value, group=0),
        Mark(
            "points",
            [strength[chosen]],
            [value[chosen]],
            group=1,
            role="strong",
            label=f"chosen: {number(strength[chosen])}",
        ),
    )
    what = f"{name.replace('_', ' ')} of rows left out"
    return Figure(
        kind="selection",
        title="How strongly to charge coefficients",
        caption=f"Chosen: {known['reason']}.",
        panels=(
            Panel(Axis.around("strength of the penalty", strength, scale="log"), Axis.around(what, low, high), marks),
        ),
        verdict=Word(fitted.verdict.kind, fitted.verdict.sentence, fitted.verdict.proven),
        table={"strength": strength, name: value, "standard error": error},
        source={"model": sha256(fitted), "data": fitted.training.get("fingerprint")},
    )


def refuses(model: Model) -> str:
    """Say why there was no choice; "" if there was."""
    known = model.report.get("selection")
    tried = [] if not known else [trial for trial in known.get("trials", ()) if trial.get("strength", 0.0) > 0.0]
    return "" if len(tried) > 1 else "its strength was given, not chosen; fit with --penalty auto."


KIND = Kind(
    name="selection",
    question="How was the strength of the penalty chosen?",
    inputs=("MODEL",),
    notes=(),
    draw=selection,
    refuses=refuses,
)
