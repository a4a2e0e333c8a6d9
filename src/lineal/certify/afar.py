"""The proof of coefficients far from the optimum, by a better point: F(b) - F* = F(b) - F(c) + F(c) - F*."""

from __future__ import annotations

import math
from dataclasses import replace

from lineal.certify.proof import Proof
from lineal.certify.proving import prove
from lineal.ground.arrays import Array
from lineal.problem.problem import Problem


def prove_by(problem: Problem, coef: Array, better: Array) -> Proof:
    """Bound ``F(coef) - F*`` by what is proven at a ``better`` point; both values are known to their rounding errors."""
    proof = prove(problem, better, quiet=True)
    here, there = problem.evaluate(coef), problem.evaluate(better)
    fall = here.value - there.value + here.error + there.error
    if proof.gap is None or not math.isfinite(fall):
        return replace(proof, objective=here.value, gap=None)
    return Proof(here.value, proof.baseline_objective, max(fall, 0.0) + proof.gap, unit=proof.unit)
