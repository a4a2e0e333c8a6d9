"""Separability: every answer carries evidence that rational arithmetic confirms, and the answers known from elsewhere."""

from __future__ import annotations

import math
from fractions import Fraction
from unittest import mock

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

import lineal
from lineal.algebra import digits
from lineal.algebra.digits import PRIME, dependency, orthogonal
from lineal.algebra.integers import exactly, floats, mantissas, whole
from lineal.errors import InputError
from lineal.ground.deadline import Deadline
from lineal.separation import search
from lineal.separation.dictionary import Dictionary
from tests.laws.separation_data import CORNERS, DATA, confirm, needs_data


@pytest.mark.parametrize(
    ("X", "y", "kind"),
    [
        (CORNERS, [0, 0, 0, 1], "complete"),
        (CORNERS, [0, 1, 1, 1], "complete"),
        (CORNERS, [0, 1, 1, 0], "overlap"),
        (np.column_stack([CORNERS, CORNERS[:, 0] * CORNERS[:, 1]]), [0, 1, 1, 0], "complete"),
        ([[3.0], [3.0]], [0, 1], "overlap"),
        ([[3.0], [3.0], [4.0]], [0, 1, 1], "quasi"),
        ([[1.0], [2.0]], [7, 7], "complete"),
        (np.eye(3, 5), [0, 1, 0], "complete"),
        ([[0.0], [1.0], [2.0], [3.0]], [0, 1, 2, 3], "complete"),
        ([[0.0], [1.0], [1.0], [2.0]], ["a", "b", "a", "c"], "quasi"),
        ([[0.0], [0.0], [0.0], [2.0], [2.0], [2.0]], ["a", "b", "c", "a", "b", "c"], "overlap"),
        (np.zeros((4, 0)), [0, 1, 0, 1], "overlap"),
    ],
)
def test_small_sets(X, y, kind):
    answer = lineal.separability(np.asarray(X), y)
    assert answer.kind == kind
    assert answer.separable == (kind == "complete")
    confirm(answer, X, y)
    again = lineal.separability(sparse.csr_array(np.asarray(X)), y)
    assert again.kind == kind
    confirm(again, X, y)


@pytest.mark.parametrize(
    ("X", "y", "kind"),
    [
        ([[1.0], [-2.0]], [0, 0], "overlap"),
        ([[0.0], [1.0]], [0, 1], "quasi"),
        ([[0.0], [0.0]], [0, 1], "overlap"),
        ([[1.0], [2.0]], [0, 1], "overlap"),
        ([[-1.0], [2.0]], [0, 1], "complete"),
    ],
)
def test_without_intercept(X, y, kind):
    answer = lineal.separability(np.array(X), y, intercept=False)
    assert answer.kind == kind
    confirm(answer, X, y, intercept=False)


