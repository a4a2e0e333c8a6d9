"""What is said of Huber's regression with its own scale: one trial of it, and the verdict on scale and coefficients."""

from __future__ import annotations

import math

from lineal.certify.wording import percent
from lineal.fitting.causes import ROUNDING, explained, little_to_gain
from lineal.fitting.stopping import Fit
from lineal.ground.records import dataclass
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.problem.problem import EPS


@dataclass(frozen=True)
class Trial:
    """One scale: the fit at it, G there, and m, known to ``error``."""

    scale: float
    fit: Fit
    value: float
    square: float
    error: float


def still(trial: Trial, gap: float, baseline: float, tol: float) -> Verdict:
    """Return the verdict where y does not vary: G is at least 0, and falls to it with the scale."""
    evidence: dict[str, object] = {
        "objective": trial.value,
        "scale": trial.scale,
        "null_objective": baseline,
        "tol": tol,
    }
    evidence |= {"given_scale": dict(trial.fit.verdict.evidence), "lower_bound": max(trial.value - gap, 0.0)}
    sentence = (
        f"Optimal: y does not vary, the intercept meets it, and the scale is at its lower bound, {trial.scale:.2g} "
        f"(gap {gap:.2g}, rounding of y, proven)."
    )
    return Verdict("optimal", sentence, gap, 0.0, evidence)


def verdict(trial: Trial, gap: float | None, baseline: float, tol: float, stopped: str) -> Verdict:
    """Return the verdict on coefficients and scale together."""
    inner = trial.fit.verdict
    evidence: dict[str, object] = {
        "objective": trial.value,
        "scale": trial.scale,
        "null_objective": baseline,
        "tol": tol,
    }
    evidence["given_scale"] = dict(inner.evidence)
    if gap is None:
        reason = (
            f"{stopped}; {inner.reason or 'no dual point was found'}" if stopped else inner.reason or "no dual point"
        )
        return Verdict("budget", f"Stopped without a proof: {reason}.", None, None, evidence, reason)
    evidence["lower_bound"] = trial.value - gap
    gain = baseline - (trial.value - gap)
    tiny = 64 * EPS * abs(baseline)
    relative = gap / gain if gain > 0.0 else math.inf
    # what doubles cannot see counts as zero, up to a share of what there is to gain, or where that cannot be seen either
    if gap <= tiny and (gap <= TOLERANCE * gain or gain <= 4.0 * tiny):
        relative = 0.0
    if relative > tol:
        reason = stopped or inner.reason or _reason(trial, gain, baseline)
        sentence = f"Not optimal yet: {reason}. The loss could still fall by up to {percent(relative)} (gap {gap:.2g})."
        return Verdict("budget", sentence, gap, relative, evidence, reason)
    kind = inner.kind if inner.kind in ("optimal", "not_unique") else "optimal"
    sentence = (
        f"Optimal{' but not unique' if kind == 'not_unique' else ''}: coefficients and scale together cannot be improved "
        f"by more than {percent(relative)} (gap {gap:.2g}, proven)."
    )
    return Verdict(kind, sentence, gap, relative, evidence)


def _reason(trial: Trial, gain: float, baseline: float) -> str:
    """Return why doubles show no better fit."""
    if little := little_to_gain(gain, baseline):
        return f"{ROUNDING}; {little}"
    return explained(trial.fit.problem, trial.fit.coef, ROUNDING)
