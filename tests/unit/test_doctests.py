"""Every example in a docstring runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import lineal

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(lineal.__path__, "lineal.") if "__main__" not in module.name
)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module)
    assert failed == 0
