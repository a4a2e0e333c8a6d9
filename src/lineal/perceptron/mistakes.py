"""The least number of training mistakes of any halfspace, with bounds from both sides (perceptron/hitting_set_milp.py).

    F(w) = (1/S) sum_i s_i [z_i'w <= 0],  z_i = x_i for the second class, -x_i for the first

A row on the boundary is a mistake, unless ``tie`` gives the boundary to a class. With an intercept no rule does better than
another: a boundary can be moved by a hair.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from lineal.algebra.integers import floats, text, whole
from lineal.errors import InputError
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array, Index, Mask
from lineal.ground.deadline import Deadline
from lineal.ground.records import dataclass
from lineal.losses.loss import Loss
from lineal.model.trace import Trace
from lineal.model.verdict import TOLERANCE, Verdict
from lineal.penalties import NoPenalty
from lineal.perceptron.hitting_set_milp import BOUND_SLACK_SHARE, Covering
from lineal.perceptron.margins import check_units, widest
from lineal.problem.moments import Moments
from lineal.problem.problem import Problem
from lineal.separation.cloud import Cloud
from lineal.separation.gathering import gather
from lineal.separation.record import cloud_of
from lineal.sources import rowwise
from lineal.sources.source import Block, Source

Tie = Literal["mistake", "positive", "negative"]

DEFAULT_SECONDS = 60.0
"""Seconds, where no time limit is given."""

MAX_CELLS = 20_000_000
"""Larger tables are refused: the search would not end."""


@dataclass(frozen=True)
class Halfspace:
    """The halfspace of fewest mistakes that was found: ``coef`` (p,), the intercept first where there is one.

    ``mistakes`` is the weight of the rows it mistakes (their number, without weights), ``rows``; no halfspace has less than
    ``lower``. ``cuts`` prove it: for each, rows and whole weights a with sum a z = 0, of which every halfspace mistakes one.
    """

    coef: Array
    mistakes: float
    lower: float
    rows: tuple[int, ...]
    cuts: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    verdict: Verdict
    columns: tuple[str, ...]
    classes: tuple[Any, ...]

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return self.verdict.sentence

    def __str__(self) -> str:
        return self.sentence


def zero_one(
    X: Any,
    y: Any,
    *,
    intercept: bool = True,
    tie: Tie = "mistake",
    sample_weight: Any = None,
    time_limit: float = DEFAULT_SECONDS,
) -> Halfspace:
    """Return the halfspace with the least number (weight) of mistakes on the rows X with two classes y, and a lower bound.

    ``min over w of sum_i s_i [z_i'w <= 0]``, z_i = (1, x_i) for the second class and -(1, x_i) for the first. ``tie`` says
    what a row on the boundary is: a "mistake", or "positive" (of the second class) or "negative" (of the first). The verdict is
    ``optimal`` if the bounds meet, ``budget`` with both bounds if time runs out first: the work may double with every
    further mistake, so overlapping classes are solved up to about a hundred rows, nearly separable ones up to thousands.

    >>> best = zero_one([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> best.mistakes, best.lower, best.verdict.kind
    (1.0, 1.0, 'optimal')
    """
    cloud, names, labels = cloud_of(X, y, intercept=intercept, sample_weight=sample_weight)
    if len(labels) > 2:
        raise InputError(f"y has {len(labels)} classes; a halfspace tells two apart. Take them one by one or in pairs.")
    deadline = Deadline.given(time_limit)
    weight = np.ones(len(cloud.own)) if sample_weight is None else np.asarray(sample_weight, float)[cloud.numbers]
    if len(labels) == 1:  # then nothing is of the second class, whatever the only one is
        cloud = Cloud(cloud.x, np.zeros_like(cloud.own), 1, cloud.numbers)
    check_units(cloud, names)
    if tie not in ("mistake", "positive", "negative"):
        raise InputError(f"tie is {tie!r}; accepted are mistake, positive and negative.")
    return least(cloud, weight, names, labels, deadline=deadline, intercept=intercept, tie=tie)


def least(
    cloud: Cloud,
    weight: Array,
    columns: tuple[str, ...],
    classes: tuple[Any, ...],
    *,
    deadline: Deadline,
    intercept: bool,
    tol: float = TOLERANCE,
    tie: Tie = "mistake",
    interrupt: Literal["raise", "budget"] = "raise",
) -> Halfspace:
    """Return the halfspace of fewest mistakes for rows that are already gathered, each with a weight above zero."""
    if cloud.x.shape[0] * cloud.x.shape[1] > MAX_CELLS:
        raise InputError(
            f"the table has {cloud.x.shape[0]} rows and {cloud.x.shape[1]} columns; the exact least number of mistakes is for "
            "small tables. Use logistic regression or a support vector machine."
        )
    kept, place = _distinct(cloud)
    few = Cloud(cloud.x[kept], cloud.own[kept], 1, cloud.numbers[kept])
    unit, exact = _unit(weight)
    counts = np.bincount(place, weight / unit).astype(np.float64)
    strict = few.own != {"mistake": 2, "positive": 1, "negative": 0}[tie]
    # with an intercept every rule has the same minimum, reached without rows on the boundary
    search = Covering(few, counts, deadline, exact, intercept, strict | intercept)
    try:
        search.run()
    except KeyboardInterrupt:
        if interrupt == "raise":
            raise
        search.stopped = "interrupted"
    coef, missed = _chosen(few, search, strict)
    total = float(weight.sum())
    upper = float(weight[missed[place]].sum())
    lower = min(float(search.lower) * unit, upper)
    cuts = tuple(
        (tuple(few.numbers[list(key)].tolist()), tuple(int(a) for a in weights)) for key, weights in search.cuts.items()
    )
    constant = float(weight[strict[place]].sum())
    if intercept:
        constant = min(float(weight[cloud.own == k].sum()) for k in (0, 1))
    verdict = _verdict(upper, lower, max(constant, upper), total, search, cuts, tol, tie, bool(np.all(weight == 1.0)))
    rows = tuple(cloud.numbers[missed[place]].tolist())
    return Halfspace(coef, upper, lower, rows, cuts, verdict, tuple(columns), tuple(classes))


def has_offset(block: Block) -> bool:
    """Whether a block has offsets."""
    return block.offset is not None


def mistaking(
    source: Source,
    loss: Loss,
    moments: Moments,
    *,
    deadline: Deadline | None,
    tol: float,
    interrupt: Literal["raise", "budget"],
) -> Fit:
    """Return the halfspace of fewest mistakes on the rows of a source, as a fit."""
    names = source.columns
    if any(source.collect(has_offset)):
        raise InputError("a halfspace of fewest mistakes (zero-one) has no offset; leave the offset out.")
    weight = rowwise.weights(source)
    halfspace = least(
        gather(source),
        weight[weight > 0.0],
        names,
        (0, 1),
        deadline=deadline or Deadline.after(DEFAULT_SECONDS),
        intercept=names[:1] == ("(intercept)",),
        tol=tol,
        interrupt=interrupt,
    )
    problem = Problem.of(source, loss, NoPenalty(len(names)), moments)
    reason = "halfspaces counted in integers; rows of which every halfspace mistakes one are met by an integer program"
    objective = halfspace.mistakes / moments.weight_sum
    return Fit(halfspace.coef[:, None], halfspace.verdict, objective, "covering", reason, Trace(), problem)


def _distinct(cloud: Cloud) -> tuple[Index, Index]:
    """Return one of each set of equal rows of one class, and for every row the place of its own."""
    x = cloud.x.toarray() if hasattr(cloud.x, "toarray") else cloud.x
    table = np.column_stack([cloud.own, x + 0.0])  # -0.0 becomes 0.0
    _, kept, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return kept, np.asarray(place).reshape(-1)


def _unit(weight: Array) -> tuple[float, bool]:
    """Return a unit of the weights, and whether all of them are whole numbers of it."""
    if np.all(weight == weight[0]):
        return float(weight[0]), True
    if np.all(weight == np.floor(weight)) and weight.sum() < 1e6:
        return 1.0, True
    return float(weight.mean()), False


def _chosen(cloud: Cloud, search: Covering, strict: Mask) -> tuple[Array, Mask]:
    """Return the best halfspace as floats, and which rows it mistakes, counted exactly for these very floats.

    Of the halfspaces that are right on the same rows, the widest is taken: its floats stay right when they are rounded.
    """
    if search.direction is None:
        return np.zeros(cloud.x.shape[1]), strict
    start = floats(search.direction)
    right = cloud.signs(search.direction) > 0
    candidates = []
    if len(np.unique(cloud.own[right])) == 2 and search.strict.all():
        part = Cloud(cloud.x[right], cloud.own[right], 1, np.flatnonzero(right))
        candidates.append(widest(part, start[:, None], held=not search.intercept).coef[:, 0])
    candidates.append(start)
    counted = [(coef, np.asarray(cloud.signs(whole(coef)) < strict)) for coef in candidates]
    return min(counted, key=lambda pair: float(search.s[pair[1]].sum()))


def _verdict(
    upper: float,
    lower: float,
    constant: float,
    total: float,
    search: Covering,
    cuts: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...],
    tol: float,
    tie: Tie,
    plain: bool,
) -> Verdict:
    gap, gain = (upper - lower) / total, (constant - lower) / total
    # what rounding in a solver leaves counts in the gap, and as nothing in the relative gap
    relative = gap / gain if gain > 0.0 and gap > 4.0 * BOUND_SLACK_SHARE else 0.0
    evidence: dict[str, object] = {
        "objective": upper / total,
        "lower_bound": upper / total - gap,
        "null_objective": constant / total,
        "tol": tol,
        "tie": tie,
        "mistakes": upper,
        "least": lower,
        "cuts": [{"rows": list(rows), "weights": [text(a) for a in weights]} for rows, weights in cuts],
    }
    rows = "training rows" if plain else "units of weight"
    figures = f"gap {gap:.2g}, {100.0 * relative:.2g} %"
    if relative <= tol:
        sets = "1 set of rows" if len(cuts) == 1 else f"{len(cuts)} sets of rows"
        why = f"proven by {sets}, in each of which every halfspace has a mistake" if cuts else "proven"
        sentence = f"Optimal: no halfspace mistakes fewer than {upper:g} of {total:g} {rows} ({figures}; {why})."
        return Verdict("optimal", sentence, gap, relative, evidence)
    stopped = search.stopped or "rounding keeps the bounds apart"
    sentence = (
        f"Not optimal yet: {stopped}. This halfspace mistakes {upper:g} of {total:g} {rows}, and none fewer than {lower:g} "
        f"({figures}). The time an exact answer takes may double with every further mistake."
    )
    return Verdict("budget", sentence, gap, relative, evidence, stopped)
