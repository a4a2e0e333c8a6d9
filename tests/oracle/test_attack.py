"""A short seeded attack on every door: no verdict may be false. The long one is scripts/attack."""

from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest

from lineal.errors import InputError
from lineal.verify.evidence.sentences import NEARLY, REASONS

from . import attack, boundaries, checked, chosen, halves, several, stationary, tables
from .designs import TWISTS
from .doors import MODELS, PARAMS, Case, ask, drawn
from .judge import Violation, judge, truth
from .outcome import Outcome

ROWS = np.arange(20.0)
DRAW = np.random.default_rng(7)
NOISE, PLAIN = DRAW.normal(size=20), DRAW.normal(size=(30, 2))
COUNTS, LABELS = DRAW.poisson(2.0, size=30).astype(float), (DRAW.normal(size=30) > 0).astype(int)


def refuted(case: Case) -> list[Violation]:
    """Return everything that is false in what a case ends with; the oracle has as long as it needs."""
    try:
        claims, _ = ask(case)
    except InputError:
        return []  # a sentence that says what cannot be fitted is no false verdict
    found = []
    for claim in claims:
        open_end = claim.verdict.kind in ("at_infinity", "infeasible") or claim.verdict.gap is None
        found += judge(claim, None if open_end else truth(claim, seconds=3600))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("door", [*PARAMS, *MODELS])
@pytest.mark.parametrize("index", [1])
def test_no_door_says_what_is_false(door: str, index: int) -> None:
    case = drawn(16, index, door)
    assert refuted(case) == [], case.code


@pytest.mark.parametrize("twist", TWISTS)
def test_no_twist_of_the_columns_makes_a_verdict_false(twist: str) -> None:
    case = drawn(17, 0, twist)
    assert refuted(case) == [], case.code


@pytest.mark.parametrize("start", [1.5e15, -(2.0**51)])
@pytest.mark.parametrize(
    ("door", "params"),
    [
        ("Ridge", {}),
        ("LinearRegression", {}),
        ("Lasso", {"alpha": 0.1}),
        ("QuantileRegressor", {"alpha": 0.0}),
        ("LinearSVR", {}),
        ("HuberRegressor", {"scale": 1.0}),
    ],
)
def test_whole_numbers_far_from_zero_are_a_column_like_any_other(door: str, params: dict, start: float) -> None:
    case = Case(door, params, (start + ROWS)[:, None], ROWS + NOISE)
    assert refuted(case) == [], case.code


@pytest.mark.parametrize(
    ("door", "params"),
    [
        ("LogisticRegression", {}),
        ("LogisticRegression", {"C": float("inf")}),
        ("LinearSVC", {"loss": "hinge"}),
        ("LinearSVC", {}),
        ("fit", {"model": "logistic", "penalty": "none"}),
        ("fit", {"model": "sparsemax", "penalty": "ridge:0.1"}),
    ],
)
@pytest.mark.parametrize("split", [True, False])
def test_classes_far_from_zero(door: str, params: dict, split: bool) -> None:
    y = ROWS > 9 if split else (ROWS + 5.0 * NOISE) > 9
    case = Case(door, params, (4e15 + ROWS)[:, None], y.astype(int))
    assert refuted(case) == [], case.code


@pytest.mark.parametrize("offset", [100.0, -1000.0])
@pytest.mark.parametrize("door", ["PoissonRegressor", "LogisticRegression", "SparsemaxClassifier", "HuberRegressor"])
def test_a_constant_offset_makes_no_verdict_false(door: str, offset: float) -> None:
    y = COUNTS if door == "PoissonRegressor" else LABELS if door != "HuberRegressor" else COUNTS + PLAIN[:, 0]
    case = Case(door, {}, PLAIN, y, None, np.full(30, offset))
    assert refuted(case) == [], case.code


@pytest.mark.parametrize("index", range(20))
def test_separability_is_decided_as_by_whole_numbers(index: int) -> None:
    case = halves.drawn(18, index)
    answer, violations = halves.ask(case)
    assert violations == [], case.code
    assert answer.kind != "budget", case.code


FRONTS = {
    **dict.fromkeys(chosen.PARAMS, chosen),
    **dict.fromkeys(stationary.DOORS, stationary),
    **dict.fromkeys(boundaries.DOORS, boundaries),
    **dict.fromkeys(several.DOORS, several),
    **dict.fromkeys(tables.DOORS, tables),
    **dict.fromkeys(checked.DOORS, checked),
}


def answered(name: str, plain: bool) -> tuple[Case, list[Outcome]]:
    """Return the first of ten cases that is not refused: a sentence that says what cannot be fitted is no verdict."""
    for number in range(10):
        case = FRONTS[name].drawn(19, number, name, plain=plain)
        with contextlib.suppress(InputError):
            return case, FRONTS[name].ask(case)
    raise AssertionError(f"ten cases of {name} were refused")


@pytest.mark.parametrize("name", FRONTS)
@pytest.mark.parametrize("plain", [True, False])
def test_no_other_front_says_what_is_false(name: str, plain: bool) -> None:
    """Choices of a strength, points without slope, halfspaces, paths, committees, tables and files in blocks."""
    case, outcomes = answered(name, plain)
    assert [violation for outcome in outcomes for violation in outcome.judge()] == [], case.code


CAUSES = (
    "columns are far from zero", "weights differ", "scores are", "columns are nearly", "offsets differ", "penalized columns",
    "the columns gain at most", "too few digits", "up to rounding, ", "the limit of", " epochs brought no more",
    "steps of Newton",
)  # fmt: skip
"""What in the data makes rounding matter, by how the sentence says it; some end by their steps."""


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "index"), [(1118, 98), (1118, 247), (1118, 269), *((33, 20 * k) for k in range(6))])
def test_every_ending_names_its_cause_in_words_the_checker_knows(seed: int, index: int) -> None:
    """From there on twenty cases of all fronts; of the first three, which said no more than that rounding ended them, one."""
    endings = []
    for number in range(index, index + (1 if seed == 1118 else 20)):
        front = attack.FRONTS[attack.front_of(number, None)]
        with contextlib.suppress(InputError):
            case = front.drawn(seed, number, None)
            endings += [(case, outcome.sentence) for outcome in front.ask(case) if outcome.kind == "budget"]
    for case, sentence in endings:
        assert any(cause in sentence for cause in CAUSES), (case.code, sentence)
        reason = re.match(
            "(?:Not optimal yet|Stopped without a proof): (.*?)(?:, where|; the slope|\\. The|\\.$)", sentence
        )
        pieces = NEARLY.sub("interrupted", reason[1]).split("; ")
        assert all(any(known.fullmatch(piece) for known in REASONS) for piece in pieces), sentence
