"""Bad input on the command line: one clear sentence on stderr, exit code 2, no traceback, no output file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineal.cli import run

Lineal = Callable[..., tuple[int, str, str]]

GOOD = "x,z,y\n" + "".join(f"{i % 7},{(i * 5) % 11},{i % 2}\n" for i in range(60))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refused(answer: tuple[int, str, str], *said: str) -> None:
    code, out, err = answer
    assert code == 2, err
    assert out == "" or json.loads(out) == {"error": err.removeprefix("lineal: ").rstrip("\n"), "exit_code": 2}
    assert err.startswith("lineal: ")
    assert err.count("\n") == 1, "one sentence, one line"
    assert "Traceback" not in err
    for words in said:
        assert words in err


BAD_TABLES = {
    "no such target": (GOOD, ["--target", "yy"], ["'yy'", "Did you mean 'y'"]),
    "no target given": (GOOD, [], ["'x'", "'z'", "'y'"]),
    "no such weight": (GOOD, ["--target", "y", "--weight", "zz"], ["'zz'", "Did you mean 'z'"]),
    "no such offset": (GOOD, ["--target", "y", "--offset", "zz"], ["'zz'", "Did you mean 'z'"]),
    "no such drop": (GOOD, ["--target", "y", "--drop", "zz"], ["'zz'", "Did you mean 'z'"]),
    "constant number": ("x,y\n1,2.5\n2,2.5\n3,2.5\n", ["--target", "y", "--test-size", "0"], ["y"]),
    "one class": ("x,y\n1,a\n2,a\n3,a\n", ["--target", "y", "--test-size", "0"], ["y"]),
    "target all missing": ("x,y\n1,\n2,NA\n3,?\n", ["--target", "y", "--test-size", "0"], ["target"]),
    "text among numbers": (
        "x,y\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(40)) + "oops,1\n" + "7,0\n",
        ["--target", "y", "--test-size", "0"],
        ["'x'", "oops", "41"],
    ),
    "infinity": (
        "x,y\n" + "".join(f"{i * i}.5,{i % 2}\n" for i in range(40)) + "inf,1\n",
        ["--target", "y", "--test-size", "0"],
        ["'x'", "41"],
    ),
    "empty file": ("", ["--target", "y"], ["empty"]),
    "header only": ("x,y\n", ["--target", "y"], ["header"]),
    "ragged rows": ("x,y\n1,0\n2,1,9\n3,0\n", ["--target", "y"], ["bad.csv"]),
    "negative weight": (
        "x,w,y\n1,1,0.5\n2,-1,1.7\n4,1,2.6\n",
        ["--target", "y", "--weight", "w", "--test-size", "0"],
        ["w"],
    ),
    "logistic on one number": (
        "x,y\n1,2.5\n2,2.5\n",
        ["--target", "y", "--model", "logistic", "--test-size", "0"],
        ["y"],
    ),
    "linear on text": ("x,y\n1,a\n2,b\n3,a\n", ["--target", "y", "--model", "linear", "--test-size", "0"], ["y"]),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables_are_refused(name: str, folder: Path, lineal: Lineal) -> None:
    text, words, said = BAD_TABLES[name]
    (folder / "bad.csv").write_text(text)
    refused(lineal("fit", "bad.csv", *words), *said)
    refused(lineal("fit", "bad.csv", *words, "--json"), *said)
    assert names(folder) == ["bad.csv"]


def test_a_missing_file_suggests_its_neighbours(folder: Path, lineal: Lineal) -> None:
    (folder / "penguins.csv").write_text(GOOD)
    refused(lineal("fit", "pengiuns.csv", "--target", "y"), "pengiuns.csv", "penguins.csv")
    refused(lineal("fit", folder, "--target", "y"), str(folder))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--test-file", "good.csv", "--test-size", "0.3"], "exclude each other"),
        (["--seed", "1", "--test-size", "0", "--penalty", "none"], "no effect"),
        (["--seed", "1", "--test-file", "good.csv", "--model", "linear"], "no effect"),
        (["--penalty", "lasso:1"], "ridge:STRENGTH"),
        (["--penalty", "ridge"], "ridge:STRENGTH"),
        (["--penalty", "ridge:much"], "'ridge:much'"),
        (["--penalty", "ridge:0"], "'ridge:0'"),
        (["--penalty", "ridge:-1"], "'ridge:-1'"),
        (["--penalty", "ridge:nan"], "'ridge:nan'"),
        (["--model", "ridge", "--penalty", "none"], "model linear"),
        (["--drop", "y"], "'y'"),
        (["-o", "nowhere/model.lineal"], "nowhere"),
        (["-o", "."], "folder"),
        (["-o", "good.csv"], "not overwritten"),
        (["-o", "/dev/full"], "o space left"),
    ],
)
def test_options_that_cannot_be_honoured_are_refused(words: list[str], said: str, folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    refused(lineal("fit", "good.csv", "--target", "y", *words), said)
    assert names(folder) == ["good.csv"]
    assert (folder / "good.csv").read_text() == GOOD


def test_an_unreadable_model_is_refused(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert lineal("fit", "good.csv", "--target", "y")[0] == 0
    whole = (folder / "good.lineal").read_bytes()
    (folder / "cut.lineal").write_bytes(whole[:-20])
    (folder / "flipped.lineal").write_bytes(whole[:-5] + bytes([whole[-5] ^ 1]) + whole[-4:])
    (folder / "text.lineal").write_text("hello")
    for broken in ("cut.lineal", "flipped.lineal", "text.lineal", "absent.lineal"):
        refused(lineal("show", broken), broken)
        for command in ("predict", "evaluate", "verify"):
            refused(lineal(command, broken, "good.csv"))


def test_prediction_data_is_checked(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert lineal("fit", "good.csv", "--target", "y")[0] == 0
    (folder / "less.csv").write_text("X,z\n1,2\n2,3\n")
    refused(lineal("predict", "good.lineal", "less.csv", "-o", "out.csv"), "'x'")
    (folder / "text.csv").write_text("x,z\n" + "1,2\n" * 50 + "oops,3\n")
    refused(lineal("predict", "good.lineal", "text.csv", "-o", "out.csv"), "'x'", "oops")
    refused(lineal("evaluate", "good.lineal", "less.csv"))
    assert not (folder / "out.csv").exists()
    assert names(folder) == ["good.csv", "good.lineal", "less.csv", "text.csv"]


def test_predictions_are_never_written_over_an_input(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert lineal("fit", "good.csv", "--target", "y")[0] == 0
    for name in ("good.csv", "good.lineal"):
        before = (folder / name).read_bytes()
        refused(lineal("predict", "good.lineal", "good.csv", "-o", name), "inputs")
        assert (folder / name).read_bytes() == before


def test_predictions_are_refused_a_name_of_no_format(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert lineal("fit", "good.csv", "--target", "y")[0] == 0
    refused(lineal("predict", "good.lineal", "good.csv", "-o", "out.txt"), "out.txt", ".csv", ".xlsx")
    assert names(folder) == ["good.csv", "good.lineal"]


@pytest.mark.parametrize("model", ["logistic", "svm", "perceptron"])
def test_measured_numbers_are_no_classes(folder: Path, lineal: Lineal, model: str) -> None:
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{i % 9},{i * 0.37:.2f}\n" for i in range(50)))
    refused(
        lineal("fit", "n.csv", "--target", "y", "--model", model, "--test-size", "0"), "50 different", "model linear"
    )
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{i % 9},{i % 3 * 0.5}\n" for i in range(50)))
    assert lineal("fit", "n.csv", "--target", "y", "--model", model, "--accept")[0] == 0


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        (["--solver", "gradient-descent:step=abc"], "a number or numbers with colons between them (2:1:0.5)"),
        (["--solver", "sgd:epochs=2.5"], "a whole number"),
        (["--solver", "sgd:shuffle=maybe"], "true or false"),
    ],
)
def test_an_option_of_a_solver_is_explained_in_words(
    folder: Path, lineal: Lineal, given: list[str], accepted: str
) -> None:
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{i % 9},{i * 0.37}\n" for i in range(50)))
    said = lineal("fit", "n.csv", "--target", "y", *given)
    refused(said, accepted)
    assert "float" not in said[2]
    assert "tuple" not in said[2]


def test_a_variance_of_zero_is_no_misspelled_name(folder: Path, lineal: Lineal) -> None:
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{i % 9},{i * 0.37}\n" for i in range(50)))
    said = lineal("fit", "n.csv", "--target", "y", "--model", "bayes:noise=0")
    refused(said, "bayes:noise=0", "above 0")
    assert "Did you mean" not in said[2]


def test_proba_of_a_number_is_refused(folder: Path, lineal: Lineal) -> None:
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{i % 9},{i * 0.37}\n" for i in range(50)))
    assert lineal("fit", "n.csv", "--target", "y")[0] == 0
    refused(lineal("predict", "n.lineal", "n.csv", "--proba"), "number")


@pytest.mark.slow
def test_a_full_disk_is_one_sentence(folder: Path) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert run(["fit", "good.csv", "--target", "y", "--json"]) == 0
    (folder / "full.parquet").symlink_to("/dev/full")
    for words in (
        ["predict", "good.lineal", "good.csv", "-o", "/dev/full"],
        ["predict", "good.lineal", "good.csv", "-o", "full.parquet"],
        ["predict", "good.lineal", "good.csv"],
        ["show", "good.lineal"],
        ["show", "good.lineal", "--json"],
    ):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "lineal", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 2, words
        assert done.stderr.startswith("lineal: ")
        assert "o space left" in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_reader_that_closes_the_pipe_is_no_error(folder: Path) -> None:
    (folder / "good.csv").write_text(GOOD)
    (folder / "long.csv").write_text("x,z\n" + "1,2\n" * 200_000)
    assert run(["fit", "good.csv", "--target", "y", "--json"]) == 0
    with subprocess.Popen(
        [sys.executable, "-m", "lineal", "predict", "good.lineal", "long.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"prediction\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_closed_stdout_is_no_bug(folder: Path) -> None:
    (folder / "good.csv").write_text(GOOD)
    words = ["fit", "good.csv", "--target", "y", "--json"]
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "lineal", *words],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert run(["verify", "good.lineal", "good.csv", "--json"]) == 0


def test_too_little_memory_is_one_sentence(folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_args: object, **_options: object) -> None:
        raise MemoryError

    (folder / "good.csv").write_text(GOOD)
    monkeypatch.setattr("lineal.cli.fit.run", greedy)
    refused(lineal("fit", "good.csv", "--target", "y"), "not enough memory", "give the process more", "--drop")


def test_a_bug_is_called_a_bug(folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_options: object) -> None:
        raise ZeroDivisionError("deep inside")

    monkeypatch.setattr("lineal.cli.show.load", broken)
    code, out, err = lineal("show", "any.lineal")
    assert code == 70
    assert out == ""
    assert "bug in lineal (ZeroDivisionError: deep inside)" in err
    assert err.count("\n") == 1
    monkeypatch.setenv("LINEAL_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run(["show", "any.lineal"])


def test_control_c_outside_a_fit_is_quiet(folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lineal.cli.show.load", interrupted)
    assert lineal("show", "any.lineal") == (130, "", "")


def test_a_file_that_changes_between_passes_is_refused(
    folder: Path, lineal: Lineal, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lineal.api import dataset as rows

    (folder / "good.csv").write_text(GOOD)
    honest = rows.learn

    def learn(*args: Any, **options: Any) -> Any:
        learned = honest(*args, **options)
        (folder / "good.csv").write_text(GOOD + "1,2,0\n")
        return learned

    monkeypatch.setattr(rows, "learn", learn)
    refused(lineal("fit", "good.csv", "--target", "y"), "good.csv", "changed")
    assert names(folder) == ["good.csv"]


@pytest.mark.slow
def test_a_bad_cell_far_down_leaves_no_partial_output(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert lineal("fit", "good.csv", "--target", "y")[0] == 0
    (folder / "long.csv").write_text("x,z\n" + "1,2\n" * 3_000_000 + "1,oops\n")
    refused(lineal("predict", "good.lineal", "long.csv", "-o", "out.csv"), "row 3000001", "oops", "'z'")
    refused(lineal("predict", "good.lineal", "long.csv", "-o", "out.parquet"), "row 3000001", "oops", "'z'")
    assert names(folder) == ["good.csv", "good.lineal", "long.csv"]


def test_an_old_output_survives_a_failed_prediction(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert lineal("fit", "good.csv", "--target", "y")[0] == 0
    (folder / "out.csv").write_text("precious")
    (folder / "bad.csv").write_text("x,z\n1,oops\n")
    refused(lineal("predict", "good.lineal", "bad.csv", "-o", "out.csv"), "oops")
    assert (folder / "out.csv").read_text() == "precious"


JSON_ERRORS = [
    (["fit", "good.csv", "--target", "yy"], 2),
    (["fit", "none.csv", "--target", "y"], 2),
    (["fit", "good.csv", "--target", "y", "--modle", "ridge"], 2),
    (["fti"], 2),
    (["predict", "none.lineal", "good.csv"], 2),
    (["predict", "m.lineal", "late.csv"], 2),
    (["evaluate", "m.lineal", "none.csv"], 2),
    (["show", "good.csv"], 2),
    (["verify", "m.lineal", "late.csv"], 1),
    (["verify", "m.lineal", "other.csv"], 1),
    (["summary", "m.lineal"], 2),
    (["separable", "good.csv", "--target", "yy"], 2),
    (["path", "good.csv", "--target", "yy"], 2),
    (["trace", "good.csv", "--target", "yy"], 2),
    (["compare", "good.csv", "--target", "yy"], 2),
    (["inspect", "good.csv", "--target", "yy"], 2),
    (["stack", "none.toml", "good.csv", "-o", "s"], 2),
    (["dialect", "1", "--from", "none", "--n", "3"], 2),
]


@pytest.mark.parametrize(("words", "code"), JSON_ERRORS, ids=[" ".join(words) for words, _ in JSON_ERRORS])
def test_an_error_is_one_json_object_where_json_was_asked_for(
    folder: Path, lineal: Lineal, words: list[str], code: int
) -> None:
    (folder / "good.csv").write_text(GOOD)
    (folder / "late.csv").write_text(GOOD + "oops,1,1\n")
    (folder / "other.csv").write_text(GOOD + "1,1,1\n")
    assert lineal("fit", "good.csv", "--target", "y", "--penalty", "ridge:0.1", "-o", "m.lineal")[0] == 0
    found, out, err = lineal(*words, "--json")
    assert found == code
    told = json.loads(out)
    if code == 1:  # a report, whose last line is the one that failed
        assert told["lines"][-1]["passed"] is False
    else:
        assert told == {"error": err.removeprefix("lineal: ").rstrip("\n"), "exit_code": code}


@pytest.mark.slow
def test_predictions_that_break_off_are_json_all_the_same(folder: Path, lineal: Lineal) -> None:
    rows = "".join(f"{i % 7},{(i * 5) % 11},{i % 2}\n" for i in range(70_000))
    (folder / "good.csv").write_text(GOOD)
    (folder / "late.csv").write_text("x,z,y\n" + rows * 4 + "oops,1,1\n")
    assert lineal("fit", "good.csv", "--target", "y", "--penalty", "ridge:0.1", "-o", "m.lineal")[0] == 0
    code = subprocess.run(
        [sys.executable, "-m", "lineal", "predict", "m.lineal", "late.csv", "--json"], capture_output=True, check=False
    )
    assert code.returncode == 2
    told = json.loads(code.stdout)
    assert told["exit_code"] == 2
    assert "'oops'" in told["error"]
    assert told["predictions"]


def test_advice_about_a_target_is_not_to_drop_it(folder: Path, lineal: Lineal) -> None:
    lines = "".join(f"{i * i % 7},{i * i % 31}.5\n" for i in range(60))
    for cell in ("oops", "inf"):
        (folder / "bad.csv").write_text(f"x,y\n{lines}3,{cell}\n")
        answer = lineal("fit", "bad.csv", "--target", "y", "--test-size", "0")
        refused(answer, "the target 'y'", "row 61", "rows without a target are left out")
        assert "--drop" not in answer[2]
    (folder / "bad.csv").write_text("x;y\n" + "".join(f"{i};{i * 2},5\n" for i in range(60)))
    answer = lineal("fit", "bad.csv", "--target", "y")
    refused(answer, "the target 'y'", "numbers with a comma", "row 1 (line 2)", "decimal point")
    assert "--drop" not in answer[2]


def test_every_column_that_is_not_there_is_named_at_once(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    (folder / "renamed.csv").write_text("a,b\n1,2\n")
    (folder / "one.csv").write_text("x,zz\n1,2\n")
    assert lineal("fit", "good.csv", "--target", "y", "--penalty", "ridge:0.1", "-o", "m.lineal")[0] == 0
    refused(lineal("predict", "m.lineal", "renamed.csv"), "'x', 'z'", "by their names")
    refused(lineal("predict", "m.lineal", "one.csv"), "no column 'z'", "Did you mean 'zz'", "'x', 'zz'")


def test_hints_say_what_there_is(folder: Path, lineal: Lineal) -> None:
    (folder / "good.csv").write_text(GOOD)
    assert lineal("fit", "good.csv", "--target", "y", "--penalty", "ridge:0.1", "-o", "model.lineal")[0] == 0
    refused(lineal("show", "modle.lineal"), "there is no model file", "Did you mean 'model.lineal'")
    refused(lineal("predict", "good.csv", "model.lineal"), "before the data.")
    refused(lineal("fit", "good.csv", "--target", "y", "--bounds", "w:0:1"), "'(intercept)', 'x', 'z'")
    refused(lineal("summary", "model.lineal"), "--penalty none", "--model bayes")
    (folder / "words.csv").write_text(GOOD.replace("1,5,1", "one,5,1"))
    refused(lineal("trace", "words.csv", "--target", "y"), "'one'", "--drop")


def test_the_help_keeps_its_lines(lineal: Lineal) -> None:
    out = lineal("--help")[1]
    assert "\\b" not in out
    assert "\n  lineal verify penguins.lineal penguins.csv " in out


@pytest.mark.parametrize("cells", [["2024-01-05", "2024-02-07", "2024-03-01", "2024-03-09"], ["3", "x5", "4", "6"]])
def test_a_target_that_is_different_in_every_row_is_refused(folder: Path, lineal: Lineal, cells: list[str]) -> None:
    (folder / "bad.csv").write_text("x,y\n" + "".join(f"{k * k},{cell}\n" for k, cell in enumerate(cells)))
    refused(lineal("fit", "bad.csv", "--target", "y", "--test-size", "0"), "'y'", "different in every row", cells[0])
