"""Marginal effects and predicted means, averaged over rows, with intervals by the delta method.

An average ``m(b)`` of predicted means is a smooth function of the coefficients, so that its variance is about ``J V J'``, J
the slope of ``m`` in b and V the covariance of b: ``J = mean_i (d mean / d eta)(eta_i) x_i``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from itertools import product
from typing import Any, Final

import numpy as np

from lineal.designs.design import Design
from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.inference.changed_rows import ArrayRows, Change, Levels, TableRows, rows_of
from lineal.losses.loss import Loss
from lineal.model.model import Model
from lineal.model.summary import Row, table
from lineal.model.tabled import Grid, Tabled, plain, short

STENCIL: Final = ((1.0, 2.0 / 3.0), (-1.0, -2.0 / 3.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0))
"""Steps and shares of a slope by differences of fourth order: ``sum_k share_k f(x + step_k h) / h``."""
STEP_SHARE: Final = 1e-3
"""The step h as a share of the spread of a column, or of the number itself where that is smaller."""
MAX_MEANS: Final = 1000
"""Combinations of values that means are predicted for."""


@dataclass(frozen=True)
class Effects(Tabled):
    """Effects or means with their uncertainty: plain data that displays as a table.

    A row's ``column`` says what of: a slope "age", a difference "sex: m - f", or the values "age = 30, sex = f".
    """

    title: str
    rows: tuple[Row, ...]
    level: float
    tested: bool = True
    freedom: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """What the table is about."""
        return f"{self.title}; {100 * self.level:g} % intervals by the delta method"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data; a number that is not finite becomes None."""
        rows = [plain(asdict(row)) for row in self.rows]
        return {"title": self.title, "rows": rows, "level": self.level, "notes": list(self.notes)}

    def columns(self) -> dict[str, list[Any]]:
        """Return the rows as columns of a table."""
        rows = self.to_dict()["rows"]
        return {one.name: [row[one.name] for row in rows] for one in fields(Row)}

    def grids(self) -> list[Grid]:
        """Return the table."""
        several = len({row.output for row in self.rows}) > 1
        test = ("z" if self.freedom is None else "t", "p") if self.tested else ()
        name = "effect" if self.tested else "mean"
        lines = [["", *(["output"] if several else []), name, "std. error", *test, "lower", "upper"]]
        for row in self.rows:
            shown = (row.statistic, row.p) if self.tested else ()
            numbers = (row.estimate, row.error, *shown, row.lower, row.upper)
            lines.append([row.column, *([row.output] if several else []), *map(short, numbers)])
        return [Grid(lines, texts=1 + several)]


def marginal_effects(
    model: Model,
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    offset: Any = None,
    level: float = 0.95,
) -> Effects:
    """Return how much the predicted mean changes with each column of the data, averaged over its rows.

    Of a number: the mean slope ``d mean / d x``; of a category or a yes-or-no column: the mean difference between every
    level and the reference, all rows set to the one and to the other. Whatever the formula makes of a column (powers,
    products, logarithms) changes with it. ``columns`` are those that are asked about, all unless given. Rows count as
    often as the column of weights says, where the data has it; those that a fit without missing cells leaves out are left
    out. For fits without a penalty.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "ill": ["no", "no", "yes", "no", "yes", "yes"]}
    >>> model = lineal.fit(table, target="ill", model="logistic", penalty="none")
    >>> round(marginal_effects(model, table).rows[0].estimate, 4)
    0.1586
    """
    asked, names, notes = _asked(model, data, offset), list[str](), list[str]()
    rows = asked.rows
    known = rows.columns
    for name in columns or ():
        if name not in known:
            raise InputError(f"{name!r} is no column that the model predicts from.{near(name, known)}")
    parts: list[tuple[Array, Array]] = []
    for name in known if columns is None else columns:
        kind = known[name]
        if kind is None:
            notes.append(f"{name!r} is left out: it is neither a number nor a category in the table.")
        elif isinstance(kind, Levels):
            base = asked.mean({name: kind.reference})
            for other in kind.others:
                names.append(f"{name}: {other} - {kind.reference}")
                parts.append(_less(asked.mean({name: other}), base))
        else:
            names.append(name)
            parts.append(asked.slope(name))
    if not parts:
        raise InputError("there is no column to ask about: none is a number or a category.")
    rows_of_table = asked.table(parts, names, level)
    title = f"Average marginal effects on {asked.what}, {asked.weight:g} rows"
    return Effects(title, rows_of_table, level, freedom=asked.freedom, notes=(*notes, *asked.notes))


def predicted_means(
    model: Model,
    data: Any,
    at: Mapping[str, Sequence[object] | None] | None = None,
    *,
    offset: Any = None,
    level: float = 0.95,
) -> Effects:
    """Return the mean prediction over the rows of the data with some columns set to values, with intervals.

    ``at`` maps columns to the values they are set to (None: every level of a category); each combination is a row, all
    else as it is in the data. Nothing is set without it.

    >>> import lineal
    >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
    >>> model = lineal.fit(table, target="effect", model="linear", penalty="none")
    >>> [row.column for row in predicted_means(model, table, {"dose": [1, 3]}).rows]
    ['dose = 1', 'dose = 3']
    """
    asked = _asked(model, data, offset)
    known = asked.rows.columns
    values: list[list[tuple[str, object]]] = []
    for name, wanted in (at or {}).items():
        if known.get(name) is None:
            words = "is no column that the model predicts from" if name not in known else "is no number or category"
            raise InputError(
                f"{name!r} {words}, so that it cannot be set.{near(name, [n for n in known if n != name])}"
            )
        values.append([(name, value) for value in _values(name, known[name], wanted)])
    combinations = list(product(*values))
    if len(combinations) > MAX_MEANS:
        raise InputError(f"these values make {len(combinations):,} combinations; {MAX_MEANS:,} are the most.")
    parts = [asked.mean(dict(one)) for one in combinations]
    names = [", ".join(f"{name} = {_shown(value)}" for name, value in one) or "all rows" for one in combinations]
    title = f"Predicted means of {asked.what}, averaged over {asked.weight:g} rows"
    table_rows = asked.table(parts, names, level)
    return Effects(title, table_rows, level, tested=False, freedom=asked.freedom, notes=asked.notes)


