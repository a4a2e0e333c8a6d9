"""Models of labels, of which a row has any number: every label has a member, or sparsemax shares rows out among labels.

A member is a model of two classes: 1 where a row has the label, 0 where it has not; rows of which it is not known have
weight 0. The verdict of the whole is that of the worst member.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import Array, summed, total
from lineal.verify.claims.ground import Ground, field, ground, texts
from lineal.verify.claims.model import Claims
from lineal.verify.claims.training import Arrays, Examples, chosen, examples, problem_of
from lineal.verify.evidence.members import Asked, check_rows, check_worst, take_members
from lineal.verify.evidence.verdicts import check_verdict
from lineal.verify.problem.formulas import Training
from lineal.verify.reading.labels import Labeled
from lineal.verify.reading.store import Watch, silent
from lineal.verify.reading.tables import Table
from lineal.verify.report import Report


@dataclass(frozen=True)
class Labels(Ground):
    """The claims of a model of labels: its rows, its own verdict, and those of its members."""

    verdict: Mapping[str, Any]
    members: list[Claims]


def take_labels(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Labels:
    """Return the claims of a file, or refuse it naming the field that is not as docs/model-file.md says."""
    names = texts(meta, "target.names")
    if field(meta, "target.kind", str) != "labels" or field(meta, "target.classes", type(None), list) is not None:
        raise ModelFileError("members without a code must have a target of labels, without classes.")
    members = take_members(meta, arrays, len(names))
    if not names or [member.targets for member in members] != [[name] for name in names]:
        raise ModelFileError("there must be one member for every label, called like it.")
    if any(member.outputs != 1 or member.loss is not members[0].loss for member in members):
        raise ModelFileError("the members must have one loss, with one output.")
    return Labels(**vars(ground(meta, None, names)), verdict=field(meta, "verdict", dict), members=members)


def check_labels(report: Report, claims: Labels, table: Table, watch: Watch = silent) -> None:
    """Check every member on its own rows, then that the verdict is the worst of theirs."""
    training = examples(report, claims, Labeled(table, claims.targets, claims.listing), watch)
    training.targets.check_labels(report)
    rows, weight = np.zeros(len(claims.members), dtype=np.int64), [[0.0] for _ in claims.members]
    for block in training.store:
        known = ~np.isnan(block["target"])
        rows += known.sum(axis=0)
        for number in range(len(claims.members)):
            weight[number].append(total(block["weight"][known[:, number]]))
    for number, member in enumerate(claims.members):
        part = Asked(report, f"member {number}, {member.targets[0]}")
        own = replace(training, rows=int(rows[number]), weight=summed(weight[number]))
        check_rows(part, member, own)
        check_verdict(part, member, _asked_of(part, member, own, number))
    check_worst(report, claims.members, claims.verdict, "label" + "s" * (len(claims.members) > 1), "that of")


def _asked_of(report: Report, member: Claims, training: Examples, number: int) -> Training:
    """Return the problem of a member: the rows of which its label is known."""

    def y_of(target: Array) -> Array:
        return target[:, number : number + 1]

    def known(arrays: Arrays) -> Arrays:
        return chosen(arrays, ~np.isnan(arrays["target"][:, number]))

    return problem_of(report, member, training, y_of, known)


def shared_problem(report: Report, claims: Claims, table: Table, watch: Watch = silent) -> Training:
    """Return the problem of a model that shares rows out: each row once for every of its m labels, with weight s / m.

    That is sparsemax's loss of the distribution that is 1 / m on the labels of a row, but for a constant of each row. Rows
    without labels, or of which one is not known, have none and are left out.
    """
    training = examples(report, claims, Labeled(table, claims.targets, claims.listing), watch)
    training.targets.check_labels(report)
    rows, weight = 0, [0.0]
    for block in training.store:
        kept = _there(block["target"]).any(axis=1)
        rows += int(np.sum(kept))
        weight.append(total(block["weight"][kept]))
    report.check("some rows have labels", rows > 0, f"{rows} of {training.rows}")
    own = replace(training, rows=rows, weight=summed(weight))
    return problem_of(report, claims, own, lambda target: target, _shares)


def _there(target: Array) -> npt.NDArray[np.bool_]:
    """Return which labels rows have that are shared out."""
    return np.asarray((target == 1.0) & ~np.any(np.isnan(target), axis=1)[:, None])


def _shares(arrays: Arrays) -> Arrays:
    """Return the rows of a block, each once for every label, with a target of 1 in that label's place."""
    there = _there(arrays["target"])
    places, labels = np.nonzero(there)
    taken = dict(chosen(arrays, places))
    taken["target"] = np.eye(there.shape[1])[labels]
    taken["weight"] = taken["weight"] / np.sum(there, axis=1)[places]
    return taken
