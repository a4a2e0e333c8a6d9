"""The sentence of every verdict, written anew from fields that are checked, and compared whole.

A new sentence is one more function here; a new way to stop is one more pattern of `REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineal.verify.claims.model import Claims
from lineal.verify.evidence.stable_step import STABLE
from lineal.verify.report import Report

NUMBER: Final = r"[-+0-9.e]+"
HIDDEN: Final = "rounding hides how small the slope is"
REASONS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        "interrupted",
        "it was interrupted",
        "the time limit was reached",
        "the limit of [0-9]+ (iterations|epochs) was reached",
        "rounding error allows no further progress",
        "columns are far from zero, and (their means could not be taken|there is no intercept to take their means) off",
        f"weights differ by a factor of {NUMBER}",
        f"scores are rounded by up to {NUMBER}, which is not small beside a threshold of {NUMBER}",
        "columns are nearly combinations of others",
        f"offsets differ by up to {NUMBER}",
        f"penalized columns differ in size by a factor of {NUMBER}",
        f"the columns gain at most {NUMBER} over a null loss of {NUMBER}",
        f"scores are sums of terms up to {NUMBER}, and rounded by up to {NUMBER}",
        "rounding keeps the bounds apart",
        "the last hundred steps brought nothing",
        f"the last [0-9]+ epochs brought no more than {NUMBER} % of all before",
        "the steps were too long, and the objective is no longer finite",
        f"the steps diverged: the objective rose from {NUMBER} (to {NUMBER}|beyond all numbers)",
        "the steps are too long: the objective rose in [0-9]+ of [0-9]+",
        STABLE.pattern,
        "the [-a-z]+ loss bends without limit, so no length is proven stable",
        "the intercept has too few digits beside (columns|offsets) so far from zero",
        "[0-9]+ steps of Newton's method were not enough",
        "the coefficients have too few digits beside columns so far from zero or so near to each other",
        "a proof would have taken longer",
        "the objective or its curvature is not finite here",
        "it could not be told which columns depend on others",
        "time was not enough to decide whether the classes overlap",
        "the coefficients are not finite",
        "the curvature vanishes",
        "the coefficients are outside their bounds",
        "the penalty overflows",
        "the dual point is outside its domain",
        "the uncharged columns do not allow the dual point",
        "no dual point was found that all bounds allow",
        "too few rows are between the corners of the loss",
        "rounding errors are too large for a proof",
        "the curvature vanishes",
        "no dual point( was found)?",
        "a class has no row of positive weight, and an intercept that no penalty holds",
        "more than [0-9]+ (coefficients are not charged|columns, of which several are not charged)",
        f"a Newton step would still move a score by ({NUMBER}|inf|nan)",
        f"{NUMBER} s were not enough to decide whether the classes overlap",
        "a table with [0-9]+ cells is too large to ask whether the classes overlap",
        "the search for the variances ended after [0-9]+ steps",
        HIDDEN,
        "rounding hides (what is left|which pairs to move)",
        "max_iter was reached",
        "there was no time for a proof",
        "no row has room for a dual point whose sum over the rows is zero",
        "the mismatch of the dual point is not finite",
        "the coefficients or their scores are not finite",
    )
)
"""Why a fit may have ended, in pieces that are joined by semicolons: what happened, which no data can prove."""

SHOWN: Final = 4
"""Names that a sentence lists before it counts the rest."""


def check_sentence(report: Report, stated: str, expected: str) -> None:
    """Check that a sentence is the one that the checked fields make."""
    report.check("the sentence is the one that its figures make", stated == expected, f"{stated!r}, made {expected!r}")


def check_reason(report: Report, stated: str | None, expected: str | None = None) -> None:
    """Check the reason of a verdict that has only one, or none."""
    report.check("the reason is that of its kind", stated == expected, f"{stated!r}, made {expected!r}")


NEARLY: Final = re.compile(
    "up to rounding, (.+) in every row, and what the difference gains is not known; drop a column or add a penalty"
)
"""What is said of columns that depend on others, but not exactly: equations between names of columns."""


def check_ending(report: Report, stated: str | None, columns: Sequence[str] = ()) -> None:
    """Check that a reason is made of endings that this checker knows, and of equations between these columns."""
    strange = [equation for equation in NEARLY.findall(stated or "") if not _between(equation, columns)]
    pieces = NEARLY.sub("rounding error allows no further progress", stated or "").split("; ")
    strange += [piece for piece in pieces if not any(pattern.fullmatch(piece) for pattern in REASONS)]
    report.check("the reason is an ending that this checker knows", not strange, "; ".join(strange) or stated or "")


def _between(text: str, columns: Sequence[str]) -> bool:
    """Return whether a text is equations between names of columns, as `equations` writes them.

    >>> _between("total = a + 2 * b; and 3 more", ["a", "b", "total"]), _between("total = best", ["a", "total"])
    (True, False)
    """
    names = "|".join(re.escape(name) for name in sorted(columns, key=len, reverse=True)) or "(?!)"
    term = f"(?:{NUMBER} \\* )?(?:{names})"
    equation = f"(?:{names}) = (?:0|{term}(?: \\+ {term})*(?: \\+ [0-9]+ more terms)?)"
    return re.fullmatch(f"{equation}(?:; {equation})*(?:; and [0-9]+ more)?", text) is not None


def check_keys(report: Report, evidence: Mapping[str, Any], *checked: str) -> None:
    """Check that the evidence states nothing but what is checked; a number that is not finite is null, with a reason."""
    not_finite = ("the value is inf", "the value is -inf", "the value is nan")
    spelled = {f"{name}_reason" for name in checked if evidence.get(name) is None}
    strange = sorted(set(evidence) - set(checked) - {name for name in spelled if evidence.get(name) in not_finite})
    report.check("the evidence holds nothing that is not checked", not strange, ", ".join(strange))


def percent(relative: float) -> str:
    """Return a share as a percentage with two digits.

    >>> percent(0.5)
    '50 %'
    """
    return f"{100.0 * relative:.2g} %"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "row"), count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def of_gap(kind: str, gap: float, relative: float, reason: str | None, flat: str = "") -> str:
    """Return the sentence of a verdict with a gap; ``flat`` is what holds in every row where optima are a flat."""
    if kind == "budget":
        return f"Not optimal yet: {reason}. The loss could still fall by up to {percent(relative)} (gap {gap:.2g})."
    bound = f"the loss cannot be improved by more than {percent(relative)} (gap {gap:.2g}, proven)"
    if kind == "optimal":
        return f"Optimal: {bound}."
    return (
        f"Optimal but not unique: {bound}, and other coefficients reach the same. In every row {flat}. "
        "The coefficients of least norm are given; drop a column or add a penalty for unique ones."
    )


def equations(listed: Sequence[Mapping[str, float]]) -> str:
    """Return the first dependencies as equations between column names.

    >>> equations([{"a": -1.0, "b": -2.0, "total": 1.0}])
    'total = a + 2 * b'
    """
    lines = []
    for dependency in listed[:3]:
        *others, (name, own) = dependency.items()
        shares = [(other, -weight / own) for other, weight in others]
        terms = [other if share == 1.0 else f"{share:.4g} * {other}" for other, share in shares]
        if len(terms) > 6:
            terms[5:] = [f"{len(terms) - 5} more terms"]
        lines.append(f"{name} = {' + '.join(terms) if terms else 0}")
    more = len(listed) - len(lines)
    return "; ".join(lines) + (f"; and {more} more" if more else "")


def combinations(columns: int) -> str:
    """Return how many columns depend on others, where the dependencies are too large to be kept."""
    return "1 column is a combination of others" if columns == 1 else f"{columns} columns are combinations of others"


def of_infinity(claims: Claims, moving: Sequence[str], strict: int, rows: int) -> str:
    """Return the sentence of a direction along which the loss of ``strict`` of the rows falls for ever."""
    names = ", ".join(moving[:SHOWN]) + (f" and {len(moving) - SHOWN} more" if len(moving) > SHOWN else "")
    how = claims.loss.escape(len(moving), strict, rows)
    return (
        f"No finite optimum: {names} {how}, so the loss falls for ever as their coefficients grow. "
        f"Remedies: the penalty {' or '.join(claims.loss.remedies)}, or drop a column."
    )


def of_clashes(clashes: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence of bounds that exclude each other."""
    first, more = clashes[0], len(clashes) - 1
    return (
        f"Infeasible: the coefficient of {first['column']} would have to be at least {first['lower']:g} and at most "
        f"{first['upper']:g}{f' (and {more} more like it)' if more else ''}. Change its bounds."
    )