def _values(name: str, kind: Levels | float | None, wanted: Sequence[object] | None) -> list[object]:
    """Return the values that a column is set to."""
    if isinstance(kind, Levels):
        levels = [kind.reference, *kind.others]
        for value in wanted or ():
            if str(value) not in levels:
                raise InputError(f"{name!r} has no level {str(value)!r}.{near(value, levels)}")
        return list(levels) if wanted is None else [str(value) for value in wanted]
    if wanted is None:
        raise InputError(f"{name!r} is a number: say which values it is set to, such as {name}=1,2.")
    try:
        return [float(value) for value in wanted]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"{name!r} is a number, and is to be set to {list(wanted)!r}; give numbers.") from None


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _less(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    return one[0] - other[0], one[1] - other[1]


def _asked(model: Model, data: Any, offset: Any) -> _Asked:
    """Return the averages of a model over rows, refusing a model without standard errors."""
    model.refuse_summary()
    if not model.loss.smooth:
        raise InputError("there is no slope where the loss has corners; marginal effects are for likelihoods.")
    return _Asked(model, rows_of(model, data, offset))


class _Asked:
    """Averages over the rows: each with its slope in the coefficients, ``(outputs,)`` and ``(outputs, all coefficients)``."""

    def __init__(self, model: Model, rows: TableRows | ArrayRows) -> None:
        self.model, self.rows = model, rows
        self.covariance = model.covariance()
        likelihood = model.likelihood()
        self.freedom = likelihood.freedom
        self.weight = rows.weight_sum
        if not self.weight > 0.0:
            raise InputError("there are no rows to average over.")
        if model.target.kind == "classes":
            self.what = f"the chance of {model.target.name}"
            self.what += f" = {model.outputs[0]}" if len(model.outputs) == 1 else ""
        else:
            self.what = model.target.name
        self.notes = model.filled_notes

    def mean(self, change: Change) -> tuple[Array, Array]:
        """Return the average prediction with columns set to values."""
        total = _Total(self.model)
        for one in self.rows.changed(change):
            total.add(one.design, one.offset, one.weight)
        return total.of(self.weight)

    def slope(self, name: str) -> tuple[Array, Array]:
        """Return the average slope of the prediction in a number; rows in which it is missing do not count."""
        total, weight = _Total(self.model), 0.0
        for rows in self.rows.stepped(name, STEP_SHARE, STENCIL):
            for one, share in rows.designs():
                total.add(one.design, one.offset, one.weight * share)
            weight += rows.weight
        if not weight > 0.0:
            raise InputError(f"{name!r} is missing in every row, so that it has no slope.")
        return total.of(weight)

    def table(self, parts: Sequence[tuple[Array, Array]], names: Sequence[str], level: float) -> tuple[Row, ...]:
        """Return the rows with standard errors and intervals."""
        estimates = np.array([value for value, _ in parts])
        outputs = self.model.outputs
        slopes = np.stack([slope for _, slope in parts])  # (parts, outputs, coefficients)
        spread = np.einsum("aki,ij,akj->ka", slopes, self.covariance, slopes, optimize=True)
        return table(estimates, np.diag(spread.reshape(-1)), names, outputs, freedom=self.freedom, level=level)


class _Total:
    """A sum of predicted means and of its slope in the coefficients."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.value = np.zeros(model.coef.shape[1])
        self.by_coef = np.zeros((model.coef.shape[1], *model.coef.T.shape))

    def add(self, design: Design, offset: Array | None, weight: Array) -> None:
        """Add the rows of a design."""
        model = self.model
        eta = model.scores(design, np.zeros((len(weight), 1)) if offset is None else offset)
        self.value += weight @ model.loss.mean(eta)
        slopes = mean_slopes(model.loss, eta)
        outputs = eta.shape[1]
        pulls = (weight[:, None, None] * slopes).reshape(len(eta), -1)
        sums = design.transpose_times(np.ascontiguousarray(pulls))  # (columns, outputs * outputs)
        if model.center is not None:
            sums = sums - model.center[:, None] * pulls.sum(axis=0)
        self.by_coef += sums.T.reshape(outputs, outputs, -1)

    def of(self, weight: float) -> tuple[Array, Array]:
        """Return the averages, coefficients output-major."""
        return self.value / weight, self.by_coef.reshape(len(self.value), -1) / weight


def mean_slopes(loss: Loss, eta: Array) -> Array:
    """Return ``d mean_k / d eta_l`` of every row, ``(n, outputs, outputs)``, by differences of fourth order.

    >>> from lineal.losses import Logistic
    >>> round(float(mean_slopes(Logistic(), np.zeros((1, 1)))[0, 0, 0]), 10)
    0.25
    """
    slopes = np.zeros((len(eta), eta.shape[1], eta.shape[1]))
    for k in range(eta.shape[1]):
        for step, share in STENCIL:
            moved = eta.copy()
            moved[:, k] += step * STEP_SHARE
            slopes[:, :, k] += share / STEP_SHARE * loss.mean(moved)
    return slopes
