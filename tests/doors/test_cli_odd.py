"""Odd files for every command: each works, or ends in exit code 2 with one sentence; nothing is lost or half-written."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lineal.cli import run
from lineal.cli.commands import lineal as commands

Lineal = Callable[..., tuple[int, str, str]]

ROWS = [f"{k % 7}.5,{'abc'[k % 3]},{'yes' if (k * k) % 5 < 2 else 'no'}" for k in range(60)]


def table(*rows: str, head: str = "x,k,y", end: str = "\n") -> bytes:
    return (end.join((head, *rows)) + end).encode()


GOOD = table(*ROWS)
DATA: dict[str, bytes] = {
    "good": GOOD,
    "empty": b"",
    "one byte": b"x",
    "a blank line": b"\n",
    "blank lines": b"\n" * 50,
    "blanks": b"   \n  \t \n",
    "a byte order mark": b"\xef\xbb\xbf",
    "header only": b"x,k,y\n",
    "header without end": b"x,k,y",
    "one row": table(*ROWS[:1]),
    "two rows": table(*ROWS[:2]),
    "three rows of one class": table("1,a,no", "2,b,no", "3,a,no"),
    "one column": table(*("yes" if k % 3 else "no" for k in range(60)), head="y"),
    "one column of numbers": table(*map(str, range(60)), head="y"),
    "no target column": table(*(row.rpartition(",")[0] for row in ROWS), head="x,k"),
    "all missing": table(*[",,"] * 60),
    "all NA": table(*["NA,NA,NA"] * 60),
    "missing target": table(*(f"{row.rpartition(',')[0]}," for row in ROWS)),
    "missing columns": table(*(f",,{row.rpartition(',')[2]}" for row in ROWS)),
    "constant columns": table(*(f"1,a,{row.rpartition(',')[2]}" for row in ROWS)),
    "constant target": table(*(f"{row.rpartition(',')[0]},no" for row in ROWS)),
    "all constant": table(*["1,a,no"] * 60),
    "duplicate names": table(*ROWS, head="x,x,y"),
    "duplicate targets": table(*ROWS, head="x,y,y"),
    "blank name": table(*ROWS, head="x,,y"),
    "names of blanks": table(*ROWS, head=" , ,y"),
    "long name": table(*ROWS, head=f"{'n' * 100_000},k,y"),
    "NUL": table(*ROWS[:9], "1,\0,no", *ROWS[9:]),
    "NUL in a name": table(*ROWS, head="x\0,k,y"),
    "only NUL": bytes(500),
    "invalid UTF-8": table(*ROWS[:9], "1,é,no") + b"1,\xe9,no\n",
    "Latin-1": table(*ROWS).replace(b",a,", b",\xe9,"),
    "UTF-16": table(*ROWS).decode().encode("utf-16"),
    "UTF-16 without mark": table(*ROWS).decode().encode("utf-16-le"),
    "UTF-16 cut": table(*ROWS).decode().encode("utf-16")[:-1],
    "UTF-32": table(*ROWS).decode().encode("utf-32"),
    "a line of a megabyte": b"word " * 200_000,
    "a cell of a megabyte": table(*ROWS[:9], f"1,{'long ' * 200_000},no", *ROWS[9:]),
    "a thousand names, one row": table(",".join("1" * 1000), head=",".join(f"c{k}" for k in range(999)) + ",y"),
    "1e400": table(*ROWS[:9], "1e400,a,no", *ROWS[9:]),
    "only 1e400": table(*(f"1e400,a,{'yes' if k % 2 else 'no'}" for k in range(60))),
    "-1e400": table(*ROWS[:9], "-1e400,a,no", *ROWS[9:]),
    "1e308": table(*(f"{'-' if k % 2 else ''}1e308,a,{'yes' if k % 3 else 'no'}" for k in range(60))),
    "1e-320": table(*(f"{k}e-320,a,{'yes' if k % 3 else 'no'}" for k in range(60))),
    "minus zero": table(*(f"{'-0.0' if k % 2 else '0.0'},a,{'yes' if k % 3 else 'no'}" for k in range(60))),
    "infinity": table(*ROWS[:9], "inf,a,no", *ROWS[9:]),
    "2^53 + 1": table(*(f"{2**53 + k},a,{'yes' if k % 3 else 'no'}" for k in range(60))),
    "dates": table(*(f"2024-01-{k % 31 + 1:02d},a,{'yes' if k % 3 else 'no'}" for k in range(60))),
    "no such date": table(*(f"2024-0{k % 2 + 1}-30,a,{'yes' if k % 3 else 'no'}" for k in range(60))),
    "no such month": table(*ROWS[:9], "2024-13-01,a,no", *ROWS[9:]),
    "year 0": table(*(f"0000-01-{k % 31 + 1:02d},a,{'yes' if k % 3 else 'no'}" for k in range(60))),
    "ragged": table(*ROWS[:9], "1,a", *ROWS[9:]),
    "a quote left open": table(*ROWS[:9], '1,"a,no', *ROWS[9:]),
    "a quote over the file": b'"' + GOOD,
    "a million quotes": b'"' * 1_000_000,
    "commas": b"," * 1000 + b"\n" + b"," * 1000 + b"\n",
    "old line ends": table(*ROWS, end="\r"),
    "HTML": b"<!DOCTYPE html><html><body>404</body></html>\n",
    "JSON": json.dumps([{"x": 1, "y": "no"}, {"x": 2, "y": "yes"}]).encode(),
    "JSON lines": "".join(json.dumps({"x": k % 7, "k": "a", "y": k % 3}) + "\n" for k in range(60)).encode(),
    "JSON lines, nested": "".join(json.dumps({"x": {"z": k}, "k": [k], "y": k % 3}) + "\n" for k in range(60)).encode(),
    "a gzip file": gzip.compress(GOOD),
    "a gzip file cut short": gzip.compress(GOOD)[:-20],
    "a gzip file of nothing": gzip.compress(b""),
    "a spreadsheet": b"PK\x03\x04\x14\0" + bytes(200),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4,
    "random bytes": np.random.default_rng(0).bytes(5000),
    "the magic of Parquet": b"PAR1",
    "the magic of Arrow": b"ARROW1\0\0",
    "the magic of NumPy": b"\x93NUMPY\x01\x00",
    "a header that lies": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000000,), }",
}
NAMED = {  # by an extension that the content does not bear out
    "text.parquet": GOOD, "text.feather": GOOD, "text.npy": GOOD, "text.npz": GOOD, "text.jsonl": GOOD, "text.svm": GOOD,
    "text.csv.gz": GOOD, "empty.parquet": b"", "empty.feather": b"", "empty.npy": b"", "empty.npz": b"", "empty.jsonl": b"",
    "empty.svm": b"", "empty.csv.gz": b"", "nothing.jsonl": b"{}\n{}\n", "null.jsonl": b"null\n", "comment.svm": b"# only\n",
    "labels.svm": b"1\n-1\n" * 30, "words.xyz": GOOD, "noextension": GOOD,
}  # fmt: skip

READING: dict[str, Callable[[str], list[str]]] = {
    "fit": lambda data: ["fit", data, "--target", "y", "-o", "out.lineal"],
    "fit --test-size": lambda data: ["fit", data, "--target", "y", "--penalty", "none", "--test-size", "0", "-o", "out.lineal"],
    "fit --trace": lambda data: ["fit", data, "--target", "y", "--penalty", "ridge:1", "--trace", "out.csv", "-o", "out.lineal"],
    "fit --beside": lambda data: ["fit", "plain.csv", "--target", "t", "--beside", data, "-o", "out.lineal"],
    "fit --test-file": lambda data: ["fit", "good.csv", "--target", "y", "--test-file", data, "-o", "out.lineal"],
    "fit --recipe": lambda data: ["fit", "good.csv", "--target", "y", "--recipe", data, "-o", "out.lineal"],
    "compare": lambda data: ["compare", data, "--target", "y", "--model", "logistic ridge:1", "--model", "ridge ridge:1"],
    "sweep": lambda data: ["sweep", data, "--target", "y", "--over", "strength", "-o", "out.csv"],
    "path": lambda data: ["path", data, "--target", "y", "--points", "4", "-o", "out.csv"],
    "predict": lambda data: ["predict", "good.lineal", data, "-o", "out.csv"],
    "predict --proba": lambda data: ["predict", "good.lineal", data, "--proba", "-o", "out.parquet"],
    "evaluate": lambda data: ["evaluate", "good.lineal", data],
    "inspect": lambda data: ["inspect", data, "--target", "y", "--recipe", "out.toml"],
    "inspect, no target": lambda data: ["inspect", data],
    "verify": lambda data: ["verify", "good.lineal", data],
    "summary": lambda data: ["summary", "plain.lineal", data, "--errors", "HC3"],
    "diagnose": lambda data: ["diagnose", "plain.lineal", data, "-o", "out.csv"],
    "effects": lambda data: ["effects", "plain.lineal", data],
    "test": lambda data: ["test", "plain.lineal", "plain.lineal", data],
    "report, model": lambda data: ["report", data, "good.csv", "-o", "out.html"],
    "plot": lambda data: ["plot", "layer", "plain.lineal", data, "-o", "out.svg"],
    "separable": lambda data: ["separable", data, "--target", "y", "-o", "out.json"],
    "trace": lambda data: ["trace", data, "--target", "y", "-o", "out.csv"],
    "kernel": lambda data: ["kernel", data, "--kernel", "rbf:1", "--check", "-o", "out.npy"],
    "stack": lambda data: ["stack", "good.toml", data, "-o", "out"],
    "stack, recipe": lambda data: ["stack", data, "good.csv", "-o", "out"],
    "predict, model": lambda data: ["predict", data, "good.csv", "-o", "out.csv"],
    "evaluate, model": lambda data: ["evaluate", data, "good.csv"],
    "verify, model": lambda data: ["verify", data, "good.csv"],
    "summary, model": lambda data: ["summary", data],
    "diagnose, model": lambda data: ["diagnose", data, "plain.csv"],
    "show": lambda data: ["show", data],
}  # fmt: skip
STACK = """
target = "y"
folds = 2
[base.first]
model = "logistic"
penalty = "ridge:1"
[final]
model = "logistic"
penalty = "ridge:1"
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with good files and models of them."""
    folder = tmp_path_factory.mktemp("good")
    (folder / "good.csv").write_bytes(GOOD)
    rng = np.random.default_rng(3)
    (folder / "plain.csv").write_text("a,t\n" + "".join(f"{a},{t}\n" for a, t in rng.normal(size=(60, 2))))
    (folder / "good.toml").write_text(STACK)
    assert (
        run(
            [
                "fit",
                str(folder / "good.csv"),
                "--target",
                "y",
                "--penalty",
                "ridge:0.1",
                "-o",
                str(folder / "good.lineal"),
            ]
        )
        == 0
    )
    assert (
        run(
            ["fit", str(folder / "plain.csv"), "--target", "t", "--model", "linear", "-o", str(folder / "plain.lineal")]
        )
        == 0
    )
    return folder


@pytest.fixture
def place(models: Path, folder: Path) -> Path:
    """Return a folder of one's own, the current one, with the good files in it."""
    shutil.copytree(models, folder, dirs_exist_ok=True)
    return folder


