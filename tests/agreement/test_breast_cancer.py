"""breast_cancer in raw units with all defaults, against a Newton method whose gradients have 40 digits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from lineal.estimators import LogisticRegression

mpmath = pytest.importorskip("mpmath")
DIGITS = 40


def exact_objective(X, y, b):
    """Return F and its gradient, intercept first: (1/n) sum softplus(-z) + |b|^2 / (2 n), all in 40 digits."""
    n, p = X.shape
    slopes = []
    value = mpmath.mpf(0)
    for row, label in zip(X, y, strict=True):
        z = b[0] + mpmath.fdot(zip(row, b[1:], strict=True))
        # the smaller of e^z and e^-z, so that nothing overflows and nothing cancels
        small = mpmath.exp(-abs(z))
        value += mpmath.log1p(small) + max(z, 0) - label * z
        up = 1 / (1 + small) if z >= 0 else small / (1 + small)
        slopes.append(up - label)
    gradient = [mpmath.fsum(slopes) / n]
    gradient += [(mpmath.fdot(zip(X[:, j], slopes, strict=True)) + b[j + 1]) / n for j in range(p)]
    return (value + mpmath.fdot(b[1:], b[1:]) / 2) / n, gradient


def exact_minimum(X, y):
    """Return the minimiser and F*: float64 second derivatives steer, 40-digit gradients decide."""
    n, p = X.shape
    scale = np.concatenate([[1.0], np.sqrt((X**2).mean(axis=0))])
    full = np.column_stack([np.ones(n), X]) / scale
    table = mpmath.matrix(X.tolist()).tolist()
    rows = np.array(table, dtype=object).reshape(n, p)
    labels = [int(label) for label in y]
    b = [mpmath.mpf(0)] * (p + 1)
    value, gradient = exact_objective(rows, labels, b)
    for _ in range(60):
        inner = np.array([float(v) for v in b]) * scale
        q = 1.0 / (1.0 + np.exp(-np.abs(full @ inner)))
        hessian = (full * (q * (1.0 - q))[:, None]).T @ full / n
        hessian[np.arange(1, p + 1), np.arange(1, p + 1)] += 1.0 / (n * scale[1:] ** 2)
        largest = max(abs(g) for g in gradient)
        # the gradient is scaled before it becomes float64: its relative accuracy must not depend on its size
        right = np.array([float(g / largest) for g in gradient]) / scale
        step = np.linalg.solve(hessian, right) / scale
        shift = [largest * mpmath.mpf(float(s)) for s in step]
        decrement = mpmath.fdot(zip(shift, gradient, strict=True))
        if decrement < mpmath.mpf(10) ** -28 * value:
            return b, value
        length = mpmath.mpf(1)
        while True:
            trial = [v - length * s for v, s in zip(b, shift, strict=True)]
            there, slope = exact_objective(rows, labels, trial)
            if there <= value - length * decrement / 1000:
                break
            length /= 2
        b, value, gradient = trial, there, slope
    raise AssertionError("the reference did not converge")


@pytest.mark.slow
@pytest.mark.parametrize("factor", [1.0, 1e6, 1e-6])
def test_default_fit_is_proven_optimal_in_any_units(factor):
    X, y = load_breast_cancer(return_X_y=True)
    X[:, ::3] *= factor
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression().fit(X, y)
    assert model.verdict_.kind == "optimal"
    with mpmath.workdps(DIGITS):
        best, least = exact_minimum(X, y)
        rows = np.array(mpmath.matrix(X.tolist()).tolist(), dtype=object).reshape(X.shape)
        ours = [mpmath.mpf(float(v)) for v in (*model.intercept_, *model.coef_[0])]
        found, _ = exact_objective(rows, [int(label) for label in y], ours)
        excess = found - least
        assert excess >= 0
        assert excess <= 1e-7 * least
        assert excess <= model.verdict_.gap
        assert model.objective_ == pytest.approx(float(found), rel=1e-12)
        distance = mpmath.sqrt(mpmath.fsum((a - b) ** 2 for a, b in zip(ours[1:], best[1:], strict=True)))
        assert distance <= model.verdict_.evidence["radius"]
