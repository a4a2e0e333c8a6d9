"""Only the scikit-learn door knows scikit-learn; dialects translate exactly; the page on differences is complete."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm

import lineal
from lineal import estimators
from lineal.api.dialects import SOLVERS, solver_named, strength_of_alpha, strength_of_C
from lineal.errors import InputError
from lineal.estimators import Ridge
from lineal.solvers import BY_NAME

PACKAGE = Path(lineal.__file__).parent
ROOT = Path(__file__).parents[2]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def test_only_the_estimators_import_scikit_learn_and_only_its_public_names():
    users = {}
    for path in PACKAGE.rglob("*.py"):
        names = [name for name in imported(path) if name.split(".")[0] == "sklearn"]
        if names:
            users[path.relative_to(PACKAGE).parts[0]] = names
            assert not any(part.startswith("_") for name in names for part in name.split("."))
    assert set(users) == {"estimators"}


def test_lazy_names_are_the_estimators():
    for name in estimators.__all__:
        assert getattr(lineal, name) is getattr(estimators, name)


@pytest.mark.parametrize("weight_sum", [1.0, 37.5])
@pytest.mark.parametrize("value", [0.25, 3.0])
def test_strengths_make_objectives_proportional(weight_sum, value):
    """Their objective must be a constant times ours for any loss L = sum s loss and any q = |b|^2."""
    for total, q in [(2.0, 0.0), (0.0, 5.0), (1.3, 0.7)]:
        ours = total / weight_sum + 0.5 * strength_of_C(value, weight_sum) * q
        assert value * total + 0.5 * q == pytest.approx(value * weight_sum * ours, rel=1e-15)
        ours = total / weight_sum + 0.5 * strength_of_alpha(value, weight_sum) * q
        assert 2.0 * total + value * q == pytest.approx(2.0 * weight_sum * ours, rel=1e-15)


def test_objective_of_the_estimators_is_f():
    rng = np.random.default_rng(3)
    X, weight = rng.normal(size=(30, 2)), rng.uniform(0.5, 2.0, size=30)
    y = X @ [1.0, 2.0] + rng.normal(size=30)
    model = Ridge(alpha=2.5).fit(X, y, sample_weight=weight)
    squares = np.sum(weight * (y - model.predict(X)) ** 2) + 2.5 * np.sum(model.coef_**2)
    assert model.objective_ == pytest.approx(squares / (2.0 * weight.sum()), rel=1e-12)


def test_solver_names():
    """scikit-learn's names are hints, ours are insisted on, and names of both with an option or as an object."""
    assert set(SOLVERS) & set(BY_NAME) == {"newton-cg", "saga", "interior-point"}
    assert {solver_named(name) for name in SOLVERS} == {"auto"}
    for name in {"auto", *BY_NAME} - set(SOLVERS):
        assert solver_named(name) == name
    assert solver_named("saga:step=0.1") == BY_NAME["saga"](step=0.1)
    assert solver_named(BY_NAME["newton-cg"]()) == BY_NAME["newton-cg"]()
    with pytest.raises(InputError, match="Did you mean 'lbfgs'"):
        solver_named("lbgfs")


def test_the_page_on_differences_names_what_differs():
    page = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    for name in estimators.__all__:
        assert f"`{name}" in page
        kind = getattr(sklearn.linear_model, name, None) or getattr(sklearn.svm, name, None)
        theirs = {} if kind is None else inspect.signature(kind).parameters
        for word, parameter in inspect.signature(getattr(estimators, name)).parameters.items():
            if kind is not None and (word not in theirs or parameter.default != theirs[word].default):
                assert f"`{word}" in page, f"{name}: {word}"
    for name in (*SOLVERS, *BY_NAME):
        assert f"`{name}`" in page