FIRTH: Final = (
    "the penalised likelihood need not be concave, so there is no bound on how much higher another point may be"
)
EVIDENCE: Final = "the evidence need not be concave, so another pair of variances may be more likely"


def of_slope(kind: str, norm: float, reason: str | None, *, ridge: bool) -> str:
    """Return the sentence of a point of Firth's likelihood, or of the evidence of a ridge, with a slope of this norm."""
    if kind == "budget":
        left = f", where the slope of the log-evidence is still {norm:.2g}" if ridge else ""
        return f"Stopped without a proof: {reason}{left or f'; the slope is still {norm:.2g} standard errors'}."
    if ridge:
        return (
            f"Stationary: the log-evidence has no slope in the variances (norm {norm:.2g}); that makes them a local optimum, "
            "which may not be the only one. Given them, the coefficients are proven optimal."
        )
    return (
        f"Stationary: the penalised likelihood has no slope here (norm {norm:.2g}, in standard errors); "
        "that makes it a local optimum, which may not be the only one."
    )


def of_mistakes(claims: Claims, weight: float, *, plain: bool) -> str:
    """Return the sentence of a halfspace whose mistakes are counted; ``plain``: all rows weigh the same."""
    assert claims.gap is not None
    upper, lower, sets = claims.evidence["mistakes"], claims.evidence["least"], len(claims.evidence["cuts"])
    rows = "training rows" if plain else "units of weight"
    figures = f"gap {claims.gap:.2g}, {percent(claims.relative_gap or 0.0)}"
    if claims.kind == "optimal":
        why = (
            f"proven by {count(sets, 'set')} of rows, in each of which every halfspace has a mistake"
            if sets
            else "proven"
        )
        return f"Optimal: no halfspace mistakes fewer than {upper:g} of {weight:g} {rows} ({figures}; {why})."
    return (
        f"Not optimal yet: {claims.reason}. This halfspace mistakes {upper:g} of {weight:g} {rows}, and none fewer than "
        f"{lower:g} ({figures}). The time an exact answer takes may double with every further mistake."
    )