def state(folder: Path) -> dict[str, bytes]:
    """Return every regular file below a folder with its bytes."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def faults(lineal: Lineal, words: list[str], folder: Path) -> Iterator[str]:
    """Yield what is wrong with how a command ends."""
    before = state(folder)
    code, out, err = lineal(*words)
    after = state(folder)
    if code not in (0, 2, 3) and not (code == 1 and words[0] in ("verify", "report")):
        yield f"exit code {code}: {err}"
    if "Traceback" in out + err or "Warning" in err:
        yield f"no sentence: {err}"
    lost = [name for name, data in before.items() if after.get(name) != data and not Path(name).name.startswith("out")]
    if lost:
        yield f"changed: {lost}"
    if code != 2:
        return
    if not err.startswith("lineal: ") or err.count("\n") != 1 or not err.endswith((".\n", ")\n", "?\n")):
        yield f"not one sentence: {err!r}"
    if "--json" in words and json.loads(out) != {"error": err.removeprefix("lineal: ").rstrip("\n"), "exit_code": 2}:
        yield f"no object on stdout: {out!r}"
    if len(err) > 1500:
        yield f"a sentence of {len(err)} characters: {err[:300]}"
    if after != before:
        yield f"left behind: {sorted(after.keys() ^ before.keys()) or 'other bytes'}"


def test_every_command_is_attacked() -> None:
    reading_nothing = {"dialect", "help", "completion", "examples"}
    assert {words("x")[0] for words in READING.values()} | reading_nothing == set(commands.commands)


@pytest.mark.slow
@pytest.mark.parametrize("name", READING)
def test_odd_files(name: str, place: Path, lineal: Lineal) -> None:
    found = {}
    for what, data in DATA.items():
        (place / "odd.csv").write_bytes(data)
        wrong = list(faults(lineal, READING[name]("odd.csv"), place))
        if wrong:
            found[what] = wrong
        for left in place.glob("out*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    assert not found, "\n" + "\n".join(f"{what}: {wrong}" for what, wrong in found.items())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fit", "predict", "verify", "show", "inspect"])
def test_a_line_of_ten_megabytes(name: str, place: Path, lineal: Lineal) -> None:
    for data in (b"word " * 2_000_000, table(*ROWS[:9], f"1,{'long ' * 2_000_000},no", *ROWS[9:])):
        (place / "odd.csv").write_bytes(data)
        assert list(faults(lineal, READING[name]("odd.csv"), place)) == []
        for left in place.glob("out*"):
            left.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("name", READING)
def test_odd_names(name: str, place: Path, lineal: Lineal) -> None:
    """Extensions that lie, folders, devices, models as data and data as models; with --json, and outputs that are there."""
    pq.write_table(
        pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.string())}), place / "norows.parquet"
    )
    pq.write_table(pa.table({}), place / "nocolumns.parquet")
    pq.write_table(pa.table({"x": [[1.0]] * 9, "k": [b"a"] * 9, "y": ["no", "yes", "no"] * 3}), place / "lists.parquet")
    np.save(place / "none.npy", np.empty((0, 3)))
    np.save(place / "cube.npy", np.ones((2, 2, 2)))
    np.savez(place / "none.npz")
    (place / "folder.csv").mkdir()
    (place / "link.csv").symlink_to("nowhere.csv")
    (place / "circle.csv").symlink_to("circle.csv")
    for file, data in NAMED.items():
        (place / file).write_bytes(data)
    many = [
        *NAMED, "norows.parquet", "nocolumns.parquet", "lists.parquet", "none.npy", "cube.npy", "none.npz", "folder.csv",
        "link.csv", "circle.csv", "absent.csv", "absent/absent.csv", "good.csv/absent.csv", "good.lineal", "plain.lineal",
        "good.toml", ".", "..", "/dev/null", "/dev/zero", "/proc/self/mem", "a" * 300, "", "-", "--", "~", "*.csv",
    ]  # fmt: skip
    found = {}
    for file in many:
        shutil.copy(place / "good.lineal", place / "out.lineal")
        for kept in ("out.csv", "out.parquet"):
            (place / kept).write_bytes(b"an older one")
        wrong = list(faults(lineal, [*READING[name](file), "--json"], place))
        if wrong:
            found[file] = wrong
        for left in place.glob("out*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    assert not found, "\n" + "\n".join(f"{what}: {wrong}" for what, wrong in found.items())


@pytest.mark.parametrize("name", [name for name in READING if "model" not in name and name != "show"])
def test_a_pipe_with_a_name_is_refused_unread(name: str, place: Path, lineal: Lineal) -> None:
    """Whoever opened it would wait for ever; tables are read several times. (A model may come through a pipe.)"""
    os.mkfifo(place / "pipe.csv")
    opened = threading.Event()

    def write() -> None:
        with (place / "pipe.csv").open("wb"):  # returns once the other end is read
            opened.set()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    code, _, err = lineal(*READING[name]("pipe.csv"))
    read = opened.is_set()
    os.close(os.open(place / "pipe.csv", os.O_RDONLY | os.O_NONBLOCK))
    assert (code, read) == (2, False), err
    assert "pipe.csv" in err


WRITING: dict[str, Callable[[str], list[str]]] = {
    "fit": lambda out: ["fit", "good.csv", "--target", "y", "--penalty", "ridge:1", "-o", out],
    "fit --trace": lambda out: [
        "fit",
        "good.csv",
        "--target",
        "y",
        "--penalty",
        "ridge:1",
        "--trace",
        out,
        "-o",
        "out.lineal",
    ],
    "path": lambda out: ["path", "good.csv", "--target", "y", "--points", "3", "-o", out],
    "predict": lambda out: ["predict", "good.lineal", "good.csv", "-o", out],
    "inspect": lambda out: ["inspect", "good.csv", "--target", "y", "--recipe", out],
    "separable": lambda out: ["separable", "good.csv", "--target", "y", "-o", out],
    "trace": lambda out: ["trace", "good.csv", "--target", "y", "--drop", "k", "-o", out],
    "stack": lambda out: ["stack", "good.toml", "good.csv", "-o", out],
}
PLACES = (
    "nowhere/out.csv", "nowhere/out.lineal", "good.csv/out.csv", "/sys/out.csv", "/sys/out.lineal", "/proc/out.lineal",
    "/dev/full",
    "good.csv", "./good.csv", "hard.csv", "soft.csv", "folder.csv", ".", "..", "/", "", f"{'a' * 300}.csv",
)  # fmt: skip


@pytest.mark.parametrize("name", WRITING)
def test_odd_outputs(name: str, place: Path, lineal: Lineal) -> None:
    """A place that cannot be written to, and one that is read: refused, and what is there stays."""
    (place / "hard.csv").hardlink_to(place / "good.csv")
    (place / "soft.csv").symlink_to(place / "good.csv")
    (place / "folder.csv").mkdir()
    inputs = [word for word in WRITING[name]("") if (place / word).is_file()]
    found = {}
    for out in (*PLACES, *inputs):
        words = WRITING[name](out)
        before = state(place)
        wrong = list(faults(lineal, words, place))
        after = state(place)
        if {file: data for file, data in after.items() if file in before} != before:
            wrong.append("an input was written over")
            shutil.rmtree(place)
            raise AssertionError((out, wrong))
        if wrong:
            found[out] = wrong
        for left in place.glob("out*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
    assert not found, "\n" + "\n".join(f"{what}: {wrong}" for what, wrong in found.items())
