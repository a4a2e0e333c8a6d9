"""Named mutations of model files and data: the checker must refuse each, and name the line that failed.

Every mutation of a model file is tried twice: with the old signature (the hash must catch it) and signed again (the
proof must).
"""

from __future__ import annotations

import copy
import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from lineal import container
from lineal.errors import LinealError, ModelFileError, VerificationError
from lineal.verify import Refused, verify
from tests.json_places import every_place

from . import figures, kinds, modern, perceptrons, records, rows, stationary  # noqa: F401  (they fill the list)
from .forging import MUTATIONS
from .honest import CASES, SEED, TEST_SIZE, case_of, is_test

EVERY = (*CASES, *modern.CASES, *records.CASES, *perceptrons.CASES)
CASES.update(modern.CASES)
CASES.update(records.CASES)
CASES.update(perceptrons.CASES)


@pytest.mark.parametrize("name", EVERY)
def test_honest_files_are_confirmed(name, tmp_path):
    report = verify(*case_of(name).write(tmp_path))
    assert report.passed
    assert len(report) > 8


UNBREAKABLE = {
    "the model file is whole and unaltered (SHA-256)": "the hash tests below",
    "no hash of how rows become numbers is stated (version 1)": "nothing is claimed",
}
"""Lines that no mutation of content can fail, and what tests them instead."""


def test_every_line_of_the_checker_refuses_some_mutation(tmp_path):
    lines = {entry["check"] for name in EVERY for entry in verify(*case_of(name).write(tmp_path))}
    unproven = {line for line in lines if not any(re.search(words, line) for _, words, _ in MUTATIONS.values())}
    assert unproven == set(UNBREAKABLE)


DATA_ONLY = {name for name in MUTATIONS if name.startswith("data ") and not name.endswith("no fingerprint")}


def test_there_are_enough_mutations():
    assert len(MUTATIONS) >= 150


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATIONS)
def test_mutation_signed_again_is_refused_by_the_line(name, tmp_path):
    case_name, line, function = MUTATIONS[name]
    case = case_of(case_name)
    function(case)
    with pytest.raises(Refused) as caught:
        verify(*case.write(tmp_path))
    report = caught.value.report
    failed = [entry["check"] for entry in report if not entry["passed"]]
    assert failed == [report.lines[-1]["check"]]
    assert re.search(line, failed[0]), (failed[0], report.lines[-1]["detail"])
    assert failed[0] in str(caught.value)
    assert caught.value.exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(MUTATIONS) - DATA_ONLY))
def test_mutation_with_the_old_signature_is_refused_by_the_hash(name, tmp_path):
    case_name, _, function = MUTATIONS[name]
    case = case_of(case_name)
    model, data = case.write(tmp_path)
    signature = signature_of(model)
    function(case)
    container.write(model, case.meta, case.arrays)
    model.write_bytes(model.read_bytes().replace(signature_of(model), signature))
    with pytest.raises(ModelFileError, match="SHA-256"):
        verify(model, data)


def signature_of(path: Path) -> bytes:
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + struct.unpack("<Q", content[:8])[0]])
    return json.loads(header["__metadata__"]["lineal"])["sha256"].encode()


HARMLESS = {
    "data columns reordered": lambda case: (
        case.header.reverse(),
        [row.reverse() for row in case.rows],
    ),
    "extra data column": lambda case: (case.header.append("extra"), [row.append("x") for row in case.rows]),
    "held-out cell changed": lambda case: case.rows[
        next(i for i in range(len(case.rows)) if is_test(SEED, i, TEST_SIZE))
    ].__setitem__(0, "1e9"),
    "blanks around cells": lambda case: [row.__setitem__(3, f"  {row[3]} ") for row in case.rows],
    "another spelling of missing": lambda case: [row.__setitem__(0, row[0].replace("NA", "None")) for row in case.rows],
    "another spelling of numbers": lambda case: [row.__setitem__(1, f"{float(row[1]):.9e}") for row in case.rows],
    "null space left out": lambda case: (
        case.arrays.pop("null_space", None),
        case.meta["verdict"]["evidence"].pop("dependencies", None),
        case.meta["verdict"].update(
            sentence=case.meta["verdict"]["sentence"].replace(
                "half = 0.5 * height", "1 column is a combination of others"
            )
        ),
    ),
    "report changed": lambda case: case.meta.update(report={**case.meta["report"], "note": "hello"}),
    "fingerprint left out": lambda case: case.meta["training"].update(fingerprint=None),
}


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("case_name", ["linear", "logistic ridge", "not unique"])
def test_harmless_changes_are_accepted(name, case_name, tmp_path):
    case = case_of(case_name)
    HARMLESS[name](case)
    assert verify(*case.write(tmp_path)).passed


