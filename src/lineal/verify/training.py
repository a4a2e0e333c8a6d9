"""From the data file to the training problem, each step checked against what the model file says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lineal.errors import InputError, near
from lineal.verify import cells, terms
from lineal.verify.arithmetic import EPS, Array, total
from lineal.verify.claims import Claims
from lineal.verify.formulas import Problem
from lineal.verify.ground import Ground, plain_numbers
from lineal.verify.parts import fitted
from lineal.verify.reading import Table
from lineal.verify.report import Report
from lineal.verify.rows import class_of, fingerprint

Columns = dict[str, list[object]]
MOST: Final = 8 * 2**30
"""Bytes of a matrix at most."""
COUNT = "(count)"
"""The weight of a row of a table of counts: the count, times the row's own weight."""


@dataclass(frozen=True)
class Examples:
    """The training rows, those of weight 0 included: design, cells of the target columns, weight and offset."""

    x: Array
    targets: list[list[object]]
    weight: Array
    offset: Array


def examples(report: Report, ground: Ground, table: Table) -> Examples:
    """Return the rows a file was made from; every step on the way is a checked line."""
    absent = [name for name in ground.read if not table.has(name)]
    hint = f"{absent[0]!r} is not there.{near(absent[0], table.names)}" if absent else f"{len(ground.needed)} columns"
    report.check("the data has every column that the model uses", not absent, hint)
    columns, rows = _training_rows(report, ground, table)
    x = _design(report, ground, columns, table.zero)
    weight, offset = np.ones(len(rows)), np.zeros((len(rows), 1))
    heavy = ground.weight if ground.counts is None else COUNT
    if heavy is not None:
        weight = _numbers(report, "every weight is a number of at least 0", columns[heavy], least=0.0)
    if ground.offset is not None:
        offset = _numbers(report, "every offset is a finite number", columns[ground.offset])[:, None]
    seen, whole = int(np.sum(weight > 0.0)), total(weight)
    report.check(
        "the number of training rows is as stated",
        seen == ground.rows and ground.rows > 0,
        f"{seen} rows of positive weight, stated {ground.rows}",
    )
    report.check(
        "the sum of the weights is as stated",
        abs(whole - ground.weight_sum) <= (len(rows) + 8) * EPS * whole,
        f"{whole!r}, stated {ground.weight_sum!r}",
    )
    return Examples(x, [columns[name] for name in ground.targets], weight, offset)


def training_problem(report: Report, claims: Claims, table: Table) -> Problem:
    """Return the problem the model was fitted to."""
    found = examples(report, claims, table)
    return problem_of(report, claims, found, _target(report, claims, found.targets))


def problem_of(report: Report, claims: Claims, found: Examples, y: Array) -> Problem:
    """Return the problem of the training rows with targets ``y``; its charges are checked."""
    seen = found.weight > 0.0
    theta = claims.arrays.get("theta")
    if theta is not None:
        report.check("the dual point has a row for every training row", len(theta) == len(seen), f"{len(theta)} rows")
    problem = Problem(
        loss=claims.loss,
        x=found.x[seen],
        y=y[seen],
        q=found.weight[seen] / total(found.weight),
        offset=found.offset[seen],
        charges=claims.charges,
        intercept=claims.intercept,
        numbers=np.flatnonzero(seen),
        parameter=claims.parameter,
        theta=None if theta is None else theta[seen],
        weight=found.weight[seen],
    )
    _charges(report, claims, problem)
    return _about(report, claims, problem)


def _about(report: Report, claims: Claims, problem: Problem) -> Problem:
    """Return the problem about the center that the file keeps, if any: ``eta = (x - center) b``, the same objective.

    ``x - center`` is a double if both ways back are exact; an intercept that nothing charges makes up for the center.
    """
    center = claims.arrays.get("center")
    if center is None:
        return problem
    free = claims.intercept and center[0] == 0.0 and 0 in problem.uncharged
    report.check("the center leaves the intercept alone, which is not charged", free)
    moved = problem.x - center
    exact = bool(np.all((moved + center == problem.x) & (problem.x - moved == center)))
    report.check("every number less its center is a double", exact)
    return replace(problem, x=moved)


def _training_rows(report: Report, ground: Ground, table: Table) -> tuple[Columns, npt.NDArray[np.intp]]:
    """Split, leave out the rows without a target, and compare counts and fingerprint."""
    by = ground.divider
    held = ~fitted(ground.split, table.rows, None if by is None else table.column(by))
    lost = np.zeros(table.rows, dtype=bool)
    for name in ground.counts or ground.targets:
        lost |= np.fromiter((cells.missing(cell) for cell in table.column(name)), dtype=bool, count=table.rows)
    without = int(np.sum(lost & ~held))
    report.check(
        "the number of rows without a target is as stated",
        without == ground.without_target,
        f"{without} of the rows that are not held out, stated {ground.without_target}",
    )
    rows = np.flatnonzero(~held & ~lost)
    kept = rows.tolist()
    columns: Columns = {}
    for name, kind in ground.needed.items():
        column = table.column(name)
        columns[name] = [cells.settled(column[row]) if kind == "n" else column[row] for row in kept]
    kinds = dict(ground.needed)
    if ground.counts is not None:
        columns, kinds = _counted(ground, columns, kinds)
        rows = np.repeat(rows, 2)
    if ground.fingerprint is None:
        report.check("no fingerprint is stated, so everything below is proved about the data as given", True)
        return columns, rows
    try:
        found = fingerprint((name, kind, columns[name]) for name, kind in kinds.items())
        bad = ""
    except ValueError as error:
        found, bad = "", str(error)
    report.check(
        "the training rows are those the model was fitted on (fingerprint)",
        found == ground.fingerprint,
        bad or f"{len(kept)} rows of {len(columns)} columns, {found[:19]}..., stated {ground.fingerprint[:19]}...",
    )
    return columns, rows


