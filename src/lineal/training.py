"""`lineal.fit`: from a table or an array to a Model, with everything that was decided on the way written down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lineal import fitting
from lineal.arrays import from_arrays, is_array
from lineal.errors import InputError, near
from lineal.loss import Loss
from lineal.losses import Logistic, Softmax, Squared
from lineal.metrics import Score
from lineal.model import Model
from lineal.passes import Moments
from lineal.penalties import NoPenalty, Ridge
from lineal.problem import survey
from lineal.rows import Rows, Wanted, from_table, to_measure
from lineal.selection import Choice, choose_strength
from lineal.solver import Solver
from lineal.source import Source
from lineal.target import Target
from lineal.trace import Record
from lineal.verdict import TOLERANCE

Array = npt.NDArray[np.float64]

MODELS: Final[dict[str, Wanted]] = {"auto": "auto", "linear": "number", "ridge": "number", "logistic": "classes"}
"""The models by name, and what each needs the target to be."""


def fit(
    data: object,
    target: Any = None,
    *,
    model: str = "auto",
    penalty: str | float = "auto",
    weight: Any = None,
    offset: Any = None,
    drop: Sequence[str] = (),
    test_size: float = 0.0,
    test: object = None,
    seed: int = 0,
    tol: float = TOLERANCE,
    time_limit: float | None = None,
    solver: Solver | str = "auto",
    progress: Callable[[Record], None] | None = None,
    interrupt: Literal["raise", "budget"] = "raise",
) -> Model:
    """Fit a linear model to a table or an array and return it with its verdict.

    ``F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + (strength/2) sum_j (sd_j b_j)^2``, intercept not charged.

    ``data`` is a path, a data frame, an Arrow table or a dict of columns, and ``target``, ``weight``, ``offset`` name
    columns; or ``data`` is an array or a sparse matrix of numbers, and they are arrays. ``model`` is "auto" (looks at
    the target), "linear" (least squares, no penalty unless given), "ridge" or "logistic". ``penalty`` is "none",
    "ridge:STRENGTH", a number, or "auto": a strength picked on validation rows. ``test_size`` is the share of rows
    held out for ``report["metrics"]``, ``test`` another table for it. ``interrupt="budget"`` makes Ctrl-C a verdict.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> model = lineal.fit(table, target="effect", model="linear")
    >>> model.verdict.kind, model.predict({"dose": [2.0]}).round(3)
    ('optimal', array([2.046]))
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    asked = _asked(penalty, model)
    _check(test_size, test, seed, tol, time_limit)
    gather = from_arrays if is_array(data) else from_table
    rows = gather(data, target, MODELS[model], weight, offset, drop, test_size, test, seed)
    loss = _loss(rows.target)
    moments = survey(rows.train, loss)
    charges = _charges(rows.train, moments)
    choice: Choice | None = None
    if asked == "auto":
        choice = choose_strength(rows.train, loss, charges, seed + 1, deadline, progress, interrupt)
        asked = choice.strength
    fitted = fitting.fit(
        rows.train,
        loss,
        NoPenalty(len(charges)) if asked is None else Ridge(asked, charges),
        solver=solver,
        start=None if choice is None else choice.start,
        tol=tol,
        time_limit=None if deadline is None else max(deadline - time.monotonic(), 0.0),
        moments=moments,
        labels=None if rows.target.classes is None else [str(label) for label in rows.target.classes],
        progress=_stop if choice is not None and choice.interrupted else progress,
        interrupt=interrupt,
    )
    return _model(rows, loss, moments, charges, fitted, choice, tol, chosen=model == "auto")


def evaluate(model: Model, data: object) -> dict[str, Any]:
    """Measure a model on a table that holds the target, beside the baseline of its training rows.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> evaluate(lineal.fit(table, target="effect", model="linear"), table)["rows"]
    4
    """
    source, notes = to_measure(model, data)
    level = model.report.get("baseline_score")
    rows, metrics = _measure(source, model.loss, model.coef, None if level is None else np.asarray(level, float))
    return {"rows": rows, "metrics": {"test": metrics[0], "baseline": metrics[1]}, "notes": notes}


def _stop(_record: Record) -> None:
    """Pass on a Ctrl-C that came while the strength was picked: the fit ends at its first step, with a verdict."""
    raise KeyboardInterrupt


def _check(test_size: float, test: object, seed: int, tol: float, time_limit: float | None) -> None:
    if not 0 <= test_size < 1:
        raise InputError(f"test_size is {test_size}; it must be a share of the rows, at least 0 and below 1.")
    if test is not None and test_size > 0:
        raise InputError("test and test_size exclude each other: give another table, or a share of the rows.")
    if not (isinstance(seed, int) and 0 <= seed < 2**63):
        raise InputError(f"the seed is {seed!r}; it must be a whole number from 0 to 2^63 - 1.")
    if not (math.isfinite(tol) and tol > 0):
        raise InputError(f"tol is {tol}; it is a relative gap and must be a number above 0, such as 1e-6.")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"the time limit is {time_limit}; it must be a number of seconds above 0.")


