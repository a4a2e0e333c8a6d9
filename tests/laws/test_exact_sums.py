"""Sums by class, means and variances are those of exact arithmetic, in whatever parts the rows come."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from lineal.designs import Categorical, HStack, as_design
from lineal.generative.class_sums import SumClasses, class_sums
from lineal.generative.exact_sums import MAX_TERMS, ExactSums
from lineal.generative.moments import moments
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block


def total(part):
    return part.sum(axis=0)


@pytest.mark.parametrize("seed", range(60))
def test_sums_are_those_of_fractions_for_numbers_of_any_size(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 3)) * 10.0 ** rng.integers(-200, 100, size=(40, 3))
    cut = int(rng.integers(0, 41))
    sums = ExactSums.of([x[:cut]], total, cut, (3,)) + ExactSums.of([x[cut:]], total, 40 - cut, (3,))
    assert sums.fractions() == [sum(map(Fraction, column)) for column in x.T.tolist()]
    assert sums.values().tolist() == [math.fsum(column) for column in x.T]


def test_sums_stay_exact_beyond_the_terms_that_a_level_takes():
    x = np.full((4, 1), 1.0 - 2.0**-53)
    sums = ExactSums.of([x], total, 4)
    for _ in range(40):  # 4 x 2^40 terms
        sums = sums + sums
    assert sums.terms <= MAX_TERMS
    assert sums.fractions() == [Fraction(float(x[0, 0])) * 4 * 2**40]


def test_sums_of_nothing_are_zero_and_numbers_below_the_least_normal_count():
    assert ExactSums.zeros((2,)).values().tolist() == [0.0, 0.0]
    assert ExactSums.zeros((2,)).whole() == ([0, 0], 0)
    x = np.array([[5e-324], [2.0**-1060], [1.0]])
    assert ExactSums.of([x], total, 3).fractions() == [Fraction(5e-324) + Fraction(2) ** -1060 + 1]


def rows(seed, classes, weighted):
    rng = np.random.default_rng(seed)
    n = 60
    x = rng.normal(size=(n, 3)) * [1.0, 1e-9, 1e8] + [1e9, -1e15, 0.0]
    y = rng.integers(0, classes, size=n)
    weight = rng.choice([0.0, 0.1, 0.5, 3.0, 1e-7], size=n) if weighted else None
    return x, y, weight


def exact(x, y, weight, k):
    """Return mean and variance of the columns of a class, in fractions."""
    weight = np.ones(len(x)) if weight is None else weight
    own = [
        (Fraction(float(w)), list(map(Fraction, row.tolist())))
        for row, w in zip(x[y == k], weight[y == k], strict=True)
        if w
    ]
    a = sum(w for w, _ in own)
    b = [sum(w * row[j] for w, row in own) for j in range(x.shape[1])]
    c = [sum(w * row[j] ** 2 for w, row in own) for j in range(x.shape[1])]
    return [one / a for one in b], [two / a - (one / a) ** 2 for one, two in zip(b, c, strict=True)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [1, 3, 40])
@pytest.mark.parametrize("seed", range(3))
def test_means_and_variances_are_the_doubles_next_to_the_exact_ones(seed, classes, weighted):
    x, y, weight = rows(seed, classes, weighted)
    sums = class_sums(Memory(as_design(x, intercept=False), y.astype(float), weight), classes, squares=True)
    found = moments(sums)
    for k in np.flatnonzero(found.weight):
        mean, variance = exact(x, y, weight, k)
        assert found.mean[k].tolist() == [float(value) for value in mean]
        assert found.variance[k].tolist() == [float(value) for value in variance]
        rest = [float(value - Fraction(float(top))) for value, top in zip(mean, found.mean[k], strict=True)]
        assert found.low[k].tolist() == rest
    everyone = exact(x, np.zeros(len(x)), weight, 0)[1]
    assert found.spread.tolist() == [float(value) for value in everyone]


@pytest.mark.parametrize("weighted", [False, True])
def test_any_partition_gives_the_same_bits(weighted):
    x, y, weight = rows(7, 3, weighted)
    whole = class_sums(Memory(as_design(x, intercept=False), y.astype(float), weight), 3, squares=True)
    edges = [0, 1, 1, 30, 59, 60]
    parts = Blocks(
        [
            Block(
                as_design(x[a:b], intercept=False), y[a:b, None].astype(float), None if weight is None else weight[a:b]
            )
            for a, b in itertools.pairwise(edges)
            if b > a
        ]
    )
    found = class_sums(parts, 3, squares=True)
    assert np.array_equal(found.rows, whole.rows)
    for name in ("weight", "sums", "squares"):
        assert getattr(found, name).fractions() == getattr(whole, name).fractions()


def test_sums_of_sparse_matrices_and_categories_are_those_of_the_dense_one():
    rng = np.random.default_rng(3)
    words = rng.poisson(0.4, size=(50, 6)).astype(float) * rng.choice([1.0, 0.1], size=(50, 6))
    codes = rng.integers(-1, 4, size=50)
    y, weight = rng.integers(0, 3, size=(50, 1)).astype(float), rng.choice([0.0, 1.0, 0.3], size=50)
    mixed = HStack(
        [as_design(csr_array(words), intercept=False), Categorical(codes, 4), as_design(words[:, :2], False)]
    )
    for own in (None, weight):
        found = SumClasses(3)(Block(mixed, y, own))
        for k in range(3):
            heavy = (np.ones(50) if own is None else own) * (y[:, 0] == k)
            dense = np.column_stack([words, codes[:, None] == np.arange(4), words[:, :2]])
            exactly = [
                sum(Fraction(float(s)) * Fraction(float(v)) for s, v in zip(heavy, column, strict=True))
                for column in dense.T
            ]
            assert found.sums.fractions()[k * 12 : (k + 1) * 12] == exactly


def test_tasks_and_sums_can_be_pickled():
    x, y, weight = rows(1, 3, True)
    block = Block(as_design(x, intercept=False), y[:, None].astype(float), weight)
    task = pickle.loads(pickle.dumps(SumClasses(3, True)))  # noqa: S301
    again = pickle.loads(pickle.dumps(task(block)))  # noqa: S301
    assert again.sums.fractions() == SumClasses(3, True)(block).sums.fractions()
