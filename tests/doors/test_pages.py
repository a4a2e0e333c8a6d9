"""What README.md and docs/ show is true: code runs, transcripts come out, options and links exist, nothing is left unsaid."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import lineal
from lineal.cli import lineal as commands
from lineal.cli import run

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def blocks(page: Path, language: str) -> Iterator[str]:
    """Yield the fenced blocks of a page that are in a language ("" for none)."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        if found[1] == language:
            yield found[2]


def called(page: Path) -> Iterator[str]:
    """Yield every command `lineal ...` that a page shows, in a block, an indented line or between backticks."""
    text = page.read_text()
    lines = [line.strip().removeprefix("$ ") for line in text.splitlines()]
    yield from (line for line in lines if re.match(r"lineal [a-z]+ ", line))
    yield from re.findall(r"`(lineal [a-z]+ [^`]*)`", text)


PYTHON = [
    pytest.param(page, block, id=f"{page.name}-{k}") for page in PAGES for k, block in enumerate(blocks(page, "python"))
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the tables that pages speak of; those that may not be copied are drawn in their likeness."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copy(ROOT / "examples" / "penguins.csv", tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    rng = np.random.default_rng(0)
    age, tobacco, noise = rng.normal(size=(3, 120))
    chd = (age + tobacco + 2 * noise > 0).astype(int)
    rows = [f"{40 + 9 * age[i]:.2f},{tobacco[i]:.3f},h{i % 8},{chd[i]}" for i in range(120)]
    Path("saheart.csv").write_text("age,tobacco,hospital,chd\n" + "\n".join(rows) + "\n")
    high = np.where(noise > 1.2, 1, (age + noise > 0).astype(int))
    rows = [f"{int(noise[i] > 1.2)},{age[i]:.3f},{high[i]}" for i in range(120)]
    Path("endometrial.csv").write_text("NV,PI,HG\n" + "\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.parametrize(("page", "block"), PYTHON)
def test_python_blocks_run_and_print_what_they_say(page: Path, block: str, folder: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    space: dict[str, Any] = {"lineal": lineal, "X": X, "y": (X[:, 0] + 0.3 * X[:, 1] > 0.1).astype(int)}
    if "smaller_model" in block:
        space["smaller_model"] = lineal.fit("saheart.csv", "chd", model="logistic", penalty="none", drop=["age"])
    if "penguins.lineal" in block and "save" not in block:
        lineal.fit("penguins.csv", "species", penalty="ridge:0.1").save("penguins.lineal")
    lines = block.splitlines()
    for node in ast.parse(block).body:
        code = ast.get_source_segment(block, node) or ""
        said = lines[(node.end_lineno or 1) - 1].partition("  # ")[2]
        if isinstance(node, ast.Expr):
            inner = node.value
            if (
                isinstance(inner, ast.Call)
                and getattr(inner.func, "id", "") == "print"
                and not isinstance(inner.args[0], ast.Starred)
            ):
                inner = inner.args[0]
            value = eval(compile(ast.Expression(inner), str(page), "eval"), space)  # noqa: S307
            if re.match(r"[A-Z][a-z ]+: ", said):
                assert alike(str(value), said), f"{code} gives {value}"
            elif said.startswith('"'):
                assert said.startswith(json.dumps(str(value))), f"{code} gives {value}"
        else:
            exec(compile(ast.Module([node], []), str(page), "exec"), space)  # noqa: S102


def alike(got: str, said: str) -> bool:
    """Whether a sentence is what was said but for its numbers, which depend on the machine; `...` stands for anything."""
    parts = [re.escape(NUMBER.sub("#", part)) for part in said.split("...")]
    return re.match(".*?".join(parts), NUMBER.sub("#", got).replace("\n", " ")) is not None


def transcripts(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield every command after a `$` with the lines shown below it."""
    for block in blocks(page, ""):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            yield command, shown


def equal(got: str, said: str) -> bool:
    """Whether two lines have the same words, and numbers that agree to three digits; gaps and dots are of any size."""
    if "gap " in said:
        return alike(got, said)
    mine, other = got.split(), said.split()
    return len(mine) == len(other) and all(
        a == b or (NUMBER.fullmatch(a) and NUMBER.fullmatch(b) and float(a) == pytest.approx(float(b), rel=2e-3))
        for a, b in zip(mine, other, strict=True)
    )


def compared(got: list[str], shown: list[str]) -> None:
    """Compare what a command printed with what a page shows of it, up to a line of dots."""
    for line, (mine, said) in enumerate(zip(got, shown, strict=False)):
        if said == "...":
            assert equal(got[-1], shown[-1])
            return
        assert equal(mine, said), f"line {line + 1}: {mine!r}, shown {said!r}"
    assert len(got) == len(shown)


def test_the_first_page_shows_what_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = list(transcripts(ROOT / "README.md"))
    assert [command.split()[1] for command, _ in shown] == ["fit", "verify"]
    for command, lines in shown:
        assert run(shlex.split(command)[1:]) == 0
        wanted = [line.rstrip() for line in lines]
        compared([line.rstrip() for line in capsys.readouterr().out.rstrip("\n").split("\n")], _unwrapped(wanted))


def _unwrapped(lines: list[str]) -> list[str]:
    return lines[:-1] if lines and not lines[-1] else lines


@pytest.mark.parametrize("page", ["notes.md", "perceptron.md"])
def test_transcripts_come_out(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if page == "perceptron.md":
        Path("points.csv").write_text("x1,x2,class\n1,1,-\n3,2,+\n2,4,+\n3,4,+\n2,3,-\n")
    for command, lines in transcripts(ROOT / "docs" / page):
        if command.startswith("printf "):
            _, content, _, name = shlex.split(command)
            Path(name).write_text(content.replace("\\n", "\n"))
            continue
        assert run(shlex.split(command)[1:]) == 0
        got = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        wanted = [line.rstrip() for line in lines]
        if "..." in wanted:
            compared(got, wanted)
        else:
            assert got == wanted


CALLS = [(page, call) for page in PAGES for call in dict.fromkeys(called(page))]


def test_no_command_is_shown_that_does_not_exist() -> None:
    others = [call for _, call in CALLS if call.split()[1] not in commands.commands]
    assert [call for call in others if re.match(r"lineal [a-z]+ .*--", call)] == []


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, id=f"{page.name}: {call[:60]}")
        for page, call in CALLS
        if call.split()[1] in commands.commands
    ],
)
def test_commands_that_are_shown_have_their_options(call: str) -> None:
    name = call.split()[1]
    command = commands.commands[name]
    known = {word for option in command.params for word in (*option.opts, *option.secondary_opts)} | {"--help"}
    for word in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", re.sub(r"'[^']*'|\"[^\"]*\"", "", call)):
        assert word in known, f"{name} has no option {word}"


def test_every_option_is_written_down() -> None:
    text = "".join(page.read_text() for page in PAGES)
    missing = [
        f"{name} {option.opts[-1]}"
        for name, command in commands.commands.items()
        for option in command.params
        if isinstance(option, click.Option) and not any(word in text for word in (*option.opts, *option.secondary_opts))
    ]
    assert missing == []
    assert [name for name in commands.commands if f"lineal {name}" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_indented_commands_are_whole() -> None:
    lines = [line for page in PAGES for line in textwrap.dedent(page.read_text()).splitlines()]
    shown = [line for line in lines if re.match(r" {4}lineal [a-z]+ ", line)]
    assert all(shlex.split(line)[0] == "lineal" for line in shown)  # a quote left open is a ValueError
