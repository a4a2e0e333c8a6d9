"""Commands that read a table take the same words about its columns, and mean the same by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lineal.cli import lineal as commands
from lineal.cli import run

Lineal = Callable[..., Any]

ROWS = 60


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one table whole, and the same in two files with keys."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    a, c, noise = rng.normal(size=(3, ROWS))
    code = rng.integers(1, 4, size=ROWS)
    y = 2 * a + 3 * c + (code == 2) + 0.1 * noise
    lines = [f"k{i},{a[i]:.4f},{code[i]},{y[i]:.4f}" for i in range(ROWS)]
    Path("left.csv").write_text("id,a,code,y\n" + "\n".join(lines) + "\n")
    Path("right.csv").write_text("id,c\n" + "".join(f"k{i},{c[i]:.4f}\n" for i in rng.permutation(ROWS)))
    letters = [
        f"{a[i]:.4f},{'_uvw'[code[i]]},{c[i]:.4f},{y[i]:.4f},{round(a[i], 4) * round(c[i], 4):.8f}" for i in range(ROWS)
    ]
    Path("whole.csv").write_text("a,code,c,y,ac\n" + "\n".join(letters) + "\n")
    Path("told.toml").write_text('target = "y"\ndrop = ["id"]\n[types]\ncode = "category"\n')
    return tmp_path


@pytest.fixture
def lineal(capsys: pytest.CaptureFixture[str]) -> Lineal:
    def call(*words: str) -> Any:
        code = run([*words, "--json"])
        said = capsys.readouterr()
        assert code == 0, said.err
        return json.loads(said.out)

    return call


@pytest.mark.parametrize("command", ["fit", "path", "compare", "sweep", "evaluate", "separable"])
def test_commands_share_their_options_about_columns(command: str) -> None:
    names = {parameter.name for parameter in commands.commands[command].params}
    assert {"drop", "weight", "types", "recipe", "formula", "poly", "text", "beside", "delimiter", "header"} <= names


BESIDE = ("left.csv", "--beside", "right.csv:id")
SPELLINGS = [
    (*BESIDE, "--target", "y", "--drop", "id", "--types", "code=category"),
    (*BESIDE, "--target", "y", "--types", "id=drop", "--types", "code=category"),
    (*BESIDE, "--recipe", "told.toml"),
    (*BESIDE, "--formula", "y ~ a + c + C(code)"),
    ("whole.csv", "--formula", "y ~ a + C(code) + c"),
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", SPELLINGS)
def test_a_path_is_the_same_however_its_columns_are_declared(lineal: Lineal, words: tuple[str, ...]) -> None:
    plain = lineal("path", "whole.csv", "--target", "y", "--drop", "ac", "--points", "5")
    found = lineal("path", *words, "--points", "5")
    for mine, other in zip(found["points"], plain["points"], strict=True):
        assert mine["strength"] == pytest.approx(other["strength"], rel=1e-9)
        assert mine["objective"] == pytest.approx(other["objective"], rel=1e-6)
        assert mine["nonzero"] == other["nonzero"]
        assert mine["held_out"] == pytest.approx(other["held_out"], rel=1e-3)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [words for words in SPELLINGS if "--recipe" not in words])
def test_separability_is_the_same_however_its_columns_are_declared(lineal: Lineal, words: tuple[str, ...]) -> None:
    asked = [word.replace("y ~", "'y > 0' ~") if "~" in word else "y > 0" if word == "y" else word for word in words]
    plain = lineal("separable", "whole.csv", "--target", "y > 0", "--drop", "ac")
    formula = "--formula" in words
    if formula:
        where = asked.index("--formula")
        asked = [*asked[:where], "--formula", asked[where + 1].partition("~")[2], "--target", "y > 0"]
    found = lineal("separable", *asked)
    assert (found["kind"], found["strict_rows"]) == (plain["kind"], plain["strict_rows"])


@pytest.mark.usefixtures("folder")
def test_a_path_of_products_is_the_path_of_their_column(lineal: Lineal) -> None:
    made = lineal("path", *BESIDE, "--formula", "y ~ a:c - 1", "--points", "4")
    given = lineal("path", "whole.csv", "--target", "y", "--drop", "a", "--drop", "c", "--drop", "code", "--no-intercept",
                   "--points", "4")  # fmt: skip
    assert [p["objective"] for p in made["points"]] == pytest.approx([p["objective"] for p in given["points"]])
    assert "intercept" not in made["model"]["objective"]


@pytest.mark.usefixtures("folder")
def test_a_record_of_tables_beside_each_other_says_how_it_is_verified(
    lineal: Lineal, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["separable", *BESIDE, "--target", "y > 0", "--drop", "id", "-o", "s.lineal"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "lineal verify s.lineal left.csv --beside right.csv:id"
    assert run(last.split()[1:]) == 0


@pytest.mark.usefixtures("folder")
def test_a_split_by_groups_holds_for_paths(lineal: Lineal) -> None:
    found = lineal(
        "path", "whole.csv", "--target", "y", "--split", "group:code", "--test-size", "0.34", "--points", "3"
    )
    assert not any(name.startswith("code") for point in found["points"] for name in point["columns"])


@pytest.mark.usefixtures("folder")
def test_robust_errors_of_a_model_beside_another_file(lineal: Lineal) -> None:
    lineal("fit", *BESIDE, "--recipe", "told.toml", "--penalty", "none", "-o", "b.lineal")
    lineal("fit", "whole.csv", "--target", "y", "--drop", "ac", "--penalty", "none", "-o", "w.lineal")
    both = lineal("summary", "b.lineal", *BESIDE, "--errors", "HC3")["rows"]
    one = lineal("summary", "w.lineal", "whole.csv", "--errors", "HC3")["rows"]
    assert sorted(row["error"] for row in both) == pytest.approx(sorted(row["error"] for row in one), rel=1e-6)


@pytest.mark.usefixtures("folder")
def test_a_recipe_with_a_role_that_has_no_effect_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("offset.toml").write_text('target = "code"\noffset = "a"\n')
    assert run(["separable", "left.csv", "--recipe", "offset.toml"]) == 2
    assert "offset 'a', which has no effect here" in capsys.readouterr().err
