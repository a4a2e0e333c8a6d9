"""Separability: every answer carries evidence that rational arithmetic confirms, and the answers known from elsewhere."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from unittest import mock

import flint
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

import lineal
from lineal.algebra import digits
from lineal.algebra.digits import PRIME, dependency, orthogonal
from lineal.algebra.integers import exactly, floats, mantissas, whole
from lineal.designs import as_design
from lineal.errors import InputError
from lineal.fitting.fitting import fit
from lineal.ground.deadline import Deadline
from lineal.losses import Logistic, Poisson, Softmax
from lineal.penalties import NoPenalty
from lineal.separation import check, gathering, search, seek
from lineal.separation.dictionary import Dictionary
from lineal.sources.memory import Memory
from lineal.verify import verify

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not all((DATA / name).exists() for name in ("endometrial.csv", "lizards.csv")),
    reason="endometrial and lizards (GPL, from the R package brglm2: tests/references/data/README.md) are absent",
)

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def differences(X, y, intercept):
    """Return every z as (row, against, fractions), written down anew from the definition."""
    rows = [[Fraction(1)] * intercept + [Fraction(float(v)) for v in row] for row in np.asarray(X, dtype=float)]
    classes = sorted(set(y))
    place = {label: k for k, label in enumerate(classes)}
    found = {}
    for i, (row, label) in enumerate(zip(rows, y, strict=True)):
        own = place[label]
        if len(classes) <= 2:
            found[i, None] = [v if own == 1 else -v for v in row]
            continue
        for k in range(len(classes)):
            if k != own:
                z = [Fraction(0)] * (len(classes) * len(row))
                for j, v in enumerate(row):
                    z[own * len(row) + j] += v
                    z[k * len(row) + j] -= v
                found[i, k] = z
    return found


def rank(rows):
    scaled = [[int(v * (1 << 1100)) for v in row] for row in rows]  # 2^-1074 is the smallest double
    return flint.fmpz_mat(scaled).rank() if scaled else 0


def confirm(answer, X, y, intercept=True):
    """Confirm an answer by its witness alone."""
    z = differences(X, y, intercept)
    witness = answer.witness
    if witness.direction is not None:
        d = [Fraction(int(v)) for v in witness.direction.T.reshape(-1)]
        margins = {key: sum(a * b for a, b in zip(row, d, strict=True)) for key, row in z.items()}
        assert min(margins.values()) >= 0
        strict = {key[0] for key, value in margins.items() if value > 0}
        assert len(strict) == answer.strict > 0
    if witness.weights is not None:
        against = witness.against or (None,) * len(witness.rows)
        used = [z[key] for key in zip(witness.rows, against, strict=True)]
        assert all(isinstance(weight, int) and weight > 0 for weight in witness.weights)
        assert not any(
            sum(w * row[j] for w, row in zip(witness.weights, used, strict=True)) for j in range(len(used[0]))
        )
        assert len(used) <= max(2 * rank(list(z.values())), 1)
    if answer.kind == "complete":
        assert min(margins.values()) > 0
    elif answer.kind == "quasi":
        assert witness.direction is not None
        assert witness.weights is not None
        # Maximal: what the direction leaves at zero is spanned by rows that no direction can move.
        assert rank([row for key, row in z.items() if margins[key] == 0]) == rank(used)
    else:
        assert answer.kind == "overlap"
        assert rank(used) == rank(list(z.values()))


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
    with mock.patch.object(digits, "FEW", data.draw(st.sampled_from([0, 100]))):  # by digits or by elimination
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
    with mock.patch.object(digits, "FEW", data.draw(st.sampled_from([0, 100]))):
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


@pytest.mark.parametrize("case", range(12))
def test_digits_and_pivots_prove_the_same(case, monkeypatch):
    X, y = list(hard_sets())[case]
    by_digits = lineal.separability(X, y)
    confirm(by_digits, X, y)
    monkeypatch.setattr(search, "dependency", lambda *_: None)
    monkeypatch.setattr(search, "orthogonal", lambda *_: None)
    by_pivots = lineal.separability(X, y)
    assert (by_pivots.kind, by_pivots.strict) == (by_digits.kind, by_digits.strict)


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


def test_a_timeout_is_no_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    answer = lineal.separability(X, rng.integers(0, 2, size=300), time_limit=1e-9)
    assert (answer.kind, answer.witness, answer.separable) == ("budget", None, None)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[np.nan]], [0], "NaN"),
        ([1.0], [0], "two dimensions"),
        ([[1.0]], [0, 1], "one class for every row"),
        ([["a"]], [0], "numbers"),
        ([[1.0], [2.0]], [0.0, np.nan], "y contains NaN"),
        ([[1.0], [2.0]], ["a", None], "missing value"),
        ([[2**53], [2**53 + 1]], [0, 1], "9007199254740993, which no double is"),
        (np.array([[2**64 - 1], [1]], dtype=np.uint64), [0, 1], "which no double is"),
        ([[1j], [2.0]], [0, 1], "complex"),
        (np.zeros((0, 1)), [], "some rows"),
    ],
)
def test_what_is_refused(X, y, words):
    with pytest.raises(InputError, match=words):
        lineal.separability(np.array(X), np.array(y))


@pytest.mark.parametrize("options", [{"time_limit": 0}, {"time_limit": np.nan}, {"sample_weight": ["a", 1, 1, 1]}])
def test_options_that_are_refused(options):
    with pytest.raises(InputError, match="number"):
        lineal.separability(CORNERS, [0, 1, 1, 0], **options)


UNITS = [[1.0, 1.7e308], [1e-300, 1e300], [5e-324, 5e-324], [1.7e308, 1.7e308], [1e300, 1e300]]


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize(("y", "kind"), [([0, 0, 0, 1], "complete"), ([0, 1, 1, 0], "overlap"), ([0, 1, 2, 2], None)])
def test_units_do_not_matter(units, y, kind):
    """Also where squares, or products with other numbers, are no doubles."""
    X = CORNERS * units
    kind = kind or lineal.separability(CORNERS, y).kind
    for rows in (X, sparse.csr_array(X)):
        answer = lineal.separability(rows, y)
        assert answer.kind == kind
        confirm(answer, X, y)
    held = X.astype(np.float64)
    held.flags.writeable = False
    assert lineal.separability(held, y).kind == kind


def test_entries_of_one_column_may_be_as_far_apart_as_doubles_are():
    X = np.array([[1e-320], [2e-320], [1e308], [1.5e308]])
    for y in ([0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1]):
        answer = lineal.separability(X, y)
        assert answer.kind == ("overlap" if y == [0, 1, 0, 1] else "complete")
        confirm(answer, X, y)


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


@pytest.mark.parametrize("outputs", [1, 3])
def test_fits_without_penalty_say_the_same(outputs):
    """`at_infinity` exactly where separability is complete or quasi; the direction's signs name the columns."""
    rng = np.random.default_rng(outputs)
    seen = set()
    for _ in range(30):
        X = rng.integers(-1, 2, size=(int(rng.integers(4, 25)), 2)).astype(float)
        y = rng.integers(0, max(outputs, 2), size=len(X))
        y = np.where(rng.random(len(X)) < 0.7, (X[:, 0] > 0) + (outputs > 1) * (X[:, 1] > 0), y).astype(int)
        if len(set(y)) != max(outputs, 2):
            continue
        kind = lineal.separability(X, y).kind
        loss = Logistic() if outputs == 1 else Softmax(outputs)
        found = fit(Memory(as_design(X), y.astype(float)), loss, NoPenalty(3))
        assert (found.verdict.kind == "at_infinity") == (kind != "overlap"), (X, y)
        seen.add(kind)
    assert seen == {"complete", "quasi", "overlap"}


