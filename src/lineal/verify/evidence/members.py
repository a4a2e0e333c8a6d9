"""Committees: one-vs-rest, one-vs-one and output codes. The code is what it must be, and every member is proved on its own.

A member is a model of two classes: 1 where the code has 1 for a row's class, 0 where it has -1; rows of a class with 0 have
weight 0. The verdict of the committee is that of its worst member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.errors import ModelFileError
from lineal.verify.arithmetic import EPS, Array, total
from lineal.verify.claims.ground import Ground, field, ground
from lineal.verify.claims.model import Claims, take_apart
from lineal.verify.claims.training import Arrays, Examples, chosen, examples, problem_of
from lineal.verify.evidence.verdicts import check_verdict
from lineal.verify.problem.formulas import Training
from lineal.verify.reading.store import Watch, silent
from lineal.verify.reading.tables import Table
from lineal.verify.report import Report

WORST_KINDS = ("infeasible", "at_infinity", "budget", "not_separable")
"""Kinds that leave something open, the worst first."""

Words = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Committee(Ground):
    """The claims of a committee: its rows, its code, its own verdict, and those of its members."""

    scheme: str
    words: Words
    distance: int
    decode: str
    verdict: Mapping[str, Any]
    members: list[Claims]


class Asked(Report):
    """The report of a member: its lines are those of the whole, each with what the member was asked."""

    def __init__(self, whole: Report, name: str) -> None:
        super().__init__(whole.model, whole.data, whole.lines)
        self._name = name

    def check(self, sentence: str, passed: bool, detail: str = "") -> None:
        """Add a line that names the member."""
        super().check(f"{self._name}: {sentence}", passed, detail)


def take_committee(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Committee:
    """Return the claims of a committee's file, or refuse it naming the field that is not as docs/model-file.md says."""
    classes = field(meta, "target.classes", list)
    if field(meta, "target.kind", str) != "classes" or len(set(map(repr, classes))) != len(classes) or len(classes) < 3:
        raise ModelFileError("target.classes must name at least three different classes.")
    words = field(meta, "multiclass.code", list)
    fine = all(isinstance(word, list) and all(type(entry) is int for entry in word) for word in words)
    if not fine or len(words) != len(classes) or len({len(word) for word in words}) != 1:
        raise ModelFileError("multiclass.code must hold one word of whole numbers for every class.")
    members = take_members(meta, arrays, len(words[0]))
    return Committee(
        **vars(ground(meta, classes, [field(meta, "target.name", str)])),
        scheme=field(meta, "multiclass.scheme", str),
        words=np.array(words, dtype=np.int64),
        distance=field(meta, "multiclass.distance", int),
        decode=field(meta, "multiclass.decode", str) if "decode" in field(meta, "multiclass", dict) else "distance",
        verdict=field(meta, "verdict", dict),
        members=members,
    )


def take_members(meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], count: int) -> list[Claims]:
    """Return the claims of every member; what all have in common is said once."""
    listed = field(meta, "members", list)
    if len(listed) != count:
        raise ModelFileError("there must be one member for every question.")
    if any(name.partition(".")[0] not in map(str, range(len(listed))) for name in arrays):
        raise ModelFileError("an array of the model file belongs to no member.")
    members = []
    for number, part in enumerate(listed):
        shared = ("format", "version", "made_by", "columns", "encoder", "roles", "tol")
        whole = {name: meta[name] for name in shared if name in meta}
        training = {**field(meta, "training", dict), **field(part, "training", dict)}
        training.pop("labels", None)  # they are those of the whole
        own = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{number}.")}
        claims = take_apart({**part, **whole, "training": training, "version": 1}, own)  # the hash is the committee's
        if claims.classes != [False, True]:
            raise ModelFileError(f"member {number} must have the classes false and true.")
        members.append(claims)
    return members


def check_committee(report: Report, claims: Committee, table: Table, watch: Watch = silent) -> None:
    """Check the code, then every member on its own rows, then that the verdict is the worst of theirs."""
    _code(report, claims)
    training = examples(report, claims, table, watch)
    training.targets.check_classes(report)
    rows, weight = np.zeros(len(claims.words), dtype=np.int64), np.zeros(len(claims.words))
    for block in training.store:
        codes = block["target"][:, 0].astype(np.intp)
        rows += np.bincount(codes, minlength=len(rows))
        weight += np.bincount(codes, block["weight"], minlength=len(rows))
    for number, member in enumerate(claims.members):
        part, word = Asked(report, f"member {number}, {member.targets[0]}"), claims.words[:, number]
        own = replace(training, rows=int(rows[word != 0].sum()), weight=total(weight[word != 0]))
        part.check("it is asked what its place of the code says", member.targets[0] == _asked(claims, number))
        check_rows(part, member, own)
        check_verdict(part, member, _asked_of(part, member, own, word))
    check_worst(report, claims.members, claims.verdict, "members", "the one asked whether")


