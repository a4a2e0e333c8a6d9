"""Laws of the kinds of verdicts, over all of them."""

from __future__ import annotations

import math
import re
from itertools import permutations
from pathlib import Path

import pytest

from lineal.model.verdict import KINDS, Verdict, worst

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


def test_what_is_not_solved_is_worse_than_what_is():
    solved = [kind.severity for kind in KINDS.values() if kind.solved]
    assert max(solved) < min(kind.severity for kind in KINDS.values() if not kind.solved)


def test_the_worst_of_several_does_not_depend_on_their_order():
    for names in permutations(("optimal", "not_separable", "budget", "at_infinity", "infeasible"), 3):
        members = [Verdict(name, "Sentence.", None, None) for name in names]
        assert KINDS[names[worst(members)]].severity == max(KINDS[name].severity for name in names)
