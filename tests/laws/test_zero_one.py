"""The least number of mistakes: against brute force over all hyperplanes through d points, in fractions; and verified."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import lineal
from lineal import container
from lineal.cli import run
from lineal.errors import InputError


def reduced(rows):
    """Return the rows in coordinates of their span: as many columns as their rank, still exact."""
    basis, pivots = [], []
    for row in rows:
        left = list(row)
        for known, pivot in zip(basis, pivots, strict=True):
            share = left[pivot]
            left = [a - share * b for a, b in zip(left, known, strict=True)]
        pivot = next((j for j, a in enumerate(left) if a), None)
        if pivot is None:
            continue
        left = [a / left[pivot] for a in left]
        basis = [[a - known[pivot] * b for a, b in zip(known, left, strict=True)] for known in basis] + [left]
        pivots.append(pivot)
    return [[row[pivot] for pivot in pivots] for row in rows]  # a reduced basis: coordinates are entries


def orthogonal(rows, size):
    """Return the one vector orthogonal to size - 1 independent rows, None if they are dependent: signed minors."""

    def determinant(square):
        square, sign = [list(row) for row in square], 1
        for k in range(len(square)):
            pivot = next((i for i in range(k, len(square)) if square[i][k]), None)
            if pivot is None:
                return Fraction(0)
            if pivot != k:
                square[k], square[pivot], sign = square[pivot], square[k], -sign
            for i in range(k + 1, len(square)):
                share = square[i][k] / square[k][k]
                square[i] = [a - share * b for a, b in zip(square[i], square[k], strict=True)]
        product = Fraction(sign)
        for k in range(len(square)):
            product *= square[k][k]
        return product

    vector = [(-1) ** j * determinant([[*row[:j], *row[j + 1 :]] for row in rows]) for j in range(size)]
    return vector if any(vector) else None


def brute(rows, weights, strict=None):
    """Least weight of rows with z'w <= 0 (< 0 for rows that are not strict) over all w.

    Every face of the arrangement has an extreme ray, a hyperplane through as many points as there are dimensions less one;
    rows off it keep their side, and those on it are the same question with a dimension less. The last face is w = 0.
    """
    strict = [True] * len(rows) if strict is None else strict
    rows = reduced(rows)
    size = len(rows[0]) if rows else 0
    best = sum(w for w, needed in zip(weights, strict, strict=True) if needed)
    if size == 0:
        return best
    for chosen in itertools.combinations(range(len(rows)), size - 1):
        ray = orthogonal([rows[i] for i in chosen], size)
        if ray is None:
            continue
        sides = [sum(a * b for a, b in zip(row, ray, strict=True)) for row in rows]
        on = [i for i, side in enumerate(sides) if side == 0]
        rest = brute([rows[i] for i in on], [weights[i] for i in on], [strict[i] for i in on]) if on else 0
        for sign in (1, -1):
            wrong = sum(w for w, side in zip(weights, sides, strict=True) if sign * side < 0)
            best = min(best, wrong + rest)
    return best


def signed(x, y, *, intercept=True):
    return [
        [(1 if label else -1) * Fraction(float(v)) for v in ([1.0, *row] if intercept else row)]
        for row, label in zip(x, y, strict=True)
    ]


def confirmed(found, x, y, weights):
    """Check from the record alone: the mistakes of coef, and every set of rows, in fractions."""
    z = signed(x, y)
    w = [Fraction(float(v)) for v in found.coef]
    wrong = [i for i, row in enumerate(z) if sum(a * b for a, b in zip(row, w, strict=True)) <= 0]
    assert tuple(wrong) == tuple(sorted(found.rows))
    assert found.mistakes == pytest.approx(sum(weights[i] for i in wrong))
    for rows, combination in found.cuts:
        assert min(combination) > 0
        for j in range(len(z[0])):
            assert sum(a * z[i][j] for a, i in zip(combination, rows, strict=True)) == 0


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(2, 9), st.integers(1, 3), st.integers(0, 10**6), st.sampled_from(["none", "whole", "real"]))
def test_agrees_with_brute_force(n, p, seed, kind):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, size=(n, p)).astype(float), rng.integers(0, 2, n)
    y[0] = 1 - y[1]
    weights = {"none": np.ones(n), "whole": rng.integers(0, 4, n) * 1.0, "real": rng.uniform(0.1, 2.0, n)}[kind]
    weights[:2] += 1.0 * (kind != "none")
    found = lineal.zero_one(x, y, sample_weight=None if kind == "none" else weights)
    truth = brute(signed(x, y), [Fraction(float(w)) for w in weights])
    assert found.verdict.kind == "optimal"
    assert found.mistakes == pytest.approx(float(truth), abs=1e-12)
    assert found.lower <= float(truth) * (1 + 1e-12)
    assert found.verdict.gap == pytest.approx(0.0, abs=1e-8)
    there = np.flatnonzero(weights > 0)
    assert set(found.rows) <= set(there.tolist())
    if kind != "whole":
        confirmed(found, x, y, weights)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(4, 9), st.integers(2, 3), st.integers(0, 10**6))
def test_without_an_intercept_the_boundary_passes_the_origin(n, p, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, size=(n, p)).astype(float), rng.integers(0, 2, n)
    y[0] = 1 - y[1]
    found = lineal.zero_one(x, y, intercept=False)
    assert found.mistakes == float(brute(signed(x, y, intercept=False), [Fraction(1)] * n))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(3, 9), st.integers(1, 3), st.integers(0, 10**6), st.sampled_from(["positive", "negative"]))
def test_the_boundary_may_belong_to_a_class(n, p, seed, tie):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, size=(n, p)).astype(float), rng.integers(0, 2, n)
    y[0] = 1 - y[1]
    favoured = 1 if tie == "positive" else 0
    found = lineal.zero_one(x, y, intercept=False, tie=tie)
    truth = brute(signed(x, y, intercept=False), [Fraction(1)] * n, (y != favoured).tolist())
    assert found.verdict.kind == "optimal"
    assert found.mistakes == float(truth)
    score = x @ found.coef  # whole numbers, small: exact
    predicted = (score >= 0) if tie == "positive" else (score > 0)
    assert int(np.sum(predicted != (y == 1))) == found.mistakes
    z = signed(x, y, intercept=False)
    for rows, weights in found.cuts:
        assert min(weights) > 0
        assert any(y[i] != favoured for i in rows)
        for j in range(p):
            assert sum(a * z[i][j] for a, i in zip(weights, rows, strict=True)) == 0
    plain = lineal.zero_one(x, y)
    assert lineal.zero_one(x, y, tie=tie).mistakes == plain.mistakes, "with an intercept the rule does not matter"


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_a_weight_is_a_repeated_row_and_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-2, 3, size=(7, 2)).astype(float), np.array([0, 1, *rng.integers(0, 2, 5)])
    weights = rng.integers(1, 4, 7)
    once = lineal.zero_one(x, y, sample_weight=weights)
    again = lineal.zero_one(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    assert once.mistakes == again.mistakes
    order = rng.permutation(7)
    assert lineal.zero_one(x[order], y[order], sample_weight=weights[order]).mistakes == once.mistakes


@pytest.mark.slow
@pytest.mark.parametrize("scale", [[1.0, 1.0], [1e6, 1.0], [1e-9, 1e9]])
def test_units_change_nothing(scale):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 2))
    y = (x @ [1.0, -1.0] + 0.6 * rng.normal(size=40) > 0).astype(int)
    plain = lineal.zero_one(x, y)
    assert plain.verdict.kind == "optimal"
    assert lineal.zero_one(x * scale, y).mistakes == plain.mistakes == float(brute(signed(x, y), [Fraction(1)] * 40))


def test_two_classes_that_overlap_by_a_hair():
    x = np.array([[0.0], [1.0], [1.0 + 2e-9], [2.0]])
    assert lineal.zero_one(x, [0, 1, 0, 1]).mistakes == 1.0
    assert lineal.zero_one(x, [0, 0, 1, 1]).mistakes == 0.0


def test_corners_of_the_notes():
    corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    for y, least in (([0, 0, 0, 1], 0), ([0, 1, 1, 1], 0), ([0, 1, 1, 0], 1)):
        assert lineal.zero_one(corners, y).mistakes == least
    assert lineal.zero_one(corners, [1, 1, 1, 1]).mistakes == 0.0
    assert lineal.zero_one([[3.0], [3.0], [3.0]], ["a", "b", "b"]).mistakes == 1.0
    assert lineal.zero_one(scipy.sparse.csr_matrix(np.eye(4)), [0, 1, 1, 0]).mistakes == 0.0
    assert lineal.zero_one(np.float32([[0.1], [0.2], [0.3]]), [0, 1, 0]).mistakes == 1.0


def test_time_is_said_and_bounds_hold():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    found = lineal.zero_one(x, y, time_limit=0.5)
    assert found.verdict.kind == "budget"
    assert 0 <= found.lower < found.mistakes <= 300  # how good, depends on the machine
    assert "time limit" in found.sentence
    assert "double" in found.sentence


@pytest.mark.parametrize(
    ("x", "y", "options", "words"),
    [
        ([[0.0], [1.0], [2.0]], [0, 1, 2], {}, "3 classes"),
        ([[0.0], [1.0]], [0, 1], {"time_limit": 0}, "above 0"),
        ([[0.0], [1.0]], [0, 1], {"tie": "plus"}, "accepted are"),
        ([[0.0], [np.inf]], [0, 1], {}, "infinity"),
        ([[0.0], [1.0]], [0, 1], {"sample_weight": [0, 0]}, "every sample_weight is zero"),
        (np.zeros((0, 1)), [], {}, "0 rows"),
    ],
)
def test_what_cannot_be_answered_is_refused(x, y, options, words):
    with pytest.raises(InputError, match=words):
        lineal.zero_one(x, y, **options)


@pytest.fixture
def fitted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(40, 2)).round(2)
    y = np.where(x @ [1.0, 2.0] + 0.7 * rng.normal(size=40) > 0, "yes", "no")
    lines = [f"{a},{b},{1 + i % 3},{c}" for i, ((a, b), c) in enumerate(zip(x, y, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,w,y", *lines]) + "\n")
    words = ["fit", "t.csv", "--target", "y", "--model", "zero-one", "--test-size", "0", "--weight", "w", "--json"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    return x, (y == "yes").astype(int), 1 + np.arange(40) % 3, told


def test_the_command_line_fits_and_verifies(fitted, capsys):
    x, y, weights, told = fitted
    truth = float(brute(signed(x, y), [Fraction(int(w)) for w in weights]))
    assert told["verdict"]["kind"] == "optimal"
    assert told["verdict"]["evidence"]["mistakes"] == truth
    assert told["metrics"]["train"]["mean_loss"] == pytest.approx(truth / weights.sum())
    assert run(["verify", "t.lineal", "t.csv"]) == 0
    assert "exactly zero" in capsys.readouterr().out
    model = lineal.load("t.lineal")
    wrong = model.predict({"a": x[:, 0], "b": x[:, 1]}) != np.where(y == 1, "yes", "no")
    assert weights[wrong].sum() == truth
    with pytest.raises(InputError, match="no probabilities"):
        model.predict_proba({"a": [0.0], "b": [0.0]})


def _coefficient(meta, arrays):
    arrays["coef"] = -arrays["coef"]


def _fewer(meta, arrays):
    evidence = meta["verdict"]["evidence"]
    evidence["mistakes"] -= 1


def _tighter(meta, arrays):
    evidence = meta["verdict"]["evidence"]
    evidence["least"] = evidence["mistakes"] = evidence["mistakes"] + 1


def _weight(meta, arrays):
    weights = meta["verdict"]["evidence"]["cuts"][0]["weights"]
    weights[0] = str(int(weights[0]) + 1)


def _dropped_set(meta, arrays):
    evidence = meta["verdict"]["evidence"]
    evidence["cuts"] = evidence["cuts"][:1]


def _dropped_row(meta, arrays):
    cut = meta["verdict"]["evidence"]["cuts"][0]
    cut["rows"], cut["weights"] = cut["rows"][1:], cut["weights"][1:]


def _negative(meta, arrays):
    cut = meta["verdict"]["evidence"]["cuts"][0]
    cut["weights"] = [str(-int(weight)) for weight in cut["weights"]]


def _null(meta, arrays):
    meta["verdict"]["evidence"]["null_objective"] = 0.9


def _tie(meta, arrays):
    meta["verdict"]["evidence"]["tie"] = "positive"


def _bound(meta, arrays):
    meta["verdict"]["evidence"]["lower_bound"] -= 0.01


MUTATIONS = [_coefficient, _fewer, _tighter, _weight, _dropped_set, _dropped_row, _negative, _null, _bound, _tie]


@pytest.mark.parametrize("change", MUTATIONS)
def test_a_changed_file_is_refused(fitted, capsys, change):
    meta, arrays = container.read("t.lineal")
    change(meta, arrays)
    container.write("m.lineal", meta, arrays)
    assert run(["verify", "m.lineal", "t.csv"]) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--penalty", "ridge:0.1"], "no penalty"),
        (["--offset", "w"], "offset"),
        (["--bounds", "a:0:"], "bounds"),
        (["--solver", "newton"], "solver has no effect"),
    ],
)
def test_options_without_effect_are_refused(fitted, capsys, words, expected):
    capsys.readouterr()
    assert run(["fit", "t.csv", "--target", "y", "--model", "zero-one", "-o", "n.lineal", *words]) == 2
    assert expected in capsys.readouterr().err
