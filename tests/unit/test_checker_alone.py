"""The checker shares nothing with what it checks: a list of what it may import, not of what it may not."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lineal.verify

FOLDER = Path(lineal.verify.__file__).parent
ALLOWED = ("lineal.verify", "lineal.errors", "lineal.container")
LIBRARIES = {"numpy", "pyarrow", "python_calamine", "scipy"}
"""What it uses besides the standard library."""


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written out"
            inside = (
                [f"lineal.{alias.name}" for alias in node.names] if node.module == "lineal" else [node.module or ""]
            )
            found |= set(inside)
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_import_of_the_checker_is_on_the_list(path: Path) -> None:
    for name in imported(path):
        if name.split(".")[0] == "lineal":
            assert name.startswith(ALLOWED), name
        else:
            assert name.split(".")[0] in {*sys.stdlib_module_names, *LIBRARIES}, name


def test_checking_loads_nothing_else_of_ours() -> None:
    code = "import sys, lineal.verify; print([n for n in sys.modules if n.split('.')[0] == 'lineal'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = ast.literal_eval(done.stdout)
    assert [name for name in names if name != "lineal" and not name.startswith(ALLOWED)] == []
