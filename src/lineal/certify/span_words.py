"""From a proof about a kernel machine to its verdict; a kernel that is no kernel is never called optimal."""

from __future__ import annotations

from typing import Final

import numpy as np

from lineal.certify.proof import Proof
from lineal.certify.wording import bounded
from lineal.model.verdict import Verdict
from lineal.penalties import Ridge
from lineal.problem.span import SpanProblem

SLOPE_SHARE: Final = 1e-4
"""At a maximum of the likelihood the norm of its slopes is this share of its size, at most."""


def judge(problem: SpanProblem, proof: Proof, tol: float, stopped: str, violation: float) -> Verdict:
    """Return the verdict; ``violation`` says how far slopes are from what optimality asks for, in units of the score.

    Without Mercer's property nothing bounds F from below, and a point without slope is all that can be claimed.
    """
    if not problem.gram.mercer:
        evidence = {"objective": proof.objective, "slope_norm": violation}
        reason = "the kernel is not positive semi-definite, so that F is not convex"
        if stopped:
            return Verdict("budget", f"Stopped without a proof: {stopped}; {reason}.", None, None, evidence, stopped)
        sentence = (
            f"Stationary: no slope is further than {violation:.2g} from what a minimum asks for. That makes it a local "
            f"optimum at most: {reason}."
        )
        return Verdict("stationary", sentence, None, None, evidence, reason)
    if proof.gap is None:
        reason = f"{stopped}; {proof.reason}" if stopped else str(proof.reason)
        return Verdict(
            "budget", f"Stopped without a proof: {reason}.", None, None, {"objective": proof.objective}, reason
        )
    why = stopped or "rounding hides what is left"
    return bounded(Ridge(problem.strength, np.ones(1)), proof, tol, why, intercept=False)[0]


def chosen(
    given: Verdict, slope: float, likelihood: float, free: tuple[str, ...] = (), ends: tuple[str, ...] = ()
) -> Verdict:
    """Return the verdict on hyperparameters that maximize the likelihood, and on the mean given them.

    ``free`` names those that were searched for, and ``ends`` those of them that stand at the end of what is tried, whose
    slope leads beyond it. The evidence holds the gap of the mean.
    """
    found = {"slope_norm": slope, "log_likelihood": likelihood, "gap": given.gap, "relative_gap": given.relative_gap}
    evidence = {**given.evidence, **found, **({"free": list(free), "ends": list(ends)} if free else {})}
    reason = "the log marginal likelihood need not be concave, so other hyperparameters may be more likely"
    if not slope <= SLOPE_SHARE:
        stopped = f"the search for hyperparameters ended where the likelihood still has a slope (norm {slope:.2g} of its size)"
        return Verdict(
            "budget", f"Stopped without a maximum: {stopped}. {given.sentence}", None, None, evidence, stopped
        )
    bounded = f", but in {' and '.join(ends)}, at the end of what is tried" if ends else ""
    sentence = (
        f"Stationary: the log marginal likelihood has no slope in the hyperparameters{bounded} (norm {slope:.2g} of its size); "
        f"that makes them a local optimum, which may not be the only one. Given them: {given.sentence}"
    )
    return Verdict("stationary", sentence, None, None, evidence, reason)
