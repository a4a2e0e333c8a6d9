"""Odd inputs at every door: each works with a verdict or is refused by a sentence of ours; no warning, and no process dies."""

from __future__ import annotations

import inspect
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import lineal
from lineal.designs import as_design
from lineal.designs.sound import sound
from lineal.ground.inputs import class_labels, real
from tests.contracts import catalogue, odd, odd_sparse

ROOT = Path(__file__).parents[2]

# What scikit-learn says on purpose to whoever hands in such data; its own checks want to hear some of it.
pytestmark = [
    pytest.mark.filterwarnings("ignore:X has feature names"),
    pytest.mark.filterwarnings("ignore:A column-vector y was passed"),
    pytest.mark.filterwarnings("ignore:The number of unique classes is greater"),
]
DOORS = catalogue.doors()
FITS = [name for name in DOORS if name.endswith(".fit") and name != "TextFeatures.fit"]
LENGTHY = ("LassoCV.fit", "MultiTaskLassoCV.fit", "ElasticNetCV.fit", "LogisticRegressionCV.fit", "path")
"""A hundred strengths in five folds: of columns that are constant but for rounding, each takes long to prove."""


def test_every_public_name_is_a_door_or_known_to_take_no_data():
    known = {*catalogue.estimators(), *catalogue.functions(), *catalogue.VALUES, *catalogue.NOT_DATA, "__version__"}
    assert set(lineal.__all__) == known


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_odd_rows(door):
    made = {
        name: make for name, make in odd.XS.items() if door not in LENGTHY or name not in ("constant", "exactly 2^60")
    }
    assert list(catalogue.attacks(made, lambda X: DOORS[door](X, odd.Y))) == []


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_odd_targets(door):
    assert list(catalogue.attacks(odd.YS, lambda y: DOORS[door](odd.X, y))) == []


@pytest.mark.slow
@pytest.mark.parametrize("door", [*catalogue.functions()])
def test_odd_targets_beside_a_frame(door):
    assert list(catalogue.attacks(odd.YS, lambda y: DOORS[door](odd.FRAME, y))) == []


@pytest.mark.parametrize("door", FITS)
def test_odd_weights_and_offsets_of_estimators(door):
    known = inspect.signature(getattr(lineal, door[:-4]).fit).parameters
    for role, made in (("sample_weight", odd.WEIGHTS), ("offset", odd.OFFSETS)):
        if role in known:
            found = catalogue.attacks(made, lambda value, role=role: DOORS[door](odd.X, odd.Y, **{role: value}))
            assert list(found) == []


@pytest.mark.parametrize("data", ["array", "frame"])
@pytest.mark.parametrize("model", ["linear", "logistic", "poisson"])
def test_odd_weights_and_offsets_of_fit(data, model):
    rows = odd.X if data == "array" else odd.FRAME
    for role, made in (("weight", odd.WEIGHTS), ("offset", odd.OFFSETS)):
        found = catalogue.attacks(
            made, lambda value, role=role: lineal.fit(rows, odd.Y, model=model, penalty=0.1, **{role: value})
        )
        assert list(found) == []


@pytest.mark.parametrize("door", ["path", "separability", "zero_one"])
def test_odd_weights_of_functions(door):
    assert list(catalogue.attacks(odd.WEIGHTS, lambda weight: DOORS[door](odd.X, odd.Y, sample_weight=weight))) == []


DAMAGED = """
import sys, warnings
import lineal
from tests.contracts import catalogue, odd, odd_sparse
warnings.filterwarnings("ignore")
tried = 0
for name, door in catalogue.doors().items():
    for what, matrix in odd_sparse.damaged():
        print(name, what, file=sys.stderr, flush=True)  # the last one, if the process dies
        try:
            door(matrix, odd.Y)
        except lineal.InputError as error:
            assert str(error)[-1] in ".)", error
        else:
            raise AssertionError("accepted")
        tried += 1
print(tried)
"""


