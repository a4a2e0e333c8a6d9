"""A regularisation path from arrays: any loss with any penalty that has a strength, every point with its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from lineal import penalties
from lineal.designs import as_design
from lineal.errors import InputError, near
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, Limit
from lineal.ground.inputs import class_labels, names_of, real
from lineal.losses import by_name
from lineal.losses.loss import Loss
from lineal.model.verdict import TOLERANCE
from lineal.paths import strengths as paths
from lineal.paths.strengths import Path
from lineal.penalties import ElasticNet
from lineal.penalties.penalty import Penalty
from lineal.sources.memory import Memory


def path(
    X: Any,
    y: Any,
    *,
    loss: Loss | str = "squared",
    penalty: Penalty | str = "l1",
    strengths: Sequence[float] | Array | int = 100,
    ratio: float = 1e-3,
    l1_ratio: float | None = None,
    sample_weight: Any = None,
    offset: Any = None,
    fit_intercept: bool = True,
    solver: str = "auto",
    tol: float = TOLERANCE,
    time_limit: Limit = None,
) -> Path:
    """Fit ``F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + penalty(b)`` at many strengths, strongest first, and prove each fit.

    ``loss`` is a name (squared, huber, poisson, logistic, softmax, ...) or a Loss; ``penalty`` is "l1", "elastic" (with
    ``l1_ratio``), "group", "ridge", or a Penalty with a penalty factor for every column, the intercept first. ``strengths`` are
    numbers, or how many to take from the one where nothing penalized is used down to ``ratio`` times it. Coefficients are
    penalized in the units of the columns, the intercept is not. Labels of any kind are numbered in sorted order.
    After ``time_limit`` seconds nothing is fitted any more: the points that are left have the coefficients of the last one
    that was, and the verdict ``budget``. Columns a billion standard deviations from zero (time stamps) are fitted less an exact
    ``center``, which the path holds: ``eta = (X - center) coef``.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> walked = path(X, X[:, 1] > 0.3 * rng.normal(size=50), loss="logistic", strengths=4)
    >>> walked.coef.shape, {verdict.kind for verdict in walked.verdicts}, walked.points[1].used
    ((4, 4, 1), {'optimal'}, 2)
    """
    deadline, design = Deadline.of(time_limit), as_design(X, intercept=fit_intercept)
    target, fitted_loss = _target(y, loss)
    rows, columns = design.shape
    weight = None if sample_weight is None else _weights(sample_weight, rows)
    shift = None if offset is None else real(offset, "offset")
    if shift is not None and not np.all(np.isfinite(shift)):
        raise InputError("offset holds NaN or infinity; offsets must be finite numbers.")
    names = names_of(X)
    named = None if names is None else [*(["(intercept)"] if fit_intercept else []), *map(str, names)]
    source = Memory(design, target, weight, shift, named)
    penalty_factors = np.ones(columns)
    penalty_factors[: int(fit_intercept)] = 0.0
    family = _penalty(penalty, l1_ratio, penalty_factors)
    return paths.path(
        source, fitted_loss, family, strengths, ratio=ratio, solver=solver, tol=tol, time_limit=deadline, keep=True
    )


def _weights(sample_weight: Any, rows: int) -> Array:
    """Return a weight for every row; one number is that of all."""
    if isinstance(sample_weight, Real):
        weight = np.full(rows, float(sample_weight))
    else:
        weight = np.ascontiguousarray(real(sample_weight, "sample_weight"))
    if weight.shape != (rows,) or not (np.all(np.isfinite(weight)) and np.all(weight >= 0.0)):
        raise InputError(f"sample_weight has shape {weight.shape}; give each of the {rows} rows a finite number >= 0.")
    return weight.astype(np.float64, copy=False)


def _target(y: Any, loss: Loss | str) -> tuple[Array, Loss]:
    """Return the targets as ``(n, targets)``, classes by number, and the loss."""
    kind = type(loss) if isinstance(loss, Loss) else _named(loss)
    values = class_labels(y) if kind.of_classes() else real(y, "y")
    if not values.size:
        raise InputError(f"y has shape {values.shape}; give a target for every row of X, and some rows.")
    if kind.of_classes():
        labels, codes = np.unique(values, return_inverse=True)
        values, outputs = codes.reshape(-1, 1), kind.outputs_for(len(labels))
        if len(labels) < 2 or not outputs:
            many = "two" if kind.targets == "two classes" else "several"
            raise InputError(f"y has {len(labels)} classes; the {kind.name} loss is for {many}.")
    else:
        if not np.all(np.isfinite(values)):
            raise InputError("y holds NaN or infinity; leave such rows out.")
        values = values.reshape(len(values), -1)
        outputs = values.shape[1]
    if isinstance(loss, str):
        if needed := kind.parameter_names():
            raise InputError(f"the {loss} loss needs {' and '.join(needed)}; give it as a Loss with that number.")
        loss = kind.make(outputs)
    return np.ascontiguousarray(values, dtype=np.float64), loss


def _named(name: str) -> type[Loss]:
    """Return the loss of that name."""
    catalogue = by_name()
    if name not in catalogue:
        raise InputError(f"unknown loss {name!r}; choose one of {', '.join(catalogue)}.{near(name, catalogue)}")
    return catalogue[name]


def _penalty(penalty: Penalty | str, l1_ratio: float | None, penalty_factors: Array) -> Penalty:
    """Return the family of penalties."""
    if (l1_ratio is not None) != (penalty == ElasticNet.name):
        raise InputError("l1_ratio is the share of l1 in the penalty 'elastic': give both or neither.")
    if isinstance(penalty, Penalty):
        return penalty
    # those that make coefficients zero come first
    catalogue = {
        kind.name: kind
        for kind in sorted(penalties.by_name().values(), key=lambda kind: kind.smooth)
        if kind.parameters
    }
    if penalty not in catalogue:
        accepted = ", ".join(catalogue)
        raise InputError(f"unknown penalty {penalty!r}; choose one of {accepted}.{near(penalty, catalogue)}")
    return catalogue[penalty].make(penalty_factors, strength=1.0, l1_ratio=0.0 if l1_ratio is None else l1_ratio)
