"""What an import loads: nothing that the user did not ask for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ["sklearn", "pandas", "polars", "scipy.optimize", "matplotlib", "pyarrow", "narwhals"]


def loaded(code: str) -> set[str]:
    """Return the modules a fresh interpreter has loaded after running ``code``."""
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code", ["import lineal", "import lineal\nlineal.Verdict", "import lineal.fitting.fitting, lineal.solvers"]
)
def test_import_is_light(code):
    assert not loaded(code) & set(HEAVY)


def test_help_loads_neither_numpy_nor_scipy():
    code = "from lineal.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    modules = loaded(code)
    assert not modules & {"numpy", "scipy", "pyarrow", "rich", "sklearn"}


@pytest.mark.parametrize("name", ["Ridge", "TextFeatures", "LogisticRegressionCV"])
def test_without_scikit_learn_an_estimator_says_what_to_install(name):
    script = f"import sys\nsys.modules['sklearn'] = None\nimport lineal\nlineal.{name}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    *_, sentence = done.stderr.splitlines()
    assert sentence.startswith("ModuleNotFoundError: the estimators need scikit-learn")
    assert "pip install 'lineal[sklearn]'" in sentence


RARE = ["scipy", "sklearn", "pandas", "polars", "narwhals", "matplotlib", "pyarrow.parquet", "rich.progress"]
"""What no command needs for a short table of numbers and categories; scipy costs as much as such a fit."""


@pytest.fixture(scope="module")
def penguins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("penguins")
    table = folder / "penguins.csv"
    table.write_bytes((Path(__file__).parents[2] / "examples" / "penguins.csv").read_bytes())
    loaded(ran("fit", table, "--target", "species", "--penalty", "ridge:0.01", "-o", folder / "model.lineal"))
    return folder


def ran(*words):
    """Return code that runs a command, its answer thrown away."""
    return (
        "import contextlib, io\nfrom lineal.cli import run\nwith contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):\n"
        f"    assert run({[str(word) for word in words]!r}) == 0"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "inspect penguins.csv --target species",
        "fit penguins.csv --target species -o new.lineal",
        "fit penguins.csv --target body_mass_g -o new.lineal",
        "fit penguins.csv --target body_mass_g --penalty none -o new.lineal",
        "predict model.lineal penguins.csv -o out.csv",
        "predict model.lineal penguins.csv --proba -o out.csv",
        "evaluate model.lineal penguins.csv",
        "show model.lineal",
        "verify model.lineal penguins.csv",
        "path penguins.csv --target body_mass_g",
    ],
)
def test_commands_load_no_library_without_need(words, penguins):
    first, *rest = words.split()
    files = [penguins / word if word.endswith((".csv", ".lineal")) else word for word in rest]
    assert sorted(loaded(ran(first, *files)) & set(RARE)) == []


def test_a_late_library_keeps_to_one_thread():
    """LAPACK may be loaded in the middle of a fit: its threads are limited from then on, and given back with the others."""
    code = """
import numpy
from threadpoolctl import threadpool_info
from lineal.algebra import lapack
from lineal.problem.blas import _LIMIT
count = lambda: [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
assert "scipy" not in sys.modules
before = count()
with _LIMIT:
    assert count() == [1] * len(before)
    upper, info = lapack.dpotrf(numpy.eye(2))
    assert "scipy" in sys.modules and len(count()) > len(before) and set(count()) == {1}
assert set(count()) == set(before)
"""
    loaded(code)


@pytest.mark.parametrize("room", ["inference", "kernels", "losses", "penalties", "plots", "solvers"])
def test_a_room_that_is_a_namespace_needs_no_import_of_its_own(room):
    assert f"lineal.{room}" in loaded(f"import lineal\nassert '{room}' in dir(lineal)\nlineal.{room}.__name__")


def test_pictures_load_no_plotting_library_before_they_are_painted():
    code = "import lineal\nlineal.plots.loss(names=['hinge']).to_json()"
    assert not loaded(code) & {"matplotlib", "plotly", "pandas", "sklearn"}


def test_every_public_name_resolves():
    import lineal

    for name in lineal.__all__:
        assert getattr(lineal, name) is not None
    with pytest.raises(AttributeError, match="no attribute"):
        lineal.no_such_name  # noqa: B018
