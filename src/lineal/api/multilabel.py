"""Labels of which a row has any number: a binary model for each, on the rows where it is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from lineal.api.dataset import Dataset
from lineal.api.options import ModelRequest
from lineal.api.reductions import View, reduce, spoken
from lineal.api.request import Run
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.records import dataclass
from lineal.losses import Squared
from lineal.metrics.labels import LabelScore
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.verdict import worst
from lineal.multiclass.multilabel import MultiLabel, SharedLabels
from lineal.problem.moments import Moments, survey
from lineal.sources.source import Block

SHARING: Final = "sparsemax"
"""The model that shares rows out among their labels instead of asking of each label."""


@dataclass(frozen=True)
class Mark:
    """A block as the member of one label sees it: y is 1 with the label and 0 without; where not known, weight 0."""

    label: int

    def __call__(self, block: Block) -> Block:
        """Return the block with its targets and weights replaced."""
        marks = block.y[:, self.label]
        known = ~np.isnan(marks)
        weight = block.weight
        if not known.all():
            weight = known.astype(np.float64) if weight is None else np.where(known, weight, 0.0)
        return replace(block, y=(marks == 1.0).astype(np.float64)[:, None], weight=weight)


@dataclass(frozen=True)
class Shares:
    """A block with every row once for each of its m labels, as a class, with weight ``s / m``.

    The loss of sparsemax is linear in the distribution q that it is to meet, but for a constant:
    ``loss(q, eta) = sum_k q_k loss(k, eta) - (1 - |q|^2) / 2``, so the sum over these rows is that of q = 1 / m on the labels of
    a row. A row without labels, or with one that is not known, has no such q and is left out.
    """

    def __call__(self, block: Block) -> Block:
        """Return the block with its rows repeated."""
        there = (block.y == 1.0) & ~np.isnan(block.y).any(axis=1, keepdims=True)
        rows, labels = np.nonzero(there)
        weight = np.ones(block.n_rows) if block.weight is None else block.weight
        return replace(
            block,
            design=block.design.take_rows(rows),
            y=labels[:, None].astype(np.float64),
            weight=weight[rows] / there.sum(axis=1)[rows],
            offset=None if block.offset is None else block.offset[rows],
        )


@dataclass(frozen=True)
class Unmarked:
    """A block without targets: what all members have in common."""

    def __call__(self, block: Block) -> Block:
        """Return the block with zeros for its targets."""
        return replace(block, y=np.zeros((block.n_rows, 1)))


def check_labels(model: ModelRequest, scheme: str, start: object, *, iterates: bool) -> None:
    """Refuse what labels cannot be asked for with."""
    if scheme != "direct":
        raise InputError(
            f"multiclass {scheme} is for classes, of which a row has one; a row has any number of labels, and each has a model "
            "of its own already: leave it out."
        )
    if (start is not None or iterates) and model.name != SHARING:
        what = "a start is" if start is not None else "iterates are"
        raise InputError(f"{what} for one fit, and every label has its own; leave it out, or fit one label.")


def fit_labels(
    dataset: Dataset, run: Run, fit: Callable[[Dataset, Run], Model]
) -> tuple[MultiLabel, LabelScore, Array]:
    """Fit a member for every label; return the whole, what measures it, and the variance of the columns."""
    names = dataset.target.names or ()
    asked: Sequence[tuple[str, View]] = [(name, Mark(number)) for number, name in enumerate(names)]
    members = reduce(dataset, asked, run, fit)
    if any(member.feature_map is not None or member.verdict.kind == "exact" for member in members):
        raise InputError(f"{members[0].heading} is made of its training rows, others for each label; fit one label.")
    moments, variance = _surveyed(dataset)
    place, first = worst([member.verdict for member in members]), members[0]
    several = "1 label, with" if len(names) == 1 else f"{len(names)} labels, each with"
    whole = MultiLabel(
        coef=np.column_stack([member.coef for member in members]),
        columns=first.columns,
        loss=first.loss,
        penalty=first.penalty,
        target=dataset.target,
        verdict=spoken(
            members, place, f"label{'' if len(members) == 1 else 's'} ({{kinds}}), that of {members[place].target.name}"
        ),
        encoder=dataset.encoder,
        solver=first.solver,
        reason=f"{first.reason}; one of {len(members)} members",
        tol=first.tol,
        roles=dataset.roles,
        training={"rows": moments.rows, "weight_sum": moments.weight_sum, **dataset.training},
        report={
            "model": f"{first.heading}, one for each of {len(names)} label{'' if len(names) == 1 else 's'}",
            "labels": {"sentence": f"{several} a binary model of its own"},
        },
        members=members,
    )
    return whole, whole.measure(), variance


def share_labels(
    dataset: Dataset, run: Run, fit: Callable[[Dataset, Run], Model]
) -> tuple[SharedLabels, LabelScore, Array]:
    """Fit one model that shares every row out among its labels; return it, what measures it, and the columns' variance."""
    names = dataset.target.names or ()
    if len(names) == 1:
        raise InputError("model sparsemax shares rows out among labels, and there is one; ask for logistic.")
    view = Shares()
    shared = replace(
        dataset,
        train=dataset.train.map(view, keep=True),
        validation=None if dataset.validation is None else dataset.validation.map(view, keep=True),
        test=None,
        target=Target(dataset.target.name, "classes", classes=names),
        training={},
        about={},
    )
    fitted = fit(shared, run)
    moments, variance = _surveyed(dataset)
    known = {
        name: getattr(fitted, name) for name in ("coef", "columns", "loss", "penalty", "verdict", "encoder", "solver")
    }
    whole = SharedLabels(
        **known,
        reason=fitted.reason,
        tol=fitted.tol,
        roles=dataset.roles,
        target=dataset.target,
        training={"rows": moments.rows, "weight_sum": moments.weight_sum, **dataset.training},
        report={**fitted.report, "model": f"{fitted.heading}, each row shared out among its labels"},
        arrays=fitted.arrays,
        trace=fitted.trace,
    )
    return whole, whole.measure(), variance


def _surveyed(dataset: Dataset) -> tuple[Moments, Array]:
    """Return the moments of all rows, whatever their labels, and the variance of every column."""
    moments = survey(dataset.train.map(Unmarked()), Squared(1))
    variance = moments.scatter / moments.weight_sum
    variance[: int(dataset.train.columns[:1] == ("(intercept)",))] = 0.0
    return moments, variance


def levels(model: MultiLabel | SharedLabels) -> Array:
    """Return the best constant score of every label; NaN where one has none that is finite."""
    if isinstance(model, SharedLabels):
        return np.array(model.report["baseline_score"] or [np.nan])
    stated = [member.report.get("baseline_score") for member in model.members]
    return np.array([np.nan if not level else float(level[0]) for level in stated])