def test_seek_on_counts():
    """A Poisson loss falls for ever only where counts are 0; a count above 0 holds its score."""
    x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    held = fit(Memory(as_design(x), np.array([0.0, 0.0, 3.0, 40.0])), Poisson(), NoPenalty(2))
    assert held.verdict.kind == "optimal"
    assert check(held.problem, np.array([[0.0], [1.0]])) is None
    dummy = np.array([[1.0], [1.0], [0.0], [0.0]])
    free = fit(Memory(as_design(dummy), np.array([0.0, 0.0, 3.0, 4.0])), Poisson(), NoPenalty(2))
    assert seek(free.problem, np.zeros((2, 1))).found is not None
    assert free.verdict.kind == "at_infinity"
    assert free.verdict.evidence["minus"] == ["x0"]


def test_sides_of_a_share():
    """A target between the classes counts on both sides."""
    x = np.array([[0.0], [1.0], [2.0]])
    found = fit(Memory(as_design(x), np.array([0.0, 0.5, 1.0])), Logistic(), NoPenalty(2))
    assert found.verdict.kind == "at_infinity"
    assert found.verdict.evidence["strict_rows"] == 2


def quasi_in_many_digits(seed, p=3):
    """Rows of both classes at p places; all other rows lie strictly beside the one plane through these places."""
    rng = np.random.default_rng(seed)
    places, others = rng.normal(size=(p, p)), rng.normal(size=(40, p))
    fractions = [[Fraction(1), *map(Fraction, row)] for row in places.tolist()]
    scaled = flint.fmpz_mat([[int(v * (1 << 1100)) for v in row] for row in fractions])
    basis, _ = scaled.nullspace()
    plane = [int(basis[j, 0]) for j in range(p + 1)]
    sides = [
        sum(a * b for a, b in zip(plane, [Fraction(1), *map(Fraction, row)], strict=True)) for row in others.tolist()
    ]
    X = np.vstack([places, places, others])
    y = np.array([*[0] * p, *[1] * p, *(int(side > 0) for side in sides)])
    return X, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{"C": np.inf}, {"penalty": None}])