def _asked(penalty: str | float, model: str) -> float | Literal["auto"] | None:
    """Return the strength asked for: a number, "auto", or None for no penalty."""
    if model not in MODELS:
        raise InputError(f"the model is {model!r}; known are {', '.join(MODELS)}.{near(str(model), MODELS)}")
    if penalty == "auto":
        return None if model == "linear" else "auto"
    if penalty == "none":
        if model == "ridge":
            raise InputError(
                "model ridge without a penalty is model linear; ask for that, or for a penalty ridge:STRENGTH."
            )
        return None
    accepted = "accepted are none, ridge:STRENGTH with a number above 0 (such as ridge:0.01), and auto."
    words = penalty.removeprefix("ridge:") if isinstance(penalty, str) and penalty.startswith("ridge:") else penalty
    if isinstance(words, str) and words is penalty:
        raise InputError(f"the penalty is {penalty!r}; {accepted}{near(penalty, ['none', 'auto'])}")
    try:
        strength = float(words)
    except (TypeError, ValueError):
        raise InputError(f"the strength in the penalty {penalty!r} is not a number; {accepted}") from None
    if not (math.isfinite(strength) and strength > 0):
        raise InputError(f"the penalty is {penalty!r}; {accepted}")
    return strength


def _loss(target: Target) -> Loss:
    if target.kind == "number":
        return Squared(1 if target.names is None else len(target.names))
    classes = len(target.classes or ())
    return Logistic() if classes == 2 else Softmax(classes)


def _charges(source: Source, moments: Moments) -> Array:
    """Return every column's variance, so that the penalty is on standardised coefficients; 0 for the intercept."""
    charges = moments.scatter / moments.weight_sum
    if source.columns[:1] == ("(intercept)",):
        charges[0] = 0.0  # exactly: rounding may leave 1e-32
    return charges


def _model(
    rows: Rows,
    loss: Loss,
    moments: Moments,
    charges: Array,
    fitted: fitting.Fit,
    choice: Choice | None,
    tol: float,
    chosen: bool,
) -> Model:
    """Put together what remains of a fit."""
    penalty = fitted.problem.penalty
    level = loss.constant(moments.statistic / moments.weight_sum)
    measured, (found, baseline) = _measure(rows.test or rows.train, loss, fitted.coef, level)
    where = "train" if rows.test is None else "test"
    if not measured:
        where, (_, (found, baseline)) = "train", _measure(rows.train, loss, fitted.coef, level)
    report: dict[str, Any] = {
        "model": _name(loss, isinstance(penalty, NoPenalty)),
        "chosen": _reason(rows.target) if chosen else None,
        "selection": None if choice is None else choice.to_dict(),
        "sd": [float(value) for value in np.sqrt(charges)],
        "baseline_score": _plain(level),
        "data": {**rows.about, "held_out": measured if rows.test is not None else 0},
        "metrics": {where: found, "baseline": baseline},
    }
    if not isinstance(penalty, NoPenalty):
        report["charges"] = "variance"
    return Model(
        coef=fitted.coef,
        columns=tuple(rows.train.columns),
        loss=loss,
        penalty=penalty,
        target=rows.target,
        verdict=fitted.verdict,
        encoder=rows.encoder,
        solver=fitted.solver,
        reason=fitted.reason,
        tol=tol,
        roles=rows.roles,
        training={"rows": moments.rows, "weight_sum": moments.weight_sum, **rows.training},
        report=report,
        arrays=fitted.arrays,
    )


Figures = dict[str, float | None]


def _measure(source: Source, loss: Loss, coef: Array, level: Array | None) -> tuple[int, tuple[Figures, Figures]]:
    """Return the number of rows, the metrics of the coefficients, and those of the training rows' best constant."""
    classes = loss.name != "squared"
    found = source.sum(Score(loss, coef, classes))
    constant: Figures = {}
    if level is not None:
        constant = _figures(source.sum(Score(loss, None, classes, level)).figures())
    return found.rows, (_figures(found.figures()), constant)


def _figures(found: dict[str, float]) -> Figures:
    return {name: value if math.isfinite(value) else None for name, value in found.items()}


def _plain(level: Array) -> list[float] | None:
    return [float(value) for value in level] if bool(np.all(np.isfinite(level))) else None


def _name(loss: Loss, bare: bool) -> str:
    words = {
        "squared": "linear regression",
        "logistic": "logistic regression",
        "softmax": "multinomial logistic regression",
    }
    return words[loss.name] + (", no penalty" if bare else ", ridge penalty")


def _reason(target: Target) -> str:
    if target.kind == "number":
        return f"chosen because {target.name} is a number"
    return f"chosen because {target.name} has {len(target.classes or ())} classes"
