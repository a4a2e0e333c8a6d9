"""Quotes at the command line: what they are taken for is said by every command that reads a table, and can be told."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

Lineal = Callable[..., tuple[int, str, str]]
PLAIN = "do not enclose whole cells; they are read as plain text"


@pytest.fixture(name="lineal")
def joined(folder: Path, lineal: Lineal) -> Lineal:
    """Run a command in an empty folder, and join the lines that it prints."""

    def call(*words: object) -> tuple[int, str, str]:
        code, out, err = lineal(*words)
        return code, " ".join(out.split()), err

    return call


def corpus(rows: int = 300) -> None:
    """Write a tagged corpus with two lone quotes among its tokens, and rows without a tag."""
    chance = random.Random(1)
    lines = [f"{chance.choice(['the', 'a', 'cat', 'runs'])}\t{chance.random():.3f}\t{'NV'[k % 2]}" for k in range(rows)]
    lines[40], lines[290] = '"\t0.5\tN', '"\t0.25\tV'
    lines[70] = lines[71] = "cat\t0.1\t"
    Path("c.tsv").write_text("\n".join(["token\tx\ttag", *lines]) + "\n")


def test_a_tagged_corpus_is_fitted_whole_and_verified(lineal: Lineal) -> None:
    corpus()
    code, out, err = lineal("fit", "c.tsv", "--target", "tag", "--test-size", "0", "--penalty", "ridge:0.1")
    assert code == 0, err
    assert "298 rows fitted, 2 left out" in out
    assert PLAIN in out
    assert "(the first in line 42;" in out
    assert lineal("verify", "c.lineal", "c.tsv")[0] == 0
    code, out, _ = lineal("fit", "c.tsv", "--target", "tag", "--penalty", "ridge:0.1", "--json")
    told = json.loads(out)["data"]
    notes = " ".join(told["notes"])
    unmeasured = next((n for n in (1, 2) if f"{n} row" in notes and "not measured" in notes), 0)
    assert told["training"]["rows"] + told["held_out"] + told["training"]["without_target"] + unmeasured == 300


SAID = {
    "inspect": ("inspect", "c.tsv"),
    "evaluate": ("evaluate", "c.lineal", "c.tsv"),
    "compare": ("compare", "c.tsv", "--target", "tag", "--model", "logistic", "--model", "perceptron"),
    "path": ("path", "c.tsv", "--target", "tag", "--points", "3"),
    "separable": ("separable", "c.tsv", "--target", "tag"),
    "predict": ("predict", "c.lineal", "c.tsv", "-o", "p.csv"),
}


@pytest.mark.parametrize("name", SAID)
def test_every_command_says_it(name: str, lineal: Lineal) -> None:
    corpus()
    assert lineal("fit", "c.tsv", "--target", "tag", "--penalty", "ridge:0.1")[0] == 0
    _, out, err = lineal(*SAID[name])
    assert PLAIN in out + err
    if name not in ("predict", "inspect"):
        assert "target is missing" in out
    if name == "predict":
        assert len(Path("p.csv").read_text().splitlines()) == 301
    code, out, err = lineal(*SAID[name], "--quote", '"')
    assert code == 2 or PLAIN not in out + err
    code, out, err = lineal(*SAID[name], "--quote", "none")
    assert code != 2, err
    assert PLAIN not in out + err


def test_what_was_declared_stands_in_the_command_that_checks(lineal: Lineal) -> None:
    chance = random.Random(2)
    long = "x\n" * 30
    rows = [f"{chance.random():.3f},'{long if k == 7 else chance.choice('uvw')}',{'NV'[k % 2]}\n" for k in range(80)]
    Path("q.csv").write_text("x,t,y\n" + "".join(rows))
    code, out, _ = lineal("fit", "q.csv", "--target", "y", "--test-size", "0", "--penalty", "ridge:1", "--quote", "'")
    assert code == 0
    assert "80 rows fitted" in out
    assert "1 quoted cell of q.csv spans several lines, up to 31" in out
    words = shlex.split(out[out.index("lineal verify q.lineal") :])[1:6]
    assert words == ["verify", "q.lineal", "q.csv", "--quote", "'"]
    assert lineal(*words)[0] == 0
    assert lineal("verify", "q.lineal", "q.csv")[0] == 2
    assert lineal("fit", "q.csv", "--target", "y", "--quote", "%")[2].startswith("lineal: the quote character '%'")


def test_a_cell_of_many_lines_names_what_to_say(lineal: Lineal) -> None:
    rows = ['"' + "x\n" * 30 + f'",{"NV"[k % 2]}\n' if k == 5 else f'"u{k % 3}",{"NV"[k % 2]}\n' for k in range(60)]
    Path("q.csv").write_text("t,y\n" + "".join(rows))
    code, _, err = lineal("fit", "q.csv", "--target", "y")
    assert code == 2
    assert "begins in line 7 of q.csv" in err
    assert "--quote '\"'" in err
    code, out, _ = lineal("inspect", "q.csv", "--quote", '"')
    assert code == 0
    assert "60 rows" in out