@given(data=st.data(), n=st.integers(1, 9), p=st.integers(0, 3), classes=st.integers(1, 4), intercept=st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_answer_is_confirmed(data, n, p, classes, intercept):
    """Small integers make ties, dependent columns, duplicated rows and boundary cases common."""
    X = np.array(data.draw(st.lists(st.lists(st.integers(-2, 2), min_size=p, max_size=p), min_size=n, max_size=n)))
    X = X.reshape(n, p).astype(float) * data.draw(st.sampled_from([1.0, 0.1, 1e-200, 1e200]))
    y = data.draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    confirm(lineal.separability(X, y, intercept=intercept), X, y, intercept)


@pytest.mark.parametrize("unit", [1.0, 1e6])
@pytest.mark.parametrize(("gap", "kind"), [(2e-9, "complete"), (-2e-9, "overlap")])
def test_apart_by_little(gap, kind, unit):
    """Two clouds on either side of a slanted plane, moved together until they overlap by 2e-9, or stay apart by as much."""
    rng = np.random.default_rng(0)
    side = np.repeat([-1.0, 1.0], 40)
    depth = np.abs(rng.normal(size=80)) + 0.1
    depth[:20] = depth[40:60] = 0.0  # enough rows on each face to pin the plane
    X = np.column_stack([0.3 + side * (depth + gap / 2), rng.normal(size=(80, 2))])
    X[:, 0] += np.round(X[:, 1], 2)
    X[:, 1] = np.round(X[:, 1], 2)
    X[:, 2] *= unit
    y = (side > 0).astype(int)
    answer = lineal.separability(X, y)
    assert answer.kind == kind
    confirm(answer, X, y)
    X[:, 0] *= 1e6
    answer = lineal.separability(X, y)
    confirm(answer, X, y)


@needs_data
def test_endometrial():
    table = np.genfromtxt(DATA / "endometrial.csv", delimiter=",", names=True)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    answer = lineal.separability(frame[["NV", "PI", "EH"]], frame["HG"])
    assert answer.kind == "quasi"
    assert "`NV = 1` occurs only with HG = 1 (13 rows)" in answer.sentence
    assert answer.witness.direction[:, 0].tolist() == [0, 1, 0, 0]
    confirm(answer, frame[["NV", "PI", "EH"]], table["HG"])


@needs_data
def test_lizards_overlap():
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(DATA / "lizards.csv")
    X = pandas.get_dummies(table.drop(columns=["grahami", "opalinus"]), drop_first=True, dtype=float)
    X = np.repeat(X.to_numpy(), 2, axis=0)
    y, counts = np.tile([1, 0], len(table)), table[["grahami", "opalinus"]].to_numpy().ravel()
    answer = lineal.separability(X, y, sample_weight=counts)
    assert answer.kind == "overlap"
    confirm(answer, X, y)
    assert all(counts[row] > 0 for row in answer.witness.rows)


def test_iris():
    X, y = load_iris(return_X_y=True)
    for labels, rows, kind in [(y == 0, y >= 0, "complete"), (y, y > 0, "overlap"), (y, y >= 0, "quasi")]:
        answer = lineal.separability(X[rows], labels[rows])
        assert answer.kind == kind
        confirm(answer, X[rows], labels[rows])


def test_breast_cancer_in_raw_units():
    X, y = load_breast_cancer(return_X_y=True)
    answer = lineal.separability(X, y)
    assert answer.kind == "complete"
    confirm(answer, X, y)
    some = X[:, :4]
    answer = lineal.separability(some, y)
    assert answer.kind == "overlap"
    confirm(answer, some, y)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_larger_sets(seed):
    """Working sets: separable by little, one label flipped, dependent columns, a dummy that is quasi."""
    rng = np.random.default_rng(seed)
    n, p = 2000, 6
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 6, size=p)
    score = (X / np.abs(X).max(axis=0)) @ rng.normal(size=p)
    y = (score > 0.1).astype(int)
    if seed % 3 == 1:
        y[np.argsort(np.abs(score - 0.1))[1000]] ^= 1
    if seed % 3 == 2:
        X[:, 2] = 2.0 * X[:, 1]
        X[:, 4] = rng.random(n) < 0.01
        y = ((score + rng.normal(size=n) > 0.1) | (X[:, 4] == 1)).astype(int)
    answer = lineal.separability(X, y)
    assert answer.kind == ("complete", "overlap", "quasi")[seed % 3]
    confirm(answer, X, y)


