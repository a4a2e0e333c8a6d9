"""Laws of covariances: any partition, any storage, weights as repeats, and the sandwich on hard designs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import lineal
from lineal.designs import Categorical, Dense, HStack, Ones, as_design
from lineal.fitting.covariance import ROBUST, clustered, covariance, robust
from lineal.fitting.fitting import fit
from lineal.losses import Squared
from lineal.penalties import NoPenalty
from lineal.sources.memory import Blocks, Memory
from lineal.sources.source import Block
from tests.laws.catalogue import minimised

LOSSES = minimised(likelihood=True)
LONGLEY = Path(__file__).resolve().parents[1] / "references" / "data" / "nist" / "Longley.csv"


def rows(loss, seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 3.0]
    X[rng.random(size=X.shape) < 0.3] = 0.0
    eta = X @ [0.5, -0.2] + 0.1
    if loss.targets == "numbers":
        y = eta[:, None] + rng.normal(size=(n, loss.outputs))
    elif loss.targets == "counts":
        y = rng.poisson(np.exp(eta))[:, None].astype(float)
    else:
        noisy = eta + rng.logistic(size=n)
        y = np.digitize(noisy, [0.0] if loss.targets == "two classes" else [-0.7, 0.7])[:, None].astype(float)
    weight = rng.integers(0, 3, size=n).astype(float)
    return X, y, weight, rng.integers(0, 7, size=n)


def kinds(loss):
    return [kind for kind in ROBUST if not loss.coupled or kind in ("HC0", "HC1")]


def every(result, group):
    """Return all covariances of a fit."""
    found = [robust(result.problem, result.coef, kind) for kind in kinds(result.problem.loss)]
    return [covariance(result.problem, result.coef), *found, clustered(result.problem, result.coef, group)[0]]


def close(ours, theirs, rtol=1e-6):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name}{loss.outputs}")
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 1000))
def test_weights_partitions_and_storage(loss, seed):
    X, y, weight, group = rows(loss, seed)
    absent = weight == 0.0
    y_hidden = y.copy()
    y_hidden[absent] = np.nan if loss.targets == "numbers" else 0.0  # whatever is there
    whole = fit(Memory(as_design(X), y_hidden, weight), loss, NoPenalty(3), tol=1e-12)
    expected = every(whole, group)
    for matrix in expected:
        np.testing.assert_allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12)
        assert np.all(np.diagonal(matrix) > 0.0)
    index = np.repeat(np.arange(len(y)), weight.astype(int))
    close(every(fit(Memory(as_design(X[index]), y[index]), loss, NoPenalty(3), tol=1e-12), group[index]), expected)
    cuts = [slice(0, 7), slice(7, 8), slice(8, len(y))]
    blocks = Blocks([Block(as_design(X[at]), y[at], weight[at]) for at in cuts])
    close(every(fit(blocks, loss, NoPenalty(3), tol=1e-12), group), expected)
    stored = Memory(as_design(sparse.csr_array(X)), y, weight)
    close(every(fit(stored, loss, NoPenalty(3), tol=1e-12), group), expected)


def test_codes_are_columns():
    rng = np.random.default_rng(0)
    codes, x = rng.integers(-1, 3, size=80).astype(np.int32), rng.normal(size=(80, 1))
    y = x[:, 0] + codes + rng.normal(size=80)
    group = rng.integers(0, 9, size=80)
    plain = np.column_stack([x, codes[:, None] == np.arange(3)])
    ours = fit(Memory(HStack([Ones(80), Dense(x), Categorical(codes, 3)]), y), Squared(1), NoPenalty(5))
    theirs = fit(Memory(as_design(plain), y), Squared(1), NoPenalty(5))
    close(every(ours, group), every(theirs, group))


def test_a_row_fitted_exactly_adds_nothing():
    """Leverage one: the residual is zero and so is its part, whatever it is divided by."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    X[:, 1] = 0.0
    X[3, 1] = 1.0
    found = fit(Memory(as_design(X), y), Squared(1), NoPenalty(3))
    others = np.arange(20) != 3
    rest = fit(Memory(as_design(X[others][:, :1]), y[others]), Squared(1), NoPenalty(2))
    for kind in ("HC0", "HC2", "HC3"):
        ours = robust(found.problem, found.coef, kind)[:2, :2]
        np.testing.assert_allclose(ours, robust(rest.problem, rest.coef, kind), rtol=1e-8)


def test_ill_conditioned_columns():
    """Longley's columns, HC3 by exact rational arithmetic on the same doubles."""
    from flint import fmpq, fmpq_mat

    table = np.genfromtxt(LONGLEY, delimiter=",", names=True)
    names = [name for name in table.dtype.names if name != "y"]
    X = np.column_stack([table[name] for name in names])
    result = fit(Memory(as_design(X), table["y"]), Squared(1), NoPenalty(7))

    def exact(matrix):
        cells = [[fmpq(*float(v).as_integer_ratio()) for v in row] for row in matrix]
        return fmpq_mat(len(cells), len(cells[0]), [cell for row in cells for cell in row])

    Z = exact(np.column_stack([np.ones(len(X)), X]))
    y = exact(table["y"][:, None])
    bread = (Z.transpose() * Z).inv()
    residual = y - Z * (bread * Z.transpose() * y)
    hat = Z * bread * Z.transpose()
    n = len(X)
    middle = fmpq_mat(n, n)
    for i in range(n):
        middle[i, i] = (residual[i, 0] / (1 - hat[i, i])) ** 2
    spread = bread * Z.transpose() * middle * Z * bread
    expected = [float(Fraction(int(spread[j, j].p), int(spread[j, j].q))) for j in range(7)]
    found = np.diagonal(robust(result.problem, result.coef, "HC3"))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("model", ["logistic", "poisson"])
@pytest.mark.parametrize("far", [1e2, 1e4, 1e6])
def test_columns_far_from_zero_keep_the_digits_of_their_errors(model, far):
    """Against the inverse information in fifty digits: of means of 1e6 standard deviations four digits were left."""
    draw = np.random.default_rng(int(far))
    x = far + draw.normal(size=(40, 2))
    score = x[:, 0] - far + draw.normal(size=40)
    y = (score > 0).astype(float) if model == "logistic" else draw.poisson(np.exp(0.3 * (x[:, 0] - far))).astype(float)
    found = lineal.fit(x, y, model=model, penalty="none")
    with mp.workdps(50):
        rows = [[mp.mpf(1), mp.mpf(float(a)), mp.mpf(float(b))] for a, b in x]
        eta = [sum(a * mp.mpf(float(b)) for a, b in zip(row, found.coef[:, 0], strict=True)) for row in rows]
        weight = [mp.exp(e) / (1 + mp.exp(e)) ** 2 if model == "logistic" else mp.exp(e) for e in eta]
        information = mp.matrix(3, 3)
        for row, w in zip(rows, weight, strict=True):
            for j in range(3):
                for k in range(3):
                    information[j, k] += w * row[j] * row[k]
        exact = information**-1
        error = [mp.sqrt(exact[j, j]) for j in range(3)]
        off = [(exact[j, k] - found.covariance()[j, k]) / (error[j] * error[k]) for j in range(3) for k in range(3)]
        assert max(abs(float(value)) for value in off) < 1e-9