def test_a_direction_that_doubles_cannot_hold_is_kept_in_integers(seed, options, tmp_path):
    X, y = quasi_in_many_digits(seed)
    verdict = lineal.LogisticRegression(**options).fit(X, y).verdict_
    assert verdict.kind == "at_infinity"
    exact = {name: int(value) for name, value in verdict.evidence["direction"].items()}
    assert max(map(abs, exact.values())) > 2**53
    d = [exact.get(name, 0) for name in ("(intercept)", "x0", "x1", "x2")]
    z = differences(X, y, 1)
    margins = [sum(a * b for a, b in zip(row, d, strict=True)) for row in z.values()]
    assert min(margins) == 0
    assert sum(margin > 0 for margin in margins) == verdict.evidence["strict_rows"] == 40
    assert verdict.evidence["plus"] == [name for name in ("(intercept)", "x0", "x1", "x2") if exact[name] > 0]
    assert verdict.evidence["minus"] == [name for name in ("(intercept)", "x0", "x1", "x2") if exact[name] < 0]
    assert verdict.evidence["remedies"] == ["firth", "ridge"]
    model = lineal.fit(X, y, model="logistic", penalty="none")
    model.save(tmp_path / "m.lineal")
    rows = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["x0,x1,x2,y", *rows]) + "\n")
    assert verify(tmp_path / "m.lineal", tmp_path / "d.csv").passed


@needs_data
@pytest.mark.parametrize("options", [{"C": np.inf}, {"penalty": None}])
def test_endometrial_without_a_penalty(options):
    """NV goes to +infinity, the others stay; Firth and ridge are named as what helps."""
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(DATA / "endometrial.csv")
    verdict = lineal.LogisticRegression(**options).fit(table[["NV", "PI", "EH"]], table["HG"]).verdict_
    assert verdict.kind == "at_infinity"
    assert verdict.evidence["direction"] == {"NV": 1}
    assert verdict.evidence["plus"] == ["NV"]
    assert verdict.evidence["minus"] == []
    assert set(verdict.evidence["finite"]) == {"(intercept)", "PI", "EH"}
    assert verdict.evidence["strict_rows"] == 13
    assert verdict.evidence["remedies"] == ["firth", "ridge"]
    assert "firth" in verdict.sentence
    assert "ridge" in verdict.sentence


def test_one_class_is_separable_and_no_logistic_regression():
    answer = lineal.separability(np.array([[1.0], [2.0]]), ["a", "a"])
    assert answer.kind == "complete"
    assert answer.sentence == "Every row has y = a, so there is nothing to separate."
    with pytest.raises(ValueError, match="class"):
        lineal.LogisticRegression(C=np.inf).fit([[1.0], [2.0]], ["a", "a"])


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_that_would_not_fit_in_memory_are_not_written_out(sparse, monkeypatch, tmp_path):
    """A sparse table of 40,000 x 20,000 was made dense, 6 GB, to ask whether a boundary exists; now the verdict says so."""
    monkeypatch.setattr(gathering, "MOST_CELLS", 500)
    draw = np.random.default_rng(0)
    x, y = np.where(draw.random((60, 20)) < 0.1, draw.normal(size=(60, 20)), 0.0), draw.integers(0, 2, size=60)
    model = lineal.Perceptron(max_iter=3, shuffle=False).fit(scipy.sparse.csr_array(x) if sparse else x, y)
    assert model.verdict_.kind == "budget"
    assert re.search(r"the oracle was not asked: a table with \d+ cells is too large", model.verdict_.sentence)
    table = tmp_path / "t.csv"
    np.savetxt(
        table, np.column_stack([x, y]), "%.17g", ",", header=",".join([*(f"x{j}" for j in range(20)), "y"]), comments=""
    )
    lineal.fit(table, "y", model="perceptron").save(tmp_path / "m.lineal")
    assert verify(tmp_path / "m.lineal", table).passed
