"""Consistent lies, signed again: the checker refuses every one that is untrue, and confirms the honest file."""

from __future__ import annotations

from pathlib import Path

import pytest

from .files import File, untrue
from .forger import accepted, honest, lies, single

FILES = ("linear none", "linear l1", "quantile:0.4 none", "poisson ridge", "logistic ridge", "softmax group")
"""One file for every kind of proof; scripts/attack --only forgery takes all."""
FIGURES = ("gap 0", "gap as it was", "tol 1e6", "gap 1, null 1e9")
UNCHECKED = ("report.", "made_by", "solver.")
"""What nothing is proved from: docs/verdicts.md, "What the checker does not say"."""


@pytest.fixture(params=FILES, scope="module")
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> File:
    return honest(request.param, tmp_path_factory.mktemp("forger"), seed=3)


def test_the_honest_file_is_true_and_confirmed(file: File, tmp_path: Path) -> None:
    assert untrue(file) is None
    assert accepted(file, tmp_path) is None


def test_no_consistent_lie_is_confirmed(file: File, tmp_path: Path) -> None:
    told = [
        (words, false, accepted(forged, tmp_path)) for words, forged, false in lies(file, FIGURES) if false is not None
    ]
    assert len(told) > 15
    assert [f"{words}: {false}" for words, false, refusal in told if refusal is None] == []


@pytest.mark.parametrize("name", ["logistic ridge", "quantile:0.4 l1"])
def test_no_field_is_altered_silently(name: str, tmp_path: Path) -> None:
    """Every figure that is stated is checked. A dual point is no claim: altered a little it proves a little less."""
    found = [words for words, forged in single(honest(name, tmp_path)) if accepted(forged, tmp_path) is None]
    assert [words for words in found if not words.startswith(UNCHECKED) and words != "array theta"] == []
