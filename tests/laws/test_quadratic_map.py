"""The explicit map of the quadratic kernel is a term, and equals the kernel: phi(x).phi(z) = (x.z)^2."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import lineal
from lineal import kernels
from lineal.errors import InputError
from lineal.features.formula import Formula, FormulaError
from lineal.features.learning import learn
from lineal.tables.table import as_table


def table(p, n=12, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, p))
    return X, {f"x{j}": X[:, j].tolist() for j in range(p)} | {"y": (X.sum(axis=1) ** 2).tolist()}


def mapped(p, formula, **sizes):
    X, data = table(p, **sizes)
    encoder = learn(as_table(data), target="y", formula=Formula.read(formula)).encoder
    design = encoder.encode(data)
    return X, encoder, design.times(np.eye(design.shape[1]))


@pytest.mark.parametrize("p", [2, 3, 7])
def test_the_map_equals_the_kernel(p):
    X, encoder, phi = mapped(p, f"y ~ quadratic({', '.join(f'x{j}' for j in range(p))}) - 1")
    assert len(encoder.columns) == p * (p + 1) // 2
    np.testing.assert_allclose(phi @ phi.T, kernels.read("poly:2,coef0=0").gram(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(phi @ phi.T, (X @ X.T) ** 2, rtol=1e-12, atol=1e-13)


def test_the_order_is_that_of_the_notes():
    X, encoder, phi = mapped(2, "y ~ quadratic(x0, x1) - 1")
    assert encoder.columns == ("x0^2", "x1^2", "sqrt(2) x0:x1")
    np.testing.assert_allclose(phi, np.column_stack([X**2, np.sqrt(2) * X[:, 0] * X[:, 1]]), rtol=1e-15)


def test_ridge_on_the_map_is_kernel_ridge(tmp_path):
    X, data = table(2, n=40)
    model = lineal.fit(
        data, formula="y ~ quadratic(x0, x1) - 1", model="linear", penalty="ridge:0.0125", penalize="raw", test_size=0.0
    )
    rival = KernelRidge(alpha=0.5, kernel="poly", degree=2, gamma=1.0, coef0=0.0).fit(X, data["y"])
    np.testing.assert_allclose(model.predict(data), rival.predict(X), rtol=1e-8, atol=1e-10)
    path = tmp_path / "map.lineal"
    model.save(path)
    np.testing.assert_array_equal(lineal.load(path).predict(data), model.predict(data))


def test_functions_may_stand_inside_and_other_terms_beside():
    _, encoder, _ = mapped(3, "y ~ quadratic(exp(x0), x1) + x2 - 1")
    assert set(encoder.columns) == {"exp(x0)^2", "x1^2", "sqrt(2) exp(x0):x1", "x2"}


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ quadratic(x0)", "second column is missing"),
        ("y ~ quadratic(x0, x0)", "there already"),
        ("y ~ quadratic(x0, poly(x1, 2))", "cannot stand inside"),
        ("y ~ log(quadratic(x0, x1))", "can only be added"),
        ("y ~ quadratic(x0, x1):x2", "can only be added"),
        ("y ~ quadratic(x0, x1)*x2", "can only be added"),
        ("y ~ (quadratic(x0, x1) + x2)^2", "can only be added"),
        ("y ~ quadratic(x0, x1", r"a '\)' is missing"),
    ],
)
def test_formulas_that_cannot_be_are_refused(formula, words):
    with pytest.raises(FormulaError, match=words):
        Formula.read(formula)


def test_columns_that_are_no_numbers_are_refused():
    data = {"a": ["u", "v", "w"] * 4, "b": list(range(12)), "y": list(range(12))}
    with pytest.raises(InputError, match="needs columns of numbers; 'a' is not one"):
        lineal.fit(data, formula="y ~ quadratic(a, b)")
