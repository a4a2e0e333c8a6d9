"""The losses that laws are tested with: examples of the catalogue, and targets that suit them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal import losses
from lineal.losses.loss import Loss

Array = npt.NDArray[np.float64]


def convex() -> list[Loss]:
    """Return the examples of every convex loss."""
    return [loss for kind in losses.ALL if kind.convex for loss in kind.examples()]


def minimised(**attributes: Any) -> list[Loss]:
    """Return an example of every loss that solvers minimise and that has these attributes.

    Of losses of several numbers there is one more.
    """
    found: list[Loss] = []
    for loss in convex():
        new = loss.name not in {one.name for one in found} or (loss.outputs > 1 and not loss.of_classes())
        if new and not loss.procedure():
            found.append(loss)
    return [loss for loss in found if all(getattr(loss, name) == value for name, value in attributes.items())]


def ids(loss: Any) -> str:
    """Return a name for an example."""
    if not isinstance(loss, Loss):
        return str(loss)
    return f"{loss.name}-{loss.outputs}{''.join(f'-{value}' for value in loss.parameters().values())}"


def targets(loss: Loss, eta: Array, rng: np.random.Generator) -> Array:
    """Return targets that scores would be likely to have, with some noise."""
    if loss.targets == "numbers":
        return np.asarray(eta + rng.normal(size=eta.shape))
    if loss.targets == "counts":
        return rng.poisson(np.exp(np.clip(eta - eta.mean(), -3.0, 2.0))).astype(float)
    if loss.outputs == 1:
        return (eta + rng.logistic(size=eta.shape) > 0).astype(float)
    return np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)[:, None].astype(float)