def check_rows(report: Report, member: Claims, own: Examples) -> None:
    """Check how many rows a member has, and their weight."""
    report.check(
        "the number of its rows and their weight are as stated",
        own.rows == member.rows and abs(own.weight - member.weight_sum) <= (own.every + 8) * EPS * own.weight,
        f"{own.rows} rows of weight {own.weight!r}, stated {member.rows} and {member.weight_sum!r}",
    )


def _asked_of(report: Report, member: Claims, training: Examples, word: Words) -> Training:
    """Return the problem of a member: the rows whose class its place of the code asks about."""

    def y_of(target: Array) -> Array:
        yes = word[target[:, 0].astype(np.intp)] > 0
        return yes.astype(np.float64)[:, None] if member.outputs == 1 else np.eye(2)[yes.astype(np.intp)]

    def asked(arrays: Arrays) -> Arrays:
        return chosen(arrays, word[arrays["target"][:, 0].astype(np.intp)] != 0)

    return problem_of(report, member, training, y_of, asked)


def _code(report: Report, claims: Committee) -> None:
    """Check that the code is that of its scheme, and its least distance."""
    words, kinds = claims.words, len(claims.words)
    bad = ""
    if claims.scheme == "ovr":
        bad = "" if np.array_equal(words, 2 * np.eye(kinds, dtype=np.int64) - 1) else "it is not one against the rest"
    elif claims.scheme == "ovo":
        pairs = [tuple(np.flatnonzero(column).tolist()) for column in words.T]
        signs = all(words[a, k] == -1 and words[b, k] == 1 for k, (a, b) in enumerate(p for p in pairs if len(p) == 2))
        bad = "" if pairs == list(combinations(range(kinds), 2)) and signs else "it is not every pair of classes once"
    elif claims.scheme == "ecoc":
        if not np.all(np.abs(words) <= 1):
            bad = "an entry is none of 1, 0 and -1"
        elif not all(np.any(words[a] * words[b] == -1) for a, b in combinations(range(kinds), 2)):
            bad = "two classes have the same word"
        elif not all({-1, 1} <= set(column) for column in words.T.tolist()):
            bad = "a question has the same answer for every class"
        elif len({tuple((column * column[column != 0][0]).tolist()) for column in words.T}) < words.shape[1]:
            bad = "two questions are the same, or each other's negation"
    else:
        bad = f"this checker does not know the scheme {claims.scheme!r}"
    known = ("distance", "logistic", "hinge", "squared-hinge") if claims.scheme == "ecoc" else ("distance",)
    report.check("how answers are read is known", claims.decode in known, claims.decode)
    report.check(
        "the code tells every class apart, and asks nothing twice", not bad, bad or f"{words.shape[1]} members"
    )
    least = min(int(np.sum(words[a] * words[b] == -1)) for a, b in combinations(range(kinds), 2))
    report.check(
        "two code words differ in at least so many places as stated",
        least == claims.distance,
        f"{least}, stated {claims.distance}",
    )


def _asked(claims: Committee, number: int) -> str:
    """Return a member's question in words."""
    labels = [str(label) for label in claims.classes or []]
    yes = [label for label, entry in zip(labels, claims.words[:, number], strict=True) if entry > 0]
    no = [label for label, entry in zip(labels, claims.words[:, number], strict=True) if entry < 0]
    shown = " or ".join(yes[:6]) + (f" or {len(yes) - 6} more (question {number})" if len(yes) > 6 else "")
    others = " or ".join(no[:6]) + (f" or {len(no) - 6} more" if len(no) > 6 else "")
    return f"{claims.targets[0]} is {shown}" + (
        f" rather than {others}" if np.any(claims.words[:, number] == 0) else ""
    )


def check_worst(report: Report, members: Sequence[Claims], stated: Mapping[str, Any], many: str, which: str) -> None:
    """Check that the verdict of the whole is that of its worst member; ``many`` and ``which`` are words of its sentence."""

    def badness(place: int) -> tuple[int, float, int]:
        member = members[place]
        kind = len(WORST_KINDS) - WORST_KINDS.index(member.kind) if member.kind in WORST_KINDS else 0
        gap = float("inf") if member.relative_gap is None and kind else member.relative_gap or 0.0
        return kind, gap, -place

    place = max(range(len(members)), key=badness)
    member = members[place]
    evidence = stated.get("evidence")
    named = evidence.get("worst") if isinstance(evidence, dict) else None
    same = (stated.get("kind"), stated.get("gap"), stated.get("relative_gap"), stated.get("reason")) == (
        member.kind,
        member.gap,
        member.relative_gap,
        member.reason,
    )
    report.check(
        "the verdict is that of the worst member",
        same and named == place,
        f"member {place}, {member.kind}; stated member {named}, {stated.get('kind')}",
    )
    counts = Counter(other.kind for other in members)
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    worst = f"That is the worst of {len(members)} {many} ({kinds}), {which} {member.targets[0]}."
    whole = isinstance(evidence, dict) and evidence == {"members": len(members), "worst": place, "kinds": counts}
    report.check(
        "its sentence says so, and how many members ended in which way",
        stated.get("sentence") == f"{member.sentence} {worst}" and whole,
        kinds,
    )
