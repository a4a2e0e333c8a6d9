"""A perceptron as a fit: from the rows of a source and a few words to coefficients and a verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from lineal.errors import InputError
from lineal.fitting.stopping import Fit
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline
from lineal.losses import Perceptron
from lineal.losses.loss import Loss
from lineal.model.trace import Record
from lineal.penalties import NoPenalty
from lineal.perceptron.halfspace import judge
from lineal.perceptron.lengths import radius
from lineal.perceptron.perceptron import TIES, Plan, Run, present
from lineal.perceptron.scaling import Scaled, scaled
from lineal.problem.moments import Moments
from lineal.problem.problem import Problem
from lineal.sources.source import Source


def criterion(options: Mapping[str, str], classes: int) -> Perceptron:
    """Return the loss of a perceptron: what ties mean, and how many scores there are.

    >>> criterion({"tie": "positive"}, 2)
    Perceptron(scores=1, tie=1.0)
    """
    return Perceptron(1 if classes == 2 else classes, float(TIES[options.get("tie", "mistake")]))


def correcting(
    source: Source,
    loss: Loss,
    moments: Moments,
    options: Mapping[str, str],
    *,
    seed: int,
    start: Array | None = None,
    deadline: Deadline | None,
    progress: Callable[[Record], None] | None,
    interrupt: Literal["raise", "budget"],
) -> Fit:
    """Return a perceptron fitted to the rows of a source; ``options`` are those of ``perceptron:...``."""
    variant = options.get("variant", "plain")
    if variant == "voted":
        raise InputError(
            "a voted perceptron predicts by the votes of all its weights, and a model holds one; ask for perceptron:averaged, "
            "which predicts nearly the same, or use lineal.Perceptron(variant='voted') in Python."
        )
    plan = Plan(
        tie=options.get("tie", "mistake"),  # type: ignore[arg-type]
        variant=variant,  # type: ignore[arg-type]
        epochs=int(options.get("epochs", "100")),
        seed=None if options.get("order") == "given" else seed,
        deadline=deadline,
        interrupt=interrupt,
        progress=progress,
    )
    run, change = standardized(source, moments, loss.outputs, plan, start, raw=options.get("columns") == "raw")
    ask = run.stopped != "it was interrupted" and not (deadline is not None and deadline.passed)
    judged = judge(
        source,
        run,
        plan,
        oracle=ask,
        bound=options.get("bound") == "yes",
        zero=not np.any(start),
        standardized=change is not None,
        deadline=deadline,
    )
    problem = Problem.of(source, loss, NoPenalty(len(source.columns)), moments)
    reason = f"{variant}, {'rows as they come' if plan.seed is None else f'rows in drawn orders (seed {seed})'}"
    return Fit(judged.coef, judged.verdict, float("nan"), "perceptron", reason, run.trace, problem)


def standardized(
    source: Source, moments: Moments, outputs: int, plan: Plan, start: Array | None = None, *, raw: bool = False
) -> tuple[Run, Scaled | None]:
    """Return a run on standardized columns, its weights carried over to the columns as they are; and the change.

    ``start`` are weights of the columns that the run sees; the steps of its ledger are in these columns too. A change that
    changes nothing is None, and so it is with ``raw``.
    """
    change = None if raw else scaled(source, moments)
    if change is None or (not np.any(change.shift) and np.all(change.scale == 1.0)):
        return present(source, outputs, plan, start), None
    run = present(source.map(change, keep=True), outputs, plan, start)
    average = None if run.average is None else change.inner_coef(run.average)
    pocket = None if run.pocket is None else change.inner_coef(run.pocket)
    coef = change.inner_coef(run.coef)
    return replace(run, coef=coef, average=average, pocket=pocket, radius=radius(source)), change


def majority(moments: Moments) -> Array:
    """Return the constant scores that speak for the heaviest class."""
    share = moments.statistic / moments.weight_sum
    return np.sign(share - 0.5) if len(share) == 1 else (share == share.max()).astype(np.float64)
