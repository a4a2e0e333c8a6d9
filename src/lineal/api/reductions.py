"""Several classes by binary models: one-vs-rest, one-vs-one and output codes over any of them.

Each column of a code (codes.py) is a question put to the same rows: those of classes with 1 against those with -1; rows of
other classes have weight 0. Every member is a fit of its own, with its own strength and its own verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lineal.api.dataset import Dataset
from lineal.api.request import Run
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.ground.deadline import Deadline, shared
from lineal.ground.records import dataclass
from lineal.losses import Coded
from lineal.losses.coded import MARGIN_LOSSES
from lineal.model.model import Model
from lineal.model.target import Target
from lineal.model.verdict import Verdict, worst
from lineal.multiclass.codes import NAMES, Code, Scheme, code, distance
from lineal.multiclass.committee import Committee, score, spelled
from lineal.sources.source import Block

View = Callable[[Block], Block]

MEMBER_REPORT_KEYS = ("model", "selection", "baseline_score", "charges", "threshold")
"""What a member's report holds; the rest is in that of the committee."""


@dataclass(frozen=True)
class Question:
    """A block as one member sees it: y is 1 for classes with 1, 0 for those with -1; a class with 0 has weight 0."""

    column: Array

    def __call__(self, block: Block) -> Block:
        """Return the block with its targets and weights replaced."""
        entry = self.column[block.y[:, 0].astype(np.intp)]
        counted = entry != 0.0
        weight = block.weight
        if not counted.all():
            weight = counted.astype(np.float64) if weight is None else np.where(counted, weight, 0.0)
        return replace(block, y=(entry > 0.0).astype(np.float64)[:, None], weight=weight)


def words_of(dataset: Dataset, scheme: Scheme, seed: int) -> Code:
    """Return the code for the classes of a target, or refuse in words."""
    target = dataset.target
    if target.kind != "classes":
        raise InputError(
            f"multiclass {scheme.name} tells classes apart, and {target.name} is a number; leave it out, or ask for a model of "
            "classes, such as logistic."
        )
    kinds = len(target.classes or ())
    if kinds < 3:
        raise InputError(f"multiclass {scheme.name} has no effect: {target.name} has two classes; leave it out.")
    return code(scheme.name, kinds, scheme.bits, seed, scheme.kind)


def questions(dataset: Dataset, words: Code) -> list[tuple[str, View]]:
    """Return what each column of a code asks, in words and as a change of blocks."""
    labels = dataset.target.classes or ()
    return [
        (
            spelled(dict(zip(labels, column.tolist(), strict=True)), dataset.target.name, number),
            Question(column.astype(np.float64)),
        )
        for number, column in enumerate(words.T)
    ]


def reduce(
    dataset: Dataset, asked: Sequence[tuple[str, View]], run: Run, fit: Callable[[Dataset, Run], Model]
) -> tuple[Model, ...]:
    """Return the members: ``fit`` makes a model of rows with two classes. A time limit is shared out evenly."""
    members: list[Model] = []
    ending = run.deadline
    for number, (name, view) in enumerate(asked):
        binary = replace(
            dataset,
            train=dataset.train.map(view),
            validation=None if dataset.validation is None else dataset.validation.map(view),
            test=None,
            target=Target(name, "classes", classes=(False, True)),
            training={},
            about={},
        )
        member = fit(binary, replace(run, deadline=shared(ending, len(asked) - number)))
        if run.interrupt == "budget" and member.verdict.reason and "interrupt" in member.verdict.reason:
            ending = Deadline.after(0.0)  # Ctrl-C ends the whole fit: the others stop as soon as they have begun
        report = {key: value for key, value in member.report.items() if key in MEMBER_REPORT_KEYS}
        members.append(replace(member, report=report, trace=None))
    return tuple(members)


def committee(
    dataset: Dataset, scheme: Scheme, words: Code, members: Sequence[Model], training: dict[str, Any]
) -> Committee:
    """Put the members together; what is measured of them as one is added to the report by who measures it."""
    place = worst([member.verdict for member in members])
    first = members[0]
    apart = distance(words)
    return Committee(
        coef=np.column_stack([score(member) for member in members]),
        columns=first.columns,
        loss=coded(scheme, words, first),
        penalty=first.penalty,
        target=dataset.target,
        verdict=spoken(members, place, f"members ({{kinds}}), the one asked whether {members[place].target.name}"),
        encoder=dataset.encoder,
        solver=first.solver,
        reason=f"{first.reason}; one of {len(members)} members",
        tol=first.tol,
        roles=dataset.roles,
        training=training,
        report={
            "model": f"{NAMES[scheme.name]} of {first.heading}",
            "multiclass": _about(scheme.name, words, apart, decoding(scheme, first)),
        },
        members=tuple(members),
        scheme=scheme.name,
        distance=apart,
    )


def decoding(scheme: Scheme, member: Model) -> str:
    """Return how the answers are read: "distance", or the name of the loss that a word's sum is made of."""
    if scheme.name != "ecoc" or scheme.decode == "distance":
        return "distance"
    if member.loss.logit:
        return "logistic"
    return member.loss.name if member.loss.name in MARGIN_LOSSES else "hinge"


def coded(scheme: Scheme, words: Code, member: Model) -> Coded:
    """Return how the answers of the members are read."""
    plain = tuple(tuple(int(entry) for entry in row) for row in words)
    return Coded(plain, summed=scheme.name == "ovr", by=decoding(scheme, member))


def spoken(members: Sequence[Model], place: int, words: str) -> Verdict:
    """Return the verdict of the worst member as that of all, with how many they are; the words say which it is."""
    chosen = members[place].verdict
    counts: dict[str, int] = {}
    for member in members:
        counts[member.verdict.kind] = counts.get(member.verdict.kind, 0) + 1
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    sentence = f"{chosen.sentence} That is the worst of {len(members)} {words.replace('{kinds}', kinds)}."
    evidence: dict[str, object] = {"members": len(members), "worst": place, "kinds": counts}
    return Verdict(chosen.kind, sentence, chosen.gap, chosen.relative_gap, evidence, chosen.reason)


def _about(scheme: str, words: Code, apart: int, by: str) -> dict[str, Any]:
    """Return what is said about the code."""
    kinds, bits = words.shape
    sentence = f"{NAMES[scheme]}: {bits} binary models for {kinds} classes"
    if scheme == "ecoc":
        good = (apart - 1) // 2
        answers = "1 wrong answer is" if good == 1 else f"{good} wrong answers are"
        sentence += f"; code words differ in at least {apart} places"
        sentence += f", so {answers} made good" if np.all(words != 0) and by == "distance" else ""
        sentence += "; the nearest word is taken" if by == "distance" else f"; the word of least {by} loss is taken"
    return {"sentence": sentence, "scheme": scheme, "members": bits, "distance": apart, "decode": by}


def compared(own: float, direct: float, rows: str) -> dict[str, Any]:
    """Return the accuracy of direct softmax on the same rows beside that of the code, and what follows.

    >>> compared(0.52, 0.69, "held-out rows")["sentence"].partition(": ")[0]
    'direct softmax, its strength picked, has 69.0 % of the held-out rows right, this code 52.0 %'
    """
    better = "the code is the poorer choice here (use direct)" if direct > own else "the code does not lose by it here"
    sentence = f"direct softmax, its strength picked, has {100 * direct:.1f} % of the {rows} right,"
    sentence += f" this code {100 * own:.1f} %: {better}"
    return {"accuracy": direct, "sentence": sentence}
