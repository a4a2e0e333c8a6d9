"""The verdict `at_infinity`: a direction along which the loss of no row grows and that of some row falls for ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array, Whole
from lineal.verify.claims.ground import counted
from lineal.verify.claims.model import Claims
from lineal.verify.evidence.sentences import check_keys, check_reason, check_sentence, of_infinity
from lineal.verify.evidence.separability import integers
from lineal.verify.problem.dependence import NotProvenError
from lineal.verify.problem.formulas import Point
from lineal.verify.proof.baseline import baseline_objective
from lineal.verify.proof.witnesses import strict_rows
from lineal.verify.reading import cells
from lineal.verify.report import Report


def check_infinity(report: Report, claims: Claims, point: Point) -> None:
    """Check the direction row by row, and that the names of the evidence are those it moves."""
    problem = point.problem
    report.check("the loss can fall for ever", claims.loss.unbounded, claims.loss.name)
    direction = _direction(report, claims)
    penalty = problem.penalty
    held = (penalty.linear > 0.0) | (penalty.square > 0.0)
    report.check("the direction leaves every charged column alone", not np.any(direction[held] != 0))
    below, above = direction[np.isfinite(penalty.lower)] < 0, direction[np.isfinite(penalty.upper)] > 0
    report.check("the direction leaves no bound", not (np.any(below) or np.any(above)))
    named = claims.evidence.get("rows")
    count, true, bad = 0, set[int](), ""
    try:
        for block in problem.blocks():
            strict = strict_rows(block, direction)
            count += int(np.sum(strict))
            true |= set(map(counted, named if isinstance(named, list) else [])) & set(block.numbers[strict].tolist())
    except NotProvenError as error:
        bad = str(error)
    report.check("along the direction the loss of no training row grows (exact)", not bad, bad)
    stated = claims.evidence.get("strict_rows")
    report.check(
        "along the direction the loss of the stated number of rows falls for ever (exact)",
        count > 0 and count == stated,
        f"{count} rows, stated {stated}",
    )
    report.check(
        "the rows named are among them", isinstance(named, list) and true.issuperset(map(counted, named)), f"{named}"
    )
    groups = {"plus": direction > 0, "minus": direction < 0, "finite": direction == 0}
    wrong = [name for name, chosen in groups.items() if claims.evidence.get(name) not in _names(claims, chosen)]
    report.check("the coefficients said to be infinite are those the direction moves", not wrong, ", ".join(wrong))
    report.check("no gap is claimed where there is no optimum", claims.gap is None and claims.relative_gap is None)
    baseline = baseline_objective(problem)
    report.check(
        "the coefficients are no worse than the null fit",
        point.objective <= baseline + 1e-9 * abs(baseline) + point.allowance,
        f"{point.objective!r} against {baseline!r}",
    )
    _said(report, claims, count, problem.rows)


def _said(report: Report, claims: Claims, strict: int, rows: int) -> None:
    """Check the words: what helps, the reason, the sentence."""
    keys = ("objective", "plus", "minus", "finite", "strict_rows", "rows", "direction", "remedies")
    check_keys(report, claims.evidence, *keys)
    help_ = claims.evidence.get("remedies")
    report.check("the remedies are those of the loss", help_ == list(claims.loss.remedies), f"{help_}")
    check_reason(report, claims.reason, "no finite optimum exists")
    moving = [*claims.evidence["plus"], *claims.evidence["minus"]]
    check_sentence(report, claims.sentence, of_infinity(claims, moving, strict, rows))


def _direction(report: Report, claims: Claims) -> npt.NDArray[Any]:
    """Return the direction: in integers if the evidence holds it so, which the array then rounds, else in doubles."""
    rounded, named = claims.arrays.get("direction"), claims.evidence.get("direction")
    report.check("the file holds a direction", rounded is not None and bool(np.any(rounded)))
    if rounded is None or named is None:
        return np.zeros((0, 0)) if rounded is None else rounded
    try:
        exact, bad = _exact(claims, named), ""
    except ModelFileError as error:
        exact, bad = np.zeros(rounded.shape, dtype=object), str(error)
    report.check("the exact direction holds whole numbers for coefficients of the model", not bad, bad)
    off = _off(exact, rounded)
    report.check("the array of the direction is the exact one, rounded", off <= 1e-12, f"{off:.1e} apart")
    return exact


def _exact(claims: Claims, named: object) -> Whole:
    """Return the whole numbers that the evidence gives to coefficients by name; zero for all others."""
    if not isinstance(named, dict) or not named:
        raise ModelFileError("it must name coefficients")
    values = dict(zip(named, integers(list(named.values()), "direction"), strict=True))
    everything = np.ones((len(claims.columns), claims.outputs), dtype=bool)
    # classes may be called 1 and 2: which spelling is meant is seen where all coefficients are listed
    listed = {name for group in ("plus", "minus", "finite") for name in claims.evidence.get(group) or ()}
    for labels in _names(claims, everything):
        if set(values) <= set(labels) == listed:
            entries = np.array([values.get(label, 0) for label in labels], dtype=object)
            return np.asarray(entries.reshape(everything.shape))
    raise ModelFileError("a coefficient is named that the model does not have")


def _off(exact: Whole, rounded: Array) -> float:
    """Return how far the entries of two directions, each divided by its largest, differ: at most, as a share."""
    one = max((abs(value) for value in exact.ravel().tolist()), default=0)
    if one == 0:
        return np.inf
    unit = np.array([value / one for value in exact.ravel().tolist()]).reshape(exact.shape)
    scaled = rounded / np.max(np.abs(rounded))
    return float(np.max(np.where(rounded == unit, 0.0, np.abs(unit - scaled) / np.abs(unit))))


def _names(claims: Claims, chosen: npt.NDArray[np.bool_]) -> list[list[str]]:
    """Return the list of the chosen coefficients' names: by column, or by column and class, as number or as name."""
    if claims.outputs == 1:
        return [[name for name, taken in zip(claims.columns, chosen[:, 0], strict=True) if taken]]
    places = list(zip(*np.nonzero(chosen), strict=True))
    classes = claims.classes or ()
    spellings = [[str(k) for k in range(claims.outputs)], [cells.text(c) for c in classes], [str(c) for c in classes]]
    return [[f"{claims.columns[j]} / {labels[k]}" for j, k in places] for labels in spellings]