@given(data=st.data(), n=st.integers(2, 7), width=st.integers(1, 6), bits=st.sampled_from([2, 2, 60, 200]))
@settings(max_examples=150, deadline=None)
def test_the_only_dependency_of_rows_is_found_by_its_digits(data, n, width, bits):
    """Against the null space that flint computes: one vector up to a factor, or else None."""
    entry = st.integers(-(2**bits), 2**bits)
    rows = data.draw(st.lists(st.lists(entry, min_size=width, max_size=width), min_size=n, max_size=n))
    if data.draw(st.booleans()):  # make the last row depend on the others
        factors = data.draw(st.lists(st.integers(-5, 5), min_size=n - 1, max_size=n - 1))
        rows[-1] = [sum(f * row[j] for f, row in zip(factors, rows[:-1], strict=True)) for j in range(width)]
    basis, nullity = flint.fmpz_mat(rows).transpose().nullspace()
    with mock.patch.object(
        digits, "ELIMINATION_MAX_EQUATIONS", data.draw(st.sampled_from([0, 100]))
    ):  # by digits or by elimination
        found = dependency(np.array(rows, dtype=object), Deadline.after(math.inf))
    if nullity != 1:
        assert found is None
        return
    truth = [int(basis[i, 0]) for i in range(n)]
    divisor = np.gcd.reduce(np.array(truth, dtype=object))
    truth = [value // divisor for value in truth]
    unlucky = n > 1 and flint.nmod_mat(flint.fmpz_mat(rows), PRIME).rank() < flint.fmpz_mat(rows).rank()
    assert (found is None and (unlucky or n == 1 or not any(map(any, rows)))) or found.tolist() in (
        truth,
        [-value for value in truth],
    )


@given(data=st.data(), n=st.integers(1, 6), width=st.integers(1, 7), bits=st.sampled_from([2, 2, 60, 200]))
@settings(max_examples=150, deadline=None)
def test_vectors_orthogonal_to_rows_are_found_by_their_digits(data, n, width, bits):
    """Against flint: as many as the null space has, independent, and each orthogonal to every row; or else None."""
    entry = st.integers(-(2**bits), 2**bits)
    rows = data.draw(st.lists(st.lists(entry, min_size=width, max_size=width), min_size=n, max_size=n))
    matrix = flint.fmpz_mat(rows)
    with mock.patch.object(digits, "ELIMINATION_MAX_EQUATIONS", data.draw(st.sampled_from([0, 100]))):
        found = orthogonal(np.array(rows, dtype=object), Deadline.after(math.inf))
    if found is None:
        assert flint.nmod_mat(matrix, PRIME).rank() < matrix.rank()
        return
    assert found.shape == (width, width - matrix.rank())
    assert found.shape[1] == 0 or flint.fmpz_mat(found.tolist()).rank() == found.shape[1]
    assert not np.any(np.array(rows, dtype=object) @ found)


def hard_sets():
    """Yield rows and classes for which the first circuit does not span the others: dependent columns, several classes."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 4))
    levels = np.eye(3)[rng.integers(0, 3, size=120)]
    for classes in (2, 3):
        y = rng.integers(0, classes, size=120)
        yield X, y
        yield np.hstack([X, X]), y
        yield np.hstack([levels, X]), y
        yield np.hstack([levels, X]), np.where(levels[:, 0] == 1.0, 1, y)
        yield 1e9 + rng.integers(-1, 2, size=(120, 4)), y
        yield np.repeat(rng.integers(0, 3, size=(12, 4)).astype(float), 10, axis=0), y


@pytest.mark.slow
@pytest.mark.parametrize("case", range(12))
def test_digits_and_pivots_prove_the_same(case, monkeypatch):
    X, y = list(hard_sets())[case]
    by_digits = lineal.separability(X, y)
    confirm(by_digits, X, y)
    monkeypatch.setattr(search, "dependency", lambda *_: None)
    monkeypatch.setattr(search, "orthogonal", lambda *_: None)
    by_pivots = lineal.separability(X, y)
    assert (by_pivots.kind, by_pivots.strict) == (by_digits.kind, by_digits.strict)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "classes"), [(30, 2), (20, 3)])
def test_no_integer_pivot_is_needed(width, classes, monkeypatch):
    """Pivots on tables of large integers are the last resort; random classes need none, dependent columns neither."""
    monkeypatch.setattr(Dictionary, "_pivot", None)
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(500, width)), rng.integers(0, classes, size=500)
    for table in (X, np.hstack([X, X[:, :3]])):
        answer = lineal.separability(table, y)
        assert answer.kind == "overlap"
        confirm(answer, table, y)


@pytest.mark.parametrize(("n", "p"), [(200, 45), (240, 60)])
def test_overlap_of_many_columns_is_proved(n, p):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, size=n)
    answer = lineal.separability(X, y)
    assert answer.kind == "overlap"
    confirm(answer, X, y)


def test_rows_of_weight_zero_are_absent():
    X, y = np.array([[0.0], [1.0], [2.0], [np.pi]]), [0, 1, 0, 2]
    answer = lineal.separability(X, y, sample_weight=[1.0, 1.0, 0.0, 0.0])
    assert (answer.kind, answer.total, answer.classes) == ("complete", 2, (0, 1))
    with pytest.raises(InputError, match="every sample_weight is zero"):
        lineal.separability(X, y, sample_weight=np.zeros(4))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_floats_are_integers_times_powers_of_two(values):
    x = np.array(values)
    m, e = mantissas(x)
    assert [Fraction(int(a)) * Fraction(2) ** int(b) for a, b in zip(m, e, strict=True) if a] == [
        Fraction(v) for v in values if v
    ]
    integers = whole(x)
    ratios = {Fraction(v) / int(k) for v, k in zip(values, integers, strict=True) if v}
    assert len(ratios) <= 1
    assert all((k == 0) == (v == 0) for v, k in zip(values, integers, strict=True))
    small = np.array([3, -(2**60)], dtype=object)
    assert exactly(small) is not None
    assert exactly(np.array([2**60 + 1, 1], dtype=object)) is None
    assert floats(small)[1] < 0
