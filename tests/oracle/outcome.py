"""One verdict that a case ended with: what it is counted under, and how to find out whether it is true."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .doors import Case, Claim
from .judge import Violation, judge


@dataclass(frozen=True)
class Outcome:
    """A verdict by its kind and sentence, the ``row`` of the tables it counts in, and who judges it."""

    row: str
    kind: str
    sentence: str
    judge: Callable[[], list[Violation]]


def of_claims(case: Case, claims: Iterable[Claim]) -> list[Outcome]:
    """Return claims with a gap as outcomes; those of SGD end before the optimum and count under a name of their own."""
    return [
        Outcome(
            f"{claim.problem.loss.name}{' (SGD)' if case.door.startswith('SGD') else ''}",
            claim.verdict.kind,
            claim.verdict.sentence,
            lambda claim=claim: [*worded(claim.verdict.sentence), *judge(claim)],
        )
        for claim in claims
    ]


def worded(sentence: str) -> list[Violation]:
    """Return what is wrong with a sentence whatever it is about: a reason that is missing where one is announced."""
    return [Violation("wording", 0.1, sentence)] if ": ;" in sentence or ": ." in sentence or "; ;" in sentence else []


def known(row: str, kind: str, sentence: str, found: list[Violation]) -> Outcome:
    """Return an outcome that is judged already."""
    return Outcome(row, kind, sentence, lambda: found)
