"""Model files of version 1, as lineal 0.1 wrote them, still load, predict and verify."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineal import container
from lineal.api.model_file import load
from lineal.verify import verify

HERE = Path(__file__).parent / "version1"
FILES = sorted(HERE.glob("*.lineal"))


def test_there_are_files_of_several_kinds():
    kinds = {container.read(path)[0]["verdict"]["kind"] for path in FILES}
    assert {"optimal", "stationary", "not_separable"} <= kinds
    assert {container.read(path)[0]["version"] for path in FILES} == {1}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_version_1_is_confirmed(path):
    assert verify(path, HERE / "visits.csv").passed
    assert len(load(path).columns) > 1
