"""How sure coefficients and means are, where a fit says so."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.designs.center import less
from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.model.model import Model
from lineal.model.summary import quantile

LEVEL: Final = 0.95


def errors(model: Model) -> tuple[Array, float]:
    """Return the standard error of every coefficient, ``(columns, outputs)``, and how many of them an interval reaches.

    Raises InputError, with the reason, for fits whose coefficients have none.
    """
    freedom = None
    if model.variances is None:
        model.refuse_summary()
        freedom = model.likelihood().freedom
    spread = np.sqrt(np.maximum(np.diagonal(model.covariance()), 0.0))
    return spread.reshape(model.coef.shape[1], model.coef.shape[0]).T, quantile(LEVEL, freedom)


def mean_band(model: Model, design: Design, offset: Array | None) -> tuple[Array, Array] | None:
    """Return between which values the mean of every row is, with 95 %: ``mean(eta -+ q sqrt(x'Vx))``; None if not known."""
    if model.coef.shape[1] != 1 or model.feature_map is not None:
        return None
    try:
        _, reach = errors(model)
    except InputError:
        return None
    center = model.center
    dense = (design if center is None else less(design, center)).dense()
    sd = np.sqrt(np.maximum(((dense @ model.covariance()) * dense).sum(axis=1), 0.0))
    eta = model.scores(design, offset)[:, 0]
    low, high = (model.loss.mean((eta + sign * reach * sd)[:, None])[:, 0] for sign in (-1.0, 1.0))
    return np.minimum(low, high), np.maximum(low, high)
