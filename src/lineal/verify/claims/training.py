"""From the data file to the training problem, each step checked against what the model file says about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import near
from lineal.verify import terms
from lineal.verify.arithmetic import EPS, Array, summed, total
from lineal.verify.claims.factors import penalty_factors
from lineal.verify.claims.ground import Ground, plain_numbers
from lineal.verify.claims.model import Claims
from lineal.verify.claims.targets import Targets, finite
from lineal.verify.problem.formulas import Problem, Streamed, Training
from lineal.verify.reading import cells
from lineal.verify.reading.cells import BLOCK_ROWS, Cells
from lineal.verify.reading.fingerprint import Fingerprint
from lineal.verify.reading.split import Split
from lineal.verify.reading.store import Store, Watch, silent
from lineal.verify.reading.tables import Table
from lineal.verify.report import Report

Columns = dict[str, cells.Column]
Arrays = Mapping[str, npt.NDArray[Any]]
COUNT_COLUMN = "(count)"
"""The weight of a row of a table of counts: the count, times the row's own weight."""


@dataclass(frozen=True)
class Examples:
    """The training rows of positive weight in a store: x, target, weight, offset, numbers among all training rows.

    A target is a column of numbers for every output (1, 0 or NaN for a label), or one of
    class numbers. ``every`` counts all training rows.
    """

    store: Store
    rows: int
    every: int
    weight: float
    targets: Targets


