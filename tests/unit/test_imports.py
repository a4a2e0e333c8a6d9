"""What an import loads: nothing that the user did not ask for."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["sklearn", "pandas", "polars", "scipy.optimize", "matplotlib", "pyarrow", "narwhals"]


def loaded(code: str) -> set[str]:
    """Return the modules a fresh interpreter has loaded after running ``code``."""
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code", ["import lineal", "import lineal\nlineal.Verdict", "import lineal.fitting, lineal.solvers"]
)
def test_import_is_light(code):
    assert not loaded(code) & set(HEAVY)


def test_help_loads_neither_numpy_nor_scipy():
    code = "from lineal.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    modules = loaded(code)
    assert not modules & {"numpy", "scipy", "pyarrow", "rich", "sklearn"}


def test_every_public_name_resolves():
    import lineal

    for name in lineal.__all__:
        assert getattr(lineal, name) is not None
    with pytest.raises(AttributeError, match="no attribute"):
        lineal.no_such_name  # noqa: B018
