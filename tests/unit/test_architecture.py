"""The map of the house is true, and every public name says what it is with an example."""

from __future__ import annotations

import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import lineal
from lineal import _core

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "lineal"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = PAGE[PAGE.index("## Rooms") : PAGE.index("The compiled core has the same rooms")]
NAMED = {word.rstrip("/") for word in re.findall(r"`([a-z_/]+)`", ROOMS)}
MODULES = [module.name for module in pkgutil.walk_packages(lineal.__path__, "lineal.")]


def test_every_room_and_file_at_the_top_is_on_the_map():
    top = {name.split(".")[1] for name in MODULES} - {"_core", "__main__"}
    assert sorted(top - NAMED) == []


def test_everything_on_the_map_exists():
    known = {part for name in MODULES for part in name.split(".")} | {"/".join(name.split(".")[1:]) for name in MODULES}
    files = re.findall(r"`([a-z_/]+)`", "\n".join(line for line in ROOMS.splitlines() if line.startswith("| `")))
    first = [word for line in ROOMS.splitlines() if line.startswith("| `") for word in line.split("|")[1].split(", ")]
    for word in (*(one.strip().strip("`").rstrip("/") for one in first), *(file.rstrip("/") for file in files)):
        assert word in known, f"the map shows {word}, which is not there"


@pytest.mark.parametrize("name", [name for name in vars(_core) if not name.startswith("_")])
def test_every_name_of_the_compiled_core_is_on_its_page(name):
    page, found = (ROOT / "docs" / "core.md").read_text(), getattr(_core, name)
    names = [name, *(one for one in vars(found) if not one.startswith("_"))] if inspect.isclass(found) else [name]
    assert [one for one in names if not re.search(rf"\b{one}\b", page)] == []


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_file_begins_with_what_it_is_for(path):
    assert path.read_text().startswith(('"""', 'r"""'))


@pytest.mark.parametrize("name", [name for name in lineal.__all__ if not name.startswith("_")])
def test_every_public_name_has_a_sentence_and_an_example(name):
    words = inspect.getdoc(getattr(lineal, name)) or ""
    assert re.match(r"[A-Z`].*?[.:]", words.replace("\n", " ")), "a sentence"
    assert ">>> " in words, "an example"


@pytest.mark.parametrize("name", [n for n in lineal.__all__ if hasattr(getattr(lineal, n), "fit")])
def test_every_estimator_names_its_parameters_and_its_formula(name):
    found = getattr(lineal, name)
    words = inspect.getdoc(found) or ""
    assert "``" in words.partition("Parameters")[0], "a formula"
    others = [getattr(lineal, word) for word in re.findall(r"``([A-Z]\w+)``", words) if word in lineal.__all__]
    words += "".join(inspect.getdoc(other) or "" for other in others)  # "parameters mean what they mean in ..."
    for parameter in inspect.signature(found).parameters:
        assert re.search(rf"\b{parameter}\b", words), f"{parameter} is not explained"