def examples(report: Report, ground: Ground, table: Table, watch: Watch = silent) -> Examples:
    """Return the rows a file was made from; every step on the way is a checked line."""
    absent = [name for name in ground.read if not table.has(name)]
    hint = f"{absent[0]!r} is not there.{near(absent[0], table.names)}" if absent else f"{len(ground.needed)} columns"
    report.check("the data has every column that the model uses", not absent, hint)
    gathering, split = _Gathering(ground, table.zero, watch), Split(ground.split, ground.divider, table)
    rows = min(BLOCK_ROWS, max(64, 2**21 // max(1, len(ground.columns))))  # 16 MB of numbers, or 64 rows
    for block in table.blocks(ground.read, rows):
        gathering.take(block, split.fitted(block))
        watch("reading", block.share)
    return gathering.checked(report)


class _Gathering:
    """The training rows as they are read: encoded, and counted and hashed on the way."""

    def __init__(self, ground: Ground, zero: bool, watch: Watch) -> None:
        self._ground, self._zero = ground, zero
        self._store, self._targets = Store(watch), Targets(ground)
        self._every = self._rows = self._without = self._read = self._gappy = 0
        self._weights: list[float] = []
        kinds = dict(ground.needed)
        if ground.counts is not None:
            kinds = {name: kind for name, kind in kinds.items() if name not in (*ground.counts, ground.weight)}
            kinds |= {ground.targets[0]: "t", COUNT_COLUMN: "n"}
        self._hash = None if ground.fingerprint is None else Fingerprint(kinds)
        self._learners = [terms.Learner(term) for term in ground.terms]
        self._wrong: dict[int, str] = {}
        self._bad = dict.fromkeys(("hash", "weight", "offset"), "")

    def take(self, block: Cells, fitted: npt.NDArray[np.bool_]) -> None:
        """Take the next rows of the file, of which some are ``fitted``."""
        ground = self._ground
        absent = [cells.gone(block.column(name)) for name in ground.counts or ground.targets]
        lost = np.logical_and.reduce(absent) if ground.labels else np.logical_or.reduce(absent)
        gaps = self._gaps(block)
        self._gappy += int(np.sum(gaps & fitted))
        fitted = fitted & ~gaps
        self._without += int(np.sum(lost & fitted))
        kept = np.flatnonzero(fitted & ~lost)
        self._read += len(kept)
        columns: Columns = {}
        for name, kind in ground.needed.items():
            column = _picked(block.column(name), kept)
            columns[name] = cells.settled(column) if kind == "n" else column
        if ground.counts is not None:
            columns = _counted(ground, columns)
        if self._hash is not None and not self._bad["hash"]:
            try:
                self._hash.see(columns)
            except ValueError as error:
                self._bad["hash"] = str(error)
        self._encode(columns, len(kept) * (1 if ground.counts is None else 2))

    def _gaps(self, block: Cells) -> npt.NDArray[np.bool_]:
        """Return which rows lack a cell in a column that the file says has none: they were not fitted."""
        gaps = np.zeros(block.rows, dtype=bool)
        for name in self._ground.complete:
            gaps |= cells.gone(block.column(name))
        for term in self._ground.terms:
            if term.get("markers") and term["column"] in self._ground.complete:
                marks = set(term["markers"])
                gaps |= np.array([text in marks for text in cells.texts(block.column(term["column"]))], dtype=bool)
        return gaps

    def _encode(self, columns: Columns, rows: int) -> None:
        ground = self._ground
        weight, offset = np.ones(rows), np.zeros((rows, 1))
        heavy = ground.weight if ground.counts is None else COUNT_COLUMN
        if heavy is not None:
            weight = self._plain("weight", columns[heavy], least=0.0)
        if ground.offset is not None:
            offset = self._plain("offset", columns[ground.offset])[:, None]
        seen = weight > 0.0
        target = self._targets.read([columns[name] for name in ground.targets], seen)
        parts: list[Array] = [np.ones(rows)] if ground.intercept else []
        for place, (term, learner) in enumerate(zip(ground.terms, self._learners, strict=True)):
            if place in self._wrong:
                continue
            try:
                parts += [finite(columns[term["column"]])] if plain_numbers(term) else terms.values(term, columns)
                if not (self._zero or plain_numbers(term)):
                    learner.see(columns)
            except ValueError as error:
                self._wrong[place] = str(error)
        numbers = np.arange(self._every, self._every + rows)
        self._every += rows
        self._rows += int(np.sum(seen))
        self._weights.append(total(weight))
        if rows and not self._wrong:
            x = np.asfortranarray(np.column_stack(parts)) if parts else np.zeros((rows, 0))
            whole = {"x": x, "target": target, "weight": weight, "offset": offset, "numbers": numbers}
            every = bool(np.all(seen))
            self._store.append({name: array if every else _rows(array, seen) for name, array in whole.items()})

    def _plain(self, name: str, column: cells.Column, least: float = -math.inf) -> Array:
        """Return weights or offsets; zeros where they are not numbers, which is kept for the line that says so."""
        bad = ""
        try:
            numbers = finite(column)
            if np.min(numbers, initial=math.inf) < least:
                bad = f"{float(np.min(numbers))!r} is below {least!r}"
        except ValueError as error:
            numbers, bad = np.zeros(len(column)), str(error)
        self._bad[name] = self._bad[name] or bad
        return numbers

    def checked(self, report: Report) -> Examples:
        """Return the rows, every line about them checked."""
        ground = self._ground
        if ground.complete:
            words = f"rows that lack a cell in one of {len(ground.complete)} columns are not fitted, as the file says"
            report.check(words, True, f"{self._gappy} of the rows that are not held out")
        report.check(
            "the number of rows without a target is as stated",
            self._without == ground.without_target,
            f"{self._without} of the rows that are not held out, stated {ground.without_target}",
        )
        if self._hash is None or ground.fingerprint is None:
            report.check("no fingerprint is stated, so everything below is proved about the data as given", True)
        else:
            computed = "" if self._bad["hash"] else self._hash.digest()
            stated = f"{computed[:19]}..., stated {ground.fingerprint[:19]}..."
            report.check(
                "the training rows are those the model was fitted on (fingerprint)",
                computed == ground.fingerprint,
                self._bad["hash"] or f"{self._read} rows of {len(ground.needed)} columns, {stated}",
            )
        self._check_terms(report)
        if ground.weight is not None or ground.counts is not None:
            report.check("every weight is a number of at least 0", not self._bad["weight"], self._bad["weight"])
        if ground.offset is not None:
            report.check("every offset is a finite number", not self._bad["offset"], self._bad["offset"])
        whole = summed(self._weights)
        report.check(
            "the number of training rows is as stated",
            self._rows == ground.rows and ground.rows > 0,
            f"{self._rows} rows of positive weight, stated {ground.rows}",
        )
        report.check(
            "the sum of the weights is as stated",
            abs(whole - ground.weight_sum) <= (self._every + 8) * EPS * whole,
            f"{whole!r}, stated {ground.weight_sum!r}",
        )
        return Examples(self._store, self._rows, self._every, whole, self._targets)

    def _check_terms(self, report: Report) -> None:
        """Each term must be what its training cells teach (an absent feature of an SVMlight file is zero)."""
        wrong: dict[str, str] = {}
        for place, (term, learner) in enumerate(zip(self._ground.terms, self._learners, strict=True)):
            problem = self._wrong.get(place)
            if problem is None and not plain_numbers(term):
                problem = _zero_fill(term) if self._zero else learner.wrong()
            if problem is not None:
                wrong.setdefault(term["kind"], f"{':'.join(name for name, _ in terms.inputs(term))!r}: {problem}")
        for kind in dict.fromkeys(term["kind"] for term in self._ground.terms):
            count = sum(term["kind"] == kind for term in self._ground.terms)
            report.check(f"every {kind} term is what these rows teach", kind not in wrong, wrong.get(kind, f"{count}"))


def chosen(arrays: Arrays, rows: npt.NDArray[Any]) -> Arrays:
    """Return some rows of a block, by a mask or by their places."""
    return {name: _rows(array, rows) for name, array in arrays.items()}


def _picked(column: cells.Column, kept: npt.NDArray[np.intp]) -> cells.Column:
    """Return some cells of a column."""
    if len(kept) == len(column):
        return column
    return column[kept] if isinstance(column, np.ndarray) else [column[row] for row in kept.tolist()]


def _rows(array: npt.NDArray[Any], seen: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asfortranarray(array[seen]) if array.ndim > 1 else array[seen]


def _counted(ground: Ground, columns: Columns) -> Columns:
    """Return every row twice: a success weighted by its count of them, then a failure weighted by its count."""
    assert ground.counts is not None
    success, failure = ground.counts
    doubled: Columns = {
        name: [cell for cell in cells.listed(column) for _ in range(2)] for name, column in columns.items()
    }
    rows = len(columns[success])
    doubled[ground.targets[0]] = [success, failure] * rows
    share = np.ones(rows) if ground.weight is None else columns[ground.weight]
    try:
        counts = np.column_stack([cells.numbers(columns[name]) for name in ground.counts])
        doubled[COUNT_COLUMN] = (counts * cells.numbers(share)[:, None]).ravel()
    except ValueError:  # a cell is no number; the line that needs it will say so
        both = (cells.listed(columns[name]) for name in ground.counts)
        doubled[COUNT_COLUMN] = [cell for pair in zip(*both, strict=True) for cell in pair]
    return doubled


def training_problem(report: Report, claims: Claims, table: Table, watch: Watch = silent) -> Training:
    """Return the problem the model was fitted to."""
    training = examples(report, claims, table, watch)
    if claims.classes is not None:
        training.targets.check_classes(report)
    else:
        training.targets.check_numbers(report, claims.loss.least_target)
    count = 0 if claims.classes is None or claims.outputs == 1 else len(claims.classes)
    return problem_of(
        report, claims, training, lambda target: np.eye(count)[target[:, 0].astype(np.intp)] if count else target
    )


def problem_of(
    report: Report,
    claims: Claims,
    training: Examples,
    y_of: Callable[[Array], Array],
    view: Callable[[Arrays], Arrays] | None = None,
) -> Training:
    """Return the problem of the ``training`` rows, or of what a ``view`` makes of them; count and weight are those after it.

    Its penalty factors are checked.
    """
    theta = claims.arrays.get("theta")
    if theta is not None:
        report.check(
            "the dual point has a row for every training row", len(theta) == training.every, f"{len(theta)} rows"
        )

    def made(arrays: Arrays) -> Problem:
        arrays = arrays if view is None else view(arrays)
        return Problem(
            loss=claims.loss,
            x=arrays["x"],
            y=y_of(arrays["target"]),
            q=arrays["weight"] / training.weight,
            offset=arrays["offset"],
            penalty=claims.penalty,
            intercept=claims.intercept,
            numbers=arrays["numbers"],
            parameter=claims.parameter,
            theta=None if theta is None else theta[arrays["numbers"]],
            weight=arrays["weight"],
        )

    problem: Training = Streamed(
        loss=claims.loss,
        store=training.store,
        make=made,
        penalty=claims.penalty,
        intercept=claims.intercept,
        rows=training.rows,
        columns=len(claims.columns),
        outputs=claims.outputs,
        parameter=claims.parameter,
    )
    if len(training.store) == 1:
        problem = problem.whole()
    penalty_factors(report, claims, problem)
    return _about(report, claims, problem)


def _about(report: Report, claims: Claims, problem: Training) -> Training:
    """Return the problem about the center that the file keeps, if any: ``eta = (x - center) b``, the same objective.

    ``x - center`` is a double if both ways back are exact; an unpenalized intercept makes up for the center.
    """
    center = claims.arrays.get("center")
    if center is None:
        return problem
    free = claims.intercept and center[0] == 0.0 and 0 in problem.unpenalized
    report.check("the center leaves the intercept alone, which is not charged", free)
    exact = all(
        np.all((block.x - center + center == block.x) & (block.x - (block.x - center) == center))
        for block in problem.blocks()
    )
    report.check("every number less its center is a double", exact)
    return problem.changed(lambda block: replace(block, x=block.x - center), problem.penalty)


def _zero_fill(term: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a term of a file in which an absent number is zero; None if nothing is."""
    return None if term.get("fill") == 0.0 else "the fill must be 0"
