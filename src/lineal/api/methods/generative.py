"""What the generative methods share: options after the colon, names of inputs, the verdict and the fit as a record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lineal.api.methods.method import MapFit
from lineal.certify.wording import exact
from lineal.errors import InputError, near
from lineal.generative.class_densities import ClassDensities
from lineal.generative.class_sums import ClassSums
from lineal.ground.arrays import Array
from lineal.losses import Logistic, Softmax
from lineal.losses.loss import Loss
from lineal.model.verdict import Verdict
from lineal.penalties import NoPenalty

if TYPE_CHECKING:
    from lineal.api.dataset import Dataset


def choice_of(text: str, rest: str | None, least: Mapping[str, float]) -> dict[str, float]:
    """Return numbers by name, as they are written after a colon; each must be at least what is said of it.

    >>> choice_of("", "alpha=0.5", {"alpha": 0.0})
    {'alpha': 0.5}
    """
    options: dict[str, float] = {}
    for word in [] if rest is None else rest.split(","):
        name, _, value = word.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if name not in least or name in options or not (math.isfinite(number) and number >= least[name]):
            accepted = ", ".join(f"{one}=NUMBER (at least {bound:g})" for one, bound in least.items())
            raise InputError(
                f"the model is {text!r}; after its colon stand {accepted}, each once, with commas between."
                f"{'' if name in least else near(name, list(least))}"
            )
        options[name] = number
    return options


def input_names(dataset: Dataset, method: str) -> tuple[str, ...]:
    """Return the names of the columns but the intercept, which has to be there."""
    columns = tuple(dataset.train.columns)
    if columns[:1] != ("(intercept)",):
        raise InputError(f"model {method} has the priors of the classes in its intercept; leave the intercept in.")
    if len(columns) == 1:
        raise InputError(f"model {method} needs a column besides the target; there is none.")
    return columns[1:]


def exactly(sums: ClassSums, method: str, options: Mapping[str, object], more: str = "") -> Verdict:
    """Return the verdict on what was counted from rows of classes; ``more`` continues its sentence."""
    rows, weight = int(sums.rows.sum()), sums.weight.values()
    if not (sums.rows > 0).all():
        raise InputError("a class has no training row of weight above zero, so nothing is known of it; leave it out.")
    words = f"counted from {rows:,} row{'' if rows == 1 else 's'} of {len(weight)} classes{more}"
    return exact(words, {"method": method, **options, "class_weight": weight.tolist()})


def fitted(
    densities: ClassDensities | None, coef: Array, verdict: Verdict, words: str, center: Array | None = None
) -> tuple[MapFit, Loss, Mapping[str, Any]]:
    """Return scores of classes, (columns, K), as a fit; of two classes the difference. A ``center`` has a 0 for the intercept."""
    classes = coef.shape[1]
    loss: Loss = Softmax(classes)
    if classes == 2:
        coef, loss = coef[:, 1:] - coef[:, :1], Logistic()
    coef = np.ascontiguousarray(coef)
    arrays = {} if center is None else {"center": center}
    result = MapFit(densities, coef, verdict, "counting", "one pass over the rows", NoPenalty(len(coef)), arrays)
    return result, loss, {"model": words}
