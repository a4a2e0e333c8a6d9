"""What ``import lineal`` offers: to people, to type checkers and editors, and to those who ask for what it does not have."""

import ast
import re
from pathlib import Path

import pytest
import sklearn.linear_model
import sklearn.svm

import lineal
from lineal.api.absent import ABSENT

SOURCE = Path(lineal.__file__).parent
TREE = ast.parse((SOURCE / "__init__.py").read_text())


def test_type_checkers_see_every_public_name_where_it_lives():
    (block,) = [node for node in TREE.body if isinstance(node, ast.If) and isinstance(node.body[0], ast.ImportFrom)]
    seen = {}
    for line in block.body:
        assert isinstance(line, ast.ImportFrom)
        for one in line.names:
            assert one.asname == one.name, "without 'as', a name is not passed on"
            seen[one.name] = line.module
    assert seen == lineal._HOMES


def test_no_estimator_has_a_base_without_types():
    """A base of scikit-learn's is Any to a type checker, which then takes every parameter of an estimator."""
    untyped = [
        path.name
        for path in (SOURCE / "estimators").glob("*.py")
        if path.name != "bases.py"
        and re.search(r"^from sklearn\.base import .*(Mixin|BaseEstimator)", path.read_text(), re.M)
    ]
    assert untyped == []


def test_dir_shows_public_names_only():
    rooms = set(dir(lineal)) - set(lineal.__all__)
    assert (
        {"kernels", "losses", "penalties", "solvers"}
        <= rooms
        <= {path.name for path in SOURCE.iterdir() if path.is_dir()}
    )
    assert all(getattr(lineal, name) is not None for name in dir(lineal))


@pytest.mark.parametrize("name", ABSENT)
def test_what_scikit_learn_has_and_lineal_has_not_is_said(name):
    assert name not in lineal.__all__
    with pytest.raises(ImportError, match=rf"^lineal has no {name}, which scikit-learn has: ."):
        getattr(lineal, name)
    with pytest.raises(ImportError, match=f"no {name}, which"):
        exec(f"from lineal import {name}")  # noqa: S102
    for named in re.findall(r"lineal\.(\w+)", ABSENT[name]):
        assert named in lineal.__all__


@pytest.mark.parametrize("module", [sklearn.linear_model, sklearn.svm])
def test_every_name_of_these_modules_is_here_or_said_to_be_absent(module):
    theirs = {name for name in module.__all__ if name != "l1_min_c"}
    assert theirs - set(lineal.__all__) - set(ABSENT) == set()


def test_any_other_name_is_an_attribute_that_is_not_there():
    assert not hasattr(lineal, "Ridg")
    with pytest.raises(AttributeError, match="no attribute 'Ridg'"):
        _ = lineal.Ridg
    with pytest.raises(ImportError, match="cannot import name 'Ridg'"):
        exec("from lineal import Ridg")  # noqa: S102


def test_solvers_are_at_hand_without_another_import():
    assert lineal.LogisticRegression(solver=lineal.solvers.NewtonCG()).solver.name == "newton-cg"
