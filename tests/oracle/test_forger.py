"""Consistent lies, signed again: the checker refuses every one that is untrue, and confirms the honest file."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineal.cli import run
from lineal.verify import Refused, verify

from . import kinds
from .files import File, sign, untrue
from .forger import HONEST, accepted, honest, lies, single

FILES = (
    "linear l1",
    "quantile:0.4 none",
    "poisson ridge",
    "softmax ridge",
    "logistic with weights, an offset and bounds",
    "linear with rows held out",
    "logistic with counts",
)
"""One file for every kind of proof; scripts/attack --only forgery takes all."""
FIGURES = ("gap 0", "tol 1e6", "gap 1, null 1e9")
UNCHECKED = ("report.", "made_by", "solver.")
"""What nothing is proved from: docs/verdicts.md, "What the checker does not say"."""


@pytest.fixture(params=FILES, scope="module")
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> File:
    return honest(request.param, tmp_path_factory.mktemp("forger"), seed=3)


def test_the_honest_file_is_true_and_confirmed(file: File, tmp_path: Path) -> None:
    assert untrue(file) is None
    assert accepted(file, tmp_path) is None


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in HONEST if " held out" in name or " with weights" in name])
def test_honest_files_with_roles_and_splits_are_true_and_confirmed(name: str, tmp_path: Path) -> None:
    """The rows are chosen here by the words of docs/model-file.md."""
    file = honest(name, tmp_path, seed=4)
    assert file.meta["training"]["rows"] == (len(file.y) if file.weight is None else (file.weight > 0).sum())
    assert untrue(file) is None
    assert accepted(file, tmp_path) is None


@pytest.mark.parametrize("name", kinds.LIES)
def test_lies_of_every_other_kind_are_refused_by_name(name: str, tmp_path: Path) -> None:
    """Halfspaces, slopes, directions, dependencies, centers, committees, separability records."""
    file = honest(name, tmp_path, seed=5)
    assert accepted(file, tmp_path) is None
    told = 0
    for words, forged in kinds.LIES[name](file):
        path = tmp_path / "forged.lineal"
        sign(path, forged.meta, forged.arrays)
        with pytest.raises(Refused) as refusal:
            verify(path, forged.table)
        failed = [line for line in refusal.value.report if not line["passed"]]
        assert len(failed) == 1, words
        assert failed[0]["check"] in str(refusal.value)
        told += 1
    assert told >= 2


def test_a_lie_ends_the_command_with_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = honest("separated", tmp_path, seed=6)
    words, forged = next(iter(kinds.LIES["separated"](file)))
    sign(tmp_path / "forged.lineal", forged.meta, forged.arrays)
    assert run(["verify", str(tmp_path / "forged.lineal"), str(file.table)]) == 1, words
    assert "the margin is that of the nearest row" in "".join(capsys.readouterr())