@pytest.mark.slow
def test_no_process_dies_of_a_damaged_matrix():
    done = subprocess.run([sys.executable, "-c", DAMAGED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) == len(DOORS) * len(list(odd_sparse.damaged()))


@pytest.mark.parametrize(("what", "matrix"), list(odd_sparse.damaged()), ids=[what for what, _ in odd_sparse.damaged()])
def test_a_damaged_matrix_is_called_damaged(what, matrix):
    with pytest.raises(lineal.InputError, match=r"X is a damaged \w+ matrix: .*Make the matrix anew"):
        sound(matrix)


@pytest.mark.parametrize(("what", "matrix"), list(odd_sparse.legal()), ids=[what for what, _ in odd_sparse.legal()])
def test_unusual_matrices_mean_what_they_mean(what, matrix):
    before = [np.array(part) for part in (matrix.data, getattr(matrix, "indices", 0))]
    np.testing.assert_array_equal(as_design(matrix, intercept=False).dense(), odd.X)
    expected = lineal.Ridge().fit(sp.csr_array(odd.X), odd.Y)
    model = lineal.Ridge().fit(matrix, odd.Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.predict(matrix), expected.predict(odd.X), rtol=1e-12)
    assert lineal.separability(matrix, odd.Y).kind == lineal.separability(odd.X, odd.Y).kind
    np.testing.assert_allclose(
        lineal.path(matrix, odd.Y, strengths=3).coef, lineal.path(odd.X, odd.Y, strengths=3).coef
    )
    for part, then in zip((matrix.data, getattr(matrix, "indices", 0)), before, strict=True):
        np.testing.assert_array_equal(part, then)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([Fraction(1, 4), Decimal("0.5"), 2**60, True, "1e3", b"-7", np.float32(0.1), np.longdouble(3)],
         [0.25, 0.5, 2.0**60, 1.0, 1000.0, -7.0, float(np.float32(0.1)), 3.0]),
        (np.array([2**63, 2**53 + 2], dtype=np.uint64), [2.0**63, 2.0**53 + 2]),
        (np.array([-(2**63)]), [-(2.0**63)]),
        (np.array([1, 2], dtype=">i4"), [1.0, 2.0]),
        (pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), [[1.0, 0.5], [2.0, 1.5]]),
        (pl.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), [[1.0, 0.5], [2.0, 1.5]]),
        (pa.table({"a": [1, 2], "b": [0.5, 1.5]}), [[1.0, 0.5], [2.0, 1.5]]),
    ],
)  # fmt: skip
def test_numbers_that_are_doubles_are_taken(values, expected):
    np.testing.assert_array_equal(real(values, "X"), np.array(expected))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([Fraction(1, 3)], r"Fraction\(1, 3\), which no double is"),
        ([Decimal("0.1")], "Decimal"),
        (["0.1"], "which no double is"),
        ([10**400], "a number of 1329 bits"),
        ([2**53 + 1], "9007199254740993"),
        (np.array([2**64 - 1], dtype=np.uint64), "18446744073709551615"),
        ([np.longdouble(1) + np.longdouble(2) ** -60], "which no double is"),
        ([np.longdouble("1e4000")], "which no double is"),
        (pd.DataFrame({"a": [2**53 + 1], "b": [0.5]}), r"X\['a'\] holds 9007199254740993"),
        ([1j], "Complex data not supported"),
        (np.ma.masked_array([1.0, 2.0], mask=[True, False]), "1 cells are masked"),
        (np.array(["2024-01-01"], dtype="datetime64[D]"), "holds dates"),
        ([{}], "a dict"),
    ],
)
def test_numbers_that_no_double_is_are_refused(values, words):
    with pytest.raises(lineal.InputError, match=words):
        real(values, "X")


@pytest.mark.parametrize("gone", [None, np.nan, pd.NA, pd.NaT, float("nan"), Decimal("NaN")])
@pytest.mark.parametrize("others", [["no", "yes"], [0, 1], [True, False]])
def test_a_missing_label_is_no_class(gone, others):
    with pytest.raises(lineal.InputError, match="1 missing value "):
        class_labels(np.array([*others, gone], dtype=object))