TRUE_WHEN_ALTERED = ("infeasible", "lasso with free columns", "sparse lasso", "perceptron averaged", "diverged")
"""Cases of which some array can be altered without making anything false: charges may be larger, an average may be another."""

TRUE = {
    "a bound that holds nothing loosened": ("bounds", lambda case: case.arrays["lower"].__setitem__(4, -11.0)),
    "a bound that holds nothing tightened": ("bounds", lambda case: case.arrays["upper"].__setitem__(4, 8.0)),
    "a column charged more that is left out anyway": (
        "sparse lasso",
        lambda case: case.arrays["charges"].__setitem__(int(np.flatnonzero(case.arrays["coef"][:, 0] == 0.0)[0]), 1e6),
    ),
    "the dual point of a row without weight": (
        "hinge",
        lambda case: case.arrays["theta"].__setitem__(case.column("w", list(range(90))).index("0.0"), 0.5),
    ),
    "a dual point outside its domain": ("hinge", lambda case: case.arrays["theta"].__imul__(1.0 + 1e-15)),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_stays_true_is_accepted(name, tmp_path):
    case_name, change = TRUE[name]
    case = case_of(case_name)
    change(case)
    assert verify(*case.write(tmp_path)).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "linear",
        "not unique",
        "at infinity",
        "bounds",
        "quantile",
        "infeasible",
        "firth",
        "evidence",
        "record three",
        "record widest",
        "perceptron",
        "perceptron inseparable",
    ],
)
def test_files_with_fields_of_the_wrong_kind_are_refused_in_a_sentence(name, tmp_path):
    """Replace every field of the JSON, one at a time, by null, a text, a number, a list: never another error."""
    honest = case_of(name)
    _, data = honest.write(tmp_path)
    paths = [
        path for path in every_place(honest.meta) if path[0] not in ("report", "solver", "made_by", "format", "version")
    ]
    refused = 0
    for path in paths:
        for value in (None, "x", -1, [], {}, True, 1e300):
            case = copy.deepcopy(honest)
            inner = case.meta
            for key in path[:-1]:
                inner = inner[key]
            if inner[path[-1]] == value:
                continue
            inner[path[-1]] = value
            container.write(tmp_path / "m.lineal", case.meta, case.arrays)
            try:
                verify(tmp_path / "m.lineal", data)
            except LinealError:
                refused += 1
    assert refused > 5 * len(paths)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if name not in TRUE_WHEN_ALTERED])
def test_arrays_of_extreme_numbers_are_refused_in_a_sentence(name, tmp_path):
    """A bound that does not hold anything, and a dual point on the border, may be moved: those have mutations of their own."""
    honest = case_of(name)
    _, data = honest.write(tmp_path)
    for array in set(honest.arrays) - {"lower", "upper", "theta", "direction" if "poisson" in name else ""}:
        for value in (1e300, -1e160, 1e17, 5e-324, 0.0):
            for whole in (False, True):
                case = copy.deepcopy(honest)
                case.arrays[array][slice(None) if whole else -1] = value
                if (case.arrays[array] == honest.arrays[array]).all():
                    continue
                container.write(tmp_path / "m.lineal", case.meta, case.arrays)
                with pytest.raises(LinealError):
                    verify(tmp_path / "m.lineal", data)


def test_a_refusal_is_a_verification_error():
    assert issubclass(Refused, VerificationError)