def _counted(ground: Ground, columns: Columns, kinds: dict[str, str]) -> tuple[Columns, dict[str, str]]:
    """Return every row twice: a success weighted by its count of them, then a failure weighted by its count."""
    assert ground.counts is not None
    success, failure = ground.counts
    pairs = list(zip(columns[success], columns[failure], strict=True))
    shares = [1.0] * len(pairs) if ground.weight is None else columns[ground.weight]
    roles = {success, failure, ground.weight}
    found: Columns = {name: [cell for cell in cells_ for _ in range(2)] for name, cells_ in columns.items()}
    found[ground.targets[0]] = [success, failure] * len(pairs)
    found[COUNT] = [
        count * share if isinstance(count, float) and isinstance(share, float) else None
        for pair, share in zip(pairs, shares, strict=True)
        for count in pair
    ]
    used = {name: kind for name, kind in kinds.items() if name not in roles}
    return found, {**used, ground.targets[0]: "t", COUNT: "n"}


def _design(report: Report, ground: Ground, columns: Columns, zero: bool) -> Array:
    """Return X; each term must be what its training cells teach (an absent feature of an SVMlight file is zero)."""
    rows = len(next(iter(columns.values())))
    if 8 * rows * len(ground.columns) > MOST:
        raise InputError(
            f"the matrix of {rows:,} rows and {len(ground.columns):,} columns is too large for this checker, which works"
            f" with all of it, zeros included (at most {MOST // 2**30} GB); fit fewer columns, or fewer rows."
        )
    parts: list[Sequence[float]] = [[1.0] * rows] if ground.intercept else []
    wrong: dict[str, str] = {}
    for term in ground.terms:
        problem: str | None = None
        try:
            if plain_numbers(term):
                parts.append([cells.number(cell) for cell in columns[term["column"]]])
            else:
                parts += terms.values(term, columns)
                problem = _zero_fill(term) if zero else terms.learned(term, columns)
        except ValueError as error:
            problem = str(error)
        if problem is not None:
            wrong.setdefault(term["kind"], f"{':'.join(name for name, _ in terms.inputs(term))!r}: {problem}")
    for kind in dict.fromkeys(term["kind"] for term in ground.terms):
        count = sum(term["kind"] == kind for term in ground.terms)
        report.check(f"every {kind} term is what these rows teach", kind not in wrong, wrong.get(kind, f"{count}"))
    return np.array(parts, dtype=np.float64).reshape(len(parts), rows).T.copy()


def _zero_fill(term: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a term of a file in which an absent number is zero."""
    return None if term.get("fill") == 0.0 else "the fill must be 0"


def _target(report: Report, claims: Claims, found: list[list[object]]) -> Array:
    """Return y: numbers (n, outputs), 0 or 1 (n, 1), or one column of zeros and ones per class."""
    if claims.loss == "poisson":
        return _numbers(report, "every target is a number of at least 0", found[0], least=0.0)[:, None]
    if claims.classes is None:
        return np.column_stack([_numbers(report, "every target is a finite number", column) for column in found])
    codes = codes_of(report, claims.classes, found[0])
    return codes.astype(np.float64)[:, None] if claims.outputs == 1 else np.eye(len(claims.classes))[codes]


def codes_of(report: Report, classes: Sequence[object], column: Sequence[object]) -> npt.NDArray[np.intp]:
    """Return the number of every row's class; each class must occur."""
    codes, bad = [], ""
    try:
        codes = [class_of(cell, classes) for cell in column]
    except ValueError as error:
        bad = str(error)
    unused = sorted(set(range(len(classes))) - set(codes))
    if not bad and unused:
        bad = f"no training row is of class {classes[unused[0]]!r}"
    report.check("the classes are those of the training rows", not bad, bad or f"{len(classes)} classes")
    return np.array(codes, dtype=np.intp)


def _numbers(report: Report, sentence: str, column: Sequence[object], least: float = -np.inf) -> Array:
    bad = ""
    values = []
    for cell in column:
        try:
            values.append(cells.number(cell))
        except ValueError as error:
            bad = bad or str(error)
    if values and min(values) < least:
        bad = f"{min(values)!r} is below {least!r}"
    report.check(sentence, not bad, bad)
    return np.array(values)


def _charges(report: Report, claims: Claims, problem: Problem) -> None:
    """Check the charges of a penalty: none below zero, the intercept free, variances or their roots where the file says so."""
    charges = claims.stated
    if claims.strength > 0.0:
        free = not claims.intercept or charges[0] == 0.0
        report.check("no charge is below zero, and the intercept is not charged", bool(np.all(charges >= 0.0)) and free)
    if claims.stated_as not in ("variance", "sd"):
        return
    mean = problem.q @ problem.x
    variance = problem.q @ (problem.x - mean) ** 2
    variance[: int(claims.intercept)] = 0.0
    # a mean is known to about EPS times the largest entry; so much of it may remain in a variance
    slack = 1e-9 * variance + (64 * EPS * np.max(np.abs(problem.x), axis=0)) ** 2
    root = claims.stated_as == "sd"
    off = np.abs((charges**2 if root else charges) - variance) > slack
    worst = int(np.argmax(off))
    expected = float(variance[worst]) ** (0.5 if root else 1.0)
    report.check(
        f"the charge of every column is its {'standard deviation' if root else 'variance'} in the training rows",
        not bool(np.any(off)),
        f"{claims.columns[worst]}: {expected!r}, stated {float(charges[worst])!r}" if np.any(off) else "",
    )
