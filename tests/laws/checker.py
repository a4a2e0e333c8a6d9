"""The gap that the independent checker proves of a fit that was not written to a file."""

from __future__ import annotations

import numpy as np

from lineal.verify.losses import BY_NAME
from lineal.verify.problem.centering import centered
from lineal.verify.problem.dependence import NotProvenError, spanning
from lineal.verify.problem.formulas import Problem
from lineal.verify.problem.penalties import Penalty
from lineal.verify.proof.lighter import lighter_bound


def checked(loss, x, y, weight, offset, penalty, intercept, result):
    """Return the gap that the checker proves, or None."""
    weight = np.ones(len(y)) if weight is None else weight
    offset = np.zeros((len(y), loss.outputs)) if offset is None else offset
    on = weight > 0.0
    inner = getattr(penalty, "inner", penalty)
    free = np.full(x.shape[1], np.inf)
    linear = np.asarray(getattr(inner, "linear", np.zeros(x.shape[1])))
    penalty_factors = Penalty(
        linear,
        inner.curvature(),
        getattr(penalty, "lower", -free),
        getattr(penalty, "upper", free),
        inner.name == "group",
    )
    theta = result.arrays.get("theta")
    problem = Problem(
        BY_NAME[loss.name],
        x[on],
        (np.eye(loss.outputs)[y[:, 0].astype(int)] if loss.coupled else y)[on],
        weight[on] / weight[on].sum(),
        offset[on],
        penalty_factors,
        intercept,
        np.flatnonzero(on),
        next(iter(loss.parameters().values()), 0.0),
        None if theta is None else theta[on],
    )
    try:
        columns = spanning(problem, problem.unpenalized)
        return lighter_bound(centered(problem.at(result.coef), columns), columns, result.verdict.gap).gap
    except NotProvenError:
        return None
