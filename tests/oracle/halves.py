"""Is an answer of ``lineal.separability`` true? The simplex method in whole numbers says so; arithmetic checks the witness."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse
from flint import fmpz_mat

import lineal

from . import designs
from .doors import Case
from .infinity import Rows, gains, separation, short
from .judge import Violation
from .outcome import Outcome, known


def drawn(seed: int, index: int, only: str | None = None, *, plain: bool = False) -> Case:
    """Return question number ``index`` of a seed."""
    draw = np.random.default_rng([seed, index, 1])
    x, tags = designs.matrix(draw, only, plain=plain)
    x = np.repeat(x, 3, axis=0) if len(x) < 3 else x[:25]
    y, tag = designs.classes(draw, x, int(draw.choice([2, 2, 3])), plain=plain)
    weight, heavy = designs.weights(draw, len(x), plain=plain)
    X, store = designs.stored(draw, x)
    params = {} if draw.random() < 0.8 else {"intercept": False}
    return Case("separability", params, X, y, weight, None, [*tags, tag, f"weights {heavy}", store])


def _rows(case: Case) -> tuple[list[list[Fraction]], list[int], int, dict[int, int]]:
    """Return the rows of positive weight, their classes, the number of outputs, and where each row of X went."""
    dense = case.X.toarray() if scipy.sparse.issparse(case.X) else np.asarray(case.X)
    keep = [i for i in range(len(dense)) if case.weight is None or case.weight[i] > 0]
    one = [Fraction(1)] if case.params.get("intercept", True) else []
    rows = [[*one, *(Fraction(v.item()) for v in dense[i])] for i in keep]
    labels, own = np.unique(np.asarray(case.y)[keep], return_inverse=True)
    return rows, own.tolist(), 1 if len(labels) < 3 else len(labels), {i: place for place, i in enumerate(keep)}


def _whole(rows: list[list[Fraction]]) -> Rows:
    """Return rows in whole numbers, each column scaled."""
    common = [max(row[j].denominator for row in rows) for j in range(len(rows[0]))]
    return [[int(v * c) for v, c in zip(row, common, strict=True)] for row in rows]


def ask(case: Case) -> tuple[Any, list[Violation]]:
    """Ask the question, and return the answer with everything that is false in it."""
    answer = lineal.separability(case.X, case.y, sample_weight=case.weight, **case.params)
    rows, own, outputs, places = _rows(case)
    truth = separation(short(_whole(rows), case.params.get("intercept", True)), own, outputs)
    if answer.kind == "budget":
        return answer, []
    if answer.kind != truth:
        return answer, [Violation("separability", math.inf, f"{answer.kind}, but {truth}")]
    bad = [*_direction(answer, rows, own, outputs), *_weights(answer, rows, own, outputs, places)]
    return answer, [Violation("witness", math.inf, f"{answer.kind}: {words}") for words in bad]


def outcomes(case: Case) -> list[Outcome]:
    """Ask the question, and return what came of it."""
    answer, violations = ask(case)
    return [known("separability", answer.kind, str(answer), violations)]


def _direction(answer: Any, rows: list[list[Fraction]], own: list[int], outputs: int) -> list[str]:
    if answer.kind == "overlap":
        return []
    d = [[Fraction(int(v)) for v in row] for row in answer.witness.direction]
    found = []
    for row, y in zip(rows, own, strict=True):
        score = [sum((v * d[j][c] for j, v in enumerate(row)), Fraction(0)) for c in range(outputs)]
        if outputs == 1:
            found.append(score[0] if y == 1 else -score[0])
        else:
            found += [score[y] - v for c, v in enumerate(score) if c != y]
    if answer.kind == "complete":
        return [] if min(found) > 0 else ["a row is not on its side"]
    return [] if min(found) >= 0 and max(found) > 0 else ["a row is on the wrong side"]


def _weights(
    answer: Any, rows: list[list[Fraction]], own: list[int], outputs: int, places: dict[int, int]
) -> list[str]:
    if answer.kind == "complete":
        return []
    witness = answer.witness
    whole = _whole(rows)
    chosen = []
    for place, number in enumerate(witness.rows):
        i = places[number]
        z = gains([whole[i]], [own[i]], outputs)
        against = None if witness.against is None else witness.against[place]
        chosen.append(z[0] if against is None else z[against - int(against > own[i])])
    total = [
        sum(int(a) * v for a, v in zip(witness.weights, column, strict=True)) for column in zip(*chosen, strict=True)
    ]
    if any(total) or min(int(a) for a in witness.weights) <= 0:
        return ["the weighted sum is not zero"]
    every = gains(whole, own, outputs)
    if answer.kind == "overlap" and fmpz_mat(chosen).rank() < fmpz_mat(every).rank():
        return ["its rows do not span all others"]
    return []
