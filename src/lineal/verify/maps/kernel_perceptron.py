"""A kernel perceptron: its coefficients are counts of mistakes, and every row is on the side that is stated, rounding included.

For two classes ``f = sum_i c_i y_i k(x_i, .)`` with c_i the mistakes at row i; for several every row has its mistakes at its own
class, and as many below zero at the others. With ``|f|`` at most norm, a margin is the least score on the right side over that.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lineal.verify.arithmetic import EPS, Array, Index
from lineal.verify.claims.ground import counted, field, figure
from lineal.verify.evidence.sentences import check_keys, check_reason, check_sentence
from lineal.verify.maps.claims import MapClaims
from lineal.verify.maps.span import Span
from lineal.verify.report import Report


def check(report: Report, claims: MapClaims, span: Span, rows: Index, codes: Index) -> None:
    """Check that coefficients are counts, then the side of every row, and what is stated of margin and mistakes."""
    coef, constant = claims.coef[int(claims.intercept) :], claims.coef[: int(claims.intercept)].sum(axis=0)
    evidence = field({"verdict": dict(claims.verdict)}, "verdict.evidence", dict)
    most = _check_counts(report, coef, codes[rows], evidence)
    lifted = _lifted(coef, constant, evidence, span)
    words = "the intercept is zero, or that of a column of ones in the kernel"
    report.check(words, bool(np.all(constant == (coef.sum(axis=0) if lifted else 0.0))), f"{constant.tolist()}")
    report.check("a perceptron has no strength", span.strength == 0.0)
    plain = all(claims.verdict.get(name) is None for name in ("gap", "relative_gap"))
    report.check("no gap is claimed for a perceptron", plain)
    epochs = counted(evidence.get("epochs"))
    clean = claims.verdict.get("kind") == "separated"
    enough = epochs >= max(1, most + clean) and (epochs <= counted(evidence.get("mistakes")) + clean or epochs == 1)
    report.check("so many epochs can have had these mistakes", enough, f"{epochs}")
    span = replace(span, lifted=lifted)
    value, off, _ = span.scores(rows, coef)
    margins, error = _margins(value, off, codes)
    norm = math.sqrt(max(float(np.sum(coef * value[rows]) + np.sum(np.abs(coef) * off[rows])), 0.0))
    if clean:
        _separated(report, claims, span, margins, error, norm)
    else:
        _stopped(report, claims, span, margins, error)


def _check_counts(report: Report, coef: Array, own: Index, evidence: dict[str, object]) -> int:
    """Check that coefficients are counts of mistakes with the signs of their classes; return the most of a row."""
    several = coef.shape[1] > 1
    times = coef[np.arange(len(own)), own] if several else coef[:, 0] * (2.0 * own - 1.0)
    whole = bool(np.all(coef == np.rint(coef))) and bool(np.all(times > 0.0))
    if several:
        others = coef.copy()
        others[np.arange(len(own)), own] = 0.0
        whole = whole and bool(np.all(others <= 0.0)) and bool(np.all(coef.sum(axis=1) == 0.0))
    report.check(
        "coefficients are counts of mistakes, on the side of the class of their row", whole, f"{len(own)} rows"
    )
    made, stated = float(times.sum()), counted(evidence.get("mistakes"))
    report.check("there were as many mistakes as the coefficients count", made == stated, f"{made:g}, stated {stated}")
    return int(times.max(initial=0.0))


def _lifted(coef: Array, constant: Array, evidence: dict[str, object], span: Span) -> bool:
    """Return whether the kernel has a column of ones: an intercept says so, or where that is zero the radius."""
    if np.any(constant != 0.0):
        return True
    radius = figure(evidence, "radius")
    if np.any(coef.sum(axis=0) != 0.0) or radius is None or not span.intercept:
        return False
    apart = [abs(radius - float(np.max(replace(span, lifted=one).roots))) for one in (False, True)]
    return apart[1] < apart[0]


def _margins(value: Array, off: Array, codes: Index) -> tuple[Array, Array]:
    """Return how far every row is on its side, and how far that may be off."""
    if value.shape[1] == 1:
        return (2.0 * codes - 1.0) * value[:, 0], off[:, 0]
    row = np.arange(len(codes))
    low, high = value[row, codes] - off[row, codes], value + off
    high[row, codes] = -np.inf
    rest = value.copy()
    rest[row, codes] = -np.inf
    margins = value[row, codes] - rest.max(axis=1)
    return margins, margins - (low - high.max(axis=1)) + 2 * EPS * np.abs(value).max(axis=1)


def _separated(report: Report, claims: MapClaims, span: Span, margins: Array, error: Array, norm: float) -> None:
    """Check that every row is on its side, and margin, radius and the bound on mistakes."""
    evidence, two = claims.verdict["evidence"], claims.coef.shape[1] == 1
    check_keys(report, evidence, "mistakes", "epochs", "wrong_rows", "radius", "gamma", "bound", "within_bound")
    check_reason(report, claims.verdict.get("reason"))
    report.check("the kernel is positive semi-definite, so that margins are distances", span.kernel.definite)
    least = float(np.min(margins - error))
    report.check("every row is on the right side, rounding included", least > 0.0, f"margin at least {least!r}")
    report.check("no row is stated to be on the wrong side", counted(evidence.get("wrong_rows")) == 0)
    gamma, radius, bound = (figure(evidence, name) or math.nan for name in ("gamma", "radius", "bound"))
    near = abs(gamma - least / norm) <= 1e-9 * gamma + 8.0 * float(np.max(error)) / norm
    report.check("the margin of a function of norm 1 is as stated", near, f"{least / norm!r}, stated {gamma!r}")
    largest = float(np.max(span.roots))
    report.check("the radius is as stated", abs(radius - largest) <= 1e-9 * largest, f"{largest!r}, stated {radius!r}")
    expected = (1.0 if two else 2.0) * (radius / gamma) ** 2
    same = abs(bound - expected) <= 1e-12 * expected
    report.check("the bound on mistakes follows from margin and radius", same, f"{expected!r}, stated {bound!r}")
    mistakes = counted(evidence.get("mistakes"))
    report.check("whether mistakes are within it is as stated", evidence.get("within_bound") is (mistakes <= bound))
    sentence = (
        f"Separated: every row is on the right side, proven (margin {gamma:.3g} of a function of norm 1). {mistakes} "
        f"mistakes, at most {bound:.3g} = {'' if two else '2 '}R^2/gamma^2 were possible."
    )
    check_sentence(report, str(claims.verdict.get("sentence")), sentence)


def _stopped(report: Report, claims: MapClaims, span: Span, margins: Array, error: Array) -> None:
    """Check a run that ended without a clean epoch."""
    evidence, kind = claims.verdict["evidence"], claims.verdict.get("kind")
    report.check("the verdict is that of a run that ended", kind == "budget", f"{kind!r}")
    check_keys(report, evidence, "mistakes", "epochs", "wrong_rows")
    wrong = counted(evidence.get("wrong_rows"))
    room = 4.0 * error
    fewest, most = int(np.sum(margins + room <= 0.0)), int(np.sum(margins - room <= 0.0))
    report.check("so many rows are on the wrong side", fewest <= wrong <= most, f"{fewest} to {most}, stated {wrong}")
    why = "no epoch was without a mistake"
    why = why if span.kernel.definite else "the kernel is not positive semi-definite"
    check_reason(report, claims.verdict.get("reason"), why)
    sentence = (
        f"Stopped without a separation: {why} ({counted(evidence.get('mistakes'))} mistakes in {counted(evidence.get('epochs'))} "
        f"epochs; {wrong} of {len(margins)} rows are on the wrong side of what was found). A narrower kernel, or more epochs, "
        "may separate the rows."
    )
    check_sentence(report, str(claims.verdict.get("sentence")), sentence)
