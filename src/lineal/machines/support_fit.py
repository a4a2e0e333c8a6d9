"""One support vector machine from its rows to a proof: pairs, then a certificate, then more pairs where it is not enough."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from lineal.certify.proof import Proof
from lineal.certify.span import Scores, baseline_value, best_constant, prove
from lineal.certify.span_words import judge
from lineal.ground.deadline import LATE, Deadline, LateError, graced, in_time, watched
from lineal.ground.records import dataclass
from lineal.losses.hinge import sides
from lineal.losses.loss import Loss
from lineal.machines.support import Dual, Support
from lineal.model.verdict import Verdict
from lineal.problem.span import Gram, SpanProblem

Array = npt.NDArray[np.float64]

FIRST_VIOLATION = 20.0
"""The first run ends at this many times the tolerance; the relative gap is then near the tolerance."""

LEAST_VIOLATION = 1e-13
"""Slopes are not followed further than this share of the largest target or margin."""

LOCAL_MAX_PAIRS = 10_000_000
"""Pairs after which a search without Mercer's property ends: there may be no point where it would."""

TOO_MANY = "max_iter was reached"


@dataclass(frozen=True)
class Found:
    """Coefficients of the rows and the intercept, what is proven about them, and how many pairs that took."""

    problem: SpanProblem
    coef: Array
    intercept: Array
    objective: float
    verdict: Verdict
    pairs: int


@dataclass(frozen=True)
class Plan:
    """What a fit may use: megabytes of rows of K, pairs (None: any number), time; and what it has to prove."""

    tol: float
    megabytes: float
    most: int | None
    deadline: Deadline | None


def fit(gram: Gram, loss: Loss, y: Array, weight: Array, C: float, plan: Plan) -> Found:
    """Minimise ``C sum s loss + |f|^2 / 2``: the hinge loss of classes 0 and 1, or the epsilon-insensitive one of numbers."""
    top = C * weight
    epsilon = float(getattr(loss, "epsilon", 0.0))
    classes = loss.of_classes()
    target = sides(y) if classes else y
    low, high = (np.minimum(top * target, 0.0), np.maximum(top * target, 0.0)) if classes else (-top, top)
    problem = SpanProblem(gram, loss, y[:, None], weight, 1.0 / float(top.sum()), intercept=True)
    state = Support(Dual(gram, target, low, high, epsilon), plan.megabytes)
    stopped = _climbed(state, problem, plan)
    coef = state.coef[:, None]
    with watched(graced(plan.deadline)):
        try:
            scores = Scores(*gram.product(coef))
            intercept = best_constant(loss, problem.y, weight, scores.value)
            proof = prove(problem, coef, intercept, scores)
        except LateError:
            intercept = best_constant(loss, problem.y, weight, (state.slope + target)[:, None])
            proof = Proof(math.nan, math.nan, None, "there was no time for a proof")
    verdict = judge(
        problem, proof, plan.tol, "" if proof.gap is not None and proof.within(plan.tol) else stopped, state.violation
    )
    return Found(problem, coef, intercept, proof.objective, verdict, state.pairs)


def _climbed(state: Support, problem: SpanProblem, plan: Plan) -> str:
    """Move pairs until a proof may be found, and return why no more were moved where that is not so."""
    scale = max(1.0, float(np.max(np.abs(problem.y), initial=0.0)))
    violation = min(1e-2, FIRST_VIOLATION * plan.tol) * scale
    baseline = baseline_value(problem)
    most = plan.most
    if not problem.gram.mercer:
        violation, most = 1e-6 * scale, LOCAL_MAX_PAIRS if most is None else most
    while True:
        reached = in_time(plan.deadline, partial(state.run, violation, most), lambda: None)
        if reached is None:
            return LATE
        if not reached:
            return TOO_MANY if most is not None and state.pairs >= most else "rounding hides which pairs to move"
        if not problem.gram.mercer or _estimate(state, problem, baseline) <= 0.5 * plan.tol:
            in_time(plan.deadline, partial(state.finish, most), lambda: None)
            return ""
        violation *= 0.2
        if violation < LEAST_VIOLATION * scale:
            return "rounding hides which pairs to move"


def _estimate(state: Support, problem: SpanProblem, baseline: float) -> float:
    """Return the relative gap as the slopes that were kept up to date have it."""
    scores = (state.slope + state.dual.y)[:, None]
    intercept = best_constant(problem.loss, problem.y, problem.weight, scores)
    eta = scores + intercept
    charge = problem.strength * problem.weight_sum / np.where(problem.weight > 0.0, problem.weight, 1.0)
    theta = -(charge * state.coef)[:, None]
    box = problem.loss.box(problem.y)
    assert box is not None
    gap = float(problem.weight @ problem.loss.mismatch(problem.y, eta, np.clip(theta, *box))) / problem.weight_sum
    here = problem.objective(state.coef[:, None], intercept, scores)
    gain = baseline - here + gap
    return gap / gain if gain > 0.0 else 0.0
