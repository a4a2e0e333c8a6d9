"""Is a verdict true? Every claim that the oracle can refute is a violation, with its size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb, fmpz_mat

from .doors import Claim
from .infinity import falls_for_ever, ratio, whole
from .losses import CORNERS, SMOOTH, VALUES, ZERO
from .minimum import Minimum, minimise
from .problem import BITS, Coef, Problem, exact

EPS = 2.0**-52
SLACK = 1e-9
"""A gap may be too small by this share of itself: its last digits are rounded."""
CRUDE = ("crammer-singer", "huber-scale")
"""Losses whose baseline is not the best one: see docs/model-file.md, and the scale of a Huber fit."""
SHARE = 1e-3
"""What doubles cannot see counts as zero up to this share of what there is to gain."""


@dataclass(frozen=True)
class Violation:
    """A claim that is false: what kind of claim, by how much (as a share of what there is to gain), in words."""

    family: str
    size: float
    words: str


@dataclass(frozen=True)
class Truth:
    """What the oracle knows of a claim: F there, the lowest F it found, and that of the baseline."""

    here: arb
    best: Minimum
    baseline: Minimum

    @property
    def excess(self) -> float:
        """F(b) less the lowest F."""
        return float(self.here - self.best.value)

    @property
    def share(self) -> float:
        """What the size of a violation is measured by: what there is to gain, where that is visible beside F."""
        return max(self.gain, 1e-9 * abs(float(self.baseline.value)), 1e-300)

    @property
    def gain(self) -> float:
        """What there is to gain on the baseline."""
        return float(self.baseline.value - self.best.value)


def truth(claim: Claim, seconds: float = 20.0) -> Truth:
    """Minimise F anew, from where lineal ended and from the baseline."""
    problem, gap = claim.problem, claim.verdict.gap
    here = exact(claim.coef)
    start = [[ZERO] * problem.loss.outputs for _ in range(problem.columns)]
    if problem.loss.name == "huber-scale":
        start[-1][1] = arb(1 + abs(float(claim.coef[-1, 1])))
    value = problem.value(here)
    baseline = minimise(_null(problem), start, fine=1e-24, seconds=seconds / 4)
    begin = here if value <= baseline.value and problem.loss.name != "huber-scale" else baseline.coef
    size = max(abs(float(baseline.value)), 1e-300)
    fine = 1e-16 if gap is None else min(max(1e-5 * float(gap) / size, 1e-40), 1e-16)
    best = minimise(problem, begin, fine=fine, seconds=seconds)
    lowest = min(
        (m for m in (best, baseline, Minimum(here, value, True, 0)) if problem.penalty.inside(m.coef)),
        key=lambda m: m.value,
    )
    return Truth(value, lowest, baseline)


def _null(problem: Problem) -> Problem:
    columns = problem.null_columns()
    if problem.loss.name == "huber-scale":
        columns = [j for j in range(problem.columns) if not problem.penalty.ridge[j] > 0]
        columns = columns if len(columns) < problem.columns else [0] * problem.intercept + [problem.columns - 1]
    return problem.only(columns)


def judge(claim: Claim, found: Truth | None = None) -> list[Violation]:
    """Return every violation of one claim."""
    kind = claim.verdict.kind
    if kind == "at_infinity":
        return [*_direction(claim)]
    if kind == "infeasible" or (kind == "budget" and claim.verdict.gap is None):
        return []
    if not np.isfinite(claim.coef).all():
        return [Violation("coefficients", math.inf, "coefficients are not finite")]
    with flint.ctx.workprec(BITS):
        found = truth(claim) if found is None else found
        return [
            *_gap(claim, found),
            *_figures(claim, found),
            *_tolerance(claim, found),
            *_dependencies(claim),
            *_finite(claim),
        ]


def _gap(claim: Claim, found: Truth) -> list[Violation]:
    """The gap bounds F(b) - F*, the radius the way to b*; but for what rounding does to a difference of differences of scores."""
    verdict, problem = claim.verdict, claim.problem
    tiny = EPS * score_noise(problem, exact(claim.coef))
    out = []
    over = found.excess - float(verdict.gap) * (1 + SLACK) - tiny
    if over > 0:
        words = f"{verdict.kind}, gap {verdict.gap:.3g}, but F(b) - F >= {found.excess:.3g} of {found.gain:.3g} to gain"
        out.append(Violation("gap", over / found.share, words))
    radius, strength = verdict.evidence.get("radius"), problem.penalty.strength
    if radius is not None and found.best.settled:
        rows = zip(problem.penalty.ridge, found.best.coef, claim.coef, strict=True)
        square = sum((r * (v - arb(float(c))) ** 2 for r, best, b in rows for v, c in zip(best, b, strict=True)), ZERO)
        if float(square) > (strength * float(radius) ** 2 + 2 * tiny) * (1 + SLACK):
            far = math.sqrt(float(square) / strength)
            out.append(
                Violation("radius", far / max(float(radius), 1e-300), f"radius {radius:.3g}, but {far:.3g} away")
            )
    return out


def rounded(problem: Problem, minimum: Minimum) -> float:
    """Return how much worse a minimum is with its coefficients rounded to doubles, bounds kept."""
    low, high = problem.penalty.lower, problem.penalty.upper
    b: Coef = [[arb(min(max(float(v), low[j]), high[j])) for v in row] for j, row in enumerate(minimum.coef)]
    return float(problem.value(b) - minimum.value)


def _figures(claim: Claim, found: Truth) -> list[Violation]:
    """Compare stated objective, lower bound and null objective with the oracle's."""
    out = []
    evidence = claim.verdict.evidence
    share, noise = found.share, score_noise(claim.problem, exact(claim.coef))
    stated = [evidence.get("objective"), claim.objective]
    for name, value in zip(("objective", "objective_"), stated, strict=True):
        off = 0.0 if value is None else abs(float(arb(float(value)) - found.here))
        if value is not None and off > 1e-12 * abs(float(found.here)) + noise:
            out.append(Violation("objective", off / share, f"{name} {value!r}, but F(b) = {float(found.here)!r}"))
    lower = evidence.get("lower_bound")
    if lower is not None:
        over = float(arb(float(lower)) - found.best.value)
        if over > 4 * EPS * abs(float(found.here)) + noise:
            out.append(
                Violation(
                    "lower bound", over / share, f"lower bound {lower!r}, but F = {float(found.best.value)!r} exists"
                )
            )
    baseline = evidence.get("null_objective")
    if baseline is not None and found.baseline.settled and claim.problem.loss.name not in CRUDE:
        off = float(arb(float(baseline)) - found.baseline.value)
        if abs(off) > 1e-3 * share + noise + score_noise(claim.problem, found.baseline.coef):
            out.append(
                Violation("null", abs(off) / share, f"null objective {baseline!r}, but {float(found.baseline.value)!r}")
            )
    return out


