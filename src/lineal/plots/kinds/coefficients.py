"""The picture `coefficients`: which columns move the score how far, and how sure that is."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.plots.catalogue import Kind
from lineal.plots.intervals import errors
from lineal.plots.record import Axis, Figure, Mark, Panel, Word
from lineal.plots.subject import model_of, sha256, subject_of
from lineal.plots.wording import clean

MAX_SHOWN: Final = 20
"""Design columns that are drawn, those of largest effect."""


def coefficients(model: Any, data: Any = None) -> Figure:
    """Return the effect ``b_j sd_j`` of each design column: what one standard deviation more of it adds to the score.

    Standard deviations are those of the fit, or of ``data`` where the model does not keep them; without either the
    coefficients themselves are drawn. Intervals (95 %) are those of ``model.summary()``, where the fit has them.

    >>> import lineal
    >>> table = {"a": [0.0, 1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0, 2.0], "y": [1.0, 3.0, 4.0, 9.0]}
    >>> figure = coefficients(lineal.fit(table, "y", model="linear", penalty="none"), table)
    >>> figure.data["column"], [round(one, 9) for one in figure.data["coefficient"]]
    (['b', 'a'], [3.0, 2.0])
    """
    fitted = model_of(model)
    KIND.require(fitted)
    scale, words = _scale(fitted, data)
    size = np.abs(fitted.coef * scale[:, None]).max(axis=1)
    first = int(fitted.has_intercept)
    order = first + np.argsort(-size[first:], kind="stable")
    order = order[size[order] > 0.0]
    if not len(order):
        raise InputError("every coefficient but the intercept is zero, so there is nothing to draw.")
    said = [words]
    try:
        error, reach = errors(fitted)
        spread: Array | None = reach * error
        said.append("Intervals hold 95 %.")
    except InputError as reason:
        spread = None
        said.append(f"No intervals: {reason}")
    shown = order[:MAX_SHOWN]
    if len(order) < len(size) - first:
        said.append(f"{len(size) - first - len(order):,} coefficients are zero.")
    if len(order) > MAX_SHOWN:
        said.append(f"Drawn are the {MAX_SHOWN} largest of {len(order):,}.")
    names = [clean(fitted.columns[j], 40) for j in shown.tolist()]
    marks, seen = _marks(
        [clean(one, 32) for one in fitted.outputs] if fitted.coef.shape[1] > 1 else [""],
        fitted.coef[shown] * scale[shown, None],
        None if spread is None else spread[shown] * scale[shown, None],
    )
    several = fitted.coef.shape[1] > 1
    return Figure(
        kind="coefficients",
        title=f"What moves {fitted.target.name}",
        caption=" ".join(said),
        panels=(Panel(_axis(fitted, scale, seen), Axis.of_levels("column", names[::-1]), tuple(marks)),),
        classes=tuple(fitted.outputs) if several else (),
        verdict=Word(fitted.verdict.kind, fitted.verdict.sentence, fitted.verdict.proven),
        table=_table(fitted, order, scale, spread),
        source={"model": sha256(fitted), "data": fitted.training.get("fingerprint")},
    )


def _scale(model: Model, data: Any) -> tuple[Array, str]:
    """Return what coefficients are multiplied by, with the sentence about it."""
    stated = model.report.get("sd", ())
    if len(stated) == len(model.columns):
        return np.asarray(stated, float), "Each point is a coefficient times the standard deviation of its column."
    if data is not None:
        return subject_of(model, data).spread, "Each point is a coefficient times the standard deviation of its column."
    return np.ones(len(model.columns)), "Each point is a coefficient, in the unit of its column: sizes do not compare."


def _axis(model: Model, scale: Array, seen: list[Array]) -> Axis:
    what = "log-odds" if model.loss.logit else "score"
    unit = "by 1 standard deviation" if np.any(scale != 1.0) else "by 1 unit"
    return Axis.around(f"change of the {what} {unit}", [0.0], *seen)


def _marks(names: list[str], effect: Array, reach: Array | None) -> tuple[list[Mark], list[Array]]:
    """Return points with their intervals, the first column on top, outputs side by side."""
    shown, outputs = effect.shape
    marks, seen = [Mark("rule", [0.0], role="guide")], [effect]
    height = np.arange(shown - 1, -1, -1.0)
    for k in range(outputs):
        y = height + (0.0 if outputs == 1 else 0.5 * ((outputs - 1) / 2 - k) / outputs)
        if reach is not None:
            low, high = effect[:, k] - reach[:, k], effect[:, k] + reach[:, k]
            marks.append(Mark("segments", low, y, high, y, group=k))
            seen += [low, high]
        else:
            marks.append(Mark("segments", np.zeros(shown), y, effect[:, k], y, group=k, role="faint"))
        marks.append(Mark("points", effect[:, k], y, group=k, label=names[k]))
    return marks, seen


def _table(model: Model, order: Any, scale: Array, spread: Array | None) -> dict[str, Any]:
    """Return every coefficient that is not zero."""
    pairs = [(j, k) for j in order.tolist() for k in range(model.coef.shape[1])]
    answer: dict[str, Any] = {"column": [clean(model.columns[j]) for j, _ in pairs]}
    if model.coef.shape[1] > 1:
        answer["output"] = [clean(model.outputs[k]) for _, k in pairs]
    b = np.array([model.coef[j, k] for j, k in pairs])
    answer |= {"coefficient": b, "effect": b * np.array([scale[j] for j, _ in pairs])}
    if spread is not None:
        reach = np.array([spread[j, k] for j, k in pairs])
        answer |= {"lower": b - reach, "upper": b + reach}
    return answer


def refuses(model: Model) -> str:
    """Say why a model has no coefficients of columns; "" if it has."""
    if model.feature_map is not None:
        return "its coefficients multiply columns that are made of training rows; draw effect."
    return "" if model.coef.shape[1] == len(model.outputs) else "its coefficients are those of a committee's members."


KIND = Kind(
    name="coefficients",
    question="Which columns move the score how far, and how sure is that?",
    inputs=("MODEL", "MODEL DATA"),
    notes=(),
    draw=coefficients,
    refuses=refuses,
)
