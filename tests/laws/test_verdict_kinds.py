"""Laws of the kinds of verdicts, over all of them."""

from __future__ import annotations

import math
import re
from itertools import permutations
from pathlib import Path

import pytest

from lineal.certify.wording import exact
from lineal.model.summary import no_errors
from lineal.model.verdict import KINDS, Verdict, worst
from lineal.penalties import NoPenalty

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "verdicts.md").read_text()
EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)


def test_the_page_has_every_kind_with_its_exit_code():
    stated = {name: int(code) for name, code in re.findall(r"^- `(\w+)` \(exit code (\d)\)", PAGE, re.MULTILINE)}
    assert stated == {kind.name: kind.exit_code for kind in KINDS.values()}


@EVERY
def test_a_verdict_holds_a_gap_only_where_its_kind_has_one(kind):
    assert Verdict(kind.name, "Sentence.", None, None).exit_code == kind.exit_code
    if kind.has_gap:
        assert Verdict(kind.name, "Sentence.", 0.5, 0.5).gap == 0.5
    else:
        with pytest.raises(AssertionError, match="has no gap"):
            Verdict(kind.name, "Sentence.", 0.5, 0.5)


@EVERY
def test_it_survives_its_file(kind):
    gap = math.inf if kind.has_gap else None
    data = Verdict(kind.name, "Sentence.", gap, None, {"seen": 3}, "reason").to_dict()
    assert Verdict.from_dict(data).to_dict() == data


@EVERY
def test_a_meaning_continues_the_words_the_fit(kind):
    assert re.fullmatch(r"(is|has|was|found|proved|learned) [a-z][^.]*", kind.meaning)


def test_what_was_counted_is_proven_without_a_gap():
    verdict = exact("counted from 277 rows of 3 classes", {"rows": 277, "classes": 3})
    assert (verdict.kind, verdict.proven, verdict.exit_code) == ("exact", True, 0)
    assert verdict.gap is verdict.relative_gap is verdict.reason is None
    assert verdict.sentence == "Exact: counted from 277 rows of 3 classes; nothing was optimized."
    assert Verdict.from_dict(verdict.to_dict()) == verdict


def test_what_was_counted_has_no_standard_errors_and_says_why():
    reason = no_errors(NoPenalty(2), "exact", "Exact: counted.")
    assert reason is not None
    assert "counted or looked up" in reason


def test_one_member_that_is_unfinished_speaks_for_exact_ones():
    members = [Verdict(name, "Sentence.", None, None) for name in ("exact", "budget", "exact")]
    assert worst(members) == 1


def test_what_is_not_solved_is_worse_than_what_is():
    solved = [kind.severity for kind in KINDS.values() if kind.solved]
    assert max(solved) < min(kind.severity for kind in KINDS.values() if not kind.solved)


def test_the_worst_of_several_does_not_depend_on_their_order():
    for names in permutations(("optimal", "not_separable", "budget", "at_infinity", "infeasible"), 3):
        members = [Verdict(name, "Sentence.", None, None) for name in names]
        assert KINDS[names[worst(members)]].severity == max(KINDS[name].severity for name in names)