def score_noise(problem: Problem, b: Coef, *, corners: tuple[str, ...] = CORNERS) -> float:
    """Return what rounding of scores, computed in doubles, may do to F: slopes times ``(p + 4) eps sum_j |x_ij b_j|``.

    With the losses of ``corners`` a rounded score may be met by any slope up to 1.
    """
    eta = problem.scores(b)
    total = 0.0
    for i, (y, row) in enumerate(zip(problem.y, eta, strict=True)):
        slope, _ = problem.loss.bend(y, [e.mid() for e in row], arb(2) ** -100)
        for c, s in enumerate(slope):
            size = sum(abs(float(problem.x[i, j]) * float(b[j][c])) for j in range(problem.columns))
            size += abs(float(problem.offset[i][c])) + problem.loss.epsilon
            target = abs(float(y[c])) if isinstance(y, list) and c < len(y) else 1.0
            each = (problem.columns + 4) * EPS * (size + target)
            steep = 1.0 if problem.loss.name in corners else abs(float(s))
            terms = EPS * 4 * (float(row[c].exp()) + target * size) if problem.loss.name == "poisson" else 0.0
            total += float(problem.share[i]) * (steep * each + each * each + terms)
    return total


def _tolerance(claim: Claim, found: Truth) -> list[Violation]:
    """``optimal`` says that no more than tol of what there is to gain is left, but for what doubles cannot see.

    That is what rounding the best coefficients costs, up to a share of what there is to gain; and where nearly nothing is to
    gain, what rounding does to the baseline alone.
    """
    if claim.verdict.kind not in ("optimal", "not_unique"):
        return []
    problem, evidence, gap, gain = claim.problem, claim.verdict.evidence, float(claim.verdict.gap), found.gain
    if problem.loss.name == "crammer-singer":  # its baseline is a cruder one, docs/model-file.md
        gain = max(gain, float(evidence["null_objective"]) - float(found.best.value))
    tol = float(evidence.get("tol", claim.tol))
    least = 4 * rounded(problem, found.baseline) + 1e-10 * abs(float(found.baseline.value))
    least += 8 * score_noise(problem, found.baseline.coef, corners=tuple(set(VALUES) - set(SMOOTH)))
    end = f"{claim.verdict.kind} at tol {tol:g}, gap {gap:.3g}, but"
    if found.excess > max(tol * gain, min(rounded(problem, found.best), SHARE * gain), least) * (1 + SLACK):
        return [
            Violation(
                "tolerance", found.excess / found.share, f"{end} F(b) - F >= {found.excess:.3g} of {gain:.3g} to gain"
            )
        ]
    if gap > max((tol + SHARE) * gain, least) * (1 + SLACK):
        return [Violation("cap", gap / found.share, f"{end} only {gain:.3g} to gain")]
    return []


