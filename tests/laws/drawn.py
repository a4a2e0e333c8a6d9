"""Losses, targets that suit each of them, and columns of whole parts: what laws over all losses draw their tables from."""

from __future__ import annotations

import numpy as np

from tests.laws.catalogue import minimised

LOSSES = [loss for loss in minimised() if loss.smooth or not loss.coupled]
INF = np.inf
CORNERED = [loss for loss in LOSSES if not loss.smooth]


def name(value):
    return value.name if hasattr(value, "name") else None


def target(loss, rng, x):
    """Return targets that lean on the first column."""
    score = 2.0 * x[:, 0] / (np.max(np.abs(x[:, 0])) or 1.0) + rng.normal(size=len(x))
    if loss.targets == "two classes":
        return (score > 0.0).astype(float)[:, None]
    if loss.coupled:
        return np.digitize(score, [-0.6, 0.6]).astype(float)[:, None]
    if loss.targets == "counts":
        return rng.poisson(np.exp(np.clip(0.5 * score, -3.0, 3.0))).astype(float)[:, None]
    return np.column_stack([score, rng.normal(size=len(x))])[:, : loss.outputs]


def grid(x):
    """Return whole 2^-20ths, whose sums and differences are doubles: dependencies between such columns are exact."""
    return np.round(2.0**20 * x) / 2.0**20
