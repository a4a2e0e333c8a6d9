"""Other people's words for the one objective: their C and alpha are our strength, their solvers' names ours.

    F(b) = (1/S) sum_i s_i loss(y_i, eta_i) + (strength/2) |b|^2,        S = sum_i s_i

is what lineal minimises. A dialect writes the same minimiser with another normalisation; multiplying its objective by
a constant until the loss is a weighted mean shows the strength.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lineal.errors import InputError, near
from lineal.solvers import BY_NAME

SOLVERS: Final[Mapping[str, str]] = {
    "cholesky": "direct",
    "svd": "direct",
    "sparse_cg": "newton-cg",
    "newton-cholesky": "newton",
    "lbfgs": "quasi-newton",
}
"""scikit-learn's names of methods that lineal has under another name (``newton-cg`` is called that by both)."""


def strength_of_alpha(alpha: float, weight_sum: float) -> float:
    """Return the strength of scikit-learn's Ridge, ``sum_i s_i (y_i - eta_i)^2 + alpha |b|^2``.

    Squared loss is ``(y - eta)^2 / 2``, so the sum is 2 S times the mean loss, and ``strength = alpha / S``.

    >>> strength_of_alpha(1.0, 442.0) == 1 / 442
    True
    """
    return alpha / weight_sum


def strength_of_C(C: float, weight_sum: float) -> float:
    """Return the strength of scikit-learn's LogisticRegression, ``C sum_i s_i loss_i + |b|^2 / 2``.

    Divided by C S the loss is a mean, and ``strength = 1 / (C S)``; an infinite C is no penalty.

    >>> strength_of_C(0.5, 10.0), strength_of_C(float("inf"), 10.0)
    (0.2, 0.0)
    """
    return 1.0 / (C * weight_sum)


def solver_named(name: object) -> str:
    """Return our name of a solver, given ours or scikit-learn's.

    >>> solver_named("lbfgs"), solver_named("auto"), solver_named("newton-cg")
    ('quasi-newton', 'auto', 'newton-cg')
    """
    known = ("auto", *BY_NAME)
    if isinstance(name, str):
        ours = SOLVERS.get(name, name)
        if ours in known:
            return ours
    theirs = ", ".join(f"{word} (= {ours})" for word, ours in SOLVERS.items())
    hint = near(name, (*known, *SOLVERS)) if isinstance(name, str) else ""
    raise InputError(f"solver is {name!r}; accepted are {', '.join(known)}, and scikit-learn's {theirs}.{hint}")
