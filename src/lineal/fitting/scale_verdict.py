"""What is said of Huber's regression with its own scale: one trial of it, its gap, and the verdict on both together."""

from __future__ import annotations

import math

import numpy as np

from lineal.certify.wording import percent
from lineal.fitting.stopping import Fit, no_progress
from lineal.ground.records import dataclass
from lineal.model.verdict import Verdict


@dataclass(frozen=True)
class Trial:
    """One scale: the fit at it, G there, and m, known to ``error``."""

    scale: float
    fit: Fit
    value: float
    square: float
    error: float


def total(trial: Trial, gap: float, low: float, high: float) -> float:
    """Return what is missing to the bound of a dual point with this gap, whose m is between ``low`` and ``high``.

    It is a bound for all scales above zero, also for those that the search leaves out.
    """
    if high <= 1.0:
        return max(gap / trial.scale + 0.5 * trial.scale * (1.0 - low), 0.0)
    share = 1.0 / math.sqrt(high)
    return max((1.0 - share) * trial.value + share * (gap / trial.scale + 0.5 * trial.scale * (1.0 - low)), 0.0)


def still(found: Trial, gap: float, null: float, tol: float) -> Verdict:
    """Return the verdict where y does not vary: G is at least 0, and falls to it with the scale."""
    evidence: dict[str, object] = {"objective": found.value, "scale": found.scale, "null_objective": null, "tol": tol}
    evidence |= {"given_scale": dict(found.fit.verdict.evidence), "lower_bound": max(found.value - gap, 0.0)}
    sentence = (
        f"Optimal: y does not vary, the intercept meets it, and the scale is at its lower bound, {found.scale:.2g} "
        f"(gap {gap:.2g}, rounding of y, proven)."
    )
    return Verdict("optimal", sentence, gap, 0.0, evidence)


def verdict(found: Trial, gap: float | None, null: float, tol: float, stopped: str) -> Verdict:
    """Return the verdict on coefficients and scale together."""
    inner = found.fit.verdict
    evidence: dict[str, object] = {"objective": found.value, "scale": found.scale, "null_objective": null, "tol": tol}
    evidence["given_scale"] = dict(inner.evidence)
    if gap is None:
        reason = (
            f"{stopped}; {inner.reason or 'no dual point was found'}" if stopped else inner.reason or "no dual point"
        )
        return Verdict("budget", f"Stopped without a proof: {reason}.", None, None, evidence, reason)
    evidence["lower_bound"] = found.value - gap
    gain = null - (found.value - gap)
    tiny = 64 * np.finfo(float).eps * abs(null)
    relative = 0.0 if gap <= tiny else gap / gain if gain > 0.0 else math.inf
    if relative > tol:
        reason = stopped or inner.reason or no_progress(found.fit.problem)
        sentence = f"Not optimal yet: {reason}. The loss could still fall by up to {percent(relative)} (gap {gap:.2g})."
        return Verdict("budget", sentence, gap, relative, evidence, reason)
    kind = inner.kind if inner.kind in ("optimal", "not_unique") else "optimal"
    sentence = (
        f"Optimal{' but not unique' if kind == 'not_unique' else ''}: coefficients and scale together cannot be improved "
        f"by more than {percent(relative)} (gap {gap:.2g}, proven)."
    )
    return Verdict(kind, sentence, gap, relative, evidence)
