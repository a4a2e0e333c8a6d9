"""The gap of a kernel machine is never below the true distance to the optimum, whatever the coefficients are.

Optima come from exact arithmetic: of squares by rational elimination, of machines with corners by the conditions of
optimality, checked in fractions, of the logistic loss by Newton steps of 60 digits.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from lineal.certify.span import best_constant, prove
from lineal.kernels import Gaussian, Linear, Polynomial
from lineal.losses import EpsilonInsensitive, Hinge, Logistic, Softmax, Squared
from lineal.machines.gram import KernelGram, MatrixGram, semidefinite
from lineal.machines.support import Dual, Support
from lineal.problem.span import SpanProblem

SEEDS = range(12)


def grid(seed, n=7, p=2):
    """Return rows of small whole numbers, of which kernels of inner products are exact, and their generator."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, size=(n, p)).astype(float), rng


def gram_of(kernel, X):
    return KernelGram(kernel, kernel.points(X))


def exact(values):
    return [[Fraction(float(v)) for v in row] for row in np.atleast_2d(values)]


def solved(matrix, right):
    """Return the solution of a regular system in fractions."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                ratio = rows[i][k] / rows[k][k]
                rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def objective(loss, K, y, s, strength, a, b):
    """Return F in fractions, of squares, hinge and epsilon-insensitive losses."""
    f = times(K, a)
    eta = [value + b for value in f]
    if isinstance(loss, Squared):
        rows = [(e - t) ** 2 / 2 for e, t in zip(eta, y, strict=True)]
    elif isinstance(loss, Hinge):
        rows = [max(1 - (2 * t - 1) * e, Fraction(0)) for e, t in zip(eta, y, strict=True)]
    else:
        rows = [max(abs(e - t) - Fraction(loss.epsilon), Fraction(0)) for e, t in zip(eta, y, strict=True)]
    norm = sum(c * value for c, value in zip(a, f, strict=True))
    return sum(w * r for w, r in zip(s, rows, strict=True)) / sum(s) + strength * norm / 2


def sabotaged(rng, coef, intercept):
    """Yield coefficients near the optimum and far from it."""
    yield coef, intercept
    for size in (1e-9, 1e-3, 0.5):
        yield coef + size * rng.normal(size=coef.shape), intercept
        yield coef * (1 + size), intercept + size * bool(np.any(intercept))
    yield np.zeros_like(coef), intercept
    yield rng.normal(size=coef.shape) * 100.0, intercept
    yield np.where(rng.random(coef.shape) < 0.5, coef, 0.0), intercept


@pytest.mark.parametrize("seed", SEEDS)
def test_squares(seed):
    X, rng = grid(seed)
    kernel = [Linear(), Polynomial(2)][seed % 2]
    y, s = rng.normal(size=(len(X), 1)), rng.integers(1, 4, size=len(X)) * 0.5
    strength = float(rng.choice([0.5, 1e-3, 2.0**-30]))
    gram = gram_of(kernel, X)
    problem = SpanProblem(gram, Squared(), y, s, strength, intercept=False)
    K, weights, targets = exact(gram.whole()), exact(s)[0], [row[0] for row in exact(y)]
    charge = Fraction(strength) * sum(weights)
    system = [[K[i][j] + (charge / weights[i] if i == j else 0) for j in range(len(K))] for i in range(len(K))]
    best = solved(system, targets)
    least = objective(Squared(), K, targets, weights, Fraction(strength), best, Fraction(0))
    at = np.array([[float(value)] for value in best])
    for coef, _ in sabotaged(rng, at, 0.0):
        proof = prove(problem, coef, np.zeros(1))
        here = objective(Squared(), K, targets, weights, Fraction(strength), [row[0] for row in exact(coef)], 0)
        assert proof.gap is not None
        assert Fraction(proof.gap) >= here - least
    assert prove(problem, at, np.zeros(1)).relative_gap <= 1e-9


def corners(loss, seed):
    """Return a machine with corners, its optimum in fractions, and the optimum in doubles."""
    X, rng = grid(seed, n=9)
    kernel = [Linear(), Polynomial(2), Polynomial(3)][seed % 3]
    gram, n = gram_of(kernel, X), len(X)
    y = (np.arange(n) % 2).astype(float) if isinstance(loss, Hinge) else rng.integers(-4, 5, size=n) * 0.5
    s, C = rng.integers(1, 3, size=n).astype(float), float(rng.choice([0.125, 1.0, 64.0]))
    target = 2 * y - 1 if isinstance(loss, Hinge) else y
    top = C * s
    low, high = (np.minimum(top * target, 0), np.maximum(top * target, 0)) if isinstance(loss, Hinge) else (-top, top)
    epsilon = getattr(loss, "epsilon", 0.0)
    fit = Support(Dual(gram, target, low, high, epsilon), 1.0)
    fit.run(1e-12, 200_000)
    problem = SpanProblem(gram, loss, y[:, None], s, 1.0 / (C * s.sum()), intercept=True)
    # the lower bound of the dual, in fractions, at the solver's point put exactly into the equality by one coefficient
    K, a = exact(gram.whole()), exact(fit.coef)[0]
    rest = sum(a)
    inside = [i for i in range(n) if low[i] < a[i] - rest < high[i] and (not epsilon or a[i] * (a[i] - rest) > 0)]
    if rest != 0:
        a[inside[0]] -= rest
    f = times(K, a)
    value = sum(t * c for t, c in zip(exact(target)[0], a, strict=True)) - Fraction(epsilon) * sum(map(abs, a))
    bound = (value - sum(c * v for c, v in zip(a, f, strict=True)) / 2) / (Fraction(C) * sum(exact(s)[0]))
    return problem, K, fit.coef[:, None], bound, rng


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.25), EpsilonInsensitive(0.0)], ids=str)
def test_corners(loss, seed):
    problem, K, at, bound, rng = corners(loss, seed)
    weights, targets = exact(problem.weight)[0], [row[0] for row in exact(problem.y)]
    best = best_constant(loss, problem.y, problem.weight, problem.gram.product(at)[0])
    # 1/(C S) as the machine has it: a double
    strength = Fraction(problem.strength)
    for coef, b in sabotaged(rng, at, best):
        proof = prove(problem, coef, b)
        here = objective(loss, K, targets, weights, strength, [row[0] for row in exact(coef)], Fraction(float(b[0])))
        assert proof.gap is not None
        # F* is at least the dual's value: the gap must reach what is above it, but for how far that is from F*
        assert Fraction(proof.gap) >= here - bound - Fraction(1, 10**9) * (1 + abs(bound))
        assert proof.objective == pytest.approx(float(here), rel=1e-9, abs=1e-12)
    near = prove(problem, at, best)
    assert near.relative_gap <= 1e-6
    exactly = objective(loss, K, targets, weights, strength, [row[0] for row in exact(at)], Fraction(float(best[0])))
    assert near.objective - near.gap <= float(bound) + 1e-12
    assert float(exactly - bound) <= near.gap + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("intercept", [False, True])
def test_logistic(seed, intercept):
    rng = np.random.default_rng(seed)
    n = 6
    X, y, s = rng.normal(size=(n, 2)), np.array([0.0, 1, 0, 1, 1, 0])[:, None], rng.uniform(0.5, 2.0, size=n)
    strength = float(rng.choice([0.3, 1e-2]))
    gamma = 0.5
    gram = gram_of(Gaussian(gamma), X)
    problem = SpanProblem(gram, Logistic(), y, s, strength, intercept)
    with mpmath.workdps(60):
        K = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                d = sum((mpmath.mpf(X[i, c]) - mpmath.mpf(X[j, c])) ** 2 for c in range(2))
                K[i, j] = mpmath.exp(-gamma * d)
        S = mpmath.fsum(map(mpmath.mpf, s))

        def value(a, b):
            f = K * a
            rows = [mpmath.log1p(mpmath.exp(f[i] + b)) - y[i, 0] * (f[i] + b) for i in range(n)]
            return mpmath.fsum(s[i] * rows[i] for i in range(n)) / S + strength * (a.T * f)[0] / 2

        def newton():
            a, b = mpmath.matrix(n, 1), mpmath.mpf(0)
            for _ in range(14):
                f = K * a
                p = [1 / (1 + mpmath.exp(-(f[i] + b))) for i in range(n)]
                M, right = mpmath.matrix(n + 1, n + 1), mpmath.matrix(n + 1, 1)
                for i in range(n):
                    w = s[i] / S
                    right[i] = -(w * (p[i] - y[i, 0]) + strength * a[i])
                    for j in range(n):
                        M[i, j] = w * p[i] * (1 - p[i]) * K[i, j] + (strength if i == j else 0)
                        M[n, j] += w * p[i] * (1 - p[i]) * K[i, j] * intercept
                    M[i, n] = w * p[i] * (1 - p[i]) * intercept
                    right[n] -= w * (p[i] - y[i, 0]) * intercept
                    M[n, n] += w * p[i] * (1 - p[i]) * intercept
                if not intercept:
                    M[n, n] = 1
                step = mpmath.lu_solve(M, right)
                a, b = a + step[:n], b + step[n]
            return a, b

        a, b = newton()
        least = value(a, b)
        at, best = np.array([[float(v)] for v in a]), np.array([float(b)])
        for coef, constant in sabotaged(rng, at, best):
            proof = prove(problem, coef, constant)
            here = value(mpmath.matrix(coef.tolist()), mpmath.mpf(float(constant[0])))
            assert proof.gap is None or mpmath.mpf(proof.gap) >= here - least
    assert prove(problem, at, best).relative_gap <= 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_softmax_gap_bounds_the_way_to_better_coefficients(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 3, size=(20, 1)).astype(float)
    y[:3, 0] = [0, 1, 2]
    problem = SpanProblem(gram_of(Gaussian(0.5), X), Softmax(3), y, np.ones(20), 0.05, intercept=True)
    coef, b = np.zeros((20, 3)), np.zeros(3)
    seen = []
    for _ in range(400):  # plain gradient steps in the kernel's space
        f = problem.gram.product(coef)[0]
        slope = problem.loss.slope(y, f + b) / 20
        seen.append((coef, b, problem.objective(coef, b, f)))
        coef, b = coef - 1.0 * (slope + 0.05 * coef), b - 1.0 * slope.sum(axis=0)
    least = min(value for _, _, value in seen)
    for coef, b, value in seen[::40]:
        proof = prove(problem, coef, b)
        assert proof.gap >= value - least
    assert proof.gap <= 1e-3


def test_a_matrix_is_semidefinite_up_to_rounding_or_not():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 4))
    bound = semidefinite(A @ A.T)
    assert 0.0 < bound < 1e-9
    assert np.linalg.eigvalsh(A @ A.T)[0] >= -bound
    assert semidefinite(A @ A.T - 1e-6 * np.eye(30)) is None
    assert not MatrixGram(np.array([[0.0, 1.0], [1.0, 0.0]])).mercer
    assert MatrixGram(np.zeros((3, 3))).mercer


def test_products_bound_their_rounding():
    rng = np.random.default_rng(1)
    X, coef = rng.normal(size=(40, 3)), rng.normal(size=(40, 1)) * 10.0 ** rng.integers(-6, 6, size=(40, 1))
    value, error = gram_of(Gaussian(0.7), X).product(coef)
    with mpmath.workdps(50):
        for i in range(40):
            terms = []
            for j in range(40):
                d = sum((mpmath.mpf(X[i, c]) - mpmath.mpf(X[j, c])) ** 2 for c in range(3))
                terms.append(mpmath.exp(-mpmath.mpf(0.7) * d) * mpmath.mpf(coef[j, 0]))
            assert abs(mpmath.fsum(terms) - mpmath.mpf(value[i, 0])) <= mpmath.mpf(error[i, 0])
    assert np.max(error) <= 1e-7
