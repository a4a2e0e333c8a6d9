"""The largest margin, against brute force over all faces, in fractions, against a general solver, and beside the soft margin."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import lineal
from lineal.errors import InputError


def distance(points):
    """The distance of the origin from a convex hull: the least over all faces whose nearest point lies within them."""
    best = np.inf
    for k in range(1, points.shape[1] + 2):
        for chosen in itertools.combinations(range(len(points)), k):
            face = points[list(chosen)]
            table = np.block([[face @ face.T, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
            share = np.linalg.lstsq(table, np.append(np.zeros(k), 1.0), rcond=None)[0][:k]
            if abs(share.sum() - 1.0) < 1e-9 and np.all(share > -1e-12):
                best = min(best, float(np.linalg.norm(share @ face)))
    return best


def proved(found, x, y, *, intercept=True):
    """Check both bounds in fractions, from the record and the data alone: gamma is reached, upper is proven."""
    sign = [1 if label == max(y) else -1 for label in y]
    rows = [[Fraction(1), *map(Fraction, map(float, row))] if intercept else list(map(Fraction, row)) for row in x]
    w = [Fraction(float(v)) for v in found.coef[:, 0]]
    least = min(s * sum(a * b for a, b in zip(row, w, strict=True)) for s, row in zip(sign, rows, strict=True))
    first = 1 if intercept and not found.augmented else 0
    length = sum(v * v for v in w[first:])
    assert least > 0
    assert least * least >= Fraction(found.gamma) ** 2 * length * (1 - Fraction(1, 10**12))
    whole = sum(found.weights)
    total = [
        sum(Fraction(a, whole) * sign[i] * rows[i][j] for a, i in zip(found.weights, found.rows, strict=True))
        for j in range(len(rows[0]))
    ]
    assert min(found.weights) > 0
    rest = abs(total[0]) if first else Fraction(0)
    size = math.sqrt(sum(v * v for v in total[first:])) + 2 * float(rest) * found.radius
    assert size <= found.upper * (1 + 1e-12)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.integers(2, 8), st.integers(1, 3), st.integers(0, 10**6))
def test_agrees_with_brute_force_over_faces(n, p, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-3, 4, size=(n, p)).astype(float), rng.integers(0, 2, n)
    if len(np.unique(y)) < 2 or lineal.separability(x, y).kind != "complete":
        with pytest.raises(InputError):
            lineal.maximum_margin(x, y)
        return
    differences = np.array([a - b for a in x[y == 1] for b in x[y == 0]])
    z = np.column_stack([np.ones(n), x]) * np.where(y == 1, 1.0, -1.0)[:, None]
    for augmented, truth in ((False, distance(differences) / 2), (True, distance(z))):
        found = lineal.maximum_margin(x, y, augmented=augmented)
        assert found.gamma <= truth * (1 + 1e-9)
        assert found.upper >= truth * (1 - 1e-9)
        assert found.upper - found.gamma <= 1e-9 * found.upper
        proved(found, x, y)


@pytest.mark.parametrize("scale", [[1e6, 1, 1], [1e6, 1, 1e-6], [1e-8] * 3, [1e9] * 3, [1e8, 1, 1, 1, 1, 1]])
@pytest.mark.parametrize("augmented", [False, True])
def test_units_do_not_loosen_the_proof(scale, augmented):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(150, len(scale))) * scale
    score = x @ (rng.normal(size=len(scale)) / scale)
    x, y = x[np.abs(score) > 0.3], (score[np.abs(score) > 0.3] > 0).astype(int)
    found = lineal.maximum_margin(x, y, augmented=augmented)
    assert found.upper - found.gamma <= 1e-9 * found.upper
    proved(found, x, y)


def test_agrees_with_a_general_solver():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 4))
    score = x @ [1.0, -2.0, 0.5, 0.3] + 0.2
    x, y = x[np.abs(score) > 0.4], np.where(score[np.abs(score) > 0.4] > 0, 1, -1)
    found = lineal.maximum_margin(x, y)
    rows = y[:, None] * np.column_stack([np.ones(len(x)), x])
    solved = optimize.minimize(
        lambda w: 0.5 * w[1:] @ w[1:],
        found.coef[:, 0] / found.gamma + 0.01,
        jac=lambda w: np.append(0.0, w[1:]),
        constraints={"type": "ineq", "fun": lambda w: rows @ w - 1, "jac": lambda _: rows},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert 1 / np.linalg.norm(solved.x[1:]) == pytest.approx(found.gamma, rel=1e-6)
    np.testing.assert_allclose(solved.x / np.linalg.norm(solved.x[1:]), found.coef[:, 0], atol=1e-5)


def test_the_soft_margin_tends_to_the_hard_one():
    rng = np.random.default_rng(1)
    x = np.vstack([rng.normal(size=(20, 3)) - 3, rng.normal(size=(20, 3)) + 3])
    y = np.repeat([0, 1], 20)
    hard = lineal.maximum_margin(x, y)
    gammas = []
    for C in (1e-3, 1e-2, 1.0):
        soft = lineal.LinearSVC(loss="hinge", C=C, tol=1e-10).fit(x, y)
        assert soft.verdict_.kind == "optimal"
        gammas.append(1 / np.linalg.norm(soft.coef_))
    assert gammas[0] > gammas[1] > gammas[2]  # a softer margin is wider, at the price of rows inside it
    # where C exceeds the largest multiplier of the hard margin, 1/gamma^2 at most, both are the same
    assert hard.gamma**-2 < 1.0
    assert gammas[2] == pytest.approx(hard.gamma, rel=1e-5)


def test_figures_of_a_case_done_by_hand():
    found = lineal.maximum_margin([[0.0, 0.0], [0.0, 2.0], [4.0, 1.0], [4.0, 7.0]], [0, 0, 1, 1])
    assert found.gamma == pytest.approx(2.0, rel=1e-12)
    assert found.radius == pytest.approx(math.sqrt(65))
    assert found.bound == pytest.approx(65 / 4)
    assert found.share == pytest.approx(65 / 16)
    assert found.to_dict()["B"] == pytest.approx(0.5)
    assert found.sentence.startswith("Separated with margin 2, the largest there is")


def test_sparse_and_wide_rows_and_duplicates():
    rng = np.random.default_rng(5)
    x = scipy.sparse.random(12, 60, density=0.2, random_state=0, format="csr")
    y = np.arange(12) % 2
    one, two = lineal.maximum_margin(x, y), lineal.maximum_margin(x.toarray(), y)
    assert one.gamma == pytest.approx(two.gamma, rel=1e-9)
    proved(one, x.toarray(), y)
    dense = rng.normal(size=(5, 9)).astype(np.float32)
    labels = np.array(["a", "b", "b", "a", "b"])
    once = lineal.maximum_margin(dense, labels)
    twice = lineal.maximum_margin(np.vstack([dense, dense]), np.tile(labels, 2))
    assert once.gamma == pytest.approx(twice.gamma, rel=1e-9)
    assert twice.share == pytest.approx(once.share / 2)


def test_several_classes():
    x = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [0.5, 0.2]])
    y = np.array([0, 1, 2, 0])
    found = lineal.maximum_margin(x, y, augmented=True)
    assert found.upper - found.gamma <= 1e-8 * found.upper
    scores = np.column_stack([np.ones(4), x]) @ found.coef
    own = scores[np.arange(4), y]
    rivals = np.where(np.eye(3, dtype=bool)[y], -np.inf, scores).max(axis=1)
    assert (own - rivals).min() == pytest.approx(found.gamma, rel=1e-9)
    assert np.linalg.norm(found.coef) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([[0.0], [1.0]], [0, 0], "one class only"),
        ([[0.0], [0.0]], [0, 1], "not separable.*row 0"),
        ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1], "row 3"),
        (np.zeros((0, 2)), [], "0 rows"),
        ([[np.nan]], [1], "NaN"),
    ],
)
def test_says_why_there_is_none(x, y, words):
    with pytest.raises(InputError, match=words):
        lineal.maximum_margin(x, y)