# ---------------------------------------------------------------- exact: dependencies and directions


def _dependencies(claim: Claim) -> list[Violation]:
    """A stated dependency holds exactly: there are no more of them than columns less rank."""
    if claim.verdict.kind != "not_unique":
        return []
    stated = claim.verdict.evidence.get("dependencies")
    rank = fmpz_mat(whole(claim.problem)).rank()
    nullity = claim.problem.columns - rank
    if nullity == 0 or (stated is not None and len(stated) > nullity):
        said = "rounding" in claim.verdict.sentence
        words = (
            f"{'?' if stated is None else len(stated)} dependencies, exactly {nullity}: {claim.verdict.sentence[:160]}"
        )
        return [] if said else [Violation("dependency", math.inf, words)]
    return []


def _finite(claim: Claim) -> list[Violation]:
    """``optimal`` says that there is a minimum."""
    if claim.verdict.kind in ("optimal", "not_unique") and falls_for_ever(claim.problem):
        return [Violation("infinity", math.inf, f"{claim.verdict.kind}, but F falls for ever")]
    return []


def _direction(claim: Claim) -> list[Violation]:
    """A stated direction leads out of no bounds, costs nothing, and no row's loss grows along it while some row's falls."""
    problem, evidence = claim.problem, claim.verdict.evidence
    k = problem.loss.outputs
    d = [[Fraction(0)] * k for _ in range(problem.columns)]
    for name, value in dict(evidence["direction"]).items():
        j, c = _place(name, claim, k)
        d[j][c] = Fraction(int(value))
    bad = []
    for j, row in enumerate(d):
        penalty = problem.penalty
        if any(row) and (penalty.lasso[j] > 0 or penalty.ridge[j] > 0 or penalty.group[j] > 0):
            bad.append(f"{claim.columns[j]} is charged")
        if (any(v > 0 for v in row) and penalty.upper[j] < math.inf) or (
            any(v < 0 for v in row) and penalty.lower[j] > -math.inf
        ):
            bad.append(f"{claim.columns[j]} is bounded")
    strict = 0
    for i, y in enumerate(problem.y):
        score = [
            sum((Fraction(*ratio(problem.x[i, j])) * d[j][c] for j in range(problem.columns)), Fraction(0))
            for c in range(k)
        ]
        worst, better = _along(problem.loss.name, y, score)
        strict += better
        if worst:
            bad.append(f"row {i} loses")
    if not strict:
        bad.append("no row gains")
    return [Violation("direction", math.inf, f"at infinity: {'; '.join(bad[:3])}")] if bad else []


def _along(loss: str, y: Any, score: list[Fraction]) -> tuple[bool, bool]:
    """Return whether the loss of a row grows for ever along scores, and whether it falls for ever."""
    if loss == "poisson":
        count = y[0] > 0
        return (score[0] != 0 if count else score[0] > 0), (not count and score[0] < 0)
    if len(score) == 1:
        z = score[0] if y == 1 else -score[0]
        return z < 0, z > 0
    rest = [score[y] - v for c, v in enumerate(score) if c != y]
    return min(rest) < 0, min(rest) >= 0 and max(rest) > 0


def _place(name: str, claim: Claim, k: int) -> tuple[int, int]:
    """Return column and output of a coefficient's name."""
    if k == 1:
        return claim.columns.index(name), 0
    column, _, label = name.rpartition(" / ")
    names = [str(c) for c in claim.labels or range(k)]
    return claim.columns.index(column), names.index(label) if label in names else int(label)
