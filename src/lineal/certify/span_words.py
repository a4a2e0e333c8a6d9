"""From a proof about a kernel machine to its verdict; a kernel that is no kernel is never called optimal."""

from __future__ import annotations

import numpy as np

from lineal.certify.proof import Proof
from lineal.certify.wording import bounded
from lineal.model.verdict import Verdict
from lineal.penalties import Ridge
from lineal.problem.span import SpanProblem


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