RUNS: Final = "|".join(
    (
        "it was interrupted",
        "the time limit was reached",
        "no epoch of [0-9]+ was without a mistake",
        "[0-9]+ epochs in a row saved hardly any mistake",
        "the weights overflowed in epoch [0-9]+; give the columns in larger units",
        "the last epoch was clean in floating point only: exactly, ([0-9,]+ rows are|1 row is) mistaken",
    )
)
"""Why a run of a perceptron may have ended, besides a clean epoch and weights that came again."""
RUNNING: Final = (
    f"({RUNS}|the weights after epoch [0-9]+ are those (after epoch [0-9]+|at the start) again, so that the same "
    "([0-9,]+ epochs|1 epoch) would follow for ever)"
)
UNDECIDED: Final = (
    "(, and the oracle was not asked(: a table with [0-9]+ cells is too large to ask whether the classes overlap)?"
    f"|, and {NUMBER} s were not enough for the oracle|, and the time limit was reached before the oracle had an answer"
    "|; the rows are separable, but only by weights finer than doubles)"
)


def run_ending(repeated: object) -> str:
    """Return a pattern of how a run ended; where weights came again it has one text only."""
    if not (isinstance(repeated, list) and len(repeated) == 2 and all(isinstance(epoch, int) for epoch in repeated)):
        return f"({RUNS})"
    first, again = repeated
    where = f"after epoch {first}" if first else "at the start"
    return re.escape(
        f"the weights after epoch {again} are those {where} again, so that the same {count(again - first, 'epoch')} would "
        "follow for ever"
    )


def check_run(report: Report, stated: str, before: str, ending: str, after: str) -> None:
    """Check a sentence of which one piece is how a run ended."""
    whole = re.fullmatch(re.escape(before) + ending + re.escape(after), stated)
    report.check(
        "the sentence is the one that its figures make", whole is not None, f"{stated!r}, made {before}...{after}"
    )


def of_separator(claims: Claims, how: str, bound: str) -> tuple[str, str]:
    """Return what comes before and after ``how`` in the sentence of a separator; ``bound`` is said of its mistakes."""
    given = claims.evidence
    side = {"positive": "the later class", "negative": "the earlier class"}.get(given["tie"], "")
    margin = (
        f"margin {given['margin']:.4g}" if given["strict"] else f"some rows lie on the boundary, which counts as {side}"
    )
    wrong = given["model_mistakes"]
    more = f" The {given['variant']} weights of the model mistake {count(wrong, 'row')}." if wrong else ""
    return f"Separated: no training mistake, {how}", f"; {margin}, R = {given['radius']:.4g}.{more}{bound}"


def of_bound(given: Mapping[str, Any], *, two: bool) -> str:
    """Return what the sentence of a separator says about the bound on the mistakes, where there is a maximum margin."""
    wide = given.get("maximum_margin")
    if wide is None:
        return ""
    name = "R^2/gamma^2 = (RB)^2" if two else "2R^2/gamma^2 = 2(RB)^2"
    said = f" With the maximum margin gamma = {wide['gamma']:.4g} (B = 1/gamma), {name} = {wide['bound']:.6g}"
    if given.get("standardized"):
        return f"{said}; it bounds the mistakes on columns as they are, and these were standardized."
    if given["start"] != "zero":
        return f"{said}; it bounds the mistakes of a start at zero, which this was not."
    if given["by"] == "oracle":
        return f"{said} mistakes are the most a perceptron needs, in as many epochs as that takes."
    return f"{said}, and indeed {count(given['mistakes'], 'mistake')} <= {wide['bound']:.6g}."


def of_sum(rows: int, wrong: int) -> str:
    """Return the end of the sentence of classes that no weights separate, proven by some rows."""
    proof = "1 row proves" if rows == 1 else f"{rows} rows prove"
    return (
        f", and {proof} that no weights put every row strictly on its own side (times whole weights, they add up to zero). "
        f"The weights of a perceptron stay bounded and never settle; those kept mistake {count(wrong, 'row')}."
    )