@pytest.mark.parametrize(
    "frame", [odd.FRAME, pl.from_pandas(odd.FRAME), pa.Table.from_pandas(odd.FRAME), dict(odd.FRAME)]
)
@pytest.mark.parametrize(
    "target",
    ["a list", "a series", "a named series", "bool", "a column", "a polars series", "an Arrow array", "chunks"],
)
def test_a_target_beside_a_frame_is_a_column_of_it(frame, target):
    y = odd.YS[target]()
    weight = np.arange(1.0, odd.N + 1)
    model = lineal.fit(frame, y, weight=weight, penalty=0.1)
    whole = odd.FRAME.assign(y=odd.Y.astype(bool) if target == "bool" else odd.Y, weight=weight)
    expected = lineal.fit(whole, "y", weight="weight", penalty=0.1)
    np.testing.assert_array_equal(model.coef, expected.coef)
    assert model.columns == ("(intercept)", "a", "b", "c")
    assert model.target.classes == expected.target.classes
    np.testing.assert_array_equal(model.predict(frame), expected.predict(odd.FRAME))


def test_names_of_a_given_target():
    assert lineal.fit(odd.FRAME, pd.Series(odd.Y, name="a")).target.name == "a (given)"
    assert lineal.fit(odd.FRAME.assign(y=1.5 * odd.X[:, 0]), odd.Y).target.name == "y (given)"
    assert lineal.fit(odd.FRAME.set_axis([0, 1, 2], axis=1), 0).target.name == "0"
    assert lineal.fit(odd.FRAME, ["a", "b"], model="linear").target.names == ("a", "b")
    with pytest.raises(lineal.InputError, match="the target given, which has 23"):
        lineal.fit(odd.FRAME, odd.Y[:-1])
    with pytest.raises(lineal.InputError, match="24 rows, the target given has 25"):
        lineal.fit(odd.FRAME, np.append(odd.Y, 1))
    found = lineal.fit(odd.FRAME, odd.Y, test=(odd.FRAME, odd.Y), penalty=0.1)
    assert found.report["data"]["held_out"] == odd.N


def test_masked_cells_of_a_table_are_missing_ones():
    masked = {"a": np.ma.masked_greater(odd.X[:, 0], 1.0), "b": odd.X[:, 1], "y": odd.Y}
    plain = {**masked, "a": np.where(odd.X[:, 0] > 1.0, np.nan, odd.X[:, 0])}
    np.testing.assert_array_equal(lineal.fit(masked, "y", penalty=0.1).coef, lineal.fit(plain, "y", penalty=0.1).coef)


WEIGHTED = {
    "fit": lambda x, y, w: lineal.fit(x, y, weight=w),
    "table": lambda x, y, w: lineal.fit({"a": x[:, 0], "y": y, "w": w}, "y", weight="w"),
    "path": lambda x, y, w: lineal.path(x, y, sample_weight=w, strengths=3),
    "Ridge": lambda x, y, w: lineal.Ridge().fit(x, y, sample_weight=w),
    "Lasso": lambda x, y, w: lineal.Lasso().fit(x, y, sample_weight=w),
}


@pytest.mark.parametrize("weight", [1e308, 1e306, 1e-308, 5e-324])
@pytest.mark.parametrize("door", WEIGHTED)
def test_weights_whose_sum_no_fit_can_use_are_named(door, weight):
    """Means of columns are infinite then: the columns were said to hold infinity, or the strength to be infinite."""
    draw = np.random.default_rng(4)
    x, y, w = 50.0 * draw.normal(size=(30, 2)), draw.normal(size=30), np.full(30, weight)
    with pytest.raises(lineal.InputError, match=r"weights sum to|sum of sample_weight"):
        WEIGHTED[door](x, y, w)
